/* The rows of the tasks of the first level, as criteria on how well they move look at them, and how these change: the
   derivative of each column of the Jacobian along each other one. Twin of the `task_jacobian` of tasks in solvers/tasks. */
#include "criteria/criteria.h"
#include "criteria/picked_rows.h"
#include "math/rk_vector.h"
#include "robot/com.h"

static int64_t most_movers(const rk_model *m) { return 6 * (int64_t)m->n_nodes; }

int64_t rk_most_first_rows(const rk_step *step) { return 6 * (int64_t)step->n_tips + step->most_first; }

int64_t rk_first_rows_workspace(const rk_step *step) { return 16 * most_movers(step->model) + 3; }

static void climb(const rk_model *m, const double *nodes, int32_t frame, double *work, rk_chain *c) {
  c->twist = (double(*)[6])work, work += 6 * most_movers(m);
  c->column = (int32_t *)work, work += most_movers(m);
  c->node = (int32_t *)work;
  c->count = 0;
  for (int k = 0; k < 12; k++) c->T[k] = k < 9 && k % 4 == 0;
  if (frame < 0) return;
  rk_place_frame(m, nodes, frame, c->T);
  for (int32_t node = m->frame_node[frame]; node >= 0; node = m->parent[node]) {
    const int n = rk_node_twists(m, node, nodes + 12 * (int64_t)node, c->T + 9, c->twist + c->count);
    for (int k = 0; k < n; k++) c->node[c->count] = node, c->column[c->count++] = m->iv[node] + k;
  }
}

static rk_picking at(const rk_step *step, const rk_step_data *data, const double *nodes, int32_t t, double *work) {
  rk_picking p = {.task = step->tips + t, .target = data->targets + 16 * (int64_t)t, .length = step->length};
  climb(step->model, nodes, p.task->tip, work, p.chains + RK_OWN);
  climb(step->model, nodes, p.task->other, work + 8 * most_movers(step->model), p.chains + RK_OTHER);
  return p;
}

static int is_equation(const rk_robot_row *row) { return row->is_first && row->lower == row->upper; }

/* One of a task on the whole robot, J[nv] cleared by the caller; only those of the centre of mass change. C: its
   Jacobian. */
static void add_robot_row(const rk_step *step, const rk_step_data *data, const rk_robot_row *row, const double *C, double *J) {
  const int32_t nv = step->model->nv;
  const double *scale = step->scale;
  if (row->kind == RK_ROW_CENTER)
    for (int32_t k = 0; k < nv; k++)
      for (int i = 0; i < 3; i++) J[k] += scale[k] / step->length * row->aim[i] * C[i * (int64_t)nv + k];
  else if (row->kind == RK_ROW_RATES)
    for (int32_t k = 0; k < nv; k++) J[k] = scale[k] * data->rates[row->component * (int64_t)nv + k];
  else
    J[row->column + row->component] = 1.0;
}

static int32_t robot_rows(const rk_step *step, const rk_step_data *data, const double *nodes, double *work, double *J) {
  const int64_t nv = step->model->nv;
  double *center = work + 4 * (int64_t)step->model->n_nodes, *C = center + 3;
  int32_t rows = 0;
  int is_placed = 0;
  for (const rk_robot_row *row = data->robot_rows; row < data->robot_rows + data->n_robot_rows; row++) {
    if (!is_equation(row)) continue;
    if (row->kind == RK_ROW_CENTER && !is_placed)
      rk_center_of_mass_placed(step->model, nodes, work, center, C), is_placed = 1;
    for (int64_t k = 0; k < nv; k++) J[rows * nv + k] = 0.0;
    add_robot_row(step, data, row, C, J + rows++ * nv);
  }
  return rows;
}

static void add_change_of_robot_rows(const rk_step *step, const rk_step_data *data, const double *nodes, const double *B,
                                 double share, double *work, double *g) {
  const int64_t nv = step->model->nv;
  int32_t rows = 0;
  double *weight = work + 4 * (int64_t)step->model->n_nodes; /* [nv][3] of the centre of mass */
  int is_weighted = 0;
  for (int64_t k = 0; k < 3 * nv; k++) weight[k] = 0.0;
  for (const rk_robot_row *row = data->robot_rows; row < data->robot_rows + data->n_robot_rows; row++) {
    if (!is_equation(row)) continue;
    for (int64_t k = 0; k < nv && row->kind == RK_ROW_CENTER; k++)
      rk_add_scaled(3, B[rows * nv + k] * step->scale[k] / step->length, row->aim, weight + 3 * k);
    is_weighted += row->kind == RK_ROW_CENTER;
    rows++;
  }
  if (is_weighted) rk_add_change_of_center(step->model, nodes, weight, share, work, g);
}

int32_t rk_first_rows(const rk_step *step, const rk_step_data *data, const double *nodes, double *work, double *J) {
  const int64_t nv = step->model->nv;
  int32_t rows = 0;
  for (int32_t t = 0; t < step->n_tips; t++) {
    if (!step->tips[t].is_first) continue;
    rk_picking p = at(step, data, nodes, t, work);
    const rk_picked own = rk_pick(data, t, &p);
    for (int64_t k = 0; k < own.count * nv; k++) J[rows * nv + k] = 0.0;
    for (int side = RK_OWN; side <= RK_OTHER; side++)
      for (int32_t j = 0; j < p.chains[side].count; j++) {
        const int32_t column = p.chains[side].column[j];
        for (int r = 0; r < own.count; r++)
          J[(rows + r) * nv + column] += step->scale[column] * rk_dot6(own.row[r][side], p.chains[side].twist[j]);
      }
    rows += own.count;
  }
  return rows + robot_rows(step, data, nodes, work, J + rows * nv);
}

/* Adds share times the changes of the twists of a chain, in root axes, each times its weight. */
static void add_changes_of_twists(const rk_chain *c, int32_t j, const double weight[6], double share, double *g) {
  const double *v = c->twist[j], *w = c->twist[j] + 3;
  for (int32_t k = 0; k < c->count; k++) {
    const double *vk = c->twist[k], *wk = c->twist[k] + 3;
    double linear[3], angular[3] = {0.0, 0.0, 0.0};
    if (c->node[k] <= c->node[j]) { /* k is above j, or beside it in one joint */
      rk_cross(wk, v, linear);
      rk_cross(wk, w, angular);
    } else {
      rk_cross(w, vk, linear);
    }
    g[c->column[k]] += share * (rk_dot3(weight, linear) + rk_dot3(weight + 3, angular));
  }
}

void rk_add_change_of_rows(const rk_step *step, const rk_step_data *data, const double *nodes, const double *B,
                           double share, double *work, double *g) {
  const int64_t nv = step->model->nv;
  int32_t rows = 0;
  for (int32_t t = 0; t < step->n_tips; t++) {
    if (!step->tips[t].is_first) continue;
    rk_picking p = at(step, data, nodes, t, work);
    const rk_picked own = rk_pick(data, t, &p);
    rk_picked moved = {0}; /* the sums of B times the twists */
    for (int side = RK_OWN; side <= RK_OTHER; side++) {
      const rk_chain *c = p.chains + side;
      for (int32_t j = 0; j < c->count; j++) {
        double weight[6] = {0.0}; /* of the change of column j */
        for (int r = 0; r < own.count; r++) {
          const double factor = B[(rows + r) * nv + c->column[j]] * step->scale[c->column[j]];
          rk_add_scaled(6, factor, own.row[r][side], weight);
          rk_add_scaled(6, factor, c->twist[j], moved.row[r][side]);
        }
        add_changes_of_twists(c, j, weight, share, g);
      }
    }
    for (int side = RK_OWN; side <= RK_OTHER && p.turns; side++)
      for (int32_t k = 0; k < p.chains[side].count; k++) {
        const rk_picked change = rk_turned(&p, &own, side, p.chains[side].twist[k]);
        double sum = 0.0;
        for (int r = 0; r < own.count; r++)
          sum += rk_dot6(change.row[r][RK_OWN], moved.row[r][RK_OWN]) + rk_dot6(change.row[r][RK_OTHER], moved.row[r][RK_OTHER]);
        g[p.chains[side].column[k]] += share * sum;
      }
    rows += own.count;
  }
  add_change_of_robot_rows(step, data, nodes, B + rows * nv, share, work, g);
}
