/* The goals of a frame, one of each level: where it would be if it had the time. Twin of `Frame.goals` in
   solvers/tracking/reference/goals.py. */
#include "limits/rolling.h"
#include "track/tracking.h"

static const double TIED = 1e-3; /* relative: a goal for the same targets is better when its error is less by more */
static const double NEAR = 1e-2; /* error of a level that is nearly met: 0.14 radians or L */
enum { ASIDES = 16 };             /* how often a first level is looked for around a singular pose */
static const double FAR = 2.0;   /* how far away [rad, m] */
static const double PI = 3.14159265358979323846;
static const double STILL = 1e-9; /* [rad, m] what a descent moved by no more was not moved */

/* From beside where the goal of the last level that counts was looked for, which a straight limb only so comes away from; kept
   when all of them are met there. */
static int unbend(rk_tracking *t) {
  rk_search *s = &t->search;
  const int32_t nq = s->ik->model->nq;
  double *found = t->goals + (int64_t)(s->on - 1) * nq;
  rk_copy(found, s->best_q, nq);
  rk_search_nudge(s, t->frame.moved);
  rk_copy(t->pulled, s->q, nq);
  if (rk_tracking_descend(t, t->pulled, RK_GOAL_STEPS, 0)) return 1;
  rk_tracking_look(t, found);
  return 0;
}

/* Wheels of q on the first of the arcs to where their bases are in q, turned by half a circle at most. 0 where limits do not let
   them. */
static int take_first_arc(const rk_tracking *t, double *q) {
  const rk_ik *ik = t->track->ik;
  for (int32_t k = 0; k < ik->n_bases; k++) {
    const rk_base *base = ik->bases + k;
    double turned[2], whole[2], near = q[base->q + 2];
    const int32_t angle = base->q + 2;
    while (near > t->frame.last[angle] + PI) near -= 2.0 * PI;
    while (near < t->frame.last[angle] - PI) near += 2.0 * PI;
    if (near >= ik->model->lower[angle] && near <= ik->model->upper[angle]) q[angle] = near;
    if (!rk_drive(base, t->frame.last, q, ik->model->lower, ik->model->upper, turned, whole)) return 0;
    for (int i = 0; i < 2; i++) q[base->wheel_q[i]] = t->frame.last[base->wheel_q[i]] + turned[i];
  }
  return 1;
}

void rk_tracking_return_to_goal(const rk_tracking *t, int32_t level) {
  const rk_ik *ik = t->track->ik;
  double *moved = t->frame.moved;
  rk_copy(moved, rk_last_goal(t, level), ik->model->nq);
  if (rk_progress_of(t, level)->by_arcs && take_first_arc(t, moved)) return;
  for (int32_t k = 0; k < ik->n_bases; k++) {
    const rk_base *base = ik->bases + k;
    double turned[2];
    for (int wheel = 0; wheel < 2; wheel++) turned[wheel] = moved[base->wheel_q[wheel]] - t->frame.last[base->wheel_q[wheel]];
    rk_roll(base, t->frame.last + base->q, turned, moved + base->q);
  }
}

/* Whether wheels say where a coordinate is. */
static int is_rolled(const rk_ik *ik, int32_t i) {
  for (int32_t k = 0; k < ik->n_bases; k++) {
    const rk_base *base = ik->bases + k;
    if ((i >= base->q && i < base->q + 3) || i == base->wheel_q[0] || i == base->wheel_q[1]) return 1;
  }
  return 0;
}

/* began = the best configuration, but what the descent that began there has not moved is as in `start`: a level does not take
   along what it does not need. How far the rest is from `start`. */
static double put_back(const rk_tracking *t, const double *start, double *began) {
  const rk_model *m = t->track->ik->model;
  const double *found = t->search.best_q;
  double far = 0.0;
  for (int32_t node = 0; node < m->n_nodes; node++) {
    const int32_t first = m->iq[node], end = first + (m->motion[node] == RK_BALL ? 4 : m->motion[node] == RK_FREE ? 7 : 1);
    int moved = is_rolled(t->track->ik, first);
    for (int32_t i = first; i < end; i++) moved |= !(__builtin_fabs(found[i] - began[i]) <= STILL);
    for (int32_t i = first; i < end; i++) {
      began[i] = moved ? found[i] : start[i];
      far = rk_max(far, __builtin_fabs(began[i] - start[i]));
    }
  }
  return far;
}

/* The first level, which is nearly met, from around its last goal. A singular pose is left in a direction that it has not, by
   motions within it that make another one of it: to first order they do not help. Kept is the nearest that is met, if it is not
   far. */
static int turn_aside(rk_tracking *t) {
  rk_search *s = &t->search;
  const int32_t nq = s->ik->model->nq;
  double *start = t->frame.moved, *nearest = t->goals, least = FAR;
  if (s->best_level_error[0] > NEAR) return 0;
  rk_copy(nearest, s->best_q, nq);
  rk_tracking_return_to_goal(t, 0);
  for (int32_t k = 0; k < ASIDES; k++) {
    rk_search_aside(s, start, k);
    rk_copy(t->pulled, s->q, nq);
    if (!rk_tracking_descend(t, t->pulled, RK_GOAL_STEPS, 0)) continue;
    const double far = put_back(t, start, t->pulled);
    if (far >= least) continue;
    rk_copy(nearest, s->best_q, nq);
    least = far;
    rk_tracking_look(t, t->pulled);
    if (s->level_met[0]) rk_copy(nearest, t->pulled, nq);
  }
  rk_tracking_look(t, nearest);
  return least < FAR;
}

/* The first level, which comes no nearer than at its last goal: from beside there down to a minimum, as a straight limb that
   points away turns round only so. Kept when it is notably nearer. Bases that roll cannot be put beside where they are.
   before: its error at the last goal. */
static int turn_round(rk_tracking *t, double before) {
  rk_search *s = &t->search;
  const double least = s->best_level_error[0] * (1.0 - TIED);
  if (s->ik->n_bases || s->best_level_error[0] < before * (1.0 - TIED)) return 0;
  rk_copy(t->goals, s->best_q, s->ik->model->nq);
  rk_search_nudge(s, t->goals);
  rk_tracking_look(t, s->q);
  const int met = rk_search_settle(s, RK_SETTLING_STEPS, RK_SETTLED);
  if (!met && !(s->best_level_error[0] < least)) rk_tracking_look(t, t->goals);
  return met;
}

/* From the last goal of the last level that counts, if levels above can have there what they have at the best configuration,
   their goal; else from there. */
static void restore(rk_tracking *t) {
  rk_search *s = &t->search;
  const int32_t nq = s->ik->model->nq;
  int met;
  if (rk_is_equal(rk_last_goal(t, s->on - 1), rk_last_goal(t, s->on - 2), nq)) return;
  rk_tracking_look(t, t->goals + (int64_t)(s->on - 2) * nq);
  s->on--;
  rk_search_hold(s, s->on);
  rk_copy(s->q, t->frame.moved, nq);
  s->is_kept = 0;
  rk_search_measure(s, &met);
  for (int32_t k = 0; k < RK_GOAL_STEPS && !rk_search_holds(s); k++) rk_tracking_step(t, 0.0, &met);
  if (rk_search_holds(s)) rk_search_keep(s, 0.0);
  s->on++;
  rk_search_hold(s, 0);
}

/* The last level that counts may be met where it is weighed against those above, which are met, when their rows leave it no way
   to first order. Kept when all of them are met. */
static int meet_as_one(rk_tracking *t) {
  rk_search *s = &t->search;
  const int32_t nq = s->ik->model->nq;
  double *found = t->goals + (int64_t)(s->on - 1) * nq;
  rk_copy(found, s->best_q, nq);
  s->as_one = 1;
  const int met = rk_tracking_descend(t, found, RK_GOAL_STEPS, 0);
  s->as_one = 0;
  if (met) return 1;
  rk_tracking_look(t, found);
  return 0;
}

/* A base that would turn by more than half a circle gets to the same place by the rest of the circle, backwards, where limits
   let it. Kept when the levels that count are as good there: some may see the wheels. */
static void shorten_arcs(rk_tracking *t) {
  rk_search *s = &t->search;
  const rk_ik *ik = t->track->ik;
  double *other = t->frame.moved, *found = t->pulled, before = 0.0, after = 0.0;
  int are_shorter = 0;
  rk_copy(other, s->best_q, ik->model->nq);
  for (int32_t b = 0; b < ik->n_bases; b++) {
    const rk_base *base = ik->bases + b;
    const double turn = other[base->q + 2] - t->frame.last[base->q + 2];
    if (!(__builtin_fabs(turn) > PI)) continue;
    const double share = (turn - (turn < 0.0 ? -2.0 : 2.0) * PI) / turn;
    double turned[2];
    for (int i = 0; i < 2; i++) {
      double *wheel = other + base->wheel_q[i];
      turned[i] = share * (*wheel - t->frame.last[base->wheel_q[i]]);
      *wheel = t->frame.last[base->wheel_q[i]] + turned[i];
    }
    rk_roll(base, t->frame.last + base->q, turned, other + base->q);
    const int32_t limited[3] = {base->q + 2, base->wheel_q[0], base->wheel_q[1]};
    for (int i = 0; i < 3; i++)
      if (other[limited[i]] < ik->model->lower[limited[i]] || other[limited[i]] > ik->model->upper[limited[i]]) return;
    are_shorter = 1;
  }
  if (!are_shorter) return;
  rk_copy(found, s->best_q, ik->model->nq);
  for (int32_t k = 0; k < s->on; k++) before += s->best_level_error[k];
  rk_tracking_look(t, other);
  for (int32_t k = 0; k < s->on; k++) after += s->best_level_error[k];
  if (!(after <= before * (1.0 + TIED))) rk_tracking_look(t, found);
}

/* The first level but that of links that keep apart, with bases that stand anywhere: several arcs lead there. Kept when it is
   met. Levels below would have to keep it on all of them. */
static int drive(rk_tracking *t) {
  rk_search *s = &t->search;
  const rk_ik *ik = t->track->ik;
  const int32_t nq = ik->model->nq, level = s->on - 1;
  double *found = t->pulled, *last = t->frame.last;
  rk_copy(found, s->best_q, nq);
  s->rolled_from = 0;
  int met = rk_tracking_descend(t, last, RK_GOAL_STEPS, 0) || rk_search_settle(s, RK_SETTLING_STEPS, RK_SETTLED);
  if (met) {
    rk_copy(t->straight, s->best_q, nq);
    if ((met = take_first_arc(t, t->straight))) {
      rk_tracking_look(t, t->straight);
      met = rk_are_all(s->best_level_met, s->on);
    }
  }
  s->rolled_from = met ? 0 : last;
  if (met) t->by_arcs = level;
  else rk_tracking_look(t, found);
  return met;
}

int32_t rk_tracking_find_goals(rk_tracking *t, int is_same, int is_found) {
  const rk_ik *ik = t->track->ik;
  const int32_t nq = ik->model->nq;
  rk_search *s = &t->search;
  const int was_same = is_same;
  int32_t possible = 0;
  s->preference.H = 0;
  t->by_arcs = s->levels;
  for (s->on = 1; s->on <= s->levels; s->on++) {
    const int32_t k = s->on - 1;
    const int is_velocity = rk_is_velocity(s, k);
    double least = -1.0;
    rk_tracking_stay(t, 0);
    rk_tracking_return_to_goal(t, k);
    rk_tracking_look(t, t->frame.moved);
    const double before = s->level_error[k];
    if (is_same && possible == k && s->level_met[k] && rk_progress_of(t, k)->by_arcs) { /* on its arcs */
      possible = s->on;
      if (k < t->by_arcs) t->by_arcs = k;
      s->rolled_from = 0;
      rk_copy(t->goals + (int64_t)k * nq, t->frame.moved, nq);
      rk_copy(rk_last_goal(t, k), t->frame.moved, nq);
      continue;
    }
    if (is_same) {
      if (!s->level_met[k]) least = before * (1.0 - TIED);
      rk_copy(t->q, t->frame.moved, nq); /* a nudge overwrites it */
    }
    if (k > 0) {
      rk_copy(s->best_q, t->goals + (int64_t)(k - 1) * nq, nq);
      s->is_kept = 0;
      if (!is_velocity) restore(t);
    }
    int met = k == 0 && (is_found ? s->best_level_met[0] : rk_tracking_descend(t, t->frame.moved, RK_GOAL_STEPS, 0) || unbend(t));
    if (k > 0 && is_velocity) { /* as far as a path leads, and round its corners */
      rk_copy(t->pulled, s->best_q, nq);
      met = rk_tracking_go(t, t->pulled, RK_GOAL_STEPS, 0);
    }
    met = met || ((k > 0 || !is_found) && rk_search_settle(s, RK_SETTLING_STEPS, RK_SETTLED)) ||
          (k == 0 && !is_velocity && !rk_keeps_clear(t) && (turn_aside(t) || turn_round(t, before))) ||
          (k > 0 && possible == k && !is_velocity && s->best_level_error[k] <= NEAR && (meet_as_one(t) || unbend(t)));
    if (s->rolled_from) shorten_arcs(t);
    if (!met && was_same && possible == k && k == rk_keeps_clear(t) && ik->n_bases && !is_velocity) met = drive(t);
    if (k > t->by_arcs) take_first_arc(t, s->best_q);
    if (met && possible == k) possible = s->on;
    is_same = is_same && (least < 0.0 || !(s->best_level_met[k] || s->best_level_error[k] < least));
    if (is_same) rk_tracking_look(t, t->q);
    if (was_same && !is_same) rk_progress_of(t, k)->time = __builtin_inf(); /* on its way to another goal */
    rk_copy(t->goals + (int64_t)k * nq, s->best_q, nq);
  }
  s->on = s->levels;
  s->rolled_from = t->frame.last;
  return possible;
}
