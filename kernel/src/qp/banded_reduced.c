/* The program of what equations leave free. Twin of solvers/qp/banded_reduced.py, which says what is done and why. */
#include <math.h>
#include <string.h>

#include "banded_cholesky.h"
#include "banded_program.h"
#include "math/rk_reflectors.h"

static const double FIRM = 1e-2, NOISE = 1e-13, NOTHING = 1e-11;

static int64_t frames_of(const rk_banded_program *p, int64_t row) {
  int64_t count = 0;
  for (int32_t k = p->start[row]; k < p->start[row + 1]; k++)
    count += k == p->start[row] || p->column[k] / p->n != p->column[k - 1] / p->n;
  return count;
}

void rk_banded_take(rk_banded_solver *s, const rk_banded_program *p, rk_arena *arena) {
  const int64_t n = p->n, frames = p->frames, all = frames * n;
  s->p = p;
  s->banded = all;
  s->size = all + (p->border ? 1 : 0);
  s->reach = (int64_t)p->width * n + RK_BAND_PAD;
  s->rows = p->rows;
  s->entries = 0;
  for (int64_t i = 0; i < p->rows; i++) s->entries += n * frames_of(p, i);
  s->H = rk_take(arena, all * s->reach);
  s->L = rk_take(arena, all * s->reach);
  double **of_unknowns[] = {&s->g,    &s->x,      &s->Hx,         &s->force, &s->rx,     &s->dx,
                            &s->lack, &s->border, &s->eliminated, &s->best,  &s->origin, &s->whole};
  for (size_t i = 0; i < sizeof of_unknowns / sizeof *of_unknowns; i++) *of_unknowns[i] = rk_take(arena, s->size);
  double **of_rows[] = {&s->length, &s->low,  &s->high, &s->y,      &s->sl,    &s->su,   &s->zl, &s->zu,     &s->Cx,       &s->ry,
                        &s->rl,     &s->ru,   &s->dy,   &s->dsl,    &s->dsu,   &s->dzl,  &s->dzu, &s->cl,    &s->cu,       &s->pl,
                        &s->pu,     &s->weight, &s->other, &s->kept, &s->z,    &s->across, &s->room, &s->room_low, &s->room_high};
  for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) *of_rows[i] = rk_take(arena, s->rows);
  double **of_frames[] = {&s->reflector, &s->triangle, &s->free};
  for (size_t i = 0; i < sizeof of_frames / sizeof *of_frames; i++) *of_frames[i] = rk_take(arena, all * n);
  s->factor = rk_take(arena, all);
  s->along = rk_take(arena, all);
  s->block = rk_take(arena, n * n);
  s->value = rk_take(arena, s->entries);
  s->terms = rk_take(arena, s->entries);
  int32_t **integers[] = {&s->has, &s->at, &s->index};
  for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) *integers[i] = rk_take_integers(arena, s->rows);
  s->start = rk_take_integers(arena, s->rows + 1);
  s->column = rk_take_integers(arena, s->entries);
  s->solved = rk_take_integers(arena, all);
  s->end = rk_take_integers(arena, all);
  s->rank = rk_take_integers(arena, frames);
  s->first = rk_take_integers(arena, frames + 1);
}

static rk_reflectors basis(const rk_banded_solver *s, int64_t k) {
  const int32_t n = s->p->n;
  const int64_t at = k * n;
  return (rk_reflectors){n, n, s->reflector + at * n, s->factor + at, s->end + at};
}

/* Whether an equation says what a coordinate of its frame is, which those before do not. */
static int32_t solves(rk_banded_solver *s, int64_t row) {
  const rk_banded_program *p = s->p;
  const int64_t n = p->n, begin = p->start[row], end = p->start[row + 1];
  if (p->low[row] != p->high[row] || begin == end || (p->border && p->across[row] != 0.0)) return 0;
  const int64_t k = p->column[begin] / n;
  const int32_t rank = s->rank[k];
  if (p->column[end - 1] / n != k || rank == n) return 0;
  const rk_reflectors own = basis(s, k);
  double *w = s->triangle + (k * n + rank) * n, *along = s->along + k * n;
  memset(w, 0, sizeof(double) * (size_t)n);
  for (int64_t i = begin; i < end; i++) w[p->column[i] - k * n] = p->value[i] / s->length[row];
  rk_into_basis(&own, 0, rank, w);
  const double beyond = sqrt(rk_dot((int32_t)n - rank, w + rank, w + rank));
  if (!(beyond > FIRM)) return 0;
  rk_make_reflector(&own, rank, w, beyond);
  rk_reflect(&own, rank, w);
  along[rank] = (p->low[row] / s->length[row] - rk_dot(rank, w, along)) / w[rank];
  s->solved[k * n + s->rank[k]++] = (int32_t)row;
  return 1;
}

/* out[frames n] = H x */
static void whole_times(const rk_banded_program *p, const double *x, double *out) {
  const int64_t n = p->n, width = p->width;
  memset(out, 0, sizeof(double) * (size_t)(p->frames * n));
  for (int64_t k = 0; k < p->frames; k++)
    for (int64_t b = 0; b < width && b <= k; b++)
      for (int64_t i = 0; i < n; i++) {
        const double *row = p->H + ((k * width + b) * n + i) * n;
        out[k * n + i] += rk_dot((int32_t)n, row, x + (k - b) * n);
        if (b && x[k * n + i] != 0.0) rk_add_scaled((int32_t)n, x[k * n + i], row, out + (k - b) * n);
      }
}

/* Where frames are: the point that equations ask for, which is nearest to 0, and the directions that they leave. */
static void free_directions(rk_banded_solver *s) {
  const int64_t n = s->p->n, width = s->p->width;
  s->first[0] = 0;
  s->reach = 0;
  for (int64_t k = 0; k < s->p->frames; k++) {
    const int32_t rank = s->rank[k], left = (int32_t)n - rank;
    const rk_reflectors own = basis(s, k);
    double *origin = s->origin + k * n;
    memset(origin, 0, sizeof(double) * (size_t)n);
    memcpy(origin, s->along + k * n, sizeof(double) * (size_t)rank);
    rk_out_of_basis(&own, rank, origin);
    for (int32_t j = 0; rank && j < left; j++) {
      double *direction = s->free + (k * n + j) * n;
      memset(direction, 0, sizeof(double) * (size_t)n);
      direction[rank + j] = 1.0;
      rk_out_of_basis(&own, rank, direction);
    }
    s->first[k + 1] = s->first[k] + left;
    const int64_t reach = s->first[k + 1] - s->first[k < width ? 0 : k - width + 1];
    s->reach = reach > s->reach ? reach : s->reach;
  }
  s->reach += RK_BAND_PAD;
  s->banded = s->first[s->p->frames];
  s->size = s->banded + (s->p->border ? 1 : 0);
}

/* Component j of x[n] along what is free in frame k. */
static double component(const rk_banded_solver *s, int64_t k, int64_t j, const double *x) {
  const int64_t n = s->p->n;
  return s->rank[k] ? rk_dot((int32_t)n, s->free + (k * n + j) * n, x) : x[j];
}

static void reduce_hessian(rk_banded_solver *s) {
  const rk_banded_program *p = s->p;
  const int64_t n = p->n, width = p->width;
  memset(s->H, 0, sizeof(double) * (size_t)(s->banded * s->reach));
  for (int64_t k = 0; k < p->frames; k++)
    for (int64_t b = 0; b < width && b <= k; b++) {
      const double *block = p->H + (k * width + b) * n * n;
      const int64_t rows = n - s->rank[k], columns = n - s->rank[k - b];
      if (!(rk_largest(block, n * n) > 0.0)) continue;
      for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < columns; j++) s->block[j * n + i] = component(s, k - b, j, block + i * n) / s->scale;
      for (int64_t j = 0; j < columns; j++)
        for (int64_t i = b ? 0 : j; i < rows; i++)
          *rk_band_at(s->H, s->reach, s->first[k] + i, s->first[k - b] + j) = component(s, k, i, s->block + j * n);
    }
}

static void push_entry(rk_banded_solver *s, int32_t column, double value, double terms) {
  if (fabs(value) <= NOISE * terms) return;
  s->value[s->entries] = value;
  s->terms[s->entries] = terms;
  s->column[s->entries++] = column;
}

/* Row `row` as that of number s->rows; nothing where equations say that it holds. */
static void reduce_row(rk_banded_solver *s, int64_t row) {
  const rk_banded_program *p = s->p;
  const int64_t n = p->n, own = s->rows;
  double shift = 0.0, there = 0.0;
  s->entries = s->start[own];
  for (int64_t i = p->start[row], to; i < p->start[row + 1]; i = to) {
    const int64_t k = p->column[i] / n;
    double terms = 0.0;
    for (to = i; to < p->start[row + 1] && p->column[to] / n == k; to++) {
      const double value = p->value[to] / s->length[row], own_shift = value * s->origin[p->column[to]];
      shift += own_shift;
      there += fabs(own_shift);
      terms += fabs(value);
      if (!s->rank[k]) push_entry(s, s->first[k] + (int32_t)(p->column[to] - k * n), value, fabs(value));
    }
    for (int64_t j = 0; s->rank[k] && j < n - s->rank[k]; j++) {
      const double *direction = s->free + (k * n + j) * n - k * n;
      double sum = 0.0;
      for (int64_t c = i; c < to; c++) sum += p->value[c] / s->length[row] * direction[p->column[c]];
      push_entry(s, s->first[k] + (int32_t)j, sum, terms);
    }
  }
  s->index[own] = (int32_t)row;
  s->across[own] = p->border ? p->across[row] / s->length[row] : 0.0;
  s->low[own] = p->low[row] / s->length[row] - shift;
  s->high[own] = p->high[row] / s->length[row] - shift;
  s->room[own] = 1.0 + there;
  s->has[own] = p->low[row] == p->high[row] ? 4 : (isfinite(p->low[row]) ? 1 : 0) + (isfinite(p->high[row]) ? 2 : 0);
  const int32_t is_empty = s->entries == s->start[own] && s->across[own] == 0.0;
  if (is_empty && rk_larger(s->low[own], -s->high[own]) <= NOTHING * s->room[own]) return;
  s->start[++s->rows] = (int32_t)s->entries;
}

void rk_banded_scale(rk_banded_solver *s) {
  const rk_banded_program *p = s->p;
  const int64_t n = p->n, all = p->frames * n, more = p->border ? 1 : 0;
  double most = rk_largest(p->H, all * n * p->width);
  if (more) most = rk_larger(rk_larger(most, rk_largest(p->border, all)), fabs(p->corner));
  s->scale = most > 1e-300 ? most : rk_larger(rk_largest(p->g, all + more), 1e-300);
  s->size_g = rk_larger(rk_largest(p->g, all + more) / s->scale, 1e-12);
  memset(s->rank, 0, sizeof(int32_t) * (size_t)p->frames);
  for (int64_t i = 0; i < p->rows; i++) {
    double square = 0.0;
    for (int32_t k = p->start[i]; k < p->start[i + 1]; k++) square += p->value[k] * p->value[k];
    s->length[i] = square > 0.0 ? sqrt(square) : 1.0;
    s->at[i] = solves(s, i);
  }
  free_directions(s);
  s->rows = s->start[0] = 0;
  for (int64_t i = 0; i < p->rows; i++)
    if (!s->at[i]) reduce_row(s, i);
  reduce_hessian(s);
  whole_times(p, s->origin, s->whole);
  for (int64_t i = 0; i < all; i++) s->whole[i] = (s->whole[i] + p->g[i]) / s->scale;
  for (int64_t k = 0; k < p->frames; k++)
    for (int64_t j = 0; j < n - s->rank[k]; j++) {
      s->g[s->first[k] + j] = component(s, k, j, s->whole + k * n);
      s->border[s->first[k] + j] = more ? component(s, k, j, p->border + k * n) / s->scale : 0.0;
    }
  s->corner = more ? p->corner / s->scale : 0.0;
  if (more) s->g[s->banded] = (p->g[all] + rk_dot((int32_t)all, p->border, s->origin)) / s->scale;
}

/* Multipliers of the equations of frame k that are solved for: those with which nothing of force[n] is missing. */
static void balance(const rk_banded_solver *s, int64_t k, double *force, double *multipliers) {
  const int64_t n = s->p->n;
  const rk_reflectors own = basis(s, k);
  rk_into_basis(&own, 0, s->rank[k], force);
  for (int32_t i = s->rank[k] - 1; i >= 0; i--) {
    const double *w = s->triangle + (k * n + i) * n;
    const double push = force[i] / w[i];
    for (int32_t j = 0; j < i; j++) force[j] -= push * w[j];
    multipliers[s->solved[k * n + i]] = push / s->length[s->solved[k * n + i]];
  }
}

void rk_banded_expand(rk_banded_solver *s, double *x, double *multipliers) {
  const rk_banded_program *p = s->p;
  const int64_t n = p->n, all = p->frames * n;
  memcpy(x, s->origin, sizeof(double) * (size_t)all);
  if (p->border) x[all] = s->best[s->banded];
  for (int64_t k = 0; k < p->frames; k++)
    for (int64_t j = 0; j < n - s->rank[k]; j++) {
      const double own = s->best[s->first[k] + j];
      if (s->rank[k])
        rk_add_scaled((int32_t)n, own, s->free + (k * n + j) * n, x + k * n);
      else
        x[k * n + j] = own;
    }
  memset(multipliers, 0, sizeof(double) * (size_t)p->rows);
  for (int64_t i = 0; i < s->rows; i++) multipliers[s->index[i]] = -s->z[i] * s->scale / s->length[s->index[i]];
  whole_times(p, x, s->whole);
  for (int64_t i = 0; i < all; i++) s->whole[i] = -(s->whole[i] + p->g[i] + (p->border ? p->border[i] * x[all] : 0.0));
  for (int64_t i = 0; i < p->rows; i++)
    for (int32_t k = p->start[i]; multipliers[i] != 0.0 && k < p->start[i + 1]; k++)
      s->whole[p->column[k]] -= p->value[k] * multipliers[i];
  for (int64_t k = 0; k < p->frames; k++) balance(s, k, s->whole + k * n, multipliers);
}
