/* The differential step: tasks of strict priorities and criteria, inside all limits. Conventions as in
   robokin_kernel.h. */
#ifndef ROBOKIN_STEP_H
#define ROBOKIN_STEP_H

#include "robokin_hierarchy.h"
#include "robokin_ik.h"

/* Criteria that the kernel computes; the values are those of CriterionKind in solvers/criteria/base.py. */
enum rk_criterion_kind {
  RK_LEAST_VELOCITY = 0,
  RK_SPRINGS = 1,
  RK_KINETIC_ENERGY = 2,
  RK_MANIPULABILITY = 3,
  RK_SMALLEST_SINGULAR_VALUE = 4,
  RK_GRAVITY_TORQUE = 5
};

/* CriterionRecord in solvers/criteria/base.py says what each field means. */
typedef struct rk_criterion {
  int32_t kind, reserved;
  double weight, gain;
  const double *metric, *stiffness; /* [nv] */
  const double *rest;               /* [nq] */
  const double *gravity;            /* [3] */
} rk_criterion;

/* A compiled problem: NativeStep in solvers/native_step.py. Not owned. */
typedef struct rk_step {
  const rk_model *model;        /* the whole robot; frame i is the tip of frame task i */
  const rk_task *tasks;         /* [n_frames] with `exact` in all parts */
  const double *bands;          /* [n_frames][6] errors that do not count */
  const int32_t *first;         /* [n_frames] 1: of the first level, whose rows criteria look at */
  const rk_criterion *criteria; /* [n_criteria] */
  const double *scale;          /* [nv] L for lengths, 1 for angles */
  const double *largest, *change, *lower, *upper; /* [nv], and coordinate[nv]: StepLimits in solvers/viability.py */
  const int32_t *coordinate;
  double dt, length;
  int32_t n_criteria, reserved;
} rk_step;

/* Where a step starts, and what it brings. */
typedef struct rk_step_data {
  const double *q, *previous, *targets; /* [nq], [nv] the last velocity, [n_frames][16] */
  const int32_t *first_row;             /* [n_frames] of each frame task, which fills its rows of the levels in */
  int32_t levels, n_active;             /* n_active is a result: how many entries of `active` are 1 */
  const int32_t *start;                 /* as in rk_levels; rows of n = nv columns, m in all */
  double *J, *low, *high;
  const double *damping;
  const double *H, *g;                  /* [nv][nv], [nv] of other criteria, weighted; null: none */
  double *v;                            /* [nv] */
  double *lacking;                      /* [m] */
  double *points;                       /* [levels + 1][nv] as in rk_hierarchy, or null */
  double *errors, *residuals;           /* [n_frames][2] before and after the step */
  double *costs;                        /* [n_criteria] */
  int32_t *freedom, *active;            /* [levels + 1]; [nv] 1: at a limit */
} rk_step_data;

enum rk_step_code { RK_STEP_DONE = 0, RK_STEP_BAD_START = 1, RK_STEP_NOT_CONVEX = 2 };

RK_API int32_t rk_sizeof_step(void);
RK_API int32_t rk_sizeof_step_data(void);
RK_API int32_t rk_sizeof_criterion(void);

/* Doubles of workspace that rk_step_run needs for m rows. */
RK_API int64_t rk_step_workspace(const rk_step *step, int32_t m);

/* One step; returns an rk_step_code. RK_STEP_BAD_START: q or previous is not finite, or a quaternion not of unit
   length to 1e-12. */
RK_API int32_t rk_step_run(const rk_step *step, rk_step_data *data, double *work);

#endif
