/* The active constraints of a projection: their normals are the rows of R'Q, which each change keeps up to date. */
#ifndef RK_ACTIVE_SET_H
#define RK_ACTIVE_SET_H

#include "math/rk_math.h"
#include "math/rk_vector.h"
#include "qp/projection.h"

static const double LITTLE = 0.01; /* of a square */

enum { IDLE = 0, ACTIVE = 1, SETTLED = 2, PASSED = 3 }; /* flags; SETTLED: redundant; PASSED: for the rest of the line */

/* Splits a normal into its components d along the active ones and the rest; returns the square of the rest's length.
   Again where much cancels, since rounding errors along the active ones are then no longer small beside the rest. */
static inline double split(rk_projection *s, const double *normal, double sign) {
  const int32_t n = s->n;
  double *along = s->r, square_left = 0.0, before;
  for (int32_t i = 0; i < n; i++) s->rest[i] = sign * normal[i];
  for (int32_t j = 0; j < s->k; j++) s->d[j] = 0.0;
  before = rk_dot(n, s->rest, s->rest);
  for (int pass = 0; pass < 3; pass++, before = square_left) {
    for (int32_t j = 0; j < s->k; j++) along[j] = rk_dot(n, s->Q + (int64_t)j * n, s->rest);
    rk_subtract_rows(s->k, n, along, s->Q, s->rest);
    for (int32_t j = 0; j < s->k; j++) s->d[j] += along[j];
    square_left = rk_dot(n, s->rest, s->rest);
    if (square_left > LITTLE * before) break;
  }
  return square_left;
}

/* Make the constraint that was split last active. */
static inline void append(rk_projection *s, int32_t c, double sign, double length) {
  double *row = s->Q + (int64_t)s->k * s->n;
  for (int32_t i = 0; i < s->n; i++) row[i] = s->rest[i] / length;
  for (int32_t j = 0; j < s->k; j++) s->R[(int64_t)j * s->n + s->k] = s->d[j];
  s->R[(int64_t)s->k * s->n + s->k] = length;
  s->number[s->k] = c;
  s->sign[s->k++] = sign;
  s->flag[c] = ACTIVE;
}

/* Rotate entries first ... of two rows. */
static inline void rotate(double *a, double *b, int32_t first, int32_t last, double cosine, double sine) {
  for (int32_t i = first; i < last; i++) {
    const double x = a[i], z = b[i];
    a[i] = cosine * x + sine * z;
    b[i] = cosine * z - sine * x;
  }
}

static inline void drop(rk_projection *s, int32_t at) {
  const int64_t n = s->n;
  s->flag[s->number[at]] = IDLE;
  s->k--;
  for (int32_t j = at; j < s->k; j++) {
    s->number[j] = s->number[j + 1];
    s->sign[j] = s->sign[j + 1];
    s->u[j] = s->u[j + 1];
    for (int32_t i = 0; i <= j + 1; i++) s->R[i * n + j] = s->R[i * n + j + 1];
  }
  for (int32_t j = at; j < s->k; j++) {
    double *above = s->R + j * n, *below = above + n;
    const double x = above[j], z = below[j], length = rk_sqrt(x * x + z * z);
    rotate(above, below, j, s->k, x / length, z / length);
    rotate(s->Q + j * n, s->Q + (j + 1) * n, 0, s->n, x / length, z / length);
  }
}

static inline void solve_upper(const rk_projection *s, double *x) { /* R x = x */
  for (int32_t i = s->k - 1; i >= 0; i--) {
    const double *row = s->R + (int64_t)i * s->n;
    x[i] = (x[i] - rk_dot(s->k - i - 1, row + i + 1, x + i + 1)) / row[i]; /* a joint ends on its limit to the last digit */
  }
}

static inline void solve_lower(const rk_projection *s, double *x) { /* R'x = x */
  for (int32_t i = 0; i < s->k; i++) {
    const double *row = s->R + (int64_t)i * s->n;
    x[i] /= row[i];
    rk_add_scaled(s->k - i - 1, -x[i], row + i + 1, x + i + 1);
  }
}

#endif
