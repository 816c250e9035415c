/* Twin of solvers/qp/banded_reference.py, which says what is done and why. */
#include "banded_program.h"

#include <string.h>

#include "banded_cholesky.h"

static const double RHOS[] = {1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 1e-1, 10.0};
enum { REGULARISATIONS = 8, FEW = 2 };

void rk_banded_times(const rk_banded_solver *s, const double *x, double *out) {
  const rk_banded_program *p = s->p;
  for (int64_t i = 0; i < s->rows; i++) {
    double sum = 0.0;
    for (int32_t k = s->start[i]; k < s->start[i + 1]; k++) sum += s->value[k] * x[s->column[k]];
    out[i] = sum + s->across[i] * (p->border ? x[s->banded] : 0.0);
  }
}

void rk_banded_look(rk_banded_solver *s, const double *x) {
  const rk_banded_program *p = s->p;
  for (int64_t i = 0; i < s->rows; i++) {
    const double last = s->across[i] * (p->border ? x[s->banded] : 0.0);
    double sum = last, terms = s->room[i] + fabs(last);
    for (int32_t k = s->start[i]; k < s->start[i + 1]; k++) {
      sum += s->value[k] * x[s->column[k]];
      terms += s->terms[k] * fabs(x[s->column[k]]);
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
      for (int32_t k = s->start[i]; k < s->start[i + 1]; k++) out[s->column[k]] += s->value[k] * z[i];
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
  double own = s->corner + rho;
  memcpy(s->eliminated, s->border, sizeof(double) * (size_t)s->banded);
  for (int64_t i = 0; i < s->rows; i++) {
    const double push = s->weight[i] * s->across[i];
    if (push == 0.0) continue;
    for (int32_t k = s->start[i]; k < s->start[i + 1]; k++) s->eliminated[s->column[k]] += s->value[k] * push;
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
  memcpy(s->L, s->H, sizeof(double) * (size_t)(s->banded * s->reach));
  for (int64_t i = 0; i < s->banded; i++) *rk_band_at(s->L, s->reach, i, i) += rho;
  for (int64_t i = 0; i < s->rows; i++) {
    if (s->weight[i] == 0.0) continue;
    for (int32_t a = s->start[i]; a < s->start[i + 1]; a++) {
      double *row = s->L + s->column[a] * s->reach + (s->reach - 1 - s->column[a]);
      const double own = s->weight[i] * s->value[a];
      for (int32_t b = s->start[i]; b <= a; b++) row[s->column[b]] += own * s->value[b];
    }
  }
  return rk_band_factor(s->L, s->banded, s->reach) && (!s->p->border || factor_last(s, rho));
}

int32_t rk_banded_factor(rk_banded_solver *s) {
  const int32_t most = rk_largest(s->weight, s->rows) > RK_STEEP ? REGULARISATIONS : FEW;
  for (int32_t i = 0; i < most; i++)
    if (factor_with(s, RHOS[i])) return 1;
  return 0;
}
