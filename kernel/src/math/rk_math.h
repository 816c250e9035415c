/* Vectors of 3, row-major 3x3 matrices, rigid placements of 12 doubles, unit quaternions; all inline. */
#ifndef RK_MATH_H
#define RK_MATH_H

#include <stdint.h>

static inline double rk_sqrt(double x) { return __builtin_sqrt(x); }

/* Numbers with which is calculated: beyond, squares and products are infinite. MOST of robokin/arrays.py. */
#define RK_MOST 1e30

/* Every x[n] is a number of at most that size. */
static inline int rk_fit(int n, const double *x) {
  int fit = 1;
  for (int i = 0; i < n; i++) fit &= __builtin_fabs(x[i]) <= RK_MOST;
  return fit;
}

static inline double rk_min(double a, double b) { return a < b ? a : b; }

static inline double rk_max(double a, double b) { return a > b ? a : b; }

static inline double rk_clamp(double x, double lower, double upper) { return x < lower ? lower : x > upper ? upper : x; }

static inline double rk_dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline void rk_add3(const double a[3], const double b[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = a[i] + b[i];
}

static inline void rk_subtract3(const double a[3], const double b[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}

static inline double rk_norm3(const double x[3]) { return rk_sqrt(rk_dot3(x, x)); }

/* Two sums of every other product, for vectors of two. */
static inline double rk_dot6(const double a[6], const double b[6]) {
  return (a[0] * b[0] + a[2] * b[2] + a[4] * b[4]) + (a[1] * b[1] + a[3] * b[3] + a[5] * b[5]);
}

/* out = a x b; out is neither a nor b. */
static inline void rk_cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* out = R x; out is not x. */
static inline void rk_rotate(const double R[9], const double x[3], double out[3]) {
  out[0] = rk_dot3(R, x);
  out[1] = rk_dot3(R + 3, x);
  out[2] = rk_dot3(R + 6, x);
}

/* out = R' x; out is not x. */
static inline void rk_rotate_back(const double R[9], const double x[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = R[k] * x[0] + R[3 + k] * x[1] + R[6 + k] * x[2];
}

/* out = A B, matrices; out is neither A nor B. */
static inline void rk_multiply(const double A[9], const double B[9], double out[9]) {
  for (int r = 0; r < 9; r += 3)
    for (int c = 0; c < 3; c++) out[r + c] = A[r] * B[c] + A[r + 1] * B[3 + c] + A[r + 2] * B[6 + c];
}

static inline int rk_is_equal(const double *a, const double *b, int64_t count) {
  for (int64_t k = 0; k < count; k++)
    if (a[k] != b[k]) return 0;
  return 1;
}

static inline void rk_copy(double *to, const double *from, int64_t count) {
  for (int64_t k = 0; k < count; k++) to[k] = from[k];
}

/* out = A B, placements; out is neither A nor B. */
static inline void rk_compose(const double A[12], const double B[12], double out[12]) {
  rk_multiply(A, B, out);
  for (int r = 0; r < 3; r++) out[9 + r] = A[9 + r] + rk_dot3(A + 3 * r, B + 9);
}

/* Rotation matrix of a unit quaternion (w, x, y, z). */
static inline void rk_quaternion_matrix(const double q[4], double R[9]) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  R[0] = 1.0 - 2.0 * (y * y + z * z);
  R[1] = 2.0 * (x * y - w * z);
  R[2] = 2.0 * (x * z + w * y);
  R[3] = 2.0 * (x * y + w * z);
  R[4] = 1.0 - 2.0 * (x * x + z * z);
  R[5] = 2.0 * (y * z - w * x);
  R[6] = 2.0 * (x * z - w * y);
  R[7] = 2.0 * (y * z + w * x);
  R[8] = 1.0 - 2.0 * (x * x + y * y);
}

/* out = a b, quaternions; out is neither a nor b. */
static inline void rk_quaternion_multiply(const double a[4], const double b[4], double out[4]) {
  out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

#endif
