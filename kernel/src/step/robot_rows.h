/* Rows of tasks on the whole robot: its centre of mass, its coordinates, its velocities. */
#ifndef RK_ROBOT_ROWS_H
#define RK_ROBOT_ROWS_H

#include "robokin_step.h"

#define RK_ROUNDING 1e-14 /* of what a row's columns can be: smaller ones are 0 (solvers/velocity/task_levels.py) */

/* Fills the rows in, weighted and dimensionless. work: rk_robot_rows_workspace(m) doubles. */
void rk_fill_robot_rows(const rk_step *step, const rk_step_data *data, const double *nodes, double *work);
int64_t rk_robot_rows_workspace(const rk_model *m);

/* out[n_robot_tasks][2]: what the parts of the tasks lack at x, in their units; x null: before the step. */
void rk_measure_robot_rows(const rk_step *step, const rk_step_data *data, const double *x, double *out);

#endif
