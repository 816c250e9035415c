/* Tracking, twin of solvers/tracking_reference.py, which explains it; viability bounds as in solvers/viability.py. */
#include "robokin_track.h"

#include "coupled.h"
#include "ik_search.h"
#include "rk_math.h"
#include "rk_viability.h"
#include "rolling.h"

enum { FRAME_STEPS = 10, GOAL_STEPS = 30, PATIENCE = 3 };
static const double PROGRESS = 0.5; /* of the error in PATIENCE steps */
static const double NEARER = 0.25;  /* of a frame's way to the goal that the nearest point to the targets must bring */
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
  double *q, *aim, *moved;   /* [nq] */
  int placed;                /* the tips are placed at the last configuration */
} tracking;

int32_t rk_sizeof_track(void) { return (int32_t)sizeof(rk_track); }

int64_t rk_track_workspace(const rk_track *track) {
  return rk_ik_workspace(track->ik) + 4 * (int64_t)track->ik->model->nv + 5 * (int64_t)track->ik->model->nq;
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

static void keep_best(rk_search *s, double E) {
  s->best_error = E;
  copy(s->best_q, s->q, s->ik->model->nq);
  copy(s->best_residuals, s->residuals, 2 * (int64_t)s->ik->model->n_frames);
}

/* Damped steps from `start`, inside the frame's bounds or inside the position limits alone; 1 when the targets are met.
   One step at least, so that slow targets are followed smoothly and not in jerks of the size of the tolerance. */
static int descend(tracking *t, const double *start, int32_t steps, int inside) {
  rk_search *s = &t->search;
  double history[PATIENCE];
  int met;
  s->ik = inside ? &t->box : t->track->ik;
  copy(s->q, start, s->ik->model->nq);
  if (inside) keep_within(t, s->q);
  const int placed = inside && t->placed && is_equal(s->q, start, s->ik->model->nq);
  double E = placed ? rk_search_compare(s, &met) : rk_search_measure(s, &met);
  keep_best(s, E);
  for (int32_t count = 0; count < steps; count++) {
    history[count % PATIENCE] = E;
    rk_search_step(s, E);
    if (inside && (t->track->curved || s->ik->n_bases > 0)) keep_within(t, s->q); /* else the step has kept inside */
    s->iterations++;
    E = rk_search_measure(s, &met);
    if (met || E < s->best_error) keep_best(s, E);
    if (met) return 1;
    if (count + 1 >= PATIENCE && E > PROGRESS * history[(count + 1) % PATIENCE]) return 0;
  }
  return 0;
}

/* Whether q is nearer to the goal than the last configuration, counted in frames of the slowest joint. way: from the
   last configuration to the goal. */
static int comes_nearer(const tracking *t, const double *q, const double *goal) {
  const rk_model *m = t->track->ik->model;
  double before = 0.0, after = 0.0;
  rk_difference(m, 1, q, goal, t->pace);
  for (int32_t k = 0; k < m->nv; k++) {
    before = larger(before, magnitude(t->way[k]) / t->track->largest[k]);
    after = larger(after, magnitude(t->pace[k]) / t->track->largest[k]);
  }
  return before > 1.0 && after <= before - NEARER;
}

/* q = one frame on when every joint follows its goal time-optimally. way: from the last configuration to the goal. */
static void follow(const tracking *t, const double *goal, double *q) {
  const rk_track *track = t->track;
  const rk_model *m = track->ik->model;
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

static int is_met(const rk_ik *ik, const double *residuals) {
  for (int32_t task = 0; task < ik->model->n_frames; task++)
    for (int part = 0; part < 2; part++)
      if (!(residuals[2 * task + part] <= ik->tasks[task].tolerance[part])) return 0;
  return 1;
}

static int32_t frame(tracking *t, double *late, double *residuals, int8_t *behind) {
  const rk_track *track = t->track;
  const rk_ik *ik = track->ik;
  const rk_model *m = ik->model;
  rk_search *s = &t->search;
  s->iterations = 0;
  bounds(t);
  if (!(*late != 0.0 && track->braked)) {
    const int met = descend(t, t->last, FRAME_STEPS, 1);
    copy(t->q, s->best_q, m->nq);
    copy(residuals, s->best_residuals, 2 * (int64_t)m->n_frames);
    if (met) {
      advance(t, t->q, t->q);
      *late = 0.0;
      t->placed = 1;
      return RK_IK_CONVERGED;
    }
  }
  copy(t->moved, t->goal, m->nq);
  for (int32_t k = 0; k < ik->n_bases; k++) { /* only from where they are the bases can roll */
    const rk_base *base = ik->bases + k;
    copy(t->moved + base->q, t->last + base->q, 3);
    for (int wheel = 0; wheel < 2; wheel++) t->moved[base->wheel_q[wheel]] = t->last[base->wheel_q[wheel]];
  }
  const int possible = descend(t, t->moved, GOAL_STEPS, 0);
  copy(t->aim, s->best_q, m->nq);
  rk_difference(m, 1, t->last, t->aim, t->way);
  t->placed = 0;
  if (track->braked || (possible && !comes_nearer(t, t->q, t->aim))) {
    int met;
    follow(t, t->aim, t->q);
    copy(s->q, t->q, m->nq);
    rk_search_measure(s, &met);
    t->placed = 1;
    copy(residuals, s->residuals, 2 * (int64_t)m->n_frames);
  }
  const int met = is_met(ik, residuals);
  *late = met ? 0.0 : 1.0;
  advance(t, t->q, met ? t->q : t->aim);
  if (met) return RK_IK_CONVERGED;
  if (possible) {
    rk_difference(m, 1, t->q, t->aim, t->way);
    for (int32_t k = 0; k < m->nv; k++) behind[k] = magnitude(t->way[k]) > AT_GOAL;
    for (int32_t k = 0; k < ik->n_bases; k++)
      for (int j = 0; j < 3; j++) behind[ik->bases[k].v + j] = 0;
    return RK_TRACK_LATE;
  }
  return rk_search_reachable(s) ? RK_IK_NOT_CONVERGED : RK_IK_OUT_OF_REACH;
}

int64_t rk_track_run(const rk_track *track, int64_t count, const double *targets, double *state, double *work,
                     double *q, double *residuals, int32_t *codes, int32_t *iterations, int8_t *behind) {
  const rk_model *m = track->ik->model;
  const int64_t nq = m->nq, nv = m->nv, tasks = m->n_frames;
  tracking t = {.track = track, .search = rk_search_lay_out(track->ik, work), .box_model = *m, .box = *track->ik};
  work += rk_ik_workspace(track->ik);
  t.lo = work, t.hi = t.lo + nv, t.way = t.hi + nv, t.pace = t.way + nv;
  t.lower = t.pace + nv, t.upper = t.lower + nq, t.q = t.upper + nq, t.aim = t.q + nq, t.moved = t.aim + nq;
  t.last = state, t.goal = state + nq, t.step = state + 2 * nq;
  t.box_model.lower = t.lower, t.box_model.upper = t.upper;
  t.box.model = &t.box_model;
  t.search.rolled_from = t.last;
  for (int64_t i = 0; i < count; i++) {
    for (int64_t k = 0; k < nv; k++) behind[i * nv + k] = 0;
    t.search.targets = targets + 16 * i * tasks;
    if (!rk_search_rigid(&t.search)) return i;
    codes[i] = frame(&t, state + 2 * nq + nv, residuals + 2 * i * tasks, behind + i * nv);
    iterations[i] = t.search.iterations;
    copy(q + i * nq, t.last, nq);
  }
  return count;
}
