#include "robokin_kernel.h"

int32_t rk_abi(void) { return RK_ABI; }

int32_t rk_sizeof_model(void) { return (int32_t)sizeof(rk_model); }

/* The most demanding is rnea.c: a placement and four spatial vectors per node. */
int64_t rk_workspace(const rk_model *model) { return (int64_t)model->n_nodes * (12 + 10 + 19 * 6 + 2); }
