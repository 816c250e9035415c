/* Eigenvalues and eigenvectors of a symmetric matrix: reflections make it tridiagonal, QL steps make it diagonal
   (Golub, Van Loan, "Matrix Computations", 2013, section 8.3). */
#ifndef RK_SYMMETRIC_EIGEN_H
#define RK_SYMMETRIC_EIGEN_H

#include "math/rk_math.h"
#include "math/rk_vector.h"

static inline void rk_reflect_columns(int32_t n, int32_t first, const double *v, double *V, double *sum) {
  for (int32_t j = 0; j < n; j++) sum[j] = 0.0;
  for (int32_t i = first; i < n; i++) rk_add_scaled(n, v[i], V + (int64_t)i * n, sum);
  for (int32_t i = first; i < n; i++) rk_add_scaled(n, -2.0 * v[i], sum, V + (int64_t)i * n);
}

/* A[n][n], both triangles, becomes tridiagonal: values[n] and off[n], off[i] between i and i + 1. V[n][n] = what it was
   turned by: A = V' T V. work: 2 n doubles. */
static inline void rk_make_tridiagonal(int32_t n, double *A, double *values, double *off, double *V, double *work) {
  double *v = work, *p = work + n;
  for (int64_t i = 0; i < (int64_t)n * n; i++) V[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
  for (int32_t k = 0; k + 2 < n; k++) {
    const double *row = A + (int64_t)k * n;
    const int32_t rest = n - k - 1;
    const double length = rk_sqrt(rk_dot(rest, row + k + 1, row + k + 1));
    off[k] = row[k + 1];
    if (!(rk_dot(rest - 1, row + k + 2, row + k + 2) > 0.0) || !(length > 0.0)) continue;
    off[k] = row[k + 1] < 0.0 ? length : -length;
    for (int32_t i = k + 1; i < n; i++) v[i] = row[i] / length;
    v[k + 1] -= off[k] / length;
    const double size = rk_sqrt(rk_dot(rest, v + k + 1, v + k + 1));
    for (int32_t i = k + 1; i < n; i++) v[i] /= size;
    /* A -= v w' + w v', w = 2 (A v - (v'A v) v) */
    for (int32_t i = k + 1; i < n; i++) p[i] = 2.0 * rk_dot(rest, A + (int64_t)i * n + k + 1, v + k + 1);
    rk_add_scaled(rest, -rk_dot(rest, p + k + 1, v + k + 1), v + k + 1, p + k + 1);
    for (int32_t i = k + 1; i < n; i++) {
      rk_add_scaled(rest, -v[i], p + k + 1, A + (int64_t)i * n + k + 1);
      rk_add_scaled(rest, -p[i], v + k + 1, A + (int64_t)i * n + k + 1);
    }
    rk_reflect_columns(n, k + 1, v, V, p);
  }
  for (int32_t i = 0; i < n; i++) values[i] = A[(int64_t)i * n + i];
  if (n > 1) off[n - 2] = A[(int64_t)(n - 2) * n + n - 1];
  if (n > 0) off[n - 1] = 0.0;
}

/* One implicit QL step on entries first ... last, shifted towards the eigenvalue next to the upper end. */
static inline void rk_ql_step(int32_t n, int32_t first, int32_t last, double *values, double *off, double *V) {
  const double half = (values[first + 1] - values[first]) / (2.0 * off[first]), root = rk_sqrt(half * half + 1.0);
  double g = values[last] - values[first] + off[first] / (half + (half < 0.0 ? -root : root));
  double s = 1.0, c = 1.0, shift = 0.0;
  for (int32_t i = last - 1; i >= first; i--) {
    const double f = s * off[i], b = c * off[i], r = rk_sqrt(f * f + g * g);
    off[i + 1] = r;
    if (r == 0.0) { /* the matrix falls apart here */
      values[i + 1] -= shift;
      off[last] = 0.0;
      return;
    }
    s = f / r, c = g / r;
    g = values[i + 1] - shift;
    const double turned = (values[i] - g) * s + 2.0 * c * b;
    shift = s * turned;
    values[i + 1] = g + shift;
    g = c * turned - b;
    rk_turn_pair(n, c, s, V + (int64_t)i * n, V + (int64_t)(i + 1) * n);
  }
  values[first] -= shift;
  off[first] = g;
  off[last] = 0.0;
}

/* values[n], in no order, and V[n][n], whose rows are the vectors, of A[n][n], both triangles, which is overwritten.
   work: 3 n doubles. */
static inline void rk_symmetric_eigen(int32_t n, double *A, double *values, double *V, double *work) {
  enum { STEPS = 60 };
  const double eps = 2.220446049250313e-16;
  double *off = work + 2 * (int64_t)n;
  rk_make_tridiagonal(n, A, values, off, V, work);
  for (int32_t first = 0; first < n; first++)
    for (int step = 0; step < STEPS; step++) {
      int32_t last = first;
      while (last < n - 1 &&
             __builtin_fabs(off[last]) > eps * (__builtin_fabs(values[last]) + __builtin_fabs(values[last + 1])))
        last++;
      if (last == first) break;
      rk_ql_step(n, first, last, values, off, V);
    }
}

#endif
