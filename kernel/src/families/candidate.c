/* A candidate of a family's solver, led to the pose with the robot's own axes: Newton's method where rounding or a
   geometry that is not quite ideal leaves it short; then whole turns that bring it inside the limits, next to q0. */
#include "families/families.h"
#include "math/rk_cholesky.h"
#include "math/rk_trig.h"

static const double TWO_PI = 6.283185307179586;
static const double EXACT = 1e-13;     /* [sizes, rad] residuals that are left alone */
static const double AT_LIMIT = 1e-9;   /* [rad, m] beyond a limit by rounding */
static const double ROUNDED = 1e-12;   /* [sizes, rad] residuals that rounding may keep from becoming less */
static const double MET = 1e-11;       /* [sizes, rad] residuals of postures, if there are any so good */
/* A candidate so near to the pose [sizes, rad] is led to it; nearer than so many times the geometry is off the ideal one
   it should get there. */
static const double NEAR = 2e-3, OFF = 1e4;
/* Relative, of Newton's steps; what it is multiplied by after a step that leads away, near singular poses, and after a
   good one. */
static const double DAMPING = 1e-14, MORE = 30.0, LESS = 0.1;
static const double MOST_TURNS = 1e5; /* that q0 may be away: beyond, angles are rounded too much */
enum { STEPS = 30, USUAL_STEPS = 3 };

/* The nearest whole number, for numbers of less than 2^51. */
static double rounded(double x) {
  const double shift = 6755399441055744.0; /* 1.5 * 2^52 */
  return __builtin_fabs(x) < 0x1p51 ? (x + shift) - shift : x;
}

static double rounded_up(double x) {
  const double whole = rounded(x);
  return whole < x ? whole + 1.0 : whole;
}

/* The angles of turns, without branches: four times that of tan(angle / 4) = s / (2 h (1 + h)), h = cos(angle / 2), for
   the half where c is positive. */
static void angles_of(int32_t n, const rk_turn *t, double *angle) {
  for (int32_t i = 0; i < n; i++) {
    const double c = __builtin_fabs(t[i].c), h = rk_sqrt(0.5 + 0.5 * c), x = t[i].s / (2.0 * h * (1.0 + h));
    const double first = 4.0 * (x - rk_atan_excess(x)), half = t[i].s < 0.0 ? -0.5 * TWO_PI : 0.5 * TWO_PI;
    angle[i] = t[i].c < 0.0 ? half - first : first;
  }
}

int rk_fit_angle(const rk_pose *pose, int32_t i, double *angle) {
  const double lower = pose->f->lower[i], upper = pose->f->upper[i];
  const double turns = rounded((pose->q0[i] - *angle) * (1.0 / TWO_PI));
  double found = __builtin_fabs(turns) < MOST_TURNS ? *angle + TWO_PI * turns : *angle;
  if (found > upper + AT_LIMIT)
    found -= TWO_PI * rounded_up((found - upper - AT_LIMIT) / TWO_PI);
  else if (found < lower - AT_LIMIT)
    found += TWO_PI * rounded_up((lower - AT_LIMIT - found) / TWO_PI);
  if (!(found <= upper + AT_LIMIT) || !(found >= lower - AT_LIMIT)) return 0;
  *angle = rk_clamp(found, lower, upper);
  return 1;
}

static int fit_length(const rk_pose *pose, int32_t i, double *length) {
  const double lower = pose->f->lower[i], upper = pose->f->upper[i];
  if (!(*length <= upper + AT_LIMIT) || !(*length >= lower - AT_LIMIT)) return 0;
  *length = rk_clamp(*length, lower, upper);
  return 1;
}

/* -- the robot's own kinematics -------------------------------------------------------------------------------------- */

/* e[6] = [where the tip should be - where it is; the rotation left], and their sizes. turn, slide in chain order. */
static void residual(const rk_pose *pose, const rk_turn *turn, const double *slide, const double *Rt, double e[6],
                     double size[2]) {
  const rk_family *f = pose->f;
  double x[3], a[3], b[3], y[3], z[3], c[3], goal[9];
  rk_copy(x, pose->tip, 3);
  for (int i = 0; i < 3; i++) a[i] = f->home[3 * i], b[i] = f->home[3 * i + 1];
  for (int32_t i = f->joints - 1; i >= 0; i--) {
    const double *k = f->axis[i];
    if (f->chain_slides >> i & 1) {
      for (int j = 0; j < 3; j++) x[j] += slide[i] * k[j];
      continue;
    }
    rk_subtract3(x, f->point[i], y);
    rk_turned(k, turn[i], y, z);
    rk_add3(z, f->point[i], x);
    if (!f->oriented) continue;
    rk_turned(k, turn[i], a, y);
    rk_turned(k, turn[i], b, z);
    rk_copy(a, y, 3);
    rk_copy(b, z, 3);
  }
  rk_subtract3(pose->target, x, e);
  size[0] = rk_norm3(e);
  size[1] = e[3] = e[4] = e[5] = 0.0;
  if (!f->oriented) return;
  rk_cross(a, b, c);
  for (int i = 0; i < 3; i++) goal[i] = Rt[3 * i], goal[3 + i] = Rt[3 * i + 1], goal[6 + i] = Rt[3 * i + 2];
  rk_cross(a, goal, y);
  rk_cross(b, goal + 3, z);
  for (int i = 0; i < 3; i++) e[3 + i] = y[i] + z[i];
  rk_cross(c, goal + 6, y);
  const double cosine = 0.5 * (rk_dot3(a, goal) + rk_dot3(b, goal + 3) + rk_dot3(c, goal + 6) - 1.0);
  for (int i = 0; i < 3; i++) e[3 + i] = 0.5 * (e[3 + i] + y[i]); /* sin(angle) axis */
  const double sine = rk_norm3(e + 3);
  size[1] = cosine > 0.0 ? sine : 2.0 - sine; /* far away, it only has to be large */
}

/* One step of the angles towards e. */
static void step(const rk_pose *pose, const double e[6], double damping, double *angle, double *slide,
                 const rk_turn *turn) {
  const rk_family *f = pose->f;
  const int32_t n = f->joints, rows = f->oriented ? 6 : 3;
  double J[RK_CHAIN][6], H[RK_CHAIN * RK_CHAIN], g[RK_CHAIN], x[3];
  /* Columns in place: the axes of the robot as it stands are those at zero, moved by the joints before them. */
  double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, p[3] = {0, 0, 0};
  double at[RK_CHAIN][3];
  for (int32_t i = 0; i < n; i++) {
    double T[9], A[9], y[3];
    rk_rotate(R, f->axis[i], J[i] + 3);
    rk_rotate(R, f->point[i], at[i]);
    rk_add3(at[i], p, at[i]);
    if (f->chain_slides >> i & 1) {
      for (int k = 0; k < 3; k++) p[k] += slide[i] * J[i][3 + k];
      continue;
    }
    rk_turn_matrix(f->axis[i], turn[i], T);
    rk_multiply(R, T, A);
    rk_copy(R, A, 9);
    rk_rotate(R, f->point[i], y);
    rk_subtract3(at[i], y, p);
  }
  rk_rotate(R, pose->tip, x);
  rk_add3(x, p, x);
  const double length = 1.0 / f->size;
  for (int32_t i = 0; i < n; i++) {
    if (f->chain_slides >> i & 1) {
      for (int k = 0; k < 3; k++) J[i][k] = J[i][3 + k], J[i][3 + k] = 0.0;
    } else {
      double lever[3];
      rk_subtract3(x, at[i], lever);
      rk_cross(J[i] + 3, lever, J[i]);
    }
    for (int k = 0; k < 3; k++) J[i][k] *= length;
    for (int k = rows; k < 6; k++) J[i][k] = 0.0;
  }
  double largest = 0.0;
  const double scaled[6] = {length * e[0], length * e[1], length * e[2], e[3], e[4], e[5]};
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j <= i; j++) H[i * n + j] = rk_dot6(J[i], J[j]);
    g[i] = rk_dot6(J[i], scaled);
    largest = rk_max(largest, H[i * n + i]);
  }
  for (int32_t i = 0; i < n; i++) H[i * n + i] += damping * largest;
  if (!rk_cholesky(n, H, H)) return;
  rk_solve_lower(n, H, g);
  rk_solve_lower_transposed(n, H, g);
  for (int32_t i = 0; i < n; i++) {
    if (f->chain_slides >> i & 1)
      slide[i] += g[i];
    else
      angle[i] += g[i];
  }
}

/* -- a candidate ----------------------------------------------------------------------------------------------------- */

static void limits_of_shift(double at, double lower, double upper, double *least, double *most) {
  *least = rk_max(*least, lower - at);
  *most = rk_min(*most, upper - at);
}

/* Shares the sum of two coupled turns so that they are nearest to q0, inside their limits. */
static int share(const rk_pose *pose, const rk_coupling *c, double *angle) {
  const rk_family *f = pose->f;
  const int32_t a = rk_in_chain(f, c->first), b = rk_in_chain(f, c->last);
  const double *q0 = pose->q0;
  /* With the first at q0, the last is `sum` beyond q0; s is what is taken from it. */
  const double sum = angle[b] - q0[b] + c->sign * (angle[a] - q0[a]);
  const double nearest = sum - TWO_PI * rounded(sum * (1.0 / TWO_PI));
  double best = 0.0;
  int found = 0;
  for (int turns = -2; turns <= 2; turns++) {
    const double rest = c->sign * (nearest + TWO_PI * turns); /* shift of a, all of it */
    double least = f->lower[a] - q0[a], most = f->upper[a] - q0[a];
    /* last = q0[b] + sign (rest - shift) */
    if (c->sign > 0.0)
      limits_of_shift(0.0, q0[b] + rest - f->upper[b], q0[b] + rest - f->lower[b], &least, &most);
    else
      limits_of_shift(0.0, rest + f->lower[b] - q0[b], rest + f->upper[b] - q0[b], &least, &most);
    if (!(least <= most + AT_LIMIT)) continue;
    const double shift = rk_clamp(0.5 * rest, least, rk_max(least, most)), other = rest - shift;
    const double cost = shift * shift + other * other;
    if (found && cost >= best) continue;
    best = cost, found = 1;
    angle[a] = rk_clamp(q0[a] + shift, f->lower[a], f->upper[a]);
    angle[b] = rk_clamp(q0[b] + c->sign * other, f->lower[b], f->upper[b]);
  }
  return found;
}

enum rk_outcome rk_settle(rk_pose *pose, const rk_candidate *c, const double Rt[9], double *x) {
  const rk_family *f = pose->f;
  const int32_t n = f->joints;
  rk_turn turn[RK_CHAIN] = {{0.0, 0.0}};
  double slide[RK_CHAIN] = {0.0}, e[6], size[2];
  for (int32_t i = 0; i < n; i++) {
    const int32_t own = rk_in_chain(f, i);
    const int slides = f->chain_slides >> i & 1;
    turn[i] = slides ? (rk_turn){1.0, 0.0} : c->turn[own];
    slide[i] = slides ? c->slide[own] : 0.0;
  }
  residual(pose, turn, slide, Rt, e, size);
  const double first = rk_max(size[0] / f->size, size[1]);
  angles_of(n, turn, x);
  for (int32_t i = 0; i < n && f->chain_slides; i++)
    if (f->chain_slides >> i & 1) x[i] = slide[i];
  const double doubt = OFF * f->off, near = rk_max(NEAR, doubt);
  double last = first, damping = DAMPING;
  int tried = 0;
  for (; tried < STEPS && last > EXACT && first < near; tried++) {
    double angle[RK_CHAIN], slide_there[RK_CHAIN], sines[RK_CHAIN], cosines[RK_CHAIN], size_there[2], e_there[6];
    rk_turn there[RK_CHAIN];
    rk_copy(angle, x, n);
    rk_copy(slide_there, slide, n);
    step(pose, e, damping, angle, slide_there, turn);
    rk_sincos_each(n, angle, sines, cosines);
    for (int32_t i = 0; i < n; i++) there[i] = (rk_turn){cosines[i], sines[i]};
    residual(pose, there, slide_there, Rt, e_there, size_there);
    const double now = rk_max(size_there[0] / f->size, size_there[1]);
    if (!(now < last)) {
      if (last < ROUNDED) break;
      damping *= MORE;
      continue;
    }
    last = now, damping = rk_max(LESS * damping, DAMPING);
    for (int32_t i = 0; i < n; i++) {
      turn[i] = there[i], slide[i] = slide_there[i];
      x[i] = f->chain_slides >> i & 1 ? slide_there[i] : angle[i];
    }
    rk_copy(e, e_there, 6);
    rk_copy(size, size_there, 2);
  }
  if (!(size[0] <= f->tolerance[0]) || !(size[1] <= f->tolerance[1])) {
    if (first < doubt) pose->notes |= RK_DOUBTFUL;
    return RK_ASTRAY;
  }
  if (tried > USUAL_STEPS && first < doubt && !rk_has_few_joints(f)) pose->notes |= RK_DOUBTFUL;
  if (f->oriented ? last > MET : size[0] > MET * f->size) {
    pose->is_nearly_met = 1;
    if (!pose->is_lenient) return RK_ASTRAY;
  }
  int coupled = 0;
  for (int32_t k = 0; k < c->couplings; k++) {
    if (!share(pose, c->coupling + k, x)) return RK_OUTSIDE;
    coupled |= 1 << rk_in_chain(f, c->coupling[k].first) | 1 << rk_in_chain(f, c->coupling[k].last);
  }
  for (int32_t i = 0; i < n; i++) {
    if (coupled >> i & 1) continue;
    if (!(f->chain_slides >> i & 1 ? fit_length(pose, i, x + i) : rk_fit_angle(pose, i, x + i))) return RK_OUTSIDE;
  }
  return RK_INSIDE;
}
