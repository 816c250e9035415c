/* Dense, strictly convex quadratic programs. Conventions as in robokin_kernel.h. */
#ifndef ROBOKIN_QP_H
#define ROBOKIN_QP_H

#include "robokin_kernel.h"

/* The order is that of QPStatus in solvers/qp/dense.py; the last one raises there. */
enum rk_qp_status {
  RK_QP_OPTIMAL = 0,
  RK_QP_INFEASIBLE = 1,
  RK_QP_MAX_ITERATIONS = 2,
  RK_QP_NOT_CONVEX = 3,
  RK_QP_RUNNING = 4 /* only of rk_banded_qp */
};

/* Doubles of workspace that rk_qp needs for n unknowns and m rows. */
RK_API int64_t rk_qp_workspace(int32_t n, int32_t m);

/* x[n] that minimises 1/2 x'Hx + g'x with low[n + m] <= [x; C x] <= high[n + m]. H[n][n] positive definite, lower
   triangle used; C[m][n]; sides may be infinite, equal ones are equations. tolerance: by how much a side may be passed
   besides rounding. multipliers[n + m]: positive at the high side. No entry may be NaN.
   Returns an rk_qp_status; x is then finite, whatever it is. */
RK_API int32_t rk_qp(int32_t n, int32_t m, const double *H, const double *g, const double *C, const double *low,
                     const double *high, double tolerance, double *work, double *x, double *multipliers,
                     int32_t *iterations);

#endif
