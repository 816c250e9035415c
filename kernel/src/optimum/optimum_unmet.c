/* What a level that cannot be met leaves free: it is at its least error, so the poses that meet it as well are those along
   which this does not bend upwards. Twin of solvers/optimum/unmet_levels.py, which explains it. */
#include "optimum/optimum_search.h"
#include "math/rk_math.h"
#include "math/rk_symmetric_eigen.h"

static const double STEP = 1e-4, SMALL = 1e-9, TOUCHED = 1e-9, VIOLATED = 1e-9, BENDS = 3e-5, CERTAIN = 1e-6, BEYOND = 10.0;
enum { FIXED = 4 };

static double low_of(const rk_optimum_search *s, const rk_pose *pose, int32_t i) {
  return i < s->poses.n ? s->poses.lo[i] : pose->low[i - s->poses.n];
}

static double high_of(const rk_optimum_search *s, const rk_pose *pose, int32_t i) {
  return i < s->poses.n ? s->poses.hi[i] : pose->high[i - s->poses.n];
}

static void copy_row(const rk_optimum_search *s, const rk_pose *pose, int32_t i, double *row) {
  const int32_t n = s->poses.n;
  for (int32_t k = 0; k < n; k++) row[k] = i < n ? (double)(k == i) : pose->J[(int64_t)(i - n) * n + k];
}

/* s->multiplier[n + n_rows]: of a level's rows what they lack, with the other sign, and of what is above it what holds it. */
static void hold_level(rk_optimum_search *s, const rk_pose *pose, int32_t level) {
  const int32_t n = s->poses.n, first = s->poses.start[s->poses.n_bounds + level];
  double square = 0.0, *descent = s->there, *multiplier = s->multiplier;
  int32_t count = 0;
  rk_box(&s->poses, pose->q, s->poses.lo, s->poses.hi);
  for (int32_t i = 0; i < n + s->poses.n_rows; i++) multiplier[i] = 0.0;
  for (int32_t k = 0; k < n; k++) descent[k] = 0.0;
  for (int32_t i = first; i < s->poses.start[s->poses.n_bounds + level + 1]; i++) {
    multiplier[n + i] = -rk_clamp(0.0, pose->low[i], pose->high[i]);
    rk_add_scaled(n, multiplier[n + i], pose->J + (int64_t)i * n, descent);
  }
  for (int32_t i = 0; i < n + first; i++) {
    if (low_of(s, pose, i) < -TOUCHED && high_of(s, pose, i) > TOUCHED) continue;
    double *row = s->poses.W + (int64_t)count * n;
    copy_row(s, pose, i, row);
    square += rk_dot(n, row, row);
    s->poses.rows[count++] = i;
  }
  const int32_t rank = rk_reduce_rows(&s->poses.basis, 0, count, SMALL * rk_sqrt(square), s->poses.W,
                                      s->poses.order);
  rk_into_basis(&s->poses.basis, 0, rank, descent);
  for (int32_t k = rank - 1; k >= 0; k--) {
    const double *row = s->poses.W + (int64_t)s->poses.order[k] * n, own = -descent[k] / row[k];
    multiplier[s->poses.rows[s->poses.order[k]]] = own;
    rk_add_scaled(k, own, row, descent);
  }
}

/* out[n]: the sum of rows at a pose, times multipliers; those of single coordinates do not change. */
static void sum_rows(const rk_optimum_search *s, const rk_pose *pose, const double *multiplier, double *out) {
  const int32_t n = s->poses.n;
  for (int32_t k = 0; k < n; k++) out[k] = 0.0;
  for (int32_t i = 0; i < s->poses.n_rows; i++)
    if (multiplier[n + i] != 0.0) rk_add_scaled(n, multiplier[n + i], pose->J + (int64_t)i * n, out);
}

/* H[count][count]: how the rows times s->multiplier change along directions, by central differences. */
static void bend(rk_optimum_search *s, const rk_pose *pose, int32_t count, const double *directions) {
  const int32_t n = s->poses.n;
  rk_pose *there = s->spare + 4;
  double *sides[2] = {s->here, s->there};
  for (int64_t i = 0; i < count; i++) {
    for (int side = 0; side < 2; side++) {
      for (int32_t k = 0; k < n; k++) s->poses.x[k] = (side ? STEP : -STEP) * directions[i * n + k];
      rk_integrated(&s->poses, pose->q, s->poses.x, there->q);
      rk_place(&s->poses, there);
      sum_rows(s, there, s->multiplier, sides[side]);
    }
    for (int32_t k = 0; k < n; k++) s->there[k] -= s->here[k];
    for (int64_t j = 0; j < count; j++) s->H[i * count + j] = rk_dot(n, s->there, directions + j * n) / (2.0 * STEP);
  }
  for (int64_t i = 0; i < count; i++)
    for (int64_t j = 0; j < i; j++)
      s->H[i * count + j] = s->H[j * count + i] = 0.5 * (s->H[i * count + j] + s->H[j * count + i]);
}

/* s->bend[count], s->V: the curvatures of H, and along what. Returns what they are large or small against. */
static double take_curvatures(rk_optimum_search *s, double error, int32_t count) {
  double largest = rk_sqrt(2.0 * error);
  rk_symmetric_eigen(count, s->H, s->bend, s->V, s->work);
  for (int32_t i = 0; i < count; i++) largest = rk_max(largest, __builtin_fabs(s->bend[i]));
  return largest;
}

/* row[n]: direction i of the curvatures, of those of `look`. */
static void fill_direction(const rk_optimum_search *s, const rk_look *look, int32_t count, int32_t i, double *row) {
  const int32_t n = s->poses.n;
  for (int32_t k = 0; k < n; k++) row[k] = 0.0;
  for (int32_t j = 0; j < count; j++) rk_add_scaled(n, s->V[i * count + j], look->E + (int64_t)j * n, row);
}

void rk_hold_unmet(rk_optimum_search *s, rk_look *look) {
  const int32_t n = s->poses.n;
  for (int32_t level = 0; level < s->poses.n_levels; level++) {
    const int32_t count = n - look->fixed;
    if (look->pose.met[level] || !(look->pose.error[level] > 0.0) || count == 0) continue;
    hold_level(s, &look->pose, level);
    bend(s, &look->pose, count, look->E);
    const double least = BENDS * take_curvatures(s, look->pose.error[level], count);
    int32_t rows = 0;
    for (int32_t i = 0; i < count; i++)
      if (s->bend[i] > least) fill_direction(s, look, count, i, s->poses.W + (int64_t)rows++ * n);
    rk_use_up(&s->poses, look, rows, s->poses.W, s->poses.order);
  }
}

/* s->least: what the equations above a level and the inequalities that hold it leave free; the multipliers of other
   inequalities become 0. */
static void free_level(rk_optimum_search *s, const rk_pose *pose, int32_t level) {
  const int32_t n = s->poses.n, first = n + s->poses.start[s->poses.n_bounds + level];
  double square = 0.0, *W = s->poses.W;
  int32_t count = 0;
  s->least.fixed = 0;
  for (int32_t i = 0; i < first; i++) {
    const double low = low_of(s, pose, i), high = high_of(s, pose, i);
    const int is_equation = low == high || low > VIOLATED || high < -VIOLATED;
    const int presses = (s->multiplier[i] > 0.0 && high <= TOUCHED) || (s->multiplier[i] < 0.0 && low >= -TOUCHED);
    if (!is_equation && !presses) {
      s->multiplier[i] = 0.0;
      continue;
    }
    double *row = W + (int64_t)count++ * n;
    copy_row(s, pose, i, row);
    square += rk_dot(n, row, row);
  }
  for (int64_t k = 0; k < (int64_t)count * n; k++) W[k] /= rk_sqrt(square);
  rk_use_up(&s->poses, &s->least, count, W, s->poses.order);
}

/* H += the rows of a level that have a residual, squared. */
static void bend_by_rows(rk_optimum_search *s, const rk_pose *pose, int32_t level, int32_t count) {
  const int32_t n = s->poses.n, *start = s->poses.start + s->poses.n_bounds + level;
  for (int32_t i = start[0]; i < start[1]; i++) {
    if (rk_clamp(0.0, pose->low[i], pose->high[i]) == 0.0) continue;
    for (int32_t a = 0; a < count; a++) s->here[a] = rk_dot(n, pose->J + (int64_t)i * n, s->least.E + (int64_t)a * n);
    for (int32_t a = 0; a < count; a++) rk_add_scaled(count, s->here[a], s->here, s->H + (int64_t)a * count);
  }
}

/* x[n]: Newton's step along what is free. Returns by how much of its error the level has less there. */
static double newton_step(rk_optimum_search *s, const rk_pose *pose, int32_t level, double *x) {
  const int32_t n = s->poses.n, count = n - s->least.fixed, *start = s->poses.start + s->poses.n_bounds + level;
  double gain = 0.0;
  bend(s, pose, count, s->least.E);
  bend_by_rows(s, pose, level, count);
  const double from = CERTAIN * take_curvatures(s, pose->error[level], count);
  for (int32_t k = 0; k < n; k++) x[k] = s->there[k] = 0.0;
  for (int32_t i = start[0]; i < start[1]; i++)
    rk_add_scaled(n, -s->multiplier[n + i], pose->J + (int64_t)i * n, s->there);
  for (int32_t i = 0; i < count; i++) {
    const double size = __builtin_fabs(s->bend[i]);
    if (!(size > from)) continue;
    fill_direction(s, &s->least, count, i, s->here);
    const double along = rk_dot(n, s->here, s->there);
    gain += 0.5 * along * along / size;
    rk_add_scaled(n, along / size, s->here, x);
  }
  return gain / pose->error[level];
}

/* Coordinates whose bounds are much nearer than x goes are held. Returns how many. */
static int32_t hold_near_bounds(rk_optimum_search *s, const double *x) {
  const int32_t n = s->poses.n;
  int32_t count = 0;
  for (int32_t k = 0; k < n; k++) {
    const double size = __builtin_fabs(x[k]), room = __builtin_fabs(x[k] < 0.0 ? s->poses.lo[k] : s->poses.hi[k]);
    if (!(size > TOUCHED && size > BEYOND * room)) continue;
    double *row = s->poses.W + (int64_t)count++ * n;
    for (int32_t i = 0; i < n; i++) row[i] = (double)(i == k);
  }
  rk_use_up(&s->poses, &s->least, count, s->poses.W, s->poses.order);
  return count;
}

double rk_least_error_step(rk_optimum_search *s, const rk_pose *pose, double *x) {
  double less = 0.0;
  int32_t level = 0;
  for (int32_t k = 0; k < s->poses.n; k++) x[k] = 0.0;
  while (level < s->poses.n_levels && pose->met[level]) level++;
  if (level == s->poses.n_levels || !(pose->error[level] > 0.0)) return 0.0;
  hold_level(s, pose, level);
  free_level(s, pose, level);
  for (int time = 0; time < FIXED; time++) {
    less = newton_step(s, pose, level, x);
    if (!hold_near_bounds(s, x)) break;
  }
  return less;
}
