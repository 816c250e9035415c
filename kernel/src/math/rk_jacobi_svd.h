/* Singular values of small matrices by one-sided Jacobi rotations (Hestenes 1958; Demmel and Veselic 1992: exact to the
   last digits also of the small ones). */
#ifndef RK_JACOBI_SVD_H
#define RK_JACOBI_SVD_H

#include "math/rk_math.h"
#include "math/rk_vector.h"

/* A[count][m], the columns of a matrix, become orthogonal: its singular values are then their lengths. V[count][count]:
   A = old A V', row i of V the right singular vector of A[i]. */
static inline void rk_orthogonalise(int32_t count, int32_t m, double *A, double *V) {
  enum { SWEEPS = 30 };
  const double small = 1e-15;
  for (int32_t i = 0; i < count * count; i++) V[i] = i % (count + 1) == 0 ? 1.0 : 0.0;
  for (int sweep = 0, turned = 1; turned && sweep < SWEEPS; sweep++) {
    turned = 0;
    for (int32_t i = 0; i < count; i++)
      for (int32_t j = i + 1; j < count; j++) {
        double *a = A + (int64_t)i * m, *b = A + (int64_t)j * m;
        const double aa = rk_dot(m, a, a), bb = rk_dot(m, b, b), ab = rk_dot(m, a, b);
        if (!(__builtin_fabs(ab) > small * rk_sqrt(aa) * rk_sqrt(bb))) continue;
        turned = 1;
        const double half = (bb - aa) / (2.0 * ab), size = __builtin_fabs(half);
        const double t = (half < 0.0 ? -1.0 : 1.0) / (size + rk_sqrt(1.0 + half * half));
        const double c = 1.0 / rk_sqrt(1.0 + t * t), s = c * t;
        for (int32_t k = 0; k < m; k++) {
          const double x = a[k], y = b[k];
          a[k] = c * x - s * y;
          b[k] = s * x + c * y;
        }
        a = V + (int64_t)i * count, b = V + (int64_t)j * count;
        for (int32_t k = 0; k < count; k++) {
          const double x = a[k], y = b[k];
          a[k] = c * x - s * y;
          b[k] = s * x + c * y;
        }
      }
  }
}

#endif
