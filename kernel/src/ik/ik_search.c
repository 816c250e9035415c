/* What the static solver and tracking share: the errors of a configuration, and the best one so far. */
#include "ik/ik_search.h"
#include "math/rk_math.h"

#include "limits/cone.h"
#include "ik/ik_rows.h"
#include "robot/rk_tree.h"
#include "limits/rolling.h"
#include "step/stack.h"
#include "step/step_rows.h"

static const double SPARE = 0.1; /* of a tolerance: by how much a residual that is kept may change */
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
  s.candidate.q = work, work += nq;
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

void rk_search_keep(rk_search *s, double E) {
  s->best_error = E;
  s->is_kept = 1;
  rk_copy(s->best_q, s->q, s->ik->model->nq);
  rk_copy(s->best_residuals, s->residuals, 2 * (int64_t)s->tasks);
  rk_copy(s->best_level_error, s->level_error, s->levels);
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
  s->kept = levels;
  if (levels > 0) rk_stack_hold(s);
}

int rk_search_holds(const rk_search *s) { return s->kept == 0 || rk_stack_holds(s, SPARE); }

double rk_search_remaining(const rk_search *s) {
  double E = 0.0;
  for (int32_t k = 0; k < s->on; k++) E += s->level_error[k];
  return E;
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
