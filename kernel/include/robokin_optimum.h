/* The pose that criteria like best among those that the tasks allow. Conventions as in robokin_kernel.h. */
#ifndef ROBOKIN_OPTIMUM_H
#define ROBOKIN_OPTIMUM_H

#include "robokin_stack.h"

/* Fills rk_optimum.other in with the potentials that the kernel has not, at stack->q; the slope only when it is asked
   for. */
typedef void (*rk_other_potentials)(int32_t with_slope);

/* A compiled problem: KernelOptimum in solvers/optimum/native.py. Of the stack's criteria those on velocities have no
   say. Not owned. */
typedef struct rk_optimum {
  const rk_stack *stack;
  const double *lower, *upper;    /* [nq] where q may be */
  const rk_cone *cones;           /* [n_cones] */
  const double *metric;           /* [nv] of the other potentials, weighted; null: none */
  const double *other;            /* [2 + nv] their weighted sum, that of their sizes, and its slope along v */
  rk_other_potentials potentials; /* null: the kernel has all */
  int32_t n_cones, poses;         /* poses: so many are looked at, at most */
} rk_optimum;

/* Why a pose is said to be no optimum. */
enum rk_optimum_code {
  RK_OPTIMUM_FOUND = 0,
  RK_OPTIMUM_FALLING = 1, /* after all steps the cost still falls */
  RK_OPTIMUM_FLAT = 2,    /* the last steps lowered the cost by `change` only */
  RK_OPTIMUM_STUCK = 3,   /* no step lowers the cost */
  RK_OPTIMUM_AROUND = 4   /* there was always something better around */
};

/* stationary: KKT residual, what the tasks and limits leave of the gradient, relative to it; infinite: not known.
   code: an rk_optimum_code, RK_OPTIMUM_FOUND exactly when `stationary` is at most 1e-6 and nothing better is around. */
typedef struct rk_optimum_outcome {
  double cost, stationary, change;
  int32_t code, iterations, poses, reserved; /* poses: looked at */
} rk_optimum_outcome;

RK_API int32_t rk_sizeof_optimum(void);

/* Doubles of workspace that rk_optimum_find needs; of a stack with a clearance zeros at first, as of rk_step_run. */
RK_API int64_t rk_optimum_workspace(const rk_optimum *optimum);

/* Moves q[nq], which is inside the limits and meets the tasks as far as it does, to where the weighted sum of the
   potentials, each times its gain, is least; no level is met worse than before. The stack is aimed and laid out. */
RK_API void rk_optimum_find(const rk_optimum *optimum, double *q, double *work, rk_optimum_outcome *outcome);

#endif
