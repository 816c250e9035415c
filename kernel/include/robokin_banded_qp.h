/* Quadratic programs over a row of frames, each coupled with those near it. Conventions as in robokin_kernel.h. */
#ifndef ROBOKIN_BANDED_QP_H
#define ROBOKIN_BANDED_QP_H

#include "robokin_kernel.h"

/* The unknowns are x[frames][n]. H[frames][width][n][n]: block [k][s] couples frame k (rows) with frame k - s (columns);
   [k][0] is symmetric, blocks that reach before frame 0 do not count. g[frames][n].
   Rows C over the unknowns: the entries of row i are start[i] .. start[i + 1], with ascending columns; no row reaches
   over more than `width` frames. low[rows], high[rows]: infinite, or equal for equations. No entry may be NaN.
   One more unknown may meet all frames, the last: then border[frames n] is the column of H that couples it with the
   others, corner its own entry, across[rows] its column of C, and g has one more entry; else both are NULL. */
typedef struct rk_banded_program {
  int32_t frames, n, width, rows;
  const double *H, *g;
  const int32_t *start, *column; /* [rows + 1], [entries] */
  const double *value;           /* [entries] */
  const double *low, *high;
  const double *border, *across;
  double corner;
} rk_banded_program;

RK_API int32_t rk_sizeof_banded_program(void);

/* Doubles of workspace that rk_banded_qp needs. */
RK_API int64_t rk_banded_qp_workspace(const rk_banded_program *program);

/* Begins to solve. multipliers[rows]: a guess at them, zeros where there is none: when the sides that push are right, no
   step is taken. */
RK_API void rk_banded_qp_begin(const rk_banded_program *program, const double *multipliers, double *work);

/* Goes on, for as long as one factor takes; program and work stay where they are until it no longer returns
   RK_QP_RUNNING but an rk_qp_status. Then there is x[frames n], and the last where there is one, that minimises 1/2 x'Hx
   + g'x with low <= C x <= high, in at most so many steps of an interior-point method; steps: those taken;
   multipliers[rows]: positive at the high side. H may be indefinite where equations and active sides hold x;
   RK_QP_NOT_CONVEX where Newton's matrix is not positive definite. */
RK_API int32_t rk_banded_qp(const rk_banded_program *program, int32_t most, double *work, double *x,
                            double *multipliers, int32_t *steps);

#endif
