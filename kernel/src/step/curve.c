/* Twin of `gap` in solvers/tasks/places/on_curve.py, and of what it asks a curve. */
#include "step/curve.h"

#include "math/rk_math.h"
#include "robokin_step.h"

static const double CORNER = 1e-9;

int32_t rk_sizeof_segment(void) { return (int32_t)sizeof(rk_segment); }

/* The length of the point of a segment nearest to p; gap[3]: from p to it. */
static double nearest(const rk_segment *s, const double p[3], double gap[3]) {
  double at = 0.0;
  for (int k = 0; k < 3; k++) at += (p[k] - s->origin[k]) * s->along[k];
  at = rk_clamp(at, 0.0, s->size);
  for (int k = 0; k < 3; k++) gap[k] = s->origin[k] + at * s->along[k] - p[k];
  return at;
}

int rk_curve_gap(const double target[16], const double p[3], double e[3], double along[3]) {
  const rk_segment *segments = (const rk_segment *)(uintptr_t)target[0], *best = segments;
  const int64_t count = (int64_t)target[1];
  double least = __builtin_inf(), length = 0.0;
  for (int64_t i = 0; i < count; i++) {
    double gap[3];
    const double at = nearest(segments + i, p, gap), square = rk_dot3(gap, gap);
    if (square < least) least = square, best = segments + i, length = best->start + at;
  }
  if (length >= best->start + best->size && segments + best->following != best)
    best = segments + best->following, length = best->start; /* at a corner the direction is that of the line after it */
  for (int k = 0; k < 3; k++) {
    along[k] = best->along[k];
    e[k] = best->origin[k] + (length - best->start) * along[k] - p[k];
  }
  return __builtin_fabs(rk_dot3(along, e)) <= CORNER * (rk_norm3(e) + best->whole);
}
