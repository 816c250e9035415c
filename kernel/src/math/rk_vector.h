/* Sums over vectors of any length; several partial sums, so that they run in vector instructions. */
#ifndef RK_VECTOR_H
#define RK_VECTOR_H

#include <stdint.h>

typedef double rk_two __attribute__((vector_size(16), aligned(8), may_alias)); /* any two numbers side by side */

static inline double rk_dot(int32_t n, const double *a, const double *b) {
  rk_two even = {0.0, 0.0}, odd = {0.0, 0.0};
  int32_t i = 0;
  for (; i + 4 <= n; i += 4) {
    even += *(const rk_two *)(a + i) * *(const rk_two *)(b + i);
    odd += *(const rk_two *)(a + i + 2) * *(const rk_two *)(b + i + 2);
  }
  if (n & 2) even += *(const rk_two *)(a + i) * *(const rk_two *)(b + i), i += 2;
  if (n & 1) odd[0] += a[i] * b[i];
  even += odd;
  return even[0] + even[1];
}

/* y += factor x */
static inline void rk_add_scaled(int32_t n, double factor, const double *restrict x, double *restrict y) {
  for (int32_t i = 0; i < n; i++) y[i] += factor * x[i];
}

/* y -= x R, of R[count][n] */
static inline void rk_subtract_rows(int32_t count, int32_t n, const double *restrict x, const double *restrict R,
                                    double *restrict y) {
  int32_t i = 0;
  for (; i + 8 <= n; i += 8) {
    rk_two sum[4] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
    for (int32_t j = 0; j < count; j++)
      for (int k = 0; k < 4; k++) sum[k] += x[j] * *(const rk_two *)(R + (int64_t)j * n + i + 2 * k);
    for (int k = 0; k < 4; k++) *(rk_two *)(y + i + 2 * k) -= sum[k];
  }
  for (; i < n; i++)
    for (int32_t j = 0; j < count; j++) y[i] -= x[j] * R[(int64_t)j * n + i];
}

/* Givens: a, b = c a - s b, s a + c b */
static inline void rk_turn_pair(int32_t n, double c, double s, double *a, double *b) {
  int32_t k = 0;
  for (; k + 2 <= n; k += 2) {
    const rk_two x = *(const rk_two *)(a + k), y = *(const rk_two *)(b + k);
    *(rk_two *)(a + k) = c * x - s * y;
    *(rk_two *)(b + k) = s * x + c * y;
  }
  if (k == n) return;
  const double x = a[k], y = b[k];
  a[k] = c * x - s * y;
  b[k] = s * x + c * y;
}

#endif
