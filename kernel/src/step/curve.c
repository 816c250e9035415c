/* Twin of `gap` in solvers/tasks/places/on_curve.py, and of what it asks a curve. */
#include "step/curve.h"

#include "math/rk_math.h"
#include "robokin_step.h"

static const double CORNER = 1e-9, SMALLEST = 0.25;

int32_t rk_sizeof_segment(void) { return (int32_t)sizeof(rk_segment); }

/* The length of the point of a segment nearest to p; gap[3]: from p to it. */
static double nearest(const rk_segment *s, const double p[3], double gap[3]) {
  double at = 0.0;
  for (int k = 0; k < 3; k++) at += (p[k] - s->origin[k]) * s->along[k];
  at = rk_clamp(at, 0.0, s->size);
  for (int k = 0; k < 3; k++) gap[k] = s->origin[k] + at * s->along[k] - p[k];
  return at;
}

/* The segment that is nearest to p, at a corner the one after it; *at: the arc length there. */
static const rk_segment *nearest_of(const double target[16], const double p[3], double *at) {
  const rk_segment *segments = (const rk_segment *)(uintptr_t)target[0], *best = segments;
  const int64_t count = (int64_t)target[1];
  double least = __builtin_inf(), length = 0.0;
  for (int64_t i = 0; i < count; i++) {
    double gap[3];
    const double own = nearest(segments + i, p, gap), square = rk_dot3(gap, gap);
    if (square < least) least = square, best = segments + i, length = best->start + own;
  }
  if (length >= best->start + best->size && segments + best->following != best)
    best = segments + best->following, length = best->start; /* at a corner the direction is that of the line after it */
  *at = length;
  return best;
}

void rk_curve_piece(const double target[16], const double p[3], double beyond, rk_segment *piece) {
  double unused;
  *piece = *nearest_of(target, p, &unused);
  if (beyond < -SMALLEST * piece->size) beyond = -SMALLEST * piece->size;
  for (int k = 0; k < 3; k++) piece->origin[k] -= beyond * piece->along[k];
  piece->size += 2.0 * beyond;
  piece->start = 0.0, piece->whole = piece->size, piece->following = 0;
}

int rk_curve_gap(const double target[16], const double p[3], double e[3], double along[3], double room[2]) {
  double length;
  const rk_segment *best = nearest_of(target, p, &length);
  if (room) room[0] = length - best->start, room[1] = best->start + best->size - length;
  for (int k = 0; k < 3; k++) {
    along[k] = best->along[k];
    e[k] = best->origin[k] + (length - best->start) * along[k] - p[k];
  }
  return __builtin_fabs(rk_dot3(along, e)) <= CORNER * (rk_norm3(e) + best->whole);
}
