/* Quadratic programs: optimality conditions, one-sided and dependent rows, and what has no solution. */
#include "check.h"
#include "robokin_qp.h"

enum { LARGEST = 9 };

typedef struct program {
  int32_t n, m, iterations;
  double *H, *g, *C, *low, *high, *x, *u;
} program;

static program make(int32_t n, int32_t m) {
  const program p = {n,          m,          0, doubles(n * n), doubles(n), doubles(m * n), doubles(n + m), doubles(n + m),
                     doubles(n), doubles(n + m)};
  return p;
}

static void release(program *p) {
  double *all[] = {p->H, p->g, p->C, p->low, p->high, p->x, p->u};
  for (int k = 0; k < 7; k++) free(all[k]);
}

static int32_t solve(program *p) {
  double *work = doubles(rk_qp_workspace(p->n, p->m));
  const int32_t status =
      rk_qp(p->n, p->m, p->H, p->g, p->C, p->low, p->high, 0.0, work, p->x, p->u, &p->iterations);
  free(work);
  return status;
}

/* A random program around a point inside; every third row repeats the first one. */
static void fill(program *p, uint64_t *random) {
  double F[LARGEST][LARGEST], inside[LARGEST];
  for (int i = 0; i < p->n; i++) {
    for (int j = 0; j < p->n; j++) F[i][j] = uniform(random, -1.0, 1.0);
    inside[i] = uniform(random, -1.0, 1.0);
    p->g[i] = uniform(random, -5.0, 5.0);
  }
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < p->n; j++) {
      double sum = i == j ? 0.1 : 0.0;
      for (int k = 0; k < p->n; k++) sum += F[i][k] * F[j][k];
      p->H[i * p->n + j] = sum;
    }
  for (int c = 0; c < p->n + p->m; c++) {
    double value = c < p->n ? inside[c] : 0.0;
    for (int i = 0; c >= p->n && i < p->n; i++) {
      double *entry = p->C + (c - p->n) * p->n + i;
      *entry = (c - p->n) % 3 == 2 ? p->C[i] : uniform(random, -1.0, 1.0);
      value += *entry * inside[i];
    }
    const double kind = uniform(random, 0.0, 1.0);
    p->low[c] = kind < 0.3 ? -INFINITY : kind < 0.45 ? value : value - uniform(random, 0.0, 1.0);
    p->high[c] = kind > 0.8 ? INFINITY : kind > 0.3 && kind < 0.45 ? value : value + uniform(random, 0.0, 1.0);
  }
}

static void check_optimal(const program *p) {
  for (int i = 0; i < p->n; i++) {
    double slope = p->g[i] + p->u[i];
    for (int j = 0; j < p->n; j++) slope += p->H[i * p->n + j] * p->x[j];
    for (int c = 0; c < p->m; c++) slope += p->u[p->n + c] * p->C[c * p->n + i];
    CHECK_NEAR(slope, 0.0, 1e-9, "the slope");
  }
  for (int c = 0; c < p->n + p->m; c++) {
    double value = c < p->n ? p->x[c] : 0.0;
    for (int i = 0; c >= p->n && i < p->n; i++) value += p->C[(c - p->n) * p->n + i] * p->x[i];
    CHECK(value >= p->low[c] - 1e-10 && value <= p->high[c] + 1e-10, "constraint %d is violated", c);
    if (p->u[c] > 0.0) CHECK_NEAR(value, p->high[c], 1e-9, "a side with a multiplier");
    if (p->u[c] < 0.0) CHECK_NEAR(value, p->low[c], 1e-9, "a side with a multiplier");
  }
}

static void test_random_programs(void) {
  uint64_t random = 5;
  int bounded = 0;
  for (int trial = 0; trial < 600; trial++) {
    program p = make(1 + trial % LARGEST, trial % 14);
    fill(&p, &random);
    CHECK(solve(&p) == RK_QP_OPTIMAL, "trial %d has a point inside", trial);
    check_optimal(&p);
    bounded += p.iterations > 0;
    release(&p);
  }
  CHECK(bounded > 300, "only %d of the programs touch a side", bounded);
}

static void test_no_solution(void) {
  program p = make(2, 1);
  const double H[4] = {1.0, 0.0, 0.0, 1.0};
  for (int k = 0; k < 4; k++) p.H[k] = H[k];
  for (int k = 0; k < 2; k++) p.g[k] = 1.0, p.C[k] = 1.0, p.low[k] = -INFINITY, p.high[k] = 0.0;
  p.low[2] = 1e-6, p.high[2] = INFINITY;
  CHECK(solve(&p) == RK_QP_INFEASIBLE, "a row that the bounds contradict");
  CHECK(isfinite(p.x[0]) && isfinite(p.x[1]), "x is finite all the same");
  p.low[2] = -1.0, p.low[0] = 1.0;
  CHECK(solve(&p) == RK_QP_INFEASIBLE, "a bound below the other");
  p.low[0] = -1.0, p.H[3] = -1.0;
  CHECK(solve(&p) == RK_QP_NOT_CONVEX, "a matrix that is not positive definite");
  release(&p);
}

int main(void) {
  test_random_programs();
  test_no_solution();
  return report("qp");
}
