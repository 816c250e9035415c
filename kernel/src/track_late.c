/* Frames that are too fast: level by level as near as limits on speed allow. Twin of `_Frame.hurried` and what it stands on in
   solvers/tracking_reference.py. */
#include "tracking.h"

#include "rk_math.h"
#include "rk_viability.h"

enum { PULLS = 4 };
static const double SPARE = 0.1; /* of a tolerance: by how much a residual may change that a level above has got */

/* q = one frame on when every joint follows its goal time-optimally. */
static void follow(const rk_tracking *t, const double *goal, double *q) {
  const rk_track *track = t->track;
  const rk_model *m = track->ik->model;
  rk_difference(m, 1, t->frame.last, goal, t->frame.way);
  rk_difference(m, 1, t->goal, goal, t->pace);
  for (int32_t k = 0; k < m->nv; k++) {
    const double largest = track->largest[k];
    const double pace = rk_min(rk_max(t->pace[k], -largest), largest);
    const double gap = t->frame.way[k] - pace;
    const double braked = rk_braking_step(__builtin_fabs(gap), track->change[k]);
    t->pace[k] = rk_min(rk_max(pace + (gap < 0.0 ? -braked : braked), t->frame.lo[k]), t->frame.hi[k]);
  }
  rk_integrate(m, 1, t->frame.last, t->pace, q);
  rk_frame_bounds_keep(&t->frame, q);
}

int rk_tracking_is_reached(rk_tracking *t, const double *goal) {
  const rk_model *m = t->track->ik->model;
  follow(t, goal, t->pulled);
  rk_difference(m, 1, goal, t->pulled, t->pace);
  for (int32_t k = 0; k < m->nv; k++)
    if (!(__builtin_fabs(t->pace[k]) <= RK_AT_GOAL)) return 0;
  return 1;
}

/* Keeps what the tasks, and rows of the first `above` levels, lack at the configuration that was measured last. */
static void note(rk_tracking *t, int32_t above) {
  const rk_stack *stack = t->search.ik->stack;
  const rk_step_data *data = stack->data;
  for (int32_t row = 0; row < data->start[above]; row++) t->left[row] = rk_clamp(0.0, data->low[row], data->high[row]);
  rk_copy(t->kept, stack->residuals, 2 * (int64_t)stack->n_tasks);
  rk_copy(t->kept_across, stack->across, 2 * (int64_t)stack->n_tasks);
}

/* Asks for what was noted, in place of what the tasks want. */
static void ask_for_noted(const rk_tracking *t, int32_t above) {
  const rk_step_data *data = t->search.ik->stack->data;
  for (int32_t row = 0; row < data->start[above]; row++) data->low[row] -= t->left[row], data->high[row] -= t->left[row];
}

/* Whether the parts of a task are as they were noted, or better. */
static int is_kept(const double *tolerance, const double *noted, const double *own) {
  for (int part = 0; part < 2; part++)
    if (own[part] > tolerance[part] && own[part] > noted[part] + SPARE * tolerance[part]) return 0;
  return 1;
}

static int has_noted(const rk_tracking *t, int32_t above) {
  const rk_stack *stack = t->search.ik->stack;
  for (int32_t task = 0; task < stack->n_tasks; task++) {
    const int64_t own = 2 * (int64_t)task;
    const int32_t way = stack->way[task];
    const double *tolerance = stack->tolerance + own;
    if (stack->level[task] < above && way >= 0 && !is_kept(tolerance, t->kept_across + own, stack->across + own)) return 0;
    if ((way < 0 ? stack->level[task] : way) < above && !is_kept(tolerance, t->kept + own, stack->residuals + own)) return 0;
  }
  return 1;
}

/* q, which has brought the first `above` levels as far as limits on speed allow, towards `pulled`, where every joint would
   follow its goal, or when the next level is of velocities to what it asks for, while these levels keep what they have. */
static void pull(rk_tracking *t, int32_t above, double *q) {
  rk_search *s = &t->search;
  const int32_t nq = t->track->ik->model->nq;
  const int is_led = !rk_is_velocity(s, above);
  int met;
  rk_tracking_stay(t, 1);
  s->on = is_led ? above : above + 1;
  rk_copy(s->q, q, nq);
  rk_search_measure(s, &met);
  note(t, above);
  for (int32_t k = 0; k < PULLS; k++) {
    s->preference = (rk_preference){k || !is_led ? 0 : t->even, t->none, t->pulled};
    ask_for_noted(t, above);
    s->is_kept = 0;
    rk_search_damped_step(s, -1.0);
    s->iterations++;
    rk_search_measure(s, &met);
    if (has_noted(t, above)) {
      rk_copy(q, s->q, nq);
      break;
    }
  }
  s->preference.H = 0;
}

/* Whether a frame that ends at q leaves no more speed against that of the goal than one frame can brake: what is met so is
   not passed in the next one. */
static int is_brakeable(const rk_tracking *t, const double *q, const double *goal) {
  const rk_model *m = t->track->ik->model;
  rk_difference(m, 1, t->frame.last, q, t->frame.way);
  rk_difference(m, 1, t->goal, goal, t->pace);
  for (int32_t k = 0; k < m->nv; k++)
    if (!(__builtin_fabs(t->frame.way[k] - t->pace[k]) <= t->track->change[k])) return 0;
  return 1;
}

void rk_tracking_hurry(rk_tracking *t, int is_braking) {
  rk_search *s = &t->search;
  const int32_t nq = t->track->ik->model->nq;
  int in_time = 1;
  rk_copy(t->q, t->frame.last, nq);
  for (int32_t k = 1; k <= s->levels; k++) {
    const double *goal = t->goals + (int64_t)(k - 1) * nq;
    s->on = k;
    s->preference.H = 0;
    const int moves = rk_is_velocity(s, k - 1);
    const int is_tried = k == 1 && s->levels == 1 && !is_braking && !moves; /* above */
    if (in_time && !is_tried && rk_tracking_descend(t, t->q, RK_FRAME_STEPS, 1) &&
        (!is_braking || moves || is_brakeable(t, s->best_q, goal))) {
      rk_copy(t->q, s->best_q, nq);
      continue;
    }
    if (moves) {
      if (in_time) {
        rk_search_settle(s, RK_FRAME_STEPS, RK_SETTLED);
        rk_copy(t->q, s->best_q, nq);
      } else {
        pull(t, k - 1, t->q);
      }
      in_time = 0;
      continue;
    }
    const int reached = rk_tracking_is_reached(t, goal);
    if (k == 1 || (in_time && reached))
      rk_copy(t->q, t->pulled, nq);
    else
      pull(t, k - 1, t->q);
    in_time = in_time && reached;
  }
  s->on = s->levels;
}

void rk_tracking_name(rk_tracking *t, const double *goal, int of_velocities, const double *q, int8_t *behind) {
  const rk_model *m = t->track->ik->model;
  int any = 0;
  if (of_velocities) {
    rk_copy(t->pulled, goal, m->nq);
    rk_frame_bounds_keep(&t->frame, t->pulled);
    rk_difference(m, 1, goal, t->pulled, t->pace);
  } else {
    rk_tracking_is_reached(t, goal);
  }
  for (int32_t k = 0; k < m->nv; k++) any |= behind[k] = __builtin_fabs(t->pace[k]) > RK_AT_GOAL;
  if (any) return;
  rk_difference(m, 1, t->frame.last, q, t->pace); /* of a way that comes back to where it was, who is as fast as may be */
  for (int32_t k = 0; k < m->nv; k++)
    behind[k] = t->pace[k] <= t->frame.lo[k] + RK_AT_GOAL || t->pace[k] >= t->frame.hi[k] - RK_AT_GOAL;
}
