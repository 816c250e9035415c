/* The least-squares step inside a box, by block principal pivoting: every coordinate that breaks the optimality
   conditions changes sides at once; when that makes no progress, one at a time, which terminates.
   Judice and Pires, Computers and Operations Research 21, 1994. Twin of solvers/bounded_step.py.

   H = L'L is factored from the last column to the first: columns are numbered from the root, so that branches of the
   tree stay uncoupled (Featherstone, "Efficient factorization of the joint-space inertia matrix for branched kinematic
   trees", IJRR 24, 2005). Coordinates at a bound are left out, which adds no coupling. */
#include "rk_math.h"
#include "robokin_ik.h"

enum { PATIENCE = 3, MAX_EXCHANGES = 50 };

static double magnitude(double x) { return x < 0.0 ? -x : x; }

/* The lower columns that column k is coupled to; a null list means all of them. */
static int coupled(const int32_t *fill_start, const int32_t *fill, int32_t k, const int32_t **list) {
  if (!fill) return *list = 0, k;
  *list = fill + fill_start[k];
  const int count = fill_start[k + 1] - fill_start[k];
  if (count == k) *list = 0; /* ascending and distinct, so they are 0 .. k-1 */
  return count;
}

static void factor_and_solve(int32_t n, const double *H, const int32_t *fill_start, const int32_t *fill,
                             const int32_t *side, double *L, double *inverse, double *x) {
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
  /* x holds the right side; the first half of the solution, L'y = x, goes along with the factorisation. */
  for (int32_t k = n - 1; k >= 0; k--) {
    if (side[k]) continue;
    double *row = L + (int64_t)k * n;
    const int count = coupled(fill_start, fill, k, &list);
    inverse[k] = 1.0 / rk_sqrt(row[k]);
    x[k] *= inverse[k];
    if (!list) {
      for (int i = 0; i < k; i++) row[i] *= inverse[k];
      for (int i = 0; i < k; i++) {
        if (side[i]) continue;
        const double factor = row[i];
        double *other = L + (int64_t)i * n;
        for (int j = 0; j <= i; j++) other[j] -= factor * row[j];
        x[i] -= factor * x[k];
      }
    } else {
      for (int i = 0; i < count; i++) row[list[i]] *= inverse[k];
      for (int i = 0; i < count; i++) {
        if (side[list[i]]) continue;
        const double factor = row[list[i]];
        double *other = L + (int64_t)list[i] * n;
        for (int j = 0; j <= i; j++) other[list[j]] -= factor * row[list[j]];
        x[list[i]] -= factor * x[k];
      }
    }
  }
  for (int32_t k = 0; k < n; k++) {
    if (side[k]) continue;
    const double *row = L + (int64_t)k * n;
    const int count = coupled(fill_start, fill, k, &list);
    double sum = x[k];
    for (int i = 0; i < count; i++) {
      const int c = list ? list[i] : i;
      if (!side[c]) sum -= row[c] * x[c];
    }
    x[k] = sum * inverse[k];
  }
}

int64_t rk_bounded_step_workspace(int32_t n) { return (int64_t)n * n + 2 * (int64_t)n; }

int32_t rk_bounded_step(int32_t n, const double *H, const double *g, const double *lo, const double *hi,
                        const int32_t *fill_start, const int32_t *fill, double *work, double *x, int32_t *side) {
  double *L = work, *inverse = L + (int64_t)n * n, *slope = inverse + n;
  double largest = 0.0;
  int fixed = 0;
  for (int32_t i = 0; i < n; i++) {
    side[i] = lo[i] >= 0.0 && g[i] < 0.0 ? -1 : hi[i] <= 0.0 && g[i] > 0.0 ? 1 : 0;
    fixed += side[i] != 0;
    if (magnitude(g[i]) > largest) largest = magnitude(g[i]);
  }
  const double tolerance = 1e-12 * largest;
  int fewest = n + 1, patience = PATIENCE, exchanges = 0;
  while (exchanges < MAX_EXCHANGES) {
    exchanges++;
    const int32_t *list;
    for (int32_t i = 0; i < n; i++) x[i] = side[i] ? 0.0 : g[i];
    if (fixed) {
      /* slope = H times the coordinates at a bound */
      for (int32_t i = 0; i < n; i++) slope[i] = 0.0;
      for (int32_t k = 0; k < n; k++) {
        const double *row = H + (int64_t)k * n;
        const double at = side[k] ? (side[k] < 0 ? lo[k] : hi[k]) : 0.0;
        const int count = coupled(fill_start, fill, k, &list);
        slope[k] += row[k] * at;
        for (int i = 0; i < count; i++) {
          const int c = list ? list[i] : i;
          if (side[c]) slope[k] += row[c] * (side[c] < 0 ? lo[c] : hi[c]);
          slope[c] += row[c] * at;
        }
      }
      for (int32_t i = 0; i < n; i++)
        if (!side[i]) x[i] -= slope[i];
    }
    factor_and_solve(n, H, fill_start, fill, side, L, inverse, x);
    if (fixed) {
      for (int32_t k = 0; k < n; k++) {
        const double *row = H + (int64_t)k * n;
        const int count = coupled(fill_start, fill, k, &list);
        for (int i = 0; i < count; i++) {
          const int c = list ? list[i] : i;
          if (side[k] && !side[c]) slope[k] += row[c] * x[c];
          if (side[c] && !side[k]) slope[c] += row[c] * x[k];
        }
      }
    }
    int wrong = 0, last = -1;
    for (int32_t i = 0; i < n; i++) {
      int breaks;
      if (side[i] == 0)
        breaks = x[i] < lo[i] || x[i] > hi[i];
      else
        breaks = side[i] < 0 ? slope[i] - g[i] < -tolerance : slope[i] - g[i] > tolerance;
      wrong += breaks;
      if (breaks) last = i;
    }
    if (!wrong) break;
    int all = 1;
    if (wrong < fewest) {
      fewest = wrong;
      patience = PATIENCE;
    } else if (patience > 0) {
      patience--;
    } else {
      all = 0;
    }
    fixed = 0;
    for (int32_t i = 0; i < n; i++) {
      if (all || i == last) {
        if (side[i] == 0)
          side[i] = x[i] < lo[i] ? -1 : x[i] > hi[i] ? 1 : 0;
        else if (side[i] < 0 ? slope[i] - g[i] < -tolerance : slope[i] - g[i] > tolerance)
          side[i] = 0;
      }
      fixed += side[i] != 0;
    }
  }
  for (int32_t i = 0; i < n; i++) {
    if (side[i]) x[i] = side[i] < 0 ? lo[i] : hi[i];
    x[i] = x[i] < lo[i] ? lo[i] : x[i] > hi[i] ? hi[i] : x[i];
  }
  return exchanges;
}
