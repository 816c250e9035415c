/* An orthonormal basis as a product of Householder reflections, Q = (1 - b0 v0 v0') (1 - b1 v1 v1') ...; reflector k
   has zeros before entry k, and from entry n on, as many as there were when it was made. Rows are taken into the basis
   (row Q) without ever forming it. */
#ifndef RK_REFLECTORS_H
#define RK_REFLECTORS_H

#include "math/rk_math.h"
#include "math/rk_vector.h"

typedef struct rk_reflectors {
  int32_t n, stride;
  double *v, *factor; /* [stride][stride], [stride] */
  int32_t *end;       /* [stride] n of each */
} rk_reflectors;

static inline void rk_reflect(const rk_reflectors *s, int32_t k, double *row) {
  const double *v = s->v + (int64_t)k * s->stride + k;
  const int32_t length = s->end[k] - k;
  const double along = rk_dot(length, v, row + k);
  if (along != 0.0) rk_add_scaled(length, -s->factor[k] * along, v, row + k); /* 0: limbs have nothing of each other */
}

/* row = row Q, of reflectors first ... last - 1. */
static inline void rk_into_basis(const rk_reflectors *s, int32_t first, int32_t last, double *row) {
  for (int32_t k = first; k < last; k++) rk_reflect(s, k, row);
}

/* x = Q x, of the first `count` reflectors. */
static inline void rk_out_of_basis(const rk_reflectors *s, int32_t count, double *x) {
  for (int32_t k = count - 1; k >= 0; k--) rk_reflect(s, k, x);
}

/* M = Q M for M[n][columns], of the first `count` reflectors. along[columns]: workspace. */
static inline void rk_columns_out_of_basis(const rk_reflectors *s, int32_t count, int32_t columns, double *M, double *along) {
  for (int32_t k = count - 1; k >= 0; k--) {
    const double *v = s->v + (int64_t)k * s->stride;
    for (int32_t j = 0; j < columns; j++) along[j] = 0.0;
    for (int32_t i = k; i < s->end[k]; i++)
      if (v[i] != 0.0) rk_add_scaled(columns, v[i], M + (int64_t)i * columns, along);
    for (int32_t i = k; i < s->end[k]; i++)
      if (v[i] != 0.0) rk_add_scaled(columns, -s->factor[k] * v[i], along, M + (int64_t)i * columns);
  }
}

/* Reflector k: it takes `row`, of length > 0 from entry k on, to a multiple of unit vector k. */
static inline void rk_make_reflector(const rk_reflectors *s, int32_t k, const double *row, double length) {
  double *v = s->v + (int64_t)k * s->stride;
  for (int32_t i = k; i < s->n; i++) v[i] = row[i] / length;
  v[k] += v[k] < 0.0 ? -1.0 : 1.0;
  s->factor[k] = 1.0 / __builtin_fabs(v[k]);
  s->end[k] = s->n;
}

/* Q such that rows W[m][n], which are in the basis of the first r reflectors, have entries in columns r ... r + rank - 1
   only; what is left of them is at most `none`. The longest row first. order[m]: workspace. Returns the rank. */
static inline int32_t rk_reduce_rows(const rk_reflectors *s, int32_t r, int32_t m, double none, double *W,
                                     int32_t *order) {
  const int64_t n = s->n;
  for (int32_t i = 0; i < m; i++) order[i] = i;
  for (int32_t rank = 0;; rank++) {
    const int32_t k = r + rank;
    int32_t longest = -1;
    double most = 0.0;
    for (int32_t i = rank; i < m && k < n; i++) {
      const double *row = W + order[i] * n + k, square = rk_dot((int32_t)n - k, row, row);
      if (square > most) most = square, longest = i;
    }
    if (longest < 0 || !(rk_sqrt(most) > none)) return rank;
    const int32_t pivot = order[longest];
    order[longest] = order[rank], order[rank] = pivot;
    rk_make_reflector(s, k, W + pivot * n, rk_sqrt(most));
    for (int32_t i = rank; i < m; i++) rk_reflect(s, k, W + order[i] * n);
  }
}

#endif
