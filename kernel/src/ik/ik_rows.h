/* What each kind of task asks for: its error and the matrix that turns a tip's twist into the error's rate.
   The formulas are those of the `rows` methods in solvers/tasks. */
#ifndef RK_IK_ROWS_H
#define RK_IK_ROWS_H

#include "math/rk_math.h"
#include "math/rk_trig.h"
#include "robokin_ik.h"

/* Rotation vector of R, angle in [0, pi], through its largest quaternion entry (Shepperd 1978), hence exact near 0 and
   pi. */
static inline void rk_log_rotation(const double R[9], double out[3]) {
  const double xx = R[0], yy = R[4], zz = R[8];
  const double wx = R[7] - R[5], wy = R[2] - R[6], wz = R[3] - R[1];
  const double xy = R[1] + R[3], xz = R[2] + R[6], yz = R[5] + R[7];
  const double dw = 1.0 + xx + yy + zz, dx = 1.0 + xx - yy - zz, dy = 1.0 - xx + yy - zz, dz = 1.0 - xx - yy + zz;
  double w, v[3];
  if (dw >= dx && dw >= dy && dw >= dz) {
    w = dw, v[0] = wx, v[1] = wy, v[2] = wz;
  } else if (dx >= dy && dx >= dz) {
    w = wx, v[0] = dx, v[1] = xy, v[2] = xz;
  } else if (dy >= dz) {
    w = wy, v[0] = xy, v[1] = dy, v[2] = yz;
  } else {
    w = wz, v[0] = xz, v[1] = yz, v[2] = dz;
  }
  const double sine = rk_norm3(v), sign = w < 0.0 ? -1.0 : 1.0;
  const double scale = sine == 0.0 ? 0.0 : sign * 2.0 * rk_atan2(sine, sign * w) / sine;
  for (int k = 0; k < 3; k++) out[k] = scale * v[k];
}

/* Jr^-1(phi) = 1 + phi^/2 + c phi^^2. */
static inline void rk_right_jacobian_inverse(const double phi[3], double out[9]) {
  const double square = rk_dot3(phi, phi);
  double c;
  if (square < 1e-2) {
    c = 1.0 / 12.0 + square * (1.0 / 720.0 + square * (1.0 / 30240.0 + square / 1209600.0));
  } else {
    double s, h;
    const double angle = rk_sqrt(square);
    rk_sincos(0.5 * angle, &s, &h);
    c = (1.0 - 0.5 * angle * h / s) / square;
  }
  const double x = phi[0], y = phi[1], z = phi[2];
  out[0] = 1.0 - c * (y * y + z * z);
  out[4] = 1.0 - c * (x * x + z * z);
  out[8] = 1.0 - c * (x * x + y * y);
  out[1] = c * x * y - 0.5 * z;
  out[3] = c * x * y + 0.5 * z;
  out[2] = c * x * z + 0.5 * y;
  out[6] = c * x * z - 0.5 * y;
  out[5] = c * y * z - 0.5 * x;
  out[7] = c * y * z + 0.5 * x;
}

/* The rotation vector that turns the unit vector a into d. */
static inline void rk_axis_error(const double a[3], const double d[3], double n[3], double *sine, double *cosine,
                                 double *angle) {
  rk_cross(a, d, n);
  *sine = rk_norm3(n);
  *cosine = rk_dot3(a, d);
  *angle = rk_atan2(*sine, *cosine);
  if (*sine > 1e-9) {
    for (int k = 0; k < 3; k++) n[k] /= *sine;
  } else {
    int least = 0;
    for (int k = 1; k < 3; k++)
      if (__builtin_fabs(a[k]) < __builtin_fabs(a[least])) least = k;
    double x[3] = {0.0, 0.0, 0.0};
    x[least] = 1.0;
    rk_cross(a, x, n);
    const double length = rk_norm3(n);
    for (int k = 0; k < 3; k++) n[k] /= length;
  }
}

/* e[3] that turns the unit vector a into d, both in root axes. */
static inline void rk_alignment_error(const double a[3], const double d[3], double e[3]) {
  double n[3], sine, cosine, angle;
  rk_axis_error(a, d, n, &sine, &cosine, &angle);
  if (sine > 1e-9 || cosine < 0.0)
    for (int k = 0; k < 3; k++) e[k] = angle * n[k];
  else
    rk_cross(a, d, e); /* n is any way across */
}

/* block[3][3] with de/dt = -block w for an a that turns with w. */
static inline void rk_alignment_matrix(const double a[3], const double d[3], double block[9]) {
  double n[3], t[3], sine, cosine, angle;
  rk_axis_error(a, d, n, &sine, &cosine, &angle);
  rk_cross(n, a, t);
  const double ratio = sine > 1e-9 ? angle / sine : 1.0;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) block[3 * r + c] = n[r] * n[c] + ratio * (cosine * t[r] - sine * a[r]) * t[c];
}

/* e[3] that turns the frame at T into that of the 4x4 matrix `target`. */
static inline void rk_turn_error(const double T[12], const double target[16], double e[3]) {
  double R[9]; /* R_d R' */
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) R[3 * r + c] = rk_dot3(target + 4 * r, T + 3 * c);
  rk_log_rotation(R, e);
}

/* e[6] of a task in root axes, rows of parts that it has not are zero; the tip is at T, its target a 4x4 matrix. */
static inline void rk_task_error(const rk_task *task, const double T[12], const double target[16], double e[6]) {
  for (int k = 0; k < 6; k++) e[k] = 0.0;
  if (task->parts & RK_PART_POSITION)
    for (int k = 0; k < 3; k++) e[k] = target[4 * k + 3] - T[9 + k];
  if (!(task->parts & RK_PART_ORIENTATION)) return;
  if (task->kind == RK_TASK_AXIS) {
    double a[3];
    const double d[3] = {target[2], target[6], target[10]};
    rk_rotate(T, task->axis, a);
    rk_alignment_error(a, d, e + 3);
  } else {
    rk_turn_error(T, target, e + 3);
  }
}

/* A[6][6] with de/dt = -A twist, root axes. exact: the parts that need it; a part whose weights are equal may have the
   identity in place of the log's Jacobian: the gradient A'e is the same, since the log's Jacobian leaves its own argument alone. */
static inline void rk_task_matrix(const rk_task *task, int32_t exact, const double T[12], const double target[16], const double e[6],
                                  double A[36]) {
  for (int k = 0; k < 36; k++) A[k] = 0.0;
  for (int k = 0; k < 6; k++) A[7 * k] = 1.0;
  if (!(exact & RK_PART_ORIENTATION)) return;
  double block[9];
  if (task->kind == RK_TASK_AXIS) {
    double a[3];
    const double d[3] = {target[2], target[6], target[10]};
    rk_rotate(T, task->axis, a);
    rk_alignment_matrix(a, d, block);
  } else {
    rk_right_jacobian_inverse(e + 3, block);
  }
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) A[6 * (3 + r) + 3 + c] = block[3 * r + c];
}

/* Turns the rows of one part (`first` = 0 or 3) into tip axes: R'e and R'(A - [0 | e x]). */
static inline void rk_to_tip_axes(const double R[9], int first, double e[6], double A[36]) {
  double *rows = A + 6 * first, turned[18], local[3];
  const double x = e[first], y = e[first + 1], z = e[first + 2];
  rows[4] += z, rows[5] -= y;
  rows[9] -= z, rows[11] += x;
  rows[15] += y, rows[16] -= x;
  for (int c = 0; c < 6; c++)
    for (int r = 0; r < 3; r++) turned[6 * r + c] = R[r] * rows[c] + R[3 + r] * rows[6 + c] + R[6 + r] * rows[12 + c];
  for (int k = 0; k < 18; k++) rows[k] = turned[k];
  rk_rotate_back(R, e + first, local);
  for (int k = 0; k < 3; k++) e[first + k] = local[k];
}

#endif
