/* The interior-point method for block-banded quadratic programs. Twin of solvers/qp/banded_reference.py, which says
   what is done and why. */
#include <math.h>
#include <string.h>

#include "banded_cholesky.h"
#include "banded_program.h"
#include "robokin_qp.h"

static const double LEAST_DELTA = 1e-10, FIRMER = 0.1, SLOW = 0.1, EXACT = 1e-7;
static const double CLOSEST = 0.995, CERTAIN = 1e-8, POLISHED = 1e-11, NEAR = 1e-9, ACTIVE = 1e-4, FALLING = 0.9, SHORT = 0.1, UNMOVED = 0.5, GONE = 1e-3;
static const double SOLVED[] = {1e-9, 1e-13};
enum { REFINEMENTS = 2, SETS = 8, VAIN = 3, FURTHER = 8, TOLERANCES = 2, STALLED = RK_QP_RUNNING + 1 };

/* Where the method is. set: sides taken as active that were tried. vain: those in a row that gained little.
   loosest: by how much the best point may be outside. least: what it lacks, negative where
   there is none. is_exact: that is as little as rounding lets it be, further steps find nothing better. */
typedef struct search {
  rk_banded_solver solver;
  enum { GUESSING, MOVING, SETTLING, DONE } phase;
  int32_t turn, steps, last, status, set, vain, is_exact; /* last: steps before this turn */
  double least, loosest;
} search;

static double dot(const double *a, const double *b, int64_t count) {
  double sum = 0.0;
  for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

/* dx, dy with (H + C'WC) dx - A'dy = lack_x and A dx = ry of the equations A; rhs[size] is kept. */
static void solve_step(rk_banded_solver *s, const double *rhs, int32_t refinements) {
  memset(s->dx, 0, sizeof(double) * (size_t)s->size);
  memset(s->dy, 0, sizeof(double) * (size_t)s->rows);
  memcpy(s->lack, rhs, sizeof(double) * (size_t)s->size);
  memcpy(s->kept, s->ry, sizeof(double) * (size_t)s->rows); /* what is missing */
  const double most_x = EXACT * rk_largest(rhs, s->size), most_y = EXACT * rk_largest(s->ry, s->rows);
  for (int32_t turn = 0; turn <= refinements; turn++) {
    if (turn) {
      rk_banded_hessian_times(s, s->dx, s->lack);
      rk_banded_times(s, s->dx, s->other);
      for (int64_t i = 0; i < s->size; i++) s->lack[i] = rhs[i] - s->lack[i];
      for (int64_t i = 0; i < s->rows; i++) {
        const int32_t equal = s->has[i] & 4;
        s->kept[i] = equal ? s->ry[i] - s->other[i] : 0.0;
        s->other[i] = equal ? s->dy[i] : -s->weight[i] * s->other[i];
      }
      rk_banded_add_transposed(s, s->other, s->lack);
      if (rk_largest(s->lack, s->size) <= most_x && rk_largest(s->kept, s->rows) <= most_y) break;
    }
    for (int64_t i = 0; i < s->rows; i++) s->other[i] = s->kept[i] / s->delta;
    rk_banded_add_transposed(s, s->other, s->lack);
    rk_banded_solve(s, s->lack);
    rk_banded_times(s, s->lack, s->other);
    for (int64_t i = 0; i < s->rows; i++) {
      s->kept[i] = s->has[i] & 4 ? s->kept[i] - s->other[i] : 0.0;
      s->dy[i] += s->kept[i] / s->delta;
    }
    for (int64_t i = 0; i < s->size; i++) s->dx[i] += s->lack[i];
  }
  s->left = rk_largest(s->kept, s->rows);
}

/* The step for zl dsl + sl dzl = cl, and of the upper sides. */
static void newton(rk_banded_solver *s, int32_t refinements) {
  for (int64_t i = 0; i < s->rows; i++) {
    double push = 0.0;
    if (s->has[i] & 1) push += (s->cl[i] + s->zl[i] * s->rl[i]) / s->sl[i];
    if (s->has[i] & 2) push -= (s->cu[i] + s->zu[i] * s->ru[i]) / s->su[i];
    s->other[i] = push;
  }
  memcpy(s->force, s->rx, sizeof(double) * (size_t)s->size);
  rk_banded_add_transposed(s, s->other, s->force);
  solve_step(s, s->force, refinements);
  rk_banded_times(s, s->dx, s->other);
  for (int64_t i = 0; i < s->rows; i++) {
    s->dsl[i] = s->dsu[i] = s->dzl[i] = s->dzu[i] = 0.0;
    if (s->has[i] & 1) {
      s->dsl[i] = s->other[i] - s->rl[i];
      s->dzl[i] = (s->cl[i] - s->zl[i] * s->dsl[i]) / s->sl[i];
    }
    if (s->has[i] & 2) {
      s->dsu[i] = -s->other[i] - s->ru[i];
      s->dzu[i] = (s->cu[i] - s->zu[i] * s->dsu[i]) / s->su[i];
    }
  }
}

static double shorter(double t, const double *values, const double *changes, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (changes[i] < 0.0 && -values[i] / changes[i] < t) t = -values[i] / changes[i];
  return t;
}

static double longest(const rk_banded_solver *s) {
  double t = 1.0;
  t = shorter(t, s->sl, s->dsl, s->rows);
  t = shorter(t, s->su, s->dsu, s->rows);
  t = shorter(t, s->zl, s->dzl, s->rows);
  return shorter(t, s->zu, s->dzu, s->rows);
}

/* What slacks times multipliers sum up to after t of a step. */
static double complementarity(const rk_banded_solver *s, double t) {
  double sum = 0.0;
  for (int64_t i = 0; i < s->rows; i++)
    sum += (s->sl[i] + t * s->dsl[i]) * (s->zl[i] + t * s->dzl[i]) + (s->su[i] + t * s->dsu[i]) * (s->zu[i] + t * s->dzu[i]);
  return sum;
}

static void move(double *x, const double *dx, double t, int64_t count) {
  for (int64_t i = 0; i < count; i++) x[i] += t * dx[i];
}

static void begin(rk_banded_solver *s) {
  /* What moves the point: the gradient, or sides that it is to come to. */
  double pull = rk_larger(1e-4, rk_largest(s->g, s->size));
  const double far = rk_larger(1.0, pull);
  for (int64_t i = 0; i < s->rows; i++) {
    if (s->has[i] & 5) pull = rk_larger(pull, s->has[i] & 4 ? fabs(s->low[i]) : s->low[i]);
    if (s->has[i] & 2) pull = rk_larger(pull, -s->high[i]);
  }
  const double start = far * pull;
  s->delta = RK_DELTA;
  s->before = INFINITY;
  memset(s->x, 0, sizeof(double) * (size_t)s->size);
  for (int64_t i = 0; i < s->rows; i++) {
    const int32_t low = s->has[i] & 1, high = s->has[i] & 2;
    const double room = far * (low && high ? fmin(0.5 * (s->high[i] - s->low[i]), 1.0) : 1.0);
    s->sl[i] = low ? rk_larger(-s->low[i], room) : 1.0;
    s->su[i] = high ? rk_larger(s->high[i], room) : 1.0;
    s->zl[i] = low ? start / rk_larger(s->sl[i], 1e-3 * far) : 0.0;
    s->zu[i] = high ? start / rk_larger(s->su[i], 1e-3 * far) : 0.0;
    s->y[i] = 0.0;
  }
}

/* Moves the point by a step, unless it is solved, or cannot be. */
static int32_t interior(rk_banded_solver *s, double tolerance, int32_t most, int32_t *steps) {
  const double size_g = s->size_g;
  int64_t sides = 0;
  for (int64_t i = 0; i < s->rows; i++) sides += (s->has[i] & 1) + (s->has[i] >> 1 & 1);
  double primal = 0.0, most_z = 0.0, ray = 0.0;
  rk_banded_look(s, s->x);
  rk_banded_hessian_times(s, s->x, s->Hx);
  for (int64_t i = 0; i < s->rows; i++) {
    const int32_t has = s->has[i];
    s->z[i] = s->y[i] + s->zl[i] - s->zu[i];
    s->ry[i] = has & 4 ? s->low[i] - s->Cx[i] : 0.0;
    s->rl[i] = has & 1 ? s->low[i] + s->sl[i] - s->Cx[i] : 0.0;
    s->ru[i] = has & 2 ? s->su[i] - s->high[i] + s->Cx[i] : 0.0;
    primal = rk_larger(primal, rk_larger(fabs(s->ry[i]), fabs(s->rl[i])) / s->room_low[i]);
    primal = rk_larger(primal, fabs(s->ru[i]) / s->room_high[i]);
    most_z = rk_larger(most_z, fabs(s->z[i]));
    if (has & 4) ray += s->low[i] * s->y[i];
    if (has & 1) ray += s->low[i] * s->zl[i];
    if (has & 2) ray -= s->high[i] * s->zu[i];
  }
  memset(s->force, 0, sizeof(double) * (size_t)s->size);
  rk_banded_add_transposed(s, s->z, s->force);
  for (int64_t i = 0; i < s->size; i++) s->rx[i] = -(s->Hx[i] + s->g[i] - s->force[i]);
  const double mu = (dot(s->sl, s->zl, s->rows) + dot(s->su, s->zu, s->rows)) / (double)(sides ? sides : 1);
  const double force = rk_largest(s->force, s->size), lack = rk_largest(s->rx, s->size);
  const double forces = rk_larger(size_g, rk_larger(force, rk_largest(s->Hx, s->size)));
  if (rk_larger(rk_larger(lack, mu) / forces, primal) <= tolerance) return RK_QP_OPTIMAL;
  if (ray > CERTAIN * most_z && force <= CERTAIN * most_z && most_z > size_g / CERTAIN) return RK_QP_INFEASIBLE;
  if (lack >= UNMOVED * s->before && mu <= GONE * tolerance * forces && primal <= tolerance) return STALLED;
  s->before = lack;
  if (*steps == most) return RK_QP_MAX_ITERATIONS;
  for (int64_t i = 0; i < s->rows; i++)
    s->weight[i] = s->has[i] & 4 ? 1.0 / s->delta : s->zl[i] / s->sl[i] + s->zu[i] / s->su[i];
  if (!rk_banded_factor(s)) return rk_largest(s->weight, s->rows) > RK_STEEP ? STALLED : RK_QP_NOT_CONVEX;
  for (int64_t i = 0; i < s->rows; i++) s->cl[i] = -s->sl[i] * s->zl[i], s->cu[i] = -s->su[i] * s->zu[i];
  newton(s, sides ? 0 : REFINEMENTS);
  double t = 1.0, share = 1.0;
  if (sides) {
    const double first = longest(s);
    const double left = mu > 0.0 ? rk_larger(complementarity(s, first) / (double)sides, 0.0) / mu : 0.0;
    const double centre = left * left * left * mu;
    memcpy(s->pl, s->dsl, sizeof(double) * (size_t)s->rows);
    for (int64_t i = 0; i < s->rows; i++) s->pl[i] *= s->dzl[i], s->pu[i] = s->dsu[i] * s->dzu[i];
    for (int32_t turn = 0; turn < 2; turn++) {
      for (int64_t i = 0; i < s->rows; i++) {
        s->cl[i] = centre - s->sl[i] * s->zl[i] - share * s->pl[i];
        s->cu[i] = centre - s->su[i] * s->zu[i] - share * s->pu[i];
      }
      newton(s, REFINEMENTS);
      t = fmin(1.0, CLOSEST * longest(s));
      if (t >= SHORT && complementarity(s, t) <= mu * (double)sides) break;
      share = first * first;
    }
  }
  move(s->x, s->dx, t, s->size);
  move(s->y, s->dy, t, s->rows);
  move(s->sl, s->dsl, t, s->rows);
  move(s->su, s->dsu, t, s->rows);
  move(s->zl, s->dzl, t, s->rows);
  move(s->zu, s->dzu, t, s->rows);
  if (s->left > rk_larger(SLOW * rk_largest(s->ry, s->rows), POLISHED)) s->delta = rk_larger(s->delta * FIRMER, LEAST_DELTA);
  ++*steps;
  return RK_QP_RUNNING;
}

/* Begins to look, in best and z, for the best point where the sides that are active are equations, or as it is. */
static void begin_polish(search *at) {
  rk_banded_solver *s = &at->solver;
  for (int64_t i = 0; i < s->rows; i++) s->z[i] = s->dy[i] = s->y[i] + s->zl[i] - s->zu[i];
  memcpy(s->best, s->x, sizeof(double) * (size_t)s->size);
  memcpy(s->dx, s->x, sizeof(double) * (size_t)s->size);
  at->least = rk_banded_error(s, s->x, s->z);
  at->loosest = rk_larger(s->outside, NEAR);
  at->is_exact = at->set = at->vain = 0;
  for (int64_t i = 0; i < s->rows; i++) {
    s->at[i] = s->has[i] & 1 && s->z[i] > ACTIVE * (s->Cx[i] - s->low[i]) ? 1 : 0;
    if (s->has[i] & 2 && -s->z[i] > ACTIVE * (s->high[i] - s->Cx[i])) s->at[i] |= 2;
  }
}

/* Tries one set of active sides; whether it is the last. */
static int32_t polish(search *at) {
  rk_banded_solver *s = &at->solver;
  rk_banded_activate(s);
  if (!rk_banded_factor(s)) {
    at->least = -1.0;
    return 1;
  }
  rk_banded_settle(s);
  const double error = rk_banded_error(s, s->dx, s->dy);
  at->vain = error <= FALLING * at->least ? 0 : at->vain + 1;
  if (error <= at->least && s->outside <= at->loosest) {
    at->least = error;
    memcpy(s->best, s->dx, sizeof(double) * (size_t)s->size);
    memcpy(s->z, s->dy, sizeof(double) * (size_t)s->rows);
  }
  int32_t changed = 0;
  for (int64_t i = 0; i < s->rows; i++) {
    int32_t now = 0;
    if (s->has[i] & 1 && (s->at[i] & 1 ? s->dy[i] > 0.0 : s->Cx[i] < s->low[i])) now = 1;
    if (s->has[i] & 2 && (s->at[i] & 2 ? s->dy[i] < 0.0 : s->Cx[i] > s->high[i])) now |= 2;
    changed |= now != s->at[i];
    s->at[i] = now;
  }
  at->is_exact = error <= POLISHED || (!changed && error <= NEAR);
  return at->is_exact || !changed || at->vain == VAIN || ++at->set == SETS;
}

int32_t rk_sizeof_banded_program(void) { return (int32_t)sizeof(rk_banded_program); }

static search *placed(const rk_banded_program *program, rk_arena *arena) {
  search *at = (search *)(void *)rk_take(arena, (int64_t)((sizeof(search) + sizeof(double) - 1) / sizeof(double)));
  search counted;
  rk_banded_take(at ? &at->solver : &counted.solver, program, arena);
  return at;
}

int64_t rk_banded_qp_workspace(const rk_banded_program *program) {
  rk_arena arena = {0, 0};
  placed(program, &arena);
  return arena.used;
}

/* First tried are the sides that push as given multipliers say. */
void rk_banded_qp_begin(const rk_banded_program *program, const double *multipliers, double *work) {
  rk_arena arena = {work, 0};
  search *at = placed(program, &arena);
  rk_banded_solver *s = &at->solver;
  rk_banded_scale(s);
  at->phase = GUESSING;
  at->turn = at->steps = 0;
  memset(s->x, 0, sizeof(double) * (size_t)s->size);
  for (int64_t i = 0; i < s->rows; i++) {
    s->y[i] = -multipliers[s->index[i]] * s->length[s->index[i]] / s->scale;
    s->zl[i] = s->zu[i] = 0.0;
  }
  begin_polish(at);
}

static void go_on(search *at, int32_t most) {
  rk_banded_solver *s = &at->solver;
  if (at->phase == GUESSING) {
    if (!polish(at)) return;
    const int32_t is_found = at->least >= 0.0 && at->is_exact;
    at->status = is_found ? RK_QP_OPTIMAL : RK_QP_MAX_ITERATIONS;
    at->phase = is_found ? DONE : MOVING;
    if (!is_found) begin(s);
  } else if (at->phase == MOVING) {
    const int32_t until = at->turn && at->last + FURTHER < most ? at->last + FURTHER : most;
    at->status = interior(s, SOLVED[at->turn], until, &at->steps);
    if (at->status == RK_QP_RUNNING) return;
    begin_polish(at);
    at->phase = at->status == RK_QP_INFEASIBLE || at->status == RK_QP_NOT_CONVEX ? DONE : SETTLING;
  } else if (polish(at)) {
    const int32_t is_last = at->is_exact || at->least <= POLISHED || at->status != RK_QP_OPTIMAL;
    at->status = at->least < 0.0 ? RK_QP_NOT_CONVEX : at->least <= NEAR ? RK_QP_OPTIMAL : RK_QP_MAX_ITERATIONS;
    at->last = at->steps;
    at->phase = is_last || ++at->turn == TOLERANCES ? DONE : MOVING;
  }
}

int32_t rk_banded_qp(const rk_banded_program *program, int32_t most, double *work, double *x, double *multipliers,
                     int32_t *steps) {
  search *at = (search *)(void *)work;
  rk_banded_solver *s = &at->solver;
  s->p = program;
  go_on(at, most);
  if (at->phase != DONE) return RK_QP_RUNNING;
  if (at->status != RK_QP_NOT_CONVEX) rk_banded_expand(s, x, multipliers);
  *steps = at->steps;
  return at->status;
}
