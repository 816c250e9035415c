/* Strict priorities inside bounds, level by level. Twin of solvers/qp/hierarchy.py, which explains it; the basis of the
   motions that are left is a product of reflections here, and formed only where many bounds need it. */
#include "robokin_hierarchy.h"

#include "math/rk_cholesky.h"
#include "math/rk_jacobi_svd.h"
#include "math/rk_symmetric_eigen.h"
#include "qp/level_program.h"

static const double ROW_TOLERANCE = 1e-9, RANK_TOLERANCE = 1e-6, REGULARIZATION = 1e-8, FEASIBILITY_TOLERANCE = 1e-9;
static const double PIVOT_TOLERANCE = 1e-12, DIAGONAL_SHIFT = 1e-8, PIVOT_NOISE = 1e-13;
enum { HELD = -1 }; /* a kept row that is held at its side */
enum { FEW = 8 };   /* columns that are turned sooner as they are */

/* A weight of a level below it is taken for as much, so that its programs have one minimum. */
static double least_weight(const descent *s) { return REGULARIZATION * (s->largest > 0.0 ? s->largest : 1.0); }

/* point: about the minimum of the weighted distance to `target` and of the violation of the bands, inside the bounds and
   rows that do not wait. Returns the program, with what is active there; null where x can only stay. */
static rk_projection *meet_inside(descent *s, int32_t rank, int32_t first, int32_t last) {
  const int32_t f = s->n - s->r;
  int32_t slacks = 0, bands = 0;
  for (int32_t row = first; row < last; row++) slacks += is_band(s, row), bands += !is_equation(s, row);
  rk_projection *p = begin(s, rank, slacks);
  for (int32_t row = first, slack = f; row < last; row++)
    if (is_band(s, row)) {
      s->wall[p->p] = row;
      constrain_row(s, p, rank, row, s->levels->lower[row], s->levels->upper[row])[slack++] = -1.0;
    }
  s->largest = bands ? 1.0 : 0.0;
  for (int32_t i = 0; i < f; i++) s->largest = rk_max(s->weight[i], s->largest);
  for (int32_t i = 0; i < p->n; i++) {
    s->scale[i] = 1.0 / rk_sqrt(rk_max(i < f ? s->weight[i] : 1.0, least_weight(s)));
    p->y0[i] = i < f ? s->weight[i] * s->target[i] * s->scale[i] : 0.0;
  }
  for (int32_t c = s->carried; c < p->p; c++)
    for (int32_t i = 0; i < p->n; i++) p->N[(int64_t)c * p->n + i] *= s->scale[i];
  for (int32_t i = f, c = s->n_walls; i < p->n; i++, c++) p->y[i] = -rk_clamp(0.0, p->low[c], p->high[c]) / s->scale[i];
  const int found = solve_on(s, p);
  for (int32_t i = 0; i < f; i++) s->point[i] = found ? p->y[i] * s->scale[i] : 0.0;
  return found ? p : 0;
}

/* point: from about the minimum of a program to it. */
static void finish(descent *s, rk_projection *p, int32_t rank, double damping) {
  const int32_t f = s->n - s->r;
  int eased = 0;
  for (int32_t i = 0; i < f; i++) {
    const double rest = rk_max(least_weight(s) - s->weight[i], 0.0);
    eased |= rest > 0.0;
    p->y0[i] += rest * s->point[i] * s->scale[i];
  }
  if (eased && rk_project_again(p) != RK_QP_OPTIMAL && !solve_again(s, p)) {
    p->k = s->known = 0;
    return;
  }
  for (int32_t i = 0; i < f; i++) s->point[i] = p->y[i] * s->scale[i];
  if (damping == 0.0 && rank < f && !is_fixed(s, p, rank)) move_least(s, p, rank);
}

/* x is at the bound, or the kept row where it is, from now on. Returns 0 for a bound that rounding leaves x away from. */
static int hold_one(descent *s, int32_t constraint, int at_low) {
  if (constraint >= s->n_bounded) {
    s->kept[constraint - s->n_bounded] = HELD;
    return 1;
  }
  const int32_t i = s->bounded[constraint], k = s->index[i];
  const double side = at_low ? s->lo[k] : s->hi[k];
  if (!(__builtin_fabs(s->x[k] - side) <= RK_ROUNDING[1] * largest_of(s, s->x))) return 0;
  s->x[k] = side;
  s->is_held[i] = 1;
  return 1;
}

/* Walls and kept rows that the minimum of a level presses on: what is as good for the level is at them too
   (complementarity), so they are held there. x is at the minimum, found by the program `p`, of which the level sees the
   first `rank` directions: these are used up, and the normals have the rest of each row. */
static void hold(descent *s, const rk_projection *p, int32_t rank) {
  int32_t added = 0, count_left = 0;
  for (int32_t j = 0; j < p->k; j++) {
    const int32_t c = p->number[j];
    if (c >= s->n_walls || !presses(s, p, j) || !hold_one(s, s->wall[c], p->sign[j] > 0.0)) continue;
    const double *normal = p->N + (int64_t)c * p->n + rank;
    double *row = s->W + (int64_t)added++ * s->n + s->r;
    for (int32_t i = 0; i < s->n - s->r; i++) row[i] = normal[i] / s->scale[rank + i];
  }
  for (int32_t bound = 0; bound < s->n_bounded; bound++)
    if (!s->is_held[s->bounded[bound]]) s->bounded[count_left++] = s->bounded[bound];
  s->n_bounded = count_left, count_left = 0;
  for (int32_t k = 0; k < s->n_kept; k++) {
    if (s->kept[k] == HELD) continue;
    s->kept_lower[count_left] = s->kept_lower[k], s->kept_upper[count_left] = s->kept_upper[k];
    s->kept[count_left++] = s->kept[k];
  }
  s->n_kept = count_left;
  s->r += rk_reduce_rows(&s->basis, s->r, added, RK_NONE, s->W, s->order);
}

/* From now on: bands that are met stay so, what others lack stays as it is. A short row lacks what regularization leaves of
   it, which is little against the longest. */
static void keep(descent *s, int32_t first, int32_t last) {
  int32_t violated = 0;
  double square = 0.0, longest = 0.0;
  for (int32_t row = first; row < last; row++)
    if (!is_equation(s, row)) longest = rk_max(longest, length_of(s, row_of(s, row)));
  const double little = FEASIBILITY_TOLERANCE * longest * size_of(s, s->x);
  for (int32_t row = first; row < last; row++) {
    if (!is_band(s, row)) continue;
    const double *J = row_of(s, row), lower = s->levels->lower[row], upper = s->levels->upper[row];
    if (__builtin_fabs(residual(s, J, s->x, lower, upper)) > little) {
      rk_copy(s->W + (int64_t)violated++ * s->n, turned(s, row, s->r), s->n);
      square += rk_dot(s->all, J, J);
    } else {
      keep_row(s, row);
    }
  }
  s->r += rk_reduce_rows(&s->basis, s->r, violated, ROW_TOLERANCE * rk_sqrt(square), s->W, s->order);
}

/* The columns A[rank][m] of a level become orthogonal, V with them: from the eigenvectors of their products, which are
   about the same, little is left to turn. */
static void make_orthogonal(descent *s, int32_t rank, int32_t m) {
  const int64_t many = rank;
  double *near = s->other_program, *old = near + many * many, *work = old + many * m;
  if (rank <= FEW) {
    rk_orthogonalise(rank, m, s->A, s->V, s->weight);
    return;
  }
  for (int64_t i = 0; i < many; i++)
    for (int64_t k = 0; k <= i; k++) s->V[i * many + k] = s->V[k * many + i] = rk_dot(m, s->A + i * m, s->A + k * m);
  rk_symmetric_eigen(rank, s->V, s->weight, near, work);
  rk_orthogonalise_again(rank, m, near, old, s->A, s->V, s->weight);
}

/* Singular values of the equations in what is left, and where they would like x to be; returns their rank. */
static int32_t aim(descent *s, int32_t first, int32_t last, double damping) {
  const int32_t n = s->n, r = s->r, f = n - r;
  int32_t m = 0;
  double square = 0.0;
  for (int32_t row = first; row < last; row++) {
    if (!is_equation(s, row)) continue;
    rk_copy(s->W + (int64_t)m * n, turned(s, row, r), n);
    square += rk_dot(s->all, row_of(s, row), row_of(s, row));
    s->beta[m++] = s->levels->lower[row] - rk_dot(s->all, row_of(s, row), s->x);
  }
  const double size = rk_sqrt(square);
  const int32_t rank = rk_reduce_rows(&s->basis, r, m, ROW_TOLERANCE * size, s->W, s->order);
  for (int32_t k = 0; k < rank; k++)
    for (int32_t i = 0; i < m; i++) s->A[(int64_t)k * m + i] = s->W[(int64_t)i * n + r + k];
  make_orthogonal(s, rank, m);
  for (int32_t i = 0; i < f; i++) s->point[i] = 0.0;
  if (damping > 0.0) {
    gather(s, s->x, s->step);
    rk_into_basis(&s->basis, 0, r + rank, s->step);
    rotated(s, rank, s->step, s->point);
  }
  for (int32_t i = 0; i < f; i++) {
    double squared = 0.0, wanted = -damping * s->point[i];
    if (i < rank) {
      const double *own = s->A + (int64_t)i * m;
      squared = rk_dot(m, own, own);
      if (rk_sqrt(squared) > RANK_TOLERANCE * size) wanted += rk_dot(m, own, s->beta);
    }
    s->weight[i] = squared + damping;
    s->target[i] = s->weight[i] > 0.0 ? wanted / s->weight[i] : 0.0;
  }
  return rank;
}

static void meet(descent *s, int32_t first, int32_t last, double damping) {
  let_wait(s, first, last);
  for (int32_t i = s->n; i < s->movable; i++)
    if (is_needed(s, s->index[i], first, last, damping)) include(s, i);
  see(s, last);
  if (s->r == s->n || first == last) return;
  const int32_t rank = aim(s, first, last, damping);
  rk_projection *p = 0;
  int is_out = 0; /* the target; then it stays so */
  for (int is_met = 0; !is_met; p = is_met ? p : 0) {
    wake_all_of_many(s);
    if (!is_out) move_along(s, rank, s->target), is_out = !is_inside(s, first, last);
    if (is_out) {
      wake_walls(s);
      p = meet_inside(s, rank, first, last);
      move_along(s, rank, s->point);
      if (wake(s, first, last, damping)) continue;
      if (p) finish(s, p, rank, damping);
      move_along(s, rank, s->point);
    }
    is_met = !wake(s, first, last, damping);
  }
  accept(s);
  s->r += rank;
  if (damping == 0.0 && p) hold(s, p, rank); /* else what is as good may be longer */
  keep(s, first, last);
}

/* y += H x, symmetric; H is read in its lower triangle, row i from entry first[i] on, before which it is 0. */
static void add_product(int32_t n, const double *H, const int32_t *first, const double *x, double *y) {
  for (int32_t i = 0; i < n; i++) {
    const double *row = H + (int64_t)i * n + first[i];
    y[i] += first[i] == i ? row[0] * x[i] : rk_dot(i - first[i] + 1, row, x + first[i]);
    rk_add_scaled(i - first[i], x[i], row, y + first[i]);
  }
}

/* The factor of H[f][f] with its slope[f], raised where H hardly sees a motion, or no more than by `rounding`: what it
   does not see is held near 0. */
static int factor_what_is_left(descent *s, int32_t f, double rounding, double *slope) {
  double trace = 0.0, largest = 0.0, least = __builtin_inf();
  for (int64_t i = 0; i < f; i++) {
    const double own = s->H[i * f + i];
    trace += own;
    largest = own > largest ? own : largest;
  }
  double *L = s->L;
  int definite = rk_cholesky(f, s->H, L);
  for (int64_t i = 0; definite && i < f; i++) least = L[i * f + i] < least ? L[i * f + i] : least;
  if (!definite || least * least < PIVOT_TOLERANCE * largest || least * least < rounding) {
    double raised = DIAGONAL_SHIFT * (trace > 0.0 ? trace : 0.0) + rounding;
    if (raised == 0.0) raised = 1.0;
    for (int64_t i = 0; i < f; i++) {
      s->H[i * f + i] += raised;
      slope[i] += raised * rk_dot(s->all, s->Z + i * s->all, s->x);
    }
    definite = rk_cholesky(f, s->H, L);
  }
  return definite;
}

/* The minimum of 1/2 x'Hx + g'x in what freedom is left. */
static int minimise(descent *s, const double *H, const double *g) {
  const int32_t all = s->all;
  while (s->n < s->movable) include(s, s->n);
  let_wait(s, 0, 0);
  const int32_t f = s->n - s->r;
  if (f == 0) return 1;
  form_directions(s);
  double trace = 0.0, *slope = s->slope;
  for (int64_t i = 0; i < all; i++) {
    s->trial[i] = g[i];
    s->order[i] = 0;
    while (s->order[i] < i && H[i * all + s->order[i]] == 0.0) s->order[i]++;
    trace += H[i * all + i];
  }
  add_product(all, H, s->order, s->x, s->trial);
  for (int64_t i = 0; i < f; i++) slope[i] = rk_dot(all, s->Z + i * all, s->trial);
  for (int64_t i = 0; i < f; i++) {
    for (int32_t at = 0; at < all; at++) s->step[at] = 0.0;
    add_product(all, H, s->order, s->Z + i * all, s->step);
    for (int64_t j = 0; j <= i; j++) s->H[i * f + j] = rk_dot(all, s->Z + j * all, s->step);
  }
  if (!factor_what_is_left(s, f, PIVOT_NOISE * trace, slope)) return 0;
  for (int32_t i = 0; i < f; i++) s->point[i] = -slope[i];
  rk_solve_lower(f, s->L, s->point);
  for (int32_t i = 0; i < f; i++) s->target[i] = s->point[i];
  rk_solve_lower_transposed(f, s->L, s->point);
  do {
    move_along(s, 0, s->point);
    if (is_inside(s, 0, 0)) continue;
    wake_walls(s);
    rk_projection *p = begin(s, 0, 0);
    for (int32_t c = s->carried; c < p->p; c++) rk_solve_lower(f, s->L, p->N + (int64_t)c * f);
    for (int32_t i = 0; i < f; i++) p->y0[i] = s->target[i];
    if (!solve_on(s, p)) return 1; /* staying keeps all that is above */
    rk_copy(s->slope, p->y, f);
    rk_solve_lower_transposed(f, s->L, s->slope);
    move_along(s, 0, s->slope);
  } while (wake(s, s->seen, s->seen, 0.0));
  accept(s);
  return 1;
}

static int64_t largest_program(int64_t n, int64_t m) { return rk_projection_workspace(n + m, n + m); }

int64_t rk_hierarchy_workspace(int32_t n, int32_t m) {
  const int64_t a = n, b = m;
  return 5 * a * a + 19 * a + 2 * a * b + 2 * b * b + 12 * b + 2 * largest_program(a, b);
}

int32_t rk_hierarchy(int32_t n, const double *lo, const double *hi, const rk_levels *levels, const double *H,
                     const double *g, double *work, double *x, double *points, double *residuals, int32_t *freedom) {
  const int64_t a = n, b = levels->start[levels->count];
  descent s = {.all = n, .lo = lo, .hi = hi, .levels = levels, .x = x};
  s.basis.v = work, work += a * a;
  s.basis.factor = work, work += a;
  s.basis.end = (int32_t *)work, work += a;
  s.basis.stride = n;
  s.H = work, work += a * a;
  s.L = work, work += a * a;
  s.trial = work, work += a;
  s.step = work, work += a;
  s.slope = work, work += a;
  s.index = (int32_t *)work, work += a;
  s.target = work, work += a + b;
  s.weight = work, work += a + b;
  s.point = work, work += a + b;
  s.bounded = (int32_t *)work, work += a;
  s.is_held = (int32_t *)work, work += a;
  s.scale = work, work += a + b;
  s.W = s.Z = work, work += a * (a + b);
  s.A = work, work += b * b;
  s.V = work, work += b * b;
  s.beta = work, work += b;
  s.order = (int32_t *)work, s.wall = s.order + a + b, work += a + b;
  s.kept = (int32_t *)work, s.waits = s.kept + b, work += b;
  s.kept_lower = work, work += b;
  s.kept_upper = work, work += b;
  s.turned_by = (int32_t *)work, work += a + b;
  s.active = (int32_t *)work, work += a + b;
  s.wall_waits = (int32_t *)work, work += a + b;
  s.turned = work, work += a * (a + b);
  s.program = work, work += largest_program(a, b);
  s.other_program = work;
  for (int32_t i = 0; i < n; i++) {
    x[i] = rk_clamp(x[i], lo[i], hi[i]);
    if (lo[i] < hi[i]) s.index[s.movable++] = i;
  }
  freedom[0] = s.movable;
  for (int32_t k = 0; k < levels->count; k++) {
    meet(&s, levels->start[k], levels->start[k + 1], levels->damping[k]);
    freedom[k + 1] = s.movable - s.r;
    for (int64_t i = 0; points && i < a; i++) points[k * a + i] = x[i];
  }
  const int definite = !H || minimise(&s, H, g);
  for (int64_t i = 0; points && i < a; i++) points[levels->count * a + i] = x[i];
  for (int32_t row = 0; row < b; row++)
    residuals[row] = residual(&s, row_of(&s, row), x, levels->lower[row], levels->upper[row]);
  return definite;
}
