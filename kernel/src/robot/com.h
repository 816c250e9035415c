/* The centre of mass from placements of nodes. */
#ifndef RK_COM_H
#define RK_COM_H

#include "robot/rk_tree.h"

/* center[3] in the root frame, and J[3][nv] of its velocity; NaN without masses. moments: [n_nodes][4], scratch. */
void rk_center_of_mass_placed(const rk_model *m, const double *nodes, double *moments, double center[3], double *J);

/* Adds `share` times the gradient of the sum of weight[nv][3] times the columns of that Jacobian to g[nv]. */
void rk_add_change_of_center(const rk_model *m, const double *nodes, const double *weight, double share, double *moments,
                             double *g);

#endif
