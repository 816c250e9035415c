/* The mass matrix from node placements, for who has them already. */
#ifndef RK_CRBA_H
#define RK_CRBA_H

#include "robot/rk_tree.h"

/* M[nv][nv], both triangles; work: 16 doubles per node. */
void rk_mass_matrix_placed(const rk_model *m, const double *nodes, double *work, double *M);

#endif
