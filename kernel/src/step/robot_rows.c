/* Twin of the `rows` methods in solvers/tasks/whole_robot/center_of_mass.py, posture.py and joint_velocity.py, which explain them. */
#include "step/robot_rows.h"

#include "robot/com.h"
#include "ik/ik_rows.h"
#include "robot/rk_manifold.h"
#include "math/rk_vector.h"

int64_t rk_robot_rows_workspace(const rk_model *m) { return 4 * (int64_t)m->n_nodes + 3 + 4 * (int64_t)m->nv; }

static int is_rate(const rk_robot_row *row) { return row->kind == RK_ROW_RATE || row->kind == RK_ROW_RATES; }

/* Value of the row's quantity at q; its gradient is added to J[nv] (zeroed by the caller). center[3], C[3][nv]: the
   center of mass and its Jacobian. moved[nv]: in the frame so far. */
static double state(const rk_robot_row *row, int32_t nv, const rk_step_data *data, const double *center,
                    const double *C, const double *moved, double *J) {
  const double *own = data->q + row->coordinate;
  double e[3], block[9];
  switch (row->kind) {
    case RK_ROW_CENTER:
      for (int k = 0; k < 3; k++) rk_add_scaled(nv, row->aim[k], C + (int64_t)k * nv, J);
      return rk_dot3(row->aim, center);
    case RK_ROW_SHIFT:
      rk_quaternion_matrix(own + 3, block);
      for (int k = 0; k < 3; k++) J[row->column + k] = block[3 * row->component + k];
      return own[row->component];
    case RK_ROW_TURN:
      rk_difference_ball(own, row->aim, e);
      for (int k = 0; k < 3; k++) e[k] = -e[k];
      rk_right_jacobian_inverse(e, block);
      for (int k = 0; k < 3; k++) J[row->column + k] = block[3 * row->component + k];
      return e[row->component];
    case RK_ROW_RATE:
      J[row->column] = 1.0;
      return moved[row->column];
    case RK_ROW_RATES:
      rk_add_scaled(nv, 1.0, data->rates + row->component * (int64_t)nv, J);
      return rk_dot(nv, J, moved);
    default:
      J[row->column] = 1.0;
      return *own;
  }
}

void rk_fill_robot_rows(const rk_step *step, const rk_step_data *data, const double *nodes, double *work) {
  const rk_model *m = step->model;
  const int32_t nv = m->nv;
  double *center = work + 4 * (int64_t)m->n_nodes, *C = center + 3, *moved = C + 3 * (int64_t)nv;
  int is_placed = 0;
  for (int32_t k = 0; k < nv; k++) moved[k] = 0.0;
  if (data->from) rk_difference(m, 1, data->from, data->q, moved);
  for (int32_t i = 0; i < data->n_robot_rows; i++) {
    const rk_robot_row *row = data->robot_rows + i;
    if (row->kind == RK_ROW_CENTER && !is_placed) {
      rk_center_of_mass_placed(m, nodes, work, center, C);
      is_placed = 1;
    }
    const int32_t at = data->robot_at[i];
    const double dt = is_rate(row) ? step->dt : 1.0;
    const double share = data->shares[step->n_tips + row->residual / 2];
    double *J = data->J + (int64_t)at * nv;
    for (int32_t k = 0; k < nv; k++) J[k] = 0.0;
    const double here = state(row, nv, data, center, C, moved, J);
    for (int32_t k = 0; k < nv; k++) {
      const int is_rounding = __builtin_fabs(J[k] * step->scale[k]) < RK_ROUNDING * step->length;
      J[k] = is_rounding ? 0.0 : J[k] * (row->weight * step->scale[k]);
    }
    data->low[at] = row->weight * (row->lower * dt - here);
    data->high[at] = row->weight * (row->upper * dt - here);
    const double remaining = (1.0 - share) * rk_clamp(0.0, data->low[at], data->high[at]);
    data->low[at] -= remaining, data->high[at] -= remaining;
  }
}

void rk_measure_robot_rows(const rk_step *step, const rk_step_data *data, const double *x, double *out) {
  const int32_t nv = step->model->nv;
  for (int32_t k = 0; k < 2 * step->n_robot_tasks; k++) out[k] = 0.0;
  for (int32_t i = 0; i < data->n_robot_rows; i++) {
    const rk_robot_row *row = data->robot_rows + i;
    const int32_t at = data->robot_at[i];
    const double value = x ? rk_dot(nv, data->J + (int64_t)at * nv, x) : 0.0;
    double residual = rk_clamp(value, data->low[at], data->high[at]) - value;
    residual /= row->weight * (is_rate(row) ? step->dt : 1.0);
    out[row->residual] += residual * residual;
  }
  for (int32_t k = 0; k < 2 * step->n_robot_tasks; k++) out[k] = rk_sqrt(out[k]);
}
