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
  int32_t kind, rank;
  double weight, gain;
  const double *metric, *stiffness; /* [nv] */
  const double *rest;               /* [nq] */
  const double *gravity;            /* [3] */
} rk_criterion;

/* What a row of a task on the whole robot is of; the values are those of RowKind in solvers/tasks/robot_rows.py. */
enum rk_row_kind {
  RK_ROW_CENTER = 0,     /* the centre of mass along `aim` */
  RK_ROW_COORDINATE = 1, /* q[coordinate], the one of v[column] */
  RK_ROW_SHIFT = 2,      /* of a floating joint, whose q and v begin there: entry `component` of its position */
  RK_ROW_TURN = 3,       /* of a quaternion, which begins there: an entry of the rotation from `aim`, in its own axes */
  RK_ROW_RATE = 4        /* v[column] */
};

/* lower <= what it is of <= upper at the end of a step, in metres and radians, for RK_ROW_RATE per second. */
typedef struct rk_robot_row {
  int32_t kind, column, coordinate, component;
  int32_t residual, reserved;  /* which entry of the residuals it counts in, 2 task + part */
  double weight, lower, upper; /* of lengths the weight is over L */
  double aim[4];               /* a direction, or a quaternion */
} rk_robot_row;

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
  int32_t n_criteria, n_robot_tasks;
} rk_step;

/* Where a step starts, and what it brings. */
typedef struct rk_step_data {
  const double *q, *previous, *targets; /* [nq], [nv] the last velocity, [n_frames][16] */
  const int32_t *first_row;             /* [n_frames] of each frame task, which fills its rows of the levels in */
  const int32_t *stays;                 /* [n_frames] 1: its target is where its tip is */
  const rk_robot_row *robot_rows;       /* [n_robot_rows] of the other tasks that the kernel knows */
  const int32_t *robot_at;              /* [n_robot_rows] which rows of the levels they are */
  int32_t n_robot_rows, reserved;
  int32_t levels, n_active;             /* n_active is a result: how many entries of `active` are 1 */
  const int32_t *start;                 /* as in rk_levels; rows of n = nv columns, m in all */
  double *J, *low, *high;
  const double *damping;
  const double *H, *g;                  /* [nv][nv], [nv] of other criteria, weighted; null: none */
  double *v;                            /* [nv] */
  double *lacking;                      /* [m] */
  double *points;                       /* [levels + 1][nv] as in rk_hierarchy, or null */
  double *errors, *residuals;           /* [n_frames + n_robot_tasks][2] before and after the step */
  double *costs;                        /* [n_criteria] */
  int32_t *freedom, *active;            /* [levels + 1]; [nv] 1: at a limit */
} rk_step_data;

enum rk_step_code { RK_STEP_DONE = 0, RK_STEP_BAD_START = 1, RK_STEP_NOT_CONVEX = 2 };

RK_API int32_t rk_sizeof_step(void);
RK_API int32_t rk_sizeof_step_data(void);
RK_API int32_t rk_sizeof_criterion(void);
RK_API int32_t rk_sizeof_robot_row(void);

/* Doubles of workspace that rk_step_run needs for m rows. */
RK_API int64_t rk_step_workspace(const rk_step *step, int32_t m);

/* One step; returns an rk_step_code. RK_STEP_BAD_START: q or previous is not finite or larger than 1e30, or a quaternion not of unit
   length to 1e-12. With levels = -1 no step is made: J, low, high and errors are filled in. */
RK_API int32_t rk_step_run(const rk_step *step, rk_step_data *data, double *work);

#endif
