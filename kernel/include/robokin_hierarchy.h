/* Lexicographic least squares inside hard bounds. Conventions as in robokin_kernel.h. */
#ifndef ROBOKIN_HIERARCHY_H
#define ROBOKIN_HIERARCHY_H

#include "robokin_kernel.h"

/* Rows of all levels lie one behind the other: level k has rows start[k] ... start[k + 1] - 1 of J[m][n], lower[m],
   upper[m] (equal sides: an equation) and damping[k]. Rows before start[0] are of no level. Not owned. */
typedef struct rk_levels {
  int32_t count;
  const int32_t *start;
  const double *J, *lower, *upper, *damping;
} rk_levels;

/* Doubles of workspace that rk_hierarchy needs for n unknowns and m rows. */
RK_API int64_t rk_hierarchy_workspace(int32_t n, int32_t m);

/* x[n] with lo <= x <= hi that meets the levels in their order; what freedom they leave minimises 1/2 x'Hx + g'x.
   x starts where it is, moved inside the bounds. H[n][n] positive semidefinite, lower triangle used; null: what is left stays. points[count + 1][n]
   (or null), residuals[m] and freedom[count + 1] as in solvers/qp/hierarchy.py, the twin. Sides and bounds may be infinite; no entry may be NaN. Returns 0 when H is not positive semidefinite. */
RK_API int32_t rk_hierarchy(int32_t n, const double *lo, const double *hi, const rk_levels *levels, const double *H,
                            const double *g, double *work, double *x, double *points, double *residuals,
                            int32_t *freedom);

#endif
