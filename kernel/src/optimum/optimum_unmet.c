/* What a level that cannot be met leaves free: it is at its least error, so the poses that meet it as well are those along
   which this does not bend upwards. Twin of solvers/optimum/unmet_levels.py, which explains it. */
#include "optimum/optimum_search.h"
#include "math/rk_math.h"
#include "math/rk_symmetric_eigen.h"

static const double STEP = 1e-4, SMALL = 1e-9, TOUCHED = 1e-9, BENDS = 3e-5;

/* multiplier[n + n_rows]: of a level's rows what they lack, with the other sign, and of what is above it what holds it. */
static void hold_level(rk_optimum_search *s, rk_look *look, int32_t level, double *multiplier) {
  const int32_t n = s->poses.n, first = s->poses.start[s->poses.n_bounds + level];
  const rk_pose *pose = &look->pose;
  double square = 0.0, *descent = s->there;
  int32_t count = 0;
  for (int32_t i = 0; i < n + s->poses.n_rows; i++) multiplier[i] = 0.0;
  for (int32_t k = 0; k < n; k++) descent[k] = 0.0;
  for (int32_t i = first; i < s->poses.start[s->poses.n_bounds + level + 1]; i++) {
    multiplier[n + i] = -rk_clamp(0.0, pose->low[i], pose->high[i]);
    rk_add_scaled(n, multiplier[n + i], pose->J + (int64_t)i * n, descent);
  }
  for (int32_t i = 0; i < n + first; i++) {
    if (!look->is_held[i] && look->lower[i] < -TOUCHED && look->upper[i] > TOUCHED) continue;
    double *row = s->poses.W + (int64_t)count * n;
    for (int32_t k = 0; k < n; k++) row[k] = i < n ? (double)(k == i) : pose->J[(int64_t)(i - n) * n + k];
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

/* H[count][count]: how the error of a level bends along directions, by central differences. */
static void bend(rk_optimum_search *s, const rk_look *look, int32_t count, const double *directions, const double *multiplier) {
  const int32_t n = s->poses.n;
  double *sides[2] = {s->here, s->there};
  for (int64_t i = 0; i < count; i++) {
    for (int side = 0; side < 2; side++) {
      for (int32_t k = 0; k < n; k++) s->dq[k] = (side ? STEP : -STEP) * directions[i * n + k];
      rk_integrated(&s->poses, look->pose.q, s->dq, s->spare->q);
      rk_place(&s->poses, s->spare);
      sum_rows(s, s->spare, multiplier, sides[side]);
    }
    for (int32_t k = 0; k < n; k++) s->there[k] -= s->here[k];
    for (int64_t j = 0; j < count; j++) s->H[i * count + j] = rk_dot(n, s->there, directions + j * n) / (2.0 * STEP);
  }
  for (int64_t i = 0; i < count; i++)
    for (int64_t j = 0; j < i; j++)
      s->H[i * count + j] = s->H[j * count + i] = 0.5 * (s->H[i * count + j] + s->H[j * count + i]);
}

void rk_hold_unmet(rk_optimum_search *s, rk_look *look) {
  const int64_t n = s->poses.n;
  for (int32_t level = 0; level < s->poses.n_levels; level++) {
    const int32_t count = s->poses.n - look->fixed;
    if (look->pose.met[level] || !(look->pose.error[level] > 0.0) || count == 0) continue;
    hold_level(s, look, level, s->multiplier);
    bend(s, look, count, look->E, s->multiplier);
    rk_symmetric_eigen(count, s->H, s->value, s->V, s->work);
    double largest = rk_sqrt(2.0 * look->pose.error[level]);
    for (int32_t i = 0; i < count; i++) largest = rk_max(largest, __builtin_fabs(s->value[i]));
    int32_t rows = 0;
    for (int64_t i = 0; i < count; i++) {
      if (!(s->value[i] > BENDS * largest)) continue;
      double *row = s->poses.W + rows++ * n;
      for (int64_t k = 0; k < n; k++) row[k] = 0.0;
      for (int64_t j = 0; j < count; j++) rk_add_scaled((int32_t)n, s->V[i * count + j], look->E + j * n, row);
    }
    rk_use_up(&s->poses, look, rows, s->poses.W, s->poses.order);
  }
}
