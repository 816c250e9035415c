/* Steps after which position, velocity and acceleration limits can be kept for ever: solvers/limits/viability.py, which
   explains it. */
#ifndef RK_VIABILITY_H
#define RK_VIABILITY_H

#include <stdint.h>

#include "math/rk_math.h"

/* Largest step towards a limit `gap` away after which one can still stop before it. */
static inline double rk_braking_step(double gap, double change) {
  const double inf = __builtin_inf();
  if (gap == inf || change == inf || !(gap > 0.0)) return gap;
  double n = 0.5 * (rk_sqrt(1.0 + 8.0 * gap / change) - 1.0);
  if (n < 9e15) n = (double)(int64_t)n; /* above, every double is whole */
  return gap / (n + 1.0) + 0.5 * n * change;
}

static inline void rk_viable_step(double previous, double to_lower, double to_upper, double largest, double change,
                                  double *lo, double *hi) {
  double low = -rk_braking_step(to_lower, change), high = rk_braking_step(to_upper, change);
  const double back = low; /* outside the position limits: come back, at full speed at most */
  if (high < 0.0 && high < low) low = high;
  if (back > 0.0 && back > high) high = back;
  low = rk_clamp(low, -largest, largest), high = rk_clamp(high, -largest, largest);
  *lo = rk_clamp(previous - change, low, high);
  *hi = rk_clamp(previous + change, low, high);
}

#endif
