/* Sequential quadratic programming on the poses that meet the tasks. Twin of solvers/optimum/sqp.py, which explains
   it. */
#include "optimum/optimum_search.h"
#include "math/rk_math.h"

static const double ACCEPTED = 1e-6, STATIONARY = 1e-9, STALE = 1e-7, JAMMED = 1e-3;
static const double DECREASE = 1e-4, SHORT = 1e-3, STRIDE = 1.0, SHORTER = 0.25, UNSEEN = 100.0;
enum { ITERATIONS = 200, UNMET_ITERATIONS = 80, PATIENCE = 12, HALVINGS = 14, LONGER = 3, STRIDES = 5, CORNERS = 3, ROUNDS = 8 };

int32_t rk_sizeof_optimum(void) { return (int32_t)sizeof(rk_optimum); }

static rk_optimum_search lay_out(rk_arena *arena, const rk_optimum *optimum) {
  rk_optimum_search s = {.poses = rk_lay_out_poses(arena, optimum)};
  const int64_t n = s.poses.n, most = s.poses.most;
  s.program = rk_lay_out_program(arena, &s.poses);
  for (int k = 0; k < 2; k++) s.looks[k] = rk_lay_out_look(arena, &s.poses);
  for (int k = 0; k < 4; k++) s.spare[k] = rk_lay_out_pose(arena, &s.poses);
  double **matrices[] = {&s.H, &s.V, &s.E};
  for (int k = 0; k < 3; k++) *matrices[k] = rk_take(arena, n * n);
  double **vectors[] = {&s.value, &s.weight, &s.x, &s.dq, &s.here, &s.there};
  for (int k = 0; k < 6; k++) *vectors[k] = rk_take(arena, n);
  s.work = rk_take(arena, 3 * n + 2 * s.poses.n_pieces);
  s.multiplier = rk_take(arena, n + s.poses.n_rows);
  s.bent = (double **)rk_take(arena, s.poses.n_edges);
  for (int32_t e = 0; e < s.poses.n_edges; e++) {
    double *matrix = rk_take(arena, most * most);
    if (arena->base) s.bent[e] = matrix;
  }
  return s;
}

int64_t rk_optimum_workspace(const rk_optimum *optimum) {
  rk_arena arena = {0, 0};
  lay_out(&arena, optimum);
  return arena.used;
}

static rk_look *other(rk_optimum_search *s) { return s->look == s->looks ? s->looks + 1 : s->looks; }

/* Looks at the pose of `after`, to which a step from here led. */
static void look_after(rk_optimum_search *s, rk_look *after) {
  const int32_t n = s->poses.n;
  rk_displacement(&s->poses, s->look->pose.q, after->pose.q, s->dq);
  rk_look_at(s, after, rk_sqrt(rk_dot(n, s->dq, s->dq)));
}

/* *pose: where x leads, brought back to the tasks; to the piece of a curve that is held, and then as if that were straight. */
static int move(rk_optimum_search *s, const double *x, rk_pose *pose) {
  const int is_held = s->poses.n_pieces && s->poses.optimum->stack->data->targets != s->poses.whole;
  rk_moved(&s->poses, s->look->pose.q, x, pose->q);
  if (is_held) rk_keep_to(&s->poses, s->poses.pieces);
  const int found = rk_retract(&s->poses, &s->look->pose, pose, s->spare);
  if (is_held) rk_keep_to(&s->poses, s->poses.straight);
  if (is_held && found) rk_place(&s->poses, pose);
  return found;
}

/* What the pose would cost if it met the tasks exactly. */
static double exact_cost(const rk_optimum_search *s, const rk_pose *pose) {
  double size;
  return rk_cost(&s->poses, pose, &size, 0) - rk_excess_cost(&s->poses, s->look, pose);
}

static double exact_cost_here(const rk_optimum_search *s) {
  return s->look->cost - rk_excess_cost(&s->poses, s->look, &s->look->pose);
}

/* The first halving of x, from `first` to before `last`, that lowers the cost as the slope promises is taken and looked at;
   s->blocked: the last one from which no way leads back to the tasks, and 1 more. */
static int search_line(rk_optimum_search *s, const double *x, double change, int first, int last) {
  const int32_t n = s->poses.n;
  rk_look *after = other(s);
  if (change > 0.0) change = 0.0;
  s->blocked = first;
  for (int k = first; k < last; k++) {
    const double share = 1.0 / (double)(1 << k);
    for (int32_t i = 0; i < n; i++) s->dq[i] = share * x[i];
    if (!move(s, s->dq, &after->pose)) {
      s->blocked = k + 1;
      continue;
    }
    if (!(exact_cost(s, &after->pose) < exact_cost_here(s) + DECREASE * share * change)) continue;
    look_after(s, after);
    s->look = after;
    return 1;
  }
  return 0;
}

/* bent[e]: the matrix of an edge at a pose, less what its slopes say of the motion x that led there; not of what the way
   back to the tasks made of it. */
static int bend_edge(rk_optimum_search *s, int32_t e, const rk_pose *there, const double *x) {
  const rk_edge *edge = s->look->edges + e;
  const double *slope = edge->slopes;
  if (!rk_follow_edge(&s->poses, there, edge, s->bent[e], 0)) return 0;
  for (int32_t a = 0; a < edge->count; a++)
    for (int32_t b = 0; b <= a; b++, slope += s->poses.n) {
      const double turned = rk_dot(s->poses.n, slope, x);
      s->bent[e][a * edge->count + b] -= turned;
      if (a != b) s->bent[e][b * edge->count + a] -= turned;
    }
  return 1;
}

/* The whole step along edges as they bend, where it is worth it: a straight one leaves them, which costs as much as it
   gains (Maratos). */
static int step_along_bent_edges(rk_optimum_search *s, int32_t count, double change) {
  rk_goal goal = rk_goal_of(s, s->look);
  rk_pose *there = s->spare + 2;
  double of_bent;
  if (!move(s, s->x, there)) return 0;
  for (int32_t e = 0; e < s->poses.n_edges; e++)
    if (!bend_edge(s, e, there, s->x)) return 0;
  goal.A = s->bent;
  rk_best_motion(&s->poses, s->look, &s->program, count, s->E, s->weight, &goal, s->here, &of_bent, 0);
  return search_line(s, s->here, change, 0, 1);
}

/* x: the Newton step. Returns its change of the cost, to first order. */
static double newton_step(rk_optimum_search *s, int32_t count, double stride) {
  const rk_goal goal = rk_goal_of(s, s->look);
  double change;
  rk_weigh_directions(s, count, stride);
  rk_best_motion(&s->poses, s->look, &s->program, count, s->E, s->weight, &goal, s->x, &change, 0);
  return change;
}

/* The first step along edges that is worth it, each shorter than the one before. */
static int step_along_edges(rk_optimum_search *s, int32_t count) {
  for (int k = 0; k < STRIDES && rk_has_edges(s, s->look); k++) {
    const double change = newton_step(s, count, s->stride);
    if (step_along_bent_edges(s, count, change)) {
      s->stride = s->stride < SHORTER * STRIDE ? s->stride / SHORTER : STRIDE;
      return 1;
    }
    s->stride *= SHORTER;
  }
  s->stride = STRIDE;
  return 0;
}

/* A Newton step that leaves straight pieces of curves, where it is worth it: corners of a curve that is nearly smooth hold
   nothing. */
static int step_over_corners(rk_optimum_search *s, int32_t count) {
  const int32_t n = s->poses.n, pieces = s->poses.n_pieces;
  double *lower = s->look->lower + n, *upper = s->look->upper + n;
  int leaves = 0;
  for (int32_t i = 0; i < pieces; i++) {
    s->work[i] = lower[i], s->work[pieces + i] = upper[i];
    lower[i] = -__builtin_inf(), upper[i] = __builtin_inf();
  }
  const double change = pieces ? newton_step(s, count, STRIDE) : 0.0;
  for (int32_t i = 0; i < pieces; i++) {
    const double along = rk_dot(n, s->look->pose.J + (int64_t)i * n, s->x);
    lower[i] = s->work[i], upper[i] = s->work[pieces + i];
    leaves |= along < lower[i] || along > upper[i];
  }
  if (!leaves) return 0;
  rk_keep_to(&s->poses, s->poses.whole);
  if (search_line(s, s->x, change, 0, CORNERS)) return 1;
  rk_keep_to(&s->poses, s->poses.straight);
  return 0;
}

/* A Newton step, or a short one straight down; none from an optimum where it promises nothing that could be seen. */
static int step_down(rk_optimum_search *s) {
  const int32_t n = s->poses.n, count = rk_newton_directions(s);
  const rk_look *look = s->look;
  const double change = newton_step(s, count, STRIDE);
  const int first = s->first;
  s->promised = 0.0, s->first = 0;
  if (look->residual <= ACCEPTED && -change <= UNSEEN * look->noise) return 0;
  if (step_over_corners(s, count) || step_along_edges(s, count)) return 1;
  s->promised = -newton_step(s, count, STRIDE);
  const int found = search_line(s, s->x, change, first, HALVINGS);
  if (s->blocked > LONGER) s->first = s->blocked - LONGER;
  if (found) return 1;
  for (int32_t k = 0; k < n; k++) s->x[k] = SHORT * look->descent[k];
  if (search_line(s, s->x, -SHORT * rk_dot(n, look->descent, look->descent), 0, HALVINGS)) return 1;
  /* Where the best step promises less than the rounding of the cost, the slope is none. */
  if (look->residual < __builtin_inf() && -change <= look->noise) s->look->residual = 0.0;
  return 0;
}

static int is_over(const rk_optimum_search *s) {
  return s->iterations >= s->most || *s->poses.placed >= s->poses.optimum->poses;
}

/* To where no step leads farther down; the code of why that is the last one. */
static int32_t descend(rk_optimum_search *s) {
  double last_residual = __builtin_inf(), last_cost = __builtin_inf();
  s->first = 0;
  for (int step = 0;; step++) {
    if (s->look->residual <= STATIONARY) return RK_OPTIMUM_FOUND;
    if (is_over(s)) return RK_OPTIMUM_FALLING;
    if (step % PATIENCE == 0) {
      s->change = last_cost - s->look->cost;
      const double least = rk_max(STALE * s->usual, JAMMED * s->promised);
      if (s->look->residual > 0.5 * last_residual && s->change < least) return RK_OPTIMUM_FLAT;
      last_residual = s->look->residual, last_cost = s->look->cost;
    }
    s->iterations++;
    if (!step_down(s)) return RK_OPTIMUM_STUCK;
  }
}

/* The largest and the usual curvature, of the metric of the potentials. */
static void start_curvatures(rk_optimum_search *s) {
  s->curvature = s->usual = 1.0;
  rk_first_curvature(&s->poses, s->value);
  rk_note_curvatures(s, s->poses.n);
}

void rk_optimum_find(const rk_optimum *optimum, double *q, double *work, rk_optimum_outcome *outcome) {
  rk_arena arena = {work, 0};
  rk_optimum_search s = lay_out(&arena, optimum);
  const int32_t nq = s.poses.model->nq;
  uint64_t random = 0;
  int32_t code = RK_OPTIMUM_AROUND;
  s.look = s.looks;
  for (int32_t i = 0; i < nq; i++) s.look->pose.q[i] = q[i];
  rk_place(&s.poses, &s.look->pose);
  start_curvatures(&s);
  s.stride = STRIDE;
  rk_start_retraction(&s.poses, &s.look->pose, s.spare);
  s.most = rk_are_met(&s.poses, &s.look->pose) ? ITERATIONS : UNMET_ITERATIONS;
  rk_look_at(&s, s.look, __builtin_inf());
  for (int round = 0; round < ROUNDS; round++) {
    const int32_t why = descend(&s);
    if (is_over(&s) || !rk_look_around(&s, &random)) {
      code = s.look->residual <= ACCEPTED ? RK_OPTIMUM_FOUND : why;
      break;
    }
    rk_look_at(&s, s.look, __builtin_inf());
  }
  rk_keep_to(&s.poses, s.poses.whole);
  for (int32_t i = 0; i < nq; i++) q[i] = s.look->pose.q[i];
  outcome->cost = s.look->cost, outcome->stationary = s.look->residual, outcome->change = s.change;
  outcome->code = code, outcome->iterations = s.iterations, outcome->poses = (int32_t)*s.poses.placed;
}
