/* The differential step: tasks of strict priorities and criteria, inside all limits. Conventions as in
   robokin_kernel.h. */
#ifndef ROBOKIN_STEP_H
#define ROBOKIN_STEP_H

#include "robokin_clearance.h"
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

/* Kinds of tasks on tips, and their targets; the values are those of TipKind in solvers/tasks/tip_rows.py. Placements
   T, O of the tip and the other one are in the root frame, of which the other one is where there is none. */
enum rk_tip_kind {
  RK_TIP_POSE = 0,     /* 4x4 of T */
  RK_TIP_AXIS = 1,     /* 4x4, the third column of its rotation the direction of `axis` */
  RK_TIP_RELATIVE = 2, /* 4x4 of T in O */
  RK_TIP_DISTANCE = 3, /* distance, point[3] in O */
  RK_TIP_AIM = 4,      /* point[3] that `axis` points at */
  RK_TIP_PLANE = 5,    /* point[3], normal[3] */
  RK_TIP_LINE = 6,     /* point[3], two directions [2][3] across it */
  RK_TIP_ADVANCE = 7,  /* vector[3], the placement [12] that it is counted from */
  RK_TIP_LASER = 8,    /* spot[3] of the beam along `axis`, and its surface [13]: 0, a plane's point[3] and normal[3]; or the
                          address of a mesh's rk_triangles, a whole number, and the placement [12] of the mesh */
  RK_TIP_TWIST = 9,    /* twist[6] */
  RK_TIP_CURVE = 10,   /* the address of its rk_segments, and how many there are: both are whole numbers */
  RK_TIP_SPOT = 11     /* these two of a curve, and the surface [13] that the beam along `axis` has its spot on */
};

/* A straight piece of a curve: SEGMENT in solvers/tasks/places/curve.py says what each field means. */
typedef struct rk_segment {
  double origin[3], along[3], start, size, whole;
  int32_t following, reserved;
} rk_segment;

/* A triangle of a mesh: TRIANGLE in solvers/tasks/places/surface.py says what each field means. */
typedef struct rk_triangle {
  double corner[3], sides[2][3], normal[3];
  int32_t is_last, reserved;
} rk_triangle;

enum rk_tip_axes { RK_ROOT_AXES = 0, RK_TIP_AXES = 1, RK_SPACE_AXES = 2 };

/* A task on one tip, or on one and another: six rows, those of weight 0 left out; the first three count in its first
   residual, the others in its second one. TIP_ROWS in solvers/tasks/tip_rows.py says what each field means. */
typedef struct rk_tip_rows {
  int32_t kind, tip, other;        /* frames of the model; other -1: the root frame */
  int32_t axes, side, is_ball, is_first, reserved;
  double weights[6], bands[6];     /* of lengths the weight is over L; errors that do not count */
  double axis[3], correction;      /* correction: of a loop closure */
} rk_tip_rows;

/* What a row of a task on the whole robot is of; the values are those of RowKind in solvers/tasks/robot_rows.py. */
enum rk_row_kind {
  RK_ROW_CENTER = 0,     /* the centre of mass along `aim` */
  RK_ROW_COORDINATE = 1, /* q[coordinate], the one of v[column] */
  RK_ROW_SHIFT = 2,      /* of a floating joint, whose q and v begin there: entry `component` of its position */
  RK_ROW_TURN = 3,       /* of a quaternion, which begins there: an entry of the rotation from `aim`, in its own axes */
  RK_ROW_RATE = 4,       /* v[column] */
  RK_ROW_RATES = 5       /* row `component` of `rates`, times v */
};

/* lower <= what it is of <= upper at the end of a step, in metres and radians, for RK_ROW_RATE and RK_ROW_RATES per
   second. */
typedef struct rk_robot_row {
  int32_t kind, column, coordinate, component;
  int32_t residual, is_first;  /* which entry of the residuals it counts in, 2 task + part; 1: of the first level */
  double weight, lower, upper; /* of lengths the weight is over L */
  double aim[4];               /* a direction, or a quaternion */
} rk_robot_row;

/* A compiled problem: NativeStep in solvers/velocity/native.py. Not owned. */
typedef struct rk_step {
  const rk_model *model;        /* the whole robot; its frames are the tips */
  const rk_tip_rows *tips;      /* [n_tips] */
  const rk_criterion *criteria; /* [n_criteria] */
  const double *scale;          /* [nv] L for lengths, 1 for angles */
  const double *largest, *change, *lower, *upper; /* [nv], and coordinate[nv]: StepLimits in solvers/limits/viability.py */
  const int32_t *coordinate;
  double dt, length;
  int32_t n_tips, n_robot_tasks, n_criteria;
  int32_t most_first;           /* equations of tasks on the whole robot of the first level, at most */
  const rk_clearance *clearance; /* one more task, the last one of the kernel's; null: none */
} rk_step;

/* Where a step starts, and what it brings. */
typedef struct rk_step_data {
  const double *q, *previous, *targets; /* [nq], [nv] the last velocity, [n_tips][16]: see rk_tip_kind */
  const int32_t *stays;                 /* [n_tips] 1: what its target is, or is counted from, is where the tip is */
  const int32_t *first_row;             /* [n_tips] where the rows of each task are: in its level, or behind all levels */
  const int32_t *made_row;              /* [n_tips][2] -1, -1; of a velocity that has a path: in its levels, all rows but one,
                                           across the path, and one along it; of a loop closure: in its level, and -1 */
  const double *shares;                 /* [n_tips + n_robot_tasks] the share of the residual that a step removes */
  const rk_robot_row *robot_rows;       /* [n_robot_rows] of the other tasks that the kernel knows */
  const int32_t *robot_at;              /* [n_robot_rows] which rows of the levels they are */
  const double *rates;                  /* [][nv]: see RK_ROW_RATES */
  int32_t n_robot_rows, reserved;
  int32_t levels, n_active;             /* n_active is a result: how many entries of `active` are 1 */
  const int32_t *start;                 /* as in rk_levels; rows of n = nv columns, m in all */
  double *J, *low, *high;               /* and the rows behind all levels */
  const double *damping;
  const double *H, *g;                  /* [nv][nv], [nv] of other criteria, weighted; null: none */
  double *v;                            /* [nv] */
  double *level_residuals;              /* [m] */
  double *points;                       /* [levels + 1][nv] as in rk_hierarchy, or null */
  double *errors, *residuals;           /* [n_tips + n_robot_tasks + clearance][2] before and after the step */
  double *costs;                        /* [n_criteria] */
  int32_t *freedom, *active;            /* [levels + 1]; [nv] 1: at a limit */
  const double *from;                   /* [nq] where the frame began that velocities are counted from; null: at q */
  double *before;                       /* [n_tips][12] the tips there */
  double *path_directions;                         /* [n_tips][6] of the rows of a velocity that has a path, weighted */
  const double *remaining;              /* [n_tips][6] what the rows of each task leave, before weights, of a beam the length
                                           of each part, at 0 and 3; or null */
  const double *obstacles;              /* [frames][obstacles][12] of the clearance, or [1] that stand still */
  int32_t clearance_row, frame;         /* its first row; which of the frames it is */
  int32_t obstacles_move, failed;       /* failed: 1 + the pair whose distance was not found last */
} rk_step_data;

enum rk_step_code { RK_STEP_DONE = 0, RK_STEP_BAD_START = 1, RK_STEP_NOT_CONVEX = 2 };

RK_API int32_t rk_sizeof_step(void);
RK_API int32_t rk_sizeof_step_data(void);
RK_API int32_t rk_sizeof_criterion(void);
RK_API int32_t rk_sizeof_robot_row(void);
RK_API int32_t rk_sizeof_tip_rows(void);
RK_API int32_t rk_sizeof_segment(void);
RK_API int32_t rk_sizeof_triangle(void);

/* Doubles of workspace that rk_step_run needs for m rows. */
RK_API int64_t rk_step_workspace(const rk_step *step, int32_t m);

/* One step; returns an rk_step_code. RK_STEP_BAD_START: q or previous is not finite or larger than 1e30, or a quaternion not of unit
   length to 1e-12. With levels = -1 no step is made: J, low, high and errors are filled in. work: zeros at first; what a
   step sees of pairs of shapes shortens the next one and changes nothing in it. */
RK_API int32_t rk_step_run(const rk_step *step, rk_step_data *data, double *work);

#endif
