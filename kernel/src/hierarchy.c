/* Strict priorities inside bounds, level by level. Twin of solvers/hierarchy.py, which explains it; the basis of the
   motions that are left is a product of reflections here and never formed. */
#include "robokin_hierarchy.h"

#include "projection.h"
#include "rk_cholesky.h"
#include "rk_jacobi_svd.h"
#include "rk_reflectors.h"
#include "robokin_qp.h"

static const double NONE = 1e-12, USELESS = 1e-6, EASE = 1e-8, INSIDE = 1e-9, TOUCHED = 1e-12;
static const double ROUNDING[2] = {1e-14, 1e-11}, DEFINITE = 1e-12, SEEN = 1e-13;

/* Of `all` unknowns n can move, `index`; basis: of theirs, the first r directions are used up. W[rows][n], order[rows],
   A[rows][rows], V[rows][rows], beta[rows]: of one level. target, weight, point [n + rows]: in coordinates of its
   singular vectors, then of the directions that it leaves, then of slacks. */
typedef struct descent {
  int32_t all, n, r, n_kept;
  const double *lo, *hi;
  const rk_levels *levels;
  double *x, *trial, *step;
  int32_t *index, *order, *kept;
  rk_reflectors basis;
  int32_t n_turned; /* reflectors that `unit` [n][n], the unit vectors in the basis, has had */
  double *unit;
  double *W, *A, *V, *beta, *target, *weight, *point, *H, *L, *slope;
  double *kept_lower, *kept_upper; /* [n_kept] of rows that stay inside */
  double *program;                 /* workspace of one */
} descent;

static const double *row_of(const descent *s, int32_t row) { return s->levels->J + (int64_t)row * s->all; }

static int is_equation(const descent *s, int32_t row) { return s->levels->lower[row] == s->levels->upper[row]; }

static double length_of(const descent *s, const double *row) { return rk_sqrt(rk_dot(s->all, row, row)); }

/* What lengths of x are small against. */
static double size_of(const descent *s, const double *x) {
  const double length = rk_sqrt(rk_dot(s->all, x, x));
  return length > 1.0 ? length : 1.0;
}

/* What a row's value lacks. */
static double lacking(const descent *s, const double *row, const double *x, double lower, double upper) {
  const double value = rk_dot(s->all, row, x);
  return rk_clamp(value, lower, upper) - value;
}

static int is_far(const descent *s, const double *row, const double *x, double lower, double upper, double share) {
  const double out = __builtin_fabs(lacking(s, row, x, lower, upper));
  return out > 0.0 && out > share * length_of(s, row) * size_of(s, x);
}

/* Whether `trial` keeps the bounds, the rows that are kept and the bands among some rows, but for rounding. */
static int is_inside(const descent *s, int32_t first, int32_t last) {
  const double *x = s->trial;
  double largest = 1.0;
  for (int32_t i = 0; i < s->all; i++)
    if (__builtin_fabs(x[i]) > largest) largest = __builtin_fabs(x[i]);
  const double slop = TOUCHED * largest;
  for (int32_t i = 0; i < s->all; i++)
    if (x[i] < s->lo[i] - slop || x[i] > s->hi[i] + slop) return 0;
  for (int32_t k = 0; k < s->n_kept; k++)
    if (is_far(s, row_of(s, s->kept[k]), x, s->kept_lower[k], s->kept_upper[k], TOUCHED)) return 0;
  for (int32_t row = first; row < last; row++)
    if (!is_equation(s, row) &&
        is_far(s, row_of(s, row), x, s->levels->lower[row], s->levels->upper[row], TOUCHED))
      return 0;
  return 1;
}

static void gather(const descent *s, const double *full, double *out) {
  for (int32_t i = 0; i < s->n; i++) out[i] = full[s->index[i]];
}

/* trial = x moved by coordinates[n] in the basis of the first `count` reflectors; they are overwritten. */
static void move(descent *s, int32_t count, double *coordinates) {
  rk_out_of_basis(&s->basis, count, coordinates);
  for (int32_t i = 0; i < s->all; i++) s->trial[i] = s->x[i];
  for (int32_t i = 0; i < s->n; i++) s->trial[s->index[i]] += coordinates[i];
}

/* trial = x moved by values of `rank` singular vectors and of the directions left behind them. */
static void move_along(descent *s, int32_t rank, const double *values) {
  for (int32_t i = 0; i < s->r; i++) s->step[i] = 0.0;
  for (int32_t i = s->r; i < s->n; i++) s->step[i] = i < s->r + rank ? 0.0 : values[i - s->r];
  for (int32_t i = 0; i < rank; i++) rk_add_scaled(rank, values[i], s->V + (int64_t)i * rank, s->step + s->r);
  move(s, s->r + rank, s->step);
}

/* out[n - r] = row[n] of the basis in the coordinates of move_along. */
static void rotated(const descent *s, int32_t rank, const double *row, double *out) {
  for (int32_t i = 0; i < rank; i++) out[i] = rk_dot(rank, s->V + (int64_t)i * rank, row + s->r);
  for (int32_t i = s->r + rank; i < s->n; i++) out[i - s->r] = row[i];
}

/* The same of a row that is not in the basis; it is overwritten. */
static void along(const descent *s, int32_t rank, double *row, double *out) {
  rk_into_basis(&s->basis, 0, s->r + rank, row);
  rotated(s, rank, row, out);
}

static void turn_unit_vectors(descent *s, int32_t count) {
  const int64_t n = s->n;
  if (s->n_turned == 0)
    for (int64_t i = 0; i < n * n; i++) s->unit[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
  for (int32_t i = 0; i < n; i++) rk_into_basis(&s->basis, s->n_turned, count, s->unit + i * n);
  s->n_turned = count;
}

static void accept(descent *s) {
  for (int32_t i = 0; i < s->all; i++) s->x[i] = rk_clamp(s->trial[i], s->lo[i], s->hi[i]);
}

/* The normal of one more constraint of a program, whose sides are counted from `value` on. */
static double *constrain(rk_projection *p, double value, double lower, double upper) {
  p->low[p->p] = lower - value, p->high[p->p] = upper - value;
  return p->N + (int64_t)p->p++ * p->n;
}

static double *constrain_row(const descent *s, rk_projection *p, int32_t rank, int32_t row, double lower,
                             double upper) {
  double *normal = constrain(p, rk_dot(s->all, row_of(s, row), s->x), lower, upper);
  gather(s, row_of(s, row), s->step);
  along(s, rank, s->step, normal);
  return normal;
}

/* A program of n - r unknowns and slacks, with the bounds and the kept rows as constraints. */
static rk_projection begin(descent *s, int32_t rank, int32_t slacks) {
  const int64_t unknowns = s->n - s->r + slacks;
  rk_projection p = rk_projection_lay_out(unknowns, s->n + s->n_kept + slacks, s->program);
  for (int64_t i = 0; i < unknowns * p.p; i++) p.N[i] = 0.0;
  p.p = 0;
  turn_unit_vectors(s, s->r + rank);
  for (int32_t i = 0; i < s->n; i++) {
    const int32_t k = s->index[i];
    if (s->lo[k] == -__builtin_inf() && s->hi[k] == __builtin_inf()) continue;
    rotated(s, rank, s->unit + (int64_t)i * s->n, constrain(&p, s->x[k], s->lo[k], s->hi[k]));
  }
  for (int32_t k = 0; k < s->n_kept; k++)
    constrain_row(s, &p, rank, s->kept[k], s->kept_lower[k], s->kept_upper[k]);
  return p;
}

/* To the bounds' own rounding first, since x is moved into them. */
static int solve(const descent *s, rk_projection *p) {
  double largest = 1.0;
  for (int32_t i = 0; i < s->all; i++)
    if (__builtin_fabs(s->x[i]) > largest) largest = __builtin_fabs(s->x[i]);
  for (int k = 0; k < 2; k++) {
    p->tolerance = ROUNDING[k] * largest;
    if (rk_project_from_zero(p) == RK_QP_OPTIMAL) return 1;
  }
  return 0;
}

/* point: the minimum of the weighted distance to `target` and of the violation of the bands, inside the bounds. */
static void meet_inside(descent *s, int32_t rank, int32_t first, int32_t last) {
  const int32_t f = s->n - s->r;
  int32_t slacks = 0;
  for (int32_t row = first; row < last; row++) slacks += !is_equation(s, row);
  rk_projection p = begin(s, rank, slacks);
  for (int32_t row = first, slack = f; row < last; row++)
    if (!is_equation(s, row)) {
      constrain_row(s, &p, rank, row, s->levels->lower[row], s->levels->upper[row])[slack++] = -1.0;
    }
  double largest = slacks ? 1.0 : 0.0;
  for (int32_t i = 0; i < f; i++) largest = s->weight[i] > largest ? s->weight[i] : largest;
  const double least = EASE * (largest > 0.0 ? largest : 1.0);
  int eased = 0;
  for (int32_t i = 0; i < p.n; i++) {
    const double weight = i < f ? s->weight[i] : 1.0, whole = rk_sqrt(weight > least ? weight : least);
    eased |= weight < least;
    for (int32_t c = 0; c < p.p; c++) p.N[(int64_t)c * p.n + i] /= whole;
    p.y0[i] = i < f ? weight * s->target[i] / whole : 0.0;
    s->point[i] = 0.0;
  }
  if (!solve(s, &p)) return;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < f; i++) {
      const double weight = s->weight[i], whole = rk_sqrt(weight > least ? weight : least);
      s->point[i] = p.y[i] / whole;
      if (weight < least) p.y0[i] = (weight * s->target[i] + (least - weight) * s->point[i]) / whole;
    }
    if (pass || !eased || (rk_project_again(&p) != RK_QP_OPTIMAL && !solve(s, &p))) return;
  }
}

/* From now on: bands that are met stay so, what others lack stays as it is. */
static void keep(descent *s, int32_t first, int32_t last) {
  int32_t violated = 0;
  double square = 0.0;
  for (int32_t row = first; row < last; row++) {
    if (is_equation(s, row)) continue;
    const double *J = row_of(s, row), lower = s->levels->lower[row], upper = s->levels->upper[row];
    if (is_far(s, J, s->x, lower, upper, INSIDE)) {
      double *own = s->W + (int64_t)violated++ * s->n;
      gather(s, J, own);
      rk_into_basis(&s->basis, 0, s->r, own);
      square += rk_dot(s->all, J, J);
    } else {
      const double value = rk_dot(s->all, J, s->x);
      s->kept_lower[s->n_kept] = value < lower ? value : lower;
      s->kept_upper[s->n_kept] = value > upper ? value : upper;
      s->kept[s->n_kept++] = row;
    }
  }
  s->r += rk_reduce_rows(&s->basis, s->r, violated, NONE * rk_sqrt(square), s->W, s->order);
}

/* Singular values of the equations in what is left, and where they would like x to be; returns their rank. */
static int32_t aim(descent *s, int32_t first, int32_t last, double damping) {
  const int32_t n = s->n, r = s->r, f = n - r;
  int32_t m = 0;
  double square = 0.0;
  for (int32_t row = first; row < last; row++) {
    if (!is_equation(s, row)) continue;
    double *own = s->W + (int64_t)m * n;
    gather(s, row_of(s, row), own);
    rk_into_basis(&s->basis, 0, r, own);
    square += rk_dot(s->all, row_of(s, row), row_of(s, row));
    s->beta[m++] = s->levels->lower[row] - rk_dot(s->all, row_of(s, row), s->x);
  }
  const double size = rk_sqrt(square);
  const int32_t rank = rk_reduce_rows(&s->basis, r, m, NONE * size, s->W, s->order);
  for (int32_t k = 0; k < rank; k++)
    for (int32_t i = 0; i < m; i++) s->A[(int64_t)k * m + i] = s->W[(int64_t)i * n + r + k];
  rk_orthogonalise(rank, m, s->A, s->V);
  for (int32_t i = 0; i < f; i++) s->point[i] = 0.0;
  if (damping > 0.0) {
    gather(s, s->x, s->step);
    along(s, rank, s->step, s->point);
  }
  for (int32_t i = 0; i < f; i++) {
    double squared = 0.0, wanted = -damping * s->point[i];
    if (i < rank) {
      const double *own = s->A + (int64_t)i * m;
      squared = rk_dot(m, own, own);
      if (rk_sqrt(squared) > USELESS * size) wanted += rk_dot(m, own, s->beta);
    }
    s->weight[i] = squared + damping;
    s->target[i] = s->weight[i] > 0.0 ? wanted / s->weight[i] : 0.0;
  }
  return rank;
}

static void meet(descent *s, int32_t first, int32_t last, double damping) {
  if (s->r == s->n || first == last) return;
  const int32_t rank = aim(s, first, last, damping);
  move_along(s, rank, s->target);
  if (!is_inside(s, first, last)) {
    meet_inside(s, rank, first, last);
    move_along(s, rank, s->point);
  }
  accept(s);
  s->r += rank;
  keep(s, first, last);
}

/* The reflection k of the symmetric H[n][n] from both sides, lower triangle, entries from k on. */
static void reflect_both(const descent *s, int32_t k, double *H, double *w) {
  const int64_t n = s->n;
  const double *v = s->basis.v + (int64_t)k * n, factor = s->basis.factor[k];
  for (int32_t i = k; i < n; i++) w[i] = 0.0;
  for (int32_t i = k; i < n; i++) {
    const double *row = H + i * n;
    w[i] += rk_dot(i - k + 1, row + k, v + k);
    rk_add_scaled(i - k, v[i], row + k, w + k);
  }
  const double along_v = rk_dot((int32_t)n - k, w + k, v + k);
  for (int32_t i = k; i < n; i++) w[i] = factor * (w[i] - 0.5 * factor * along_v * v[i]);
  for (int32_t i = k; i < n; i++) {
    double *row = H + i * n;
    const double vi = v[i], wi = w[i];
    for (int32_t j = k; j <= i; j++) row[j] -= vi * w[j] + wi * v[j];
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
  if (!definite || least * least < DEFINITE * largest || least * least < rounding) {
    double raised = DEFINITE * (trace > 0.0 ? trace : 0.0) + rounding;
    if (raised == 0.0) raised = 1.0;
    gather(s, s->x, s->step);
    rk_into_basis(&s->basis, 0, s->r, s->step);
    for (int64_t i = 0; i < f; i++) {
      s->H[i * f + i] += raised;
      slope[i] += raised * s->step[s->r + i];
    }
    definite = rk_cholesky(f, s->H, L);
  }
  return definite;
}

/* The minimum of 1/2 x'Hx + g'x in what freedom is left. */
static int minimise(descent *s, const double *H, const double *g) {
  const int32_t n = s->n, f = n - s->r;
  if (f == 0) return 1;
  for (int32_t i = 0; i < n; i++) {
    const int64_t row = (int64_t)s->index[i] * s->all;
    for (int32_t j = 0; j <= i; j++) s->H[(int64_t)i * n + j] = H[row + s->index[j]];
  }
  for (int32_t i = 0; i < s->all; i++) s->trial[i] = g[i]; /* the slope g + H x */
  for (int64_t i = 0; i < s->all; i++) {
    s->trial[i] += rk_dot((int32_t)i + 1, H + i * s->all, s->x);
    rk_add_scaled((int32_t)i, s->x[i], H + i * s->all, s->trial);
  }
  gather(s, s->trial, s->slope);
  rk_into_basis(&s->basis, 0, s->r, s->slope);
  for (int32_t k = 0; k < s->r; k++) reflect_both(s, k, s->H, s->step);
  for (int32_t i = 0; i < f; i++) /* the block that is left, to the front */
    for (int32_t j = 0; j <= i; j++) s->H[(int64_t)i * f + j] = s->H[(int64_t)(s->r + i) * n + s->r + j];
  double trace = 0.0;
  for (int64_t i = 0; i < s->all; i++) trace += H[i * s->all + i];
  if (!factor_what_is_left(s, f, SEEN * trace, s->slope + s->r)) return 0;
  for (int32_t i = 0; i < f; i++) s->point[i] = -s->slope[s->r + i];
  rk_solve_lower(f, s->L, s->point);
  for (int32_t i = 0; i < f; i++) s->target[i] = s->point[i];
  rk_solve_lower_transposed(f, s->L, s->point);
  move_along(s, 0, s->point);
  if (!is_inside(s, 0, 0)) {
    rk_projection p = begin(s, 0, 0);
    for (int32_t c = 0; c < p.p; c++) rk_solve_lower(f, s->L, p.N + (int64_t)c * f);
    for (int32_t i = 0; i < f; i++) p.y0[i] = s->target[i];
    if (!solve(s, &p)) return 1; /* staying keeps all that is above */
    rk_solve_lower_transposed(f, s->L, p.y);
    move_along(s, 0, p.y);
  }
  accept(s);
  return 1;
}

static int64_t largest_program(int64_t n, int64_t m) { return rk_projection_workspace(n + m, n + m); }

int64_t rk_hierarchy_workspace(int32_t n, int32_t m) {
  const int64_t a = n, b = m;
  return 4 * a * a + 10 * a + a * b + 2 * b * b + 8 * b + largest_program(a, b);
}

int32_t rk_hierarchy(int32_t n, const double *lo, const double *hi, const rk_levels *levels, const double *H,
                     const double *g, double *work, double *x, double *points, double *residuals, int32_t *freedom) {
  const int64_t a = n, b = levels->start[levels->count];
  descent s = {.all = n, .lo = lo, .hi = hi, .levels = levels, .x = x};
  s.basis.v = work, work += a * a;
  s.basis.factor = work, work += a;
  s.H = work, work += a * a;
  s.L = work, work += a * a;
  s.unit = work, work += a * a;
  s.trial = work, work += a;
  s.step = work, work += a;
  s.slope = work, work += a;
  s.index = (int32_t *)work, work += a;
  s.target = work, work += a + b;
  s.weight = work, work += a + b;
  s.point = work, work += a + b;
  s.W = work, work += a * b;
  s.A = work, work += b * b;
  s.V = work, work += b * b;
  s.beta = work, work += b;
  s.order = (int32_t *)work, work += b;
  s.kept = (int32_t *)work, work += b;
  s.kept_lower = work, work += b;
  s.kept_upper = work, work += b;
  s.program = work;
  for (int32_t i = 0; i < n; i++) {
    x[i] = rk_clamp(x[i], lo[i], hi[i]);
    if (lo[i] < hi[i]) s.index[s.n++] = i;
  }
  s.basis.n = s.n;
  freedom[0] = s.n;
  for (int32_t k = 0; k < levels->count; k++) {
    meet(&s, levels->start[k], levels->start[k + 1], levels->damping[k]);
    freedom[k + 1] = s.n - s.r;
    for (int64_t i = 0; points && i < a; i++) points[k * a + i] = x[i];
  }
  const int definite = minimise(&s, H, g);
  for (int64_t i = 0; points && i < a; i++) points[levels->count * a + i] = x[i];
  for (int32_t row = 0; row < b; row++)
    residuals[row] = lacking(&s, row_of(&s, row), x, levels->lower[row], levels->upper[row]);
  return definite;
}
