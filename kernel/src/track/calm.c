/* Bases that are led, and do not swing to and fro. Twin of `Frame.be_calm` in solvers/tracking/reference/frame.py. */
#include "limits/rolling.h"
#include "track/tracking.h"

static const double ON_AXLE = 1e-2; /* [m] */
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

/* Whether the first level, which is met at the best configuration, asks there for the place of a point on the axle: to first order
   no turn moves that across the line that the wheels point along. What it misses after a little turn, drive, and both tells. */
static int is_on_axle(rk_tracking *t, const rk_base *base) {
  static const double moves[3][2] = {{1e-2, 0.0}, {0.0, 1e-2}, {1e-2, 1e-2}}; /* drive [m], turn [rad] */
  rk_search *s = &t->search;
  double *at = t->frame.moved, error[3];
  for (int k = 0; k < 3; k++) {
    double turned[2];
    int met;
    rk_copy(s->q, at, t->track->ik->model->nq);
    rk_turn_wheels(base, moves[k][0], moves[k][1], turned);
    rk_roll(base, at + base->q, turned, s->q + base->q);
    for (int i = 0; i < 2; i++) s->q[base->wheel_q[i]] += turned[i];
    rk_search_measure(s, &met);
    error[k] = s->level_error[0];
  }
  const double both = error[2] - error[0] - error[1]; /* the product of what drive and turn lead to */
  return error[0] > 0.0 && error[1] - 0.25 * both * both / error[0] <= ON_AXLE * ON_AXLE * error[0];
}

int rk_tracking_be_calm(rk_tracking *t) {
  rk_search *s = &t->search;
  const rk_ik *ik = t->track->ik;
  const double *H = s->preference.H;
  if (ik->n_bases == 0 || s->levels == 0 || rk_is_velocity(s, 0)) return 0;
  s->preference.H = 0;
  s->on = 1;
  const int met = rk_tracking_descend(t, t->frame.last, RK_GOAL_STEPS, 1) || rk_search_settle(s, RK_SETTLING_STEPS, RK_SETTLED);
  rk_copy(t->frame.moved, s->best_q, ik->model->nq);
  for (int32_t b = 0; met && b < ik->n_bases && !t->frame.calm; b++) {
    const rk_base *base = ik->bases + b;
    const double swing = rk_frame_bounds_swing(&t->frame, base, t->frame.moved);
    if (swing > 0.0 && is_of_bases(t) && is_on_axle(t, base)) t->frame.calm = base, t->frame.calm_turn = CALM * swing;
  }
  s->on = s->levels;
  s->preference.H = H;
  t->placed = 0;
  return t->frame.calm != 0;
}
