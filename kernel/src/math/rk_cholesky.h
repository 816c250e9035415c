/* Cholesky factors, row-major; of H only the lower triangle is read. */
#ifndef RK_CHOLESKY_H
#define RK_CHOLESKY_H

#include "math/rk_math.h"
#include "math/rk_vector.h"

/* L of H = LL' (both of n columns); 0 when H is not positive definite. L may be H. */
static inline int rk_cholesky(int32_t n, const double *H, double *L) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) {
      const double rest = H[i * n + j] - rk_dot((int32_t)j, L + i * n, L + j * n);
      if (i == j && !(rest > 0.0)) return 0;
      L[i * n + j] = i == j ? rk_sqrt(rest) : rest / L[j * n + j];
    }
  return 1;
}

/* L x = x */
static inline void rk_solve_lower(int32_t n, const double *L, double *x) {
  for (int64_t i = 0; i < n; i++) x[i] = (x[i] - rk_dot((int32_t)i, L + i * n, x)) / L[i * n + i];
}

/* L'x = x */
static inline void rk_solve_lower_transposed(int32_t n, const double *L, double *x) {
  for (int64_t i = n - 1; i >= 0; i--) {
    x[i] /= L[i * n + i];
    rk_add_scaled((int32_t)i, -x[i], L + i * n, x);
  }
}

#endif
