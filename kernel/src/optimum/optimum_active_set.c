/* What holds a pose, to first order: rows that are held, inequalities that press. Twin of solvers/optimum/subproblem.py. */
#include "optimum/optimum.h"
#include "math/rk_math.h"
#include "math/rk_symmetric_eigen.h"

static const double SMALL = 1e-9, VIOLATED = 1e-9, HOLDS = 1e-6;

rk_look rk_lay_out_look(rk_arena *arena, const rk_poses *s) {
  const int64_t n = s->n, all = n + s->n_rows;
  rk_look look = {.pose = rk_lay_out_pose(arena, s), .basis = {.n = s->n, .stride = s->n}};
  look.slope = rk_take(arena, n), look.descent = rk_take(arena, n);
  look.lower = rk_take(arena, all), look.upper = rk_take(arena, all), look.multiplier = rk_take(arena, all);
  look.is_held = rk_take_integers(arena, all), look.row = rk_take_integers(arena, n);
  look.basis.v = rk_take(arena, n * n), look.basis.factor = rk_take(arena, n);
  look.basis.end = rk_take_integers(arena, n);
  const int64_t rows = all + s->n_edges * (int64_t)s->most * (s->most + 1) / 2;
  look.W = rk_take(arena, rows * n), look.order = rk_take_integers(arena, rows);
  look.rows = rk_take_integers(arena, rows);
  look.edges = (rk_edge *)rk_take(arena, s->n_edges * (int64_t)((sizeof(rk_edge) + 7) / 8));
  look.E = rk_take(arena, n * n);
  for (int32_t c = 0, e = 0; c < s->step->n_criteria; c++)
    if (s->step->criteria[c].kind == RK_SMALLEST_SINGULAR_VALUE) {
      const rk_edge edge = rk_lay_out_edge(arena, s, s->step->criteria + c);
      if (arena->base) look.edges[e++] = edge;
    }
  return look;
}

/* The row of a pose; null: unit row `i`. */
static const double *row_of(const rk_look *look, int32_t n, int32_t i) {
  return i < n ? 0 : look->pose.J + (int64_t)(i - n) * n;
}

/* own[n] = row i in the basis; returns the square of its length. */
static double row_in_basis(const rk_look *look, int32_t n, int32_t i, int32_t count, double *own) {
  const double *row = row_of(look, n, i);
  for (int32_t k = 0; k < n; k++) own[k] = row ? row[k] : (double)(k == i);
  const double square = rk_dot(n, own, own);
  rk_into_basis(&look->basis, 0, count, own);
  return square;
}

/* E: the directions behind the first `used`, in the basis of the first `count` reflectors. */
static void form_directions(const rk_look *look, int32_t n, int32_t used, int32_t count) {
  for (int32_t i = used; i < n; i++) {
    double *own = look->E + (int64_t)(i - used) * n;
    for (int32_t k = 0; k < n; k++) own[k] = (double)(k == i);
    rk_out_of_basis(&look->basis, i < count ? i + 1 : count, own);
  }
}

void rk_linearise(const rk_poses *s, rk_look *look) {
  const int32_t n = s->n, all = n + s->n_rows;
  const rk_pose *pose = &look->pose;
  double square = 0.0;
  int32_t count = 0;
  rk_box(s, pose->q, look->lower, look->upper);
  for (int32_t i = 0; i < all; i++) {
    if (i >= n) look->lower[i] = pose->low[i - n], look->upper[i] = pose->high[i - n];
    const double lower = look->lower[i], upper = look->upper[i];
    look->is_held[i] = lower == upper || lower > VIOLATED || upper < -VIOLATED;
    if (lower > 0.0) look->lower[i] = 0.0;
    if (upper < 0.0) look->upper[i] = 0.0;
    if (!look->is_held[i]) continue;
    square += row_in_basis(look, n, i, 0, look->W + (int64_t)count * n);
    look->rows[count++] = i;
  }
  look->pressed = 0;
  look->fixed = rk_reduce_rows(&look->basis, 0, count, SMALL * rk_sqrt(square), look->W, look->order);
  look->rank = look->fixed;
  for (int32_t k = 0; k < look->rank; k++) look->row[k] = look->rows[look->order[k]];
  form_directions(look, n, look->fixed, look->fixed);
}

void rk_use_up(const rk_poses *s, rk_look *look, int32_t count, double *rows, int32_t *order) {
  const int32_t n = s->n;
  for (int32_t i = 0; i < count; i++) rk_into_basis(&look->basis, 0, look->fixed, rows + (int64_t)i * n);
  look->fixed += rk_reduce_rows(&look->basis, look->fixed, count, SMALL, rows, order);
  form_directions(look, n, look->fixed, look->fixed);
}

/* out[n] += the gradient of <W, A> along x. */
static void add_chosen(const rk_poses *s, const rk_edge *edge, double *out) {
  const int64_t n = s->n, count = edge->count;
  const double *slope = edge->slopes;
  for (int64_t a = 0; a < count; a++)
    for (int64_t b = 0; b <= a; b++, slope += n)
      rk_add_scaled((int32_t)n, (a == b ? 1.0 : 2.0) * edge->W[a * count + b], slope, out);
}

void rk_hold(const rk_poses *s, rk_look *look, double *descent) {
  const int32_t n = s->n;
  for (int32_t i = 0; i < n; i++) descent[i] = look->slope[i] + look->multiplier[i];
  for (int32_t e = 0; e < s->n_edges; e++)
    if (look->edges[e].count > 1) add_chosen(s, look->edges + e, descent);
  for (int32_t i = 0; i < s->n_rows; i++)
    if (look->multiplier[n + i] != 0.0) rk_add_scaled(n, look->multiplier[n + i], look->pose.J + (int64_t)i * n, descent);
  rk_into_basis(&look->basis, 0, look->rank, descent);
  for (int32_t k = look->rank - 1; k >= 0; k--) {
    const double *row = look->W + (int64_t)look->order[k] * n;
    const double own = -descent[k] / row[k];
    look->multiplier[look->row[k]] = own;
    rk_add_scaled(k, own, row, descent);
  }
}

/* Rows W[...][n] of what is 0 as long as the eigenvalues that hold the pose are equal; returns their number. */
static int32_t rows_across(const rk_poses *s, const rk_edge *edge, const rk_program *program, double *W) {
  const int64_t n = s->n, count = edge->count;
  int32_t holding = 0, rows = 0;
  if (count < 2) return 0;
  for (int64_t i = 0; i < count * count; i++) program->H[i] = edge->W[i];
  rk_symmetric_eigen(edge->count, program->H, program->values, program->vectors, program->work);
  for (int64_t i = 0; i < count; i++)
    if (program->values[i] > HOLDS) {
      for (int64_t k = 0; k < count; k++) program->vectors[holding * count + k] = program->vectors[i * count + k];
      holding++;
    }
  for (int64_t i = 0; i < holding; i++)
    for (int64_t j = 0; j <= i; j++) {
      const double *p = program->vectors + i * count, *q = program->vectors + j * count, *slope = edge->slopes;
      const double *first = program->vectors;
      double *row = W + rows * n;
      if (i == 0) continue;
      for (int64_t k = 0; k < n; k++) row[k] = 0.0;
      for (int64_t a = 0; a < count; a++)
        for (int64_t b = 0; b <= a; b++, slope += n) {
          double share = p[a] * q[b] + (a == b ? 0.0 : p[b] * q[a]);
          if (i == j) share -= (a == b ? 1.0 : 2.0) * first[a] * first[b];
          rk_add_scaled((int32_t)n, share, slope, row);
        }
      rows++;
    }
  return rows;
}

void rk_press(const rk_poses *s, rk_look *look, const rk_program *program, double least) {
  const int32_t n = s->n, used = look->fixed;
  double *W = look->W; /* of what is held no row is needed any more */
  double square = 0.0;
  int32_t count = 0;
  for (int32_t i = 0; i < n + s->n_rows; i++)
    if (!look->is_held[i] && __builtin_fabs(look->multiplier[i]) > least)
      square += row_in_basis(look, n, i, used, W + (int64_t)count++ * n);
  for (int32_t e = 0; e < s->n_edges; e++) {
    const int32_t rows = rows_across(s, look->edges + e, program, W + (int64_t)count * n);
    for (int32_t k = 0; k < rows; k++, count++) {
      double *row = W + (int64_t)count * n;
      square += rk_dot(n, row, row);
      rk_into_basis(&look->basis, 0, used, row);
    }
  }
  look->pressed = rk_reduce_rows(&look->basis, used, count, SMALL * rk_sqrt(square), W, look->rows);
  form_directions(look, n, used, used + look->pressed);
}

void rk_lagrangian(const rk_poses *s, const rk_look *look, const rk_pose *pose, double *out) {
  rk_cost(s, pose, 0, out);
  for (int32_t i = 0; i < s->n; i++) out[i] += look->multiplier[i];
  for (int32_t e = 0; e < s->n_edges; e++) rk_follow_edge(s, pose, look->edges + e, 0, out);
  for (int32_t i = 0; i < s->n_rows; i++)
    if (look->multiplier[s->n + i] != 0.0)
      rk_add_scaled(s->n, look->multiplier[s->n + i], pose->J + (int64_t)i * s->n, out);
}
