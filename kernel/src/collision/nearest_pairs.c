/* The nearest pairs: of all, else of a list (Verlet, Physical Review 159, 1967). Each shape takes what it has come since off what
   its pairs were apart. Those that were nearest before are measured first: few of the others are nearer then. The twin,
   ClearanceTask.rows, asks for all distances. */
#include "collision/nearest_pairs.h"

#include "collision/pair.h"
#include "math/rk_math.h"

/* COMES: all pairs are looked at again once a shape has come farther. The last of the nearest ones is then farther by
   twice as much at most, and others are nearer by twice as much: four times that is less than SLACK, by which what is
   not listed is farther than the last one. */
static const double COMES = 0.06, SLACK = 0.25, ROUNDING = 1e-7;
static const double HALF_ROOT = 0.7072; /* a little more than the root of a half */

static int64_t seen_size(const rk_clearance *c) { return 1 + 12 * (int64_t)c->n_shapes + 11 * (int64_t)c->rows; }

rk_nearest_pairs rk_nearest_pairs_lay_out(const rk_clearance *c, rk_arena *arena) {
  const int64_t pairs = c->n_pairs, shapes = c->n_shapes;
  rk_nearest_pairs s;
  s.known = rk_take(arena, 3), s.seen = rk_take(arena, RK_SEEN * seen_size(c));
  s.before.placements = rk_take(arena, 12 * shapes), s.before.centres = rk_take(arena, 3 * shapes);
  s.least = rk_take(arena, pairs), s.pair = rk_take_integers(arena, pairs);
  s.moved = rk_take(arena, shapes), s.bounds = rk_take(arena, pairs), s.normal = rk_take(arena, 3 * pairs);
  s.heap = rk_take_integers(arena, pairs);
  s.last = rk_take_integers(arena, c->rows), s.is_measured = rk_take_integers(arena, pairs);
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

/* What a pair is apart along the normal that it had, or along which it was seen apart, else along the line of its centres,
   as far as that is one. */
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

/* The nearest pairs so far, and beyond what distance none counts any more: what the last one has, where there are enough. */
typedef struct nearest {
  double within, *found;
  int32_t *which, kept, failed;
} nearest;

/* Measures a pair and keeps it where it is among the nearest. Returns its distance, or what it is not less than. */
static double measure(const rk_clearance *c, const rk_places *places, rk_nearest_pairs *s, int32_t pair, nearest *out) {
  double own[10], *found = out->found;
  int32_t *which = out->which;
  const int32_t status = rk_pair_distance(c, places, pair, out->within + ROUNDING * c->within, own);
  if (status == RK_DISTANCE_FAILED) {
    out->failed = 1 + pair;
    return own[0];
  }
  rk_copy(s->normal + 3 * (int64_t)pair, own + 7, 3);
  if (status == RK_DISTANCE_FAR || !(own[0] <= out->within)) return own[0];
  int32_t row = out->kept < c->rows ? out->kept++ : c->rows;
  for (; row > 0 && (own[0] < found[10 * (row - 1)] || (own[0] == found[10 * (row - 1)] && pair < which[row - 1])); row--)
    if (row < c->rows) rk_copy(found + 10 * (int64_t)row, found + 10 * (int64_t)(row - 1), 10), which[row] = which[row - 1];
  if (row < c->rows) rk_copy(found + 10 * (int64_t)row, own, 10), which[row] = pair;
  if (out->kept == c->rows) out->within = rk_min(out->within, found[10 * (int64_t)(out->kept - 1)]);
  return own[0];
}

/* Measures those of the pairs in s->heap that s->bounds do not show to be too far apart; these become better. */
static void pick(const rk_clearance *c, const rk_places *places, rk_nearest_pairs *s, int32_t count, nearest *out) {
  int32_t *heap = s->heap;
  for (int32_t i = count / 2 - 1; i >= 0; i--) sink(s->bounds, heap, count, i);
  while (count > 0 && !(s->bounds[heap[0]] > out->within + ROUNDING * c->within)) {
    const int32_t at = heap[0], pair = s->pair[at];
    const double least = gap(c, places, s->normal + 3 * (int64_t)pair, pair);
    if (least > s->bounds[at]) { /* others may be nearer */
      s->bounds[at] = least;
    } else {
      s->bounds[at] = measure(c, places, s, pair, out);
      heap[0] = heap[--count];
    }
    if (count > 0) sink(s->bounds, heap, count, 0);
  }
}

/* Whether no shape has come too far for the list; s->moved. */
static int is_near(const rk_clearance *c, const rk_places *places, const rk_nearest_pairs *s) {
  for (int64_t i = 0; i < c->n_shapes; i++) {
    s->moved[i] = find_moved(c, places, &s->before, i);
    if (!(s->moved[i] < COMES * c->within)) return 0;
  }
  return 1;
}

static void find_listed(const rk_clearance *c, const rk_places *places, rk_nearest_pairs *s, nearest *out) {
  const int32_t listed = (int32_t)s->known[0] - 1;
  int32_t count = 0;
  for (int32_t at = 0; at < listed; at++) {
    const int32_t *pair = c->pairs + 2 * (int64_t)s->pair[at];
    s->bounds[at] = s->least[at] - s->moved[pair[0]] - s->moved[pair[1]];
    if (!(s->bounds[at] > out->within) && !s->is_measured[s->pair[at]]) s->heap[count++] = at;
  }
  pick(c, places, s, count, out);
}

static void find_all(const rk_clearance *c, const rk_places *places, rk_nearest_pairs *s, nearest *out) {
  const double slack = SLACK * c->within;
  int32_t count = 0, listed = 0, kept_listed = 0;
  for (int32_t i = 0; i < c->n_pairs; i++) {
    double radii;
    const double square = rk_pair_centres(c, places, i, &radii), reach = out->within + slack + radii;
    if (square > reach * reach) continue;
    s->bounds[listed] = rk_sqrt(square) - radii, s->pair[listed] = i;
    if (!(s->bounds[listed] > out->within) && !s->is_measured[i]) s->heap[count++] = listed;
    listed++;
  }
  pick(c, places, s, count, out);
  for (int32_t at = 0; at < listed; at++) {
    if (s->bounds[at] > out->within + slack) continue;
    s->least[kept_listed] = s->bounds[at], s->pair[kept_listed++] = s->pair[at];
  }
  s->known[0] = 1 + kept_listed;
  rk_copy(s->before.placements, places->placements, 12 * (int64_t)c->n_shapes);
  rk_copy(s->before.centres, places->centres, 3 * (int64_t)c->n_shapes);
}

/* Finds again what was found at these places; returns how many, or -1. */
static int32_t find_seen(const rk_clearance *c, const rk_places *places, const rk_nearest_pairs *s, double *found,
                         int32_t *which) {
  const int64_t size = 12 * (int64_t)c->n_shapes;
  for (int i = 0; i < RK_SEEN; i++) {
    const double *own = s->seen + i * seen_size(c), *then = own + 1 + size;
    if (own[0] == 0.0 || !rk_is_equal(own + 1, places->placements, size)) continue;
    const int32_t kept = (int32_t)own[0] - 1;
    rk_copy(found, then, 10 * (int64_t)kept);
    for (int32_t row = 0; row < kept; row++) which[row] = (int32_t)then[10 * (int64_t)c->rows + row];
    return kept;
  }
  return -1;
}

static void keep_seen(const rk_clearance *c, const rk_places *places, rk_nearest_pairs *s, const nearest *out) {
  const int64_t size = 12 * (int64_t)c->n_shapes;
  double *own = s->seen + (int64_t)s->known[2] * seen_size(c), *then = own + 1 + size;
  own[0] = 1.0 + out->kept;
  rk_copy(own + 1, places->placements, size);
  rk_copy(then, out->found, 10 * (int64_t)out->kept);
  for (int32_t row = 0; row < out->kept; row++) then[10 * (int64_t)c->rows + row] = out->which[row];
  s->known[2] = s->known[2] + 1.0 < RK_SEEN ? s->known[2] + 1.0 : 0.0;
}

int32_t rk_nearest_pairs_find(const rk_clearance *c, const rk_places *places, rk_nearest_pairs *s, double *found,
                              int32_t *which, int32_t *failed) {
  nearest out = {.within = c->within, .found = found, .which = which};
  *failed = 0;
  const int32_t again = find_seen(c, places, s, found, which);
  if (again >= 0) return again;
  const int knows = s->known[0] > 0.0 && is_near(c, places, s);
  const int32_t last = (int32_t)s->known[1];
  for (int32_t i = 0; i < last; i++) measure(c, places, s, s->last[i], &out), s->is_measured[s->last[i]] = 1;
  (knows ? find_listed : find_all)(c, places, s, &out);
  for (int32_t i = 0; i < last; i++) s->is_measured[s->last[i]] = 0;
  for (int32_t i = 0; i < out.kept; i++) s->last[i] = which[i];
  s->known[1] = out.kept;
  *failed = out.failed;
  if (!out.failed) keep_seen(c, places, s, &out);
  return out.kept;
}
