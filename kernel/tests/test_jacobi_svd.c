/* Columns become orthogonal to the last digits, also those whose singular values are nearly the same, and more columns
   than the rank. */
#include "math/rk_jacobi_svd.h"

#include "check.h"

enum { MOST = 12, CASES = 4000 };

/* The rows i and j of A[][m] turned by an angle; or its columns, of m rows. */
static void turn(double *A, int32_t m, int32_t i, int32_t j, int is_row, double angle) {
  for (int32_t k = 0; k < m; k++) {
    double *a = A + (is_row ? i * m + k : k * m + i), *b = A + (is_row ? j * m + k : k * m + j);
    const double x = *a, y = *b;
    *a = cos(angle) * x - sin(angle) * y, *b = sin(angle) * x + cos(angle) * y;
  }
}

static void check(uint64_t *seed) {
  const int32_t n = 2 + (int32_t)uniform(seed, 0.0, MOST - 1.0);
  const double apart = exp(uniform(seed, -28.0, -7.0));
  double A[MOST * MOST], old[MOST * MOST], V[MOST * MOST], square[MOST];
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = 0; k < n; k++) A[i * n + k] = i == k ? pow(0.1, i / 3) * (1.0 + uniform(seed, 0.0, apart)) : 0.0;
  for (int pass = 0; pass < 2; pass++)
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = 0; j < i; j++)
        for (int is_row = 0; is_row < 2; is_row++) turn(A, n, i, j, is_row, uniform(seed, -3.0, 3.0));
  memcpy(old, A, sizeof old);
  rk_orthogonalise(n, n, A, V, square);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) {
      const double *a = A + i * n, *b = A + j * n;
      const double cosine = rk_dot(n, a, b) / sqrt(rk_dot(n, a, a) * rk_dot(n, b, b));
      CHECK_NEAR(cosine, i == j ? 1.0 : 0.0, 1e-14, "the cosine of two columns");
      double sum = 0.0;
      for (int32_t k = 0; k < n; k++) sum += V[i * n + k] * old[k * n + j];
      CHECK_NEAR(A[i * n + j], sum, 1e-14, "the matrix in the basis of its singular vectors");
    }
}

/* More columns than rows, which depend on each other. */
static void check_dependent(uint64_t *seed) {
  const int32_t n = 2 + (int32_t)uniform(seed, 0.0, MOST - 1.0), m = 1 + (int32_t)uniform(seed, 0.0, n);
  double A[MOST * MOST], V[MOST * MOST], square[MOST], most = 0.0;
  for (int32_t k = 0; k < n * m; k++) A[k] = uniform(seed, 0.0, 3.0) > 1.0 ? uniform(seed, -1.0, 1.0) : 0.0;
  rk_orthogonalise(n, m, A, V, square);
  for (int32_t i = 0; i < n; i++) most = fmax(most, rk_dot(m, A + i * m, A + i * m));
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < i; j++) CHECK_NEAR(rk_dot(m, A + i * m, A + j * m), 0.0, 1e-14 * most, "a product of two columns");
}

/* From the vectors of a matrix nearby: as from none, and nothing is left to turn where it is the same. */
static void check_again(uint64_t *seed) {
  const int32_t n = 2 + (int32_t)uniform(seed, 0.0, MOST - 1.0), m = n + (int32_t)uniform(seed, 0.0, MOST - n + 1.0);
  double A[MOST * MOST], B[MOST * MOST], old[MOST * MOST], V[MOST * MOST], near[MOST * MOST], square[MOST];
  for (int32_t k = 0; k < n * m; k++) A[k] = uniform(seed, -1.0, 1.0), B[k] = A[k] + uniform(seed, -1e-5, 1e-5);
  rk_orthogonalise(n, m, A, near, square);
  memcpy(A, B, sizeof A);
  rk_orthogonalise_again(n, m, near, old, A, V, square);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) {
      const double *a = A + i * m, *b = A + j * m;
      CHECK_NEAR(rk_dot(m, a, b) / sqrt(rk_dot(m, a, a) * rk_dot(m, b, b)), i == j ? 1.0 : 0.0, 1e-13, "the cosine of two columns");
      CHECK_NEAR(rk_dot(n, V + i * n, V + j * n), i == j ? 1.0 : 0.0, 1e-13, "a product of two singular vectors");
    }
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = 0; k < m; k++) {
      double sum = 0.0;
      for (int32_t j = 0; j < n; j++) sum += V[i * n + j] * B[j * m + k];
      CHECK_NEAR(A[i * m + k], sum, 1e-13, "the matrix in the basis of its singular vectors");
    }
}

int main(void) {
  uint64_t seed = 5;
  for (int i = 0; i < CASES; i++) check(&seed), check_dependent(&seed), check_again(&seed);
  return report("jacobi_svd");
}
