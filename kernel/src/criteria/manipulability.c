/* How well the rows of the tasks move, and the gradient of that. Twin of solvers/criteria/manipulability.py. */
#include "criteria/criteria.h"

#include <string.h>

#include "math/rk_jacobi_svd.h"

static const double SINGULAR = 1e-6, STRUCTURAL = 1e-9, NONE = 4e-16;

/* The natural logarithm of a positive, normal number, to the last digits; of our own, so that every platform computes
   the same bits. */
static double rk_log(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  bits = (bits & 0xfffffffffffffull) | 0x3ff0000000000000ull;
  double m;
  memcpy(&m, &bits, sizeof m);
  if (m > 1.4142135623730951) m *= 0.5, exponent++;
  const double t = (m - 1.0) / (m + 1.0), z = t * t; /* ln m = 2 atanh t, z < 0.0295 */
  double sum = 0.0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * z + 1.0 / k;
  return exponent * 0.6931471805599453 + 2.0 * t * sum;
}

int64_t rk_manipulability_workspace(const rk_step *step) {
  const int64_t rows = rk_most_first_rows(step);
  return rk_first_rows_workspace(step) + rows * (2 * (int64_t)step->model->nv + rows + 1);
}

/* -1/2 log det, of as many singular values as there are rows or columns, the larger ones. */
static double volume(int32_t rows, int32_t columns, const double *s) {
  double value = 0.0;
  for (int32_t i = 0; i < rows; i++) {
    int32_t larger = 0;
    for (int32_t j = 0; j < rows; j++) larger += s[j] > s[i] || (s[j] == s[i] && j < i);
    if (larger < columns) value -= 0.5 * rk_log(s[i] * s[i] + SINGULAR * SINGULAR);
  }
  return value;
}

/* B[rows][nv] with dV = -sum of B dJ, from the orthogonal A[rows][nv] = U'J and its U; returns V. */
static double value_and_slope(int32_t rows, int32_t nv, int smallest, int32_t rank, const double *A, const double *U,
                              double *s, double *B) {
  double largest = 0.0, value = 0.0;
  int32_t at = -1;
  for (int64_t k = 0; k < (int64_t)rows * nv; k++) B[k] = 0.0;
  for (int32_t i = 0; i < rows; i++) {
    s[i] = rk_sqrt(rk_dot(nv, A + (int64_t)i * nv, A + (int64_t)i * nv));
    largest = s[i] > largest ? s[i] : largest;
  }
  for (int32_t i = 0; i < rows; i++) {
    int32_t larger = 0;
    for (int32_t j = 0; j < rows; j++) larger += s[j] > s[i] || (s[j] == s[i] && j < i);
    if ((larger < rank || s[i] > STRUCTURAL * largest) && (at < 0 || s[i] < s[at])) at = i;
  }
  for (int32_t i = 0; i < rows; i++) {
    if (smallest && i == at) value = -s[i];
    if ((smallest && i != at) || !(s[i] > NONE * largest)) continue;
    const double square = s[i] * s[i] + SINGULAR * SINGULAR;
    for (int32_t r = 0; r < rows; r++)
      rk_add_scaled(nv, U[(int64_t)i * rows + r] / (smallest ? s[i] : square), A + (int64_t)i * nv, B + (int64_t)r * nv);
  }
  if (!smallest) value = volume(rows, nv, s);
  return value;
}

int32_t rk_first_vectors(const rk_step *step, const rk_step_data *data, const double *nodes, rk_near_vectors *near,
                         double *work, double *s, double *B, double *A, double *U) {
  const int32_t rows = rk_first_rows(step, data, nodes, work, A);
  if (near && near->rows == rows)
    rk_orthogonalise_again(rows, step->model->nv, near->U, B, A, U, s);
  else
    rk_orthogonalise(rows, step->model->nv, A, U, s);
  if (near && near->rows == 0) near->rows = rows, rk_copy(near->U, U, (int64_t)rows * rows);
  return rows;
}

double rk_add_manipulability(const rk_step *step, const rk_step_data *data, const double *nodes, int smallest,
                             int32_t rank, double share, rk_near_vectors *near, double *work, double *g) {
  const int64_t nv = step->model->nv, most = rk_most_first_rows(step);
  double *A = work + rk_first_rows_workspace(step), *B = A + most * nv, *U = B + most * nv, *s = U + most * most;
  const int32_t rows = rk_first_vectors(step, data, nodes, near, work, s, B, A, U);
  const double value = value_and_slope(rows, (int32_t)nv, smallest, rank, A, U, s, B);
  if (g) rk_add_change_of_rows(step, data, nodes, B, -share, work, g);
  return value;
}
