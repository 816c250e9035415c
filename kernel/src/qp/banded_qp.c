/* The interior-point method for block-banded quadratic programs. Twin of solvers/qp/banded_reference.py, which says
   what is done and why. */
#include "robokin_banded_qp.h"

#include <math.h>
#include <string.h>

#include "../math/rk_arena.h"
#include "banded_cholesky.h"
#include "robokin_qp.h"

static const double DELTA = 1e-5, CLOSEST = 0.995, CERTAIN = 1e-8, POLISHED = 1e-11, NEAR = 1e-9, STEEP = 1e9,
                    ACTIVE = 1e-4;
static const double RHOS[] = {1e-13, 1e-11, 1e-9, 1e-7, 1e-5}, SOLVED[] = {1e-9, 1e-13};
enum { REFINEMENTS = 2, POLISHES = 12, SETS = 8, FURTHER = 8, REGULARISATIONS = 5, FEW = 2, TOLERANCES = 2, STALLED = 4 };

/* A program with rows of length 1 and H of size 1, and what is known of its solution. sl, su: slacks; zl, zu: their
   multipliers; y: those of equations. has: 1 lower, 2 upper side, 4 equation.
   at: 1 lower, 2 upper side is active. */
typedef struct solver {
  const rk_banded_program *p;
  int64_t size, reach, rows, entries;
  double scale, size_g, size_b;
  double *H, *L, *g, *value, *length, *low, *high;
  int32_t *has, *at;
  double *x, *y, *sl, *su, *zl, *zu;
  double *Cx, *Hx, *force, *rx, *ry, *rl, *ru, *weight;
  double *dx, *dy, *dsl, *dsu, *dzl, *dzu, *lack, *other, *cl, *cu, *best, *kept, *z;
} solver;

static void take(solver *s, const rk_banded_program *p, rk_arena *arena) {
  s->p = p;
  s->size = (int64_t)p->frames * p->n;
  s->reach = (int64_t)p->width * p->n + RK_BAND_PAD;
  s->rows = p->rows;
  s->entries = p->rows ? p->start[p->rows] : 0;
  s->H = rk_take(arena, s->size * s->reach);
  s->L = rk_take(arena, s->size * s->reach);
  double **of_unknowns[] = {&s->g, &s->x, &s->Hx, &s->force, &s->rx, &s->dx, &s->lack, &s->best};
  for (size_t i = 0; i < sizeof of_unknowns / sizeof *of_unknowns; i++) *of_unknowns[i] = rk_take(arena, s->size);
  double **of_rows[] = {&s->length, &s->low, &s->high, &s->y,   &s->sl,  &s->su,  &s->zl,    &s->zu,
                        &s->Cx,     &s->ry,  &s->rl,   &s->ru,  &s->dy,  &s->dsl, &s->dsu,   &s->dzl,
                        &s->dzu,    &s->cl,  &s->cu,   &s->weight, &s->other, &s->kept, &s->z};
  for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) *of_rows[i] = rk_take(arena, s->rows);
  s->value = rk_take(arena, s->entries);
  s->has = rk_take_integers(arena, s->rows);
  s->at = rk_take_integers(arena, s->rows);
}

static double larger(double a, double b) { return a > b ? a : b; }

static double largest(const double *x, int64_t count) {
  double most = 0.0;
  for (int64_t i = 0; i < count; i++) most = larger(most, fabs(x[i]));
  return most;
}

static double dot(const double *a, const double *b, int64_t count) {
  double sum = 0.0;
  for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

/* out[rows] = C x */
static void times(const solver *s, const double *x, double *out) {
  const rk_banded_program *p = s->p;
  for (int64_t i = 0; i < s->rows; i++) {
    double sum = 0.0;
    for (int32_t k = p->start[i]; k < p->start[i + 1]; k++) sum += s->value[k] * x[p->column[k]];
    out[i] = sum;
  }
}

/* out[size] += C' z */
static void add_transposed(const solver *s, const double *z, double *out) {
  const rk_banded_program *p = s->p;
  for (int64_t i = 0; i < s->rows; i++)
    if (z[i] != 0.0)
      for (int32_t k = p->start[i]; k < p->start[i + 1]; k++) out[p->column[k]] += s->value[k] * z[i];
}

/* out[size] = H x */
static void hessian_times(const solver *s, const double *x, double *out) {
  memset(out, 0, sizeof(double) * (size_t)s->size);
  for (int64_t i = 0; i < s->size; i++) {
    const int64_t first = i - (s->reach - 1) > 0 ? i - (s->reach - 1) : 0;
    const double *row = s->H + i * s->reach + (first - i + s->reach - 1);
    out[i] += rk_dot(row, x + first, i - first) + row[i - first] * x[i];
    const double own = x[i];
    for (int64_t k = first; k < i; k++) out[k] += row[k - first] * own;
  }
}

/* L of H + rho + C' diag(weight) C; 0 where that is not positive definite. */
static int32_t factor_with(solver *s, double rho) {
  const rk_banded_program *p = s->p;
  memcpy(s->L, s->H, sizeof(double) * (size_t)(s->size * s->reach));
  for (int64_t i = 0; i < s->size; i++) *rk_band_at(s->L, s->reach, i, i) += rho;
  for (int64_t i = 0; i < s->rows; i++) {
    if (s->weight[i] == 0.0) continue;
    for (int32_t a = p->start[i]; a < p->start[i + 1]; a++) {
      double *row = s->L + p->column[a] * s->reach + (s->reach - 1 - p->column[a]);
      const double own = s->weight[i] * s->value[a];
      for (int32_t b = p->start[i]; b <= a; b++) row[p->column[b]] += own * s->value[b];
    }
  }
  return rk_band_factor(s->L, s->size, s->reach);
}

static int32_t factor(solver *s) {
  const int32_t most = largest(s->weight, s->rows) > STEEP ? REGULARISATIONS : FEW;
  for (int32_t i = 0; i < most; i++)
    if (factor_with(s, RHOS[i])) return 1;
  return 0;
}

static void scale_program(solver *s) {
  const rk_banded_program *p = s->p;
  const int64_t n = p->n, width = p->width;
  double most = 0.0;
  for (int64_t i = 0; i < (int64_t)p->frames * width * n * n; i++) most = larger(most, fabs(p->H[i]));
  s->scale = most > 1e-300 ? most : larger(largest(p->g, s->size), 1e-300);
  memset(s->H, 0, sizeof(double) * (size_t)(s->size * s->reach));
  for (int64_t k = 0; k < p->frames; k++)
    for (int64_t b = 0; b < width && b <= k; b++)
      for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (b ? n : i + 1); j++)
          *rk_band_at(s->H, s->reach, k * n + i, (k - b) * n + j) = p->H[((k * width + b) * n + i) * n + j] / s->scale;
  for (int64_t i = 0; i < s->size; i++) s->g[i] = p->g[i] / s->scale;
  s->size_g = larger(largest(s->g, s->size), 1e-12);
  s->size_b = 1.0;
  for (int64_t i = 0; i < s->rows; i++) {
    double square = 0.0;
    for (int32_t k = p->start[i]; k < p->start[i + 1]; k++) square += p->value[k] * p->value[k];
    s->length[i] = square > 0.0 ? sqrt(square) : 1.0;
    for (int32_t k = p->start[i]; k < p->start[i + 1]; k++) s->value[k] = p->value[k] / s->length[i];
    s->low[i] = p->low[i] / s->length[i];
    s->high[i] = p->high[i] / s->length[i];
    s->has[i] = s->low[i] == s->high[i] ? 4 : (isfinite(s->low[i]) ? 1 : 0) + (isfinite(s->high[i]) ? 2 : 0);
    if (s->has[i] & 5) s->size_b = larger(s->size_b, 1.0 + fabs(s->low[i]));
    if (s->has[i] & 2) s->size_b = larger(s->size_b, 1.0 + fabs(s->high[i]));
  }
}

/* dx, dy with (H + C'WC) dx - A'dy = lack_x and A dx = ry of the equations A; rhs[size] is kept. */
static void solve_step(solver *s, const double *rhs) {
  memset(s->dx, 0, sizeof(double) * (size_t)s->size);
  memset(s->dy, 0, sizeof(double) * (size_t)s->rows);
  for (int32_t turn = 0; turn <= REFINEMENTS; turn++) {
    hessian_times(s, s->dx, s->lack);
    times(s, s->dx, s->other);
    for (int64_t i = 0; i < s->size; i++) s->lack[i] = rhs[i] - s->lack[i];
    for (int64_t i = 0; i < s->rows; i++) {
      const int32_t equal = s->has[i] & 4;
      s->kept[i] = equal ? s->ry[i] - s->other[i] : 0.0; /* what is missing */
      s->other[i] = equal ? s->dy[i] + s->kept[i] / DELTA : -s->weight[i] * s->other[i];
    }
    add_transposed(s, s->other, s->lack);
    rk_band_solve(s->L, s->size, s->reach, s->lack);
    times(s, s->lack, s->other);
    for (int64_t i = 0; i < s->rows; i++)
      if (s->has[i] & 4) s->dy[i] += (s->kept[i] - s->other[i]) / DELTA;
    for (int64_t i = 0; i < s->size; i++) s->dx[i] += s->lack[i];
  }
}

/* The step for zl dsl + sl dzl = cl, and of the upper sides. */
static void newton(solver *s) {
  for (int64_t i = 0; i < s->rows; i++) {
    double push = 0.0;
    if (s->has[i] & 1) push += (s->cl[i] + s->zl[i] * s->rl[i]) / s->sl[i];
    if (s->has[i] & 2) push -= (s->cu[i] + s->zu[i] * s->ru[i]) / s->su[i];
    s->other[i] = push;
  }
  memcpy(s->force, s->rx, sizeof(double) * (size_t)s->size);
  add_transposed(s, s->other, s->force);
  solve_step(s, s->force);
  times(s, s->dx, s->other);
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

static double longest(const solver *s) {
  double t = 1.0;
  t = shorter(t, s->sl, s->dsl, s->rows);
  t = shorter(t, s->su, s->dsu, s->rows);
  t = shorter(t, s->zl, s->dzl, s->rows);
  return shorter(t, s->zu, s->dzu, s->rows);
}

static void move(double *x, const double *dx, double t, int64_t count) {
  for (int64_t i = 0; i < count; i++) x[i] += t * dx[i];
}

static void begin(solver *s) {
  const double start = larger(1e-4, fmin(1.0, largest(s->g, s->size)));
  memset(s->x, 0, sizeof(double) * (size_t)s->size);
  for (int64_t i = 0; i < s->rows; i++) {
    const int32_t low = s->has[i] & 1, high = s->has[i] & 2;
    const double room = low && high ? fmin(0.5 * (s->high[i] - s->low[i]), 1.0) : 1.0;
    s->sl[i] = low ? larger(-s->low[i], room) : 1.0;
    s->su[i] = high ? larger(s->high[i], room) : 1.0;
    s->zl[i] = low ? start / larger(s->sl[i], 1e-3) : 0.0;
    s->zu[i] = high ? start / larger(s->su[i], 1e-3) : 0.0;
    s->y[i] = 0.0;
  }
}

/* Moves the point until it is solved. */
static int32_t interior(solver *s, double tolerance, int32_t most, int32_t *steps) {
  const double size_g = s->size_g, size_b = s->size_b;
  int64_t sides = 0;
  for (int64_t i = 0; i < s->rows; i++) sides += (s->has[i] & 1) + (s->has[i] >> 1 & 1);
  for (;; ++*steps) {
    double primal = 0.0, most_z = 0.0, ray = 0.0;
    times(s, s->x, s->Cx);
    hessian_times(s, s->x, s->Hx);
    for (int64_t i = 0; i < s->rows; i++) {
      const int32_t has = s->has[i];
      s->z[i] = s->y[i] + s->zl[i] - s->zu[i];
      s->ry[i] = has & 4 ? s->low[i] - s->Cx[i] : 0.0;
      s->rl[i] = has & 1 ? s->low[i] + s->sl[i] - s->Cx[i] : 0.0;
      s->ru[i] = has & 2 ? s->su[i] - s->high[i] + s->Cx[i] : 0.0;
      primal = larger(primal, larger(fabs(s->ry[i]), larger(fabs(s->rl[i]), fabs(s->ru[i]))));
      most_z = larger(most_z, fabs(s->z[i]));
      if (has & 4) ray += s->low[i] * s->y[i];
      if (has & 1) ray += s->low[i] * s->zl[i];
      if (has & 2) ray -= s->high[i] * s->zu[i];
    }
    memset(s->force, 0, sizeof(double) * (size_t)s->size);
    add_transposed(s, s->z, s->force);
    for (int64_t i = 0; i < s->size; i++) s->rx[i] = -(s->Hx[i] + s->g[i] - s->force[i]);
    const double mu = (dot(s->sl, s->zl, s->rows) + dot(s->su, s->zu, s->rows)) / (double)(sides ? sides : 1);
    const double force = largest(s->force, s->size);
    const double dual = largest(s->rx, s->size) / larger(size_g, larger(force, largest(s->Hx, s->size)));
    if (larger(dual, larger(primal / size_b, mu / larger(size_g, most_z))) <= tolerance) return RK_QP_OPTIMAL;
    if (ray > CERTAIN * most_z && force <= CERTAIN * most_z && most_z > size_g / CERTAIN) return RK_QP_INFEASIBLE;
    if (*steps == most) return RK_QP_MAX_ITERATIONS;
    for (int64_t i = 0; i < s->rows; i++)
      s->weight[i] = s->has[i] & 4 ? 1.0 / DELTA : s->zl[i] / s->sl[i] + s->zu[i] / s->su[i];
    if (!factor(s)) return largest(s->weight, s->rows) > STEEP ? STALLED : RK_QP_NOT_CONVEX;
    for (int64_t i = 0; i < s->rows; i++) s->cl[i] = -s->sl[i] * s->zl[i], s->cu[i] = -s->su[i] * s->zu[i];
    newton(s);
    double t = 1.0;
    if (sides) {
      t = longest(s);
      double after = 0.0;
      for (int64_t i = 0; i < s->rows; i++)
        after += (s->sl[i] + t * s->dsl[i]) * (s->zl[i] + t * s->dzl[i]) +
                 (s->su[i] + t * s->dsu[i]) * (s->zu[i] + t * s->dzu[i]);
      const double share = mu > 0.0 ? larger(after / (double)sides, 0.0) / mu : 0.0;
      const double centre = share * share * share * mu;
      for (int64_t i = 0; i < s->rows; i++) {
        s->cl[i] = centre - s->sl[i] * s->zl[i] - s->dsl[i] * s->dzl[i];
        s->cu[i] = centre - s->su[i] * s->zu[i] - s->dsu[i] * s->dzu[i];
      }
      newton(s);
      t = fmin(1.0, CLOSEST * longest(s));
    }
    move(s->x, s->dx, t, s->size);
    move(s->y, s->dy, t, s->rows);
    move(s->sl, s->dsl, t, s->rows);
    move(s->su, s->dsu, t, s->rows);
    move(s->zl, s->dzl, t, s->rows);
    move(s->zu, s->dzu, t, s->rows);
  }
}

/* The largest of what x and z lack as a solution, relative. */
static double error_of(solver *s, const double *x, const double *z) {
  times(s, x, s->Cx);
  hessian_times(s, x, s->Hx);
  memset(s->force, 0, sizeof(double) * (size_t)s->size);
  add_transposed(s, z, s->force);
  const double size_g = larger(s->size_g, larger(largest(s->force, s->size), largest(s->Hx, s->size)));
  const double size_z = larger(s->size_g, largest(z, s->rows));
  double most = 0.0;
  for (int64_t i = 0; i < s->size; i++) most = larger(most, fabs(s->Hx[i] + s->g[i] - s->force[i]) / size_g);
  for (int64_t i = 0; i < s->rows; i++) {
    const double to_low = (s->Cx[i] - s->low[i]) / s->size_b, to_high = (s->high[i] - s->Cx[i]) / s->size_b;
    most = larger(most, larger(-to_low, -to_high));
    if (s->has[i] & 4) continue;
    if (z[i] > 0.0) most = larger(most, fmin(s->has[i] & 1 ? fabs(to_low) : INFINITY, z[i] / size_z));
    if (z[i] < 0.0) most = larger(most, fmin(s->has[i] & 2 ? fabs(to_high) : INFINITY, -z[i] / size_z));
  }
  return most;
}

/* Which sides are active, as ry wants them: as `at` says of each row (1 lower, 2 upper side). */
static void activate(solver *s) {
  for (int64_t i = 0; i < s->rows; i++) {
    const int32_t active = s->has[i] & 4 || s->at[i];
    s->weight[i] = active ? 1.0 / DELTA : 0.0;
    s->dy[i] = active ? s->dy[i] : 0.0;
    s->ry[i] = s->at[i] & 2 ? s->high[i] : s->low[i];
  }
}

/* dx, dy: the point where the active sides are equations. */
static void settle(solver *s) {
  for (int32_t turn = 0; turn < POLISHES; turn++) {
    times(s, s->dx, s->other);
    hessian_times(s, s->dx, s->lack);
    for (int64_t i = 0; i < s->size; i++) s->lack[i] = -(s->lack[i] + s->g[i]);
    for (int64_t i = 0; i < s->rows; i++) {
      s->kept[i] = s->weight[i] > 0.0 ? s->ry[i] - s->other[i] : 0.0;
      s->other[i] = s->dy[i] + s->kept[i] / DELTA;
    }
    add_transposed(s, s->other, s->lack);
    rk_band_solve(s->L, s->size, s->reach, s->lack);
    times(s, s->lack, s->other);
    for (int64_t i = 0; i < s->rows; i++)
      if (s->weight[i] > 0.0) s->dy[i] += (s->kept[i] - s->other[i]) / DELTA;
    for (int64_t i = 0; i < s->size; i++) s->dx[i] += s->lack[i];
  }
}

/* The best point where the sides that are active are equations, or as it is, in best and z. Returns what it lacks,
   negative where there is none. is_exact: as far as rounding lets it be, further steps find nothing better. */
static double polish(solver *s, int32_t *is_exact) {
  for (int64_t i = 0; i < s->rows; i++) s->z[i] = s->dy[i] = s->y[i] + s->zl[i] - s->zu[i];
  memcpy(s->best, s->x, sizeof(double) * (size_t)s->size);
  memcpy(s->dx, s->x, sizeof(double) * (size_t)s->size);
  double least = error_of(s, s->x, s->z);
  *is_exact = 0;
  for (int64_t i = 0; i < s->rows; i++) {
    s->at[i] = s->has[i] & 1 && s->z[i] > ACTIVE * (s->Cx[i] - s->low[i]) ? 1 : 0;
    if (s->has[i] & 2 && -s->z[i] > ACTIVE * (s->high[i] - s->Cx[i])) s->at[i] |= 2;
  }
  for (int32_t set = 0; set < SETS; set++) {
    activate(s);
    if (!factor(s)) return -1.0;
    settle(s);
    const double error = error_of(s, s->dx, s->dy);
    if (error <= least) {
      least = error;
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
    *is_exact = error <= POLISHED || (!changed && error <= NEAR);
    if (*is_exact || !changed) break;
  }
  return least;
}

/* Whether the sides that push, as multipliers told before say, are those of the solution, which is then in best and z. */
static int32_t guess(solver *s, const double *multipliers) {
  memset(s->x, 0, sizeof(double) * (size_t)s->size);
  for (int64_t i = 0; i < s->rows; i++) {
    s->y[i] = -multipliers[i] * s->length[i] / s->scale;
    s->zl[i] = s->zu[i] = 0.0;
  }
  int32_t is_exact = 0;
  return polish(s, &is_exact) >= 0.0 && is_exact;
}

int32_t rk_sizeof_banded_program(void) { return (int32_t)sizeof(rk_banded_program); }

int64_t rk_banded_qp_workspace(const rk_banded_program *program) {
  rk_arena arena = {0, 0};
  solver s;
  take(&s, program, &arena);
  return arena.used;
}

int32_t rk_banded_qp(const rk_banded_program *program, int32_t most, double *work, double *x, double *multipliers,
                     int32_t *steps) {
  rk_arena arena = {work, 0};
  solver s;
  take(&s, program, &arena);
  scale_program(&s);
  int32_t status = guess(&s, multipliers) ? RK_QP_OPTIMAL : RK_QP_MAX_ITERATIONS;
  const int32_t turns = status == RK_QP_OPTIMAL ? 0 : TOLERANCES;
  begin(&s);
  *steps = 0;
  for (int32_t i = 0; i < turns; i++) {
    const int32_t until = i && *steps + FURTHER < most ? *steps + FURTHER : most;
    status = interior(&s, SOLVED[i], until, steps);
    memcpy(s.best, s.x, sizeof(double) * (size_t)s.size);
    memcpy(s.z, s.y, sizeof(double) * (size_t)s.rows);
    if (status == RK_QP_INFEASIBLE || status == RK_QP_NOT_CONVEX) break;
    int32_t is_exact = 0;
    const double lack = polish(&s, &is_exact);
    const int32_t is_last = is_exact || lack <= POLISHED || status != RK_QP_OPTIMAL;
    status = lack < 0.0 ? RK_QP_NOT_CONVEX : lack <= NEAR ? RK_QP_OPTIMAL : RK_QP_MAX_ITERATIONS;
    if (is_last) break;
  }
  const int32_t is_known = status != RK_QP_NOT_CONVEX;
  for (int64_t i = 0; i < s.size; i++) x[i] = is_known ? s.best[i] : 0.0;
  for (int64_t i = 0; i < s.rows; i++) multipliers[i] = is_known ? -s.z[i] * s.scale / s.length[i] : 0.0;
  return status;
}
