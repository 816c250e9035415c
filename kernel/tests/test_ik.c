/* Inverse kinematics on a branched robot of every motion: limits, residuals, batches, refusals; exact memory. The bounded
   step: optimality, and the same with and without the tree's zeros. */
#include "../include/robokin_ik.h"

#include "check.h"
#include "robots.h"

enum { TASKS = 3, COUNT = 60, MAX_V = 64 };

/* The columns of each task, and what the factorisation couples. */
typedef struct patterns {
  int32_t task_start[TASKS + 1], columns[TASKS * MAX_V], fill_start[MAX_V + 1], fill[MAX_V * MAX_V];
} patterns;

static void find_patterns(const rk_model *m, patterns *p) {
  static int own[TASKS][MAX_V], coupled[MAX_V][MAX_V];
  for (int32_t t = 0; t < TASKS; t++) {
    for (int32_t node = m->frame_node[t]; node >= 0; node = m->parent[node]) {
      const int nv = m->motion[node] == RK_FREE ? 6 : m->motion[node] == RK_BALL ? 3 : 1;
      for (int k = 0; k < nv; k++) own[t][m->iv[node] + k] = 1;
    }
    p->task_start[t + 1] = p->task_start[t];
    for (int32_t a = 0; a < m->nv; a++) {
      if (own[t][a]) p->columns[p->task_start[t + 1]++] = a;
      for (int32_t b = 0; b < a; b++) coupled[a][b] |= own[t][a] && own[t][b];
    }
  }
  for (int32_t a = m->nv - 1; a >= 0; a--)
    for (int32_t b = 0; b < a; b++)
      for (int32_t c = 0; c < b; c++) coupled[b][c] |= coupled[a][b] && coupled[a][c];
  for (int32_t a = 0; a < m->nv; a++) {
    p->fill_start[a + 1] = p->fill_start[a];
    for (int32_t b = 0; b < a; b++)
      if (coupled[a][b]) p->fill[p->fill_start[a + 1]++] = b;
  }
}

static void test_solve(void) {
  int32_t quaternions[8];
  int n_quaternions;
  uint64_t seed = 11;
  rk_model m = make_every_motion(5, quaternions, &n_quaternions);
  m.n_frames = TASKS;
  const int32_t tip_nodes[TASKS] = {4, 7, 9};
  for (int32_t t = 0; t < TASKS; t++) SET(m.frame_node, t, tip_nodes[t]);

  static patterns p;
  find_patterns(&m, &p);
  int32_t *coordinate = allocate((size_t)m.nv * sizeof(int32_t)), *q_index = allocate((size_t)m.nq * sizeof(int32_t));
  int32_t *about_middle = allocate((size_t)m.nq * sizeof(int32_t)), *periodic = allocate((size_t)m.nq * sizeof(int32_t));
  double *middle = doubles(m.nq), *half_range = doubles(m.nq), *damping = doubles(m.nv);
  for (int32_t i = 0; i < m.nq; i++) {
    SET(m.lower, i, -1.5);
    SET(m.upper, i, 1.2);
    middle[i] = 0.0, half_range[i] = 1.0, about_middle[i] = 1, q_index[i] = i;
  }
  for (int k = 0; k < n_quaternions; k++)
    for (int i = quaternions[k]; i < quaternions[k] + 4; i++) {
      SET(m.lower, i, -INFINITY);
      SET(m.upper, i, INFINITY);
      half_range[i] = NAN;
    }
  for (int32_t k = 0; k < m.nv; k++) coordinate[k] = -1, damping[k] = 1.0;
  for (int32_t node = 0; node < m.n_nodes; node++) {
    const int plain = m.motion[node] == RK_FREE ? 3 : m.motion[node] == RK_BALL ? 0 : 1;
    for (int k = 0; k < plain; k++) coordinate[m.iv[node] + k] = m.iq[node] + k;
  }
  rk_task tasks[TASKS] = {{.kind = RK_TASK_POSE, .parts = 3, .weights = {1, 1, 1, 1, 1, 1}, .used = {1, 1, 1, 1, 1, 1}},
                          {.kind = RK_TASK_POSE, .tip_axes = 1, .parts = 3, .exact = 3,
                           .weights = {2, 0, 1, 1, 1, 0}, .used = {1, 0, 1, 1, 1, 0}},
                          {.kind = RK_TASK_AXIS, .parts = 2, .exact = 2, .axis = {0.6, 0.0, 0.8},
                           .weights = {0, 0, 0, 1, 1, 1}, .used = {0, 0, 0, 1, 1, 1}}};
  for (int t = 0; t < TASKS; t++) {
    tasks[t].tolerance[0] = tasks[t].tolerance[1] = 1e-5;
    tasks[t].reach = tasks[t].wrist_reach = INFINITY;
  }
  const rk_ik ik = {.model = &m, .tasks = tasks, .task_start = p.task_start, .task_columns = p.columns,
                    .fill_start = p.fill_start, .fill = p.fill, .coordinate = coordinate, .q_index = q_index,
                    .robot_lower = m.lower, .robot_upper = m.upper, .middle = middle, .half_range = half_range,
                    .about_middle = about_middle, .periodic = periodic, .damping = damping, .length = 1.0, .robot_nq = m.nq,
                    .attempts = 20, .iterations = 30};

  double *wanted = doubles(COUNT * m.nq), *targets = doubles(COUNT * TASKS * 16), *frames_work = doubles(rk_workspace(&m));
  double *start = doubles(COUNT * m.nq), *work = doubles(rk_ik_workspace(&ik));
  for (int k = 0; k < COUNT; k++) {
    random_configuration(&m, quaternions, n_quaternions, &seed, wanted + k * m.nq);
    random_configuration(&m, quaternions, n_quaternions, &seed, start + k * m.nq);
    for (int32_t i = 0; i < m.nq; i++) {
      double *x = wanted + k * m.nq + i;
      if (m.lower[i] > -INFINITY) *x = *x < -1.5 ? -1.5 : *x > 1.2 ? 1.2 : *x;
    }
  }
  rk_frame_placements(&m, COUNT, wanted, frames_work, targets);
  for (int k = 0; k < COUNT; k++) { /* the axis task's target holds the direction in its third column */
    double *T = targets + 16 * (TASKS * k + 2), d[3];
    for (int r = 0; r < 3; r++) d[r] = 0.6 * T[4 * r] + 0.8 * T[4 * r + 2];
    const double x[3] = {-0.8 * T[0] + 0.6 * T[2], -0.8 * T[4] + 0.6 * T[6], -0.8 * T[8] + 0.6 * T[10]};
    for (int r = 0; r < 3; r++) {
      const double y = T[4 * r + 1];
      T[4 * r] = -x[r], T[4 * r + 1] = y, T[4 * r + 2] = d[r];
    }
  }

  double *q = doubles(COUNT * m.nq), *residuals = doubles(COUNT * TASKS * 2), *again = doubles(m.nq), pair[TASKS * 2];
  rk_ik_outcome outcomes[COUNT], outcome;
  rk_ik_solve(&ik, COUNT, targets, start, 3, work, q, residuals, outcomes);
  int converged = 0;
  for (int k = 0; k < COUNT; k++) {
    converged += outcomes[k].code == RK_IK_CONVERGED;
    int met = 1;
    for (int r = 0; r < TASKS * 2; r++) met = met && residuals[k * TASKS * 2 + r] <= 1e-5;
    CHECK(met == (outcomes[k].code == RK_IK_CONVERGED), "solve %d: code %d", k, outcomes[k].code);
    for (int32_t i = 0; i < m.nq; i++)
      CHECK(q[k * m.nq + i] >= m.lower[i] && q[k * m.nq + i] <= m.upper[i], "solve %d: entry %d outside", k, i);
    rk_ik_solve(&ik, 1, targets + 16 * TASKS * k, start + k * m.nq, 3, work, again, pair, &outcome);
    CHECK(!memcmp(again, q + k * m.nq, (size_t)m.nq * sizeof(double)), "solve %d: differs from the batch", k);
  }
  CHECK(converged >= COUNT - 1, "only %d of %d converged", converged, COUNT);

  targets[5] = NAN;
  rk_ik_solve(&ik, 1, targets, start, 0, work, again, pair, &outcome);
  CHECK(outcome.code == RK_IK_BAD_TARGET, "code %d for a target that is no number", outcome.code);
  start[m.nq] = INFINITY;
  rk_ik_solve(&ik, 1, targets + 16 * TASKS, start + m.nq, 0, work, again, pair, &outcome);
  CHECK(outcome.code == RK_IK_BAD_START, "code %d for an infinite start", outcome.code);

  void *owned[] = {coordinate, q_index, about_middle, periodic, middle, half_range, damping, wanted, targets,
                   frames_work, start, work, q, residuals, again};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
  free_model(&m);
}

static void test_bounded_step(void) {
  enum { N = 12, M = 9 };
  uint64_t seed = 3;
  for (int trial = 0; trial < 300; trial++) {
    const int32_t n = 1 + trial % N;
    double *J = doubles(M * n), *H = doubles(n * n), *g = doubles(n), *lo = doubles(n), *hi = doubles(n), *x = doubles(n);
    double *work = doubles(rk_bounded_step_workspace(n));
    int32_t *side = allocate((size_t)n * sizeof(int32_t));
    for (int k = 0; k < M * n; k++) J[k] = uniform(&seed, -1.0, 1.0);
    for (int i = 0; i < n; i++) {
      g[i] = uniform(&seed, -2.0, 2.0), lo[i] = uniform(&seed, -0.5, 0.1), hi[i] = lo[i] + uniform(&seed, 0.0, 0.6);
      if (trial % 5 == 0) hi[i] = INFINITY;
      for (int j = 0; j <= i; j++) {
        double sum = i == j ? 1e-3 : 0.0;
        for (int r = 0; r < M; r++) sum += J[r * n + i] * J[r * n + j];
        H[i * n + j] = sum;
      }
    }
    rk_bounded_step(n, H, g, lo, hi, NULL, NULL, work, x, side);
    for (int i = 0; i < n; i++) {
      double slope = -g[i];
      for (int j = 0; j < n; j++) slope += (j <= i ? H[i * n + j] : H[j * n + i]) * x[j];
      CHECK(x[i] >= lo[i] && x[i] <= hi[i], "trial %d: entry %d outside", trial, i);
      const int stationary = x[i] == lo[i] ? slope >= -1e-9 : x[i] == hi[i] ? slope <= 1e-9 : fabs(slope) <= 1e-9;
      CHECK(stationary || lo[i] == hi[i], "trial %d: slope %g at entry %d, side %d", trial, slope, i, side[i]);
    }
    free(J), free(H), free(g), free(lo), free(hi), free(x), free(work), free(side);
  }
}

int main(void) {
  test_solve();
  test_bounded_step();
  return report("ik");
}
