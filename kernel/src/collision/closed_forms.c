/* Distances that have a formula: of points and segments from each other, and of points from boxes and cylinders. Twin of
   robokin/collision/reference/closed_forms.py. */
#include "collision/pair.h"

#define PARALLEL 1e-14 /* sine of an angle that is none */
#define SKEW 1e-8      /* sine of the angle from which on the vector across both segments is the better normal */
#define INNER (1.0 - 1e-12) /* share of a half: beyond, rounding does not say whether it is the end */
#define LEAST 1e-150   /* length of a vector that has a direction */

/* From its middle to its end; of a point 0. In the axes of the world, from the shape's origin. */
typedef struct segment {
  double middle[3], half[3];
} segment;

static int is_segment(const rk_shape *s) { return s->n_points <= 2 && !(s->disc > 0.0); }

static segment place(const rk_shape *s, const double R[9]) {
  const double *start = s->points, *end = s->points + 3 * (s->n_points - 1);
  double middle[3], half[3];
  for (int k = 0; k < 3; k++) middle[k] = 0.5 * (end[k] + start[k]), half[k] = 0.5 * (end[k] - start[k]);
  segment out;
  rk_rotate(R, middle, out.middle);
  rk_rotate(R, half, out.half);
  return out;
}

/* Shares of the halves d and e, within 1, in the nearest points of two segments whose middles are w apart. Of parallel
   ones the middle of what is beside each other is nearest. c: d x e. */
static void find_nearest(const double w[3], const double d[3], const double e[3], const double c[3], double *s, double *t) {
  const double dd = rk_dot3(d, d), ee = rk_dot3(e, e), de = rk_dot3(d, e), cc = rk_dot3(c, c), along = rk_dot3(w, d);
  *s = *t = 0.0;
  if (cc > PARALLEL * PARALLEL * dd * ee) {
    double other[3];
    rk_cross(w, e, other);
    *s = rk_clamp(rk_dot3(other, c) / cc, -1.0, 1.0);
  } else if (dd > 0.0) {
    const double place = along / dd, half = __builtin_fabs(de) / dd;
    *s = rk_clamp(0.5 * (rk_max(-1.0, place - half) + rk_min(1.0, place + half)), -1.0, 1.0);
  }
  if (ee > 0.0) *t = rk_clamp((*s * de - rk_dot3(w, e)) / ee, -1.0, 1.0);
  if (dd > 0.0) *s = rk_clamp((*t * de + along) / dd, -1.0, 1.0);
}

/* Unit vector along x and across the segments with the halves d and e as far as asked. c: d x e. */
static void find_normal(const double x[3], const double d[3], const double e[3], const double c[3], int is_short,
                        int is_across_d, int is_across_e, double n[3]) {
  const double dd = rk_dot3(d, d), ee = rk_dot3(e, e), cc = rk_dot3(c, c), *longer = dd < ee ? e : d;
  const int are_both = is_across_d && is_across_e, are_parallel = !(cc > PARALLEL * PARALLEL * dd * ee);
  rk_copy(n, x, 3);
  if (is_short && are_parallel)
    rk_across(longer, n);
  else if (are_both && (is_short || cc > SKEW * SKEW * dd * ee))
    rk_copy(n, c, 3);
  if (!rk_unit3(n)) rk_across(longer, n);
  const double *line = are_both ? longer : is_across_d ? d : e, square = rk_dot3(line, line);
  if ((is_across_d || is_across_e) && square > 0.0) {
    const double along = rk_dot3(n, line) / square;
    for (int k = 0; k < 3; k++) n[k] -= along * line[k];
    rk_unit3(n);
  }
}

/* The normal is across each segment that the nearest point is not an end of, or that would else reach beyond its end by
   rounding. */
static double between_segments(const rk_pair *p, rk_difference_point *points, double n[3]) {
  const segment a = place(p->a, p->Ta), b = place(p->b, p->Tb);
  const double *d = a.half, *e = b.half;
  double w[3], c[3], s, t, x[3];
  for (int k = 0; k < 3; k++) w[k] = (b.middle[k] - a.middle[k]) + p->shift[k];
  rk_cross(d, e, c);
  find_nearest(w, d, e, c, &s, &t);
  for (int k = 0; k < 3; k++) {
    points->a[k] = a.middle[k] + s * d[k];
    points->b[k] = b.middle[k] + t * e[k];
    x[k] = (points->b[k] - points->a[k]) + p->shift[k];
  }
  const int is_short = rk_norm3(x) <= RK_TOUCHING * p->size;
  int is_across_d = is_short || __builtin_fabs(s) < INNER, is_across_e = is_short || __builtin_fabs(t) < INNER;
  for (int is_beyond = 1; is_beyond;) {
    find_normal(x, d, e, c, is_short, is_across_d, is_across_e, n);
    const int beyond_d = !is_across_d && s * rk_dot3(n, d) < 0.0, beyond_e = !is_across_e && t * rk_dot3(n, e) > 0.0;
    is_across_d |= beyond_d, is_across_e |= beyond_e, is_beyond = beyond_d || beyond_e;
  }
  const double value = rk_dot3(n, x);
  for (int k = 0; k < 3 && value < 0.0; k++) n[k] = -n[k];
  return __builtin_fabs(value);
}

/* Distance of the point y from a block, in its own frame, and the unit normal towards y. A cylinder is as near as the
   box about it that faces y. */
static double from_block(const rk_shape *block, const double y[3], double nearest[3], double n[3]) {
  double at[3], half[3], own[3], cosine = 1.0, sine = 0.0;
  rk_copy(at, y, 3);
  rk_copy(half, block->points + 3 * (block->n_points - 1), 3);
  if (block->disc > 0.0) {
    const double away = rk_sqrt(y[0] * y[0] + y[1] * y[1]);
    if (away > LEAST) cosine = y[0] / away, sine = y[1] / away;
    at[0] = away, at[1] = 0.0, half[0] = half[1] = block->disc;
  }
  for (int k = 0; k < 3; k++) own[k] = rk_clamp(at[k], -half[k], half[k]), n[k] = at[k] - own[k];
  double value = rk_norm3(n);
  if (!(value > LEAST)) {
    int face = 0;
    for (int k = 1; k < 3; k++)
      if (half[k] - __builtin_fabs(at[k]) < half[face] - __builtin_fabs(at[face])) face = k;
    value = __builtin_fabs(at[face]) - half[face];
    for (int k = 0; k < 3; k++) n[k] = k != face ? 0.0 : at[k] < 0.0 ? -1.0 : 1.0;
    own[face] = n[face] * half[face];
  } else {
    rk_unit3(n);
  }
  for (int side = 0; side < 2; side++) {
    double *x = side ? n : nearest, from[3];
    rk_copy(from, side ? n : own, 3);
    x[0] = cosine * from[0] - sine * from[1], x[1] = sine * from[0] + cosine * from[1], x[2] = from[2];
  }
  return value;
}

/* Between A, a block, and a point of B; sign: -1 where they are B and A. */
static double between_block_and_point(const rk_pair *p, const rk_shape *block, const double T[12], const double point[3],
                                      double sign, double nearest[3], double n[3]) {
  double to[3], y[3], own[3], normal[3];
  for (int k = 0; k < 3; k++) to[k] = point[k] + sign * p->shift[k];
  rk_rotate_back(T, to, y);
  const double value = from_block(block, y, own, normal);
  rk_rotate(T, own, nearest);
  rk_rotate(T, normal, n);
  for (int k = 0; k < 3; k++) n[k] *= sign;
  return value;
}

int rk_closed_form(const rk_pair *p, double *value, rk_difference_point *points, double n[3]) {
  if (is_segment(p->a) && is_segment(p->b)) {
    *value = between_segments(p, points, n);
  } else if (p->a->is_block && p->b->n_points == 1 && is_segment(p->b)) {
    rk_rotate(p->Tb, p->b->points, points->b);
    *value = between_block_and_point(p, p->a, p->Ta, points->b, 1.0, points->a, n);
  } else if (p->b->is_block && p->a->n_points == 1 && is_segment(p->a)) {
    rk_rotate(p->Ta, p->a->points, points->a);
    *value = between_block_and_point(p, p->b, p->Tb, points->a, -1.0, points->b, n);
  } else {
    return 0;
  }
  return 1;
}
