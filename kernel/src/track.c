/* Tracking, twin of solvers/tracking_reference.py, which explains it; viability bounds as in solvers/viability.py. */
#include "robokin_track.h"

#include "criteria.h"
#include "tracking.h"

static const double KEPT = 1e-5; /* relative: by how much the error of a level that is not met may grow afterwards */

int32_t rk_sizeof_track(void) { return (int32_t)sizeof(rk_track); }

static int32_t rows_of(const rk_ik *ik) { return ik->stack ? ik->stack->data->start[ik->stack->data->levels] : 0; }

int64_t rk_track_workspace(const rk_track *track) {
  const rk_ik *ik = track->ik;
  const int64_t nv = ik->model->nv, nq = ik->model->nq, levels = rk_stack_levels(ik);
  const int64_t own = ik->stack ? rows_of(ik) + 4 * ik->stack->n_tasks + 2 * nv * nv + 2 * nv +
                                      rk_step_objective_workspace(ik->stack->step)
                                : 0;
  return rk_ik_workspace(ik) + 4 * nv + (5 + levels) * nq + own;
}

/* The state after the frame. */
static void advance(const rk_tracking *t, const double *q, const double *goal) {
  const rk_model *m = t->track->ik->model;
  rk_difference(m, 1, t->frame.last, q, t->frame.step);
  rk_copy(t->frame.last, q, m->nq);
  rk_copy(t->goal, goal, m->nq);
}

/* From beside where the goal of the first level was looked for, which a straight limb only so comes away from; kept when it
   is met there. */
static int unbend(rk_tracking *t) {
  rk_search *s = &t->search;
  const int32_t nq = s->ik->model->nq;
  rk_copy(t->goals, s->best_q, nq);
  rk_search_nudge(s, t->frame.moved);
  rk_copy(t->pulled, s->q, nq);
  if (rk_tracking_descend(t, t->pulled, RK_GOAL_STEPS, 0)) return 1;
  rk_copy(s->best_q, t->goals, nq);
  s->is_kept = 0;
  return 0;
}

/* The goals of the first levels, each from the one before: configurations that meet them, or come as near as those above
   allow, without limits on speed. Returns how many levels are met from the first on. */
static int32_t find_goals(rk_tracking *t) {
  const rk_ik *ik = t->track->ik;
  const int32_t nq = ik->model->nq;
  rk_search *s = &t->search;
  int32_t possible = 0;
  rk_copy(t->frame.moved, t->goal, nq);
  for (int32_t k = 0; k < ik->n_bases; k++) { /* only from where they are the bases can roll */
    const rk_base *base = ik->bases + k;
    rk_copy(t->frame.moved + base->q, t->frame.last + base->q, 3);
    for (int wheel = 0; wheel < 2; wheel++) t->frame.moved[base->wheel_q[wheel]] = t->frame.last[base->wheel_q[wheel]];
  }
  s->preference.H = 0;
  for (s->on = 1; s->on <= s->levels; s->on++) {
    rk_tracking_stay(t, 0);
    int met = s->on == 1 && (rk_tracking_descend(t, t->frame.moved, RK_GOAL_STEPS, 0) || unbend(t));
    if (s->on > 1 && rk_is_velocity(s, s->on - 1)) { /* as far as a way leads, and round its corners */
      rk_copy(t->pulled, s->best_q, nq);
      met = rk_tracking_descend(t, t->pulled, RK_GOAL_STEPS, 0);
    }
    met = met || rk_search_settle(s, RK_GOAL_STEPS, RK_SETTLED);
    if (met && possible == s->on - 1) possible = s->on;
    rk_copy(t->goals + (int64_t)(s->on - 1) * nq, s->best_q, nq);
  }
  s->on = s->levels;
  return possible;
}

/* Whether all levels are as they are at the best configuration, or better. */
static int is_as_good(const rk_search *s) {
  for (int32_t k = 0; k < s->levels; k++)
    if (!s->level_met[k] && (s->best_level_met[k] || s->level_error[k] > s->best_level_error[k] * (1.0 + KEPT))) return 0;
  return 1;
}

/* From the best configuration, which the levels have: as the criteria prefer it, while the levels keep what they have. */
static void prefer(rk_tracking *t) {
  rk_search *s = &t->search;
  int met;
  rk_tracking_stay(t, 1);
  for (int pass = 0; pass < 2; pass++) { /* then without criteria, for what their motion has bent */
    s->preference.H = pass ? 0 : t->H;
    const double E = rk_tracking_step(t, 0.0, &met);
    if (is_as_good(s)) {
      rk_search_keep(s, E);
      break;
    }
  }
}

/* The levels that are met from the first on, at the configuration that was measured last. */
static int32_t met_levels(const rk_search *s) {
  int32_t count = 0;
  while (count < s->levels && s->level_met[count]) count++;
  return count;
}

/* The best configuration with the first levels, which are met, as nearly met as they can be: what is below may stand elsewhere
   by their tolerances. */
static void restore(rk_tracking *t, int32_t levels) {
  rk_search *s = &t->search;
  double before = 0.0, after = 0.0;
  int met;
  for (int32_t k = 0; k < levels; k++) before += s->level_error[k];
  rk_tracking_stay(t, 1);
  s->preference.H = 0;
  s->on = levels;
  const double E = rk_tracking_step(t, 0.0, &met);
  for (int32_t k = 0; k < levels; k++) after += s->level_error[k];
  if (met && after <= before) rk_search_keep(s, E);
  s->on = s->levels;
}

static void find_preference(rk_tracking *t) {
  const rk_ik *ik = t->track->ik;
  rk_search *s = &t->search;
  s->preference = (rk_preference){0};
  if (!ik->stack || !ik->stack->n_criteria) return;
  rk_copy(ik->stack->q, t->frame.last, ik->model->nq);
  for (int32_t k = 0; k < ik->model->nv; k++) ik->stack->previous[k] = t->frame.step[k] / ik->stack->step->dt;
  if (ik->stack->criteria) ik->stack->criteria(s->frame);
  rk_step_objective(ik->stack->step, ik->stack->data, t->objective, t->H, t->g);
  s->preference = (rk_preference){t->H, t->g, t->frame.last};
}

static int32_t frame(rk_tracking *t, int is_still, double *late, double *residuals, int8_t *behind) {
  const rk_track *track = t->track;
  const rk_ik *ik = track->ik;
  const rk_model *m = ik->model;
  rk_search *s = &t->search;
  const int was_late = *late != 0.0 && !t->are_velocities; /* velocities leave nothing to be caught up with */
  const int is_braking = was_late && track->braked;
  s->iterations = 0;
  s->on = s->levels;
  rk_frame_bounds_find(&t->frame);
  if (ik->stack) rk_stack_begin(s, t->frame.last);
  if (t->are_velocities) rk_copy(t->goal, t->frame.last, m->nq);
  find_preference(t);
  const rk_preference preference = s->preference;
  /* What was not met at once is so by its goal again, until it is met. */
  if (!(is_braking || (was_late && s->levels > 1)) && rk_tracking_descend(t, t->frame.last, RK_FRAME_STEPS, 1)) {
    rk_copy(residuals, s->best_residuals, 2 * (int64_t)s->tasks);
    rk_copy(t->q, s->best_q, m->nq);
    advance(t, t->q, t->q);
    *late = 0.0;
    t->placed = 1;
    return RK_IK_CONVERGED;
  }
  t->placed = 0;
  /* What stands at its goal, for the same targets, stays there: searching on would only creep. */
  double *goal = t->goals + (int64_t)(s->levels - 1) * m->nq;
  rk_copy(goal, t->goal, m->nq);
  const int changes = ik->stack && ik->stack->changes;
  const int stays = is_still && !changes && *late != 0.0 && rk_is_equal(t->frame.last, t->goal, m->nq) &&
                    rk_tracking_is_reached(t, goal);
  const int32_t possible = stays ? 0 : find_goals(t);
  const int reached = stays || rk_tracking_is_reached(t, goal);
  if (reached && !t->are_velocities) /* a way is not cut short, wherever it leads */
    rk_copy(t->q, t->pulled, m->nq);
  else
    rk_tracking_hurry(t, is_braking);
  rk_tracking_look(t, t->q);
  if ((reached || t->are_velocities) && preference.H) {
    s->preference = preference;
    prefer(t);
    rk_tracking_look(t, s->best_q);
    rk_copy(t->q, s->best_q, m->nq);
  }
  const int32_t found = met_levels(s);
  const int met = found == s->levels;
  const int is_late = !met && possible > found;
  if (!met && rk_is_exact(s)) {
    restore(t, found);
    rk_copy(t->q, s->best_q, m->nq);
  }
  t->placed = s->is_kept;
  rk_copy(residuals, s->best_residuals, 2 * (int64_t)s->tasks);
  *late = met ? 0.0 : 1.0;
  if (is_late) {
    /* Who does not get to the goal of the first level that is lost. */
    rk_tracking_name(t, t->goals + (int64_t)found * m->nq, rk_is_velocity(s, found), t->q, behind);
    for (int32_t k = 0; k < ik->n_bases; k++)
      for (int j = 0; j < 3; j++) behind[ik->bases[k].v + j] = 0;
  }
  rk_copy(t->frame.moved, met || reached ? t->q : goal, m->nq);
  advance(t, t->q, t->frame.moved);
  if (met) return RK_IK_CONVERGED;
  if (is_late) return RK_TRACK_LATE;
  return rk_search_reachable(s) ? RK_IK_NOT_CONVERGED : RK_IK_OUT_OF_REACH;
}

int64_t rk_track_run(const rk_track *track, int64_t count, const double *targets, const rk_robot_row *robot_rows,
                     const int8_t *still, double *state, double *work, double *q, double *residuals, int32_t *codes, int32_t *iterations,
                     int8_t *behind) {
  const rk_ik *ik = track->ik;
  const rk_model *m = ik->model;
  const int64_t nq = m->nq, nv = m->nv, levels = rk_stack_levels(ik);
  const int64_t tips = ik->stack ? ik->stack->step->n_tips : m->n_frames;
  rk_tracking t = {.track = track, .frame.track = track, .search = rk_search_lay_out(ik, work), .box_model = *m, .box = *ik};
  work += rk_ik_workspace(ik);
  t.frame.lo = work, t.frame.hi = t.frame.lo + nv, t.frame.way = t.frame.hi + nv, t.pace = t.frame.way + nv;
  t.frame.lower = t.pace + nv, t.frame.upper = t.frame.lower + nq, t.q = t.frame.upper + nq;
  t.frame.moved = t.q + nq, t.pulled = t.frame.moved + nq;
  t.goals = t.pulled + nq;
  if (ik->stack) {
    t.left = t.goals + levels * nq, t.kept = t.left + rows_of(ik), t.kept_across = t.kept + 2 * ik->stack->n_tasks;
    t.H = t.kept_across + 2 * ik->stack->n_tasks;
    t.even = t.H + nv * nv, t.g = t.even + nv * nv, t.none = t.g + nv, t.objective = t.none + nv;
    for (int64_t k = 0; k < nv * nv; k++) t.even[k] = k % (nv + 1) == 0;
    for (int64_t k = 0; k < nv; k++) t.none[k] = 0.0;
  }
  t.frame.last = state, t.goal = state + nq, t.frame.step = state + 2 * nq;
  t.box_model.lower = t.frame.lower, t.box_model.upper = t.frame.upper;
  t.box.model = &t.box_model;
  t.search.rolled_from = t.frame.last;
  t.are_velocities = ik->stack != 0;
  for (int32_t k = 0; k < levels; k++) t.are_velocities &= rk_is_velocity(&t.search, k);
  for (int64_t i = 0; i < count; i++) {
    for (int64_t k = 0; k < nv; k++) behind[i * nv + k] = 0;
    t.search.targets = targets + 16 * i * tips;
    t.search.frame = (int32_t)i;
    if (ik->stack) {
      ik->stack->data->targets = t.search.targets;
      ik->stack->data->robot_rows = robot_rows + i * ik->stack->data->n_robot_rows;
    }
    if (!rk_search_rigid(&t.search)) return i;
    codes[i] = frame(&t, still && still[i], state + 2 * nq + nv, residuals + 2 * i * t.search.tasks, behind + i * nv);
    iterations[i] = t.search.iterations;
    rk_copy(q + i * nq, t.frame.last, nq);
  }
  return count;
}
