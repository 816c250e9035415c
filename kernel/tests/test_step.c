/* The velocity step on a branched robot of every motion, with all criteria: exact memory, limits, priorities, refusals.
   Its numbers are compared with NumPy's by tests/solvers/velocity/test_velocity_step_backends.py. */
#include "../include/robokin_step.h"

#include "check.h"
#include "robots.h"

enum { TASKS = 3, ON_ROBOT = 6, ROWS = 6 + 3 + 2 + ON_ROBOT, CRITERIA = 6, TRIALS = 200 };

typedef struct problem {
  rk_model model;
  rk_tip_rows tips[TASKS];
  rk_criterion criteria[CRITERIA];
  double *rest, *ones, *limits, *tiny, *wide;
  double gravity[3];
  int32_t *coordinate, quaternions[8];
  int n_quaternions;
  rk_step step;
} problem;

static double *filled(int64_t count, double value) {
  double *memory = doubles(count);
  for (int64_t k = 0; k < count; k++) memory[k] = value;
  return memory;
}

/* A pose, an axis with a band, and two lengths in tip axes. */
static void make_tasks(problem *p) {
  static const int32_t tip_nodes[TASKS] = {4, 7, 9};
  memset(p->tips, 0, sizeof p->tips);
  for (int32_t t = 0; t < TASKS; t++) {
    rk_tip_rows *task = p->tips + t;
    SET(p->model.frame_node, t, tip_nodes[t]);
    task->kind = t == 1 ? RK_TIP_AXIS : RK_TIP_POSE;
    task->tip = t, task->other = -1;
    task->axes = t == 2 ? RK_TIP_AXES : RK_ROOT_AXES;
    task->is_first = t == 0;
    task->axis[2] = 1.0;
    for (int k = 0; k < 6; k++) {
      task->weights[k] = t == 0 || (t == 1 && k >= 3) || (t == 2 && k < 2) ? 0.5 : 0.0;
      task->bands[k] = t == 1 ? 0.05 : 0.0;
    }
  }
}

static problem *make_problem(void) {
  problem *p = allocate(sizeof *p);
  p->model = make_every_motion(5, p->quaternions, &p->n_quaternions);
  p->model.n_frames = TASKS;
  make_tasks(p);
  const int32_t nv = p->model.nv;
  p->rest = filled(p->model.nq, 0.0), p->ones = filled(nv, 1.0), p->limits = filled(nv, 0.05), p->tiny = filled(nv, 0.02);
  p->wide = filled(nv, INFINITY);
  for (int k = 0; k < p->n_quaternions; k++) p->rest[p->quaternions[k]] = 1.0;
  p->coordinate = allocate((size_t)nv * sizeof(int32_t));
  for (int32_t k = 0; k < nv; k++) p->coordinate[k] = -1;
  p->gravity[2] = -9.81;
  for (int c = 0; c < CRITERIA; c++) {
    const rk_criterion criterion = {c, 0, 1.0, 0.3, p->ones, p->ones, p->rest, p->gravity};
    p->criteria[c] = criterion;
  }
  double *below = filled(nv, -INFINITY);
  const rk_step step = {&p->model, p->tips, p->criteria, p->ones, p->limits, p->tiny,  below, p->wide,
                        p->coordinate, 0.02, 2.0, TASKS, ON_ROBOT, CRITERIA, 0, 0};
  p->step = step;
  return p;
}

/* A row of each kind, of a task each. */
static void make_robot_rows(const rk_model *m, rk_robot_row *rows) {
  memset(rows, 0, ON_ROBOT * sizeof *rows);
  for (int32_t k = 0; k < ON_ROBOT; k++) {
    rows[k].kind = k, rows[k].residual = 2 * k, rows[k].weight = 0.3;
    rows[k].lower = -0.1 * k, rows[k].upper = 0.1;
    rows[k].aim[0] = 1.0;
  }
  for (int32_t node = 0; node < m->n_nodes; node++) {
    const int32_t iq = m->iq[node], iv = m->iv[node], is_free = m->motion[node] == RK_FREE;
    if (m->motion[node] <= RK_HELICAL)
      rows[RK_ROW_COORDINATE].column = rows[RK_ROW_RATE].column = iv, rows[RK_ROW_COORDINATE].coordinate = iq;
    else
      rows[RK_ROW_TURN].column = iv + 3 * is_free, rows[RK_ROW_TURN].coordinate = iq + 3 * is_free;
    if (is_free) rows[RK_ROW_SHIFT].column = iv, rows[RK_ROW_SHIFT].coordinate = iq;
  }
  rows[RK_ROW_SHIFT].component = rows[RK_ROW_TURN].component = 2;
}

/* The code; v, and what the levels lack, of the first `levels` of three. */
static int32_t run(const problem *p, int32_t levels, const double *q, const double *previous, const double *targets,
                   double *v, double *level_residuals, int32_t *freedom) {
  const int32_t made[2 * TASKS] = {-1, -1, -1, -1, -1, -1};
  const int32_t start[4] = {0, 6, 9, ROWS}, rows[TASKS] = {0, 6, 9}, robot_at[ON_ROBOT] = {11, 12, 13, 14, 15, 16};
  const int32_t stays[TASKS] = {0, 0, 1}, nv = p->model.nv;
  const double damping[3] = {0.0, 0.0, 1e-4};
  int32_t *active = allocate((size_t)nv * sizeof(int32_t));
  double *J = doubles(ROWS * nv), *low = doubles(ROWS), *high = doubles(ROWS), *measured = doubles(4 * (TASKS + ON_ROBOT));
  double *shares = filled(TASKS + ON_ROBOT, 1.0), *rates = filled(nv, 0.1);
  double *costs = doubles(CRITERIA), *work = doubles(rk_step_workspace(&p->step, ROWS));
  rk_step_data data = {.q = q, .previous = previous, .targets = targets, .first_row = rows, .levels = levels};
  rk_robot_row robot_rows[ON_ROBOT];
  make_robot_rows(&p->model, robot_rows);
  data.made_row = made, data.shares = shares, data.rates = rates;
  data.stays = stays, data.robot_rows = robot_rows, data.robot_at = robot_at;
  data.n_robot_rows = levels == 3 ? ON_ROBOT : 0; /* they are of the last level */
  data.start = start, data.damping = damping, data.J = J, data.low = low, data.high = high;
  data.v = v, data.level_residuals = level_residuals, data.errors = measured, data.residuals = measured + 2 * (TASKS + ON_ROBOT);
  data.costs = costs, data.freedom = freedom, data.active = active;
  const int32_t code = rk_step_run(&p->step, &data, work);
  for (int c = 0; code == RK_STEP_DONE && c < CRITERIA; c++) CHECK(isfinite(costs[c]), "cost %d", c);
  void *all[] = {active, J, low, high, measured, shares, rates, costs, work};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
  return code;
}

static void test_steps(void) {
  problem *p = make_problem();
  const int32_t nv = p->model.nv;
  uint64_t random = 3;
  double *q = doubles(p->model.nq), *v = doubles(nv), *other = doubles(nv), *previous = filled(nv, 0.0);
  double *level_residuals = doubles(ROWS), *alone = doubles(ROWS), targets[TASKS][16] = {{0.0}};
  int32_t freedom[4];
  int bounded = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    random_configuration(&p->model, p->quaternions, p->n_quaternions, &random, q);
    for (int t = 0; t < TASKS; t++)
      for (int k = 0; k < 4; k++) {
        targets[t][5 * k] = 1.0;
        if (k < 3) targets[t][4 * k + 3] = uniform(&random, -1.0, 1.0);
      }
    for (int32_t k = 0; k < nv; k++) previous[k] = uniform(&random, -1.0, 1.0);
    CHECK(run(p, 3, q, previous, &targets[0][0], v, level_residuals, freedom) == RK_STEP_DONE, "trial %d", trial);
    for (int32_t k = 0; k < nv; k++) {
      CHECK(fabs(v[k] * 0.02) <= 0.05, "v[%d] is too fast", k);
      bounded += fabs(fabs(v[k] * 0.02) - 0.05) < 1e-12 || fabs(fabs((v[k] - previous[k]) * 0.02) - 0.02) < 1e-12;
    }
    CHECK(freedom[0] == nv && freedom[1] <= nv && freedom[3] <= freedom[2], "directions only get less");
    for (int32_t levels = 1; levels < 3; levels++) {
      CHECK(run(p, levels, q, previous, &targets[0][0], other, alone, freedom) == RK_STEP_DONE, "trial %d", trial);
      for (int r = levels == 1 ? 0 : 6; r < (levels == 1 ? 6 : 9); r++)
        CHECK_NEAR(alone[r], level_residuals[r], 1e-9, "what a level lacks without those below");
    }
  }
  CHECK(bounded > TRIALS, "only %d limits were active", bounded);
  q[0] = NAN;
  CHECK(run(p, 3, q, previous, &targets[0][0], v, level_residuals, freedom) == RK_STEP_BAD_START, "NaN in q");
  q[0] = 0.0, q[p->quaternions[0]] += 0.1;
  CHECK(run(p, 3, q, previous, &targets[0][0], v, level_residuals, freedom) == RK_STEP_BAD_START, "a long quaternion");
  double *owned[] = {q, v, other, previous, level_residuals, alone, p->rest, p->ones, p->limits, p->tiny, p->wide,
                     (double *)p->step.lower};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
  free(p->coordinate);
  free_model(&p->model);
  free(p);
}

int main(void) {
  test_steps();
  return report("step");
}
