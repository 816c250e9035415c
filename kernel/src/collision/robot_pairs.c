/* Twin of CollisionModel.distances in robokin/collision/model.py, for the requested pairs. */
#include "collision/robot_pairs.h"

#include "collision/pair.h"
#include "math/rk_math.h"

int32_t rk_sizeof_clearance(void) { return (int32_t)sizeof(rk_clearance); }

static void place(const rk_clearance *c, int32_t i, const rk_places *places) {
  const double *T = places->placements + 12 * (int64_t)i;
  double *centre = places->centres + 3 * (int64_t)i;
  rk_rotate(T, c->shapes[i].centre, centre);
  for (int k = 0; k < 3; k++) centre[k] += T[9 + k];
}

void rk_place_links(const rk_clearance *c, const double *nodes, const rk_places *places) {
  for (int32_t i = 0; i < c->n_links; i++) {
    const double *own = c->own + 12 * (int64_t)i;
    double *T = places->placements + 12 * (int64_t)i;
    if (c->node[i] < 0)
      rk_copy(T, own, 12);
    else
      rk_compose(nodes + 12 * (int64_t)c->node[i], own, T);
    place(c, i, places);
  }
}

void rk_place_obstacles(const rk_clearance *c, const double *obstacles, const rk_places *places) {
  rk_copy(places->placements + 12 * (int64_t)c->n_links, obstacles, 12 * (int64_t)(c->n_shapes - c->n_links));
  for (int32_t i = c->n_links; i < c->n_shapes; i++) place(c, i, places);
}

int32_t rk_pair_distance(const rk_clearance *c, const rk_places *places, int32_t pair, double within, double out[10]) {
  const int64_t a = c->pairs[2 * (int64_t)pair], b = c->pairs[2 * (int64_t)pair + 1];
  return rk_shape_distance(c->shapes + a, places->placements + 12 * a, c->shapes + b, places->placements + 12 * b,
                           within, out);
}

double rk_pair_centres(const rk_clearance *c, const rk_places *places, int32_t pair, double *radii) {
  const int64_t a = c->pairs[2 * (int64_t)pair], b = c->pairs[2 * (int64_t)pair + 1];
  const double *from = places->centres + 3 * a, *to = places->centres + 3 * b;
  const double between[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
  *radii = c->shapes[a].bound + c->shapes[b].bound;
  return rk_dot3(between, between);
}

/* What a pair is apart along the line of its centres, as far as that is one. */
static double gap(const rk_clearance *c, const rk_places *places, int32_t pair) {
  const int64_t a = c->pairs[2 * (int64_t)pair], b = c->pairs[2 * (int64_t)pair + 1];
  double n[3];
  rk_subtract3(places->centres + 3 * b, places->centres + 3 * a, n);
  if (!rk_unit3(n)) return -__builtin_inf();
  return rk_shape_gap(c->shapes + a, places->placements + 12 * a, c->shapes + b, places->placements + 12 * b, n);
}

/* Lets the entry at `i` sink in a heap whose least bound is first. */
static void sink(const double *bounds, int32_t *heap, int32_t count, int32_t i) {
  const int32_t own = heap[i];
  for (;;) {
    int32_t child = 2 * i + 1;
    if (child >= count) break;
    if (child + 1 < count && bounds[heap[child + 1]] < bounds[heap[child]]) child++;
    if (!(bounds[heap[child]] < bounds[own])) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = own;
}

int32_t rk_nearest_pairs(const rk_clearance *c, const rk_places *places, double *bounds, int32_t *heap, double *found,
                         int32_t *which, int32_t *failed) {
  int32_t count = 0, kept = 0;
  double within = c->within;
  for (int32_t i = 0; i < c->n_pairs; i++) {
    double radii;
    const double square = rk_pair_centres(c, places, i, &radii), reach = within + radii;
    if (!(square > reach * reach)) bounds[i] = rk_sqrt(square) - radii, heap[count++] = i;
  }
  for (int32_t i = count / 2 - 1; i >= 0; i--) sink(bounds, heap, count, i);
  *failed = 0;
  while (count > 0 && !(bounds[heap[0]] > within)) {
    const int32_t pair = heap[0];
    const double least = gap(c, places, pair);
    double own[10];
    if (least > bounds[pair]) { /* others may be nearer */
      bounds[pair] = least;
      sink(bounds, heap, count, 0);
      continue;
    }
    heap[0] = heap[--count];
    if (count > 0) sink(bounds, heap, count, 0);
    const int32_t status = rk_pair_distance(c, places, pair, within, own);
    if (status == RK_DISTANCE_FAILED) *failed = 1 + pair;
    if (status != RK_DISTANCE_FOUND || !(own[0] <= within)) continue;
    int32_t at = kept < c->rows ? kept++ : c->rows;
    for (; at > 0 && (own[0] < found[10 * (at - 1)] || (own[0] == found[10 * (at - 1)] && pair < which[at - 1])); at--)
      if (at < c->rows) rk_copy(found + 10 * (int64_t)at, found + 10 * (int64_t)(at - 1), 10), which[at] = which[at - 1];
    if (at < c->rows) rk_copy(found + 10 * (int64_t)at, own, 10), which[at] = pair;
    if (kept == c->rows) within = rk_min(within, found[10 * (int64_t)(kept - 1)]);
  }
  return kept;
}
