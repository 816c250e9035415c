/* Sequential quadratic programming on the poses that meet the tasks. Twin of solvers/static_optimum.py, which explains
   it. */
#include "optimum.h"
#include "optimum_search.h"
#include "rk_math.h"

static const double ACCEPTED = 1e-6, STATIONARY = 1e-9, GROUND = 1e-3, STALE = 1e-7, NOISE = 1e-14;
static const double DECREASE = 1e-4, SHORT = 1e-3, PROBE = 0.05, UNSEEN = 100.0, FLAT = 10.0;
enum { ITERATIONS = 200, PATIENCE = 12, HALVINGS = 14, ROUNDS = 8 };

int32_t rk_sizeof_optimum(void) { return (int32_t)sizeof(rk_optimum); }

static rk_search lay_out(rk_arena *arena, const rk_optimum *optimum, const rk_step_data *data) {
  rk_search s = {.poses = rk_lay_out_poses(arena, optimum, data)};
  const int64_t n = s.poses.n;
  s.program = rk_lay_out_program(arena, &s.poses);
  for (int k = 0; k < 2; k++) s.looks[k] = rk_lay_out_look(arena, &s.poses);
  for (int k = 0; k < 3; k++) s.spare[k] = rk_lay_out_pose(arena, &s.poses);
  double **matrices[] = {&s.H, &s.V, &s.E};
  for (int k = 0; k < 3; k++) *matrices[k] = rk_take(arena, n * n);
  double **vectors[] = {&s.value, &s.weight, &s.x, &s.way, &s.here, &s.there};
  for (int k = 0; k < 6; k++) *vectors[k] = rk_take(arena, n);
  s.work = rk_take(arena, 3 * n);
  return s;
}

int64_t rk_optimum_workspace(const rk_optimum *optimum, const rk_step_data *data) {
  rk_arena arena = {0, 0};
  lay_out(&arena, optimum, data);
  return arena.used;
}

static double length_of(int32_t n, const double *x) { return rk_sqrt(rk_dot(n, x, x)); }

/* Fills in all of a look at its pose. */
static void look_at(rk_search *s, rk_look *look) {
  const int32_t n = s->poses.n;
  double size;
  look->cost = rk_cost(&s->poses, &look->pose, &size, look->slope);
  look->noise = NOISE * size;
  rk_linearise(&s->poses, look);
  size = rk_slope_size(s, look);
  for (int32_t k = 0; k < n - look->held; k++) s->weight[k] = size / SHORT;
  const int known =
      rk_best_motion(&s->poses, look, &s->program, n - look->held, look->E, s->weight, look->slope, look->left,
                     look->multiplier);
  const double length = length_of(n, look->left);
  look->residual = known ? length / SHORT : __builtin_inf();
  /* A slope that no pose around could show to be one. */
  if (known && look->residual * size * PROBE <= UNSEEN * look->noise) look->residual = 0.0;
  for (int32_t k = 0; k < n; k++) look->left[k] *= size / SHORT;
}

double rk_slope_size(const rk_search *s, const rk_look *look) {
  const double size = length_of(s->poses.n, look->slope), ground = GROUND * s->usual;
  return size > ground ? size : ground > 0.0 ? ground : 1.0;
}

static rk_look *other(rk_search *s) { return s->look == s->looks ? s->looks + 1 : s->looks; }

/* The first of `tries` halvings of x that lowers the cost as the slope promises is taken and looked at. */
static int search_line(rk_search *s, const double *x, double change, int tries) {
  const int32_t n = s->poses.n;
  rk_look *after = other(s);
  if (change > 0.0) change = 0.0;
  double share = 1.0, size;
  for (int k = 0; k < tries; k++, share *= 0.5) {
    for (int32_t i = 0; i < n; i++) s->way[i] = share * x[i];
    rk_moved(&s->poses, s->look->pose.q, s->way, after->pose.q);
    if (!rk_retract(&s->poses, &s->look->pose, &after->pose, s->spare)) continue;
    if (!(rk_cost(&s->poses, &after->pose, &size, 0) < s->look->cost + DECREASE * share * change)) continue;
    look_at(s, after);
    s->look = after;
    return 1;
  }
  return 0;
}

/* The whole step, where the cost is flat to its rounding, when it is more nearly stationary there. */
static int step_along_flat(rk_search *s, const double *x) {
  rk_look *after = other(s);
  rk_moved(&s->poses, s->look->pose.q, x, after->pose.q);
  if (!rk_retract(&s->poses, &s->look->pose, &after->pose, s->spare)) return 0;
  look_at(s, after);
  if (after->cost > s->look->cost + FLAT * after->noise || after->residual >= s->look->residual) return 0;
  s->look = after;
  return 1;
}

/* To where no step leads farther down, from `look`; the code of why that is the last one. */
static int32_t descend(rk_search *s) {
  const int32_t n = s->poses.n;
  double last_residual = __builtin_inf(), last_cost = __builtin_inf();
  for (int step = 0;; step++) {
    const rk_look *look = s->look;
    if (look->residual <= STATIONARY) return RK_OPTIMUM_FOUND;
    if (s->iterations >= ITERATIONS) return RK_OPTIMUM_FALLING;
    if (step % PATIENCE == 0) {
      s->change = last_cost - look->cost;
      if (look->residual > 0.5 * last_residual && look->cost > last_cost - STALE * s->usual) return RK_OPTIMUM_FLAT;
      last_residual = look->residual, last_cost = look->cost;
    }
    s->iterations++;
    const int32_t count = rk_newton_program(s);
    rk_best_motion(&s->poses, look, &s->program, count, s->E, s->weight, look->slope, s->x, 0);
    if (search_line(s, s->x, rk_dot(n, look->slope, s->x), HALVINGS) || step_along_flat(s, s->x)) continue;
    const double square = rk_dot(n, look->left, look->left);
    for (int32_t k = 0; k < n; k++) s->x[k] = SHORT * look->left[k];
    if (!search_line(s, s->x, -SHORT * square, HALVINGS)) return RK_OPTIMUM_STUCK;
  }
}

/* The largest and the usual curvature, of the metric of the potentials. */
static void start_curvatures(rk_search *s) {
  s->curvature = s->usual = 1.0;
  rk_first_curvature(&s->poses, s->value);
  rk_note_curvatures(s, s->poses.n);
}

void rk_optimum_find(const rk_optimum *optimum, const rk_step_data *data, double *q, double *work,
                     rk_optimum_outcome *outcome) {
  rk_arena arena = {work, 0};
  rk_search s = lay_out(&arena, optimum, data);
  const int32_t nq = optimum->step->model->nq;
  uint64_t random = 0;
  s.look = s.looks;
  for (int32_t i = 0; i < nq; i++) s.look->pose.q[i] = q[i];
  rk_place(&s.poses, &s.look->pose);
  start_curvatures(&s);
  rk_start_retraction(&s.poses, &s.look->pose, s.spare);
  look_at(&s, s.look);
  outcome->code = RK_OPTIMUM_AROUND;
  for (int round = 0; round < ROUNDS; round++) {
    const int32_t code = descend(&s);
    if (s.iterations < ITERATIONS && rk_look_around(&s, &random)) {
      look_at(&s, s.look);
      continue;
    }
    outcome->code = s.look->residual <= ACCEPTED ? RK_OPTIMUM_FOUND : code;
    break;
  }
  for (int32_t i = 0; i < nq; i++) q[i] = s.look->pose.q[i];
  outcome->cost = s.look->cost;
  outcome->stationary = s.look->residual;
  outcome->change = s.change;
  outcome->iterations = s.iterations;
}
