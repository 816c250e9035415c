/* Potentials, with their gradients. Each adds `share` times its gradient to g[nv], unless that is null, and returns its
   value. */
#ifndef RK_CRITERIA_H
#define RK_CRITERIA_H

#include "robokin_step.h"

/* 1/2 sum of stiffness (q - rest)^2, rotations by their rotation vector from there: solvers/criteria/joint_springs.py,
   rest_posture.py. away: [nv], scratch. */
double rk_add_springs(const rk_model *m, const double *q, const double *rest, const double *stiffness, double share,
                      double *away, double *g);

/* 1/2 sum of stiffness tau^2, tau[nv] what holds the robot still: solvers/criteria/gravity_torque.py.
   work: rk_gravity_workspace(m) doubles. */
double rk_add_gravity_torque(const rk_model *m, const double *nodes, const double *gravity, const double *stiffness,
                             double share, double *work, double *g);
int64_t rk_gravity_workspace(const rk_model *m);

/* J[rows][nv] of the tasks of the first level, dimensionless, without weights: `task_rows` in
   solvers/criteria/manipulability.py. Returns how many. work: rk_first_rows_workspace(step) doubles. */
int64_t rk_most_first_rows(const rk_step *step);
int32_t rk_first_rows(const rk_step *step, const rk_step_data *data, const double *nodes, double *work, double *J);
int64_t rk_first_rows_workspace(const rk_step *step);

/* Adds `share` times the gradient of the sum of B J, B[rows][nv], to g[nv]. */
void rk_add_change_of_rows(const rk_step *step, const rk_step_data *data, const double *nodes, const double *B,
                           double share, double *work, double *g);

/* Singular vectors of such rows at a pose, from which those of poses nearby are found sooner; rows 0: none so far. */
typedef struct rk_near_vectors {
  double *U;
  int32_t rows;
} rk_near_vectors;

/* A[rows][nv] = U'J of such rows, orthogonal, and U[rows][rows] as rows. near: filled in where it has none; null: without.
   s[rows], B[rows][nv]: scratch. Returns how many rows. */
int32_t rk_first_vectors(const rk_step *step, const rk_step_data *data, const double *nodes, rk_near_vectors *near,
                         double *work, double *s, double *B, double *A, double *U);

/* -1/2 log det JJ' of the rows of the tasks of the first level, or minus its smallest singular value:
   solvers/criteria/manipulability.py. near: as in rk_first_vectors. */
double rk_add_manipulability(const rk_step *step, const rk_step_data *data, const double *nodes, int smallest,
                             int32_t rank, double share, rk_near_vectors *near, double *work, double *g);
int64_t rk_manipulability_workspace(const rk_step *step);

/* H[nv][nv] and g[nv] of 1/2 x'Hx + g'x of all criteria at data->q, dimensionless, x the displacement of a step.
   work: rk_step_objective_workspace(step) doubles. */
void rk_step_objective(const rk_step *step, const rk_step_data *data, double *work, double *H, double *g);
int64_t rk_step_objective_workspace(const rk_step *step);

#endif
