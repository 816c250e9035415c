/* Tracking, twin of solvers/tracking/reference/tracking.py, which explains it; viability bounds as in solvers/limits/viability.py. */
#include "robokin_track.h"

#include "criteria/criteria.h"
#include "limits/rolling.h"
#include "track/tracking.h"

static const double SHORTLY = 24.0; /* frames after which one level less is kept */
static const double MOST = 1e9;  /* frames */
static const double SLOWLY = 24.0; /* of the time that is left to criteria: in which the joints that they move brake */

int32_t rk_sizeof_track(void) { return (int32_t)sizeof(rk_track); }

int64_t rk_track_workspace(const rk_track *track) {
  const rk_ik *ik = track->ik;
  const int64_t nv = ik->model->nv, nq = ik->model->nq, levels = rk_stack_levels(ik);
  const int64_t own = ik->stack ? 2 * nv * nv + 6 * nv + rk_step_objective_workspace(ik->stack->step) : 0;
  return rk_ik_workspace(ik) + 6 * nv + (6 + levels) * nq + own;
}

/* The state after a frame that ends at q, which is the goal of the first `met` levels. 1 when the frame before would have led
   there, too: the robot stood, stands, and has the same goals. */
static int advance(const rk_tracking *t, const double *q, int32_t met) {
  const rk_model *m = t->track->ik->model;
  int stays = rk_is_near(t->frame.step, 0, m->nv) && rk_is_near(q, t->frame.last, m->nq);
  rk_difference(m, 1, t->frame.last, q, t->frame.step);
  rk_copy(t->frame.last, q, m->nq);
  for (int64_t k = 0; k < t->search.levels; k++) {
    const double *goal = k < met ? q : t->goals + k * m->nq;
    stays = stays && rk_is_near(goal, rk_last_goal(t, k), m->nq);
    rk_copy(rk_last_goal(t, k), goal, m->nq);
    rk_progress_of(t, k)->by_arcs = k >= met && k >= t->by_arcs;
  }
  return stays;
}

/* The levels that are met from the first on, at the best configuration. */
static int32_t met_levels(const rk_search *s) { return rk_leading(s->best_level_met, s->levels); }

/* Whether a frame that ends at the best configuration goes back on the one before: what criteria ask for, a level that is not met
   undoes. */
static int turns_back(const rk_tracking *t) {
  const rk_model *m = t->track->ik->model;
  const double *scale = t->track->ik->stack->step->scale;
  double along = 0.0;
  rk_difference(m, 1, t->frame.last, t->search.best_q, t->pace);
  for (int32_t k = 0; k < m->nv; k++) along += t->pace[k] / scale[k] * (t->frame.step[k] / scale[k]);
  return along < 0.0;
}

static int32_t missed(const rk_search *s) { return rk_search_reachable(s) ? RK_IK_NOT_CONVERGED : RK_IK_OUT_OF_REACH; }

/* The levels from the first on that have nothing to catch up with: of velocities there never is. */
static int32_t levels_in_time(const rk_search *s, int32_t count) {
  while (count < s->levels && (s->level_met[count] || rk_is_velocity(s, count))) count++;
  return count;
}

/* The best configuration with the first levels, which are met, as nearly met as they can be: what is below may stand elsewhere
   by their tolerances. */
static void refine(rk_tracking *t, int32_t levels) {
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

/* Whether all levels have one goal. */
static int have_one_goal(const rk_tracking *t) {
  const int64_t nq = t->track->ik->model->nq;
  int one = 1;
  for (int64_t k = 1; k < t->search.levels; k++) one &= rk_is_equal(rk_last_goal(t, k), rk_last_goal(t, 0), nq);
  return one;
}

/* The goal of all levels is where the robot is. */
static void stay_here(const rk_tracking *t) {
  const int64_t nq = t->track->ik->model->nq;
  for (int64_t k = 0; k < t->search.levels; k++) {
    rk_copy(rk_last_goal(t, k), t->frame.last, nq);
    rk_progress_of(t, k)->by_arcs = 0.0;
  }
}

/* Whether all levels have one goal, and what they have there where the robot is. */
static int has_goal(rk_tracking *t, int is_late) {
  const int64_t nq = t->track->ik->model->nq, last = (t->search.levels - 1) * nq;
  if (!have_one_goal(t)) return 0;
  if (!is_late || rk_is_equal(t->frame.last, rk_last_goal(t, 0), nq)) return rk_is_equal(t->frame.last, rk_last_goal(t, 0), nq);
  rk_copy(t->goals + last, rk_last_goal(t, 0), nq);
  rk_copy(t->q, t->frame.last, nq);
  return rk_tracking_is_as_good(t, t->search.levels);
}

/* pulled = where the robot stops when every joint brakes. */
static void brake(rk_tracking *t) {
  const rk_ik *ik = t->track->ik;
  for (int32_t k = 0; k < ik->model->nv; k++) {
    const double step = __builtin_fabs(t->frame.step[k]), change = t->track->change[k];
    const double n = (double)(int64_t)rk_min(step / change, MOST); /* frames in which it still moves */
    const double distance = n > 0.0 ? n * (step - 0.5 * (n + 1.0) * change) : 0.0;
    t->pace[k] = t->frame.step[k] < 0.0 ? -distance : distance;
  }
  rk_integrate(ik->model, 1, t->frame.last, t->pace, t->pulled);
  rk_roll_bases(ik, t->frame.last, t->pulled);
}

/* Targets have stood still for so long that the robot comes to rest: where it stops when it brakes, once all levels but the last
   have there what they have at their goals; as time goes on, all but the last two, ... When not even the first has, that alone is
   followed. 1 when all levels have one goal from now on. */
static int settle(rk_tracking *t, double patience) {
  const int64_t nq = t->track->ik->model->nq;
  const int32_t levels = t->search.levels, fewer = (int32_t)rk_min(1.0 - patience / SHORTLY, (double)levels);
  if (have_one_goal(t)) return 1;
  t->placed = 0;
  for (int64_t k = 0; k < levels; k++) rk_copy(t->goals + k * nq, rk_last_goal(t, k), nq);
  brake(t);
  rk_copy(t->q, t->pulled, nq);
  const double *rest = fewer < levels && rk_tracking_is_as_good(t, levels - fewer) ? t->q : fewer == levels ? rk_last_goal(t, 0) : 0;
  const double by_arcs = fewer == levels ? rk_progress_of(t, 0)->by_arcs : 0.0;
  for (int64_t k = 0; k < levels && rest; k++) {
    rk_copy(rk_last_goal(t, k), rest, nq);
    rk_progress_of(t, k)->by_arcs = by_arcs;
  }
  return rest != 0;
}

/* From where it is, the robot follows the goal of the last level joint by joint, and stands there. How many levels are met there,
   from the first on. */
static int32_t go_to_rest(rk_tracking *t, int *reached) {
  const rk_ik *ik = t->track->ik;
  const int64_t nq = ik->model->nq;
  double *goal = rk_last_goal(t, t->search.levels - 1);
  rk_tracking_return_to_goal(t, t->search.levels - 1);
  rk_copy(goal, t->frame.moved, nq);
  for (int64_t k = 0; k < t->search.levels; k++) rk_copy(t->goals + k * nq, goal, nq);
  t->by_arcs = rk_progress_of(t, t->search.levels - 1)->by_arcs ? 0 : t->search.levels;
  rk_tracking_look(t, t->goals);
  *reached = rk_tracking_is_reached(t, t->search.levels - 1);
  rk_copy(t->q, t->pulled, nq);
  return met_levels(&t->search);
}

/* The best configuration is where criteria alone lead the robot in a frame, while its levels, which are not all met, keep what
   they have at its goal. Where these cannot, or criteria turn back, these have half the time and the speed from now on. */
static void be_led(rk_tracking *t, double *patience) {
  const double spent = rk_min(*patience, 0.0), left = t->track->lasting + spent;
  rk_frame_bounds_slow(&t->frame, rk_max(left / SLOWLY, 1.0));
  const int is_as_good = rk_tracking_keep(t);
  if (is_as_good)
    rk_tracking_prefer(t, 1);
  else
    stay_here(t);
  if (!is_as_good || turns_back(t)) *patience = spent - 0.5 * left;
}

static int32_t frame(rk_tracking *t, int still, double *late, double *patience, double *residuals, int8_t *behind) {
  const rk_track *track = t->track;
  const rk_ik *ik = track->ik;
  const rk_model *m = ik->model;
  rk_search *s = &t->search;
  const int32_t met_before = s->levels - (int32_t)*late, unbraked = track->braked ? met_before : s->levels;
  int is_still = still & 1;
  s->iterations = 0;
  s->on = s->levels;
  rk_frame_bounds_find(&t->frame);
  if (ik->stack) rk_stack_begin(s, t->frame.last);
  if ((ik->stack && ik->stack->changes) || s->levels == 0) is_still = still = 0;
  for (int32_t k = 0; k < s->levels; k++) /* velocities are asked for anew */
    if (rk_is_velocity(s, k)) rk_copy(rk_last_goal(t, k), t->frame.last, m->nq);
  if (is_still) {
    *patience = rk_tracking_patience(t, *patience, met_before);
  } else {
    *patience = __builtin_inf();
    for (int32_t k = 0; k < s->levels; k++) rk_progress_of(t, k)->error = rk_progress_of(t, k)->time = __builtin_inf();
  }
  rk_tracking_find_preference(t, t->frame.last);
  const rk_preference preference = s->preference;
  const double longest = preference.H ? -track->lasting : 0.0; /* of patience, for criteria */
  /* What was not met at once is so by its goal again, until it is met; a first level that need not brake is met as it can. */
  const int32_t most = met_before == 0 && unbraked > 0 ? 1 : met_before;
  /* What stands where all is met, for the same targets, stays there too. */
  if (is_still && *late == 0.0 && !preference.H && rk_is_zero(t->frame.step, m->nv)) {
    rk_tracking_look(t, t->frame.last);
    rk_copy(residuals, s->best_residuals, 2 * (int64_t)s->tasks);
    return RK_IK_CONVERGED;
  }
  /* From its goal criteria alone move it, and its levels keep what they have there; when they have ended, it stays here. */
  const int stands = is_still && preference.H && has_goal(t, *late != 0.0), stays = stands && *patience > longest;
  if (stands && !stays) stay_here(t);
  int rests = !stays && *patience <= (*late != 0.0 ? 0.0 : longest) && settle(t, *patience);
  if (stays) s->preference.H = 0;
  if (stays || (!rests && most == s->levels)) {
    const int is_led = stays && *late != 0.0;
    if (is_led) be_led(t, patience);
    const int is_calm = !stays && rk_tracking_be_calm(t), is_met = is_led || rk_tracking_descend(t, t->frame.last, RK_FRAME_STEPS, 1);
    t->frame.calm = 0;
    if (is_met || is_calm) {
      if (stays && !is_led) rk_tracking_prefer(t, 1);
      const int32_t missing = s->levels - met_levels(s);
      *late = is_calm ? 0 : missing;
      rk_copy(residuals, s->best_residuals, 2 * (int64_t)s->tasks);
      rk_copy(t->q, s->best_q, m->nq);
      for (int64_t k = 0; k < s->levels; k++) rk_copy(t->goals + k * m->nq, rk_last_goal(t, k), m->nq);
      t->by_arcs = 0;
      while (t->by_arcs < s->levels && !rk_progress_of(t, t->by_arcs)->by_arcs) t->by_arcs++;
      advance(t, t->q, is_led && *late != 0.0 ? 0 : s->levels);
      t->placed = s->is_kept;
      return missing == 0 ? RK_IK_CONVERGED : missed(s);
    }
  }
  t->placed = 0;
  s->is_exact = 1;
  const int is_same = is_still && *late != 0.0;
  /* What stands at its goal, for the same targets, stays there: searching on would only creep. Whether several arcs lead a base
     on is not known before targets have stood still once. */
  int reached = 0;
  int32_t possible = 0;
  const int is_looked_for = ik->n_bases == 0 || rk_progress_of(t, 0)->error < __builtin_inf();
  if (rests || (is_same && is_looked_for && rk_is_equal(t->frame.last, rk_last_goal(t, s->levels - 1), m->nq)))
    possible = go_to_rest(t, &reached);
  if (!(rests = rests || reached)) {
    possible = rk_tracking_find_goals(t, is_same, still & 2 && met_before == 0 && rk_keeps_clear(t) && ik->n_bases == 0);
    /* all of them may have been tried above, though maybe not exactly, or not without criteria */
    const int32_t is_tried = most == s->levels && ik->stack && !preference.H;
    reached = rk_tracking_hurry(t, most - is_tried, unbraked, is_same && !track->braked);
  }
  rk_tracking_look(t, t->q);
  if (reached && preference.H && *patience > longest) {
    s->preference = preference;
    rk_tracking_prefer(t, is_still);
    rk_tracking_look(t, s->best_q);
    rk_copy(t->q, s->best_q, m->nq);
  }
  const int32_t found = met_levels(s), in_time = levels_in_time(s, found);
  const int met = found == s->levels;
  if (!met && rk_adds_up(s)) {
    refine(t, found);
    rk_copy(t->q, s->best_q, m->nq);
  }
  t->placed = s->is_kept;
  s->is_exact = 0;
  if (is_still && !rests && rk_tracking_is_nearest(t)) *patience = __builtin_inf();
  rk_copy(residuals, s->best_residuals, 2 * (int64_t)s->tasks);
  *late = s->levels - in_time;
  const int is_beyond = !met && possible <= found && rk_tracking_goes_on(t, found);
  int is_late = !met && possible > found;
  if (is_late || is_beyond) {
    is_late = rk_tracking_name(t, found, t->q, is_beyond, behind) || is_late; /* of the first level that is lost */
    for (int32_t k = 0; k < ik->n_bases; k++)
      for (int j = 0; j < 3; j++) behind[ik->bases[k].v + j] = 0;
  }
  if (advance(t, t->q, reached ? s->levels : rests ? 0 : in_time) && is_still) *patience = rk_min(*patience, 0.0);
  if (met) return RK_IK_CONVERGED;
  if (is_late) return RK_TRACK_LATE;
  return missed(s);
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
  t.frame.lo = work, t.frame.hi = t.frame.lo + nv, t.frame.dq = t.frame.hi + nv, t.pace = t.frame.dq + nv;
  t.frame.lower = t.pace + nv, t.frame.upper = t.frame.lower + nq, t.q = t.frame.upper + nq;
  t.frame.moved = t.q + nq, t.pulled = t.frame.moved + nq;
  t.straight = t.pulled + nq;
  t.goals = t.straight + nq;
  t.busy = (int32_t *)(t.goals + levels * nq);
  if (ik->stack) {
    t.H = t.goals + levels * nq + nv;
    t.even = t.H + nv * nv, t.g = t.even + nv * nv, t.none = t.g + nv;
    t.x = t.none + nv, t.direction = t.x + nv, t.gradient = t.direction + nv, t.change = t.gradient + nv, t.objective = t.change + nv;
    for (int64_t k = 0; k < nv * nv; k++) t.even[k] = k % (nv + 1) == 0;
    for (int64_t k = 0; k < nv; k++) t.none[k] = 0.0;
  }
  t.frame.last = state, t.kept = state + nq, t.frame.step = t.kept + levels * (nq + 3);
  t.box_model.lower = t.frame.lower, t.box_model.upper = t.frame.upper;
  t.box.model = &t.box_model;
  t.search.rolled_from = t.frame.last;
  for (int64_t i = 0; i < count; i++) {
    for (int64_t k = 0; k < nv; k++) behind[i * nv + k] = 0;
    t.search.targets = targets + 16 * i * tips;
    t.search.frame = (int32_t)i;
    if (ik->stack) {
      ik->stack->data->targets = t.search.targets;
      ik->stack->data->robot_rows = robot_rows + i * ik->stack->data->n_robot_rows;
    }
    if (!rk_search_rigid(&t.search)) return i;
    codes[i] = frame(&t, still ? still[i] : 0, t.frame.step + nv, t.frame.step + nv + 1, residuals + 2 * i * t.search.tasks, behind + i * nv);
    iterations[i] = t.search.iterations;
    rk_copy(q + i * nq, t.frame.last, nq);
  }
  return count;
}
