/* The motions that tasks and limits allow at a pose, to first order, and the best of them. Twin of
   solvers/tangent.py. */
#include "optimum.h"
#include "projection.h"
#include "rk_math.h"
#include "robokin_qp.h"

static const double SMALL = 1e-9, VIOLATED = 1e-9, ROUNDING[2] = {1e-13, 1e-10};

rk_look rk_lay_out_look(rk_arena *arena, const rk_poses *s) {
  const int64_t n = s->n, all = n + s->n_rows;
  rk_look look = {.pose = rk_lay_out_pose(arena, s), .basis = {.n = s->n, .stride = s->n}};
  look.slope = rk_take(arena, n), look.left = rk_take(arena, n);
  look.lower = rk_take(arena, all), look.upper = rk_take(arena, all), look.multiplier = rk_take(arena, all);
  look.is_held = rk_take_integers(arena, all), look.row = rk_take_integers(arena, n);
  look.basis.v = rk_take(arena, n * n), look.basis.factor = rk_take(arena, n);
  look.basis.end = rk_take_integers(arena, n);
  look.W = rk_take(arena, all * n), look.order = rk_take_integers(arena, all);
  look.rows = rk_take_integers(arena, all), look.E = rk_take(arena, n * n);
  return look;
}

rk_program rk_lay_out_program(rk_arena *arena, const rk_poses *s) {
  const int64_t n = s->n, all = n + s->n_rows;
  rk_program program = {.normal = rk_take(arena, n), .root = rk_take(arena, n)};
  program.projection = rk_take(arena, rk_projection_workspace(n, all));
  program.wall = rk_take_integers(arena, all);
  return program;
}

/* The row of a pose; null: unit row `i`. */
static const double *row_of(const rk_look *look, int32_t n, int32_t i) {
  return i < n ? 0 : look->pose.J + (int64_t)(i - n) * n;
}

/* own[n] = row i in the basis; returns the square of its length. */
static double row_in_basis(const rk_look *look, int32_t n, int32_t i, int32_t count, double *own) {
  const double *row = row_of(look, n, i);
  for (int32_t k = 0; k < n; k++) own[k] = row ? row[k] : (double)(k == i);
  const double square = rk_dot(n, own, own);
  rk_into_basis(&look->basis, 0, count, own);
  return square;
}

/* E: the directions behind the first `used`, in the basis of the first `count` reflectors. */
static void form_directions(const rk_look *look, int32_t n, int32_t used, int32_t count) {
  for (int32_t i = used; i < n; i++) {
    double *own = look->E + (int64_t)(i - used) * n;
    for (int32_t k = 0; k < n; k++) own[k] = (double)(k == i);
    rk_out_of_basis(&look->basis, i < count ? i + 1 : count, own);
  }
}

void rk_linearise(const rk_poses *s, rk_look *look) {
  const int32_t n = s->n, all = n + s->n_rows;
  const rk_pose *pose = &look->pose;
  double square = 0.0;
  int32_t count = 0;
  rk_box(s, pose->q, look->lower, look->upper);
  for (int32_t i = 0; i < all; i++) {
    if (i >= n) look->lower[i] = pose->low[i - n], look->upper[i] = pose->high[i - n];
    const double lower = look->lower[i], upper = look->upper[i];
    look->is_held[i] = lower == upper || lower > VIOLATED || upper < -VIOLATED;
    if (lower > 0.0) look->lower[i] = 0.0;
    if (upper < 0.0) look->upper[i] = 0.0;
    if (!look->is_held[i]) continue;
    square += row_in_basis(look, n, i, 0, look->W + (int64_t)count * n);
    look->rows[count++] = i;
  }
  look->pressed = 0;
  look->held = rk_reduce_rows(&look->basis, 0, count, SMALL * rk_sqrt(square), look->W, look->order);
  for (int32_t k = 0; k < look->held; k++) look->row[k] = look->rows[look->order[k]];
  form_directions(look, n, look->held, look->held);
}

/* Multipliers of what is held, such that nothing of slope and walls is left along it. */
static void hold(const rk_poses *s, const rk_look *look, double *left, double *multiplier) {
  const int32_t n = s->n;
  for (int32_t i = 0; i < n; i++) left[i] = look->slope[i] + multiplier[i];
  for (int32_t i = 0; i < s->n_rows; i++)
    if (multiplier[n + i] != 0.0) rk_add_scaled(n, multiplier[n + i], look->pose.J + (int64_t)i * n, left);
  rk_into_basis(&look->basis, 0, look->held, left);
  for (int32_t k = look->held - 1; k >= 0; k--) {
    const double *row = look->W + (int64_t)look->order[k] * n;
    const double own = -left[k] / row[k];
    multiplier[look->row[k]] = own;
    rk_add_scaled(k, own, row, left);
  }
}

/* The walls that a motion of length `reach`, in the coordinates y = root z, can get to. */
static rk_projection begin(const rk_poses *s, const rk_look *look, const rk_program *program, int32_t count,
                           const double *E, double reach, double least) {
  const int32_t n = s->n, all = n + s->n_rows;
  rk_projection p = rk_projection_lay_out(count, all, program->projection);
  p.p = 0;
  for (int32_t i = 0; i < all; i++) {
    if (look->is_held[i]) continue;
    const double *row = row_of(look, n, i), room = -look->lower[i] < look->upper[i] ? -look->lower[i] : look->upper[i];
    const double length = row ? rk_sqrt(rk_dot(n, row, row)) : 1.0;
    if (room > length * reach / least) continue;
    double *normal = p.N + (int64_t)p.p * count;
    for (int32_t k = 0; k < count; k++) {
      const double *own = E + (int64_t)k * n;
      normal[k] = (row ? rk_dot(n, row, own) : own[i]) / program->root[k];
    }
    if (room > rk_sqrt(rk_dot(count, normal, normal)) * reach) continue;
    p.low[p.p] = look->lower[i], p.high[p.p] = look->upper[i];
    program->wall[p.p++] = i;
  }
  return p;
}

int rk_best_motion(const rk_poses *s, const rk_look *look, const rk_program *program, int32_t count, const double *E,
                   const double *weight, const double *slope, double *x, double *multiplier) {
  const int32_t n = s->n;
  double reach = 0.0, least = __builtin_inf(), *y0 = program->normal;
  int found = count == 0;
  for (int32_t i = 0; i < n; i++) x[i] = 0.0;
  for (int32_t i = 0; multiplier && i < n + s->n_rows; i++) multiplier[i] = 0.0;
  for (int32_t k = 0; k < count; k++) {
    program->root[k] = rk_sqrt(weight[k]);
    y0[k] = -rk_dot(n, E + (int64_t)k * n, slope) / program->root[k];
    reach += y0[k] * y0[k];
    if (program->root[k] < least) least = program->root[k];
  }
  if (count) {
    rk_projection p = begin(s, look, program, count, E, rk_sqrt(reach), least);
    for (int32_t k = 0; k < count; k++) p.y0[k] = y0[k];
    for (int k = 0; k < 2 && !found; k++) {
      p.tolerance = ROUNDING[k];
      found = rk_project_from_zero(&p) == RK_QP_OPTIMAL;
    }
    for (int32_t k = 0; found && k < count; k++) rk_add_scaled(n, p.y[k] / program->root[k], E + (int64_t)k * n, x);
    for (int32_t j = 0; found && multiplier && j < p.k; j++)
      multiplier[program->wall[p.number[j]]] = -p.sign[j] * p.u[j];
  }
  if (multiplier) hold(s, look, program->normal, multiplier);
  return found;
}

void rk_press(const rk_poses *s, rk_look *look, double least) {
  const int32_t n = s->n, used = look->held;
  double *W = look->W; /* of what is held no row is needed any more */
  double square = 0.0;
  int32_t count = 0;
  for (int32_t i = 0; i < n + s->n_rows; i++)
    if (!look->is_held[i] && __builtin_fabs(look->multiplier[i]) > least)
      square += row_in_basis(look, n, i, used, W + (int64_t)count++ * n);
  look->pressed = rk_reduce_rows(&look->basis, used, count, SMALL * rk_sqrt(square), W, look->rows);
  form_directions(look, n, used, used + look->pressed);
}

void rk_lagrangian(const rk_poses *s, const rk_look *look, const rk_pose *pose, double *out) {
  double size;
  rk_cost(s, pose, &size, out);
  for (int32_t i = 0; i < s->n; i++) out[i] += look->multiplier[i];
  for (int32_t i = 0; i < s->n_rows; i++)
    if (look->multiplier[s->n + i] != 0.0)
      rk_add_scaled(s->n, look->multiplier[s->n + i], pose->J + (int64_t)i * s->n, out);
}
