/* The iteration that the static solver and tracking share: errors, rows, the damped step. Twin of `linearise` and
   `damped_step` in solvers/ik_steps.py. */
#include "ik/ik_search.h"

#include "limits/cone.h"
#include "ik/ik_rows.h"
#include "robot/rk_tree.h"
#include "limits/rolling.h"
#include "step/stack.h"

static const double DAMPING = 0.1, DAMPING_CAP = 3.0, DAMPING_FLOOR = 1e-9;
static const double DAMPING_LESS = 0.3, DAMPING_MORE = 4.0, DAMPING_LEAST = 1e-9, DAMPING_MOST = 1e6;
static const double NUDGE = 0.03; /* radians or L */
enum { RESTORING = 2 }; /* steps that bring levels above back to what they are to keep */
static const double WELL_MET = 1e-18; /* error of levels that no step need lessen: 1e-9 radians or L */
static const double SAME = 1e-9; /* relative: errors of a level nearer to each other than this are equal */

int64_t rk_ik_workspace(const rk_ik *ik) {
  const int64_t n = ik->model->nv, nq = ik->model->nq, tips = ik->model->n_frames;
  const int64_t tasks = ik->stack ? ik->stack->n_tasks : tips, levels = rk_stack_levels(ik);
  return 12 * ik->model->n_nodes + 18 * tips + 4 * tasks + n * n + 12 * n + 5 * nq + 9 * (int64_t)ik->n_cones +
         6 * (int64_t)ik->n_bases + 4 * levels + rk_bounded_step_workspace((int32_t)n) + rk_stack_workspace(ik);
}

rk_search rk_search_lay_out(const rk_ik *ik, double *work) {
  const int64_t n = ik->model->nv, nq = ik->model->nq, tips = ik->model->n_frames;
  const int64_t tasks = ik->stack ? ik->stack->n_tasks : tips, levels = rk_stack_levels(ik);
  rk_search s = {.ik = ik, .tasks = (int32_t)tasks, .levels = (int32_t)levels, .on = (int32_t)levels};
  s.nodes = work, work += 12 * (int64_t)ik->model->n_nodes;
  s.tips = work, work += 12 * tips;
  s.errors = work, work += 6 * tips;
  s.residuals = work, work += 2 * tasks;
  s.best_residuals = work, work += 2 * tasks;
  s.J = work, work += 6 * n;
  s.H = work, work += n * n;
  s.g = work, work += n;
  s.x = work, work += n;
  s.lo = work, work += n;
  s.hi = work, work += n;
  s.side = (int32_t *)work, work += n;
  s.q = work, work += nq;
  s.start = work, work += nq;
  s.best_q = work, work += nq;
  s.chosen.q = work, work += nq;
  s.rival.q = work, work += nq;
  s.turns = work, work += 9 * (int64_t)ik->n_cones;
  s.rolls = work, work += 6 * (int64_t)ik->n_bases;
  s.level_error = work, work += levels;
  s.best_level_error = work, work += levels;
  s.level_met = (int32_t *)work, work += levels;
  s.best_level_met = (int32_t *)work, work += levels;
  s.step_work = work, work += rk_bounded_step_workspace((int32_t)n);
  s.stack_work = work;
  return s;
}

double rk_search_measure(const rk_search *s, int *met) {
  const rk_model *m = s->ik->model;
  if (s->ik->stack) return rk_stack_measure(s, met);
  rk_place_nodes(m, s->q, s->nodes);
  for (int32_t t = 0; t < m->n_frames; t++) rk_place_frame(m, s->nodes, t, s->tips + 12 * t);
  return rk_search_compare(s, met);
}

double rk_search_compare(const rk_search *s, int *met) {
  const rk_ik *ik = s->ik;
  if (ik->stack) return rk_stack_measure(s, met);
  double E = 0.0;
  *met = 1;
  for (int32_t t = 0; t < ik->model->n_frames; t++) {
    const rk_task *task = ik->tasks + t;
    const double *T = s->tips + 12 * t;
    double *e = s->errors + 6 * t, *residual = s->residuals + 2 * t;
    rk_task_error(task, T, s->targets + 16 * t, e);
    double shown[6];
    for (int part = 0; part < 2; part++) {
      double *out = shown + 3 * part, sum = 0.0;
      if (task->tip_axes)
        rk_rotate_back(T, e + 3 * part, out);
      else
        for (int k = 0; k < 3; k++) out[k] = e[3 * part + k];
      for (int k = 0; k < 3; k++) {
        const double w = task->weights[3 * part + k] * out[k], r = task->used[3 * part + k] * out[k];
        E += w * w;
        sum += r * r;
      }
      residual[part] = rk_sqrt(sum);
      if (!(residual[part] <= task->tolerance[part])) *met = 0;
    }
  }
  *s->level_error = 0.5 * E;
  *s->level_met = *met;
  return 0.5 * E;
}

/* J[count][6], the weighted columns of one task, after rk_search_measure(); we[6]: its weighted error. */
static void task_jacobian(const rk_search *s, int32_t t, const int32_t *columns, int count, double we[6]) {
  const rk_ik *ik = s->ik;
  const rk_model *m = ik->model;
  const rk_task *task = ik->tasks + t;
  const double *T = s->tips + 12 * t;
  const int32_t exact = s->is_exact ? task->parts : task->exact;
  const int simple = !exact;
  double A[36], e[6];
  for (int k = 0; k < 6; k++) e[k] = s->errors[6 * t + k];
  if (!simple) {
    rk_task_matrix(task, exact, T, s->targets + 16 * t, e, A);
    for (int part = 0; part < 2; part++)
      if (task->tip_axes && exact >> part & 1) rk_to_tip_axes(T, 3 * part, e, A);
    for (int r = 0; r < 6; r++)
      for (int c = 0; c < 6; c++) A[6 * r + c] *= task->weights[r];
  }
  for (int r = 0; r < 6; r++) we[r] = task->weights[r] * e[r];
  for (int k = 0; k < 6 * count; k++) s->J[k] = 0.0;
  int at = count; /* columns of a node are not above those of its child, but for mimic joints */
  for (int32_t node = m->frame_node[t]; node >= 0; node = m->parent[node]) {
    double twists[6][6];
    const double *place = s->nodes + 12 * (int64_t)node;
    const int nv = rk_node_twists(m, node, place, T + 9, twists);
    if (m->motion[node] == RK_FREE) {
      /* the lengths of a step move along the fixed axes, so that their bounds are a box */
      const double *P = m->placement + 12 * (int64_t)node;
      const int32_t parent = m->parent[node];
      double axes[9];
      if (parent >= 0)
        rk_multiply(s->nodes + 12 * (int64_t)parent, P, axes);
      else
        for (int k = 0; k < 9; k++) axes[k] = P[k];
      for (int k = 0; k < 3; k++)
        for (int r = 0; r < 3; r++) twists[k][r] = axes[3 * r + k];
    }
    const int32_t first = m->iv[node];
    if (at == 0 || columns[at - 1] < first) at = count;
    while (columns[at - 1] > first) at--;
    double *J = s->J + 6 * (at - 1);
    for (int k = 0; k < nv; k++, J += 6) {
      if (simple) {
        for (int r = 0; r < 6; r++) J[r] += task->weights[r] * twists[k][r];
      } else {
        for (int r = 0; r < 6; r++) J[r] += rk_dot6(A + 6 * r, twists[k]);
      }
    }
  }
}

/* Columns of limited balls in the coordinates in which their limits bound single ones. */
static void turn_columns(const rk_search *s, const int32_t *columns, int count) {
  for (int32_t k = 0; k < s->ik->n_cones; k++) {
    const double *B = s->turns + 9 * k;
    int first = 0;
    while (first < count && columns[first] != s->ik->cones[k].v) first++;
    if (first == count) continue;
    double *J = s->J + 6 * first;
    for (int r = 0; r < 6; r++) {
      const double row[3] = {J[r], J[6 + r], J[12 + r]};
      for (int c = 0; c < 3; c++) J[6 * c + r] = row[0] * B[c] + row[1] * B[3 + c] + row[2] * B[6 + c];
    }
  }
}

/* Columns of wheels carry their base along; those of the base have no say. */
static void roll_columns(const rk_search *s, const int32_t *columns, int count) {
  for (int32_t k = 0; k < s->ik->n_bases; k++) {
    const rk_base *base = s->ik->bases + k;
    const double *M = s->rolls + 6 * k;
    int first = 0;
    while (first < count && columns[first] != base->v) first++;
    if (first == count) continue;
    double *moved = s->J + 6 * first;
    for (int wheel = 0; wheel < 2; wheel++) {
      int at = 0;
      while (columns[at] != base->wheel_v[wheel]) at++;
      double *J = s->J + 6 * at;
      for (int r = 0; r < 6; r++)
        J[r] += M[wheel] * moved[r] + M[2 + wheel] * moved[6 + r] + M[4 + wheel] * moved[12 + r];
    }
    for (int r = 0; r < 18; r++) moved[r] = 0.0;
  }
}

/* H = J'J + damping, lower triangle, and g = J'e. */
static void normal_equations(const rk_search *s, double damping) {
  const rk_ik *ik = s->ik;
  const int32_t n = ik->model->nv;
  for (int32_t k = 0; k < n * n; k++) s->H[k] = 0.0;
  for (int32_t k = 0; k < n; k++) {
    s->g[k] = 0.0;
    s->H[(int64_t)k * n + k] = damping * ik->damping[k];
  }
  for (int32_t t = 0; t < ik->model->n_frames; t++) {
    const int32_t *columns = ik->task_columns + ik->task_start[t];
    const int count = ik->task_start[t + 1] - ik->task_start[t];
    double we[6];
    task_jacobian(s, t, columns, count, we);
    turn_columns(s, columns, count);
    if (s->rolled_from) roll_columns(s, columns, count);
    for (int a = 0; a < count; a++) {
      const double *column = s->J + 6 * a;
      double *row = s->H + (int64_t)columns[a] * n;
      for (int b = 0; b <= a; b++) row[columns[b]] += rk_dot6(column, s->J + 6 * b);
      s->g[columns[a]] += rk_dot6(column, we);
    }
  }
}

/* Turns the quaternion p by the rotation vector w, in its own axes. */
static void turn(const double w[3], double p[4]) {
  const double half = 0.5 * rk_norm3(w);
  double sine, cosine, turned[4];
  rk_sincos(half, &sine, &cosine);
  const double scale = half == 0.0 ? 0.5 : 0.5 * sine / half;
  const double by[4] = {cosine, scale * w[0], scale * w[1], scale * w[2]};
  rk_quaternion_multiply(p, by, turned);
  const double length = rk_sqrt(turned[0] * turned[0] + rk_dot3(turned + 1, turned + 1));
  for (int j = 0; j < 4; j++) p[j] = turned[j] / length;
}

/* q moved by x, inside the limits: plain coordinates are added, quaternions turned in their own axes. */
static void integrate(const rk_search *s) {
  const rk_ik *ik = s->ik;
  const rk_model *m = ik->model;
  for (int32_t k = 0; k < m->nv; k++) {
    const int32_t i = ik->coordinate[k];
    if (i >= 0) {
      s->q[i] = rk_clamp(s->q[i] + s->x[k], m->lower[i], m->upper[i]);
      continue;
    }
    /* the first of three rotations; the quaternion lies behind the coordinates so far */
    int32_t node = 0;
    while (m->motion[node] < RK_BALL || m->iv[node] + (m->motion[node] == RK_FREE ? 3 : 0) != k) node++;
    turn(s->x + k, s->q + m->iq[node] + (m->motion[node] == RK_FREE ? 3 : 0));
    k += 2;
  }
  for (int32_t k = 0; k < ik->n_cones; k++) rk_cone_project(ik->cones + k, s->q + ik->cones[k].q);
  if (s->rolled_from) rk_roll_bases(ik, s->rolled_from, s->q);
}

/* How the wheels move the bases from here on; the bases' own columns are held. */
static void linearise_rolling(const rk_search *s) {
  for (int32_t k = 0; k < s->ik->n_bases; k++) {
    const rk_base *base = s->ik->bases + k;
    double turned[2];
    for (int wheel = 0; wheel < 2; wheel++)
      turned[wheel] = s->q[base->wheel_q[wheel]] - s->rolled_from[base->wheel_q[wheel]];
    rk_roll_jacobian(base, s->rolled_from + base->q, turned, s->rolls + 6 * k);
    for (int j = 0; j < 3; j++) s->lo[base->v + j] = s->hi[base->v + j] = 0.0;
  }
}

double rk_search_damping(double E) { return DAMPING * (E < DAMPING_CAP ? E : DAMPING_CAP) + DAMPING_FLOOR; }

void rk_search_damped_step(const rk_search *s, double damping) {
  const rk_ik *ik = s->ik;
  const rk_model *m = ik->model;
  for (int32_t k = 0; k < m->nv; k++) {
    const int32_t i = ik->coordinate[k];
    s->lo[k] = i < 0 ? -__builtin_inf() : m->lower[i] - s->q[i];
    s->hi[k] = i < 0 ? __builtin_inf() : m->upper[i] - s->q[i];
  }
  for (int32_t k = 0; k < ik->n_cones; k++) {
    const rk_cone *cone = ik->cones + k;
    rk_cone_local(cone, s->q + cone->q, s->turns + 9 * k, s->lo + cone->v, s->hi + cone->v);
  }
  if (s->rolled_from) linearise_rolling(s);
  for (int32_t k = 0; s->busy && k < m->nv; k++)
    if (s->busy[k]) s->lo[k] = s->hi[k] = 0.0;
  if (ik->stack) {
    rk_stack_step(s, damping);
  } else {
    for (int32_t k = 0; s->is_exact && k < m->nv; k++) {
      const double largest = RK_LARGEST_STEP / rk_sqrt(ik->damping[k]);
      s->lo[k] = rk_max(s->lo[k], -largest);
      s->hi[k] = rk_min(s->hi[k], largest);
    }
    normal_equations(s, damping);
    rk_bounded_step(m->nv, s->H, s->g, s->lo, s->hi, ik->fill_start, ik->fill, s->step_work, s->x, s->side);
  }
  for (int32_t k = 0; k < ik->n_cones; k++) {
    double *x = s->x + ik->cones[k].v, turned[3];
    rk_rotate(s->turns + 9 * k, x, turned);
    for (int j = 0; j < 3; j++) x[j] = turned[j];
  }
  integrate(s);
  if (s->keep) s->keep(s->bounds, s->q);
}

void rk_search_step(const rk_search *s, double E) {
  rk_search_damped_step(s, s->ik->stack ? -1.0 : rk_search_damping(E));
}

static int is_rigid(const double *T) {
  if (!rk_fit(16, T)) return 0;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b <= a; b++) {
      const double dot = rk_dot3(T + 4 * a, T + 4 * b) - (a == b);
      if (__builtin_fabs(dot) > 1e-6) return 0;
    }
  double cross[3];
  rk_cross(T, T + 4, cross);
  if (!(rk_dot3(cross, T + 8) > 0.0)) return 0;
  for (int k = 12; k < 16; k++)
    if (__builtin_fabs(T[k] - (k == 15)) > 1e-9) return 0;
  return 1;
}

static void copy(double *to, const double *from, int64_t count) {
  for (int64_t k = 0; k < count; k++) to[k] = from[k];
}

void rk_search_keep(rk_search *s, double E) {
  s->best_error = E;
  s->is_kept = 1;
  copy(s->best_q, s->q, s->ik->model->nq);
  copy(s->best_residuals, s->residuals, 2 * (int64_t)s->tasks);
  copy(s->best_level_error, s->level_error, s->levels);
  for (int32_t k = 0; k < s->levels; k++) s->best_level_met[k] = s->level_met[k];
}

int rk_search_is_better(const rk_search *s, double E, int met) {
  if (met || s->on == 1) return met || E < s->best_error;
  if (s->best_error == __builtin_inf()) return 1;
  for (int32_t k = 0; k < s->on; k++) {
    const double own = s->level_met[k] ? 0.0 : s->level_error[k];
    const double other = s->best_level_met[k] ? 0.0 : s->best_level_error[k];
    if (__builtin_fabs(own - other) > SAME * (own > other ? own : other)) return own < other;
  }
  return 0;
}

void rk_search_hold(rk_search *s, int32_t levels) {
  s->held = levels;
  if (levels > 0) rk_stack_hold(s);
}

int rk_search_holds(const rk_search *s) { return s->held == 0 || rk_stack_holds(s); }

/* Back to the best configuration, which is measured. */
static void return_to_best(rk_search *s) {
  int met;
  if (s->is_kept) return;
  copy(s->q, s->best_q, s->ik->model->nq);
  rk_search_keep(s, rk_search_measure(s, &met));
}

static int all_met(const rk_search *s) {
  for (int32_t k = 0; k < s->on; k++)
    if (!s->level_met[k]) return 0;
  return 1;
}

double rk_search_left(const rk_search *s) {
  double E = 0.0;
  for (int32_t k = 0; k < s->on; k++) E += s->level_error[k];
  return E;
}

/* The levels above the last one that counts, which are met, as well as they can be: how a tolerance is used up says nothing. */
static void make_exact(rk_search *s) {
  const int32_t last = --s->on;
  int met = last > 0 && all_met(s);
  for (int pass = 0; pass < RESTORING && met && rk_search_left(s) > WELL_MET; pass++) {
    s->is_kept = 0;
    rk_search_damped_step(s, -1.0);
    s->iterations++;
    const double E = rk_search_measure(s, &met);
    if (met) rk_search_keep(s, E);
  }
  s->on = last + 1;
  return_to_best(s);
}

int rk_search_settle(rk_search *s, int32_t steps, double settled) {
  const int32_t last = s->on - 1;
  return_to_best(s);
  if (all_met(s)) return 1;
  make_exact(s);
  rk_search_hold(s, last);
  double damping = rk_search_damping(s->level_error[last]);
  for (int32_t i = 0; i < steps && damping < DAMPING_MOST && !s->level_met[last]; i++) {
    const double error = s->level_error[last];
    int met;
    s->is_kept = 0;
    rk_search_damped_step(s, damping);
    s->iterations++;
    double E = rk_search_measure(s, &met);
    for (int pass = 0; pass < RESTORING && last > 0 && s->level_error[last] < error && !rk_search_holds(s); pass++) {
      s->on = last; /* the way along what levels above keep is bent */
      rk_search_damped_step(s, -1.0);
      s->on = last + 1;
      s->iterations++;
      E = rk_search_measure(s, &met);
    }
    const double gain = rk_search_holds(s) ? s->best_level_error[last] - s->level_error[last] : -__builtin_inf();
    if (met || gain > 0.0) rk_search_keep(s, E);
    if (met) break;
    if (__builtin_fabs(gain) < settled * s->level_error[last]) break;
    if (gain > 0.0) {
      damping *= DAMPING_LESS;
      if (damping < DAMPING_LEAST) damping = DAMPING_LEAST;
    } else {
      damping *= DAMPING_MORE;
      return_to_best(s);
    }
  }
  return_to_best(s);
  rk_search_hold(s, 0);
  return all_met(s);
}

void rk_search_nudge(const rk_search *s, const double *from) {
  const rk_model *m = s->ik->model;
  copy(s->q, from, m->nq);
  for (int32_t k = 0; k < m->nv; k++) {
    const int32_t i = s->ik->coordinate[k];
    if (i < 0) continue;
    const double aside = NUDGE / rk_sqrt(s->ik->damping[k]);
    s->q[i] = rk_clamp(from[i] + (from[i] + aside <= m->upper[i] ? aside : -aside), m->lower[i], m->upper[i]);
  }
  for (int32_t node = 0; node < m->n_nodes; node++) {
    const double aside[3] = {NUDGE, NUDGE, NUDGE};
    if (m->motion[node] == RK_BALL) turn(aside, s->q + m->iq[node]);
  }
  for (int32_t k = 0; k < s->ik->n_cones; k++) rk_cone_project(s->ik->cones + k, s->q + s->ik->cones[k].q);
}

int rk_search_rigid(const rk_search *s) {
  if (s->ik->stack) return 1; /* what hands them over has checked them */
  for (int32_t t = 0; t < s->ik->model->n_frames; t++)
    if (!is_rigid(s->targets + 16 * t)) return 0;
  return 1;
}

/* 0 when a distance certificate shows that a task cannot be met. */
static int reachable(const rk_task *task, const double *target, double length) {
  double slack = task->tolerance[0] + 1e-9 * length, reach[3], wrist[3];
  for (int k = 0; k < 3; k++) {
    const double away = target[4 * k + 3] - task->reach_centre[k];
    reach[k] = task->used[k] * away;
    wrist[k] = away + rk_dot3(target + 4 * k, task->wrist);
  }
  if (rk_norm3(reach) > task->reach + slack) return 0;
  slack += task->tolerance[1] * rk_norm3(task->wrist);
  return !(rk_norm3(wrist) > task->wrist_reach + slack);
}

int rk_search_reachable(const rk_search *s) {
  if (s->ik->stack) return s->ik->stack->reachable >= s->levels;
  for (int32_t t = 0; t < s->ik->model->n_frames; t++)
    if (!reachable(s->ik->tasks + t, s->targets + 16 * t, s->ik->length)) return 0;
  return 1;
}
