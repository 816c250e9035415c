/* One step of tasks in levels (see hierarchy.c) inside position limits, or inside the bounds of a frame. Twin of
   solvers/descent/level_rows.py. */
#include "step/stack.h"

#include "math/rk_math.h"
#include "robot/rk_tree.h"
#include "math/rk_vector.h"
#include "step/step_rows.h"

static const double DAMPING_FLOOR = 1e-9;
static const double FARTHEST = 0.1; /* [rad or L] of the joints, that one step leads along a path */
static const double ROUNDING = 1e-9; /* relative: a residual within its tolerance that is more by less is the same */

int32_t rk_sizeof_stack(void) { return (int32_t)sizeof(rk_stack); }

/* Where things lie in the workspace. */
typedef struct scratch {
  double *rows, *damping, *lo, *hi, *x, *H, *g, *moved, *other, *residual, *hierarchy;
  double *remaining, *kept, *kept_across; /* [rows], [n_tasks][2] twice: what kept levels lacked where they began */
  int32_t *start, *freedom;
  int32_t *was_met;          /* [levels] there */
} scratch;

static int32_t rows_of(const rk_stack *stack) { return stack->data->start[stack->data->levels]; }

int64_t rk_stack_workspace(const rk_ik *ik) {
  if (!ik->stack) return 0;
  const int64_t n = ik->model->nv, levels = ik->stack->data->levels, m = rows_of(ik->stack);
  return rk_rows_workspace(ik->stack->step) + 4 * levels + 2 + 6 * n + 2 * n * n + 2 * m +
         4 * (int64_t)ik->stack->n_tasks +
         rk_hierarchy_workspace((int32_t)n, (int32_t)m);
}

static scratch lay_out(const rk_search *s) {
  const rk_stack *stack = s->ik->stack;
  const int64_t n = s->ik->model->nv, levels = stack->data->levels;
  double *work = s->stack_work;
  scratch w = {.rows = work};
  work += rk_rows_workspace(stack->step);
  w.damping = work, work += levels;
  w.start = (int32_t *)work, work += levels + 1;
  w.freedom = (int32_t *)work, work += levels + 1;
  w.lo = work, work += n;
  w.hi = work, work += n;
  w.x = work, work += n;
  w.g = work, work += n;
  w.moved = work, work += 2 * n;
  w.H = work, work += n * n;
  w.other = work, work += n * n;
  w.residual = work, work += rows_of(stack);
  w.remaining = work, work += rows_of(stack);
  w.kept = work, work += 2 * (int64_t)stack->n_tasks;
  w.kept_across = work, work += 2 * (int64_t)stack->n_tasks;
  w.was_met = (int32_t *)work, work += levels;
  w.hierarchy = work;
  return w;
}

void rk_stack_begin(const rk_search *s, const double *from) {
  const rk_stack *stack = s->ik->stack;
  if (!stack->data->from) return;
  for (int32_t i = 0; i < s->ik->model->nq; i++) stack->from[i] = from[i];
  rk_rows_begin(stack->step, stack->data, s->nodes);
}

double rk_stack_measure(const rk_search *s, int *met) {
  const rk_stack *stack = s->ik->stack;
  const rk_step_data *data = stack->data;
  for (int32_t i = 0; i < s->ik->model->nq; i++) stack->q[i] = s->q[i];
  stack->data->frame = s->frame;
  rk_rows_fill(stack->step, stack->data, s->nodes, s->stack_work);
  rk_rows_measure(stack->step, data, 0, stack->residuals);
  if (data->from) {
    const int32_t own = stack->step->n_tips + stack->step->n_robot_tasks + (stack->step->clearance != 0);
    for (int32_t k = 0; k < 2 * own; k++) stack->across[k] = stack->residuals[k];
    rk_rows_measure_across(stack->step, data, stack->across);
  }
  if (stack->rows) stack->rows(s->frame);
  for (int32_t k = 0; k < s->levels; k++) {
    double sum = 0.0;
    for (int32_t row = data->start[k]; row < data->start[k + 1]; row++) {
      const double e = rk_clamp(0.0, data->low[row], data->high[row]);
      sum += e * e;
    }
    s->level_error[k] = 0.5 * sum;
    s->level_met[k] = 1;
  }
  for (int32_t t = 0; t < stack->n_tasks; t++)
    for (int part = 0; part < 2; part++) {
      const double residual = stack->residuals[2 * t + part], tolerance = stack->tolerance[2 * t + part];
      s->residuals[2 * t + part] = residual;
      if (stack->path_level[t] < 0) {
        if (!(residual <= tolerance)) s->level_met[stack->level[t]] = 0;
      } else {
        if (!(residual <= tolerance)) s->level_met[stack->path_level[t]] = 0;
        if (!(stack->across[2 * t + part] <= tolerance)) s->level_met[stack->level[t]] = 0;
      }
    }
  double E = 0.0;
  *met = 1;
  for (int32_t k = 0; k < s->on; k++)
    if (!s->level_met[k]) {
      *met = 0;
      E += s->level_error[k];
    }
  return E;
}

/* Rows of displacements v dt in the coordinates of the step: lengths of floating joints along fixed axes, limited balls
   out of their cones and along them, and wheels that carry their base. In place. */
static void to_local(const rk_search *s, double *rows, int64_t count) {
  const rk_ik *ik = s->ik;
  const rk_model *m = ik->model;
  const double *scale = ik->stack->step->scale;
  for (int32_t node = 0; node < m->n_nodes; node++) {
    if (m->motion[node] != RK_FREE) continue;
    double R[9], turned[3];
    rk_quaternion_matrix(s->q + m->iq[node] + 3, R);
    for (int64_t r = 0; r < count; r++) {
      double *own = rows + r * m->nv + m->iv[node];
      rk_rotate(R, own, turned);
      for (int k = 0; k < 3; k++) own[k] = turned[k];
    }
  }
  for (int32_t k = 0; k < ik->n_cones; k++)
    for (int64_t r = 0; r < count; r++) {
      double *own = rows + r * m->nv + ik->cones[k].v, turned[3];
      rk_rotate_back(s->turns + 9 * k, own, turned);
      for (int i = 0; i < 3; i++) own[i] = turned[i];
    }
  for (int32_t k = 0; s->rolled_from && k < ik->n_bases; k++) {
    const rk_base *base = ik->bases + k;
    const double *M = s->rolls + 6 * k;
    for (int64_t r = 0; r < count; r++) {
      double *row = rows + r * m->nv, *moved = row + base->v;
      for (int wheel = 0; wheel < 2; wheel++)
        for (int i = 0; i < 3; i++) {
          const int32_t v = base->wheel_v[wheel];
          row[v] += M[2 * i + wheel] * moved[i] * scale[v] / scale[base->v + i];
        }
      for (int i = 0; i < 3; i++) moved[i] = 0.0;
    }
  }
}

static void transpose(int32_t n, const double *A, double *out) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) out[j * n + i] = A[i * n + j];
}

/* H and g of the preference in the coordinates of the step, from where it starts. */
static void prefer(const rk_search *s, const scratch *w) {
  const rk_model *m = s->ik->model;
  const int32_t n = m->nv;
  const double *scale = s->ik->stack->step->scale;
  rk_difference(m, 1, s->preference.from, s->q, w->moved);
  for (int32_t k = 0; k < n; k++) w->moved[k] /= scale[k];
  for (int64_t k = 0; k < n; k++) w->g[k] = s->preference.g[k] + rk_dot(n, s->preference.H + k * n, w->moved);
  for (int64_t k = 0; k < (int64_t)n * n; k++) w->H[k] = s->preference.H[k];
  to_local(s, w->g, 1);
  to_local(s, w->H, n);
  transpose(n, w->H, w->other);
  to_local(s, w->other, n);
}

void rk_stack_hold(const rk_search *s) {
  const rk_stack *stack = s->ik->stack;
  const rk_step_data *data = stack->data;
  const scratch w = lay_out(s);
  for (int32_t k = 0; k < s->kept; k++) {
    w.was_met[k] = s->level_met[k];
    for (int32_t row = data->start[k]; row < data->start[k + 1]; row++)
      w.remaining[row] = s->level_met[k] ? 0.0 : rk_clamp(0.0, data->low[row], data->high[row]);
  }
  for (int32_t i = 0; i < 2 * stack->n_tasks; i++) w.kept[i] = stack->residuals[i], w.kept_across[i] = stack->across[i];
}

static int is_as_it_was(double spare, double tolerance, double before, double own) {
  if (before > tolerance) return __builtin_fabs(own - before) <= spare;
  return own <= rk_max(spare, rk_min(before * (1.0 + ROUNDING), tolerance));
}

int rk_stack_holds(const rk_search *s, double share) {
  const rk_stack *stack = s->ik->stack;
  const scratch w = lay_out(s);
  for (int32_t i = 0; i < 2 * stack->n_tasks; i++) {
    const double tolerance = stack->tolerance[i], spare = share * tolerance;
    const int32_t level = stack->level[i / 2], path_level = stack->path_level[i / 2];
    if (path_level >= 0 && level < s->kept && !is_as_it_was(spare, tolerance, w.kept_across[i], stack->across[i])) return 0;
    if ((path_level < 0 ? level : path_level) < s->kept && !is_as_it_was(spare, tolerance, w.kept[i], stack->residuals[i])) return 0;
  }
  return 1;
}

/* Held levels that were not met ask to stay: what is outside a band stays as it is. */
static void leave(const rk_step_data *data, const scratch *w, int32_t level) {
  for (int32_t row = data->start[level]; row < data->start[level + 1]; row++) {
    const double remaining = w->remaining[row];
    if (remaining > 0.0) data->low[row] -= remaining, data->high[row] = data->low[row];
    if (remaining < 0.0) data->high[row] -= remaining, data->low[row] = data->high[row];
  }
}

/* One step leads only so far along a path. */
static void shorten(const rk_step_data *data, int32_t level, int32_t n) {
  for (int32_t row = data->start[level]; row < data->start[level + 1]; row++) {
    const double *J = data->J + row * (int64_t)n, most = FARTHEST * rk_sqrt(rk_dot(n, J, J));
    data->low[row] = rk_clamp(data->low[row], -most, most), data->high[row] = rk_clamp(data->high[row], -most, most);
  }
}

void rk_stack_step(const rk_search *s, double damping) {
  const rk_stack *stack = s->ik->stack;
  const rk_step_data *data = stack->data;
  const int32_t n = s->ik->model->nv;
  const double *scale = stack->step->scale;
  const scratch w = lay_out(s);
  for (int32_t k = 0; k < s->on; k++) {
    if (k < s->kept && !w.was_met[k]) leave(data, &w, k);
    if (stack->kind[k] == RK_LEVEL_PATHS) shorten(data, k, n);
  }
  to_local(s, data->J, data->start[s->on]);
  for (int32_t k = 0; k < n; k++) {
    w.lo[k] = rk_clamp(s->lo[k] / scale[k], -RK_LARGEST_STEP, 0.0);
    w.hi[k] = rk_clamp(s->hi[k] / scale[k], 0.0, RK_LARGEST_STEP);
    w.x[k] = 0.0;
  }
  for (int32_t k = 0; k <= s->on; k++) w.start[k] = data->start[k];
  for (int32_t k = 0; k < s->on; k++) {
    const int is_last = k + 1 == s->on && damping >= 0.0;
    const int is_there = s->level_met[k] || (k < s->kept && !w.was_met[k]);
    w.damping[k] = is_last ? damping : is_there ? DAMPING_FLOOR : rk_search_damping(s->level_error[k]);
  }
  rk_levels levels = {s->on, w.start, data->J, data->low, data->high, w.damping};
  if (s->as_one) {
    double E = 0.0;
    for (int32_t k = 0; k < s->on; k++) E += s->level_error[k];
    levels.count = 1;
    w.start[1] = data->start[s->on];
    w.damping[0] = rk_search_damping(E);
  }
  const double *H = 0, *g = 0;
  if (s->preference.H) prefer(s, &w), H = w.other, g = w.g;
  rk_hierarchy(n, w.lo, w.hi, &levels, H, g, w.hierarchy, w.x, 0, w.residual, w.freedom);
  for (int32_t k = 0; k < n; k++) s->x[k] = w.x[k] * scale[k];
}
