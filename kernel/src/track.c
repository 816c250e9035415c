/* Tracking, twin of solvers/tracking_reference.py, which explains it; viability bounds as in solvers/viability.py. */
#include "robokin_track.h"

#include "criteria.h"
#include "frame_bounds.h"
#include "rk_math.h"
#include "rk_viability.h"
#include "rolling.h"
#include "stack.h"

enum { FRAME_STEPS = 10, GOAL_STEPS = 30, PATIENCE = 3, PULLS = 4 };
static const double PROGRESS = 0.5; /* of the error in PATIENCE steps */
static const double SETTLED = 1e-5; /* relative: a goal whose error changes by less is found */
static const double KEPT = 1e-5;    /* relative: by how much the error of a level that is not met may grow afterwards */
static const double SPARE = 0.1;    /* of a tolerance: by how much a residual may change that a level above has got */
static const double FINE = 1e-18;   /* error to which frames with criteria are met: 1e-9 radians or L */
static const double EXACT = 1e-24;  /* and frames of which errors add up */
static const double AT_GOAL = 1e-9; /* [rad, m] */

/* One frame: its bounds, and where things lie in the workspace. */
typedef struct tracking {
  const rk_track *track;
  rk_search search;
  rk_model box_model;        /* the support with the frame's bounds in place of the position limits */
  rk_ik box;
  rk_frame_bounds frame;     /* with the state's last configuration and step */
  double *goal, *pace;       /* [nq], [nv] of the state and of the frame */
  double *q;                 /* [nq] */
  double *goals;             /* [levels][nq] that meet the first levels without limits on speed */
  double *left, *kept, *kept_across; /* [rows], [tasks][2] twice: what levels above lack and keep */
  double *H, *g, *even, *none, *objective; /* [nv][nv], [nv] of the criteria, [nv][nv] the identity, [nv] zeros */
  double *pulled;            /* [nq] */
  int placed;                /* the tips are placed at the last configuration */
  int are_velocities;        /* all levels ask for nothing but velocities */
} tracking;

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

static void copy(double *to, const double *from, int64_t count) {
  for (int64_t k = 0; k < count; k++) to[k] = from[k];
}

static int is_equal(const double *a, const double *b, int64_t count) {
  for (int64_t k = 0; k < count; k++)
    if (a[k] != b[k]) return 0;
  return 1;
}

static void keep(const void *bounds, double *q) { rk_frame_bounds_keep(bounds, q); }

/* Steps from now on are inside the frame's bounds, or inside the position limits alone. */
static void stay(tracking *t, int inside) {
  rk_search *s = &t->search;
  s->ik = inside ? &t->box : t->track->ik;
  s->bounds = &t->frame;
  s->keep = inside && (t->track->curved || s->ik->n_bases > 0) ? keep : 0; /* else a step itself keeps inside */
}

/* One damped step; its error. */
static double advance_search(tracking *t, double E, int *met) {
  rk_search *s = &t->search;
  s->is_kept = 0;
  rk_search_step(s, E);
  s->iterations++;
  return rk_search_measure(s, met);
}

/* What is left of the errors of the levels that count, met or not. */
static double left_of(const rk_search *s) {
  double E = 0.0;
  for (int32_t k = 0; k < s->on; k++) E += s->level_error[k];
  return E;
}

static int has_best_met(const rk_search *s) {
  for (int32_t k = 0; k < s->on; k++)
    if (!s->best_level_met[k]) return 0;
  return 1;
}

static int is_exact(const rk_search *s) { return s->ik->stack && s->ik->stack->is_exact; }

static int is_velocity(const rk_search *s, int32_t level) {
  return s->ik->stack && s->ik->stack->kind[level] != RK_LEVEL_POSES;
}

static int are_met(const rk_search *s, int32_t levels) {
  for (int32_t k = 0; k < levels; k++)
    if (!s->level_met[k]) return 0;
  return 1;
}

/* Damped steps from `start` inside the frame's bounds, or inside the position limits alone, on the levels that count; 1 when
   these are met. One step at least, so that slow targets are followed smoothly and not in jerks of the size of the
   tolerance. */
static int descend(tracking *t, const double *start, int32_t steps, int inside) {
  rk_search *s = &t->search;
  double history[PATIENCE];
  int met;
  stay(t, inside);
  copy(s->q, start, s->ik->model->nq);
  if (inside) rk_frame_bounds_keep(&t->frame, s->q);
  const int placed = inside && t->placed && is_equal(s->q, start, s->ik->model->nq);
  double E = placed ? rk_search_compare(s, &met) : rk_search_measure(s, &met);
  rk_search_keep(s, E);
  for (int32_t count = 0; count < steps; count++) {
    history[count % PATIENCE] = is_exact(s) ? left_of(s) : E;
    E = advance_search(t, E, &met);
    if (rk_search_is_better(s, E, met)) rk_search_keep(s, E);
    const double left = left_of(s);
    if (met && left <= (is_exact(s) ? EXACT : s->preference.H ? FINE : __builtin_inf()))
      return 1; /* what criteria ask for bends the way */
    const int stalls = count + 1 >= PATIENCE && !((is_exact(s) ? left : E) < PROGRESS * history[(count + 1) % PATIENCE]);
    /* What is ahead on a way lessens no more, while it is still come back to. */
    if (stalls && !(s->on > 0 && is_velocity(s, s->on - 1) && !are_met(s, s->on - 1))) break;
  }
  return s->best_error < __builtin_inf() && has_best_met(s);
}

/* q = one frame on when every joint follows its goal time-optimally. */
static void follow(const tracking *t, const double *goal, double *q) {
  const rk_track *track = t->track;
  const rk_model *m = track->ik->model;
  rk_difference(m, 1, t->frame.last, goal, t->frame.way);
  rk_difference(m, 1, t->goal, goal, t->pace);
  for (int32_t k = 0; k < m->nv; k++) {
    const double largest = track->largest[k];
    const double pace = rk_min(rk_max(t->pace[k], -largest), largest);
    const double gap = t->frame.way[k] - pace;
    const double braked = rk_braking_step(__builtin_fabs(gap), track->change[k]);
    t->pace[k] = rk_min(rk_max(pace + (gap < 0.0 ? -braked : braked), t->frame.lo[k]), t->frame.hi[k]);
  }
  rk_integrate(m, 1, t->frame.last, t->pace, q);
  rk_frame_bounds_keep(&t->frame, q);
}

/* The state after the frame. */
static void advance(const tracking *t, const double *q, const double *goal) {
  const rk_model *m = t->track->ik->model;
  rk_difference(m, 1, t->frame.last, q, t->frame.step);
  copy(t->frame.last, q, m->nq);
  copy(t->goal, goal, m->nq);
}

/* From beside where the goal of the first level was looked for, which a straight limb only so comes away from; kept when it
   is met there. */
static int unbend(tracking *t) {
  rk_search *s = &t->search;
  const int32_t nq = s->ik->model->nq;
  copy(t->goals, s->best_q, nq);
  rk_search_nudge(s, t->frame.moved);
  copy(t->pulled, s->q, nq);
  if (descend(t, t->pulled, GOAL_STEPS, 0)) return 1;
  copy(s->best_q, t->goals, nq);
  s->is_kept = 0;
  return 0;
}

/* The goals of the first levels, each from the one before: configurations that meet them, or come as near as those above
   allow, without limits on speed. Returns how many levels are met from the first on. */
static int32_t find_goals(tracking *t) {
  const rk_ik *ik = t->track->ik;
  const int32_t nq = ik->model->nq;
  rk_search *s = &t->search;
  int32_t possible = 0;
  copy(t->frame.moved, t->goal, nq);
  for (int32_t k = 0; k < ik->n_bases; k++) { /* only from where they are the bases can roll */
    const rk_base *base = ik->bases + k;
    copy(t->frame.moved + base->q, t->frame.last + base->q, 3);
    for (int wheel = 0; wheel < 2; wheel++) t->frame.moved[base->wheel_q[wheel]] = t->frame.last[base->wheel_q[wheel]];
  }
  s->preference.H = 0;
  for (s->on = 1; s->on <= s->levels; s->on++) {
    stay(t, 0);
    int met = s->on == 1 && (descend(t, t->frame.moved, GOAL_STEPS, 0) || unbend(t));
    if (s->on > 1 && is_velocity(s, s->on - 1)) { /* as far as a way leads, and round its corners */
      copy(t->pulled, s->best_q, nq);
      met = descend(t, t->pulled, GOAL_STEPS, 0);
    }
    met = met || rk_search_settle(s, GOAL_STEPS, SETTLED);
    if (met && possible == s->on - 1) possible = s->on;
    copy(t->goals + (int64_t)(s->on - 1) * nq, s->best_q, nq);
  }
  s->on = s->levels;
  return possible;
}

/* Whether a goal is reached in this frame, at a speed that can be braked. `pulled` is where following it leads. */
static int is_reached(tracking *t, const double *goal) {
  const rk_model *m = t->track->ik->model;
  follow(t, goal, t->pulled);
  rk_difference(m, 1, goal, t->pulled, t->pace);
  for (int32_t k = 0; k < m->nv; k++)
    if (!(__builtin_fabs(t->pace[k]) <= AT_GOAL)) return 0;
  return 1;
}

/* Whether all levels are as they are at the best configuration, or better. */
static int is_as_good(const rk_search *s) {
  for (int32_t k = 0; k < s->levels; k++)
    if (!s->level_met[k] && (s->best_level_met[k] || s->level_error[k] > s->best_level_error[k] * (1.0 + KEPT))) return 0;
  return 1;
}

/* From the best configuration, which the levels have: as the criteria prefer it, while the levels keep what they have. */
static void prefer(tracking *t) {
  rk_search *s = &t->search;
  int met;
  stay(t, 1);
  for (int pass = 0; pass < 2; pass++) { /* then without criteria, for what their motion has bent */
    s->preference.H = pass ? 0 : t->H;
    const double E = advance_search(t, 0.0, &met);
    if (is_as_good(s)) {
      rk_search_keep(s, E);
      break;
    }
  }
}

/* Keeps what the tasks, and rows of the first `above` levels, lack at the configuration that was measured last. */
static void note(tracking *t, int32_t above) {
  const rk_stack *stack = t->search.ik->stack;
  const rk_step_data *data = stack->data;
  for (int32_t row = 0; row < data->start[above]; row++) t->left[row] = rk_clamp(0.0, data->low[row], data->high[row]);
  copy(t->kept, stack->residuals, 2 * (int64_t)stack->n_tasks);
  copy(t->kept_across, stack->across, 2 * (int64_t)stack->n_tasks);
}

/* Asks for what was noted, in place of what the tasks want. */
static void ask_for_noted(const tracking *t, int32_t above) {
  const rk_step_data *data = t->search.ik->stack->data;
  for (int32_t row = 0; row < data->start[above]; row++) data->low[row] -= t->left[row], data->high[row] -= t->left[row];
}

/* Whether the parts of a task are as they were noted, or better. */
static int is_kept(const double *tolerance, const double *noted, const double *own) {
  for (int part = 0; part < 2; part++)
    if (own[part] > tolerance[part] && own[part] > noted[part] + SPARE * tolerance[part]) return 0;
  return 1;
}

static int has_noted(const tracking *t, int32_t above) {
  const rk_stack *stack = t->search.ik->stack;
  for (int32_t task = 0; task < stack->n_tasks; task++) {
    const int64_t own = 2 * (int64_t)task;
    const int32_t way = stack->way[task];
    const double *tolerance = stack->tolerance + own;
    if (stack->level[task] < above && way >= 0 && !is_kept(tolerance, t->kept_across + own, stack->across + own)) return 0;
    if ((way < 0 ? stack->level[task] : way) < above && !is_kept(tolerance, t->kept + own, stack->residuals + own)) return 0;
  }
  return 1;
}

/* q, which has brought the first `above` levels as far as limits on speed allow, towards `pulled`, where every joint would
   follow its goal, or when the next level is of velocities to what it asks for, while these levels keep what they have. */
static void pull(tracking *t, int32_t above, double *q) {
  rk_search *s = &t->search;
  const int32_t nq = t->track->ik->model->nq;
  const int is_led = !is_velocity(s, above);
  int met;
  stay(t, 1);
  s->on = is_led ? above : above + 1;
  copy(s->q, q, nq);
  rk_search_measure(s, &met);
  note(t, above);
  for (int32_t k = 0; k < PULLS; k++) {
    s->preference = (rk_preference){k || !is_led ? 0 : t->even, t->none, t->pulled};
    ask_for_noted(t, above);
    s->is_kept = 0;
    rk_search_damped_step(s, -1.0);
    s->iterations++;
    rk_search_measure(s, &met);
    if (has_noted(t, above)) {
      copy(q, s->q, nq);
      break;
    }
  }
  s->preference.H = 0;
}

/* Whether a frame that ends at q leaves no more speed against that of the goal than one frame can brake: what is met so is
   not passed in the next one. */
static int is_brakeable(const tracking *t, const double *q, const double *goal) {
  const rk_model *m = t->track->ik->model;
  rk_difference(m, 1, t->frame.last, q, t->frame.way);
  rk_difference(m, 1, t->goal, goal, t->pace);
  for (int32_t k = 0; k < m->nv; k++)
    if (!(__builtin_fabs(t->frame.way[k] - t->pace[k]) <= t->track->change[k])) return 0;
  return 1;
}

/* q of a frame that is too fast: level by level as near as limits on speed allow, so that no level takes anything from those
   above it. */
static void hurry(tracking *t, int is_braking) {
  rk_search *s = &t->search;
  const int32_t nq = t->track->ik->model->nq;
  int in_time = 1;
  copy(t->q, t->frame.last, nq);
  for (int32_t k = 1; k <= s->levels; k++) {
    const double *goal = t->goals + (int64_t)(k - 1) * nq;
    s->on = k;
    s->preference.H = 0;
    const int moves = is_velocity(s, k - 1);
    const int is_tried = k == 1 && s->levels == 1 && !is_braking && !moves; /* above */
    if (in_time && !is_tried && descend(t, t->q, FRAME_STEPS, 1) &&
        (!is_braking || moves || is_brakeable(t, s->best_q, goal))) {
      copy(t->q, s->best_q, nq);
      continue;
    }
    if (moves) {
      if (in_time) {
        rk_search_settle(s, FRAME_STEPS, SETTLED);
        copy(t->q, s->best_q, nq);
      } else {
        pull(t, k - 1, t->q);
      }
      in_time = 0;
      continue;
    }
    const int reached = is_reached(t, goal);
    if (k == 1 || (in_time && reached))
      copy(t->q, t->pulled, nq);
    else
      pull(t, k - 1, t->q);
    in_time = in_time && reached;
  }
  s->on = s->levels;
}

/* The levels that are met from the first on, at the configuration that was measured last. */
static int32_t met_levels(const rk_search *s) {
  int32_t count = 0;
  while (count < s->levels && s->level_met[count]) count++;
  return count;
}

static void look(tracking *t, const double *q) {
  rk_search *s = &t->search;
  int met;
  stay(t, 1);
  copy(s->q, q, t->track->ik->model->nq);
  s->is_kept = 0;
  rk_search_keep(s, rk_search_measure(s, &met));
}

/* The best configuration with the first levels, which are met, as nearly met as they can be: what is below may stand elsewhere
   by their tolerances. */
static void restore(tracking *t, int32_t levels) {
  rk_search *s = &t->search;
  double before = 0.0, after = 0.0;
  int met;
  for (int32_t k = 0; k < levels; k++) before += s->level_error[k];
  stay(t, 1);
  s->preference.H = 0;
  s->on = levels;
  const double E = advance_search(t, 0.0, &met);
  for (int32_t k = 0; k < levels; k++) after += s->level_error[k];
  if (met && after <= before) rk_search_keep(s, E);
  s->on = s->levels;
}

/* Notes who does not get to a goal: of velocities inside the limits of this frame, else by following it. */
static void name(tracking *t, const double *goal, int of_velocities, const double *q, int8_t *behind) {
  const rk_model *m = t->track->ik->model;
  int any = 0;
  if (of_velocities) {
    copy(t->pulled, goal, m->nq);
    rk_frame_bounds_keep(&t->frame, t->pulled);
    rk_difference(m, 1, goal, t->pulled, t->pace);
  } else {
    is_reached(t, goal);
  }
  for (int32_t k = 0; k < m->nv; k++) any |= behind[k] = __builtin_fabs(t->pace[k]) > AT_GOAL;
  if (any) return;
  rk_difference(m, 1, t->frame.last, q, t->pace); /* of a way that comes back to where it was, who is as fast as may be */
  for (int32_t k = 0; k < m->nv; k++)
    behind[k] = t->pace[k] <= t->frame.lo[k] + AT_GOAL || t->pace[k] >= t->frame.hi[k] - AT_GOAL;
}

static void find_preference(tracking *t) {
  const rk_ik *ik = t->track->ik;
  rk_search *s = &t->search;
  s->preference = (rk_preference){0};
  if (!ik->stack || !ik->stack->n_criteria) return;
  copy(ik->stack->q, t->frame.last, ik->model->nq);
  for (int32_t k = 0; k < ik->model->nv; k++) ik->stack->previous[k] = t->frame.step[k] / ik->stack->step->dt;
  if (ik->stack->criteria) ik->stack->criteria(s->frame);
  rk_step_objective(ik->stack->step, ik->stack->data, t->objective, t->H, t->g);
  s->preference = (rk_preference){t->H, t->g, t->frame.last};
}

static int32_t frame(tracking *t, int is_still, double *late, double *residuals, int8_t *behind) {
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
  if (t->are_velocities) copy(t->goal, t->frame.last, m->nq);
  find_preference(t);
  const rk_preference preference = s->preference;
  /* What was not met at once is so by its goal again, until it is met. */
  if (!(is_braking || (was_late && s->levels > 1)) && descend(t, t->frame.last, FRAME_STEPS, 1)) {
    copy(residuals, s->best_residuals, 2 * (int64_t)s->tasks);
    copy(t->q, s->best_q, m->nq);
    advance(t, t->q, t->q);
    *late = 0.0;
    t->placed = 1;
    return RK_IK_CONVERGED;
  }
  t->placed = 0;
  /* What stands at its goal, for the same targets, stays there: searching on would only creep. */
  double *goal = t->goals + (int64_t)(s->levels - 1) * m->nq;
  copy(goal, t->goal, m->nq);
  const int stays = is_still && !(ik->stack && ik->stack->changes) && *late != 0.0 && is_equal(t->frame.last, t->goal, m->nq) && is_reached(t, goal);
  const int32_t possible = stays ? 0 : find_goals(t);
  const int reached = stays || is_reached(t, goal);
  if (reached && !t->are_velocities) /* a way is not cut short, wherever it leads */
    copy(t->q, t->pulled, m->nq);
  else
    hurry(t, is_braking);
  look(t, t->q);
  if ((reached || t->are_velocities) && preference.H) {
    s->preference = preference;
    prefer(t);
    look(t, s->best_q);
    copy(t->q, s->best_q, m->nq);
  }
  const int32_t found = met_levels(s);
  const int met = found == s->levels;
  const int is_late = !met && possible > found;
  if (!met && is_exact(s)) {
    restore(t, found);
    copy(t->q, s->best_q, m->nq);
  }
  t->placed = s->is_kept;
  copy(residuals, s->best_residuals, 2 * (int64_t)s->tasks);
  *late = met ? 0.0 : 1.0;
  if (is_late) {
    name(t, t->goals + (int64_t)found * m->nq, is_velocity(s, found), t->q, behind); /* of the first level that is lost */
    for (int32_t k = 0; k < ik->n_bases; k++)
      for (int j = 0; j < 3; j++) behind[ik->bases[k].v + j] = 0;
  }
  copy(t->frame.moved, met || reached ? t->q : goal, m->nq);
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
  tracking t = {.track = track, .frame.track = track, .search = rk_search_lay_out(ik, work), .box_model = *m, .box = *ik};
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
  for (int32_t k = 0; k < levels; k++) t.are_velocities &= is_velocity(&t.search, k);
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
    copy(q + i * nq, t.frame.last, nq);
  }
  return count;
}
