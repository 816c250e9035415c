/* What the files of the optimum share (robokin_optimum.h): poses with their rows, the way back to the tasks, the cost,
   and the quadratic programs of what tasks and limits allow at a pose. Twins: solvers/posing.py, task_surface.py,
   objective.py, tangent.py, static_optimum.py. Displacements x[n] are dimensionless. */
#ifndef RK_OPTIMUM_H
#define RK_OPTIMUM_H

#include "rk_arena.h"
#include "rk_reflectors.h"
#include "robokin_optimum.h"

/* A configuration, and what levels lack there. Rows: those of the limits that are no bounds of single coordinates, then
   those of the tasks. */
typedef struct rk_pose {
  double *q, *nodes;       /* [nq], [n_nodes][12] */
  double *J, *low, *high;  /* [n_rows][n] */
  double *error;           /* [n_levels] |e|^2 / 2 */
  int32_t *met;            /* [n_levels] within the tolerances of its tasks */
} rk_pose;

typedef struct rk_poses {
  const rk_optimum *optimum;
  rk_step_data data; /* targets and layout of rows */
  int32_t n, n_rows, n_bound_rows, n_bounds, n_levels;
  int32_t *start, *freedom;    /* [n_bounds + n_levels + 1] of the rows of each bound and level */
  double *damping, *allowed;   /* of these; [n_levels] errors that a pose may have */
  int32_t *met;                /* [n_levels] at the start */
  double *lo, *hi, *x, *v;     /* [n] */
  double *identity, *zero;     /* [n][n], [n] */
  double *residuals, *lacking; /* [tasks][2], [n_rows] */
  double *scratch, *hierarchy, *cost_work;
} rk_poses;

/* An arena without memory only counts. */
rk_poses rk_lay_out_poses(rk_arena *arena, const rk_optimum *optimum, const rk_step_data *data);
rk_pose rk_lay_out_pose(rk_arena *arena, const rk_poses *s);

/* Fills all in from q. */
void rk_place(const rk_poses *s, rk_pose *pose);

/* lo <= x <= hi keeps single coordinates inside their bounds. */
void rk_box(const rk_poses *s, const double *q, double *lo, double *hi);

/* out[nq]: q moved by x, wherever that leads; and inside the limits. */
void rk_integrated(const rk_poses *s, const double *q, const double *x, double *out);
void rk_moved(const rk_poses *s, const double *q, const double *x, double *out);

/* x[n] that moves q to another configuration. */
void rk_displacement(const rk_poses *s, const double *q, const double *other, double *x);

/* Brings `start` to its tasks, the levels that are met as exactly as they can be; from then on no pose may meet them
   worse. spare: two poses. */
void rk_start_retraction(rk_poses *s, rk_pose *start, rk_pose *spare);

/* *pose: of the q that it has, brought back to the tasks, as well met as `before`. Returns 0 when that fails. */
int rk_retract(const rk_poses *s, const rk_pose *before, rk_pose *pose, rk_pose *spare);

/* The weighted sum of the potentials; *size: of their sizes. g[n], unless null: its gradient along x. */
int64_t rk_cost_workspace(const rk_step *step);
double rk_cost(const rk_poses *s, const rk_pose *pose, double *size, double *g);

/* diagonal[n] of a first guess at its Hessian. */
void rk_first_curvature(const rk_poses *s, double *diagonal);

/* A pose that was looked at: its slope, and the active set of what holds it. Rows are n unit rows, of single coordinates,
   then those of the pose; those that are held do not change, the others are walls. */
typedef struct rk_look {
  rk_pose pose;
  double cost, noise, residual;    /* noise: to which the cost is known; residual: KKT, infinite when not known */
  double *slope, *left;            /* [n] the gradient of the cost; the way down that is left of it */
  double *lower, *upper;           /* [n + n_rows] of a motion along each row */
  double *multiplier;              /* [n + n_rows] what holds the pose: slope + sum of multiplier row = 0 */
  int32_t *is_held, *row;          /* [n + n_rows]; [n] which row each reflector is of */
  rk_reflectors basis;             /* `held` directions are used up; `pressed` ones are across walls that press */
  int32_t held, pressed;
  double *W;                       /* [n + n_rows][n] rows that are held, in the basis */
  int32_t *order, *rows;           /* [n + n_rows] */
  double *E;                       /* [n - held][n] the directions that are not used up */
} rk_look;

typedef struct rk_program {
  double *normal, *root, *projection; /* [n], [n], workspace */
  int32_t *wall;                      /* [n + n_rows] */
} rk_program;

rk_look rk_lay_out_look(rk_arena *arena, const rk_poses *s);
rk_program rk_lay_out_program(rk_arena *arena, const rk_poses *s);

/* Fills in, at look->pose, all but cost, noise, slope, left, multiplier and residual; nothing is pressed yet. */
void rk_linearise(const rk_poses *s, rk_look *look);

/* x[n] = sum of z E of `count` directions E[count][n] that minimises 1/2 sum of weight z^2 + slope x inside the walls.
   multiplier: of all rows, unless null; slope is then that of the look. Returns 0, and x = 0, when it is not found. */
int rk_best_motion(const rk_poses *s, const rk_look *look, const rk_program *program, int32_t count, const double *E,
                   const double *weight, const double *slope, double *x, double *multiplier);

/* From now on the first `pressed` of E are across the walls whose multipliers are larger than `least`, the others along
   them. */
void rk_press(const rk_poses *s, rk_look *look, double least);

/* out[n]: the gradient of the Lagrangian at a pose nearby, with what holds `look`. */
void rk_lagrangian(const rk_poses *s, const rk_look *look, const rk_pose *pose, double *out);

/* By how much a pose may cost less only because it is as far from its tasks as it may be. */
double rk_slack(const rk_poses *s, const rk_look *look);

#endif
