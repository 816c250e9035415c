/* The bounds of one frame of tracking: the viable steps, and what joints that share one limit make of them. */
#ifndef RK_FRAME_BOUNDS_H
#define RK_FRAME_BOUNDS_H

#include "robokin_track.h"

typedef struct rk_frame_bounds {
  const rk_track *track;
  double *last, *step;   /* [nq], [nv] where the frame begins, and the step before */
  const rk_base *calm;   /* turns by calm_turn [rad] at most; null: none */
  double calm_turn;
  double *lo, *hi;       /* [nv] viable steps */
  double *lower, *upper; /* [nq] the box of coordinates that they allow */
  double *dq, *moved;   /* [nv], [nq] workspace */
} rk_frame_bounds;

/* Fills lo, hi, lower and upper. */
void rk_frame_bounds_find(const rk_frame_bounds *f);

/* A plain joint inside the viable steps again; inside its position limits alone. */
void rk_frame_bounds_hold(const rk_frame_bounds *f, int32_t column);
void rk_frame_bounds_free(const rk_frame_bounds *f, int32_t column);

/* q into the box, and its step from the last configuration into the viable steps. */
void rk_frame_bounds_keep(const rk_frame_bounds *f, double *q);

/* The turn [rad] of a base that gets to q, where it turns back by about as much as it turned in the frame before; else 0. */
double rk_frame_bounds_swing(const rk_frame_bounds *f, const rk_base *base, const double *q);

/* q = one frame on when every joint follows its goal time-optimally, which was at `before`. pace: [nv] workspace. */
void rk_frame_bounds_follow(const rk_frame_bounds *f, const double *before, const double *goal, double *pace, double *q);

/* No joint is faster than it brakes in so many frames, one at least, or in the next frame. */
void rk_frame_bounds_slow(const rk_frame_bounds *f, double frames);

/* No joint comes nearer to a goal, which was at `before`, than it can brake on its way there, or by a speed that one frame
   brakes; but as fast as in a step [nv] it may. Else one that has no limits drags others along, past their goals and back:
   where there is none, all stays. */
void rk_frame_bounds_brake(const rk_frame_bounds *f, const double *before, const double *goal, const double *step, double *pace);

#endif
