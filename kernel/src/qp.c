/* The dual active-set method of Goldfarb and Idnani (Mathematical Programming 27, 1983) in coordinates where H is the
   identity. Twin of solvers/qp.py, which explains it; the factors are updated by rotations here. */
#include "robokin_qp.h"

#include "rk_math.h"

static const double VIOLATED = 1e-12, DEPENDENT = 1e-12, REDUNDANT = 1e3;

enum { IDLE = 0, ACTIVE = 1, SETTLED = 2 }; /* flags; SETTLED: redundant */

/* p constraints with normals N[p][n]; k active ones, with sign-turned normals Q1 R. */
typedef struct projection {
  int32_t n, p, k, iterations, limit;
  const double *low, *high;
  double tolerance;
  double *N, *length;           /* [p][n], [p] */
  double *Q;                    /* [n][n], the rows are the orthonormal basis */
  double *R;                    /* [n][n] upper triangular, k columns */
  double *y0, *y, *d, *r, *u;   /* [n] */
  double *sign, *number;        /* [n] of the active ones */
  int32_t *flag;                /* [p] */
} projection;

static double dot(int32_t n, const double *a, const double *b) {
  double sum = 0.0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static double noise(const projection *s, int32_t c, double bound) {
  const double *normal = s->N + (int64_t)c * s->n;
  double size = 0.0;
  for (int32_t i = 0; i < s->n; i++) size += __builtin_fabs(normal[i] * s->y[i]);
  bound = __builtin_fabs(bound);
  return VIOLATED * (size > bound ? size : bound) + s->tolerance;
}

/* Rotate rows a and b of Q, and of R from column `first` on. */
static void rotate(projection *s, int32_t a, int32_t b, int32_t first, double cosine, double sine) {
  double *qa = s->Q + (int64_t)a * s->n, *qb = s->Q + (int64_t)b * s->n;
  for (int32_t i = 0; i < s->n; i++) {
    const double x = qa[i], z = qb[i];
    qa[i] = cosine * x + sine * z;
    qb[i] = cosine * z - sine * x;
  }
  double *ra = s->R + (int64_t)a * s->n, *rb = s->R + (int64_t)b * s->n;
  for (int32_t j = first; j < s->k; j++) {
    const double x = ra[j], z = rb[j];
    ra[j] = cosine * x + sine * z;
    rb[j] = cosine * z - sine * x;
  }
}

/* Make the constraint whose components along the rows of Q are d the last active one. */
static void append(projection *s, int32_t c, double sign) {
  for (int32_t j = s->n - 1; j > s->k; j--) {
    const double length = rk_sqrt(s->d[j - 1] * s->d[j - 1] + s->d[j] * s->d[j]);
    if (length == 0.0) continue;
    rotate(s, j - 1, j, s->k, s->d[j - 1] / length, s->d[j] / length);
    s->d[j - 1] = length;
  }
  for (int32_t j = 0; j <= s->k; j++) s->R[(int64_t)j * s->n + s->k] = s->d[j];
  s->number[s->k] = c;
  s->sign[s->k++] = sign;
  s->flag[c] = ACTIVE;
}

static void drop(projection *s, int32_t at) {
  s->flag[(int32_t)s->number[at]] = IDLE;
  s->k--;
  for (int32_t j = at; j < s->k; j++) {
    s->number[j] = s->number[j + 1];
    s->sign[j] = s->sign[j + 1];
    s->u[j] = s->u[j + 1];
    for (int32_t i = 0; i <= j + 1; i++) s->R[(int64_t)i * s->n + j] = s->R[(int64_t)i * s->n + j + 1];
  }
  for (int32_t j = at; j < s->k; j++) {
    const double x = s->R[(int64_t)j * s->n + j], z = s->R[(int64_t)(j + 1) * s->n + j];
    const double length = rk_sqrt(x * x + z * z);
    rotate(s, j, j + 1, j, x / length, z / length);
  }
}

static void solve_upper(const projection *s, double *x) { /* R x = x */
  for (int32_t i = s->k - 1; i >= 0; i--) {
    const double *row = s->R + (int64_t)i * s->n;
    for (int32_t j = i + 1; j < s->k; j++) x[i] -= row[j] * x[j];
    x[i] /= row[i];
  }
}

static void solve_lower(const projection *s, double *x) { /* R'x = x */
  for (int32_t i = 0; i < s->k; i++) {
    for (int32_t j = 0; j < i; j++) x[i] -= s->R[(int64_t)j * s->n + i] * x[j];
    x[i] /= s->R[(int64_t)i * s->n + i];
  }
}

static double active_bound(const projection *s, int32_t j) {
  const int32_t c = (int32_t)s->number[j];
  return s->sign[j] > 0.0 ? s->low[c] : -s->high[c];
}

/* y and u of the active set, from y0; y is corrected once. */
static void settle(projection *s) {
  for (int32_t j = 0; j < s->k; j++) s->r[j] = active_bound(s, j);
  solve_lower(s, s->r);
  for (int32_t i = 0; i < s->n; i++) s->y[i] = s->y0[i];
  for (int32_t j = 0; j < s->k; j++) s->u[j] = s->r[j] - dot(s->n, s->Q + (int64_t)j * s->n, s->y0);
  for (int32_t j = 0; j < s->k; j++)
    for (int32_t i = 0; i < s->n; i++) s->y[i] += s->u[j] * s->Q[(int64_t)j * s->n + i];
  for (int32_t j = 0; j < s->k; j++)
    s->r[j] = active_bound(s, j) - s->sign[j] * dot(s->n, s->N + (int64_t)s->number[j] * s->n, s->y);
  solve_lower(s, s->r);
  for (int32_t j = 0; j < s->k; j++)
    for (int32_t i = 0; i < s->n; i++) s->y[i] += s->r[j] * s->Q[(int64_t)j * s->n + i];
  solve_upper(s, s->u);
}

/* The violated constraint that is farthest away, equations first; -1: none. */
static int32_t farthest(const projection *s, double *sign) {
  int32_t found = -1, found_equal = 0;
  double most = 0.0;
  for (int32_t c = 0; c < s->p; c++) {
    if (s->flag[c] != IDLE) continue;
    const int32_t equal = s->low[c] == s->high[c];
    if (found_equal && !equal) continue;
    const double value = dot(s->n, s->N + (int64_t)c * s->n, s->y);
    const double below = s->low[c] - value, above = value - s->high[c];
    const double slack = below > above ? below : above;
    if (!equal && slack <= noise(s, c, below > above ? s->low[c] : s->high[c])) continue;
    const double away = slack / s->length[c];
    if (found >= 0 && equal == found_equal && away <= most) continue;
    found = c, found_equal = equal, most = away;
    *sign = below >= above ? 1.0 : -1.0;
  }
  return found;
}

/* Make constraint c active; 0 when that cannot be done. */
static int add(projection *s, int32_t c, double sign) {
  const int32_t n = s->n;
  const double *normal = s->N + (int64_t)c * n;
  const double bound = sign > 0.0 ? s->low[c] : -s->high[c];
  while (s->iterations < s->limit) {
    s->iterations++;
    double squared = 0.0, largest = 0.0;
    for (int32_t j = 0; j < n; j++) s->d[j] = sign * dot(n, s->Q + (int64_t)j * n, normal);
    for (int32_t j = s->k; j < n; j++) squared += s->d[j] * s->d[j];
    for (int32_t j = 0; j < s->k; j++) s->r[j] = s->d[j];
    solve_upper(s, s->r);
    for (int32_t j = 0; j < s->k; j++)
      if (__builtin_fabs(s->r[j]) > largest) largest = __builtin_fabs(s->r[j]);
    const double gap = bound - sign * dot(n, normal, s->y), share = DEPENDENT * s->length[c];
    const int independent = squared > share * share;
    if (!independent && gap <= REDUNDANT * noise(s, c, bound)) {
      s->flag[c] = SETTLED;
      return 1;
    }
    int32_t leaving = -1;
    double dual = 0.0;
    for (int32_t j = 0; j < s->k; j++) {
      const int32_t own = (int32_t)s->number[j];
      if (!(s->r[j] > DEPENDENT * largest) || s->low[own] == s->high[own]) continue;
      if (leaving < 0 || s->u[j] / s->r[j] < dual) dual = s->u[j] / s->r[j], leaving = j;
    }
    if (!independent && leaving < 0) return 0;
    const double primal = independent ? gap / squared : 0.0;
    const int whole = independent && (leaving < 0 || primal <= dual);
    const double step = whole ? primal : dual;
    for (int32_t j = 0; j < s->k; j++) s->u[j] -= step * s->r[j];
    if (whole) {
      append(s, c, sign);
      settle(s);
      return 1;
    }
    if (independent)
      for (int32_t j = s->k; j < n; j++)
        for (int32_t i = 0; i < n; i++) s->y[i] += step * s->d[j] * s->Q[(int64_t)j * n + i];
    drop(s, leaving);
  }
  return 0;
}

static int32_t project(projection *s) {
  for (int32_t c = 0; c < s->p; c++) {
    s->flag[c] = s->length[c] == 0.0 ? SETTLED : IDLE;
    if (s->low[c] > s->high[c]) return RK_QP_INFEASIBLE;
    if (s->flag[c] == SETTLED && (s->low[c] > 0.0 || s->high[c] < 0.0)) return RK_QP_INFEASIBLE;
  }
  for (;;) {
    double sign = 1.0;
    const int32_t c = farthest(s, &sign);
    if (c < 0) return RK_QP_OPTIMAL;
    if (!add(s, c, sign)) return s->iterations >= s->limit ? RK_QP_MAX_ITERATIONS : RK_QP_INFEASIBLE;
  }
}

/* L of H = LL'; 0 when H is not positive definite. */
static int factor(int32_t n, const double *H, double *L) {
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j <= i; j++) {
      const double rest = H[(int64_t)i * n + j] - dot(j, L + (int64_t)i * n, L + (int64_t)j * n);
      if (i == j && !(rest > 0.0)) return 0;
      L[(int64_t)i * n + j] = i == j ? rk_sqrt(rest) : rest / L[(int64_t)j * n + j];
    }
  return 1;
}

static void solve_factor(int32_t n, const double *L, double *x) { /* L x = x */
  for (int32_t i = 0; i < n; i++) x[i] = (x[i] - dot(i, L + (int64_t)i * n, x)) / L[(int64_t)i * n + i];
}

int64_t rk_qp_workspace(int32_t n, int32_t m) {
  const int64_t size = n, p = (int64_t)n + m;
  return 3 * size * size + p * size + p + 7 * size;
}

int32_t rk_qp(int32_t n, int32_t m, const double *H, const double *g, const double *C, const double *low,
              const double *high, double tolerance, double *work, int32_t *flags, double *x, double *multipliers,
              int32_t *iterations) {
  const int32_t p = n + m;
  const int64_t square = (int64_t)n * n;
  double *L = work, *Q = L + square, *R = Q + square, *N = R + square, *length = N + (int64_t)p * n, *y0 = length + p;
  projection s = {n,      p, 0, 0,      50 + 10 * p, low,        high,       tolerance,  N,          length,
                  Q,      R, y0, y0 + n, y0 + 2 * n,  y0 + 3 * n, y0 + 4 * n, y0 + 5 * n, y0 + 6 * n, flags};
  for (int32_t i = 0; i < n; i++) x[i] = 0.0;
  for (int32_t c = 0; c < p; c++) multipliers[c] = 0.0;
  *iterations = 0;
  if (!factor(n, H, L)) return RK_QP_NOT_CONVEX;
  for (int32_t c = 0; c < p; c++) {
    double *normal = N + (int64_t)c * n;
    for (int32_t i = 0; i < n; i++) normal[i] = c < n ? (double)(i == c) : C[(int64_t)(c - n) * n + i];
    solve_factor(n, L, normal);
    length[c] = rk_sqrt(dot(n, normal, normal));
  }
  for (int64_t i = 0; i < square; i++) Q[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
  for (int32_t i = 0; i < n; i++) y0[i] = -g[i];
  solve_factor(n, L, y0);
  for (int32_t i = 0; i < n; i++) s.y[i] = y0[i];
  const int32_t status = project(&s);
  for (int32_t i = n - 1; i >= 0; i--) { /* L'x = y */
    x[i] = s.y[i];
    for (int32_t j = i + 1; j < n; j++) x[i] -= L[(int64_t)j * n + i] * x[j];
    x[i] /= L[(int64_t)i * n + i];
  }
  if (status == RK_QP_OPTIMAL)
    for (int32_t i = 0; i < n; i++) x[i] = x[i] < low[i] ? low[i] : x[i] > high[i] ? high[i] : x[i];
  for (int32_t j = 0; j < s.k; j++) multipliers[(int32_t)s.number[j]] = -s.sign[j] * s.u[j];
  *iterations = s.iterations;
  return status;
}
