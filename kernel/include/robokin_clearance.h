/* Links that keep away from one another and from obstacles. Conventions as in robokin_kernel.h. */
#ifndef ROBOKIN_CLEARANCE_H
#define ROBOKIN_CLEARANCE_H

#include "robokin_collision.h"

struct rk_track; /* robokin_track.h */

/* Which shapes are looked at: ClearanceTask in solvers/tasks/clearance.py. Not owned. */
typedef struct rk_clearance {
  const rk_shape *shapes; /* [n_shapes] of the links, then obstacles */
  const int32_t *node;    /* [n_links] that each is fixed to; -1: the root frame */
  const double *own;      /* [n_links][12] its placement there */
  const int32_t *pairs;   /* [n_pairs][2] */
  double wanted, within;  /* what a pair is to keep; pairs that are farther apart ask for nothing */
  double spare;           /* beyond `wanted`: rows ask for it as far as a little motion leads the two apart */
  int32_t n_shapes, n_links, n_pairs, rows; /* rows: of so many pairs, the nearest */
} rk_clearance;

RK_API int32_t rk_sizeof_clearance(void);

/* What a look has seen. */
enum rk_look_code { RK_LOOK_FREE = 0, RK_LOOK_BLOCKED = 1, RK_LOOK_FAILED = 2 };

/* Doubles of workspace that rk_look_ahead needs. */
RK_API int64_t rk_look_workspace(const struct rk_track *track, const rk_clearance *clearance);

/* The robot goes a step[nv] from q[nq] and brakes from then on as hard as it may, until it stands: looks half-way and at
   the end of each frame, at most `longest` of them. The track's model is the whole robot.
   obstacles[n_shapes - n_links][12]. needed[n_pairs]: what each pair is to keep.
   end[nq]: where the step leads. Of RK_LOOK_FREE, kept[n_pairs]: the distances there, those above `within` as that. Of
   RK_LOOK_BLOCKED and RK_LOOK_FAILED: which pair, and its distance where it is farthest below what it is to keep.
   Returns an rk_look_code. */
RK_API int32_t rk_look_ahead(const struct rk_track *track, const rk_clearance *clearance, const double *obstacles,
                             const double *q, const double *step, const double *needed, int32_t longest, double *work,
                             double *end, double *kept, int32_t *pair, double *distance);

#endif
