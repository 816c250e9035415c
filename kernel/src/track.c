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
static const double TIED = 1e-3;    /* relative: a goal for the same targets is better when its error is less by more */
static const double NEAR = 1e-2;    /* error of a level that may be met against those above: 0.14 radians or L */
static const double FINE = 1e-18;   /* error to which frames with criteria are met: 1e-9 radians or L */
static const double AT_GOAL = 1e-9; /* [rad, m] */
static const double IDLE = 1e-9;    /* of a row: what it hardly depends on */

/* One frame: its bounds, and where things lie in the workspace. */
typedef struct tracking {
  const rk_track *track;
  rk_search search;
  rk_model box_model;        /* the support with the frame's bounds in place of the position limits */
  rk_ik box;
  rk_frame_bounds frame;     /* with the state's last configuration and step */
  double *last_goals;        /* [levels][nq] of the state */
  double *pace;              /* [nv] of a goal */
  double *q;                 /* [nq] */
  double *goals;             /* [levels][nq] that meet the first levels without limits on speed */
  double *H, *g, *even, *objective; /* [nv][nv], [nv] of the criteria, [nv][nv] the identity */
  double *pulled;            /* [nq] */
  int32_t *busy;             /* [nv] of the search: columns of levels that are late */
  int placed;                /* the tips are placed at the last configuration */
} tracking;

int32_t rk_sizeof_track(void) { return (int32_t)sizeof(rk_track); }

int64_t rk_track_workspace(const rk_track *track) {
  const rk_ik *ik = track->ik;
  const int64_t nv = ik->model->nv, nq = ik->model->nq, levels = rk_stack_levels(ik);
  const int64_t own = ik->stack ? 2 * nv * nv + 2 * nv + rk_step_objective_workspace(ik->stack->step) : 0;
  return rk_ik_workspace(ik) + 5 * nv + (5 + levels) * nq + own;
}

static void copy(double *to, const double *from, int64_t count) {
  for (int64_t k = 0; k < count; k++) to[k] = from[k];
}

static int is_equal(const double *a, const double *b, int64_t count) {
  for (int64_t k = 0; k < count; k++)
    if (a[k] != b[k]) return 0;
  return 1;
}

static int is_zero(const double *a, int64_t count) {
  for (int64_t k = 0; k < count; k++)
    if (a[k] != 0.0) return 0;
  return 1;
}

/* One damped step inside the frame's bounds, or inside the position limits alone; its error. */
static double advance_search(tracking *t, double E, int inside, int *met) {
  rk_search *s = &t->search;
  s->is_kept = 0;
  rk_search_step(s, E);
  /* else the step has kept inside */
  if (inside && (t->track->curved || s->ik->n_bases > 0)) rk_frame_bounds_keep(&t->frame, s->q);
  s->iterations++;
  return rk_search_measure(s, met);
}

static void measure(tracking *t, const double *q) {
  rk_search *s = &t->search;
  int met;
  copy(s->q, q, t->track->ik->model->nq);
  s->is_kept = 0;
  rk_search_keep(s, rk_search_measure(s, &met));
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

/* Damped steps from `start` inside the frame's bounds, or inside the position limits alone, on the levels that count; 1 when
   these are met. One step at least, so that slow targets are followed smoothly and not in jerks of the size of the
   tolerance. */
static int descend(tracking *t, const double *start, int32_t steps, int inside) {
  rk_search *s = &t->search;
  double history[PATIENCE];
  int met;
  s->ik = inside ? &t->box : t->track->ik;
  copy(s->q, start, s->ik->model->nq);
  if (inside) rk_frame_bounds_keep(&t->frame, s->q);
  const int placed = inside && t->placed && is_equal(s->q, start, s->ik->model->nq);
  double E = placed ? rk_search_compare(s, &met) : rk_search_measure(s, &met);
  rk_search_keep(s, E);
  for (int32_t count = 0; count < steps; count++) {
    history[count % PATIENCE] = E;
    E = advance_search(t, E, inside, &met);
    if (rk_search_is_better(s, E, met)) rk_search_keep(s, E);
    if (met && (!s->preference.H || left_of(s) <= FINE)) return 1; /* what criteria ask for bends the way */
    if (count + 1 >= PATIENCE && !(E < PROGRESS * history[(count + 1) % PATIENCE])) break;
  }
  return s->best_error < __builtin_inf() && has_best_met(s);
}

/* q = one frame on when every joint follows the goal of a level time-optimally. */
static void follow(const tracking *t, int32_t level, double *q) {
  const rk_track *track = t->track;
  const rk_model *m = track->ik->model;
  const double *goal = t->goals + (int64_t)level * m->nq;
  rk_difference(m, 1, t->frame.last, goal, t->frame.way);
  rk_difference(m, 1, t->last_goals + (int64_t)level * m->nq, goal, t->pace);
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

/* The state after a frame that ends at q, which is the goal of the first `met` levels. */
static void advance(const tracking *t, const double *q, int32_t met) {
  const rk_model *m = t->track->ik->model;
  rk_difference(m, 1, t->frame.last, q, t->frame.step);
  copy(t->frame.last, q, m->nq);
  for (int64_t k = 0; k < t->search.levels; k++) copy(t->last_goals + k * m->nq, k < met ? q : t->goals + k * m->nq, m->nq);
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

/* moved = the last goal of a level, with the bases where they are: only from there they can roll. */
static void return_to_goal(const tracking *t, int32_t level) {
  const rk_ik *ik = t->track->ik;
  double *moved = t->frame.moved;
  copy(moved, t->last_goals + (int64_t)level * ik->model->nq, ik->model->nq);
  for (int32_t k = 0; k < ik->n_bases; k++) {
    const rk_base *base = ik->bases + k;
    copy(moved + base->q, t->frame.last + base->q, 3);
    for (int wheel = 0; wheel < 2; wheel++) moved[base->wheel_q[wheel]] = t->frame.last[base->wheel_q[wheel]];
  }
}

/* From the last goal of the last level that counts, if levels above can have there what they have at the best configuration,
   their goal; else from there. */
static void restore(tracking *t) {
  rk_search *s = &t->search;
  const int32_t nq = s->ik->model->nq;
  int met;
  if (is_equal(t->last_goals + (s->on - 1) * nq, t->last_goals + (s->on - 2) * nq, nq)) return;
  measure(t, t->goals + (int64_t)(s->on - 2) * nq);
  s->on--;
  rk_search_hold(s, s->on);
  copy(s->q, t->frame.moved, nq);
  s->is_kept = 0;
  rk_search_measure(s, &met);
  for (int32_t k = 0; k < GOAL_STEPS && !rk_search_holds(s); k++) advance_search(t, 0.0, 0, &met);
  if (rk_search_holds(s)) rk_search_keep(s, 0.0);
  s->on++;
  rk_search_hold(s, 0);
}

/* The last level that counts may be met where it is weighed against those above, which are met, when their rows leave it no way
   to first order. Kept when all of them are met. */
static int meet_as_one(tracking *t) {
  rk_search *s = &t->search;
  const int32_t nq = s->ik->model->nq;
  double *found = t->goals + (int64_t)(s->on - 1) * nq;
  if (s->best_level_error[s->on - 1] > NEAR) return 0;
  copy(found, s->best_q, nq);
  s->as_one = 1;
  const int met = descend(t, found, GOAL_STEPS, 0);
  s->as_one = 0;
  if (met) return 1;
  copy(s->best_q, found, nq);
  s->is_kept = 0;
  return 0;
}

/* The goals of the first levels: configurations that meet them, or come as near as those above allow, without limits on speed.
   Returns how many levels are met from the first on. is_same: the last goals are for these targets, and are only changed for
   better ones. */
static int32_t find_goals(tracking *t, int is_same) {
  const rk_ik *ik = t->track->ik;
  const int32_t nq = ik->model->nq;
  rk_search *s = &t->search;
  int32_t possible = 0;
  s->preference.H = 0;
  s->ik = ik;
  for (s->on = 1; s->on <= s->levels; s->on++) {
    const int32_t k = s->on - 1;
    double least = -1.0;
    return_to_goal(t, k);
    if (is_same) {
      measure(t, t->frame.moved);
      if (!s->level_met[k]) least = s->level_error[k] * (1.0 - TIED);
      copy(t->q, t->frame.moved, nq); /* a nudge overwrites it */
    }
    if (k > 0) {
      copy(s->best_q, t->goals + (int64_t)(k - 1) * nq, nq);
      s->is_kept = 0;
      restore(t);
    }
    const int met = (k == 0 && (descend(t, t->frame.moved, GOAL_STEPS, 0) || unbend(t))) ||
                    rk_search_settle(s, GOAL_STEPS, SETTLED) || (k > 0 && possible == k && meet_as_one(t));
    if (met && possible == k) possible = s->on;
    is_same = is_same && (least < 0.0 || !(s->best_level_met[k] || s->best_level_error[k] < least));
    if (is_same) measure(t, t->q);
    copy(t->goals + (int64_t)k * nq, s->best_q, nq);
  }
  s->on = s->levels;
  return possible;
}

/* Whether the goal of a level is reached in this frame, at a speed that can be braked. `pulled` is where following it leads. */
static int is_reached(tracking *t, int32_t level) {
  const rk_model *m = t->track->ik->model;
  follow(t, level, t->pulled);
  rk_difference(m, 1, t->goals + (int64_t)level * m->nq, t->pulled, t->pace);
  for (int32_t k = 0; k < m->nv; k++)
    if (!(__builtin_fabs(t->pace[k]) <= AT_GOAL)) return 0;
  return 1;
}

/* From the best configuration, which the levels have: as the criteria prefer it, while the levels keep what they have. */
static void prefer(tracking *t) {
  rk_search *s = &t->search;
  int met;
  s->ik = &t->box;
  rk_search_hold(s, s->levels);
  for (int pass = 0; pass < 2; pass++) { /* then without criteria, for what their motion has bent */
    s->preference.H = pass ? 0 : t->H;
    const double E = advance_search(t, 0.0, 1, &met);
    if (rk_search_holds(s)) {
      rk_search_keep(s, E);
      break;
    }
  }
  rk_search_hold(s, 0);
}

/* Whether a level needs a joint; after it was measured. */
static int needs(const tracking *t, int32_t level, int32_t column) {
  const rk_ik *ik = t->track->ik;
  const rk_step_data *data = ik->stack->data;
  for (int64_t row = data->start[level]; row < data->start[level + 1]; row++)
    if (__builtin_fabs(data->J[row * ik->model->nv + column]) > IDLE) return 1;
  return 0;
}

/* Joints that a level needs, which is late, are its own: levels below it wait for them, so that it is there as soon as it
   would be without those. So are those of a level above that has to give way to its motion. */
static void claim(tracking *t, int32_t level) {
  const rk_ik *ik = t->track->ik;
  const rk_model *m = ik->model;
  int32_t *busy = t->busy;
  for (int32_t own = level; own >= 0; own--) {
    int32_t gives_way = own == level;
    for (int32_t k = 0; k < m->nv && !gives_way; k++) gives_way = busy[k] && needs(t, own, k);
    for (int32_t k = 0; k < m->nv && gives_way; k++) busy[k] |= needs(t, own, k);
  }
  for (int32_t node = 0; node < m->n_nodes; node++) { /* what moves together */
    const int32_t first = m->iv[node], count = m->motion[node] == RK_FREE ? 6 : m->motion[node] == RK_BALL ? 3 : 1;
    int32_t any = 0;
    for (int32_t k = first; k < first + count; k++) any |= busy[k];
    for (int32_t k = first; k < first + count; k++) busy[k] = any;
  }
  for (int32_t k = 0; k < ik->n_bases; k++) {
    const rk_base *base = ik->bases + k;
    for (int wheel = 0; wheel < 2; wheel++)
      busy[base->wheel_v[wheel]] |= busy[base->v] | busy[base->v + 1] | busy[base->v + 2];
  }
}

/* q, which has brought the first `above` levels as far as limits on speed allow, towards `pulled`, where every joint would
   follow its goal, while these levels keep what they have. It is what was measured last. */
static void pull(tracking *t, int32_t above, double *q) {
  rk_search *s = &t->search;
  const int32_t nq = t->track->ik->model->nq;
  int met;
  s->ik = &t->box;
  s->on = above;
  rk_search_hold(s, above);
  s->busy = t->busy;
  for (int32_t i = 0; i < t->track->ik->model->nv; i++) t->g[i] = 0.0;
  for (int32_t k = 0; k < PULLS; k++) {
    s->preference = (rk_preference){k ? 0 : t->even, t->g, t->pulled};
    advance_search(t, 0.0, 1, &met);
    if (rk_search_holds(s)) {
      copy(q, s->q, nq);
      break;
    }
  }
  s->preference.H = 0;
  s->busy = 0;
  rk_search_hold(s, 0);
}

/* Whether a frame that ends at q leaves no more speed against that of the goal than one frame can brake: what is met so is
   not passed in the next one. */
static int is_brakeable(const tracking *t, const double *q, int32_t level) {
  const rk_model *m = t->track->ik->model;
  const int64_t at = (int64_t)level * m->nq;
  rk_difference(m, 1, t->frame.last, q, t->frame.way);
  rk_difference(m, 1, t->last_goals + at, t->goals + at, t->pace);
  for (int32_t k = 0; k < m->nv; k++)
    if (!(__builtin_fabs(t->frame.way[k] - t->pace[k]) <= t->track->change[k])) return 0;
  return 1;
}

/* How many levels, of the first `most`, can be met at once. Those are met at q. */
static int32_t meet_at_once(tracking *t, int32_t most, double *q) {
  rk_search *s = &t->search;
  for (s->on = most; s->on > 0; s->on--)
    if (descend(t, t->frame.last, FRAME_STEPS, 1)) {
      copy(q, s->best_q, t->track->ik->model->nq);
      break;
    }
  return s->on;
}

/* q of a frame whose levels cannot all be met at once: level by level, so that each one gets what it gets without those below
   it. 1 when it is the goal of the last one. at_once: how many of them may be met at once; unbraked: how many may be met at any speed. */
static int hurry(tracking *t, int32_t at_once, int32_t unbraked) {
  rk_search *s = &t->search;
  const int32_t nq = t->track->ik->model->nq;
  int in_time = 1, at_goal = 0;
  s->preference.H = 0;
  copy(t->q, t->frame.last, nq);
  for (int32_t k = 0; t->busy && k < t->track->ik->model->nv; k++) t->busy[k] = 0;
  for (int32_t k = meet_at_once(t, at_once, t->q) + 1; k <= s->levels; k++) {
    const int is_braking = k > unbraked;
    int is_kept = 1, is_met = 1; /* what levels above have */
    at_goal = is_reached(t, k - 1) && in_time;
    s->on = k;
    measure(t, t->q);
    for (int32_t i = 0; i + 1 < k; i++) is_met = is_met && s->level_met[i];
    if (k > 1 && at_goal) {
      rk_search_hold(s, k - 1);
      measure(t, t->pulled);
      is_kept = rk_search_holds(s);
      rk_search_hold(s, 0);
    }
    at_goal = at_goal && is_kept;
    if (at_goal) {
      copy(t->q, t->pulled, nq);
    } else if (in_time && is_met && (k > 1 || is_braking) && descend(t, t->q, FRAME_STEPS, 1) &&
               (!is_braking || is_brakeable(t, s->best_q, k - 1))) {
      copy(t->q, s->best_q, nq);
    } else {
      in_time = 0;
      measure(t, t->q);
      if (k == 1)
        copy(t->q, t->pulled, nq);
      else
        pull(t, k - 1, t->q);
      measure(t, t->q);
      if (k < s->levels) claim(t, k - 1);
    }
  }
  s->on = s->levels;
  return at_goal;
}

/* The levels that are met from the first on, at the configuration that was measured last. */
static int32_t met_levels(const rk_search *s) {
  int32_t count = 0;
  while (count < s->levels && s->level_met[count]) count++;
  return count;
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
  const int32_t met_before = s->levels - (int32_t)*late, unbraked = track->braked ? met_before : s->levels;
  s->iterations = 0;
  s->on = s->levels;
  rk_frame_bounds_find(&t->frame);
  find_preference(t);
  const rk_preference preference = s->preference;
  /* What was not met at once is so by its goal again, until it is met; a first level that need not brake is met as it can. */
  const int32_t most = met_before == 0 && unbraked > 0 ? 1 : met_before;
  /* What stands where all is met, for the same targets, stays there too. */
  if (is_still && *late == 0.0 && !preference.H && is_zero(t->frame.step, m->nv)) {
    measure(t, t->frame.last);
    copy(residuals, s->best_residuals, 2 * (int64_t)s->tasks);
    return RK_IK_CONVERGED;
  }
  if (most == s->levels && descend(t, t->frame.last, FRAME_STEPS, 1)) {
    copy(residuals, s->best_residuals, 2 * (int64_t)s->tasks);
    copy(t->q, s->best_q, m->nq);
    advance(t, t->q, s->levels);
    *late = 0.0;
    t->placed = 1;
    return RK_IK_CONVERGED;
  }
  t->placed = 0;
  s->is_exact = 1;
  /* What stands at its goal, for the same targets, stays there: searching on would only creep. */
  double *goal = t->goals + (int64_t)(s->levels - 1) * m->nq;
  copy(goal, t->last_goals + (int64_t)(s->levels - 1) * m->nq, m->nq);
  const int stays = is_still && *late != 0.0 && is_equal(t->frame.last, goal, m->nq) && is_reached(t, s->levels - 1);
  const int32_t possible = stays ? 0 : find_goals(t, is_still && *late != 0.0);
  /* all of them may have been tried above, though maybe not exactly, or not without criteria */
  const int32_t is_tried = most == s->levels && ik->stack && !preference.H;
  int reached = stays;
  if (stays)
    copy(t->q, t->pulled, m->nq);
  else
    reached = hurry(t, most - is_tried, unbraked);
  measure(t, t->q);
  if (reached && preference.H) {
    s->preference = preference;
    prefer(t);
    measure(t, s->best_q);
    copy(t->q, s->best_q, m->nq);
  }
  t->placed = 1;
  s->is_exact = 0;
  copy(residuals, s->best_residuals, 2 * (int64_t)s->tasks);
  const int32_t found = met_levels(s);
  const int met = found == s->levels;
  const int is_late = !met && possible > found;
  *late = s->levels - found;
  if (is_late) {
    /* Who does not get to the goal of the first level that is lost. */
    is_reached(t, found);
    for (int32_t k = 0; k < m->nv; k++) behind[k] = __builtin_fabs(t->pace[k]) > AT_GOAL;
    for (int32_t k = 0; k < ik->n_bases; k++)
      for (int j = 0; j < 3; j++) behind[ik->bases[k].v + j] = 0;
  }
  advance(t, t->q, reached ? s->levels : found);
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
    t.busy = (int32_t *)(t.goals + levels * nq);
    t.H = t.goals + levels * nq + nv;
    t.even = t.H + nv * nv, t.g = t.even + nv * nv, t.objective = t.g + nv;
    for (int64_t k = 0; k < nv * nv; k++) t.even[k] = k % (nv + 1) == 0;
  }
  t.frame.last = state, t.last_goals = state + nq, t.frame.step = state + (1 + levels) * nq;
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
    codes[i] = frame(&t, still && still[i], t.frame.step + nv, residuals + 2 * i * t.search.tasks, behind + i * nv);
    iterations[i] = t.search.iterations;
    copy(q + i * nq, t.frame.last, nq);
  }
  return count;
}
