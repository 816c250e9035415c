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

/* row[6]: what the place of a point or spot along the straight piece of a curve sees of the twist of the tip; room[2]: how
   far that piece goes on before and after it. Returns 0 at a corner or an end. */
int rk_tip_piece(const rk_tip_rows *rows, const double T[12], const double target[16], double row[6], double room[2]);

/* *piece: that piece as a curve of its own, longer by `beyond` at both ends. */
void rk_tip_take_piece(const rk_tip_rows *rows, const double T[12], const double target[16], double beyond,
                       rk_segment *piece);

static inline int rk_is_on_curve(const rk_tip_rows *rows) {
  return rows->kind == RK_TIP_CURVE || rows->kind == RK_TIP_SPOT;
}

/* Whether a distance other than 0 is asked for: of its three rows there is one then. */
static inline int rk_is_apart(const rk_tip_rows *rows, const double target[16]) {
  return rows->kind == RK_TIP_DISTANCE && (target[0] != 0.0 || rows->side > 0);
}

/* Whether a task has the row r of six: what rk_rows_fill writes and rk_rows_measure reads. */
static inline int rk_has_row(const rk_tip_rows *rows, const double target[16], int r) {
  return rows->weights[r] != 0.0 && !(r > 0 && rk_is_apart(rows, target));
}

#endif
