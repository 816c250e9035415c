/* Inverse kinematics: the loop, and the bounded step that it takes. Conventions as in robokin_kernel.h. */
#ifndef ROBOKIN_IK_H
#define ROBOKIN_IK_H

#include "robokin_kernel.h"

/* Rows of a task; the values are those of FrameKind in solvers/tasks/tips/frame.py. */
enum rk_task_kind { RK_TASK_POSE = 0, RK_TASK_AXIS = 1 };

enum rk_task_part { RK_PART_POSITION = 1, RK_PART_ORIENTATION = 2 };

/* One task; its tip is the frame of the same number. TASK_RECORD in solvers/descent/data.py says what each field means. */
typedef struct rk_task {
  int32_t kind, tip_axes, parts, exact;
  double weights[6], used[6];
  double tolerance[2];
  double axis[3];
  double reach_centre[3], reach;
  double wrist[3], wrist_reach;
} rk_task;

/* The limits of a ball: CONE_RECORD, and Cone in robokin/spatial/swing_twist.py. q, v: where its quaternion and its angular
   velocity start. */
typedef struct rk_cone {
  int32_t q, v;
  double basis[9];           /* columns u, w, axis */
  double swing[2], twist[2]; /* half-angles along u and w; range */
} rk_cone;

/* A wheeled base: BASE_RECORD, and RollingBase in robokin/model/rolling.py. q, v: where x, y, angle start. */
typedef struct rk_base {
  int32_t q, v, wheel_q[2], wheel_v[2];
  double centre[2], forward[2]; /* the axle's middle and its forward direction in the base */
  double rolled[2];             /* way of the left and right wheel forward per unit of its angle */
  double separation;
} rk_base;

struct rk_stack; /* robokin_stack.h */

/* A compiled problem: IKData in solvers/descent/data.py. Not owned. */
typedef struct rk_ik {
  const rk_model *model;         /* the support tree; frame i is the tip of task i */
  const rk_task *tasks;          /* [n_frames] */
  const int32_t *task_start;     /* [n_frames + 1] where a task's columns start in */
  const int32_t *task_columns;   /* the columns that move its tip, ascending */
  const int32_t *fill_start;     /* [nv + 1] where a column's entries start in */
  const int32_t *fill;           /* the lower columns that it is coupled to when factored from the last to the first */
  const int32_t *coordinate;     /* [nv] the coordinate a column is added to, -1: rotation of a quaternion */
  const int32_t *q_index;        /* [nq] of the support in the robot's q */
  const double *robot_lower, *robot_upper; /* [robot_nq] */
  const double *middle, *half_range; /* [nq] of the restarts; NaN: a quaternion starts here */
  const int32_t *about_middle;   /* [nq] 1: drawn about `middle`, 0: about the start */
  const int32_t *periodic;       /* [nq] 1: an angle without bounds, of which whole turns do not matter */
  const double *damping;         /* [nv] */
  const rk_cone *cones;          /* [n_cones] */
  const rk_base *bases;          /* [n_bases] */
  double length;
  const struct rk_stack *stack;  /* tasks in levels in place of `tasks`; null: the tasks of one level */
  int32_t robot_nq, attempts, iterations, n_cones, n_bases;
  int32_t is_trial;              /* 1: it is only asked whether all can be met, nothing is brought as near as it can be */
} rk_ik;

enum rk_ik_code {
  RK_IK_CONVERGED = 0,
  RK_IK_OUT_OF_REACH = 1,
  RK_IK_NOT_CONVERGED = 2,
  RK_IK_BAD_TARGET = 3, /* not a rigid placement, or farther away than 1e30 */
  RK_IK_BAD_START = 4   /* not finite, or larger than 1e30 */
};

typedef struct rk_ik_outcome {
  int32_t code, iterations, attempts;
} rk_ik_outcome;

RK_API int32_t rk_sizeof_ik(void);
RK_API int32_t rk_sizeof_task(void);
RK_API int32_t rk_sizeof_cone(void);
RK_API int32_t rk_sizeof_base(void);

/* Doubles of workspace that rk_ik_solve needs; of a stack with a clearance zeros at first, as of rk_step_run. */
RK_API int64_t rk_ik_workspace(const rk_ik *ik);

/* Solve for each of `count` sets of targets[count][n_frames][16], 4x4 row-major, from q0[count][robot_nq] (moved inside
   the limits, but for the cones: limited balls are inside them) and from restarts drawn from `seed`, the same for each. q[count][robot_nq] is always inside the limits;
   coordinates outside the support are copied. residuals[count][n_frames][2] belong to q. Quaternions in q0 are of unit
   length. What has a bad target or start is not solved. */
RK_API void rk_ik_solve(const rk_ik *ik, int64_t count, const double *targets, const double *q0, uint64_t seed,
                        double *work, double *q, double *residuals, rk_ik_outcome *outcomes);

/* x[n] that minimises 1/2 x'Hx - g'x with lo <= x <= hi. H[n][n] positive definite, lower triangle used; infinite bounds
   allowed. fill_start, fill: as in rk_ik, or null for a full H. side[n]: -1 at lo, 1 at hi, 0 between.
   work: rk_bounded_step_workspace(n) doubles. */
RK_API void rk_bounded_step(int32_t n, const double *H, const double *g, const double *lo, const double *hi,
                            const int32_t *fill_start, const int32_t *fill, double *work, double *x, int32_t *side);
RK_API int64_t rk_bounded_step_workspace(int32_t n);

#endif
