/* Residual of each kind of task on tips, and its derivative by their twists. */
#ifndef RK_TIP_ROWS_H
#define RK_TIP_ROWS_H

#include "robokin_step.h"

/* e[6], and A, B [6][6] with d(e)/dt = -A twist - B other: the twist of the tip, and that of the other tip's body where
   the tip's origin is; root axes. What a kind has not is zero. path[6]: the direction of the path of a twist. */
typedef struct rk_lack {
  double e[6], A[36], B[36], path[6];
} rk_lack;

/* The tip is at T, the other one at O (the identity for the root). stays: what the target is counted from is T.
   dt: of the step, for velocities.   before: where the tip was when the frame began that velocities are counted from; null:
   it begins at T. */
void rk_tip_lack(const rk_tip_rows *rows, const double T[12], const double O[12], const double target[16],
                 int32_t stays, double dt, const double *before, rk_lack *out);

/* Whether a distance other than 0 is asked for: of its three rows there is one then. */
static inline int rk_is_apart(const rk_tip_rows *rows, const double target[16]) {
  return rows->kind == RK_TIP_DISTANCE && (target[0] != 0.0 || rows->side > 0);
}

/* Whether a task has the row r of six: what rk_rows_fill writes and rk_rows_measure reads. */
static inline int rk_has_row(const rk_tip_rows *rows, const double target[16], int r) {
  return rows->weights[r] != 0.0 && !(r > 0 && rk_is_apart(rows, target));
}

#endif
