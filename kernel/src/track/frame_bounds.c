/* Twin of solvers/descent/frame_bounds.py; viability as in solvers/limits/viability.py. */
#include "track/frame_bounds.h"

#include "limits/coupled.h"
#include "math/rk_math.h"
#include "limits/rk_viability.h"
#include "limits/rolling.h"

static const double ALIKE = 0.5;   /* of a turn: what is as much */
static const double UNSEEN = 1e-4; /* [rad] */

void rk_frame_bounds_find(const rk_frame_bounds *f) {
  const rk_track *track = f->track;
  const rk_model *m = track->ik->model;
  for (int32_t i = 0; i < m->nq; i++) f->lower[i] = m->lower[i], f->upper[i] = m->upper[i];
  for (int32_t k = 0; k < m->nv; k++) {
    const int32_t i = track->coordinate[k];
    const double position = i >= 0 ? f->last[i] : 0.0, largest = track->largest[k], change = track->change[k];
    rk_viable_step(f->step[k], position - track->lower[k], track->upper[k] - position, largest, change, f->lo + k,
                   f->hi + k);
    rk_frame_bounds_hold(f, k);
  }
}

void rk_frame_bounds_hold(const rk_frame_bounds *f, int32_t column) {
  const rk_model *m = f->track->ik->model;
  const int32_t i = f->track->coordinate[column];
  if (i < 0) return;
  f->lower[i] = rk_max(m->lower[i], f->last[i] + f->lo[column]);
  f->upper[i] = rk_max(f->lower[i], rk_min(m->upper[i], f->last[i] + f->hi[column]));
}

void rk_frame_bounds_free(const rk_frame_bounds *f, int32_t column) {
  const rk_model *m = f->track->ik->model;
  const int32_t i = f->track->coordinate[column];
  if (i >= 0) f->lower[i] = m->lower[i], f->upper[i] = m->upper[i];
}

/* Shortens the way of floating joints that leads out of their position bounds: slower, in the same direction. */
static void stop_at_bounds(const rk_model *m, const double *last, double *moved) {
  for (int32_t node = 0; node < m->n_nodes; node++) {
    if (m->motion[node] != RK_FREE) continue;
    const int32_t iq = m->iq[node];
    double share = 1.0;
    for (int32_t i = iq; i < iq + 3; i++) {
      const double dq = moved[i] - last[i];
      if (dq != 0.0) share = rk_min(share, ((dq < 0.0 ? m->lower[i] : m->upper[i]) - last[i]) / dq);
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

double rk_frame_bounds_swing(const rk_frame_bounds *f, const rk_base *base, const double *q) {
  const double turn = q[base->q + 2] - f->last[base->q + 2], share = -turn / f->step[base->v + 2], size = __builtin_fabs(turn);
  return share > ALIKE && share < 1.0 / ALIKE && size > UNSEEN ? size : 0.0;
}

static void calm(const rk_frame_bounds *f, const rk_base *base, double turned[2]) {
  const double across = 0.5 * base->separation, first = base->rolled[0] * turned[0], second = base->rolled[1] * turned[1];
  const double distance = 0.5 * (first + second), turn = rk_clamp((second - first) / base->separation, -f->calm_turn, f->calm_turn);
  for (int i = 0; i < 2; i++) {
    const int32_t k = base->wheel_v[i];
    turned[i] = rk_clamp((distance + (i ? across : -across) * turn) / base->rolled[i], f->lo[k], f->hi[k]);
  }
}

/* Balls in their cones, bases where their wheels have rolled them. */
static void couple(const rk_frame_bounds *f, double *q) {
  const rk_track *track = f->track;
  const rk_ik *ik = track->ik;
  for (int32_t k = 0; k < ik->n_cones; k++) {
    const rk_cone *cone = ik->cones + k;
    const int32_t v = cone->v;
    if (is_limited(track->largest + v, 3) || is_limited(track->change + v, 3))
      rk_ball_within(cone, f->last + cone->q, f->step + v, f->lo + v, f->hi + v, track->change + v, q + cone->q);
  }
  for (int32_t k = 0; k < ik->n_bases; k++) {
    const rk_base *base = ik->bases + k;
    double turned[2], previous[2], change[2];
    for (int wheel = 0; wheel < 2; wheel++) {
      turned[wheel] = q[base->wheel_q[wheel]] - f->last[base->wheel_q[wheel]];
      previous[wheel] = f->step[base->wheel_v[wheel]];
      change[wheel] = track->change[base->wheel_v[wheel]];
    }
    if (f->calm == base) calm(f, base, turned);
    rk_base_within(base, f->last + base->q, previous, change, ik->model->lower + base->q, ik->model->upper + base->q,
                   track->largest + base->v, turned);
    for (int wheel = 0; wheel < 2; wheel++)
      q[base->wheel_q[wheel]] = f->last[base->wheel_q[wheel]] + turned[wheel];
  }
  rk_roll_bases(ik, f->last, q);
}

void rk_frame_bounds_keep(const rk_frame_bounds *f, double *q) {
  const rk_track *track = f->track;
  const rk_model *m = track->ik->model;
  if (track->curved) {
    rk_difference(m, 1, f->last, q, f->dq);
    for (int32_t k = 0; k < m->nv; k++) f->dq[k] = rk_min(rk_max(f->dq[k], f->lo[k]), f->hi[k]);
    rk_integrate(m, 1, f->last, f->dq, f->moved);
    stop_at_bounds(m, f->last, f->moved);
    for (int32_t k = 0; k < m->nv; k++)
      if (track->coordinate[k] >= 0) f->moved[track->coordinate[k]] = q[track->coordinate[k]];
    for (int32_t i = 0; i < m->nq; i++) q[i] = f->moved[i];
  }
  for (int32_t i = 0; i < m->nq; i++) q[i] = rk_min(rk_max(q[i], f->lower[i]), f->upper[i]);
  couple(f, q);
}

/* pace = the step of a goal, f->dq = what is left to it then. */
static void find_gap(const rk_frame_bounds *f, const double *before, const double *goal, double *pace) {
  const rk_model *m = f->track->ik->model;
  rk_difference(m, 1, f->last, goal, f->dq);
  rk_difference(m, 1, before, goal, pace);
  for (int32_t k = 0; k < m->nv; k++) {
    pace[k] = rk_min(rk_max(pace[k], -f->track->largest[k]), f->track->largest[k]);
    f->dq[k] -= pace[k];
  }
}

/* Wheels of a base go the same share of their ways, so that it stays on the arc to its goal. step[nv]: of all joints, each as
   fast as it may. */
static void keep_arcs(const rk_frame_bounds *f, const double *goal, double *step) {
  for (int32_t b = 0; b < f->track->ik->n_bases; b++) {
    const rk_base *base = f->track->ik->bases + b;
    double remaining[2], share = 1.0;
    for (int i = 0; i < 2; i++) {
      remaining[i] = goal[base->wheel_q[i]] - f->last[base->wheel_q[i]];
      if (remaining[i] != 0.0) share = rk_min(step[base->wheel_v[i]] / remaining[i], share);
    }
    for (int i = 0; share > 0.0 && i < 2; i++) {
      const int32_t k = base->wheel_v[i];
      step[k] = rk_min(rk_max(share * remaining[i], f->lo[k]), f->hi[k]);
    }
  }
}

void rk_frame_bounds_follow(const rk_frame_bounds *f, const double *before, const double *goal, double *pace, double *q) {
  const rk_model *m = f->track->ik->model;
  find_gap(f, before, goal, pace);
  for (int32_t k = 0; k < m->nv; k++) {
    const double braked = rk_braking_step(__builtin_fabs(f->dq[k]), f->track->change[k]);
    pace[k] = rk_min(rk_max(pace[k] + (f->dq[k] < 0.0 ? -braked : braked), f->lo[k]), f->hi[k]);
  }
  keep_arcs(f, goal, pace);
  rk_integrate(m, 1, f->last, pace, q);
  rk_frame_bounds_keep(f, q);
}

void rk_frame_bounds_slow(const rk_frame_bounds *f, double frames) {
  for (int32_t k = 0; k < f->track->ik->model->nv; k++) {
    const double most = f->track->change[k] * frames;
    f->hi[k] = rk_max(rk_min(f->hi[k], most), f->lo[k]);
    f->lo[k] = rk_min(rk_max(f->lo[k], -most), f->hi[k]);
    rk_frame_bounds_hold(f, k);
  }
}

/* Whether a joint may start and stop at once; a base that rolls may not, as its wheels may not. */
static int has_one_without_limits(const rk_track *track) {
  for (int32_t k = 0; k < track->ik->model->nv; k++) {
    int is_free = track->change[k] == __builtin_inf();
    for (int32_t b = 0; b < track->ik->n_bases; b++) is_free &= k < track->ik->bases[b].v || k >= track->ik->bases[b].v + 3;
    if (is_free) return 1;
  }
  return 0;
}

void rk_frame_bounds_brake(const rk_frame_bounds *f, const double *before, const double *goal, const double *step, double *pace) {
  if (!has_one_without_limits(f->track)) return;
  find_gap(f, before, goal, pace);
  for (int32_t k = 0; k < f->track->ik->model->nv; k++) {
    const double change = f->track->change[k], faster = rk_max(rk_braking_step(__builtin_fabs(f->dq[k]), change), change);
    if (f->dq[k] < 0.0)
      f->lo[k] = rk_min(rk_max(f->lo[k], rk_min(pace[k] - faster, step[k])), f->hi[k]);
    else
      f->hi[k] = rk_max(rk_min(f->hi[k], rk_max(pace[k] + faster, step[k])), f->lo[k]);
    rk_frame_bounds_hold(f, k);
  }
}
