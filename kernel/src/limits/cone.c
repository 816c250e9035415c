/* Limits of balls, twin of robokin/spatial/swing_twist.py, which explains it. */
#include "limits/cone.h"

#include "math/rk_math.h"
#include "math/rk_trig.h"

enum { STEPS = 100 }; /* of Newton's method */
static const double MARGIN = 1e-14, LOCKED = 4e-14, LEAST_H = 1e-8, PI = 3.141592653589793;

static double length2(double x, double y) { return rk_sqrt(x * x + y * y); }

static int has_twist(const rk_cone *cone) { return cone->twist[1] - cone->twist[0] < 2.0 * PI; }

/* Swing rotation vector along u and w, and twist. */
static void decompose(const rk_cone *cone, const double q[4], double swing[2], double *twist) {
  double p[3];
  rk_rotate_back(cone->basis, q + 1, p);
  const double flip = q[0] < 0.0 || (q[0] == 0.0 && p[2] < 0.0) ? -1.0 : 1.0;
  const double w = flip * q[0], x = flip * p[0], y = flip * p[1], z = flip * p[2];
  const double h = length2(w, z), rho = length2(x, y);
  const double c = h > 0.0 ? w / h : 1.0, s = h > 0.0 ? z / h : 0.0;
  const double factor = rho > 0.0 ? 2.0 * rk_atan2(rho, h) / rho : 2.0;
  swing[0] = factor * (x * c - y * s);
  swing[1] = factor * (x * s + y * c);
  *twist = h > 0.0 ? 2.0 * rk_atan2(z, w) : 0.0;
}

static void compose(const rk_cone *cone, const double swing[2], double twist, double q[4]) {
  const double size = length2(swing[0], swing[1]);
  double sine, cosine, s, c, p[3];
  rk_sincos(0.5 * size, &sine, &cosine);
  rk_sincos(0.5 * twist, &s, &c);
  const double factor = size > 0.0 ? sine / size : 0.5, x = factor * swing[0], y = factor * swing[1];
  p[0] = x * c + y * s;
  p[1] = y * c - x * s;
  p[2] = cosine * s;
  rk_rotate(cone->basis, p, q + 1);
  q[0] = cosine * c;
  const double norm = rk_sqrt(q[0] * q[0] + rk_dot3(q + 1, q + 1));
  for (int k = 0; k < 4; k++) q[k] /= norm;
}

/* The limits moved inside, as far as they go. */
static rk_cone shrunk(const rk_cone *cone, double margin) {
  rk_cone inner = *cone;
  const double middle = 0.5 * (cone->twist[0] + cone->twist[1]);
  for (int k = 0; k < 2; k++) inner.swing[k] = rk_max(cone->swing[k] - margin, 0.0);
  if (has_twist(cone)) {
    inner.twist[0] = rk_min(cone->twist[0] + margin, middle);
    inner.twist[1] = rk_max(cone->twist[1] - margin, middle);
  }
  return inner;
}

static double cosine_of_half(double size) {
  double s, c;
  rk_sincos(0.5 * rk_min(size, PI), &s, &c);
  return rk_max(c, LEAST_H);
}

/* Ranges narrower than `locked` are so wide. */
static int contains(const rk_cone *outer, const double q[4], double margin, double locked) {
  const rk_cone cone = shrunk(outer, margin);
  double swing[2], twist;
  decompose(&cone, q, swing, &twist);
  const double least = locked / cosine_of_half(length2(swing[0], swing[1]));
  const double a = rk_max(cone.swing[0], least), b = rk_max(cone.swing[1], least);
  const double x = __builtin_fabs(swing[0] / a), y = __builtin_fabs(swing[1] / b);
  const int is_segment = cone.swing[0] <= least || cone.swing[1] <= least;
  if (!((is_segment ? rk_max(x, y) : length2(x, y)) <= 1.0)) return 0;
  if (!has_twist(&cone)) return 1;
  const double wider = cone.twist[1] - cone.twist[0] < locked ? least : 0.0;
  for (int turn = -1; turn <= 1; turn++) {
    const double turned = twist + turn * 2.0 * PI;
    if (turned >= cone.twist[0] - wider && turned <= cone.twist[1] + wider) return 1;
  }
  return 0;
}

int rk_cone_contains(const rk_cone *cone, const double q[4], double margin) {
  return contains(cone, q, margin, LOCKED);
}

/* The end of the twist's range that is the least turn away. */
static double nearest_twist(const rk_cone *cone, double twist) {
  if (twist >= cone->twist[0] && twist <= cone->twist[1]) return twist;
  double below = cone->twist[0] - twist, above = twist - cone->twist[1];
  if (below < 0.0) below += 2.0 * PI;
  if (above < 0.0) above += 2.0 * PI;
  return below <= above ? cone->twist[0] : cone->twist[1];
}

static void nearest_in_ellipse(double a, double b, double swing[2]) {
  const double inf = __builtin_inf(), x = swing[0], y = swing[1];
  if (a == 0.0 || b == 0.0 || a == inf || b == inf) {
    swing[0] = rk_clamp(x, -a, a);
    swing[1] = rk_clamp(y, -b, b);
    return;
  }
  if (length2(x / a, y / b) <= 1.0) return;
  const double aa = a * a, bb = b * b, ax = a * __builtin_fabs(x), by = b * __builtin_fabs(y);
  double t = rk_max(0.0, rk_max(ax - aa, by - bb));
  for (int k = 0; k < STEPS; k++) {
    const double p = ax / (t + aa), s = by / (t + bb);
    const double value = p * p + s * s - 1.0, slope = -2.0 * (p * p / (t + aa) + s * s / (t + bb));
    const double after = t - value / slope;
    if (!(after > t)) break;
    t = after;
  }
  swing[0] = aa * x / (t + aa);
  swing[1] = bb * y / (t + bb);
}

void rk_cone_project(const rk_cone *cone, double q[4]) {
  double swing[2], twist;
  decompose(cone, q, swing, &twist);
  const double margin = MARGIN / cosine_of_half(length2(swing[0], swing[1]));
  if (contains(cone, q, 0.25 * margin, 0.5 * LOCKED)) return;
  const rk_cone aim = shrunk(cone, margin);
  nearest_in_ellipse(aim.swing[0], aim.swing[1], swing);
  if (has_twist(cone)) twist = nearest_twist(&aim, twist);
  compose(cone, swing, twist, q);
}

static void room(double value, double bound, double *lo, double *hi) {
  *lo = bound <= LOCKED ? 0.0 : rk_min(0.0, -bound - value);
  *hi = bound <= LOCKED ? 0.0 : rk_max(0.0, bound - value);
}

/* A swing's direction e, in joint axes; `along`, the same in child axes, and across it; size / sin(size). */
typedef struct direction {
  double e[2], along[2], across[2], stretch;
} direction;

/* The gradient over angular velocities of a function of the swing vector with the gradient (x, y). */
static void pull(const direction *d, double x, double y, double out[2]) {
  const double radial = x * d->e[0] + y * d->e[1], round = d->stretch * (y * d->e[0] - x * d->e[1]);
  for (int k = 0; k < 2; k++) out[k] = radial * d->along[k] + round * d->across[k];
}

void rk_cone_local(const rk_cone *cone, const double q[4], double B[9], double lo[3], double hi[3]) {
  const double inf = __builtin_inf(), a = cone->swing[0], b = cone->swing[1];
  double swing[2], twist, s, c, rho, h, first[2] = {1.0, 0.0};
  decompose(cone, q, swing, &twist);
  const double size = length2(swing[0], swing[1]);
  direction d = {.e = {1.0, 0.0}, .stretch = 1.0};
  if (size > 0.0) d.e[0] = swing[0] / size, d.e[1] = swing[1] / size;
  rk_sincos(twist, &s, &c);
  d.along[0] = d.e[0] * c + d.e[1] * s;
  d.along[1] = d.e[1] * c - d.e[0] * s;
  d.across[0] = -d.along[1], d.across[1] = d.along[0];
  rk_sincos(0.5 * rk_min(size, PI), &rho, &h);
  h = rk_max(h, LEAST_H);
  if (rho > 0.0) d.stretch = 0.5 * size / (rho * h);
  for (int k = 0; k < 3; k++) lo[k] = -inf, hi[k] = inf;
  if (a <= LOCKED || b <= LOCKED) {
    pull(&d, 1.0, 0.0, first);
    room(swing[0], a, lo, hi);
    room(swing[1], b, lo + 1, hi + 1);
  } else if (a < inf || b < inf) {
    const double measure = length2(swing[0] / a, swing[1] / b);
    if (measure > LOCKED) {
      pull(&d, swing[0] / (a * a * measure), swing[1] / (b * b * measure), first);
      const double steep = length2(first[0], first[1]);
      lo[0] = -(1.0 + measure) / steep;
      hi[0] = rk_max(0.0, (1.0 - measure) / steep);
    } else {
      pull(&d, 1.0, 0.0, first);
      lo[0] = -a, hi[0] = a, lo[1] = -b, hi[1] = b;
    }
  }
  const double length = length2(first[0], first[1]), x = first[0] / length, y = first[1] / length;
  double local[9] = {x, -y, 0.0, y, x, 0.0, 0.0, 0.0, 1.0};
  if (has_twist(cone)) {
    local[6] = -rho / h * (d.across[0] * x + d.across[1] * y);
    local[7] = -rho / h * (d.across[1] * x - d.across[0] * y);
    lo[2] = rk_min(0.0, cone->twist[0] - twist);
    hi[2] = rk_max(0.0, cone->twist[1] - twist);
  }
  rk_multiply(cone->basis, local, B);
}

void rk_cone_draw(const rk_cone *cone, const double numbers[3], double q[4]) {
  double s, c, swing[2];
  rk_sincos(2.0 * PI * numbers[1], &s, &c);
  const double size = rk_sqrt(numbers[0]);
  swing[0] = rk_max(rk_min(cone->swing[0], PI) - MARGIN, 0.0) * size * c;
  swing[1] = rk_max(rk_min(cone->swing[1], PI) - MARGIN, 0.0) * size * s;
  compose(cone, swing, cone->twist[0] + numbers[2] * (cone->twist[1] - cone->twist[0]), q);
  rk_cone_project(cone, q);
}
