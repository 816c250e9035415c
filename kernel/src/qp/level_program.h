/* The quadratic program of one level of a hierarchy: what it must keep, where its search starts, and what its minimum presses
   on. Of solvers/qp/hierarchy.py. */
#ifndef RK_LEVEL_PROGRAM_H
#define RK_LEVEL_PROGRAM_H

#include "qp/descent.h"

static const double MULTIPLIER_TOLERANCE = 1e-6, PUSH_TOLERANCE = 1e-12;

/* The normal of one more constraint of a program, whose sides are counted from `value` on. */
static inline double *constrain(rk_projection *p, double value, double lower, double upper) {
  p->low[p->p] = lower - value, p->high[p->p] = upper - value;
  return p->N + (int64_t)p->p++ * p->n;
}

/* normal[n - r] of a row, 0 where what is left of it is rounding. */
static inline void forget_rounding(const descent *s, double length, double *normal) {
  for (int32_t i = 0; i < s->n - s->r; i++)
    if (__builtin_fabs(normal[i]) <= RK_NONE * length) normal[i] = 0.0;
}

static inline double *constrain_row(const descent *s, rk_projection *p, int32_t rank, int32_t row, double lower,
                             double upper) {
  double *normal = constrain(p, rk_dot(s->all, row_of(s, row), s->x), lower, upper);
  rotated(s, rank, turned(s, row, s->r + rank), normal);
  forget_rounding(s, length_of(s, row_of(s, row)), normal);
  return normal;
}

/* The unknown or the row that constraint c of a program bounds, in `turned` and `active`. */
static inline int32_t place_of(const descent *s, int32_t c) {
  const int32_t i = s->wall[c], kept = i - s->n_bounded;
  return c >= s->n_walls ? s->all + i : kept < 0 ? s->bounded[i] : s->all + s->kept[kept];
}

/* The normals of bounds in the coordinates of move_along, [n][n - r], where so many are new that it is more work to take each
   into the basis; else null. */
static inline const double *form_normals(const descent *s, int32_t rank) {
  const int32_t r = s->r, f = s->n - r;
  double *M = s->other_program;
  int32_t bounds = 0;
  for (int32_t c = s->carried; c < s->n_walls; c++) bounds += s->wall[c] < s->n_bounded;
  if (3 * bounds <= f) return 0;
  for (int64_t i = 0; i < (int64_t)s->n * f; i++) M[i] = 0.0;
  for (int32_t i = 0; i < rank; i++)
    for (int32_t at = 0; at < rank; at++) M[(int64_t)(r + at) * f + i] = s->V[(int64_t)i * rank + at];
  for (int32_t i = rank; i < f; i++) M[(int64_t)(r + i) * f + i] = 1.0;
  rk_columns_out_of_basis(&s->basis, r + rank, f, M, s->step);
  return M;
}

/* The new walls of a program, in the basis of the first `count` reflectors. */
static inline void turn_walls(const descent *s, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    for (int32_t c = s->carried; c < s->n_walls; c++) {
      const int32_t at = place_of(s, c);
      if (s->turned_by[at] != k) continue;
      rk_reflect(&s->basis, k, s->turned + (int64_t)at * s->all);
      s->turned_by[at]++;
    }
}

/* A program of n - r unknowns and slacks, with the bounds and the kept rows that do not wait as constraints. */
static inline rk_projection *begin(descent *s, int32_t rank, int32_t slacks) {
  const int32_t unknowns = s->n - s->r + slacks, walls = s->n_bounded + s->n_kept;
  rk_projection *p = &s->last;
  if (slacks || !s->known || p->n != unknowns || p->p != s->n_walls) {
    *p = rk_projection_lay_out(unknowns, s->all + s->levels->start[s->levels->count], s->program);
    s->n_walls = p->p = 0;
  }
  s->carried = p->p;
  for (int32_t i = 0; i < walls; i++) {
    int is_new = !s->wall_waits[i];
    for (int32_t c = 0; is_new && c < s->carried; c++) is_new = s->wall[c] != i;
    if (is_new) s->wall[s->n_walls++] = i;
  }
  for (int64_t i = (int64_t)unknowns * s->carried; i < (int64_t)unknowns * (s->n_walls + slacks); i++) p->N[i] = 0.0;
  for (int32_t i = 0; !s->carried && i < unknowns; i++) p->y[i] = 0.0;
  const double *normals = form_normals(s, rank);
  if (!normals) turn_walls(s, s->r + rank);
  for (int32_t c = s->carried; c < s->n_walls; c++) {
    const int32_t kept = s->wall[c] - s->n_bounded;
    if (kept < 0) {
      const int32_t i = s->bounded[s->wall[c]], k = s->index[i];
      double *normal = constrain(p, s->x[k], s->lo[k], s->hi[k]);
      if (normals)
        rk_copy(normal, normals + (int64_t)i * (s->n - s->r), s->n - s->r);
      else
        rotated(s, rank, turned_at(s, i, s->r + rank), normal);
      forget_rounding(s, 1.0, normal);
    } else { /* of length 1, as bounds are: the tolerance is that of x */
      const double length = length_of(s, row_of(s, s->kept[kept])), size = length > 0.0 ? length : 1.0;
      double *normal = constrain_row(s, p, rank, s->kept[kept], s->kept_lower[kept], s->kept_upper[kept]);
      for (int32_t i = 0; i < s->n - s->r; i++) normal[i] /= size;
      p->low[c] /= size, p->high[c] /= size;
    }
  }
  return p;
}

/* From scratch, to the looser of the roundings. */
static inline int solve_again(const descent *s, rk_projection *p) {
  p->tolerance = RK_ROUNDING[1] * largest_of(s, s->x);
  return rk_project(p) == RK_QP_OPTIMAL;
}

/* From p->y, which keeps all constraints; to the bounds' own rounding first, since x is moved into them. */
static inline int solve(const descent *s, rk_projection *p) {
  p->tolerance = RK_ROUNDING[0] * largest_of(s, s->x);
  return rk_project_from(p) == RK_QP_OPTIMAL || solve_again(s, p);
}

/* From about what is active: the sides of constraints, 0: none; `carried` as in rk_project_with. */
static inline int solve_with(const descent *s, rk_projection *p, int32_t carried, const int32_t *side) {
  p->tolerance = RK_ROUNDING[0] * largest_of(s, s->x);
  return rk_project_with(p, carried, side) == RK_QP_OPTIMAL || solve_again(s, p);
}

/* From where the level's last program ended, if few constraints are new. */
static inline int solve_on(descent *s, rk_projection *p) {
  int32_t count = 0, *side = s->order;
  for (int32_t c = 0; c < p->p; c++) count += (side[c] = s->active[place_of(s, c)]) != 0, s->active[place_of(s, c)] = 0;
  const int is_near = 2 * (p->p - s->known) <= count;
  for (int32_t i = 0; s->carried && !is_near && i < p->n; i++) p->y[i] = 0.0;
  const int found = is_near ? solve_with(s, p, s->carried, side) : solve(s, p);
  s->known = found ? p->p : 0;
  for (int32_t j = 0; found && j < p->k; j++) s->active[place_of(s, p->number[j])] = p->sign[j] > 0.0 ? 1 : -1;
  return found;
}

/* Whether the j-th active constraint holds the minimum of a program back, and is not only touched. */
static inline int presses(const descent *s, const rk_projection *p, int32_t j) {
  double strongest = 0.0;
  for (int32_t i = 0; i < p->k; i++) strongest = rk_max(strongest, p->u[i] * p->length[p->number[i]]);
  return p->u[j] > MULTIPLIER_TOLERANCE * s->largest && p->u[j] * p->length[p->number[j]] > PUSH_TOLERANCE * strongest;
}

/* Whether what presses leaves the level no motion that it does not see, behind the first `rank`. Where there is one, the
   others of the p->n - p->k directions that are left have no more than their number of what is seen. */
static inline int is_fixed(const descent *s, const rk_projection *p, int32_t rank) {
  const int32_t f = s->n - s->r;
  double seen = 0.0;
  for (int32_t i = 0; i < p->n; i++) {
    if (rank <= i && i < f) continue;
    seen += 1.0;
    for (int32_t j = 0; j < p->k; j++) seen -= p->Q[(int64_t)j * p->n + i] * p->Q[(int64_t)j * p->n + i];
  }
  int32_t pressing = 0;
  for (int32_t j = 0; j < p->k; j++) pressing += presses(s, p, j);
  return pressing == p->k && seen > p->n - p->k - 0.5;
}

/* What the level does not see, behind the first `rank` of `point`, moves as little as it can where the rest of the
   program's solution stays, with what presses on it (complementarity): `least` leaves that to rounding. */
static inline void move_least(descent *s, const rk_projection *p, int32_t rank) {
  const int32_t f = s->n - s->r, m = f - rank;
  rk_projection own = rk_projection_lay_out(m, p->p, s->other_program);
  for (int32_t i = 0; i < m; i++) own.y0[i] = 0.0;
  for (int32_t c = 0; c < p->p; c++) {
    const double *normal = p->N + (int64_t)c * p->n;
    const double there = rk_dot(rank, normal, p->y) + rk_dot(p->n - f, normal + f, p->y + f);
    own.low[c] = p->low[c] - there, own.high[c] = p->high[c] - there, s->order[c] = 0;
    for (int32_t i = 0; i < m; i++) own.N[(int64_t)c * m + i] = normal[rank + i];
  }
  for (int32_t j = 0; j < p->k; j++) {
    const int32_t c = p->number[j];
    s->order[c] = p->sign[j] > 0.0 ? 1 : -1; /* about the same ones are active */
    if (!presses(s, p, j)) continue;
    own.low[c] = own.high[c] = p->sign[j] > 0.0 ? own.low[c] : own.high[c];
  }
  if (!solve_with(s, &own, 0, s->order)) return;
  for (int32_t i = 0; i < m; i++) s->point[rank + i] = own.y[i] * s->scale[rank + i];
}

#endif
