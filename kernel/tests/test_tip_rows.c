/* Rows of every kind of task on tips, on a branched robot of every motion: exact memory, derivatives against
   differences, what paths and loop closures make of them. Their numbers are compared with NumPy's by
   tests/solvers/tasks/test_tip_rows.py. */
#include "robot/rk_tree.h"
#include "step/step_rows.h"

#include "check.h"
#include "robots.h"

enum { FORMS = 28, TWISTS = 20, LASER_ON_MESH = 26, SPOT = 27, MOST = 6, TRIALS = 40 };

typedef struct problem {
  rk_model model;
  rk_tip_rows tips[FORMS];
  rk_step step;
  double *ones, *shares, targets[FORMS][16];
  rk_segment segments[2], on_triangle;
  rk_triangle triangle;
  int32_t quaternions[8], first_row[FORMS], made_row[2 * FORMS], stays[FORMS];
  int n_quaternions, n_rows;
} problem;

/* What rows a problem has at a configuration. */
typedef struct rows {
  double *J, *low, *high, *errors, *nodes, *work;
} rows;

static void random_direction(uint64_t *random, double *n) {
  double square = 0.0;
  for (int k = 0; k < 3; k++) n[k] = uniform(random, -1.0, 1.0), square += n[k] * n[k];
  for (int k = 0; k < 3; k++) n[k] /= sqrt(square);
}

/* A pose about which all is random; the rotation is that of a quaternion. */
static void random_target(uint64_t *random, double *T) {
  double q[4];
  random_quaternion(random, q);
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double R[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                       2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                       2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) T[4 * r + c] = R[3 * r + c];
    T[4 * r + 3] = uniform(random, -1.0, 1.0);
  }
  T[12] = T[13] = T[14] = 0.0, T[15] = 1.0;
}

/* Six rows each where a kind has so many; in tip axes, as a ball, one-sided, with another tip where that is known. */
static problem *make_problem(uint64_t seed) {
  static const int32_t kinds[FORMS] = {0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6, 6, 7, 7, 8, 9, 9, 9, 9, 10, 10, 8, 11};
  static const int32_t counts[12] = {6, 3, 6, 1, 3, 1, 2, 3, 6, 6, 3, 3};
  problem *p = allocate(sizeof *p);
  p->model = make_every_motion(seed, p->quaternions, &p->n_quaternions);
  const int32_t nv = p->model.nv;
  p->ones = doubles(nv), p->shares = doubles(FORMS);
  for (int32_t k = 0; k < nv; k++) p->ones[k] = 1.0;
  const rk_triangle triangle = {.corner = {-9.0, -9.0, 1.0}, .sides = {{30.0, 0.0, 0.0}, {0.0, 30.0, 0.0}},
                                .normal = {0.0, 0.0, 1.0}, .is_last = 1};
  p->triangle = triangle;
  for (int k = 0; k < 2; k++) { /* two lines that meet at a corner */
    rk_segment *own = p->segments + k;
    own->following = 1, own->start = k, own->size = 1.0, own->whole = 2.0;
    random_direction(&seed, own->along);
    for (int i = 0; k == 1 && i < 3; i++) own->origin[i] = p->segments[0].along[i];
  }
  const rk_segment line = {.origin = {-5.0, 0.5, 1.0}, .along = {1.0, 0.0, 0.0}, .size = 10.0, .whole = 10.0};
  p->on_triangle = line;
  for (int32_t t = 0; t < FORMS; t++) {
    rk_tip_rows *own = p->tips + t;
    double *target = p->targets[t];
    const int again = t > 0 && kinds[t - 1] == kinds[t], third = t > 1 && kinds[t - 2] == kinds[t];
    int count = counts[kinds[t]];
    own->kind = kinds[t], own->tip = (5 * t) % 12, own->other = -1;
    if (own->kind == RK_TIP_RELATIVE || (own->kind == RK_TIP_DISTANCE && again)) own->other = (own->tip + 3 * t + 1) % 12;
    random_direction(&seed, own->axis);
    random_target(&seed, target);
    if (own->kind == RK_TIP_DISTANCE) {
      own->side = again ? 0 : -1;
      target[0] = third ? 0.0 : 0.4; /* then the points are one */
      count = third ? 3 : 1;
    }
    if (own->kind == RK_TIP_PLANE) own->side = 1;
    if (own->kind <= RK_TIP_AXIS || own->kind == RK_TIP_ADVANCE) own->axes = again ? RK_TIP_AXES : RK_ROOT_AXES;
    if (own->kind == RK_TIP_ADVANCE) p->stays[t] = !again;
    if (own->kind == RK_TIP_TWIST) own->axes = third ? RK_SPACE_AXES : again ? RK_TIP_AXES : RK_ROOT_AXES;
    if (own->kind == RK_TIP_PLANE) random_direction(&seed, target + 3);
    if (own->kind == RK_TIP_LASER) { /* a plane, and a mesh of one large triangle */
      target[3] = t == LASER_ON_MESH ? (double)(uintptr_t)&p->triangle : 0.0;
      random_direction(&seed, target + 7);
      for (int k = 0; k < 12 && t == LASER_ON_MESH; k++) target[4 + k] = k < 9 && k % 4 == 0;
    }
    if (own->kind == RK_TIP_CURVE) target[0] = (double)(uintptr_t)p->segments, target[1] = 2.0;
    if (own->kind == RK_TIP_SPOT) { /* of the beam of the laser on the mesh */
      own->tip = p->tips[LASER_ON_MESH].tip, memcpy(own->axis, p->tips[LASER_ON_MESH].axis, sizeof own->axis);
      target[0] = (double)(uintptr_t)&p->on_triangle, target[1] = 1.0;
      memcpy(target + 2, p->targets[LASER_ON_MESH] + 3, 13 * sizeof(double));
    }
    own->is_ball = t == 4 || t == 11 || t == 13 || t == 16 || t == 25;
    const int first = own->kind == RK_TIP_AXIS ? 3 : 0;
    for (int k = 0; k < (own->is_ball ? 1 : count); k++) own->weights[first + k] = 1.0 + 0.1 * k;
    p->shares[t] = 1.0, own->correction = 1.0;
    p->first_row[t] = MOST * t;
    p->made_row[2 * t] = p->made_row[2 * t + 1] = -1;
  }
  p->n_rows = MOST * FORMS;
  /* The last two relative poses are loop closures, the last two twists have a path; its rows lie apart. */
  for (int32_t t = 6; t < 8; t++) p->made_row[2 * t] = p->n_rows, p->n_rows += MOST;
  for (int32_t t = 22; t < 24; t++)
    p->made_row[2 * t] = p->n_rows, p->made_row[2 * t + 1] = p->n_rows + MOST - 1, p->n_rows += MOST;
  const rk_step step = {.model = &p->model, .tips = p->tips, .scale = p->ones, .dt = 0.1, .length = 1.0, .n_tips = FORMS};
  p->step = step;
  return p;
}

static void free_problem(problem *p) {
  free(p->ones), free(p->shares);
  free_model(&p->model);
  free(p);
}

/* from: where the frame began that velocities are counted from, or null. */
static rows fill_from(const problem *p, const double *q, const double *from) {
  rows r = {doubles((int64_t)p->n_rows * p->model.nv), doubles(p->n_rows), doubles(p->n_rows), doubles(2 * FORMS),
            doubles(12 * (int64_t)p->model.n_nodes), doubles(rk_rows_workspace(&p->step))};
  rk_step_data data = {.q = q, .targets = &p->targets[0][0], .stays = p->stays, .first_row = p->first_row,
                       .made_row = p->made_row, .shares = p->shares, .J = r.J, .low = r.low, .high = r.high};
  double *before = doubles(12 * FORMS), *path_directions = doubles(6 * FORMS), *across = doubles(2 * FORMS);
  data.from = from, data.before = before, data.path_directions = path_directions;
  if (from) rk_rows_begin(&p->step, &data, r.nodes);
  rk_rows_fill(&p->step, &data, r.nodes, r.work);
  rk_rows_measure(&p->step, &data, 0, r.errors);
  memcpy(across, r.errors, 2 * FORMS * sizeof(double));
  if (from) rk_rows_measure_across(&p->step, &data, across);
  for (int k = 0; k < 2 * FORMS; k++) CHECK(across[k] <= r.errors[k] * (1.0 + 1e-12), "across a path, of the whole residual");
  free(before), free(path_directions), free(across);
  return r;
}

static rows fill(const problem *p, const double *q) { return fill_from(p, q, 0); }

static void free_rows(rows *r) {
  double *all[] = {r->J, r->low, r->high, r->errors, r->nodes, r->work};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

static int count_of(const rk_tip_rows *own) {
  int count = 0;
  for (int k = 0; k < 6; k++) count += own->weights[k] != 0.0;
  return count;
}

static int is_zero(const double *row, int32_t nv) {
  int all = 1;
  for (int32_t k = 0; k < nv; k++) all &= row[k] == 0.0;
  return all;
}

/* The side of a row that is finite. */
static double value(const rows *r, int row) { return isfinite(r->low[row]) ? r->low[row] : r->high[row]; }

/* Weighted rows x[3] of a tip that points at its target, without what is along that direction: rows leave it out. */
static void drop_along_aim(const problem *p, int32_t t, const double *nodes, const double *weights, double *x) {
  double T[12], d[3], square = 0.0, along = 0.0;
  rk_place_frame(&p->model, nodes, p->tips[t].tip, T);
  for (int k = 0; k < 3; k++) d[k] = p->targets[t][k] - T[9 + k], square += d[k] * d[k];
  for (int k = 0; k < 3; k++) along += d[k] * x[k] / weights[k] / square;
  for (int k = 0; k < 3; k++) x[k] -= weights[k] * along * d[k];
}

/* d(e)/dt = -J v, but for velocities, and for what is counted from where the tip is. */
static void test_derivatives(void) {
  uint64_t random = 11;
  problem *p = make_problem(5);
  const int32_t nv = p->model.nv, nq = p->model.nq;
  double *q = doubles(nq), *sides = doubles(2 * nq), *v = doubles(2 * nv);
  const double h = 1e-6;
  for (int trial = 0; trial < TRIALS; trial++) {
    random_configuration(&p->model, p->quaternions, p->n_quaternions, &random, q);
    for (int32_t k = 0; k < nv; k++) v[k] = uniform(&random, -1.0, 1.0) * h, v[nv + k] = -v[k];
    for (int side = 0; side < 2; side++) rk_integrate(&p->model, 1, q, v + side * nv, sides + side * nq);
    rows here = fill(p, q), after = fill(p, sides), before = fill(p, sides + nq);
    for (int32_t t = 0; t < FORMS; t++) {
      if (p->tips[t].kind == RK_TIP_TWIST || p->stays[t]) continue;
      double slope[MOST] = {0.0}, difference[MOST] = {0.0}, size[MOST];
      const int count = count_of(p->tips + t), aimed = p->tips[t].kind == RK_TIP_AIM ? 0 : 3;
      for (int row = 0; row < count; row++) {
        const double *J = here.J + (MOST * t + row) * (int64_t)nv;
        difference[row] = (value(&after, MOST * t + row) - value(&before, MOST * t + row)) / (2.0 * h), size[row] = 1.0;
        for (int32_t k = 0; k < nv; k++) slope[row] += J[k] * v[k] / h, size[row] += fabs(J[k]);
      }
      if (count == aimed + 3 && (aimed == 0 || p->tips[t].kind == RK_TIP_LASER)) {
        drop_along_aim(p, t, here.nodes, p->tips[t].weights + aimed, slope + aimed);
        drop_along_aim(p, t, here.nodes, p->tips[t].weights + aimed, difference + aimed);
      }
      for (int row = 0; row < count; row++) {
        if (fabs(value(&here, MOST * t + row)) > 2.8) continue; /* near half a turn the turn changes its sign */
        /* Rows of a beam that misses its plane are of the target, not of the spot. */
        if (p->tips[t].kind == RK_TIP_LASER && (size[row] == 1.0 || size[row] > 100.0)) continue;
        /* One that misses its mesh is counted at the distance that its curve has now. */
        if (t == SPOT && (is_zero(here.J + MOST * LASER_ON_MESH * (int64_t)nv, nv) || size[row] > 100.0)) continue;
        CHECK(fabs(slope[row] + difference[row]) <= 1e-5 * size[row] * size[row], "form %d, kind %d, row %d: %g, expected %g",
              t, p->tips[t].kind, row, -slope[row], difference[row]);
      }
    }
    free_rows(&here), free_rows(&after), free_rows(&before);
  }
  free(q), free(sides), free(v);
  free_problem(p);
}

/* In a frame what is left of a twist, too, changes by -J v: of a straight one, and of one that asks to stand still. */
static void test_twists_in_a_frame(void) {
  uint64_t random = 23;
  problem *p = make_problem(4);
  const int32_t nv = p->model.nv, nq = p->model.nq, first = TWISTS;
  double *from = doubles(nq), *q = doubles(nq), *sides = doubles(2 * nq), *v = doubles(2 * nv);
  const double h = 1e-6;
  for (int32_t t = first + 1; t < first + 4; t++) memset(p->targets[t], 0, sizeof p->targets[t]);
  for (int trial = 0; trial < TRIALS; trial++) {
    random_configuration(&p->model, p->quaternions, p->n_quaternions, &random, from);
    for (int32_t k = 0; k < nv; k++) v[k] = uniform(&random, -0.05, 0.05);
    rk_integrate(&p->model, 1, from, v, q);
    for (int32_t k = 0; k < nv; k++) v[k] = uniform(&random, -1.0, 1.0) * h, v[nv + k] = -v[k];
    for (int side = 0; side < 2; side++) rk_integrate(&p->model, 1, q, v + side * nv, sides + side * nq);
    rows here = fill_from(p, q, from), after = fill_from(p, sides, from), before = fill_from(p, sides + nq, from);
    rows start = fill_from(p, from, from), alone = fill(p, from);
    for (int32_t t = first; t < first + 4; t++)
      for (int row = MOST * t; row < MOST * t + MOST; row++) {
        double slope = 0.0, difference = (after.low[row] - before.low[row]) / (2.0 * h), size = 1.0;
        for (int32_t k = 0; k < nv; k++) {
          const double J = here.J[row * (int64_t)nv + k];
          slope += J * v[k] / h, size += fabs(J);
        }
        CHECK_NEAR(difference, -slope, 1e-5 * size * size, "a twist in a frame");
        CHECK_NEAR(start.low[row], alone.low[row], 1e-12, "a twist where its frame begins");
      }
    free_rows(&here), free_rows(&after), free_rows(&before), free_rows(&start), free_rows(&alone);
  }
  free(from), free(q), free(sides), free(v);
  free_problem(p);
}

/* What rows from `first` on see and want of x, squared. */
static double residual(const rows *r, int32_t nv, int first, int count, const double *x) {
  double sum = 0.0;
  for (int row = first; row < first + count; row++) {
    double remaining = r->low[row];
    for (int32_t k = 0; k < nv; k++) remaining -= r->J[row * (int64_t)nv + k] * x[k];
    sum += remaining * remaining;
  }
  return sum;
}

static void test_rows_made_of_others(void) {
  uint64_t random = 7;
  problem *p = make_problem(9);
  const int32_t nv = p->model.nv;
  double *q = doubles(p->model.nq), *x = doubles(nv);
  for (int trial = 0; trial < TRIALS; trial++) {
    random_configuration(&p->model, p->quaternions, p->n_quaternions, &random, q);
    for (int32_t k = 0; k < nv; k++) x[k] = uniform(&random, -1.0, 1.0);
    rows r = fill(p, q);
    for (int32_t t = 22; t < 24; t++) {
      const int first = p->first_row[t], across = p->made_row[2 * t], along = p->made_row[2 * t + 1];
      const double whole = residual(&r, nv, first, MOST, x);
      CHECK_NEAR(residual(&r, nv, across, MOST - 1, x) + residual(&r, nv, along, 1, x), whole, 1e-12 * whole, "a path");
      double square = 0.0;
      for (int k = 0; k < MOST; k++) square += r.low[first + k] * r.low[first + k];
      for (int k = 0; k < MOST - 1; k++) CHECK_NEAR(r.low[across + k], 0.0, 1e-14, "what is wanted across the path");
      CHECK_NEAR(fabs(r.low[along]), sqrt(square), 1e-14, "what is wanted along the path");
    }
    for (int32_t t = 6; t < 8; t++) {
      const int first = p->first_row[t], closed = p->made_row[2 * t];
      double product = 0.0, whole = residual(&r, nv, first, MOST, x), closure = residual(&r, nv, closed, MOST, x);
      CHECK(closure <= whole * (1.0 + 1e-12), "a closure asks for more than its loop");
      for (int i = 0; i < MOST; i++)
        for (int j = 0; j < i; j++)
          for (int64_t k = 0; k < nv; k++) product += r.J[(closed + i) * nv + k] * r.J[(closed + j) * nv + k];
      CHECK_NEAR(product, 0.0, 1e-10, "rows of a closure are orthogonal");
    }
    free_rows(&r);
  }
  free(q), free(x);
  free_problem(p);
}

/* A step of half the residual leaves half of it; a task of weight 0 has no rows. */
static void test_shares(void) {
  uint64_t random = 3;
  problem *p = make_problem(2);
  double *q = doubles(p->model.nq);
  random_configuration(&p->model, p->quaternions, p->n_quaternions, &random, q);
  rows whole = fill(p, q);
  for (int32_t t = 0; t < FORMS; t++) p->shares[t] = 0.5;
  memset(p->tips[0].weights, 0, sizeof p->tips[0].weights);
  rows half = fill(p, q);
  CHECK(half.errors[0] == 0.0 && half.errors[1] == 0.0 && isnan(half.low[0]), "a task of weight 0");
  for (int k = 2; k < 2 * FORMS; k++) CHECK_NEAR(half.errors[k], 0.5 * whole.errors[k], 1e-14, "half of an error");
  free_rows(&whole), free_rows(&half);
  free(q);
  free_problem(p);
}

int main(void) {
  test_derivatives();
  test_twists_in_a_frame();
  test_rows_made_of_others();
  test_shares();
  return report("tip_rows");
}
