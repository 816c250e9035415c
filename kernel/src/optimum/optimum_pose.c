/* Poses of an optimum: their rows and errors, and motions inside the limits. Twin of solvers/optimum/pose_problem.py, which explains
   it. */
#include "limits/cone.h"
#include "optimum/optimum.h"
#include "math/rk_math.h"
#include "step/step_rows.h"
#include "step/tip_rows.h"

static const double LARGEST_STEP = 3.141592653589793, ROUNDING = 1e-14, BEYOND = 1.0, SMALLEST = 0.25;

static int is_bounded(const rk_optimum *optimum, int32_t node) {
  const rk_model *m = optimum->stack->step->model;
  if (m->motion[node] != RK_FREE) return 0;
  for (int32_t i = m->iq[node]; i < m->iq[node] + 3; i++)
    if (optimum->lower[i] > -__builtin_inf() || optimum->upper[i] < __builtin_inf()) return 1;
  return 0;
}

rk_poses rk_lay_out_poses(rk_arena *arena, const rk_optimum *optimum) {
  const rk_step *step = optimum->stack->step;
  const rk_step_data *data = optimum->stack->data;
  const int64_t n = step->model->nv;
  rk_poses s = {.optimum = optimum, .step = step, .model = step->model, .n = step->model->nv};
  s.n_bounds = optimum->n_cones;
  for (int32_t node = 0; node < step->model->n_nodes; node++) s.n_bounds += is_bounded(optimum, node);
  s.n_levels = data->levels;
  for (int32_t t = 0; t < step->n_tips; t++) s.n_pieces += rk_is_on_curve(step->tips + t);
  s.n_bound_rows = s.n_pieces + 3 * s.n_bounds, s.n_rows = s.n_bound_rows + data->start[s.n_levels];
  const int64_t groups = s.n_bounds + (int64_t)s.n_levels;
  s.start = rk_take_integers(arena, groups + 1), s.freedom = rk_take_integers(arena, groups + 1);
  s.damping = rk_take(arena, groups), s.allowed = rk_take(arena, s.n_levels);
  s.met = rk_take_integers(arena, s.n_levels);
  double **vectors[] = {&s.lo, &s.hi, &s.x, &s.v, &s.zero};
  for (int k = 0; k < 5; k++) *vectors[k] = rk_take(arena, n);
  s.identity = rk_take(arena, n * n);
  s.basis.n = s.basis.stride = s.n;
  s.basis.v = rk_take(arena, n * n), s.basis.factor = rk_take(arena, n), s.basis.end = rk_take_integers(arena, n);
  s.W = rk_take(arena, (n + s.n_rows) * n);
  s.rows = rk_take_integers(arena, n + s.n_rows), s.order = rk_take_integers(arena, n + s.n_rows);
  s.residual = rk_take(arena, s.n_rows);
  s.scratch = rk_take(arena, rk_rows_workspace(step));
  s.segments = (rk_segment *)rk_take(arena, 2 * s.n_pieces * (int64_t)(sizeof(rk_segment) / 8));
  s.whole = data->targets;
  s.pieces = rk_take(arena, s.n_pieces ? 16 * (int64_t)step->n_tips : 0);
  s.straight = rk_take(arena, s.n_pieces ? 16 * (int64_t)step->n_tips : 0);
  for (int32_t c = 0; c < step->n_criteria; c++) s.n_edges += step->criteria[c].kind == RK_SMALLEST_SINGULAR_VALUE;
  s.most = s.n_edges ? (int32_t)rk_most_first_rows(step) : 0;
  s.edge_vectors = rk_take(arena, s.most * n);
  s.cost_work = rk_take(arena, rk_cost_workspace(step));
  s.hierarchy = rk_take(arena, rk_hierarchy_workspace(s.n, s.n_rows));
  s.placed = rk_take(arena, 1);
  const int64_t first = rk_most_first_rows(step);
  s.near = (rk_near_vectors *)rk_take(arena, (int64_t)sizeof(rk_near_vectors) / 8);
  double *U = rk_take(arena, first * first);
  if (!arena->base) return s;
  s.near->U = U, s.near->rows = 0;
  *s.placed = 0.0;
  for (int32_t k = 0; k <= s.n_bounds; k++) s.start[k] = s.n_pieces + 3 * k;
  for (int32_t k = 0; k < s.n_bounds; k++) s.damping[k] = 0.0;
  for (int32_t k = 0; k <= s.n_levels; k++) s.start[s.n_bounds + k] = s.n_bound_rows + data->start[k];
  for (int64_t k = 0; k < n * n; k++) s.identity[k] = k % (n + 1) == 0 ? 1.0 : 0.0;
  for (int64_t k = 0; k < n; k++) s.zero[k] = 0.0;
  return s;
}

rk_pose rk_lay_out_pose(rk_arena *arena, const rk_poses *s) {
  const rk_model *m = s->model;
  rk_pose pose = {.q = rk_take(arena, m->nq), .nodes = rk_take(arena, 12 * (int64_t)m->n_nodes)};
  pose.J = rk_take(arena, (int64_t)s->n_rows * s->n);
  pose.low = rk_take(arena, s->n_rows), pose.high = rk_take(arena, s->n_rows);
  pose.error = rk_take(arena, s->n_levels), pose.met = rk_take_integers(arena, s->n_levels);
  return pose;
}

/* The sides of a row at `value`, 0 between them. */
static void bound_row(rk_pose *pose, int32_t row, double lower, double upper) {
  pose->low[row] = lower < 0.0 ? lower : 0.0, pose->high[row] = upper > 0.0 ? upper : 0.0;
}

/* Where a floating joint may be, along the axes of its parent. */
static void fill_position(const rk_poses *s, int32_t node, int32_t row, rk_pose *pose) {
  const rk_model *m = s->model;
  const int32_t iq = m->iq[node];
  const double length = s->step->length;
  double R[9];
  rk_quaternion_matrix(pose->q + iq + 3, R);
  for (int32_t r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) pose->J[(int64_t)(row + r) * s->n + m->iv[node] + c] = R[3 * r + c];
    bound_row(pose, row + r, (s->optimum->lower[iq + r] - pose->q[iq + r]) / length,
              (s->optimum->upper[iq + r] - pose->q[iq + r]) / length);
  }
}

/* A ball in its cone: the inverse of the columns that its limits bound. */
static void fill_cone(const rk_poses *s, const rk_cone *cone, int32_t row, rk_pose *pose) {
  double B[9], lo[3], hi[3], rows[3][3];
  rk_cone_local(cone, pose->q + cone->q, B, lo, hi);
  for (int r = 0; r < 3; r++) { /* rows of the inverse: cross products of columns, over the determinant */
    const int a = (r + 1) % 3, b = (r + 2) % 3;
    const double first[3] = {B[a], B[3 + a], B[6 + a]}, second[3] = {B[b], B[3 + b], B[6 + b]};
    rk_cross(first, second, rows[r]);
  }
  const double column[3] = {B[0], B[3], B[6]}, determinant = rk_dot3(column, rows[0]);
  for (int32_t r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) pose->J[(int64_t)(row + r) * s->n + cone->v + c] = rows[r][c] / determinant;
    bound_row(pose, row + r, lo[r], hi[r]);
  }
}

static void fill_bounds(const rk_poses *s, rk_pose *pose) {
  const rk_optimum *optimum = s->optimum;
  int32_t row = s->n_pieces;
  for (int64_t k = 0; k < (int64_t)s->n_bound_rows * s->n; k++) pose->J[k] = 0.0;
  for (int32_t node = 0; s->n_bounds > optimum->n_cones && node < s->model->n_nodes; node++)
    if (is_bounded(optimum, node)) fill_position(s, node, row, pose), row += 3;
  for (int32_t k = 0; k < optimum->n_cones; k++, row += 3) fill_cone(s, optimum->cones + k, row, pose);
}

static int is_straight(const rk_poses *s, int64_t at) {
  return s->optimum->stack->data->targets == s->straight && s->straight[at] != s->whole[at];
}

/* Where a point or spot is on the straight piece that it is on, of tasks whose levels are met. */
static void fill_pieces(const rk_poses *s, rk_pose *pose) {
  const rk_stack *stack = s->optimum->stack;
  int32_t row = 0;
  for (int32_t t = 0; t < s->step->n_tips; t++) {
    const rk_tip_rows *task = s->step->tips + t;
    double room[2], *J = pose->J + (int64_t)row * s->n;
    if (!rk_is_on_curve(task)) continue;
    pose->low[row] = -__builtin_inf(), pose->high[row] = __builtin_inf();
    const int counts = task->weights[0] != 0.0 && pose->met[stack->level[t]];
    if (counts && rk_rows_piece(s->step, stack->data, pose->nodes, t, J, room)) {
      const double beyond = is_straight(s, 16 * (int64_t)t) ? BEYOND : 0.0;
      const double share = SMALLEST * (room[0] + room[1] - 2.0 * beyond), inside = RK_INSIDE < share ? RK_INSIDE : share;
      bound_row(pose, row, beyond + inside - room[0], room[1] - beyond - inside);
    }
    row++;
  }
}

void rk_take_pieces(const rk_poses *s, rk_pose *pose) {
  const double length = s->step->length;
  const int is_anew = s->optimum->stack->data->targets == s->whole;
  int32_t row = 0, taken = is_anew && s->n_pieces > 0;
  for (int32_t t = 0; t < s->step->n_tips && s->n_pieces; t++) {
    const int64_t at = 16 * (int64_t)t;
    if (is_anew) rk_copy(s->pieces + at, s->whole + at, 16), rk_copy(s->straight + at, s->whole + at, 16);
    if (!rk_is_on_curve(s->step->tips + t)) continue;
    rk_segment *piece = s->segments + 2 * row, *straight = piece + 1;
    if (pose->low[row++] == -__builtin_inf() || s->straight[at] != s->whole[at]) continue;
    rk_rows_take_piece(s->step, s->whole + at, pose->nodes, t, -RK_INSIDE * length, piece);
    rk_rows_take_piece(s->step, s->whole + at, pose->nodes, t, BEYOND * length, straight);
    s->pieces[at] = (double)(uintptr_t)piece, s->straight[at] = (double)(uintptr_t)straight;
    s->pieces[at + 1] = s->straight[at + 1] = 1.0;
    taken = 1;
  }
  if (!taken) return;
  rk_keep_to(s, s->straight);
  rk_place(s, pose);
}

void rk_keep_to(const rk_poses *s, const double *targets) { s->optimum->stack->data->targets = targets; }

void rk_place(const rk_poses *s, rk_pose *pose) {
  const rk_stack *stack = s->optimum->stack;
  const rk_step_data *data = stack->data;
  const int64_t m = s->n_rows - s->n_bound_rows;
  *s->placed += 1.0;
  rk_copy(stack->q, pose->q, s->model->nq);
  rk_rows_fill(s->step, stack->data, pose->nodes, s->scratch);
  rk_rows_measure(s->step, data, 0, stack->residuals);
  if (stack->rows) stack->rows(0);
  rk_copy(pose->J + (int64_t)s->n_bound_rows * s->n, data->J, m * s->n);
  rk_copy(pose->low + s->n_bound_rows, data->low, m);
  rk_copy(pose->high + s->n_bound_rows, data->high, m);
  fill_bounds(s, pose);
  for (int32_t level = 0; level < s->n_levels; level++) {
    double sum = 0.0;
    for (int32_t row = s->start[s->n_bounds + level]; row < s->start[s->n_bounds + level + 1]; row++) {
      const double residual = rk_clamp(0.0, pose->low[row], pose->high[row]);
      sum += residual * residual;
    }
    pose->error[level] = 0.5 * sum;
    pose->met[level] = 1;
  }
  for (int32_t part = 0; part < 2 * stack->n_tasks; part++)
    if (!(stack->residuals[part] <= stack->tolerance[part])) pose->met[stack->level[part / 2]] = 0;
  fill_pieces(s, pose);
}

void rk_box(const rk_poses *s, const double *q, double *lo, double *hi) {
  const rk_model *m = s->model;
  for (int32_t k = 0; k < s->n; k++) lo[k] = -LARGEST_STEP, hi[k] = LARGEST_STEP;
  for (int32_t node = 0; node < m->n_nodes; node++) {
    if (m->motion[node] > RK_HELICAL) continue;
    const int32_t iq = m->iq[node], iv = m->iv[node];
    const double below = s->optimum->lower[iq] - q[iq], above = s->optimum->upper[iq] - q[iq];
    lo[iv] = below < 0.0 ? below / s->step->scale[iv] : 0.0;
    hi[iv] = above > 0.0 ? above / s->step->scale[iv] : 0.0;
    if (lo[iv] < -LARGEST_STEP) lo[iv] = -LARGEST_STEP;
    if (hi[iv] > LARGEST_STEP) hi[iv] = LARGEST_STEP;
  }
}

void rk_integrated(const rk_poses *s, const double *q, const double *x, double *out) {
  for (int32_t k = 0; k < s->n; k++) s->v[k] = s->step->scale[k] * x[k];
  rk_integrate(s->model, 1, q, s->v, out);
}

void rk_moved(const rk_poses *s, const double *q, const double *x, double *out) {
  const rk_optimum *optimum = s->optimum;
  rk_integrated(s, q, x, out);
  for (int32_t i = 0; i < s->model->nq; i++)
    out[i] = rk_clamp(out[i], optimum->lower[i], optimum->upper[i]);
  for (int32_t k = 0; k < optimum->n_cones; k++) rk_cone_project(optimum->cones + k, out + optimum->cones[k].q);
  for (int32_t i = 0; i < s->model->nq; i++) {
    const double size = __builtin_fabs(out[i]), close = ROUNDING * (size > 1.0 ? size : 1.0);
    if (__builtin_fabs(out[i] - optimum->lower[i]) <= close) out[i] = optimum->lower[i];
    if (__builtin_fabs(out[i] - optimum->upper[i]) <= close) out[i] = optimum->upper[i];
  }
}

void rk_displacement(const rk_poses *s, const double *q, const double *other, double *x) {
  rk_difference(s->model, 1, q, other, x);
  for (int32_t k = 0; k < s->n; k++) x[k] /= s->step->scale[k];
}
