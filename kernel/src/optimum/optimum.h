/* What the files of the optimum share (robokin_optimum.h): poses with their rows, the way back to the tasks, the cost,
   and the quadratic programs of what tasks and limits allow at a pose. Twins: solvers/optimum/pose_problem.py, constraint_manifold.py,
   objective.py, subproblem.py, sqp.py. Displacements x[n] are dimensionless. */
#ifndef RK_OPTIMUM_H
#define RK_OPTIMUM_H

#include "criteria/criteria.h"
#include "math/rk_arena.h"
#include "math/rk_reflectors.h"
#include "robokin_optimum.h"

/* A configuration, and what levels lack there. Rows: those of pieces of curves, those of the limits that are no bounds of
   single coordinates, then those of the tasks. */
typedef struct rk_pose {
  double *q, *nodes;       /* [nq], [n_nodes][12] */
  double *J, *low, *high;  /* [n_rows][n] */
  double *error;           /* [n_levels] |e|^2 / 2 */
  int32_t *met;            /* [n_levels] within the tolerances of its tasks */
} rk_pose;

typedef struct rk_poses {
  const rk_optimum *optimum;
  const rk_step *step;
  const rk_model *model;
  int32_t n, n_rows, n_pieces, n_bound_rows, n_bounds, n_levels; /* n_bound_rows: before those of the tasks */
  const double *whole;         /* [n_tips][16] targets; of curves that have corners: */
  double *pieces, *straight;     /* the piece that a pose is on, and the straight line that it is part of */
  rk_segment *segments;        /* [n_pieces][2] these two */
  int32_t *start, *freedom;    /* [n_bounds + n_levels + 1] of the rows of each bound and level */
  double *damping, *allowed;   /* of these; [n_levels] errors that a pose may have */
  int32_t *met;                /* [n_levels] at the start */
  double *lo, *hi, *x, *v;     /* [n] */
  double *identity, *zero;     /* [n][n], [n] */
  double *residual;             /* [n_rows] */
  int32_t n_edges, most;       /* criteria that have one; rows of each, at most */
  rk_reflectors basis;         /* scratch: of rows W[n + n_rows][n], and which they are */
  double *W;
  int32_t *rows, *order;       /* [n + n_rows] */
  double *scratch, *hierarchy, *cost_work, *edge_vectors;
  rk_near_vectors *near;       /* of the first level's rows at the pose that was looked at last */
  double *placed;              /* [1] how many poses so far */
} rk_poses;

/* An arena without memory only counts. */
rk_poses rk_lay_out_poses(rk_arena *arena, const rk_optimum *optimum);
rk_pose rk_lay_out_pose(rk_arena *arena, const rk_poses *s);

/* Fills all in from q. */
void rk_place(const rk_poses *s, rk_pose *pose);

/* Places a pose at the straight lines that it is on: at those that are kept to, else, as at first, at its own; from now on all
   are. */
void rk_take_pieces(const rk_poses *s, rk_pose *pose);

/* From now on poses are placed at these targets. */
void rk_keep_to(const rk_poses *s, const double *targets);

/* Whether all levels are met. */
int rk_are_met(const rk_poses *s, const rk_pose *pose);

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

/* *pose: of the q that it has, brought back to the tasks, as well met as `before`. Returns 0 when that fails. spare: two poses. */
int rk_retract(const rk_poses *s, const rk_pose *before, rk_pose *pose, rk_pose *spare);

/* The weighted sum of the potentials; *size: of their sizes; null: those that have an edge are left out. g[n], unless null:
   the gradient along x, of those that have no edge. */
int64_t rk_cost_workspace(const rk_step *step);
double rk_cost(const rk_poses *s, const rk_pose *pose, double *size, double *g);

/* diagonal[n] of a first guess at its Hessian. */
void rk_first_curvature(const rk_poses *s, double *diagonal);

/* A potential that is the largest eigenvalue of A, which is smooth; in frames that turn with U and V. */
typedef struct rk_edge {
  const rk_criterion *criterion;
  int32_t count, rows;
  double *A;              /* [count][count] of the largest eigenvalues */
  double *U, *V;          /* [count][rows], [count][n] */
  double *slopes;         /* [count (count + 1) / 2][n] along x, of the entries of A, row by row */
  double *W;              /* [count][count] of trace 1: <W, A> has the gradient that is chosen */
} rk_edge;

rk_edge rk_lay_out_edge(rk_arena *arena, const rk_poses *s, const rk_criterion *criterion);
int64_t rk_edge_workspace(const rk_step *step);

/* Takes the largest eigenvalues at a pose, those within `gap` of the largest, relative; its gradient is chosen. */
void rk_take_edge(const rk_poses *s, const rk_pose *pose, double gap, rk_edge *edge);

/* A[count][count], unless null, at a pose nearby in the frames of the edge; adds the gradient of <W, A> to g[n], unless
   null. Returns 0 when there are fewer eigenvalues. */
int rk_follow_edge(const rk_poses *s, const rk_pose *pose, const rk_edge *edge, double *A, double *g);

/* A pose that was looked at: its slope, and the active set of what holds it. Rows are n unit rows, of single coordinates,
   then those of the pose; those that are held do not change, the others are inequalities. */
typedef struct rk_look {
  rk_pose pose;
  double cost, noise, residual;    /* noise: to which the cost is known; residual: KKT, infinite when not known */
  double *slope, *descent;            /* [n] the gradient of what is smooth; the direction of descent that the rows leave free */
  rk_edge *edges;                  /* [n_edges] those of one eigenvalue are part of what is smooth */
  double size;                     /* of the gradient, at least what counts as one */
  double *lower, *upper;           /* [n + n_rows] of a motion along each row */
  double *multiplier;              /* [n + n_rows] what holds the pose: slope + sum of multiplier row = 0 */
  int32_t *is_held, *row;          /* [n + n_rows]; [n] which row each reflector is of */
  rk_reflectors basis;             /* `fixed` directions are used up; `pressed` ones are across inequalities that press */
  int32_t rank, fixed, pressed;     /* rank: of the rows that are held, whose directions are the first */
  double *W;                       /* [n + n_rows][n] rows that are held, in the basis */
  int32_t *order, *rows;           /* [n + n_rows] */
  double *E;                       /* [n - fixed][n] the directions that are not used up */
} rk_look;

/* What a motion is to make small, to first order. A: in place of the edges' own, unless null. */
typedef struct rk_goal {
  const double *slope;
  int32_t n_edges;
  const rk_edge *edges;
  double *const *A;
} rk_goal;

/* What holds the best motion back: multiplier[n + n_rows] of the inequalities, and W of the edges. */
typedef struct rk_pressing {
  double *multiplier;
  rk_edge *edges;
} rk_pressing;

/* Workspace of a quadratic program. */
typedef struct rk_program {
  double *y0, *root, *projection, *w, *top, *slope, *H, *vectors, *values, *work;
  int32_t *inequality, *edge;
} rk_program;

rk_look rk_lay_out_look(rk_arena *arena, const rk_poses *s);
rk_program rk_lay_out_program(rk_arena *arena, const rk_poses *s);

/* Fills in, at look->pose, all but cost, noise, slope, left, multiplier and residual; nothing is pressed yet. */
void rk_linearise(const rk_poses *s, rk_look *look);

/* Directions rows[count][n], orthonormal, among those of E, are used up too; they are overwritten. */
void rk_use_up(const rk_poses *s, rk_look *look, int32_t count, double *rows, int32_t *order);

/* x[n] = sum of z E of `count` directions E[count][n] that minimises 1/2 sum of weight z^2 + the goal inside the inequalities;
   *change: of the goal. pressing: filled in, unless null. Returns 0, and x = 0, when it is not found. */
int rk_best_motion(const rk_poses *s, const rk_look *look, const rk_program *program, int32_t count, const double *E,
                   const double *weight, const rk_goal *goal, double *x, double *change, rk_pressing *pressing);

/* Multipliers of the rows that are held, such that nothing of the slope, the edges and the inequalities is left along them. */
void rk_hold(const rk_poses *s, rk_look *look, double *work);

/* From now on the first `pressed` of E are across the edges that hold and the inequalities that do, with multipliers larger than
   `least`; the others are along them. */
void rk_press(const rk_poses *s, rk_look *look, const rk_program *program, double least);

/* out[n]: the gradient of the Lagrangian at a pose nearby, with what holds `look`. */
void rk_lagrangian(const rk_poses *s, const rk_look *look, const rk_pose *pose, double *out);

/* What the cost of a pose near a look would be less if it met the levels that can be met exactly, to first order. */
double rk_excess_cost(const rk_poses *s, const rk_look *look, const rk_pose *pose);

/* Poses that are held to a piece stay so far from its ends [L]. */
#define RK_INSIDE 1e-8

/* How much less a pose may cost only because it is as far from its tasks as it may be, or at the very end of a piece. */
double rk_slack(const rk_poses *s, const rk_look *look);

#endif
