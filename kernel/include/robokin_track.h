/* Tracking: following moving targets frame by frame, inside position, velocity and acceleration limits.
   Conventions as in robokin_kernel.h. */
#ifndef ROBOKIN_TRACK_H
#define ROBOKIN_TRACK_H

#include "robokin_stack.h"

/* A problem and its limits per frame: StepLimits in solvers/limits/viability.py. Not owned. */
typedef struct rk_track {
  const rk_ik *ik;
  const double *largest, *change; /* [nv] of a step, and of its change from frame to frame */
  const int32_t *coordinate;      /* [nv] the coordinate a column moves one to one, -1: of a ball or floating joint */
  const double *lower, *upper;    /* [nv] position bounds where there is a coordinate */
  int32_t braked, curved;         /* some change is limited; some step of a ball or floating joint is limited */
  double lasting;                 /* frames for which criteria go on moving a robot whose targets stand still */
} rk_track;

/* Continues enum rk_ik_code: the targets can be met, but not that fast. */
enum { RK_TRACK_LATE = 5 };

RK_API int32_t rk_sizeof_track(void);

/* Doubles of workspace that rk_track_run needs; of a stack with a clearance zeros at first, as of rk_step_run. */
RK_API int64_t rk_track_workspace(const rk_track *track);

/* Follow targets[count][n_frames][16], 4x4 row-major, and of a stack robot_rows[count][n_robot_rows], for `count` frames
   from `state` on, which is updated: q[nq]; levels[levels][nq + 3], of each its goal, its least error and the fewest frames that
   were left to the goal, since targets stand still, and 1 where bases get to that by several arcs; step[nv]; late (how many
   levels, from the first on that was not met and is not of velocities); patience (frames after which the robot comes to rest
   where targets stand still, unless it gains something); all of the support. Two calls give the bits of one over all their
   frames.
   q[count][nq] of the support; residuals[count][tasks][2]; codes[count]; iterations[count]; behind[count][nv]: 1 for
   columns that are not at the goal while late. still[count] (or null): 1 where the targets are those of the frame before, plus
   2 where obstacles are. Ends at a frame with a target that is not a finite rigid placement;
   returns the number of frames done. */
RK_API int64_t rk_track_run(const rk_track *track, int64_t count, const double *targets, const rk_robot_row *robot_rows,
                            const int8_t *still, double *state, double *work, double *q, double *residuals, int32_t *codes,
                            int32_t *iterations, int8_t *behind);

#endif
