/* How well the rows of the tasks move, and the gradient of that: the derivative of each column of the Jacobian along each
   other one. Twin of solvers/criteria/manipulability.py. */
#include "criteria.h"
#include "rk_jacobi_svd.h"
#include "rk_log.h"
#include "rk_tree.h"

static const double SINGULAR = 1e-6, STRUCTURAL = 1e-9, NONE = 4e-16;

/* The degrees of freedom that move a tip: their twists at it, per unit of v, columns and nodes. */
typedef struct chain {
  int32_t count, *column, *node;
  double (*twist)[6];
  double T[12];
} chain;

static int64_t most_movers(const rk_model *m) { return 6 * (int64_t)m->n_nodes; }

int64_t rk_manipulability_workspace(const rk_step *step) {
  const rk_model *m = step->model;
  const int64_t rows = 6 * (int64_t)m->n_frames;
  return 8 * most_movers(m) + rows * (2 * (int64_t)m->nv + rows + 2);
}

static void climb(const rk_model *m, const double *nodes, int32_t frame, chain *c) {
  rk_place_frame(m, nodes, frame, c->T);
  c->count = 0;
  for (int32_t node = m->frame_node[frame]; node >= 0; node = m->parent[node]) {
    const int n = rk_node_twists(m, node, nodes + 12 * (int64_t)node, c->T + 9, c->twist + c->count);
    for (int k = 0; k < n; k++) c->node[c->count] = node, c->column[c->count++] = m->iv[node] + k;
  }
}

static int in_tip_axes(const rk_task *task) { return task->tip_axes || task->kind == RK_TASK_AXIS; }

/* axes[rows][6]: what the rows of a task pick from a twist in root axes, lengths over L; returns their number. */
static int pick(const rk_step *step, const rk_task *task, const double T[12], double axes[6][6]) {
  double local[6][6] = {{0.0}};
  int count = 0;
  if (task->kind == RK_TASK_AXIS) { /* the two turns that tilt the axis */
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
      if (task->used[k] != 0.0) local[count++][k] = k < 3 ? 1.0 / step->length : 1.0;
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

/* -1/2 log det, of as many singular values as there are rows or columns, the larger ones. */
static double volume(int32_t rows, int32_t columns, const double *s) {
  double value = 0.0;
  for (int32_t i = 0; i < rows; i++) {
    int32_t larger = 0;
    for (int32_t j = 0; j < rows; j++) larger += s[j] > s[i] || (s[j] == s[i] && j < i);
    if (larger < columns) value -= 0.5 * rk_log(s[i] * s[i] + SINGULAR * SINGULAR);
  }
  return value;
}

/* B[rows][nv] with dV = -sum of B dJ, from the orthogonal A[rows][nv] = U'J and its U; returns V. */
static double value_and_slope(int32_t rows, int32_t nv, int smallest, int32_t rank, const double *A, const double *U,
                              double *s, double *B) {
  double largest = 0.0, value = 0.0;
  int32_t at = -1;
  for (int64_t k = 0; k < (int64_t)rows * nv; k++) B[k] = 0.0;
  for (int32_t i = 0; i < rows; i++) {
    s[i] = rk_sqrt(rk_dot(nv, A + (int64_t)i * nv, A + (int64_t)i * nv));
    largest = s[i] > largest ? s[i] : largest;
  }
  for (int32_t i = 0; i < rows; i++) {
    int32_t larger = 0;
    for (int32_t j = 0; j < rows; j++) larger += s[j] > s[i] || (s[j] == s[i] && j < i);
    if ((larger < rank || s[i] > STRUCTURAL * largest) && (at < 0 || s[i] < s[at])) at = i;
  }
  for (int32_t i = 0; i < rows; i++) {
    if (smallest && i == at) value = -s[i];
    if ((smallest && i != at) || !(s[i] > NONE * largest)) continue;
    const double square = s[i] * s[i] + SINGULAR * SINGULAR;
    for (int32_t r = 0; r < rows; r++)
      rk_add_scaled(nv, U[(int64_t)i * rows + r] / (smallest ? s[i] : square), A + (int64_t)i * nv, B + (int64_t)r * nv);
  }
  if (!smallest) value = volume(rows, nv, s);
  return value;
}

double rk_add_manipulability(const rk_step *step, const double *nodes, int smallest, int32_t rank, double share,
                             double *work, double *g) {
  const rk_model *m = step->model;
  const int64_t nv = m->nv, most = 6 * (int64_t)m->n_frames;
  chain c = {0};
  c.twist = (double(*)[6])work, work += 6 * most_movers(m);
  c.column = (int32_t *)work, work += most_movers(m);
  c.node = (int32_t *)work, work += most_movers(m);
  double *A = work, *B = A + most * nv, *U = B + most * nv, *s = U + most * most;
  double axes[6][6];
  int32_t rows = 0;
  for (int32_t t = 0; t < m->n_frames; t++) {
    if (!step->first[t]) continue;
    climb(m, nodes, t, &c);
    const int count = pick(step, step->tasks + t, c.T, axes);
    for (int64_t k = 0; k < count * nv; k++) A[rows * nv + k] = 0.0;
    for (int32_t j = 0; j < c.count; j++)
      for (int r = 0; r < count; r++)
        A[(rows + r) * nv + c.column[j]] += step->scale[c.column[j]] * rk_dot6(axes[r], c.twist[j]);
    rows += count;
  }
  rk_orthogonalise(rows, (int32_t)nv, A, U);
  const double value = value_and_slope(rows, (int32_t)nv, smallest, rank, A, U, s, B);
  rows = 0;
  for (int32_t t = 0; g && t < m->n_frames; t++) {
    if (!step->first[t]) continue;
    climb(m, nodes, t, &c);
    const int count = pick(step, step->tasks + t, c.T, axes), tip = in_tip_axes(step->tasks + t);
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
        g[c.column[k]] -= share * (rk_dot3(weight, linear) + rk_dot3(weight + 3, angular));
      }
    }
    rows += count;
  }
  return value;
}
