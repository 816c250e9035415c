/* The least-squares step inside a box: block principal pivoting (Judice and Pires, Computers and Operations Research 21,
   1994), and when that makes no progress a primal active-set method (Nocedal and Wright, Numerical Optimization, section
   16.5). Twin of solvers/qp/bounded_step.py.

   H = L'DL is factored from the last column to the first: columns are numbered from the root, so that branches of the
   tree stay uncoupled (Featherstone, "Efficient factorization of the joint-space inertia matrix for branched kinematic
   trees", IJRR 24, 2005). Coordinates at a bound are left out, which adds no coupling. */
#include "math/rk_math.h"
#include "robokin_ik.h"

enum { PATIENCE = 3 }; /* exchanges of whole sets allowed without progress */

/* x = A^-1 x for a full A[n][n], of which the lower triangle is read and overwritten. Inlined for constant n. */
static inline __attribute__((always_inline)) void solve_full(int32_t n, double *restrict A, double *restrict x) {
  for (int32_t k = n - 1; k >= 0; k--) {
    double *restrict row = A + k * n, *restrict other = A;
    const double inverse = 1.0 / row[k];
    for (int32_t i = 0; i < k; i++, other += n) {
      const double factor = row[i] * inverse;
      for (int32_t j = 0; j <= i; j++) other[j] -= factor * row[j];
      x[i] -= factor * x[k];
    }
    for (int32_t i = 0; i < k; i++) row[i] *= inverse;
    x[k] *= inverse;
  }
  for (int32_t k = 1; k < n; k++)
    for (int32_t i = 0; i < k; i++) x[k] -= A[k * n + i] * x[i];
}

/* x = H^-1 x over the coordinates without a side, moved together: for an H without zeros to use. */
static void solve_chain(int32_t n, const double *H, const int32_t *side, double *A, double *at, double *x) {
  int32_t free = 0;
  for (int32_t k = 0; k < n; k++)
    if (!side[k]) at[free++] = x[k];
  if (free == n) {
    for (int32_t k = 0; k < n * n; k++) A[k] = H[k];
  } else {
    double *row = A;
    for (int32_t k = 0; k < n; k++) {
      if (side[k]) continue;
      double *entry = row;
      for (int32_t j = 0; j <= k; j++)
        if (!side[j]) *entry++ = H[(int64_t)k * n + j];
      row += free;
    }
  }
  switch (free) { /* unrolled for the sizes of most arms */
    case 6: solve_full(6, A, at); break;
    case 7: solve_full(7, A, at); break;
    default: solve_full(free, A, at);
  }
  for (int32_t k = 0, next = 0; k < n; k++)
    if (!side[k]) x[k] = at[next++];
}

/* The lower columns that column k is coupled to; a null list means all of them. */
static int coupled(const int32_t *fill_start, const int32_t *fill, int32_t k, const int32_t **list) {
  if (!fill) return *list = 0, k;
  *list = fill + fill_start[k];
  const int count = fill_start[k + 1] - fill_start[k];
  if (count == k) *list = 0; /* ascending and distinct, so they are 0 .. k-1 */
  return count;
}

/* Solves with an H that has zeros to use. */
static void solve_tree(int32_t n, const double *H, const int32_t *fill_start, const int32_t *fill, const int32_t *side,
                       double *L, double *inverse, double *x) {
  const int32_t *list;
  for (int32_t k = 0; k < n; k++) {
    const double *from = H + (int64_t)k * n;
    double *to = L + (int64_t)k * n;
    const int count = coupled(fill_start, fill, k, &list);
    if (side[k]) continue;
    if (!list)
      for (int j = 0; j <= k; j++) to[j] = from[j];
    else {
      for (int j = 0; j < count; j++) to[list[j]] = from[list[j]];
      to[k] = from[k];
    }
  }
  /* x holds the right side; the first half of the solution goes along with the factorisation. */
  for (int32_t k = n - 1; k >= 0; k--) {
    if (side[k]) continue;
    const double *row = L + (int64_t)k * n;
    const int count = coupled(fill_start, fill, k, &list);
    inverse[k] = 1.0 / row[k];
    x[k] *= inverse[k];
    if (!list) {
      for (int i = 0; i < k; i++) {
        if (side[i]) continue;
        const double entry = row[i], factor = entry * inverse[k];
        double *other = L + (int64_t)i * n;
        for (int j = 0; j <= i; j++) other[j] -= factor * row[j];
        x[i] -= entry * x[k];
      }
    } else {
      for (int i = 0; i < count; i++) {
        if (side[list[i]]) continue;
        const double entry = row[list[i]], factor = entry * inverse[k];
        double *other = L + (int64_t)list[i] * n;
        for (int j = 0; j <= i; j++) other[list[j]] -= factor * row[list[j]];
        x[list[i]] -= entry * x[k];
      }
    }
  }
  for (int32_t k = 0; k < n; k++) {
    if (side[k]) continue;
    const double *row = L + (int64_t)k * n;
    const int count = coupled(fill_start, fill, k, &list);
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
      const int c = list ? list[i] : i;
      if (!side[c]) sum += row[c] * x[c];
    }
    x[k] -= sum * inverse[k];
  }
}

typedef struct step_problem {
  int32_t n;
  const double *H, *g, *lo, *hi;
  const int32_t *fill_start, *fill;
  double *L, *inverse, *slope, *at; /* workspace */
} step_problem;

static double bound(const step_problem *p, int32_t i, int32_t side) { return side < 0 ? p->lo[i] : p->hi[i]; }

/* x = H^-1 x over the coordinates without a side. */
static void solve_coupled(const step_problem *p, const int32_t *side, double *x) {
  if (!p->fill || p->fill_start[p->n] == p->n * (p->n - 1) / 2)
    solve_chain(p->n, p->H, side, p->L, p->inverse, x);
  else
    solve_tree(p->n, p->H, p->fill_start, p->fill, side, p->L, p->inverse, x);
}

/* The minimum with the coordinates of `side` held at their bounds, and the slope Hx - g at those. */
static void solve_free(const step_problem *p, const int32_t *side, double *x) {
  const int32_t n = p->n;
  double *slope = p->slope;
  const int32_t *list;
  int fixed = 0;
  for (int32_t i = 0; i < n; i++) {
    fixed |= side[i];
    x[i] = side[i] ? 0.0 : p->g[i];
    slope[i] = 0.0;
  }
  if (!fixed) {
    solve_coupled(p, side, x);
    return;
  }
  for (int32_t k = 0; k < n; k++) {
    const double *row = p->H + (int64_t)k * n, at = side[k] ? bound(p, k, side[k]) : 0.0;
    const int count = coupled(p->fill_start, p->fill, k, &list);
    slope[k] += row[k] * at;
    for (int i = 0; i < count; i++) {
      const int c = list ? list[i] : i;
      if (side[c]) slope[k] += row[c] * bound(p, c, side[c]);
      slope[c] += row[c] * at;
    }
  }
  for (int32_t i = 0; i < n; i++)
    if (!side[i]) x[i] -= slope[i];
  solve_coupled(p, side, x);
  for (int32_t k = 0; k < n; k++) {
    const double *row = p->H + (int64_t)k * n;
    const int count = coupled(p->fill_start, p->fill, k, &list);
    for (int i = 0; i < count; i++) {
      const int c = list ? list[i] : i;
      if (side[k] && !side[c]) slope[k] += row[c] * x[c];
      if (side[c] && !side[k]) slope[c] += row[c] * x[k];
    }
  }
  for (int32_t i = 0; i < n; i++) {
    slope[i] = side[i] ? slope[i] - p->g[i] : 0.0;
    if (side[i]) x[i] = bound(p, i, side[i]);
  }
}

/* Where the exchanges of whole sets end: 1 at the minimum, 0 when they make no progress. */
static int exchange_sets(const step_problem *p, double tolerance, double *x, int32_t *side) {
  int fewest = p->n + 1, patience = PATIENCE;
  for (;;) {
    solve_free(p, side, x);
    int wrong = 0;
    for (int32_t i = 0; i < p->n; i++)
      wrong += side[i] ? side[i] * p->slope[i] > tolerance : x[i] < p->lo[i] || x[i] > p->hi[i];
    if (!wrong) return 1;
    if (wrong < fewest) {
      fewest = wrong;
      patience = PATIENCE;
    } else if (patience-- == 0) {
      return 0;
    }
    for (int32_t i = 0; i < p->n; i++) {
      if (!side[i])
        side[i] = x[i] < p->lo[i] ? -1 : x[i] > p->hi[i] ? 1 : 0;
      else if (side[i] * p->slope[i] > tolerance)
        side[i] = 0;
    }
  }
}

/* From a point in the box downwards, one bound at a time. */
static void exchange_single(const step_problem *p, double tolerance, double *x, int32_t *side) {
  const int32_t n = p->n;
  double *at = p->at;
  for (int32_t i = 0; i < n; i++) {
    at[i] = rk_clamp(x[i], p->lo[i], p->hi[i]);
    side[i] = at[i] <= p->lo[i] ? -1 : at[i] >= p->hi[i] ? 1 : 0;
  }
  for (int32_t round = 0; round < 10 * n; round++) {
    solve_free(p, side, x);
    double fraction = 1.0;
    int32_t first = -1, leaving = 0;
    for (int32_t i = 0; i < n; i++) {
      if (side[i] || (p->lo[i] <= x[i] && x[i] <= p->hi[i])) continue;
      const double own = ((x[i] < p->lo[i] ? p->lo[i] : p->hi[i]) - at[i]) / (x[i] - at[i]);
      if (own < fraction) fraction = own, first = i;
    }
    for (int32_t i = 0; i < n; i++)
      at[i] = rk_clamp(first < 0 ? x[i] : at[i] + fraction * (x[i] - at[i]), p->lo[i], p->hi[i]);
    if (first >= 0) {
      side[first] = x[first] < p->lo[first] ? -1 : 1;
      continue;
    }
    for (int32_t i = 1; i < n; i++)
      if (side[i] * p->slope[i] > side[leaving] * p->slope[leaving]) leaving = i;
    if (side[leaving] * p->slope[leaving] <= tolerance) break;
    side[leaving] = 0;
  }
  for (int32_t i = 0; i < n; i++) x[i] = at[i];
}

int64_t rk_bounded_step_workspace(int32_t n) { return (int64_t)n * n + 3 * (int64_t)n; }

void rk_bounded_step(int32_t n, const double *H, const double *g, const double *lo, const double *hi,
                     const int32_t *fill_start, const int32_t *fill, double *work, double *x, int32_t *side) {
  double *L = work, *inverse = L + (int64_t)n * n, *slope = inverse + n, *at = slope + n;
  const step_problem p = {n, H, g, lo, hi, fill_start, fill, L, inverse, slope, at};
  double largest = 0.0;
  for (int32_t i = 0; i < n; i++) {
    side[i] = lo[i] >= 0.0 && g[i] < 0.0 ? -1 : hi[i] <= 0.0 && g[i] > 0.0 ? 1 : 0;
    if (__builtin_fabs(g[i]) > largest) largest = __builtin_fabs(g[i]);
  }
  const double tolerance = 1e-12 * largest;
  if (!exchange_sets(&p, tolerance, x, side)) exchange_single(&p, tolerance, x, side);
}
