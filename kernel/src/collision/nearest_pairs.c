/* The nearest pairs: of all, else of a list (Verlet, Physical Review 159, 1967). Each shape takes what it has come since off what
   its pairs were apart. The twin, ClearanceTask.rows, asks for all distances. */
#include "collision/nearest_pairs.h"

#include "collision/pair.h"
#include "math/rk_math.h"

/* COMES: all pairs are looked at again once a shape has come farther. The last of the nearest ones is then farther by
   twice as much at most, and others are nearer by twice as much: four times that is less than SLACK, by which what is
   not listed is farther than the last one. */
static const double COMES = 0.06, SLACK = 0.25, ROUNDING = 1e-7;
static const double HALF_ROOT = 0.7072; /* a little more than the root of a half */

rk_nearest_pairs rk_nearest_pairs_lay_out(const rk_clearance *c, rk_arena *arena) {
  const int64_t pairs = c->n_pairs, shapes = c->n_shapes;
  rk_nearest_pairs s;
  s.known = rk_take(arena, 1);
  s.before.placements = rk_take(arena, 12 * shapes), s.before.centres = rk_take(arena, 3 * shapes);
  s.least = rk_take(arena, pairs), s.pair = rk_take_integers(arena, pairs);
  s.moved = rk_take(arena, shapes), s.bounds = rk_take(arena, pairs), s.normal = rk_take(arena, 3 * pairs);
  s.heap = rk_take_integers(arena, pairs);
  return s;
}

/* How far no point of a shape has come more since `before`. */
static double find_moved(const rk_clearance *c, const rk_places *places, const rk_places *before, int64_t i) {
  const double *T = places->placements + 12 * i, *old = before->placements + 12 * i;
  double turned = 0.0, centre[3];
  for (int k = 0; k < 9; k++) turned += (T[k] - old[k]) * (T[k] - old[k]);
  rk_subtract3(places->centres + 3 * i, before->centres + 3 * i, centre);
  return rk_norm3(centre) + HALF_ROOT * c->shapes[i].bound * rk_sqrt(turned);
}

/* What a pair is apart along the normal that it had, else along the line of its centres, as far as that is one. */
static double gap(const rk_clearance *c, const rk_places *places, const double *normal, int32_t pair) {
  const int64_t a = c->pairs[2 * (int64_t)pair], b = c->pairs[2 * (int64_t)pair + 1];
  double n[3];
  rk_copy(n, normal, 3);
  if (!rk_unit3(n)) rk_subtract3(places->centres + 3 * b, places->centres + 3 * a, n);
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

/* The nearest of the pairs in s->heap, which s->bounds do not show to be farther apart; these become better. *within: in,
   beyond which none counts; out, what the last one has, where there are enough. */
static int32_t pick(const rk_clearance *c, const rk_places *places, rk_nearest_pairs *s, int32_t count, double *within,
                    double *found, int32_t *which, int32_t *failed) {
  const double rounding = ROUNDING * c->within;
  int32_t kept = 0, *heap = s->heap;
  for (int32_t i = count / 2 - 1; i >= 0; i--) sink(s->bounds, heap, count, i);
  *failed = 0;
  while (count > 0 && !(s->bounds[heap[0]] > *within + rounding)) {
    const int32_t at = heap[0], pair = s->pair[at];
    const double least = gap(c, places, s->normal + 3 * (int64_t)pair, pair);
    double own[10];
    if (least > s->bounds[at]) { /* others may be nearer */
      s->bounds[at] = least;
      sink(s->bounds, heap, count, 0);
      continue;
    }
    heap[0] = heap[--count];
    if (count > 0) sink(s->bounds, heap, count, 0);
    const int32_t status = rk_pair_distance(c, places, pair, *within + rounding, own);
    if (status == RK_DISTANCE_FAILED) *failed = 1 + pair;
    s->bounds[at] = own[0];
    if (status == RK_DISTANCE_FOUND) rk_copy(s->normal + 3 * (int64_t)pair, own + 7, 3);
    if (status != RK_DISTANCE_FOUND || !(own[0] <= *within)) continue;
    int32_t row = kept < c->rows ? kept++ : c->rows;
    for (; row > 0 && (own[0] < found[10 * (row - 1)] || (own[0] == found[10 * (row - 1)] && pair < which[row - 1])); row--)
      if (row < c->rows) rk_copy(found + 10 * (int64_t)row, found + 10 * (int64_t)(row - 1), 10), which[row] = which[row - 1];
    if (row < c->rows) rk_copy(found + 10 * (int64_t)row, own, 10), which[row] = pair;
    if (kept == c->rows) *within = rk_min(*within, found[10 * (int64_t)(kept - 1)]);
  }
  return kept;
}

/* Whether no shape has come too far for the list; s->moved. */
static int is_near(const rk_clearance *c, const rk_places *places, const rk_nearest_pairs *s) {
  for (int64_t i = 0; i < c->n_shapes; i++) {
    s->moved[i] = find_moved(c, places, &s->before, i);
    if (!(s->moved[i] < COMES * c->within)) return 0;
  }
  return 1;
}

static int32_t find_listed(const rk_clearance *c, const rk_places *places, rk_nearest_pairs *s, double *found,
                           int32_t *which, int32_t *failed) {
  const int32_t listed = (int32_t)*s->known - 1;
  double within = c->within;
  int32_t count = 0;
  for (int32_t at = 0; at < listed; at++) {
    const int32_t *pair = c->pairs + 2 * (int64_t)s->pair[at];
    s->bounds[at] = s->least[at] - s->moved[pair[0]] - s->moved[pair[1]];
    if (!(s->bounds[at] > within)) s->heap[count++] = at;
  }
  return pick(c, places, s, count, &within, found, which, failed);
}

static int32_t find_all(const rk_clearance *c, const rk_places *places, rk_nearest_pairs *s, double *found,
                        int32_t *which, int32_t *failed) {
  double within = c->within;
  const double slack = SLACK * within;
  int32_t count = 0, listed = 0, kept_listed = 0;
  for (int32_t i = 0; i < c->n_pairs; i++) {
    double radii;
    const double square = rk_pair_centres(c, places, i, &radii), reach = within + slack + radii;
    if (square > reach * reach) continue;
    s->bounds[listed] = rk_sqrt(square) - radii, s->pair[listed] = i;
    if (!(s->bounds[listed] > within)) s->heap[count++] = listed;
    listed++;
  }
  const int32_t kept = pick(c, places, s, count, &within, found, which, failed);
  for (int32_t at = 0; at < listed; at++) {
    if (s->bounds[at] > within + slack) continue;
    s->least[kept_listed] = s->bounds[at], s->pair[kept_listed++] = s->pair[at];
  }
  *s->known = 1 + kept_listed;
  rk_copy(s->before.placements, places->placements, 12 * (int64_t)c->n_shapes);
  rk_copy(s->before.centres, places->centres, 3 * (int64_t)c->n_shapes);
  return kept;
}

int32_t rk_nearest_pairs_find(const rk_clearance *c, const rk_places *places, rk_nearest_pairs *s, double *found,
                              int32_t *which, int32_t *failed) {
  const int knows = *s->known > 0.0 && is_near(c, places, s);
  return (knows ? find_listed : find_all)(c, places, s, found, which, failed);
}
