/* Descents of one frame, inside its bounds or inside the position limits alone. Twin of `FrameDescent` in
   solvers/descent/frame_descent.py. */
#include "track/tracking.h"

enum { PATIENCE = 3 };
static const double PROGRESS = 0.5; /* of the error in PATIENCE steps */
static const double FINE = 1e-18; /* error to which frames with criteria are met: 1e-9 radians or L */
static const double EXACT = 1e-24; /* and frames of which errors add up */

static void keep(const void *bounds, double *q) { rk_frame_bounds_keep(bounds, q); }

void rk_tracking_stay(rk_tracking *t, int inside) {
  rk_search *s = &t->search;
  s->ik = inside ? &t->box : t->track->ik;
  s->bounds = &t->frame;
  s->keep = inside && (t->track->curved || s->ik->n_bases > 0) ? keep : 0; /* else a step itself keeps inside */
}

double rk_tracking_step(rk_tracking *t, double E, int *met) {
  rk_search *s = &t->search;
  rk_search_step(s, E);
  return rk_search_measure(s, met);
}

int rk_tracking_descend(rk_tracking *t, const double *start, int32_t steps, int inside) {
  rk_search *s = &t->search;
  double history[PATIENCE];
  int met;
  rk_tracking_stay(t, inside);
  rk_copy(s->q, start, s->ik->model->nq);
  if (inside) rk_frame_bounds_keep(&t->frame, s->q);
  const int placed = inside && t->placed && rk_is_equal(s->q, start, s->ik->model->nq);
  double E = placed ? rk_search_compare(s, &met) : rk_search_measure(s, &met);
  rk_search_keep(s, E);
  for (int32_t count = 0; count < steps; count++) {
    history[count % PATIENCE] = rk_adds_up(s) ? rk_search_remaining(s) : E;
    E = rk_tracking_step(t, E, &met);
    if (rk_search_is_better(s, E, met)) rk_search_keep(s, E);
    const double remaining = rk_search_remaining(s);
    if (met && remaining <= (rk_adds_up(s) ? EXACT : s->preference.H ? FINE : __builtin_inf()))
      return 1; /* what criteria ask for bends the path */
    const int stalls = count + 1 >= PATIENCE && !((rk_adds_up(s) ? remaining : E) < PROGRESS * history[(count + 1) % PATIENCE]);
    /* A path's level gains no more while the point is still led back to the path. */
    if (stalls && !(s->on > 0 && rk_is_velocity(s, s->on - 1) && !rk_are_all(s->level_met, s->on - 1))) break;
  }
  return s->best_error < __builtin_inf() && rk_are_all(s->best_level_met, s->on);
}

int rk_tracking_go(rk_tracking *t, const double *start, int32_t steps, int inside) {
  rk_search *s = &t->search;
  const int32_t nq = s->ik->model->nq;
  int met;
  if (rk_tracking_descend(t, start, steps, inside)) return 1;
  if (s->ik->n_bases == 0) return 0;
  rk_copy(t->straight, s->best_q, nq);
  rk_copy(s->q, start, nq);
  const double E = rk_search_measure(s, &met);
  s->as_one = 1;
  rk_tracking_step(t, E, &met);
  s->as_one = 0;
  if (rk_tracking_descend(t, s->q, steps, inside)) return 1;
  rk_copy(s->q, t->straight, nq);
  s->is_kept = 0;
  const double before = rk_search_measure(s, &met);
  if (rk_search_is_better(s, before, met)) rk_search_keep(s, before);
  return 0;
}

void rk_tracking_look(rk_tracking *t, const double *q) {
  rk_search *s = &t->search;
  int met;
  rk_copy(s->q, q, t->track->ik->model->nq);
  s->is_kept = 0;
  rk_search_keep(s, rk_search_measure(s, &met));
}
