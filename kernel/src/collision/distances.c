/* Distances of pairs of shapes: their balls, broad phase, and the record of a pair. Twin of
   robokin/collision/reference/distances.py. */
#include "collision/pair.h"

#define SURE 1e-13      /* of the size: a normal that shows the distance to be as large */
#define SHORT 1e-6      /* of the size: a shorter way from point to point says less of its direction than what shows the distance */
#define TOLERANCE 1e-9 /* of the size: what a distance may be wrong by */

int32_t rk_sizeof_shape(void) { return (int32_t)sizeof(rk_shape); }

/* Distance between the centres of the bounding balls, less their radii: the shapes are not nearer. to: from the first
   centre to the second. */
static double apart(const rk_shape *a, const double Ta[12], const rk_shape *b, const double Tb[12], double to[3]) {
  double from[3];
  rk_rotate(Ta, a->centre, from);
  rk_rotate(Tb, b->centre, to);
  for (int k = 0; k < 3; k++) to[k] += (Tb[9 + k] - Ta[9 + k]) - from[k];
  return rk_sqrt(rk_dot3(to, to)) - a->bound - b->bound;
}

/* How far a shape reaches along the unit vector n, from the origin of its axes. */
static double reach_along(const rk_shape *s, const double T[12], const double n[3]) {
  double own[3], most = -__builtin_inf();
  rk_rotate_back(T, n, own);
  for (int32_t i = 0; i < s->n_points; i++) most = rk_max(most, rk_dot3(s->points + 3 * i, own));
  return most + s->disc * rk_sqrt(own[0] * own[0] + own[1] * own[1]) + s->radius;
}

double rk_shape_gap(const rk_shape *a, const double Ta[12], const rk_shape *b, const double Tb[12], const double n[3]) {
  const double back[3] = {-n[0], -n[1], -n[2]};
  double shift[3];
  rk_subtract3(Tb + 9, Ta + 9, shift);
  return rk_dot3(shift, n) - reach_along(a, Ta, n) - reach_along(b, Tb, back);
}

/* Distance of a pair without balls, negative where they meet; infinite where it is not found. One that is shown to be
   more than `enough` is not looked for: at least what is returned. */
static double distance(const rk_pair *p, double enough, rk_difference_point *points, double n[3]) {
  double value, low;
  if (rk_closed_form(p, &value, points, n)) return value;
  value = rk_nearest(p, enough, points, &low, n);
  if (low > enough) return low;
  if (value > RK_TOUCHING * p->size) {
    const int is_sure = value - low <= SURE * p->size;
    if (is_sure && value <= SHORT * p->size) return value;
    for (int k = 0; k < 3; k++) n[k] = -points->m[k];
    rk_unit3(n);
    if (is_sure) return value;
    low = -rk_descend(p, rk_reach(p, n), n, points);
    value = rk_min(value, rk_sqrt(rk_dot3(points->m, points->m)));
    if (value - low <= TOLERANCE * p->size && value - low < 0.5 * value) return low;
  }
  low = -rk_shortest_way_out(p, -enough, n, points);
  if (low > enough) return low;
  value = rk_min(value, rk_sqrt(rk_dot3(points->m, points->m)));
  if (low <= RK_TOUCHING * p->size || value - low <= TOLERANCE * p->size) return low;
  return __builtin_inf();
}

int32_t rk_shape_distance(const rk_shape *a, const double Ta[12], const rk_shape *b, const double Tb[12], double within,
                          double out[10]) {
  for (int k = 0; k < 10; k++) out[k] = 0.0;
  out[0] = -__builtin_inf();
  if (!rk_fit(12, Ta) || !rk_fit(12, Tb)) return RK_DISTANCE_FAILED;
  double *n = out + 7;
  const double between = apart(a, Ta, b, Tb, n);
  if (between > within) {
    out[0] = between;
    return RK_DISTANCE_FAR;
  }
  rk_pair p = {.a = a, .b = b, .Ta = Ta, .Tb = Tb};
  for (int k = 0; k < 3; k++) p.shift[k] = Tb[9 + k] - Ta[9 + k];
  const double *shift = p.shift;
  p.size = rk_sqrt(rk_dot3(shift, shift)) + rk_sqrt(rk_dot3(a->centre, a->centre)) +
           rk_sqrt(rk_dot3(b->centre, b->centre)) + (a->bound - a->radius) + (b->bound - b->radius);
  const double radii = a->radius + b->radius;
  rk_difference_point points;
  const double value = distance(&p, within + radii, &points, n);
  if (!(value <= RK_MOST)) return RK_DISTANCE_FAILED;
  if (value > within + radii) {
    out[0] = rk_max(value - radii, within);
    return RK_DISTANCE_FAR;
  }
  out[0] = value - radii;
  for (int k = 0; k < 3; k++) {
    out[1 + k] = Ta[9 + k] + points.a[k] + a->radius * n[k];
    out[4 + k] = Tb[9 + k] + points.b[k] - b->radius * n[k];
  }
  return RK_DISTANCE_FOUND;
}

void rk_distances(int64_t count, int32_t n_shapes, const rk_shape *shapes, const double *placements, int32_t n_pairs,
                  const int32_t *pairs, double within, double *out, int32_t *status) {
  for (int64_t c = 0; c < count; c++) {
    const double *T = placements + 12 * n_shapes * c;
    for (int32_t i = 0; i < n_pairs; i++) {
      const int32_t a = pairs[2 * i], b = pairs[2 * i + 1];
      const int64_t at = c * n_pairs + i;
      status[at] =
          rk_shape_distance(shapes + a, T + 12 * (int64_t)a, shapes + b, T + 12 * (int64_t)b, within, out + 10 * at);
      for (int k = 7; k < 10 && status[at] != RK_DISTANCE_FOUND; k++) out[10 * at + k] = 0.0;
    }
  }
}
