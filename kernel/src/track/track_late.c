/* Frames that are too fast: level by level, each from what those above have. Twin of `Frame.hurried` and what it stands on in
   solvers/tracking/reference/frame.py. */
#include "track/tracking.h"

#include "math/rk_math.h"

enum { PULLS = 4 };
static const double IDLE = 1e-9;   /* of a row: what it hardly depends on */
static const double NEARLY = 1e-3; /* relative: what is as fast as may be */

int rk_tracking_is_reached(rk_tracking *t, int32_t level) {
  const rk_model *m = t->track->ik->model;
  const double *goal = t->goals + (int64_t)level * m->nq;
  rk_frame_bounds_follow(&t->frame, rk_last_goal(t, level), goal, t->pace, t->pulled);
  rk_difference(m, 1, goal, t->pulled, t->pace);
  for (int32_t k = 0; k < m->nv; k++)
    if (!(__builtin_fabs(t->pace[k]) <= RK_AT_GOAL)) return 0;
  return 1;
}

int rk_tracking_needs(const rk_tracking *t, int32_t level, int32_t column) {
  const rk_ik *ik = t->track->ik;
  if (!ik->stack) {
    for (int32_t k = 0; k < ik->task_start[ik->model->n_frames]; k++)
      if (ik->task_columns[k] == column) return 1;
    return 0;
  }
  const rk_step_data *data = ik->stack->data;
  for (int64_t row = data->start[level]; row < data->start[level + 1]; row++) {
    const int holds = data->low[row] < data->high[row] && data->low[row] <= 0.0 && data->high[row] >= 0.0;
    if (!holds && __builtin_fabs(data->J[row * ik->model->nv + column]) > IDLE) return 1;
  }
  return 0;
}

/* Joints that a level needs, which is late, are its own: levels below it wait for them, so that it is there as soon as it
   would be without those. So are those of a level above that has to give way to its motion. */
static void claim(rk_tracking *t, int32_t level) {
  const rk_ik *ik = t->track->ik;
  const rk_model *m = ik->model;
  int32_t *busy = t->busy;
  for (int32_t own = level; own >= 0; own--) {
    int32_t gives_way = own == level;
    for (int32_t k = 0; k < m->nv && !gives_way; k++) gives_way = busy[k] && rk_tracking_needs(t, own, k);
    for (int32_t k = 0; k < m->nv && gives_way; k++) busy[k] |= rk_tracking_needs(t, own, k);
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

/* q, which has brought the levels above one as far as limits on speed allow, towards `pulled`, where every joint would follow
   its goal, while these levels keep what they have. It is what was measured last. */
static void pull(rk_tracking *t, int32_t level, double *q) {
  rk_search *s = &t->search;
  const int32_t nq = t->track->ik->model->nq;
  int met;
  rk_tracking_stay(t, 1);
  s->on = level;
  rk_search_hold(s, level);
  s->busy = t->busy;
  rk_difference(t->track->ik->model, 1, t->frame.last, q, t->x);
  rk_frame_bounds_brake(&t->frame, rk_last_goal(t, level), t->goals + (int64_t)level * nq, t->x, t->pace);
  for (int32_t k = 0; k < PULLS; k++) {
    s->preference = (rk_preference){k ? 0 : t->even, t->none, t->pulled};
    rk_tracking_step(t, 0.0, &met);
    if (rk_search_holds(s)) {
      rk_copy(q, s->q, nq);
      break;
    }
  }
  rk_frame_bounds_find(&t->frame);
  s->preference.H = 0;
  s->busy = 0;
  rk_search_hold(s, 0);
}

/* Whether a frame that ends at q leaves no more speed against that of the goal than one frame can brake: what is met so is
   not passed in the next one. */
static int is_brakeable(const rk_tracking *t, const double *q, int32_t level) {
  const rk_model *m = t->track->ik->model;
  rk_difference(m, 1, t->frame.last, q, t->frame.dq);
  rk_difference(m, 1, rk_last_goal(t, level), t->goals + (int64_t)level * m->nq, t->pace);
  for (int32_t k = 0; k < m->nv; k++)
    if (!(__builtin_fabs(t->frame.dq[k] - t->pace[k]) <= t->track->change[k])) return 0;
  return 1;
}

/* How many levels, of the first `most`, can be met at once. Those are met at q. */
static int32_t meet_at_once(rk_tracking *t, int32_t most, double *q) {
  rk_search *s = &t->search;
  for (s->on = most; s->on > 0; s->on--)
    if (rk_tracking_descend(t, t->frame.last, RK_FRAME_STEPS, 1)) {
      rk_copy(q, s->best_q, t->track->ik->model->nq);
      break;
    }
  return s->on;
}

/* q with a level of velocities, the last one that counts, as fast as limits allow in this frame: none of it is caught up with.
   1 when it is met, as are those above. in_time: these are met, or at their goals. */
static int go_on(rk_tracking *t, int in_time, double *q) {
  rk_search *s = &t->search;
  rk_tracking_look(t, q);
  rk_tracking_stay(t, 1);
  s->busy = t->busy;
  const int met = (in_time && rk_are_all(s->level_met, s->on - 1) && rk_tracking_go(t, q, RK_FRAME_STEPS, 1)) ||
                  rk_search_settle(s, RK_FRAME_STEPS, RK_SETTLED);
  s->busy = 0;
  rk_copy(q, s->best_q, t->track->ik->model->nq);
  return in_time && met;
}

/* Begins a frame as `meet_at_once` does, at t->q. Where the goals of all levels after those are reached in this frame
   anyway, it is the last of these goals, when the others are met there too. */
static int32_t begin(rk_tracking *t, int32_t at_once) {
  rk_search *s = &t->search;
  int reached = at_once > 0 && at_once < s->levels;
  for (int32_t k = 0; k < s->levels && reached; k++)
    reached = !rk_is_velocity(s, k) && (k < at_once || rk_tracking_is_reached(t, k));
  if (reached) {
    s->on = s->levels;
    rk_tracking_look(t, t->pulled);
    if (rk_are_all(s->level_met, at_once)) {
      rk_copy(t->q, t->pulled, t->track->ik->model->nq);
      return at_once;
    }
  }
  return meet_at_once(t, at_once, t->q);
}

int rk_tracking_is_as_good(rk_tracking *t, int32_t levels) {
  rk_search *s = &t->search;
  rk_tracking_look(t, t->goals + (int64_t)(levels - 1) * t->track->ik->model->nq);
  rk_search_hold(s, levels);
  rk_tracking_look(t, t->q);
  const int holds = rk_stack_holds(s, RK_STANDING);
  rk_search_hold(s, 0);
  return holds;
}

/* Whether the robot can stand at t->q, and levels are as good there as at their goal: they do not go to that, from where those
   below have led them. */
static int may_stay(rk_tracking *t, int32_t levels) {
  const int32_t nq = t->track->ik->model->nq;
  rk_copy(t->straight, t->q, nq);
  rk_frame_bounds_keep(&t->frame, t->straight);
  return rk_is_near(t->straight, t->q, nq) && rk_tracking_is_as_good(t, levels); /* balls are moved by rounding */
}

int rk_tracking_hurry(rk_tracking *t, int32_t at_once, int32_t unbraked, int may_stand) {
  rk_search *s = &t->search;
  const int32_t nq = t->track->ik->model->nq;
  int in_time = 1, at_goal = 0, is_behind = 0; /* a level of poses, its goal */
  s->preference.H = 0;
  rk_copy(t->q, t->frame.last, nq);
  for (int32_t k = 0; t->busy && k < t->track->ik->model->nv; k++) t->busy[k] = 0;
  for (int32_t k = begin(t, at_once) + 1; k <= s->levels; k++) {
    const int is_braking = k > unbraked;
    int is_kept = 1; /* what levels above have */
    s->on = k;
    if (rk_is_velocity(s, k - 1)) {
      in_time = go_on(t, in_time, t->q);
      at_goal = !is_behind;
      if (in_time || k == s->levels || s->ik->stack->kind[k] == RK_LEVEL_PATHS) continue; /* it may go on along its path */
      rk_tracking_look(t, t->q);
      claim(t, k - 1);
      continue;
    }
    if (may_stand && k < s->levels && may_stay(t, k)) continue;
    at_goal = rk_tracking_is_reached(t, k - 1) && in_time;
    rk_tracking_look(t, t->q);
    const int is_met = rk_are_all(s->level_met, k - 1);
    if (k > 1 && at_goal) {
      rk_search_hold(s, k - 1);
      rk_tracking_look(t, t->pulled);
      is_kept = rk_are_all(s->level_met, k - 1) || rk_search_holds(s);
      rk_search_hold(s, 0);
    }
    at_goal = at_goal && is_kept;
    if (at_goal) {
      rk_copy(t->q, t->pulled, nq);
    } else if (in_time && is_met && (k > 1 || is_braking) && rk_tracking_descend(t, t->q, RK_FRAME_STEPS, 1) &&
               (!is_braking || is_brakeable(t, s->best_q, k - 1))) {
      rk_copy(t->q, s->best_q, nq);
    } else {
      in_time = 0;
      is_behind = 1;
      rk_tracking_look(t, t->q);
      if (k == 1)
        rk_copy(t->q, t->pulled, nq);
      else
        pull(t, k - 1, t->q);
      rk_tracking_look(t, t->q);
      if (k < s->levels) claim(t, k - 1);
    }
  }
  s->on = s->levels;
  return at_goal;
}

/* Whether the first levels up to this one are met in the frame, inside the bounds as they are now: from where the robot is,
   else from `straight`, where they were met last. */
static int is_met_so(rk_tracking *t, int32_t level) {
  t->search.on = level + 1;
  const int met =
      rk_tracking_descend(t, t->frame.last, RK_FRAME_STEPS, 1) || rk_tracking_descend(t, t->straight, RK_FRAME_STEPS, 1);
  t->search.on = t->search.levels;
  if (met) rk_copy(t->straight, t->search.best_q, t->track->ik->model->nq);
  return met;
}

/* No longer names joints, free of limits on speed, that keep them where the levels were met last. */
static void take_back(rk_tracking *t, int32_t count, const int32_t *columns, int8_t *behind) {
  const rk_frame_bounds *f = &t->frame;
  for (int32_t k = 0; k < count; k++) {
    const int32_t column = columns[k], i = t->track->coordinate[column];
    const double step = t->straight[i] - f->last[i];
    if (!behind[column] || step < f->lo[column] || step > f->hi[column]) continue;
    rk_frame_bounds_hold(f, column);
    behind[column] = 0;
  }
}

/* The nearest goal need not be what the frame is to come to, nor all joints that are held back on the way there. pace: how far
   they are from it; those that are nearest are taken back first. */
static void spare(rk_tracking *t, int32_t level, int8_t *behind) {
  const rk_model *m = t->track->ik->model;
  int32_t *columns = t->busy, count = 0;
  for (int32_t k = 0; k < m->nv; k++) {
    if (!behind[k] || t->track->coordinate[k] < 0) continue;
    int32_t at = count++;
    for (; at > 0 && __builtin_fabs(t->pace[columns[at - 1]]) > __builtin_fabs(t->pace[k]); at--)
      columns[at] = columns[at - 1];
    columns[at] = k;
  }
  if (count < 2) return;
  const int32_t iterations = t->search.iterations; /* it costs nothing of the motion */
  t->placed = 0;
  t->search.preference.H = 0;
  rk_copy(t->straight, t->goals + (int64_t)level * m->nq, m->nq);
  const int is_needed = !is_met_so(t, level); /* what is met, but too fast to brake, is late too */
  for (int32_t k = 0; k < count; k++) rk_frame_bounds_free(&t->frame, columns[k]);
  if (is_needed && is_met_so(t, level)) {
    take_back(t, count, columns, behind);
    for (int32_t k = 0; k < count; k++) {
      if (!behind[columns[k]]) continue;
      rk_frame_bounds_hold(&t->frame, columns[k]);
      if (is_met_so(t, level)) {
        behind[columns[k]] = 0;
        take_back(t, count, columns, behind);
      } else {
        rk_frame_bounds_free(&t->frame, columns[k]);
      }
    }
  }
  t->search.iterations = iterations;
}

/* Whether a joint, whose step is in `pace`, is as fast as may be in the frame, and not at a position bound. */
static int is_fastest(const rk_tracking *t, int32_t k) {
  const rk_track *track = t->track;
  const double step = t->pace[k], slack = NEARLY * __builtin_fabs(step) + RK_AT_GOAL, lo = t->frame.lo[k], hi = t->frame.hi[k];
  const double position = track->coordinate[k] >= 0 ? t->frame.last[track->coordinate[k]] : 0.0;
  return (step - slack <= lo && lo > track->lower[k] - position + RK_AT_GOAL) ||
         (step + slack >= hi && hi < track->upper[k] - position - RK_AT_GOAL);
}

int rk_tracking_goes_on(rk_tracking *t, int32_t level) {
  rk_search *s = &t->search;
  if (!rk_is_velocity(s, level)) return 0;
  const double error = s->best_level_error[level];
  t->placed = 0;
  rk_tracking_look(t, t->goals + (int64_t)level * t->track->ik->model->nq);
  return rk_are_all(s->level_met, level) && s->level_error[level] < error * (1.0 - RK_SETTLED);
}

int rk_tracking_name(rk_tracking *t, int32_t level, const double *q, int is_beyond, int8_t *behind) {
  const rk_model *m = t->track->ik->model;
  const double *goal = t->goals + (int64_t)level * m->nq;
  int any = 0;
  if (rk_is_velocity(&t->search, level)) {
    rk_copy(t->pulled, goal, m->nq);
    rk_frame_bounds_keep(&t->frame, t->pulled);
    rk_difference(m, 1, goal, t->pulled, t->pace);
  } else {
    rk_tracking_is_reached(t, level);
  }
  for (int32_t k = 0; k < m->nv; k++) any |= behind[k] = __builtin_fabs(t->pace[k]) > RK_AT_GOAL;
  if (any && !rk_is_velocity(&t->search, level) && !rk_keeps_clear(t)) spare(t, level, behind);
  if (any && !is_beyond) return 1;
  rk_difference(m, 1, t->frame.last, q, t->pace); /* or of a path that comes back to where it was */
  int both = 0, fastest = 0;
  for (int32_t k = 0; k < m->nv; k++) both |= behind[k] && is_fastest(t, k);
  for (int32_t k = 0; k < m->nv; k++) fastest |= behind[k] = (!both || behind[k]) && is_fastest(t, k);
  return fastest;
}
