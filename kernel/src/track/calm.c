/* Bases that are led, and do not swing to and fro. Twin of `Frame.be_calm` in solvers/tracking/reference/frame.py. */
#include "track/tracking.h"

static const double CALM = 0.75; /* of a turn back: after it the base has its heading in the next frame */

/* Whether the first level, which was measured, needs nothing but bases and their wheels. */
static int is_of_bases(const rk_tracking *t) {
  const rk_ik *ik = t->track->ik;
  for (int32_t column = 0; column < ik->model->nv; column++) {
    int is_own = 0;
    for (int32_t k = 0; k < ik->n_bases; k++) {
      const rk_base *base = ik->bases + k;
      is_own |= (column >= base->v && column < base->v + 3) || column == base->wheel_v[0] || column == base->wheel_v[1];
    }
    if (!is_own && rk_tracking_needs(t, 0, column)) return 0;
  }
  return 1;
}

int rk_tracking_be_calm(rk_tracking *t) {
  rk_search *s = &t->search;
  if (t->track->ik->n_bases == 0) return 0;
  const double *H = s->preference.H;
  s->preference.H = 0;
  s->on = 1;
  const int met = rk_tracking_descend(t, t->frame.last, RK_GOAL_STEPS, 1) || rk_search_settle(s, RK_SETTLING_STEPS, RK_SETTLED);
  if (met && is_of_bases(t))
    t->frame.calm = CALM * rk_frame_bounds_swing(&t->frame, s->best_q);
  s->on = s->levels;
  s->preference.H = H;
  t->placed = 0;
  return t->frame.calm > 0.0;
}
