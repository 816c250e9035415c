/* How long a robot goes on where targets stand still: as long as it gains something. Twin of `Progress` in
   solvers/tracking/reference/patience.py. */
#include "limits/rolling.h"
#include "math/rk_math.h"
#include "track/tracking.h"

static const double IDLY = 8.0;    /* frames in which a robot may gain nothing */
static const double AGAIN = 2.0;   /* times as long as joints need may a robot move to a goal, and stop and turn back */
static const double BETTER = 1e-3; /* relative: an error is less that is so by more */

/* Frames in which a joint gets `distance` farther and stops there, at most so fast; step: its last one, in that direction. */
static double frames_to_stand(double distance, double step, double largest, double change) {
  if (!(change < __builtin_inf())) return distance / largest;
  if (step > 0.0 && step * step > 2.0 * change * distance) /* it passes that place, and comes back */
    return step / change + frames_to_stand(0.5 * step * step / change - distance, 0.0, largest, change);
  const double fastest = rk_sqrt(change * distance + 0.5 * step * step), cruising = rk_max(fastest - largest, 0.0);
  return (2.0 * (fastest - cruising) - step) / change + (cruising > 0.0 ? cruising * (fastest + largest) / (change * largest) : 0.0);
}

/* Frames in which all joints get to the last goal of a level and stand there, at most. */
static double frames_to_goal(const rk_tracking *t, int32_t level) {
  const rk_track *track = t->track;
  const rk_model *m = track->ik->model;
  double most = 0.0;
  const double *goal = rk_last_goal(t, level);
  rk_difference(m, 1, t->frame.last, goal, t->pace);
  for (int32_t b = 0; rk_progress_of(t, level)->by_arcs && b < track->ik->n_bases; b++) {
    const rk_base *base = track->ik->bases + b;
    double turned[2], whole[2];
    if (!rk_drive(base, t->frame.last, goal, m->lower, m->upper, turned, whole)) continue;
    for (int i = 0; i < 2; i++) t->pace[base->wheel_v[i]] = __builtin_copysign(whole[i], turned[i]);
    for (int i = 0; i < 3; i++) t->pace[base->v + i] = 0.0;
  }
  for (int32_t k = 0; k < m->nv; k++) {
    const double step = t->pace[k] < 0.0 ? -t->frame.step[k] : t->frame.step[k];
    if (track->largest[k] > 0.0)
      most = rk_max(most, frames_to_stand(__builtin_fabs(t->pace[k]), step, track->largest[k], track->change[k]));
  }
  return most;
}

/* Frames in which all joints stop. */
static double frames_to_stop(const rk_tracking *t) {
  double most = 0.0;
  for (int32_t k = 0; k < t->track->ik->model->nv; k++)
    if (t->frame.step[k] != 0.0) most = rk_max(most, __builtin_fabs(t->frame.step[k]) / t->track->change[k]);
  return most;
}

double rk_tracking_patience(const rk_tracking *t, double patience, int32_t met) {
  double nearer = 0.0;
  if (!(patience > 0.0)) return patience - 1.0;
  for (int32_t k = met; k < t->search.levels; k++) {
    double *least = &rk_progress_of(t, k)->time;
    const double left = frames_to_goal(t, k);
    nearer = rk_max(nearer, *least - left);
    *least = rk_min(*least, left);
  }
  const double longest = IDLY + AGAIN * frames_to_stop(t);
  return patience < __builtin_inf() ? rk_max(patience - 1.0, rk_min(patience - 1.0 + AGAIN * nearer, longest)) : longest;
}

/* What a level misses at the best configuration. */
static double missed_by(const rk_search *s, int32_t level) {
  return s->best_level_met[level] || rk_is_velocity(s, level) ? 0.0 : s->best_level_error[level];
}

int rk_tracking_is_nearest(const rk_tracking *t) {
  const rk_search *s = &t->search;
  for (int32_t k = 0; k < s->levels; k++) {
    const double error = missed_by(s, k), least = rk_progress_of(t, k)->error;
    if (error > least * (1.0 + BETTER)) return 0;
    if (!(error < least * (1.0 - BETTER))) continue;
    for (; k < s->levels; k++) rk_progress_of(t, k)->error = missed_by(s, k);
    return 1;
  }
  return 0;
}
