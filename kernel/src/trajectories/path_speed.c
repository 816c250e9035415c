/* The fastest speed along a path. Twin of solvers/retiming/path_speed.py. */
#include <math.h>

#include "robokin_trajectories.h"

static const double FLAT = 1e-12;  /* a row that does not concern u */
static const double CLOSE = 1e-12; /* relative: of a side that is passed by rounding */

/* The tightest rows at x: u <= high, u >= low, with their slopes in x. Returns 0 where x itself is forbidden. */
static int sides(int32_t m, const double *rows, double x, double span, double low_next, double high_next, double *side) {
  double high = (high_next - x) / span, high_slope = -1.0 / span;
  double low = (low_next - x) / span, low_slope = -1.0 / span;
  for (int32_t r = 0; r < m; r++) {
    const double a = rows[3 * r], b = rows[3 * r + 1], c = rows[3 * r + 2];
    if (fabs(a) <= FLAT * (1.0 + fabs(b))) continue;
    const double u = (c - b * x) / a;
    if (a > 0.0 && u < high) high = u, high_slope = -b / a;
    if (a < 0.0 && u > low) low = u, low_slope = -b / a;
  }
  side[0] = high, side[1] = high_slope, side[2] = low, side[3] = low_slope;
  return high >= low;
}

/* The largest x (sign 1) or the smallest (sign -1) in [from, to] at which some u is left. Returns 0 if there is none. */
static int farthest(int32_t m, const double *rows, double span, double low_next, double high_next, double sign,
                    double from, double to, double *x) {
  double side[4];
  *x = sign > 0.0 ? to : from;
  for (int32_t i = 0; i <= m + 2; i++) {
    if (sides(m, rows, *x, span, low_next, high_next, side)) return 1;
    const double gap = side[0] - side[2], slope = side[1] - side[3];
    /* The gap is concave: where it does not grow on the way, there is nothing. */
    if (!(sign * slope < 0.0)) return 0;
    const double step = -gap / slope;
    if (fabs(step) <= CLOSE * (fabs(*x) + CLOSE)) return 1;
    *x += step;
    if (!(*x >= from && *x <= to)) return 0;
  }
  return 1;
}

int32_t rk_path_speed(int32_t n, int32_t m, const double *rows, const double *most, const double *steps, double *low,
                      double *high, double *x) {
  low[n] = 0.0, high[n] = most[n];
  for (int32_t i = n - 1; i >= 0; i--) {
    const double *own = rows + (int64_t)3 * m * i, span = 2.0 * steps[i];
    double from = 0.0, to = most[i];
    for (int32_t r = 0; r < m; r++) {
      const double a = own[3 * r], b = own[3 * r + 1], c = own[3 * r + 2];
      if (fabs(a) > FLAT * (1.0 + fabs(b))) continue;
      if (b > 0.0) to = fmin(to, c / b);
      if (b < 0.0) from = fmax(from, c / b);
      if (b == 0.0 && c < 0.0) return i;
    }
    if (from > to) return i;
    if (!farthest(m, own, span, low[i + 1], high[i + 1], 1.0, from, to, &high[i])) return i;
    if (!farthest(m, own, span, low[i + 1], high[i + 1], -1.0, from, high[i], &low[i])) return i;
  }
  x[0] = high[0];
  for (int32_t i = 0; i < n; i++) {
    double side[4];
    sides(m, rows + (int64_t)3 * m * i, x[i], 2.0 * steps[i], low[i + 1], high[i + 1], side);
    x[i + 1] = fmax(fmin(x[i] + 2.0 * steps[i] * side[0], high[i + 1]), low[i + 1]);
  }
  return -1;
}
