/* Twin of solvers/qp/banded_reference.py, which says what is done and why. */
#include "banded_program.h"

#include <string.h>

#include "banded_cholesky.h"

static const double RHOS[] = {1e-13, 1e-11, 1e-9, 1e-7, 1e-5};
enum { REGULARISATIONS = 5, FEW = 2 };

void rk_banded_take(rk_banded_solver *s, const rk_banded_program *p, rk_arena *arena) {
  s->p = p;
  s->banded = (int64_t)p->frames * p->n;
  s->size = s->banded + (p->border ? 1 : 0);
  s->reach = (int64_t)p->width * p->n + RK_BAND_PAD;
  s->rows = p->rows;
  s->entries = p->rows ? p->start[p->rows] : 0;
  s->H = rk_take(arena, s->banded * s->reach);
  s->L = rk_take(arena, s->banded * s->reach);
  double **of_unknowns[] = {&s->g, &s->x, &s->Hx, &s->force, &s->rx, &s->dx, &s->lack, &s->best, &s->border, &s->eliminated};
  for (size_t i = 0; i < sizeof of_unknowns / sizeof *of_unknowns; i++) *of_unknowns[i] = rk_take(arena, s->size);
  double **of_rows[] = {&s->length, &s->low, &s->high, &s->y,   &s->sl,  &s->su,  &s->zl,    &s->zu,
                        &s->Cx,     &s->ry,  &s->rl,   &s->ru,  &s->dy,  &s->dsl, &s->dsu,   &s->dzl,
                        &s->dzu,    &s->cl,  &s->cu,  &s->pl,  &s->pu,   &s->weight, &s->other, &s->kept, &s->z, &s->across, &s->room_low, &s->room_high};
  for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) *of_rows[i] = rk_take(arena, s->rows);
  s->value = rk_take(arena, s->entries);
  s->has = rk_take_integers(arena, s->rows);
  s->at = rk_take_integers(arena, s->rows);
}

void rk_banded_times(const rk_banded_solver *s, const double *x, double *out) {
  const rk_banded_program *p = s->p;
  for (int64_t i = 0; i < s->rows; i++) {
    double sum = 0.0;
    for (int32_t k = p->start[i]; k < p->start[i + 1]; k++) sum += s->value[k] * x[p->column[k]];
    out[i] = sum + s->across[i] * (p->border ? x[s->banded] : 0.0);
  }
}

void rk_banded_look(rk_banded_solver *s, const double *x) {
  const rk_banded_program *p = s->p;
  for (int64_t i = 0; i < s->rows; i++) {
    const double last = s->across[i] * (p->border ? x[s->banded] : 0.0);
    double sum = last, terms = 1.0 + fabs(last);
    for (int32_t k = p->start[i]; k < p->start[i + 1]; k++) {
      const double term = s->value[k] * x[p->column[k]];
      sum += term;
      terms += fabs(term);
    }
    s->Cx[i] = sum;
    s->room_low[i] = s->has[i] & 5 ? terms + fabs(s->low[i]) : terms;
    s->room_high[i] = s->has[i] & 2 ? terms + fabs(s->high[i]) : s->room_low[i];
  }
}

void rk_banded_add_transposed(const rk_banded_solver *s, const double *z, double *out) {
  const rk_banded_program *p = s->p;
  for (int64_t i = 0; i < s->rows; i++)
    if (z[i] != 0.0)
      for (int32_t k = p->start[i]; k < p->start[i + 1]; k++) out[p->column[k]] += s->value[k] * z[i];
  if (!p->border) return;
  for (int64_t i = 0; i < s->rows; i++) out[s->banded] += s->across[i] * z[i];
}

void rk_banded_hessian_times(const rk_banded_solver *s, const double *x, double *out) {
  memset(out, 0, sizeof(double) * (size_t)s->size);
  for (int64_t i = 0; i < s->banded; i++) {
    const int64_t first = i - (s->reach - 1) > 0 ? i - (s->reach - 1) : 0;
    const double *row = s->H + i * s->reach + (first - i + s->reach - 1);
    out[i] += rk_band_dot(row, x + first, i - first) + row[i - first] * x[i];
    const double own = x[i];
    for (int64_t k = first; k < i; k++) out[k] += row[k - first] * own;
  }
  if (!s->p->border) return;
  const double last = x[s->banded];
  out[s->banded] = rk_band_dot(s->border, x, s->banded) + s->corner * last;
  for (int64_t i = 0; i < s->banded; i++) out[i] += s->border[i] * last;
}

/* What the last unknown adds to the factor: K^-1 b of its column b, and what is left of its own entry. */
static int32_t factor_last(rk_banded_solver *s, double rho) {
  const rk_banded_program *p = s->p;
  double own = s->corner + rho;
  memcpy(s->eliminated, s->border, sizeof(double) * (size_t)s->banded);
  for (int64_t i = 0; i < s->rows; i++) {
    const double push = s->weight[i] * s->across[i];
    if (push == 0.0) continue;
    for (int32_t k = p->start[i]; k < p->start[i + 1]; k++) s->eliminated[p->column[k]] += s->value[k] * push;
    own += push * s->across[i];
  }
  memcpy(s->lack, s->eliminated, sizeof(double) * (size_t)s->banded);
  rk_band_solve(s->L, s->banded, s->reach, s->eliminated);
  s->pivot = own - rk_band_dot(s->lack, s->eliminated, s->banded);
  return s->pivot > 0.0;
}

void rk_banded_solve(const rk_banded_solver *s, double *b) {
  const double last = s->p->border ? (b[s->banded] - rk_band_dot(s->eliminated, b, s->banded)) / s->pivot : 0.0;
  rk_band_solve(s->L, s->banded, s->reach, b);
  if (!s->p->border) return;
  for (int64_t i = 0; i < s->banded; i++) b[i] -= s->eliminated[i] * last;
  b[s->banded] = last;
}

/* L of H + rho + C' diag(weight) C; 0 where that is not positive definite. */
static int32_t factor_with(rk_banded_solver *s, double rho) {
  const rk_banded_program *p = s->p;
  memcpy(s->L, s->H, sizeof(double) * (size_t)(s->banded * s->reach));
  for (int64_t i = 0; i < s->banded; i++) *rk_band_at(s->L, s->reach, i, i) += rho;
  for (int64_t i = 0; i < s->rows; i++) {
    if (s->weight[i] == 0.0) continue;
    for (int32_t a = p->start[i]; a < p->start[i + 1]; a++) {
      double *row = s->L + p->column[a] * s->reach + (s->reach - 1 - p->column[a]);
      const double own = s->weight[i] * s->value[a];
      for (int32_t b = p->start[i]; b <= a; b++) row[p->column[b]] += own * s->value[b];
    }
  }
  return rk_band_factor(s->L, s->banded, s->reach) && (!p->border || factor_last(s, rho));
}

int32_t rk_banded_factor(rk_banded_solver *s) {
  const int32_t most = rk_largest(s->weight, s->rows) > RK_STEEP ? REGULARISATIONS : FEW;
  for (int32_t i = 0; i < most; i++)
    if (factor_with(s, RHOS[i])) return 1;
  return 0;
}

void rk_banded_scale(rk_banded_solver *s) {
  const rk_banded_program *p = s->p;
  const int64_t n = p->n, width = p->width;
  double most = 0.0;
  for (int64_t i = 0; i < (int64_t)p->frames * width * n * n; i++) most = rk_larger(most, fabs(p->H[i]));
  for (int64_t i = 0; p->border && i < s->banded; i++) most = rk_larger(most, fabs(p->border[i]));
  if (p->border) most = rk_larger(most, fabs(p->corner));
  s->scale = most > 1e-300 ? most : rk_larger(rk_largest(p->g, s->size), 1e-300);
  memset(s->H, 0, sizeof(double) * (size_t)(s->banded * s->reach));
  s->corner = p->border ? p->corner / s->scale : 0.0;
  for (int64_t i = 0; i < s->size; i++) s->border[i] = p->border && i < s->banded ? p->border[i] / s->scale : 0.0;
  for (int64_t k = 0; k < p->frames; k++)
    for (int64_t b = 0; b < width && b <= k; b++)
      for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (b ? n : i + 1); j++)
          *rk_band_at(s->H, s->reach, k * n + i, (k - b) * n + j) = p->H[((k * width + b) * n + i) * n + j] / s->scale;
  for (int64_t i = 0; i < s->size; i++) s->g[i] = p->g[i] / s->scale;
  s->size_g = rk_larger(rk_largest(s->g, s->size), 1e-12);
  for (int64_t i = 0; i < s->rows; i++) {
    double square = 0.0;
    for (int32_t k = p->start[i]; k < p->start[i + 1]; k++) square += p->value[k] * p->value[k];
    s->length[i] = square > 0.0 ? sqrt(square) : 1.0;
    for (int32_t k = p->start[i]; k < p->start[i + 1]; k++) s->value[k] = p->value[k] / s->length[i];
    s->across[i] = p->border ? p->across[i] / s->length[i] : 0.0;
    s->low[i] = p->low[i] / s->length[i];
    s->high[i] = p->high[i] / s->length[i];
    s->has[i] = s->low[i] == s->high[i] ? 4 : (isfinite(s->low[i]) ? 1 : 0) + (isfinite(s->high[i]) ? 2 : 0);
  }
}
