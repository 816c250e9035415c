/* The rows of the tasks of the first level, as criteria on how well they move look at them, and how these change: the
   derivative of each column of the Jacobian along each other one. Twin of `task_jacobian` in
   solvers/criteria/manipulability.py. */
#include "criteria/criteria.h"
#include "robot/rk_tree.h"

/* The degrees of freedom that move a tip: their twists at it, per unit of v, columns and nodes. */
typedef struct chain {
  int32_t count, *column, *node;
  double (*twist)[6];
  double T[12];
} chain;

static int64_t most_movers(const rk_model *m) { return 6 * (int64_t)m->n_nodes; }

int64_t rk_first_rows_workspace(const rk_step *step) { return 8 * most_movers(step->model); }

static chain lay_out(const rk_step *step, double *work) {
  chain c = {0};
  c.twist = (double(*)[6])work, work += 6 * most_movers(step->model);
  c.column = (int32_t *)work, work += most_movers(step->model);
  c.node = (int32_t *)work;
  return c;
}

static void climb(const rk_model *m, const double *nodes, int32_t frame, chain *c) {
  rk_place_frame(m, nodes, frame, c->T);
  c->count = 0;
  for (int32_t node = m->frame_node[frame]; node >= 0; node = m->parent[node]) {
    const int n = rk_node_twists(m, node, nodes + 12 * (int64_t)node, c->T + 9, c->twist + c->count);
    for (int k = 0; k < n; k++) c->node[c->count] = node, c->column[c->count++] = m->iv[node] + k;
  }
}

static int in_tip_axes(const rk_tip_rows *task) { return task->axes == RK_TIP_AXES || task->kind == RK_TIP_AXIS; }

/* axes[rows][6]: what the rows of a task pick from a twist in root axes, lengths over L; returns their number. */
static int pick(const rk_step *step, const rk_tip_rows *task, const double T[12], double axes[6][6]) {
  double local[6][6] = {{0.0}};
  int count = 0;
  if (task->kind == RK_TIP_AXIS) { /* the two turns that tilt the axis */
    const double *a = task->axis;
    int least = 0;
    for (int k = 1; k < 3; k++)
      if (__builtin_fabs(a[k]) < __builtin_fabs(a[least])) least = k;
    double other[3] = {0.0, 0.0, 0.0}, *u = local[0] + 3;
    other[least] = 1.0;
    rk_cross(a, other, u);
    const double length = rk_sqrt(rk_dot3(u, u));
    for (int k = 0; k < 3; k++) u[k] /= length;
    rk_cross(a, u, local[1] + 3);
    count = 2;
  } else {
    for (int k = 0; k < 6; k++)
      if (task->weights[k] != 0.0) local[count++][k] = k < 3 ? 1.0 / step->length : 1.0;
  }
  for (int r = 0; r < count; r++)
    for (int part = 0; part < 6; part += 3) {
      if (in_tip_axes(task))
        rk_rotate(T, local[r] + part, axes[r] + part);
      else
        for (int k = 0; k < 3; k++) axes[r][part + k] = local[r][part + k];
    }
  return count;
}

int32_t rk_first_rows(const rk_step *step, const double *nodes, double *work, double *J) {
  const rk_model *m = step->model;
  const int64_t nv = m->nv;
  chain c = lay_out(step, work);
  double axes[6][6];
  int32_t rows = 0;
  for (int32_t t = 0; t < step->n_tips; t++) {
    if (!step->tips[t].is_first) continue;
    climb(m, nodes, step->tips[t].tip, &c);
    const int count = pick(step, step->tips + t, c.T, axes);
    for (int64_t k = 0; k < count * nv; k++) J[rows * nv + k] = 0.0;
    for (int32_t j = 0; j < c.count; j++)
      for (int r = 0; r < count; r++)
        J[(rows + r) * nv + c.column[j]] += step->scale[c.column[j]] * rk_dot6(axes[r], c.twist[j]);
    rows += count;
  }
  return rows;
}

void rk_add_change_of_rows(const rk_step *step, const double *nodes, const double *B, double share, double *work,
                           double *g) {
  const rk_model *m = step->model;
  const int64_t nv = m->nv;
  chain c = lay_out(step, work);
  double axes[6][6];
  int32_t rows = 0;
  for (int32_t t = 0; t < step->n_tips; t++) {
    if (!step->tips[t].is_first) continue;
    climb(m, nodes, step->tips[t].tip, &c);
    const int count = pick(step, step->tips + t, c.T, axes), tip = in_tip_axes(step->tips + t);
    for (int32_t j = 0; j < c.count; j++) {
      double weight[6] = {0.0}; /* of the change of column j */
      for (int r = 0; r < count; r++)
        for (int k = 0; k < 6; k++)
          weight[k] += B[(rows + r) * nv + c.column[j]] * step->scale[c.column[j]] * axes[r][k];
      const double *v = c.twist[j], *w = c.twist[j] + 3;
      for (int32_t k = 0; k < c.count; k++) {
        const double *vk = c.twist[k], *wk = c.twist[k] + 3;
        double linear[3], angular[3], turned[3];
        rk_cross(wk, w, angular);
        rk_cross(wk, v, turned);
        if (c.node[k] <= c.node[j]) { /* k is above j, or beside it in one joint */
          if (tip) continue;          /* the tip's axes turn alike */
          for (int i = 0; i < 3; i++) linear[i] = turned[i];
        } else {
          rk_cross(w, vk, linear);
          for (int i = 0; i < 3; i++) {
            linear[i] -= tip ? turned[i] : 0.0;
            angular[i] = tip ? -angular[i] : 0.0;
          }
        }
        g[c.column[k]] += share * (rk_dot3(weight, linear) + rk_dot3(weight + 3, angular));
      }
    }
    rows += count;
  }
}
