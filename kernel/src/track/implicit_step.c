/* What criteria prefer in a frame, and their step in a still scene. Twin of solvers/descent/implicit_step.py, which explains it. */
#include "criteria/criteria.h"
#include "math/rk_vector.h"
#include "track/tracking.h"

enum { DIRECTIONS = 2 }; /* one for what is steep, one for the rest */

void rk_tracking_find_preference(rk_tracking *t, const double *q) {
  const rk_ik *ik = t->track->ik;
  rk_search *s = &t->search;
  s->preference = (rk_preference){0};
  if (!ik->stack || !ik->stack->n_criteria) return;
  rk_copy(ik->stack->q, q, ik->model->nq);
  for (int32_t k = 0; k < ik->model->nv; k++) ik->stack->previous[k] = t->frame.step[k] / ik->stack->step->dt;
  if (ik->stack->criteria) ik->stack->criteria(s->frame);
  rk_step_objective(ik->stack->step, ik->stack->data, t->objective, t->H, t->g);
  s->preference = (rk_preference){t->H, t->g, t->frame.last};
}

/* What a step from the configuration that was measured last adds, dimensionless. */
static void find_added(rk_tracking *t, double *added) {
  rk_search *s = &t->search;
  int met;
  rk_copy(t->straight, s->q, t->track->ik->model->nq);
  rk_tracking_find_preference(t, t->straight);
  rk_tracking_step(t, 0.0, &met);
  rk_difference(t->track->ik->model, 1, t->straight, s->q, added);
  for (int32_t k = 0; k < t->track->ik->model->nv; k++) added[k] /= t->track->ik->stack->step->scale[k];
}

/* Measures where a displacement x leads from the best configuration. */
static double measure_there(rk_tracking *t, const double *x) {
  const rk_ik *ik = t->track->ik;
  int met;
  for (int32_t k = 0; k < ik->model->nv; k++) t->pace[k] = ik->stack->step->scale[k] * x[k];
  rk_integrate(ik->model, 1, t->search.best_q, t->pace, t->search.q);
  rk_frame_bounds_keep(&t->frame, t->search.q);
  t->search.is_kept = 0;
  return rk_search_measure(&t->search, &met);
}

static double times_H(const rk_tracking *t, const double *a, const double *b) {
  const int64_t n = t->track->ik->model->nv;
  double sum = 0.0;
  for (int64_t k = 0; k < n; k++) sum += a[k] * rk_dot(n, t->H + k * n, b);
  return sum;
}

/* A step that goes back on that of the frame before comes from past the place that both look for: between the two. */
static void shorten(const rk_tracking *t, double *x) {
  const double *scale = t->track->ik->stack->step->scale;
  const int64_t n = t->track->ik->model->nv;
  double along = 0.0, before = 0.0;
  for (int64_t k = 0; k < n; k++) {
    const double last = t->frame.step[k] / scale[k];
    along += last * x[k];
    before += last * last;
  }
  if (!(along < 0.0) || rk_is_near(t->frame.step, 0, (int32_t)n)) return;
  for (int64_t k = 0; k < n; k++) x[k] *= before / (before - along);
}

static double take_implicit_step(rk_tracking *t) {
  const int64_t n = t->track->ik->model->nv;
  double *x = t->x, *direction = t->direction, *gradient = t->gradient, *change = t->change;
  find_added(t, gradient);
  rk_copy(direction, gradient, n);
  for (int64_t k = 0; k < n; k++) x[k] = 0.0;
  for (int pass = 0; pass < DIRECTIONS; pass++) {
    const double before = times_H(t, gradient, direction), last = times_H(t, gradient, gradient);
    if (!(before > 0.0)) break;
    for (int64_t k = 0; k < n; k++) change[k] = x[k] + direction[k];
    measure_there(t, change);
    find_added(t, change);
    rk_add_scaled(n, -1.0, gradient, change);
    const double share = before / rk_max(before, -times_H(t, change, direction));
    rk_add_scaled(n, share, direction, x);
    rk_add_scaled(n, share, change, gradient);
    const double turned = rk_max(share * times_H(t, gradient, change) / last, 0.0);
    for (int64_t k = 0; k < n; k++) direction[k] = gradient[k] + turned * direction[k];
  }
  shorten(t, x);
  return measure_there(t, x);
}

void rk_tracking_prefer(rk_tracking *t, int is_still) {
  rk_search *s = &t->search;
  int met;
  if (!rk_is_equal(s->q, s->best_q, t->track->ik->model->nq)) rk_tracking_look(t, s->best_q);
  rk_tracking_stay(t, 1);
  rk_search_hold(s, s->levels);
  double E = is_still ? take_implicit_step(t) : rk_tracking_step(t, 0.0, &met);
  s->preference.H = 0;
  if (!rk_search_holds(s)) E = rk_tracking_step(t, 0.0, &met); /* then without criteria, for what their motion has bent */
  if (rk_search_holds(s)) rk_search_keep(s, E);
  rk_search_hold(s, 0);
}

int rk_tracking_keep(rk_tracking *t) {
  rk_search *s = &t->search;
  int met;
  rk_tracking_look(t, rk_last_goal(t, 0));
  rk_search_hold(s, s->levels);
  rk_tracking_stay(t, 1);
  s->preference.H = 0;
  rk_copy(s->q, t->frame.last, t->track->ik->model->nq);
  rk_frame_bounds_keep(&t->frame, s->q);
  s->is_kept = 0;
  double E = rk_search_measure(s, &met);
  if (!rk_search_holds(s)) E = rk_tracking_step(t, 0.0, &met);
  rk_search_keep(s, E);
  const int is_as_good = rk_stack_holds(s, RK_STANDING);
  rk_search_hold(s, 0);
  return is_as_good;
}
