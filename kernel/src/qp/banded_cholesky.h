/* Cholesky of a symmetric matrix with a band, in rows: four rows against two at a time, along what they share. */
#ifndef RK_BANDED_CHOLESKY_H
#define RK_BANDED_CHOLESKY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { RK_BAND_PAD = 3 }; /* zeros before each row, so that four rows begin at one column */

/* Two numbers at a time, as every platform's registers hold them. */
typedef double rk_pair __attribute__((vector_size(16)));

static inline rk_pair rk_load_pair(const double *from) {
  rk_pair pair;
  memcpy(&pair, from, sizeof pair);
  return pair;
}

/* Entry (row, column) of a band with `reach` numbers a row, the diagonal last. */
static inline double *rk_band_at(double *band, int64_t reach, int64_t row, int64_t column) {
  return band + row * reach + (column - row + reach - 1);
}

/* sums[4][2] of `count` products of rows a, four with a stride, and b, two. */
static inline void rk_band_dots(const double *a, int64_t stride_a, const double *b, int64_t stride_b, int64_t count,
                           double sums[8]) {
  rk_pair s[8] = {{0.0, 0.0}};
  int64_t k = 0;
  for (; k + 1 < count; k += 2) {
    const rk_pair b0 = rk_load_pair(b + k), b1 = rk_load_pair(b + stride_b + k);
    for (int32_t i = 0; i < 4; i++) {
      const rk_pair own = rk_load_pair(a + i * stride_a + k);
      s[2 * i] += own * b0;
      s[2 * i + 1] += own * b1;
    }
  }
  for (int32_t i = 0; i < 8; i++) sums[i] = s[i][0] + s[i][1];
  if (k < count)
    for (int32_t i = 0; i < 4; i++)
      for (int32_t j = 0; j < 2; j++) sums[2 * i + j] += a[i * stride_a + k] * b[j * stride_b + k];
}

static inline double rk_band_dot(const double *a, const double *b, int64_t count) {
  rk_pair s = {0.0, 0.0}, t = {0.0, 0.0};
  int64_t k = 0;
  for (; k + 3 < count; k += 4) {
    s += rk_load_pair(a + k) * rk_load_pair(b + k);
    t += rk_load_pair(a + k + 2) * rk_load_pair(b + k + 2);
  }
  s += t;
  double sum = s[0] + s[1];
  for (; k < count; k++) sum += a[k] * b[k];
  return sum;
}

/* L of a band K = LL' in place, `size` rows of `reach` numbers, the first RK_BAND_PAD of each 0. Returns 0 where K is not
   positive definite. */
static inline int32_t rk_band_factor(double *K, int64_t size, int64_t reach) {
  for (int64_t i0 = 0; i0 < size; i0 += 4) {
    const int64_t rows = size - i0 < 4 ? size - i0 : 4;
    const int64_t first = i0 - (reach - 1 - RK_BAND_PAD) > 0 ? i0 - (reach - 1 - RK_BAND_PAD) : 0;
    int64_t j0 = first;
    for (; rows == 4 && j0 + 1 < i0; j0 += 2) {
      double sums[8];
      rk_band_dots(rk_band_at(K, reach, i0, first), reach - 1, rk_band_at(K, reach, j0, first), reach - 1, j0 - first,
              sums);
      const double d0 = *rk_band_at(K, reach, j0, j0), d1 = *rk_band_at(K, reach, j0 + 1, j0 + 1);
      const double below = *rk_band_at(K, reach, j0 + 1, j0);
      for (int64_t i = 0; i < 4; i++) {
        double *own = rk_band_at(K, reach, i0 + i, j0);
        own[0] = (own[0] - sums[2 * i]) / d0;
        own[1] = (own[1] - sums[2 * i + 1] - own[0] * below) / d1;
      }
    }
    for (int64_t i = i0; i < i0 + rows; i++) {
      double *row = rk_band_at(K, reach, i, first);
      for (int64_t j = j0; j < i; j++)
        row[j - first] =
            (row[j - first] - rk_band_dot(row, rk_band_at(K, reach, j, first), j - first)) / *rk_band_at(K, reach, j, j);
      const double pivot = row[i - first] - rk_band_dot(row, row, i - first);
      if (!(pivot > 0.0)) return 0;
      row[i - first] = sqrt(pivot);
    }
  }
  return 1;
}

/* x with LL'x = b, in place. */
static inline void rk_band_solve(const double *L, int64_t size, int64_t reach, double *x) {
  for (int64_t i = 0; i < size; i++) {
    const int64_t first = i - (reach - 1) > 0 ? i - (reach - 1) : 0;
    const double *row = L + i * reach + (first - i + reach - 1);
    x[i] = (x[i] - rk_band_dot(row, x + first, i - first)) / row[i - first];
  }
  for (int64_t i = size - 1; i >= 0; i--) {
    const int64_t first = i - (reach - 1) > 0 ? i - (reach - 1) : 0;
    const double *row = L + i * reach + (first - i + reach - 1);
    const double own = x[i] / row[i - first];
    x[i] = own;
    for (int64_t k = first; k < i; k++) x[k] -= row[k - first] * own;
  }
}

#endif
