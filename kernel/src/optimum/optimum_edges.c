/* Potentials that are the largest eigenvalue of a symmetric matrix: minus the smallest singular value. Twin of
   solvers/criteria/largest_eigenvalue.py and smallest_singular_value.py, which explain it. */
#include "optimum/optimum.h"
#include "math/rk_math.h"
#include "math/rk_symmetric_eigen.h"

static const double STRUCTURAL = 1e-9, NONE = 4e-16;

/* Singular vectors of the rows at a pose, U[rows][rows] and A[rows][nv] = s V; order: the largest first, of which the
   first `used` count. */
typedef struct vectors {
  int32_t rows, n, used, *order;
  double *A, *U, *s, *B, *M, *E, *value, *work, *rows_work;
} vectors;

static vectors lay_out(rk_arena *arena, const rk_step *step) {
  const int64_t most = rk_most_first_rows(step), n = step->model->nv;
  vectors own = {.n = step->model->nv};
  double **matrices[] = {&own.U, &own.M, &own.E};
  own.rows_work = rk_take(arena, rk_first_rows_workspace(step));
  own.A = rk_take(arena, most * n), own.B = rk_take(arena, most * n);
  for (int k = 0; k < 3; k++) *matrices[k] = rk_take(arena, most * most);
  own.s = rk_take(arena, most), own.value = rk_take(arena, most), own.work = rk_take(arena, 3 * most + n);
  own.order = rk_take_integers(arena, most);
  return own;
}

int64_t rk_edge_workspace(const rk_step *step) {
  rk_arena arena = {0, 0};
  lay_out(&arena, step);
  return arena.used;
}

rk_edge rk_lay_out_edge(rk_arena *arena, const rk_poses *s, const rk_criterion *criterion) {
  const int64_t most = rk_most_first_rows(s->step), n = s->n;
  rk_edge edge = {.criterion = criterion};
  edge.A = rk_take(arena, most * most), edge.W = rk_take(arena, most * most);
  edge.U = rk_take(arena, most * most), edge.V = rk_take(arena, most * n);
  edge.slopes = rk_take(arena, most * (most + 1) / 2 * n);
  return edge;
}

static vectors vectors_at(const rk_poses *s, const rk_pose *pose, int32_t rank) {
  const rk_step *step = s->step;
  rk_arena arena = {s->cost_work, 0};
  vectors own = lay_out(&arena, step);
  own.rows = rk_first_vectors(step, s->optimum->stack->data, pose->nodes, s->near, own.rows_work, own.s, own.B, own.A, own.U);
  int32_t moving = 0;
  for (int32_t i = 0; i < own.rows; i++) {
    const double *row = own.A + (int64_t)i * own.n;
    int32_t at = i;
    own.s[i] = rk_sqrt(rk_dot(own.n, row, row));
    for (; at > 0 && own.s[own.order[at - 1]] < own.s[i]; at--) own.order[at] = own.order[at - 1];
    own.order[at] = i;
  }
  for (int32_t i = 0; i < own.rows; i++) moving += own.s[i] > STRUCTURAL * own.s[own.order[0]];
  own.used = moving > rank ? moving : rank;
  if (own.used < 1) own.used = 1;
  const int32_t most = own.rows < own.n ? own.rows : own.n;
  if (own.used > most) own.used = most;
  return own;
}

/* v[n]: the right singular vector `i`; where its value vanishes, a direction across all others. */
static void right_vector(const vectors *own, int32_t i, double *v) {
  const int32_t n = own->n;
  const double least = NONE * own->s[own->order[0]];
  for (int32_t k = 0; own->s[i] > least && k < n; k++) v[k] = own->A[(int64_t)i * n + k] / own->s[i];
  if (own->s[i] > least) return;
  double *diagonal = own->work + 3 * (int64_t)own->rows;
  int32_t across = 0;
  for (int32_t k = 0; k < n; k++) diagonal[k] = 1.0;
  for (int32_t j = 0; j < own->rows; j++)
    for (int32_t k = 0; own->s[j] > least && k < n; k++) {
      const double entry = own->A[(int64_t)j * n + k] / own->s[j];
      diagonal[k] -= entry * entry;
    }
  for (int32_t k = 1; k < n; k++)
    if (diagonal[k] > diagonal[across]) across = k;
  for (int32_t k = 0; k < n; k++) v[k] = (double)(k == across);
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t j = 0; j < own->rows; j++) {
      const double *row = own->A + (int64_t)j * n, size = own->s[j] * own->s[j];
      if (own->s[j] > least) rk_add_scaled(n, -rk_dot(n, row, v) / size, row, v);
    }
    const double length = rk_sqrt(rk_dot(n, v, v));
    for (int32_t k = 0; k < n; k++) v[k] /= length;
  }
}

static void add_pair(const vectors *own, double share, const double *u, const double *v) {
  for (int32_t r = 0; r < own->rows; r++) rk_add_scaled(own->n, share * u[r], v, own->B + (int64_t)r * own->n);
}

static void clear_pairs(const vectors *own) {
  for (int64_t k = 0; k < (int64_t)own->rows * own->n; k++) own->B[k] = 0.0;
}

void rk_take_edge(const rk_poses *s, const rk_pose *pose, double gap, rk_edge *edge) {
  const int64_t n = s->n;
  const vectors own = vectors_at(s, pose, edge->criterion->rank);
  const double share = edge->criterion->weight * edge->criterion->gain;
  edge->rows = own.rows, edge->count = 0;
  while (edge->count < own.used && own.s[own.order[own.used - 1 - edge->count]] <=
                                       own.s[own.order[own.used - 1]] + gap * own.s[own.order[0]])
    edge->count++;
  double *slope = edge->slopes;
  for (int64_t a = 0; a < edge->count; a++) {
    const int32_t at = own.order[own.used - 1 - a];
    for (int64_t b = 0; b < edge->count; b++)
      edge->A[a * edge->count + b] = a == b ? -share * own.s[at] : 0.0, edge->W[a * edge->count + b] = 0.0;
    for (int32_t r = 0; r < own.rows; r++) edge->U[a * own.rows + r] = own.U[(int64_t)at * own.rows + r];
    right_vector(&own, at, edge->V + a * n);
    for (int64_t b = 0; b <= a; b++, slope += n) {
      for (int64_t k = 0; k < n; k++) slope[k] = 0.0;
      clear_pairs(&own);
      add_pair(&own, 0.5, edge->U + a * own.rows, edge->V + b * n);
      add_pair(&own, 0.5, edge->U + b * own.rows, edge->V + a * n);
      rk_add_change_of_rows(s->step, s->optimum->stack->data, pose->nodes, own.B, -share, own.rows_work, slope);
      for (int64_t k = 0; k < n; k++) slope[k] *= s->step->scale[k];
    }
  }
  if (edge->count) edge->W[0] = 1.0;
}

/* Q[count][count], in own.M: the frames of the edge in those of a pose nearby, as nearly as rotations can be. */
static void align(const vectors *own, const rk_edge *edge, const double *V) {
  const int64_t count = edge->count, n = own->n;
  double *M = own->M, *square = own->E, *P = own->B;
  for (int64_t a = 0; a < count; a++)
    for (int64_t b = 0; b < count; b++) {
      const double *u = own->U + (int64_t)own->order[own->used - 1 - a] * own->rows;
      M[a * count + b] = rk_dot(own->rows, u, edge->U + b * own->rows) + rk_dot((int32_t)n, V + a * n, edge->V + b * n);
    }
  for (int64_t a = 0; a < count; a++)
    for (int64_t b = 0; b < count; b++) {
      double sum = 0.0;
      for (int64_t k = 0; k < count; k++) sum += M[k * count + a] * M[k * count + b];
      square[a * count + b] = sum;
    }
  rk_symmetric_eigen(edge->count, square, own->value, P, own->work);
  for (int64_t a = 0; a < count; a++) { /* Q = M P' (M'M)^-1/2 P */
    double *row = M + a * count, *turned = own->work;
    for (int64_t k = 0; k < count; k++) {
      const double root = rk_sqrt(own->value[k] > 0.0 ? own->value[k] : 0.0);
      turned[k] = root > 0.0 ? rk_dot(edge->count, row, P + k * count) / root : 0.0;
    }
    for (int64_t b = 0; b < count; b++) row[b] = 0.0;
    for (int64_t k = 0; k < count; k++) rk_add_scaled(edge->count, turned[k], P + k * count, row);
  }
}

int rk_follow_edge(const rk_poses *s, const rk_pose *pose, const rk_edge *edge, double *A, double *g) {
  const int64_t n = s->n, count = edge->count;
  const vectors own = vectors_at(s, pose, edge->criterion->rank);
  const double share = edge->criterion->weight * edge->criterion->gain, *Q = own.M;
  double *V = s->edge_vectors;
  if (own.rows != edge->rows || own.used < count) return 0;
  for (int64_t a = 0; a < count; a++) right_vector(&own, own.order[own.used - 1 - a], V + a * n);
  align(&own, edge, V);
  for (int64_t a = 0; A && a < count; a++)
    for (int64_t b = 0; b < count; b++) {
      double sum = 0.0;
      for (int64_t k = 0; k < count; k++)
        sum -= share * own.s[own.order[own.used - 1 - k]] * Q[k * count + a] * Q[k * count + b];
      A[a * count + b] = sum;
    }
  if (!g) return 1;
  clear_pairs(&own);
  for (int64_t a = 0; a < count; a++)
    for (int64_t b = 0; b < count; b++) {
      double sum = 0.0;
      for (int64_t k = 0; k < count; k++)
        for (int64_t l = 0; l < count; l++) sum += Q[a * count + k] * edge->W[k * count + l] * Q[b * count + l];
      add_pair(&own, sum, own.U + (int64_t)own.order[own.used - 1 - a] * own.rows, V + b * n);
    }
  double *slope = own.work + 3 * (int64_t)own.rows;
  for (int64_t k = 0; k < n; k++) slope[k] = 0.0;
  rk_add_change_of_rows(s->step, s->optimum->stack->data, pose->nodes, own.B, -share, own.rows_work, slope);
  for (int64_t k = 0; k < n; k++) g[k] += s->step->scale[k] * slope[k];
  return 1;
}
