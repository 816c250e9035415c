/* Sums over vectors of any length; several partial sums, so that they run in vector instructions. */
#ifndef RK_VECTOR_H
#define RK_VECTOR_H

#include <stdint.h>

static inline double rk_dot(int32_t n, const double *a, const double *b) {
  double s[4] = {0.0, 0.0, 0.0, 0.0};
  int32_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; k++) s[k] += a[i + k] * b[i + k];
  for (; i < n; i++) s[0] += a[i] * b[i];
  return (s[0] + s[2]) + (s[1] + s[3]);
}

/* y += factor x */
static inline void rk_add_scaled(int32_t n, double factor, const double *restrict x, double *restrict y) {
  for (int32_t i = 0; i < n; i++) y[i] += factor * x[i];
}

#endif
