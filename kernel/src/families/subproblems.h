/* The canonical subproblems of inverse kinematics: A. J. Elias and J. T. Wen, "IK-Geo: unified robot inverse kinematics
   using subproblem decomposition", Mechanism and Machine Theory 209, 2025 (arXiv 2211.05737). Twin:
   solvers/families/subproblems.py. A turn is the cosine and sine of an angle; axes k are unit vectors. */
#ifndef RK_SUBPROBLEMS_H
#define RK_SUBPROBLEMS_H

#include "math/rk_math.h"

typedef struct rk_turn {
  double c, s;
} rk_turn;

/* Smaller parts of 1, or of the robot's size, are 0: of a direction so short nothing is known. */
#define RK_NOTHING 1e-12

/* The part of x at right angles to k. */
static inline void rk_across(const double k[3], const double x[3], double out[3]) {
  const double along = rk_dot3(k, x);
  for (int i = 0; i < 3; i++) out[i] = x[i] - along * k[i];
}

/* R(k, t) x; out is not x. */
static inline void rk_turned(const double k[3], rk_turn t, const double x[3], double out[3]) {
  double across[3];
  rk_cross(k, x, across);
  const double along = rk_dot3(k, x) * (1.0 - t.c);
  for (int i = 0; i < 3; i++) out[i] = t.c * x[i] + t.s * across[i] + along * k[i];
}

static inline rk_turn rk_back(rk_turn t) { return (rk_turn){t.c, -t.s}; }

/* The turn by the sum of both angles. */
static inline rk_turn rk_sum(rk_turn a, rk_turn b) { return (rk_turn){a.c * b.c - a.s * b.s, a.s * b.c + a.c * b.s}; }

/* The turn of the direction (x, y). */
static inline rk_turn rk_unit_turn(double x, double y) {
  const double scale = 1.0 / rk_sqrt(x * x + y * y);
  return (rk_turn){scale * x, scale * y};
}

/* Subproblem 1: the turn t with R(k, t) from = to. Returns 0 when any will do, for a length of `nothing` across k. */
static inline int rk_sub1(const double k[3], const double from[3], const double to[3], double nothing, rk_turn *t) {
  double a[3], b[3], c[3];
  rk_across(k, from, a);
  rk_across(k, to, b);
  const double least = nothing * nothing;
  if (!(rk_dot3(a, a) > least) || !(rk_dot3(b, b) > least)) return 0;
  rk_cross(a, b, c);
  *t = rk_unit_turn(rk_dot3(a, b), rk_dot3(k, c));
  return 1;
}

/* The equation has no solution when d is larger than possible by more than this, relative; by less, the one that comes
   nearest to it may be within a task's tolerance. */
#define RK_BEYOND 1e-3

/* Two solutions nearer to each other than the root of this are one: rounding alone may part them. */
#define RK_TANGENT 1e-14

/* The turns with a c + b s = d, where -a s + b c is positive and negative, and how many there are: one where they are
   the same, also when it only comes nearest; -1 when any will do. */
static inline int rk_linear(double a, double b, double d, double nothing, rk_turn t[2]) {
  const double r2 = a * a + b * b;
  if (!(r2 > nothing * nothing)) return -1;
  const double r = rk_sqrt(r2), w2 = (r - d) * (r + d);
  if (!(w2 > RK_TANGENT * r2)) {
    if (!(__builtin_fabs(d) <= (1.0 + RK_BEYOND) * r)) return 0;
    const double sign = d < 0.0 ? -1.0 / r : 1.0 / r;
    t[0] = (rk_turn){sign * a, sign * b};
    return 1;
  }
  const double w = rk_sqrt(w2), scale = 1.0 / r2;
  t[0] = (rk_turn){scale * (a * d + b * w), scale * (b * d - a * w)};
  t[1] = (rk_turn){scale * (a * d - b * w), scale * (b * d + a * w)};
  return 2;
}

/* Coefficients of y'R(k, t)x = f[0] c + f[1] s + f[2]. */
static inline void rk_form(const double y[3], const double k[3], const double x[3], double f[3]) {
  double kx[3];
  rk_cross(k, x, kx);
  f[2] = rk_dot3(k, y) * rk_dot3(k, x);
  f[0] = rk_dot3(y, x) - f[2];
  f[1] = rk_dot3(y, kx);
}

/* Subproblem 3 across k: the turns with |fixed + R(k, t) x| = |v|, all without their parts along k. */
static inline int rk_sub3(const double k[3], const double fixed[3], const double x[3], const double v[3], double nothing,
                          rk_turn t[2]) {
  double p[3], a[3], b[3], ka[3];
  rk_across(k, fixed, p);
  rk_across(k, x, a);
  rk_across(k, v, b);
  rk_cross(k, a, ka);
  const double d = 0.5 * (rk_dot3(b, b) - rk_dot3(p, p) - rk_dot3(a, a));
  const double least = nothing * (rk_norm3(p) + rk_norm3(a));
  return rk_linear(rk_dot3(p, a), rk_dot3(p, ka), d, least, t);
}

/* Subproblem 2: the pairs of turns with R(k0, t0) R(k1, t1) x = v for |x| = |v|; of the first det(k0, k1, R(k1, t1) x)
   is positive. Returns how many; -1 when t0 is any, since v lies on k0: then t1 is found; -2 when t1 is any, since x lies
   on k1: then nothing is. */
static inline int rk_sub2(const double k0[3], const double k1[3], const double x[3], const double v[3], double nothing,
                          rk_turn t0[2], rk_turn t1[2]) {
  const double nx = rk_norm3(x), nv = rk_norm3(v);
  double unit[3], goal[3], f[3], across[3];
  const double sx = nx > nothing ? 1.0 / nx : 0.0, sv = nv > nothing ? 1.0 / nv : 0.0;
  for (int i = 0; i < 3; i++) unit[i] = sx * x[i], goal[i] = sv * v[i];
  rk_form(k0, k1, unit, f);
  rk_cross(k0, goal, across);
  /* w^2 = r^2 - (d - C)^2 without cancelling where goal comes near k0. */
  const double a = rk_dot3(k0, k1), b = rk_dot3(k1, unit), d = rk_dot3(k0, goal), m = rk_dot3(across, across);
  const double apart = d < 0.0 ? a + b : a - b;
  const double near = d < 0.0 ? -2.0 * a * b * m / (1.0 - d) : 2.0 * a * b * m / (1.0 + d);
  const double w2 = m - (apart * apart + near), r2 = f[0] * f[0] + f[1] * f[1], rest = d - f[2];
  const double least = RK_NOTHING * RK_NOTHING;
  if (!(r2 > least)) return -2;
  int count;
  if (!(w2 > least)) {
    t1[0] = rk_unit_turn(f[0] * rest, f[1] * rest);
    count = 1;
  } else {
    const double w = rk_sqrt(w2);
    t1[0] = rk_unit_turn(f[0] * rest + f[1] * w, f[1] * rest - f[0] * w);
    t1[1] = rk_unit_turn(f[0] * rest - f[1] * w, f[1] * rest + f[0] * w);
    count = 2;
  }
  for (int i = 0; i < count; i++) {
    double turned[3];
    rk_turned(k1, t1[i], unit, turned);
    if (!rk_sub1(k0, turned, goal, RK_NOTHING, t0 + i)) return -1;
  }
  return count;
}

/* The angles in (-pi, pi] with f[0] + f[1] c + f[2] s + f[3] cos 2t + f[4] sin 2t = 0, ascending, at most four; where it
   does not change its sign but comes near 0, one. */
int rk_circle_roots(const double f[5], rk_turn t[4]);

#endif
