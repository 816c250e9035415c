/* Tracking, twin of solvers/tracking_reference.py, which explains it; viability bounds as in solvers/viability.py. */
#include "robokin_track.h"

#include "coupled.h"
#include "criteria.h"
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
static const double AT_GOAL = 1e-9; /* [rad, m] */

/* One frame: its bounds, and where things lie in the workspace. */
typedef struct tracking {
  const rk_track *track;
  rk_search search;
  rk_model box_model;        /* the support with the frame's bounds in place of the position limits */
  rk_ik box;
  double *last, *goal, *step; /* the state */
  double *lo, *hi;           /* [nv] viable steps */
  double *way, *pace;        /* [nv] */
  double *lower, *upper;     /* [nq] of the box */
  double *q, *moved;         /* [nq] */
  double *goals;             /* [levels][nq] that meet the first levels without limits on speed */
  double *left, *kept;       /* [rows], [tasks][2] what levels above lack and keep */
  double *H, *g, *even, *objective; /* [nv][nv], [nv] of the criteria, [nv][nv] the identity */
  double *pulled;            /* [nq] */
  int placed;                /* the tips are placed at the last configuration */
} tracking;

int32_t rk_sizeof_track(void) { return (int32_t)sizeof(rk_track); }

static int32_t rows_of(const rk_ik *ik) { return ik->stack ? ik->stack->data->start[ik->stack->data->levels] : 0; }

int64_t rk_track_workspace(const rk_track *track) {
  const rk_ik *ik = track->ik;
  const int64_t nv = ik->model->nv, nq = ik->model->nq, levels = rk_stack_levels(ik);
  const int64_t own = ik->stack ? rows_of(ik) + 2 * ik->stack->n_tasks + 2 * nv * nv + 2 * nv +
                                      rk_step_objective_workspace(ik->stack->step)
                                : 0;
  return rk_ik_workspace(ik) + 4 * nv + (5 + levels) * nq + own;
}

static double smaller(double a, double b) { return a < b ? a : b; }

static double larger(double a, double b) { return a > b ? a : b; }

static double magnitude(double x) { return x < 0.0 ? -x : x; }

static void copy(double *to, const double *from, int64_t count) {
  for (int64_t k = 0; k < count; k++) to[k] = from[k];
}

static int is_equal(const double *a, const double *b, int64_t count) {
  for (int64_t k = 0; k < count; k++)
    if (a[k] != b[k]) return 0;
  return 1;
}

/* The viable steps, and the box of coordinates that they allow. */
static void bounds(tracking *t) {
  const rk_track *track = t->track;
  const rk_model *m = track->ik->model;
  copy(t->lower, m->lower, m->nq);
  copy(t->upper, m->upper, m->nq);
  for (int32_t k = 0; k < m->nv; k++) {
    const int32_t i = track->coordinate[k];
    const double position = i >= 0 ? t->last[i] : 0.0, largest = track->largest[k], change = track->change[k];
    rk_viable_step(t->step[k], position - track->lower[k], track->upper[k] - position, largest, change, t->lo + k,
                   t->hi + k);
    if (i >= 0) {
      t->lower[i] = larger(m->lower[i], t->last[i] + t->lo[k]);
      t->upper[i] = larger(t->lower[i], smaller(m->upper[i], t->last[i] + t->hi[k]));
    }
  }
}

/* Shortens the way of floating joints that leads out of their position bounds: slower, in the same direction. */
static void stop_at_bounds(const rk_model *m, const double *last, double *moved) {
  for (int32_t node = 0; node < m->n_nodes; node++) {
    if (m->motion[node] != RK_FREE) continue;
    const int32_t iq = m->iq[node];
    double share = 1.0;
    for (int32_t i = iq; i < iq + 3; i++) {
      const double way = moved[i] - last[i];
      if (way != 0.0) share = smaller(share, ((way < 0.0 ? m->lower[i] : m->upper[i]) - last[i]) / way);
    }
    if (share < 1.0)
      for (int32_t i = iq; i < iq + 3; i++) moved[i] = last[i] + share * (moved[i] - last[i]);
  }
}

static int is_limited(const double *values, int count) {
  for (int k = 0; k < count; k++)
    if (values[k] < __builtin_inf()) return 1;
  return 0;
}

/* Balls in their cones, bases where their wheels have rolled them. */
static void couple(const tracking *t, double *q) {
  const rk_track *track = t->track;
  const rk_ik *ik = track->ik;
  for (int32_t k = 0; k < ik->n_cones; k++) {
    const rk_cone *cone = ik->cones + k;
    const int32_t v = cone->v;
    if (is_limited(track->largest + v, 3) || is_limited(track->change + v, 3))
      rk_ball_within(cone, t->last + cone->q, t->step + v, t->lo + v, t->hi + v, track->change + v, q + cone->q);
  }
  for (int32_t k = 0; k < ik->n_bases; k++) {
    const rk_base *base = ik->bases + k;
    double turned[2], previous[2], change[2];
    for (int wheel = 0; wheel < 2; wheel++) {
      turned[wheel] = q[base->wheel_q[wheel]] - t->last[base->wheel_q[wheel]];
      previous[wheel] = t->step[base->wheel_v[wheel]];
      change[wheel] = track->change[base->wheel_v[wheel]];
    }
    rk_base_within(base, t->last + base->q, previous, change, ik->model->lower + base->q, ik->model->upper + base->q,
                   track->largest + base->v, turned);
    for (int wheel = 0; wheel < 2; wheel++)
      q[base->wheel_q[wheel]] = t->last[base->wheel_q[wheel]] + turned[wheel];
  }
  rk_roll_bases(ik, t->last, q);
}

/* q into the box, and its step from the last configuration into the viable steps. */
static void keep_within(const tracking *t, double *q) {
  const rk_track *track = t->track;
  const rk_model *m = track->ik->model;
  if (track->curved) {
    rk_difference(m, 1, t->last, q, t->way);
    for (int32_t k = 0; k < m->nv; k++) t->way[k] = smaller(larger(t->way[k], t->lo[k]), t->hi[k]);
    rk_integrate(m, 1, t->last, t->way, t->moved);
    stop_at_bounds(m, t->last, t->moved);
    for (int32_t k = 0; k < m->nv; k++)
      if (track->coordinate[k] >= 0) t->moved[track->coordinate[k]] = q[track->coordinate[k]];
    copy(q, t->moved, m->nq);
  }
  for (int32_t i = 0; i < m->nq; i++) q[i] = smaller(larger(q[i], t->lower[i]), t->upper[i]);
  couple(t, q);
}

/* One damped step inside the frame's bounds, or inside the position limits alone; its error. */
static double advance_search(tracking *t, double E, int inside, int *met) {
  rk_search *s = &t->search;
  s->is_kept = 0;
  rk_search_step(s, E);
  if (inside && (t->track->curved || s->ik->n_bases > 0)) keep_within(t, s->q); /* else the step has kept inside */
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

/* Damped steps from `start` inside the frame's bounds, or inside the position limits alone, on the levels that count; 1 when
   these are met. One step at least, so that slow targets are followed smoothly and not in jerks of the size of the
   tolerance. */
static int descend(tracking *t, const double *start, int32_t steps, int inside) {
  rk_search *s = &t->search;
  double history[PATIENCE];
  int met;
  s->ik = inside ? &t->box : t->track->ik;
  copy(s->q, start, s->ik->model->nq);
  if (inside) keep_within(t, s->q);
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

/* q = one frame on when every joint follows its goal time-optimally. */
static void follow(const tracking *t, const double *goal, double *q) {
  const rk_track *track = t->track;
  const rk_model *m = track->ik->model;
  rk_difference(m, 1, t->last, goal, t->way);
  rk_difference(m, 1, t->goal, goal, t->pace);
  for (int32_t k = 0; k < m->nv; k++) {
    const double largest = track->largest[k];
    const double pace = smaller(larger(t->pace[k], -largest), largest);
    const double gap = t->way[k] - pace;
    const double braked = rk_braking_step(magnitude(gap), track->change[k]);
    t->pace[k] = smaller(larger(pace + (gap < 0.0 ? -braked : braked), t->lo[k]), t->hi[k]);
  }
  rk_integrate(m, 1, t->last, t->pace, q);
  keep_within(t, q);
}

/* The state after the frame. */
static void advance(const tracking *t, const double *q, const double *goal) {
  const rk_model *m = t->track->ik->model;
  rk_difference(m, 1, t->last, q, t->step);
  copy(t->last, q, m->nq);
  copy(t->goal, goal, m->nq);
}

/* From beside where the goal of the first level was looked for, which a straight limb only so comes away from; kept when it
   is met there. */
static int unbend(tracking *t) {
  rk_search *s = &t->search;
  const int32_t nq = s->ik->model->nq;
  copy(t->goals, s->best_q, nq);
  rk_search_nudge(s, t->moved);
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
  copy(t->moved, t->goal, nq);
  for (int32_t k = 0; k < ik->n_bases; k++) { /* only from where they are the bases can roll */
    const rk_base *base = ik->bases + k;
    copy(t->moved + base->q, t->last + base->q, 3);
    for (int wheel = 0; wheel < 2; wheel++) t->moved[base->wheel_q[wheel]] = t->last[base->wheel_q[wheel]];
  }
  s->preference.H = 0;
  for (s->on = 1; s->on <= s->levels; s->on++) {
    s->ik = ik;
    const int met = (s->on == 1 && (descend(t, t->moved, GOAL_STEPS, 0) || unbend(t))) ||
                    rk_search_settle(s, GOAL_STEPS, SETTLED);
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
    if (!(magnitude(t->pace[k]) <= AT_GOAL)) return 0;
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
  s->ik = &t->box;
  for (int pass = 0; pass < 2; pass++) { /* then without criteria, for what their motion has bent */
    s->preference.H = pass ? 0 : t->H;
    const double E = advance_search(t, 0.0, 1, &met);
    if (is_as_good(s)) {
      rk_search_keep(s, E);
      break;
    }
  }
}

/* Keeps what the tasks of the levels that count, and rows of theirs, lack at the configuration that was measured last. */
static void note(tracking *t) {
  const rk_search *s = &t->search;
  const rk_step_data *data = s->ik->stack->data;
  for (int32_t row = 0; row < data->start[s->on]; row++) t->left[row] = rk_clamp(0.0, data->low[row], data->high[row]);
  copy(t->kept, s->residuals, 2 * (int64_t)s->tasks);
}

/* Asks for what was noted, in place of what the tasks want. */
static void ask_for_noted(const tracking *t) {
  const rk_search *s = &t->search;
  const rk_step_data *data = s->ik->stack->data;
  for (int32_t row = 0; row < data->start[s->on]; row++) data->low[row] -= t->left[row], data->high[row] -= t->left[row];
}

static int has_noted(const tracking *t) {
  const rk_search *s = &t->search;
  const rk_stack *stack = s->ik->stack;
  for (int32_t task = 0; task < stack->n_tasks; task++)
    for (int part = 0; stack->level[task] < s->on && part < 2; part++) {
      const double tolerance = stack->tolerance[2 * task + part], own = s->residuals[2 * task + part];
      if (own > tolerance && own > t->kept[2 * task + part] + SPARE * tolerance) return 0;
    }
  return 1;
}

/* q, which has brought the first `above` levels as far as limits on speed allow, towards `pulled`, where every joint would
   follow its goal, while these levels keep what they have. */
static void pull(tracking *t, int32_t above, double *q) {
  rk_search *s = &t->search;
  const int32_t nq = t->track->ik->model->nq;
  int met;
  s->ik = &t->box;
  s->on = above;
  copy(s->q, q, nq);
  rk_search_measure(s, &met);
  note(t);
  for (int32_t k = 0; k < PULLS; k++) {
    s->preference = (rk_preference){k ? 0 : t->even, t->g, t->pulled};
    if (!k)
      for (int32_t i = 0; i < t->track->ik->model->nv; i++) t->g[i] = 0.0;
    ask_for_noted(t);
    s->is_kept = 0;
    rk_search_damped_step(s, -1.0);
    keep_within(t, s->q);
    s->iterations++;
    rk_search_measure(s, &met);
    if (has_noted(t)) {
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
  rk_difference(m, 1, t->last, q, t->way);
  rk_difference(m, 1, t->goal, goal, t->pace);
  for (int32_t k = 0; k < m->nv; k++)
    if (!(magnitude(t->way[k] - t->pace[k]) <= t->track->change[k])) return 0;
  return 1;
}

/* q of a frame that is too fast: level by level as near as limits on speed allow, so that no level takes anything from those
   above it. */
static void hurry(tracking *t, int is_braking) {
  rk_search *s = &t->search;
  const int32_t nq = t->track->ik->model->nq;
  int in_time = 1;
  copy(t->q, t->last, nq);
  for (int32_t k = 1; k <= s->levels; k++) {
    const double *goal = t->goals + (int64_t)(k - 1) * nq;
    s->on = k;
    s->preference.H = 0;
    const int is_tried = k == 1 && s->levels == 1 && !is_braking; /* above */
    if (in_time && !is_tried && descend(t, t->q, FRAME_STEPS, 1) && (!is_braking || is_brakeable(t, s->best_q, goal))) {
      copy(t->q, s->best_q, nq);
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
  copy(s->q, q, t->track->ik->model->nq);
  s->is_kept = 0;
  rk_search_keep(s, rk_search_measure(s, &met));
}

static void find_preference(tracking *t) {
  const rk_ik *ik = t->track->ik;
  rk_search *s = &t->search;
  s->preference = (rk_preference){0};
  if (!ik->stack || !ik->stack->n_criteria) return;
  copy(ik->stack->q, t->last, ik->model->nq);
  for (int32_t k = 0; k < ik->model->nv; k++) ik->stack->previous[k] = t->step[k] / ik->stack->step->dt;
  if (ik->stack->criteria) ik->stack->criteria(s->frame);
  rk_step_objective(ik->stack->step, ik->stack->data, t->objective, t->H, t->g);
  s->preference = (rk_preference){t->H, t->g, t->last};
}

static int32_t frame(tracking *t, int is_still, double *late, double *residuals, int8_t *behind) {
  const rk_track *track = t->track;
  const rk_ik *ik = track->ik;
  const rk_model *m = ik->model;
  rk_search *s = &t->search;
  const int is_braking = *late != 0.0 && track->braked;
  s->iterations = 0;
  s->on = s->levels;
  bounds(t);
  find_preference(t);
  const rk_preference preference = s->preference;
  /* What was not met at once is so by its goal again, until it is met. */
  if (!(is_braking || (*late != 0.0 && s->levels > 1)) && descend(t, t->last, FRAME_STEPS, 1)) {
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
  const int stays = is_still && *late != 0.0 && is_equal(t->last, t->goal, m->nq) && is_reached(t, goal);
  const int32_t possible = stays ? 0 : find_goals(t);
  const int reached = stays || is_reached(t, goal);
  if (reached)
    copy(t->q, t->pulled, m->nq);
  else
    hurry(t, is_braking);
  look(t, t->q);
  if (reached && preference.H) {
    s->preference = preference;
    prefer(t);
    look(t, s->best_q);
    copy(t->q, s->best_q, m->nq);
  }
  t->placed = 1;
  copy(residuals, s->best_residuals, 2 * (int64_t)s->tasks);
  const int32_t found = met_levels(s);
  const int met = found == s->levels;
  const int is_late = !met && possible > found;
  *late = met ? 0.0 : 1.0;
  if (is_late) {
    /* Who does not get to the goal of the first level that is lost. */
    is_reached(t, t->goals + (int64_t)found * m->nq);
    for (int32_t k = 0; k < m->nv; k++) behind[k] = magnitude(t->pace[k]) > AT_GOAL;
    for (int32_t k = 0; k < ik->n_bases; k++)
      for (int j = 0; j < 3; j++) behind[ik->bases[k].v + j] = 0;
  }
  copy(t->moved, met || reached ? t->q : goal, m->nq);
  advance(t, t->q, t->moved);
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
  tracking t = {.track = track, .search = rk_search_lay_out(ik, work), .box_model = *m, .box = *ik};
  work += rk_ik_workspace(ik);
  t.lo = work, t.hi = t.lo + nv, t.way = t.hi + nv, t.pace = t.way + nv;
  t.lower = t.pace + nv, t.upper = t.lower + nq, t.q = t.upper + nq, t.moved = t.q + nq, t.pulled = t.moved + nq;
  t.goals = t.pulled + nq;
  if (ik->stack) {
    t.left = t.goals + levels * nq, t.kept = t.left + rows_of(ik), t.H = t.kept + 2 * ik->stack->n_tasks;
    t.even = t.H + nv * nv, t.g = t.even + nv * nv, t.objective = t.g + nv;
    for (int64_t k = 0; k < nv * nv; k++) t.even[k] = k % (nv + 1) == 0;
  }
  t.last = state, t.goal = state + nq, t.step = state + 2 * nq;
  t.box_model.lower = t.lower, t.box_model.upper = t.upper;
  t.box.model = &t.box_model;
  t.search.rolled_from = t.last;
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
    copy(q + i * nq, t.last, nq);
  }
  return count;
}
