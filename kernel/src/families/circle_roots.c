/* Roots of a trigonometric polynomial of degree two: those on the unit circle of a quartic in z = exp(i t), all found
   at once by O. Aberth, "Iteration methods for finding all zeros of a polynomial simultaneously", Math. Comp. 27, 1973. */
#include "families/subproblems.h"
#include "math/rk_trig.h"

enum { ROOTS = 4, SWEEPS = 60, REFINEMENTS = 3 };
static const double NEAR_CIRCLE = 0.1; /* of a pair of roots that is all but real */
static const double SETTLED = 1e-15;    /* relative, of the squared change of a root */
static const double NO_QUARTIC = 1e-14; /* relative, of the leading coefficient */

typedef struct complex_number {
  double re, im;
} number;

static number times(number a, number b) { return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

static number plus(number a, number b) { return (number){a.re + b.re, a.im + b.im}; }

static number minus(number a, number b) { return (number){a.re - b.re, a.im - b.im}; }

static double size2(number a) { return a.re * a.re + a.im * a.im; }

static number over(number a, number b) {
  const double scale = 1.0 / size2(b);
  return (number){scale * (a.re * b.re + a.im * b.im), scale * (a.im * b.re - a.re * b.im)};
}

static void find_all(const number p[5], number z[ROOTS]) {
  /* Of different sizes, as the roots mirror each other in the unit circle. */
  static const number START[ROOTS] = {{0.9, 0.5}, {-0.3, 0.8}, {-0.8, -0.6}, {0.5, -0.6}};
  for (int k = 0; k < ROOTS; k++) z[k] = START[k];
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    int moving = 0;
    for (int k = 0; k < ROOTS; k++) {
      number value = p[4], slope = {0.0, 0.0}, others = {0.0, 0.0};
      for (int i = 3; i >= 0; i--) {
        slope = plus(times(slope, z[k]), value);
        value = plus(times(value, z[k]), p[i]);
      }
      if (!(size2(slope) > 0.0) || !(size2(value) > 0.0)) continue;
      const number newton = over(value, slope), one = {1.0, 0.0};
      for (int j = 0; j < ROOTS; j++) {
        const number apart = minus(z[k], z[j]);
        if (j != k && size2(apart) > 0.0) others = plus(others, over(one, apart));
      }
      const number below = minus(one, times(newton, others));
      const number change = size2(below) > 0.0 ? over(newton, below) : newton;
      z[k] = minus(z[k], change);
      moving |= size2(change) > SETTLED * SETTLED * size2(z[k]);
    }
    if (!moving) return;
  }
}

/* Newton's steps on the circle, short ones. */
static rk_turn refined(const double f[5], rk_turn t) {
  for (int i = 0; i < REFINEMENTS; i++) {
    const double c2 = t.c * t.c - t.s * t.s, s2 = 2.0 * t.s * t.c;
    const double value = f[0] + f[1] * t.c + f[2] * t.s + f[3] * c2 + f[4] * s2;
    const double slope = -f[1] * t.s + f[2] * t.c + 2.0 * (f[4] * c2 - f[3] * s2);
    const double step = value / slope;
    if (!(__builtin_fabs(step) < NEAR_CIRCLE)) break;
    t = rk_unit_turn(t.c + step * t.s, t.s - step * t.c);
  }
  return t;
}

int rk_circle_roots(const double f[5], rk_turn t[ROOTS]) {
  double largest = 0.0;
  for (int i = 0; i < 5; i++) largest = rk_max(largest, __builtin_fabs(f[i]));
  const double leading = rk_sqrt(f[3] * f[3] + f[4] * f[4]);
  if (!(leading > NO_QUARTIC * largest)) {
    const int count = rk_linear(f[1], f[2], -f[0], NO_QUARTIC * largest, t);
    return count < 0 ? 0 : count;
  }
  const number p[5] = {{f[3], f[4]}, {f[1], f[2]}, {2.0 * f[0], 0.0}, {f[1], -f[2]}, {f[3], -f[4]}};
  number z[ROOTS];
  find_all(p, z);
  double angles[ROOTS];
  int count = 0;
  for (int k = 0; k < ROOTS; k++) {
    const double size = rk_sqrt(size2(z[k]));
    if (!(__builtin_fabs(size - 1.0) < NEAR_CIRCLE)) continue;
    const rk_turn found = refined(f, (rk_turn){z[k].re / size, z[k].im / size});
    const double angle = rk_atan2(found.s, found.c);
    int at = count++;
    for (; at > 0 && angles[at - 1] > angle; at--) angles[at] = angles[at - 1], t[at] = t[at - 1];
    angles[at] = angle, t[at] = found;
  }
  return count;
}
