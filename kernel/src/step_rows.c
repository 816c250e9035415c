/* Twin of the `rows` methods in solvers/tasks. */
#include "step_rows.h"

#include "ik_rows.h"
#include "rk_tree.h"
#include "rk_vector.h"
#include "robot_rows.h"

/* The rows of a frame task, weighted, of those of its six axes that are not free. */
static void fill(const rk_step *step, const rk_step_data *data, const double *nodes, int32_t t) {
  const rk_model *m = step->model;
  const rk_task *task = step->tasks + t;
  const int64_t nv = m->nv;
  const double *target = data->targets + 16 * (int64_t)t;
  double T[12], here[12], e[6], A[36], rows[36];
  rk_place_frame(m, nodes, t, T);
  if (data->stays[t]) {
    for (int r = 0; r < 3; r++) {
      for (int c = 0; c < 3; c++) here[4 * r + c] = T[3 * r + c];
      here[4 * r + 3] = T[9 + r];
    }
    target = here;
  }
  rk_task_error(task, T, target, e);
  rk_task_matrix(task, T, target, e, A);
  for (int part = 0; part < 2; part++)
    if (task->tip_axes) rk_to_tip_axes(T, 3 * part, e, A);
  double *J = data->J + data->first_row[t] * nv;
  int count = 0;
  for (int r = 0; r < 6; r++) {
    if (task->used[r] == 0.0) continue;
    const double weight = task->weights[r], band = step->bands[6 * t + r];
    const int32_t row = data->first_row[t] + count;
    data->low[row] = weight * (e[r] - band), data->high[row] = weight * (e[r] + band);
    for (int c = 0; c < 6; c++) rows[6 * count + c] = weight * A[6 * r + c];
    count++;
  }
  for (int64_t k = 0; k < count * nv; k++) J[k] = 0.0;
  for (int32_t node = m->frame_node[t]; node >= 0; node = m->parent[node]) {
    double twists[6][6];
    const int n = rk_node_twists(m, node, nodes + 12 * (int64_t)node, T + 9, twists);
    for (int k = 0; k < n; k++) {
      const int32_t column = m->iv[node] + k;
      for (int r = 0; r < count; r++) J[r * nv + column] += step->scale[column] * rk_dot6(rows + 6 * r, twists[k]);
    }
  }
}

/* What the parts of a frame task lack at x, in metres and radians; x null: before the step. */
static void measure(const rk_step *step, const rk_step_data *data, int32_t t, const double *x, double out[2]) {
  const rk_task *task = step->tasks + t;
  const int32_t nv = step->model->nv;
  int32_t row = data->first_row[t];
  for (int part = 0; part < 2; part++) {
    double sum = 0.0;
    for (int r = 3 * part; r < 3 * part + 3; r++) {
      if (task->used[r] == 0.0) continue;
      const double value = x ? rk_dot(nv, data->J + (int64_t)row * nv, x) : 0.0;
      double lacking = rk_clamp(value, data->low[row], data->high[row]) - value;
      lacking /= task->weights[r]; /* which has lengths over L */
      sum += lacking * lacking;
      row++;
    }
    out[part] = rk_sqrt(sum);
  }
}

int64_t rk_rows_workspace(const rk_step *step) { return rk_robot_rows_workspace(step->model); }

void rk_rows_fill(const rk_step *step, rk_step_data *data, double *nodes, double *work) {
  rk_place_nodes(step->model, data->q, nodes);
  for (int32_t t = 0; t < step->model->n_frames; t++) fill(step, data, nodes, t);
  rk_fill_robot_rows(step, data, nodes, work);
}

void rk_rows_measure(const rk_step *step, const rk_step_data *data, const double *x, double *out) {
  const int32_t frames = step->model->n_frames;
  for (int32_t t = 0; t < frames; t++) measure(step, data, t, x, out + 2 * (int64_t)t);
  rk_measure_robot_rows(step, data, x, out + 2 * (int64_t)frames);
}
