#include "trajectories/durations.h"

#include <math.h>
#include <stdint.h>

enum { NEWTON = 80, PASSES = 64 };
static const double TOLERANCE = 1e-14; /* of positions, relative: rounding */

rk_blocked rk_blocked_of(double d, double x0, double x1, double X, double A) {
  rk_blocked found = {0};
  for (int side = 0; side < 2; side++) {
    const double sign = side ? -1.0 : 1.0, y0 = sign * x0, y1 = sign * x1, y = sign * d;
    double root = 2.0 * (y0 * y0 + y1 * y1) - 4.0 * A * y;
    if (root <= 0.0) continue;
    root = sqrt(root);
    const double start = (y0 + y1 - root) / A;
    double stop = (y0 + y1 + root) / A;
    if (0.5 * root > X)
      stop = (y0 + y1 + 2.0 * X) / A + ((y0 * y0 + y1 * y1 - 2.0 * X * X) / (2.0 * A) - y) / X;
    if (!(stop > fabs(x1 - x0) / A)) continue;
    found.low[found.count] = start, found.high[found.count] = stop, found.count++;
  }
  const int swapped = found.count == 2 && (found.low[1] < found.low[0] ||
                                           (found.low[1] == found.low[0] && found.high[1] < found.high[0]));
  if (swapped) {
    const double low = found.low[0], high = found.high[0];
    found.low[0] = found.low[1], found.high[0] = found.high[1];
    found.low[1] = low, found.high[1] = high;
  }
  return found;
}

/* The cube root of x >= 0: a third of the exponent to begin with, then Halley's steps. No libm: only that of C itself is
   wanted. */
static double cube_root(double x) {
  uint64_t bits;
  if (!(x > 0.0)) return 0.0;
  __builtin_memcpy(&bits, &x, sizeof bits);
  bits = bits / 3 + ((uint64_t)715094163 << 32);
  double root;
  __builtin_memcpy(&root, &bits, sizeof root);
  for (int round = 0; round < 3; round++) {
    const double cube = root * root * root;
    root *= (cube + 2.0 * x) / (2.0 * cube + x);
  }
  return root;
}

/* The shortest duration from rest to rest over a distance. */
static double rest_to_rest(double distance, double V, double A, double J) {
  const double onset = A / J;
  if (V < INFINITY) {
    const double rise = V > A * onset ? V / A + onset : 2.0 * sqrt(V / J);
    if (distance >= V * rise) return distance / V + rise;
  }
  if (A < INFINITY && distance >= 2.0 * A * onset * onset) return onset + sqrt(onset * onset + 4.0 * distance / A);
  return 4.0 * cube_root(distance / (2.0 * J));
}

rk_durations rk_durations_of(const double *start, const double *end, const double *limits) {
  rk_durations d = {.distance = end[0] - start[0], .least = fabs(end[2] - start[2]) / limits[2],
                    .rounding = TOLERANCE * (fabs(start[0]) + fabs(end[0]))};
  if (start[1] == 0.0 && start[2] == 0.0 && end[1] == 0.0 && end[2] == 0.0) {
    d.at_rest = 1;
    d.least = rest_to_rest(fabs(d.distance), limits[0], limits[1], limits[2]);
    d.farthest[0] = d.farthest[1] = rk_extremal_of(start, end, limits, 1.0);
    return d;
  }
  d.blocked = rk_blocked_of(end[1] - start[1], start[2], end[2], limits[1], limits[2]);
  d.farthest[0] = rk_extremal_of(start, end, limits, 1.0);
  d.farthest[1] = rk_extremal_of(start, end, limits, -1.0);
  return d;
}

/* How far the farthest motion (side 0), or the least far one (1), passes the end, give or take rounding. */
static double lack(const rk_durations *d, int side, double T) {
  double slope;
  const double p = rk_extremal_at(&d->farthest[side], T, &slope);
  return p - (side == 0 ? d->distance : -d->distance) + d->rounding + TOLERANCE * T * fabs(slope);
}

/* Where it comes as far as `distance`, between a duration in which it does not and one in which it does. */
static double root_of(const rk_extremal *m, double distance, double low, double high) {
  double T = high;
  for (int i = 0; i < NEWTON; i++) {
    double slope;
    const double p = rk_extremal_at(m, T, &slope);
    if (p >= distance) high = T;
    else low = T;
    const double step = slope != 0.0 ? (distance - p) / slope : INFINITY;
    double following = T + step;
    if (!(low < following && following < high)) {
      following = 0.5 * (low + high);
      if (fabs(step) <= 1e-15 * T || !(low < following && following < high)) break;
    }
    if (following == T) break;
    T = following;
  }
  return T;
}

/* The duration in which it comes that far where it is concave and below at both ends: from the left by tangents, which
   lie above. */
static double climb(const rk_extremal *m, double distance, double low, double high) {
  double T = low;
  for (int i = 0; i < NEWTON; i++) {
    double slope;
    const double p = rk_extremal_at(m, T, &slope);
    if (p >= distance) return T;
    if (slope <= 0.0) return high;
    const double following = T + (distance - p) / slope;
    if (following >= high) return high;
    if (following == T) return T;
    T = following;
  }
  return T;
}

/* Where the farthest motion next comes as far as the end, from T on where it does not; infinite if it does not before
   `stop`. */
static double next(const rk_durations *d, int side, double T, double stop) {
  const rk_extremal *m = &d->farthest[side];
  const double distance = side == 0 ? d->distance : -d->distance;
  const double last = m->cruising < stop ? m->cruising : stop;
  double slope, turns[RK_TURNS + 1];
  int count = rk_extremal_turns(m, turns);
  rk_extremal_at(m, T, &slope);
  turns[count++] = last;
  for (int i = 0; i < count; i++) {
    const double turn = turns[i] < last ? turns[i] : last;
    if (turn <= T || turn == INFINITY) continue;
    double slope1;
    if (rk_extremal_at(m, turn, &slope1) >= distance) return root_of(m, distance, T, turn);
    if (slope > 0.0 && slope1 < 0.0) { /* concave, with its top between */
      const double top = climb(m, distance, T, turn);
      if (top < turn) return top;
    }
    T = turn, slope = slope1;
  }
  if (last == stop && stop < INFINITY) return INFINITY;
  if (m->cruising < INFINITY) {
    T = T > m->cruising ? T : m->cruising;
    const double residual = distance - rk_extremal_at(m, T, &slope);
    return T + (residual > 0.0 ? residual : 0.0) / m->V;
  }
  double step = T > 1e-3 ? T : 1e-3;
  while (rk_extremal_at(m, T + step, &slope) < distance && step < 1e30) step *= 2.0;
  return root_of(m, distance, T, T + step);
}

double rk_durations_from(const rk_durations *d, double T) {
  int met[2] = {0, 0};
  if (T < d->least) T = d->least;
  if (d->at_rest) return T;
  for (int pass = 0; pass < PASSES; pass++) {
    double stop = INFINITY, after = INFINITY;
    for (int i = 0; i < d->blocked.count; i++) {
      const double low = d->blocked.low[i], high = d->blocked.high[i];
      if (low < T && T < high) T = high, met[0] = met[1] = 0;
      else if (low >= T && low < stop) stop = low, after = high;
    }
    int side = 0;
    while (side < 2 && (met[side] || !(lack(d, side, T) < 0.0))) side++;
    if (side == 2) return T;
    T = next(d, side, T, stop);
    met[side] = 1, met[1 - side] = 0;
    if (T > stop) T = after, met[0] = met[1] = 0;
  }
  return T;
}

double rk_durations_share(const rk_durations *d, double T) {
  double slope;
  const double most = rk_extremal_at(&d->farthest[0], T, &slope);
  if (d->distance >= most - d->rounding - TOLERANCE * T * fabs(slope)) return 1.0;
  const double least = d->at_rest ? -most : -rk_extremal_at(&d->farthest[1], T, &slope);
  if (d->distance <= least + d->rounding + TOLERANCE * T * fabs(slope)) return 0.0;
  return (d->distance - least) / (most - least);
}
