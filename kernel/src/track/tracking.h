/* One frame of tracking: its descents, and what is done when it is too fast. */
#ifndef RK_TRACKING_H
#define RK_TRACKING_H

#include "math/rk_math.h"
#include "track/frame_bounds.h"
#include "step/stack.h"

enum { RK_FRAME_STEPS = 10, RK_GOAL_STEPS = 30, RK_SETTLING_STEPS = 60 };
#define RK_SETTLED 1e-5 /* relative: a goal whose error changes by less is found */
#define RK_STANDING 0.5 /* of a tolerance: by how much a level that stands may be off its goal */
#define RK_AT_GOAL 1e-9 /* [rad, m] */

/* One frame: its bounds, and where things lie in the workspace. */
typedef struct rk_tracking {
  const rk_track *track;
  rk_search search;
  rk_model box_model;        /* the support with the frame's bounds in place of the position limits */
  rk_ik box;
  rk_frame_bounds frame;     /* with the state's last configuration and step */
  double *kept;              /* [levels][nq + 3] of the state: the goal of each, and its rk_progress */
  double *pace;              /* [nv] of a goal */
  double *q;                 /* [nq] */
  double *goals;             /* [levels][nq] that meet the first levels without limits on speed */
  double *H, *g, *even, *none, *objective; /* [nv][nv], [nv] of the criteria, [nv][nv] the identity, [nv] zeros */
  double *x, *direction, *gradient, *change; /* [nv] of the step of criteria */
  double *pulled, *straight; /* [nq] */
  int32_t *busy;             /* [nv] of the search: columns of levels that are late */
  int32_t by_arcs;           /* bases get to the goals of levels from this one on by several arcs */
  int placed;                /* the tips are placed at the last configuration */
} rk_tracking;

static inline double *rk_last_goal(const rk_tracking *t, int64_t level) {
  return t->kept + level * (t->track->ik->model->nq + 3);
}

/* What a level missed at the nearest, and the fewest frames that were left to its goal, since targets stand still. by_arcs: 1
   where bases get to that by several arcs. */
typedef struct rk_progress {
  double error, time, by_arcs;
} rk_progress;

static inline rk_progress *rk_progress_of(const rk_tracking *t, int64_t level) {
  return (rk_progress *)(rk_last_goal(t, level) + t->track->ik->model->nq);
}

static inline int rk_is_zero(const double *a, int64_t count) {
  for (int64_t k = 0; k < count; k++)
    if (a[k] != 0.0) return 0;
  return 1;
}

/* Whether numbers are those of `b` [n], or zero without it. */
static inline int rk_is_near(const double *a, const double *b, int32_t n) {
  int near = 1;
  for (int32_t i = 0; i < n; i++) near &= __builtin_fabs(a[i] - (b ? b[i] : 0.0)) <= RK_AT_GOAL;
  return near;
}

/* Whether links keep apart, which is then the first level: what is in the way is named, and not who is late. */
static inline int rk_keeps_clear(const rk_tracking *t) {
  const rk_stack *stack = t->track->ik->stack;
  return stack && stack->step->clearance;
}

/* Whether the residual of a frame adds to those of the frames before. */
static inline int rk_adds_up(const rk_search *s) { return s->ik->stack && s->ik->stack->adds_up; }

static inline int rk_is_velocity(const rk_search *s, int32_t level) {
  return s->ik->stack && s->ik->stack->kind[level] != RK_LEVEL_POSES;
}

/* The next steps are inside the frame's bounds, or inside the position limits alone. */
void rk_tracking_stay(rk_tracking *t, int inside);

/* One damped step; its error. */
double rk_tracking_step(rk_tracking *t, double E, int *met);

/* Damped steps from `start` inside the frame's bounds, or inside the position limits alone, on the levels that count; 1 when
   these are met. One step at least, so that slow targets are followed smoothly and not in jerks of the size of the
   tolerance. */
int rk_tracking_descend(rk_tracking *t, const double *start, int32_t steps, int inside);

/* Steps on levels of which the last is of velocities. A base that stands has no motion across the line that its wheels point
   along, and is kept from moving on by what it is askew to that: so from one step on that weighs the levels, too. */
int rk_tracking_go(rk_tracking *t, const double *start, int32_t steps, int inside);

/* The patience that is left in a still frame, of which the first `met` levels were so before: a frame costs one, and what it brings
   a level nearer to its goal than ever gives some back. */
double rk_tracking_patience(const rk_tracking *t, double patience, int32_t met);

/* Whether the best configuration is nearer than ever since targets stand still: the first level that is not as near as then is
   nearer. */
int rk_tracking_is_nearest(const rk_tracking *t);

/* What criteria prefer in this frame, with their slope at q. */
void rk_tracking_find_preference(rk_tracking *t, const double *q);

/* From the best configuration: as the criteria prefer it, while the levels keep what they have there. */
void rk_tracking_prefer(rk_tracking *t, int is_still);

/* The best configuration is the last one, or one step on without criteria when that is off what all levels have at their goal.
   Whether they have it there. */
int rk_tracking_keep(rk_tracking *t);

/* Measures q, and makes it the best configuration. */
void rk_tracking_look(rk_tracking *t, const double *q);

/* The goals of the first levels: configurations that meet them, or come as near as those above allow, without limits on speed.
   Returns how many levels are met from the first on. is_same: the last goals are for these targets, and are only changed for
   better ones. is_found: the first level, which is not met, is that of links that keep apart, and its last goal was found
   among these obstacles, which searching on would only creep away from. */
int32_t rk_tracking_find_goals(rk_tracking *t, int is_same, int is_found);

/* frame.moved = the last goal of a level, with the bases where its wheels take them from where they are; with wheels on the first
   of several arcs to it. */
void rk_tracking_return_to_goal(const rk_tracking *t, int32_t level);

/* Whether the goal of a level is reached in this frame, at a speed that can be braked. `pulled` is where following it leads. */
int rk_tracking_is_reached(rk_tracking *t, int32_t level);

/* q of a frame whose levels cannot all be met at once: level by level, so that each one gets what it gets without those below
   it. 1 when none has a goal to come to any more. at_once: how many of them may be met at once; unbraked: how many may be met
   at any speed; may_stand: the targets are those of the frame before, and nothing has to brake. */
int rk_tracking_hurry(rk_tracking *t, int32_t at_once, int32_t unbraked, int may_stand);

/* A base that meets its target exactly in each frame may swing to and fro for ever. Where the first level would turn it back by
   about as much as it turned in the frame before, it turns a part of that: then one frame on it is in line with a target that
   goes straight on. The first level alone decides, so that those below take nothing from it. Whether it is so. */
int rk_tracking_be_calm(rk_tracking *t);

/* Whether a level needs a joint; after it was measured. Bands that hold need none: levels below keep them as they are. */
int rk_tracking_needs(const rk_tracking *t, int32_t level, int32_t column);

/* Whether the first levels, so many, have at t->q what they have at the goal of the last of them. */
int rk_tracking_is_as_good(rk_tracking *t, int32_t levels);

/* Whether a level of velocities, the first that is not met, gets farther at its goal than at the best configuration: what it
   lacks there is for other reasons than limits on speed. The goal is measured. */
int rk_tracking_goes_on(rk_tracking *t, int32_t level);

/* Notes who does not get to the goal of a level: of velocities inside the limits of this frame, else by following it.
   Beside criteria only those whose limits, freed, let the level be met. is_beyond: the goal does not meet the level either;
   noted are those that are as fast as they may be. 1 when anyone is noted. */
int rk_tracking_name(rk_tracking *t, int32_t level, const double *q, int is_beyond, int8_t *behind);

#endif
