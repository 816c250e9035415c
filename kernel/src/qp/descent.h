/* Where a descent through the levels of a hierarchy is: the point, the directions that are left, and the bounds and rows
   that a step must keep. Of solvers/qp/hierarchy.py this is what `_Descent` holds. */
#ifndef RK_DESCENT_H
#define RK_DESCENT_H

#include "math/rk_reflectors.h"
#include "qp/projection.h"
#include "robokin_hierarchy.h"
#include "robokin_qp.h"

/* A normal of a bound with no more than this in what the levels above leave is rounding there; x that far out, relative to its
   size, is at the bounds; to what the bounds of a program are known. */
static const double RK_NONE = 1e-12, RK_TOUCHED = 1e-12, RK_ROUNDING[2] = {1e-14, 1e-11};

/* Movable ones of the `all` unknowns have bounds that differ; the first n of `index` are those that rows so far or damping
   move: the others come in when they are needed, which keeps the programs of the first levels small. basis: of those n,
   the first r directions are used up. W[rows][n], order[rows], A[rows][rows], V[rows][rows], beta[rows]: of one level.
   Z[n - r][all], in place of W: the directions that are left at the end. target, weight, point [n + rows]: in
   coordinates of a level's singular vectors, then of the directions that it leaves, then of slacks. */
typedef struct descent {
  int32_t all, movable, n, r, n_bounded, n_kept;
  const double *lo, *hi;
  const rk_levels *levels;
  double *x, *trial, *step;
  int32_t *index, *order, *kept, *bounded; /* bounded: places in `index`, of coordinates with bounds */
  int32_t *is_held;                      /* [n] at a bound for good */
  rk_reflectors basis;
  int32_t seen, *turned_by; /* rows so far; reflectors that each of `turned` [all + rows][all] has had: unit vectors and
                               rows in the basis */
  double *turned;
  double *Z, *W, *A, *V, *beta, *target, *weight, *point, *scale, *H, *L, *slope;
  double largest;                  /* weight of a level */
  double *kept_lower, *kept_upper; /* [n_kept] of rows that stay inside */
  int32_t *waits; /* [rows] bands that no step has left so far: no program has them, no coordinate comes in for them */
  int32_t *wall_waits; /* [n_bounded + n_kept] bounds and kept rows that no step of this level has left */
  int32_t n_walls, *wall; /* those that a program has, as its first constraints; then the rows that are its bands */
  int32_t known, *active; /* constraints of the level's last program; sides of unknowns and rows that it ended at, 0: none
                             [all + rows] */
  rk_projection last;     /* that program; where only walls are new, it goes on with its first `carried` constraints */
  int32_t carried;
  double *program, *other_program; /* workspaces of one each */
} descent;

static inline const double *row_of(const descent *s, int32_t row) { return s->levels->J + (int64_t)row * s->all; }

static inline int is_equation(const descent *s, int32_t row) { return s->levels->lower[row] == s->levels->upper[row]; }

/* Whether the program of the row's level has it as a band. */
static inline int is_band(const descent *s, int32_t row) { return !is_equation(s, row) && !s->waits[row]; }

static inline double length_of(const descent *s, const double *row) { return rk_sqrt(rk_dot(s->all, row, row)); }

/* What lengths of x are small against. */
static inline double size_of(const descent *s, const double *x) {
  const double length = rk_sqrt(rk_dot(s->all, x, x));
  return length > 1.0 ? length : 1.0;
}

/* What single coordinates of x are small against. */
static inline double largest_of(const descent *s, const double *x) {
  double largest = 1.0;
  for (int32_t i = 0; i < s->all; i++)
    if (__builtin_fabs(x[i]) > largest) largest = __builtin_fabs(x[i]);
  return largest;
}

/* What a row's value lacks. */
static inline double residual(const descent *s, const double *row, const double *x, double lower, double upper) {
  const double value = rk_dot(s->all, row, x);
  return rk_clamp(value, lower, upper) - value;
}

static inline int is_far(const descent *s, const double *row, const double *x, double lower, double upper, double share) {
  const double out = __builtin_fabs(residual(s, row, x, lower, upper));
  return out > 0.0 && out > share * length_of(s, row) * size_of(s, x);
}

/* Whether `trial` keeps the bounds, the rows that are kept and the bands among some rows, but for rounding; not those
   that wait. */
static inline int is_inside(const descent *s, int32_t first, int32_t last) {
  const double *x = s->trial;
  const double slop = RK_TOUCHED * largest_of(s, x);
  for (int32_t i = 0; i < s->all; i++)
    if (x[i] < s->lo[i] - slop || x[i] > s->hi[i] + slop) return 0;
  for (int32_t k = 0; k < s->n_kept; k++)
    if (is_far(s, row_of(s, s->kept[k]), x, s->kept_lower[k], s->kept_upper[k], RK_TOUCHED)) return 0;
  for (int32_t row = first; row < last; row++)
    if (is_band(s, row) &&
        is_far(s, row_of(s, row), x, s->levels->lower[row], s->levels->upper[row], RK_TOUCHED))
      return 0;
  return 1;
}

static inline void gather(const descent *s, const double *full, double *out) {
  for (int32_t i = 0; i < s->n; i++) out[i] = full[s->index[i]];
}

/* trial = x moved by coordinates[n] in the basis of the first `count` reflectors; they are overwritten. */
static inline void move(descent *s, int32_t count, double *coordinates) {
  rk_out_of_basis(&s->basis, count, coordinates);
  for (int32_t i = 0; i < s->all; i++) s->trial[i] = s->x[i];
  for (int32_t i = 0; i < s->n; i++) s->trial[s->index[i]] += coordinates[i];
}

/* trial = x moved by values of `rank` singular vectors and of the directions left behind them. */
static inline void move_along(descent *s, int32_t rank, const double *values) {
  for (int32_t i = 0; i < s->r; i++) s->step[i] = 0.0;
  for (int32_t i = s->r; i < s->n; i++) s->step[i] = i < s->r + rank ? 0.0 : values[i - s->r];
  for (int32_t i = 0; i < rank; i++) rk_add_scaled(rank, values[i], s->V + (int64_t)i * rank, s->step + s->r);
  move(s, s->r + rank, s->step);
}

/* out[n - r] = row[n] of the basis in the coordinates of move_along. */
static inline void rotated(const descent *s, int32_t rank, const double *row, double *out) {
  for (int32_t i = 0; i < rank; i++) out[i] = rk_dot(rank, s->V + (int64_t)i * rank, row + s->r);
  for (int32_t i = s->r + rank; i < s->n; i++) out[i - s->r] = row[i];
}

/* A unit vector or a row that was seen, in the basis of the first `count` reflectors, at least as many as it has had. */
static inline const double *turned_at(const descent *s, int32_t at, int32_t count) {
  double *own = s->turned + (int64_t)at * s->all;
  rk_into_basis(&s->basis, s->turned_by[at], count, own);
  s->turned_by[at] = count;
  return own;
}

static inline const double *turned(const descent *s, int32_t row, int32_t count) { return turned_at(s, s->all + row, count); }

/* Rows that were not seen so far. */
static inline void see(descent *s, int32_t last) {
  for (; s->seen < last; s->seen++) {
    gather(s, row_of(s, s->seen), s->turned + (int64_t)(s->all + s->seen) * s->all);
    s->turned_by[s->all + s->seen] = 0;
  }
}

/* x = trial, but of coordinates that are held at a bound. */
static inline void accept(descent *s) {
  for (int32_t i = 0; i < s->n; i++) {
    const int32_t k = s->index[i];
    if (!s->is_held[i]) s->x[k] = rk_clamp(s->trial[k], s->lo[k], s->hi[k]);
  }
}

/* Z[n - r][all]: the directions that are left. */
static inline void form_directions(const descent *s) {
  for (int32_t i = s->r; i < s->n; i++) {
    double *z = s->Z + (int64_t)(i - s->r) * s->all;
    for (int32_t at = 0; at < s->all; at++) s->step[at] = z[at] = 0.0;
    s->step[i] = 1.0;
    rk_out_of_basis(&s->basis, s->r, s->step);
    for (int32_t at = 0; at < s->n; at++) z[s->index[at]] = s->step[at];
  }
}

/* Coordinate i of those that are left out comes in. */
static inline void include(descent *s, int32_t i) {
  const int32_t k = s->index[i], n = s->n++;
  s->index[i] = s->index[n], s->index[n] = k;
  s->is_held[n] = 0;
  if (s->lo[k] > -__builtin_inf() || s->hi[k] < __builtin_inf()) {
    for (int32_t j = s->n_bounded + s->n_kept; j > s->n_bounded; j--) s->wall_waits[j] = s->wall_waits[j - 1];
    s->wall_waits[s->n_bounded] = 1, s->bounded[s->n_bounded++] = n;
  }
  s->basis.n = s->n;
  for (int32_t at = 0; at < s->all; at++) s->turned[(int64_t)n * s->all + at] = at == n ? 1.0 : 0.0;
  s->turned_by[n] = 0;
  for (int32_t row = 0; row < s->seen; row++) s->turned[(int64_t)(s->all + row) * s->all + n] = row_of(s, row)[k];
}

static inline void keep_row(descent *s, int32_t row) {
  const double lower = s->levels->lower[row], upper = s->levels->upper[row], value = rk_dot(s->all, row_of(s, row), s->x);
  s->kept_lower[s->n_kept] = value < lower ? value : lower;
  s->kept_upper[s->n_kept] = value > upper ? value : upper;
  s->wall_waits[s->n_bounded + s->n_kept] = 0;
  s->kept[s->n_kept++] = row;
}

/* Whether some rows or the damping see coordinate k. */
static inline int is_needed(const descent *s, int32_t k, int32_t first, int32_t last, double damping) {
  for (int32_t row = first; row < last; row++)
    if (!s->waits[row] && row_of(s, row)[k] != 0.0) return 1;
  return damping > 0.0 && s->x[k] != 0.0;
}

/* Bands that x keeps wait, and all walls; nothing is active. */
static inline void let_wait(descent *s, int32_t first, int32_t last) {
  for (int32_t i = 0; i < s->all + s->levels->start[s->levels->count]; i++) s->active[i] = 0;
  s->known = 0;
  for (int32_t i = 0; i < s->n_bounded + s->n_kept; i++) s->wall_waits[i] = 1;
  for (int32_t row = first; row < last; row++)
    s->waits[row] = !is_equation(s, row) && !is_far(s, row_of(s, row), s->x, s->levels->lower[row],
                                                    s->levels->upper[row], RK_TOUCHED);
}

/* Walls that wait and that `trial` leaves wait no more. Returns whether there were any. */
static inline int wake_walls(descent *s) {
  const double slop = RK_TOUCHED * largest_of(s, s->trial);
  int found = 0;
  for (int32_t i = 0; i < s->n_bounded + s->n_kept; i++) {
    const int32_t kept = i - s->n_bounded, k = kept < 0 ? s->index[s->bounded[i]] : 0;
    if (!s->wall_waits[i]) continue;
    if (kept < 0 ? s->trial[k] < s->lo[k] - slop || s->trial[k] > s->hi[k] + slop
                 : is_far(s, row_of(s, s->kept[kept]), s->trial, s->kept_lower[kept], s->kept_upper[kept], RK_TOUCHED))
      s->wall_waits[i] = 0, found = 1;
  }
  return found;
}

/* Where more than a quarter of the walls press, a turn for each few of them would cost more than they all do at once. */
static inline void wake_all_of_many(const descent *s) {
  const int32_t count = s->n_bounded + s->n_kept;
  int32_t awake = 0;
  for (int32_t i = 0; i < count; i++) awake += !s->wall_waits[i];
  for (int32_t i = 0; 4 * awake > count && i < count; i++) s->wall_waits[i] = 0;
}

/* Bands that wait and that `trial` leaves wait no more, those before `first` are kept, and the coordinates that they see
   come in; walls likewise. A minimum that leaves none of them is the minimum with all of them. Returns whether there
   were any. */
static inline int wake(descent *s, int32_t first, int32_t last, double damping) {
  const int32_t before = s->n - s->r;
  int found = wake_walls(s);
  for (int32_t row = s->levels->start[0]; row < last; row++) {
    const double *J = row_of(s, row);
    if (!s->waits[row] || !is_far(s, J, s->trial, s->levels->lower[row], s->levels->upper[row], RK_TOUCHED)) continue;
    s->waits[row] = 0, found = 1;
    if (row < first) keep_row(s, row);
    for (int32_t i = s->n; i < s->movable; i++)
      if (J[s->index[i]] != 0.0) include(s, i);
  }
  for (int32_t i = before; i < s->n - s->r; i++) s->weight[i] = damping, s->target[i] = s->point[i] = 0.0;
  return found;
}

#endif
