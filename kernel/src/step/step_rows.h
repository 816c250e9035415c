/* Rows of all tasks that the kernel knows, at a configuration. */
#ifndef RK_STEP_ROWS_H
#define RK_STEP_ROWS_H

#include "robokin_step.h"

/* Places the nodes at data->q, nodes[n_nodes][12], and fills J, low, high of the kernel's rows in, weighted and
   dimensionless; other rows stay as they are. work: rk_rows_workspace(step) doubles, zeros at first: what a call
   has shown of pairs of shapes shortens the next one, and changes nothing in it. */
void rk_rows_fill(const rk_step *step, rk_step_data *data, double *nodes, double *work);
int64_t rk_rows_workspace(const rk_step *step);

/* J[nv]: what the place along a curve sees of x, of a point or spot on it, over L; room[2]: how far the straight piece that it is
   on goes on before and after it. Returns 0 at a corner or an end. */
int rk_rows_piece(const rk_step *step, const rk_step_data *data, const double *nodes, int32_t t, double *J, double room[2]);

/* *piece: that piece, of a target of task t, as a curve of its own, longer by `beyond` at both ends. */
void rk_rows_take_piece(const rk_step *step, const double target[16], const double *nodes, int32_t t, double beyond,
                        rk_segment *piece);

/* Before the first call of a frame that begins at data->from. */
void rk_rows_begin(const rk_step *step, rk_step_data *data, double *nodes);

/* out[n_frames + n_robot_tasks + clearance][2]: what the parts of the kernel's tasks lack at x[nv], in their units; x null: before
   the step. Reads the rows that rk_rows_fill made. */
void rk_rows_measure(const rk_step *step, const rk_step_data *data, const double *x, double *out);

/* Measures the velocities that have a path without what is along it, in a frame; the others are left as they are. */
void rk_rows_measure_across(const rk_step *step, const rk_step_data *data, double *out);

#endif
