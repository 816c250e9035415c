/* Rows of a clearance: n . (J_b - J_a) v dt >= what a pair is to keep - its distance, of the nearest pairs. */
#ifndef RK_CLEARANCE_ROWS_H
#define RK_CLEARANCE_ROWS_H

#include "robokin_step.h"

/* Fills the rows in, dimensionless. work: rk_clearance_rows_workspace(step->clearance) doubles, zeros at first, in which
   what a look has shown is kept for the next one. */
void rk_fill_clearance(const rk_step *step, rk_step_data *data, const double *nodes, double *work);
int64_t rk_clearance_rows_workspace(const rk_clearance *clearance);

/* out[2]: its residual at x[nv]; x null: before the step. */
void rk_measure_clearance(const rk_step *step, const rk_step_data *data, const double *x, double out[2]);

#endif
