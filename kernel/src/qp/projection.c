/* The dual active-set method of Goldfarb and Idnani (Mathematical Programming 27, 1983); from a point that keeps all
   constraints, after the parametric one of Best (Applied Mathematics and Parallel Computing, 1996). */
#include "qp/projection.h"

#include "math/rk_math.h"
#include "math/rk_vector.h"
#include "qp/active_set.h"
#include "robokin_qp.h"

static const double VIOLATED = 1e-12, DEPENDENT = 1e-12, REDUNDANT = 1e3;

/* CLEARLY: the share of a normal that the others must leave over for it to become active on the line. After so many
   ROUNDS of dropping what was active is no good start. */
static const double CLEARLY = 1e-6;
enum { ROUNDS = 5 };

int64_t rk_projection_workspace(int64_t n, int64_t p) { return 2 * n * n + p * n + 6 * p + 11 * n; }

rk_projection rk_projection_lay_out(int64_t n, int64_t p, double *work) {
  rk_projection s = {.n = (int32_t)n, .p = (int32_t)p};
  double **vectors[] = {&s.y0, &s.y, &s.u, &s.sign, &s.d, &s.r, &s.rest, &s.shift, &s.left, &s.along};
  for (int k = 0; k < 10; k++, work += n) *vectors[k] = work;
  s.number = (int32_t *)work, work += n;
  s.Q = work, work += n * n;
  s.R = work, work += n * n;
  s.low = work, work += p;
  s.high = work, work += p;
  s.length = work, work += p;
  s.safe = work, work += p;
  s.rate = work, work += p;
  s.flag = (int32_t *)work, work += p;
  s.N = work;
  return s;
}

static double noise(const rk_projection *s, int32_t c, double bound) {
  const double *normal = s->N + (int64_t)c * s->n;
  double size = 0.0;
  for (int32_t i = 0; i < s->n; i++) size += __builtin_fabs(normal[i] * s->y[i]);
  bound = __builtin_fabs(bound);
  return VIOLATED * (size > bound ? size : bound) + s->tolerance;
}

static double active_bound(const rk_projection *s, int32_t j) {
  const int32_t c = s->number[j];
  return s->sign[j] > 0.0 ? s->low[c] : -s->high[c];
}

/* y and u of the active set, from y0, so that rounding errors do not pile up; y is corrected once. */
static void settle(rk_projection *s) {
  const int32_t n = s->n;
  for (int32_t i = 0; i < n; i++) s->rest[i] = s->y[i];
  for (int32_t j = 0; j < s->k; j++) s->r[j] = active_bound(s, j);
  solve_lower(s, s->r);
  for (int32_t i = 0; i < n; i++) s->y[i] = s->y0[i];
  for (int32_t j = 0; j < s->k; j++) s->u[j] = s->r[j] - rk_dot(n, s->Q + (int64_t)j * n, s->y0);
  for (int32_t j = 0; j < s->k; j++) rk_add_scaled(n, s->u[j], s->Q + (int64_t)j * n, s->y);
  for (int32_t j = 0; j < s->k; j++)
    s->r[j] = active_bound(s, j) - s->sign[j] * rk_dot(n, s->N + (int64_t)s->number[j] * n, s->y);
  solve_lower(s, s->r);
  for (int32_t j = 0; j < s->k; j++) rk_add_scaled(n, s->r[j], s->Q + (int64_t)j * n, s->y);
  solve_upper(s, s->u);
  rk_add_scaled(n, -1.0, s->y, s->rest);
  s->moved += rk_sqrt(rk_dot(n, s->rest, s->rest));
}

/* Every constraint is to be looked at again. */
static void look_at_all(rk_projection *s) {
  s->moved = 0.0;
  for (int32_t c = 0; c < s->p; c++) s->safe[c] = 0.0;
}

/* The violated constraint that is farthest away, equations first; -1: none. One that was farther away than y has come
   since is kept. */
static int32_t farthest(rk_projection *s, double *sign) {
  int32_t found = -1, found_equal = 0;
  double most = 0.0;
  for (int32_t c = 0; c < s->p; c++) {
    if (s->flag[c] != IDLE || s->moved < s->safe[c]) continue;
    const int32_t equal = s->low[c] == s->high[c];
    if (found_equal && !equal) continue;
    const double value = rk_dot(s->n, s->N + (int64_t)c * s->n, s->y);
    const double below = s->low[c] - value, above = value - s->high[c];
    const double slack = below > above ? below : above;
    if (slack < 0.0) s->safe[c] = s->moved - slack / s->length[c];
    if (!equal && !(slack > 0.0)) continue;
    const double away = slack / s->length[c];
    if (found >= 0 && equal == found_equal && away <= most) continue;
    if (!equal && slack <= noise(s, c, below > above ? s->low[c] : s->high[c])) continue;
    found = c, found_equal = equal, most = away;
    *sign = below >= above ? 1.0 : -1.0;
  }
  return found;
}

/* Make constraint c active; 0 when that cannot be done. */
static int add(rk_projection *s, int32_t c, double sign, int32_t limit) {
  const int32_t n = s->n;
  const double *normal = s->N + (int64_t)c * n;
  const double bound = sign > 0.0 ? s->low[c] : -s->high[c];
  double own = 0.0; /* its multiplier */
  while (s->iterations < limit) {
    s->iterations++;
    const double squared = split(s, normal, sign);
    double largest = 0.0;
    for (int32_t j = 0; j < s->k; j++) s->r[j] = s->d[j];
    solve_upper(s, s->r);
    for (int32_t j = 0; j < s->k; j++)
      if (__builtin_fabs(s->r[j]) > largest) largest = __builtin_fabs(s->r[j]);
    const double gap = bound - sign * rk_dot(n, normal, s->y), share = DEPENDENT * s->length[c];
    const int independent = s->k < n && squared > share * share;
    if (!independent && gap <= REDUNDANT * noise(s, c, bound)) {
      s->flag[c] = SETTLED;
      return 1;
    }
    int32_t leaving = -1;
    double dual = 0.0;
    for (int32_t j = 0; j < s->k; j++) {
      const int32_t row = s->number[j];
      if (!(s->r[j] > DEPENDENT * largest) || s->low[row] == s->high[row]) continue;
      if (leaving < 0 || s->u[j] / s->r[j] < dual) dual = s->u[j] / s->r[j], leaving = j;
    }
    if (!independent && leaving < 0) return 0;
    const double primal = independent ? gap / squared : 0.0;
    const int whole = independent && (leaving < 0 || primal <= dual);
    const double step = whole ? primal : dual;
    for (int32_t j = 0; j < s->k; j++) s->u[j] -= step * s->r[j];
    own += step;
    if (independent) {
      rk_add_scaled(n, step, s->rest, s->y);
      s->moved += __builtin_fabs(step) * rk_sqrt(squared);
    }
    if (whole) {
      s->u[s->k] = own;
      append(s, c, sign, rk_sqrt(squared));
      return 1;
    }
    drop(s, leaving);
  }
  return 0;
}

/* From a settled point whose active constraints are held back rightly. */
static int32_t run(rk_projection *s) {
  const int32_t limit = 50 + 10 * s->p;
  look_at_all(s);
  for (int settled = 1;;) {
    double sign = 1.0;
    int32_t c = farthest(s, &sign);
    if (c < 0 && !settled) {
      settle(s);
      c = farthest(s, &sign);
    }
    if (c < 0) return RK_QP_OPTIMAL;
    settled = 0;
    if (!add(s, c, sign, limit)) return s->iterations >= limit ? RK_QP_MAX_ITERATIONS : RK_QP_INFEASIBLE;
  }
}

/* No constraint is active, but for those of the first `carried`; 0 when some cannot be kept anyway. */
static int start(rk_projection *s, int32_t carried) {
  s->iterations = 0;
  for (int32_t i = 0; !carried && i < s->n; i++) s->k = 0, s->y[i] = s->y0[i];
  for (int32_t c = 0; c < carried; c++)
    if (s->flag[c] == SETTLED && s->length[c] > 0.0) s->flag[c] = IDLE;
  for (int32_t c = carried; c < s->p; c++) {
    const double *normal = s->N + (int64_t)c * s->n;
    s->length[c] = rk_sqrt(rk_dot(s->n, normal, normal));
    s->flag[c] = s->length[c] == 0.0 ? SETTLED : IDLE;
    if (s->low[c] > s->high[c]) return 0;
    const double slop = REDUNDANT * s->tolerance;
    if (s->flag[c] == SETTLED && (s->low[c] > slop || s->high[c] < -slop)) return 0;
  }
  return 1;
}

/* Drops what is active and would rather not be, until the rest is held back rightly; 0: none of it is. */
static int relax(rk_projection *s) {
  for (int round = 0; round < ROUNDS; round++) {
    int wrong = 0;
    settle(s);
    for (int32_t j = s->k - 1; j >= 0; j--) {
      const int32_t c = s->number[j];
      if (s->u[j] < 0.0 && s->low[c] != s->high[c]) wrong = 1, drop(s, j);
    }
    if (!wrong) return 1;
  }
  return 0;
}

int32_t rk_project(rk_projection *s) { return start(s, 0) ? run(s) : RK_QP_INFEASIBLE; }

int32_t rk_project_again(rk_projection *s) {
  return relax(s) && run(s) == RK_QP_OPTIMAL ? RK_QP_OPTIMAL : rk_project(s);
}

/* Makes a constraint active, with multiplier 0, that the others do not nearly imply; 0: they do. */
static int touch(rk_projection *s, int32_t c, double sign) {
  const double squared = split(s, s->N + (int64_t)c * s->n, sign), share = CLEARLY * s->length[c];
  if (s->k == s->n || !(squared > share * share)) return 0;
  s->u[s->k] = 0.0;
  append(s, c, sign, rk_sqrt(squared));
  return 1;
}

int32_t rk_project_with(rk_projection *s, int32_t carried, const int32_t *side) {
  if (!start(s, carried)) return RK_QP_INFEASIBLE;
  for (int32_t c = 0; !carried && c < s->p; c++)
    if (side[c]) touch(s, c, side[c]);
  return rk_project_again(s);
}

/* How much of the line from y to y0, of which `remaining` is left, until something changes. *c: the constraint that y comes to
   and *sign its side, or -1; *leaving: the active one that holds back no more, or -1. r: how fast the multipliers fall. */
static double next_change(const rk_projection *s, double remaining, double size, int32_t *c, double *sign, int32_t *leaving) {
  *c = *leaving = -1;
  for (int32_t j = 0; j < s->k; j++) {
    const int32_t own = s->number[j];
    if (!(s->r[j] > 0.0) || s->low[own] == s->high[own] || s->u[j] >= remaining * s->r[j]) continue;
    remaining = rk_max(s->u[j], 0.0) / s->r[j], *leaving = j;
  }
  for (int32_t i = 0; i < s->p; i++) {
    if (s->flag[i] != IDLE) continue;
    s->rate[i] = rk_dot(s->n, s->N + (int64_t)i * s->n, s->left);
    const double speed = __builtin_fabs(s->rate[i]), room = s->rate[i] > 0.0 ? s->high[i] - s->safe[i] : s->safe[i] - s->low[i];
    if (room >= remaining * speed || !(speed > DEPENDENT * s->length[i] * size)) continue;
    remaining = rk_max(room, 0.0) / speed, *c = i, *sign = s->rate[i] > 0.0 ? -1.0 : 1.0;
  }
  return remaining;
}

/* The shift along the direction j of the active ones is no part of what is left of it, or is again. */
static void hold_back(rk_projection *s, int32_t j, double sign) {
  const double *row = s->Q + (int64_t)j * s->n;
  s->along[j] = rk_dot(s->n, row, s->shift);
  rk_add_scaled(s->n, sign * s->along[j], row, s->left);
}

/* Makes a constraint active that y is at; one that the others nearly imply is passed instead. */
static void meet_or_pass(rk_projection *s, int32_t c, double sign) {
  if (touch(s, c, sign))
    hold_back(s, s->k - 1, -1.0);
  else
    s->flag[c] = PASSED;
}

/* Finds what is active at y0's nearest point: the point to be near goes from y to y0. safe: the constraints' values. */
static void walk(rk_projection *s) {
  const double size = rk_sqrt(rk_dot(s->n, s->shift, s->shift));
  double remaining = 1.0, sign = 1.0;
  int32_t c = 0, leaving = -1;
  rk_copy(s->left, s->shift, s->n);
  for (int32_t i = 0; i < s->p; i++)
    if (s->flag[i] == IDLE && s->low[i] == s->high[i]) meet_or_pass(s, i, sign);
  for (int32_t turn = 0; turn < 2 * (s->n + s->p) && (c >= 0 || leaving >= 0); turn++) {
    rk_copy(s->r, s->along, s->k);
    solve_upper(s, s->r);
    const double step = next_change(s, remaining, size, &c, &sign, &leaving);
    remaining -= step;
    for (int32_t j = 0; j < s->k; j++) s->u[j] -= step * s->r[j];
    for (int32_t i = 0; i < s->p; i++)
      if (s->flag[i] == IDLE) s->safe[i] += step * s->rate[i];
    if (c >= 0) {
      meet_or_pass(s, c, sign);
    } else if (leaving >= 0) {
      drop(s, leaving); /* its direction is then behind those of the others */
      hold_back(s, s->k, 1.0);
      for (int32_t j = leaving; j < s->k; j++) s->along[j] = rk_dot(s->n, s->Q + (int64_t)j * s->n, s->shift);
    }
  }
  for (int32_t i = 0; i < s->p; i++)
    if (s->flag[i] == PASSED) s->flag[i] = IDLE;
}

int32_t rk_project_from(rk_projection *s) {
  for (int32_t i = 0; i < s->n; i++) s->shift[i] = s->y0[i] - s->y[i];
  for (int32_t c = 0; c < s->p; c++) s->safe[c] = rk_dot(s->n, s->N + (int64_t)c * s->n, s->y);
  if (!start(s, 0)) return RK_QP_INFEASIBLE;
  walk(s);
  return rk_project_again(s);
}
