/* Whether a robot that goes a step can still stop before it comes too near to anything. Twin of SafeStop in
   solvers/tracking/avoidance/safe_stop.py, which explains it. */
#include "robokin_track.h"

#include "collision/robot_pairs.h"
#include "limits/coupled.h"
#include "limits/rk_viability.h"
#include "limits/rolling.h"
#include "math/rk_arena.h"
#include "robot/rk_tree.h"

static const double STANDS = 1e-9;   /* of a step, beside which no joint moves */
static const double ROUNDING = 1e-9; /* [m] */

typedef struct looking {
  const rk_track *track;
  const rk_clearance *clearance;
  rk_places places;
  double *nodes, *q, *there, *step, *part, *slower;
} looking;

static int64_t lay_out(const rk_track *track, const rk_clearance *c, double *work, looking *s) {
  const rk_model *m = track->ik->model;
  rk_arena arena = {.base = work};
  *s = (looking){.track = track, .clearance = c};
  s->places.placements = rk_take(&arena, 12 * (int64_t)c->n_shapes);
  s->places.centres = rk_take(&arena, 3 * (int64_t)c->n_shapes);
  s->nodes = rk_take(&arena, 12 * (int64_t)m->n_nodes);
  s->q = rk_take(&arena, m->nq);
  s->there = rk_take(&arena, m->nq);
  s->step = rk_take(&arena, m->nv);
  s->part = rk_take(&arena, m->nv);
  s->slower = rk_take(&arena, m->nv);
  return arena.used;
}

int64_t rk_look_workspace(const rk_track *track, const rk_clearance *clearance) {
  looking s;
  return lay_out(track, clearance, 0, &s);
}

/* there: after `share` of the step; wheeled bases roll. */
static void move(const looking *s, double share) {
  const rk_ik *ik = s->track->ik;
  for (int32_t k = 0; k < ik->model->nv; k++) s->part[k] = share * s->step[k];
  rk_integrate(ik->model, 1, s->q, s->part, s->there);
  for (int32_t k = 0; k < ik->n_bases; k++) {
    const rk_base *base = ik->bases + k;
    const double turned[2] = {s->part[base->wheel_v[0]], s->part[base->wheel_v[1]]};
    rk_roll(base, s->q + base->q, turned, s->there + base->q);
  }
}

/* The next step when all brake: StepLimits.coasting. Returns whether the robot stands then. */
static int brake(const looking *s) {
  const rk_track *track = s->track;
  const rk_ik *ik = track->ik;
  const int32_t nv = ik->model->nv;
  double most = 0.0;
  for (int32_t k = 0; k < nv; k++) {
    const int32_t i = track->coordinate[k];
    const double position = i >= 0 ? s->q[i] : 0.0, inf = __builtin_inf();
    double lo, hi;
    rk_viable_step(s->step[k], i >= 0 ? position - track->lower[k] : inf, i >= 0 ? track->upper[k] - position : inf,
                   track->largest[k], track->change[k], &lo, &hi);
    s->slower[k] = rk_clamp(0.0, lo, hi);
  }
  for (int32_t k = 0; k < ik->n_cones; k++) {
    const int32_t v = ik->cones[k].v, columns[3] = {v, v + 1, v + 2};
    rk_brake_together(3, columns, s->step, track->change, s->slower);
  }
  for (int32_t k = 0; k < ik->n_bases; k++)
    rk_brake_together(2, ik->bases[k].wheel_v, s->step, track->change, s->slower);
  for (int32_t k = 0; k < nv; k++) {
    s->step[k] = s->slower[k];
    most = rk_max(most, __builtin_fabs(s->step[k]));
  }
  return most <= STANDS;
}

int32_t rk_look_ahead(const rk_track *track, const rk_clearance *clearance, const double *obstacles, const double *q,
                      const double *step, const double *needed, int32_t longest, double *work, double *end,
                      double *kept, int32_t *pair, double *distance) {
  const rk_model *m = track->ik->model;
  int32_t code = RK_LOOK_FREE;
  double worst = -ROUNDING;
  looking s;
  lay_out(track, clearance, work, &s);
  rk_copy(s.q, q, m->nq);
  rk_copy(s.step, step, m->nv);
  rk_place_obstacles(clearance, obstacles, &s.places);
  for (int32_t frame = 0; frame < longest; frame++) {
    for (int half = 1; half >= 0; half--) {
      move(&s, half ? 0.5 : 1.0);
      rk_place_nodes(m, s.there, s.nodes);
      rk_place_links(clearance, s.nodes, &s.places);
      for (int32_t i = 0; i < clearance->n_pairs; i++) {
        /* Where another pair is too near, one counts only where it comes nearer: how deep it is takes longest to find. */
        int counts = code == RK_LOOK_FREE;
        const double most = counts ? clearance->within : rk_min(clearance->within, needed[i] + worst);
        double own[10], radii, value = most;
        const double square = rk_pair_centres(clearance, &s.places, i, &radii), reach = value + radii;
        if (reach > 0.0 && !(square > reach * reach)) {
          const int32_t status = rk_pair_distance(clearance, &s.places, i, value, own);
          if (status == RK_DISTANCE_FAILED) {
            *pair = i;
            return RK_LOOK_FAILED;
          }
          if (status == RK_DISTANCE_FOUND && own[0] < value) value = own[0], counts = 1;
        }
        if (frame == 0 && !half) kept[i] = value;
        if (counts && value - needed[i] < worst) worst = value - needed[i], *pair = i, *distance = value, code = RK_LOOK_BLOCKED;
      }
      if (frame == 0 && !half) rk_copy(end, s.there, m->nq);
    }
    rk_copy(s.q, s.there, m->nq);
    if (brake(&s)) break;
  }
  return code;
}
