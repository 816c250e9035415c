/* A block-banded quadratic program, scaled, and what is done with it: products and factors. */
#ifndef RK_BANDED_PROGRAM_H
#define RK_BANDED_PROGRAM_H

#include <math.h>

#include "../math/rk_arena.h"
#include "robokin_banded_qp.h"

static const double RK_STEEP = 1e9; /* weights above are of rows that are nearly equations */
static const double RK_DELTA = 1e-5; /* by which equations give way, at first */

/* A program with rows of length 1 and H of size 1, and what is known of its solution. sl, su: slacks; zl, zu: their
   multipliers; y: those of equations. has: 1 lower, 2 upper side, 4 equation.
   Of each frame: reflector, factor, end: the basis whose first `rank` vectors the equations `solved` take; triangle, along:
   these equations and the point that they ask for in it; free: the directions that they leave. first: the first unknown of
   each frame. origin[frames n]: the point, for 0. whole, block: to reckon with. index: which row given each row is. terms,
   room: what the rounding of an entry, or of a row where all unknowns are 0, is relative to.
   at: 1 lower, 2 upper side is active. size: unknowns, of which `banded` come in frames and one may be the last; eliminated,
   pivot: what the last one adds to the factor L. room_low, room_high: what the residual of a side is relative to. delta: by which
   equations give way; left: the largest of what a step leaves of their lack;
   before: rx at the step before. */
typedef struct rk_banded_solver {
  const rk_banded_program *p;
  int64_t size, banded, reach, rows, entries;
  double scale, size_g, corner, pivot, delta, left, before, outside;
  double *reflector, *factor, *triangle, *along, *free, *origin, *whole, *block;
  int32_t *end, *solved, *rank, *first, *index, *start, *column;
  double *H, *L, *g, *value, *terms, *room, *length, *low, *high, *room_low, *room_high, *border, *across, *eliminated;
  int32_t *has, *at;
  double *x, *y, *sl, *su, *zl, *zu;
  double *Cx, *Hx, *force, *rx, *ry, *rl, *ru, *weight;
  double *dx, *dy, *dsl, *dsu, *dzl, *dzu, *lack, *other, *cl, *cu, *pl, *pu, *best, *kept, *z;
} rk_banded_solver;

static inline double rk_larger(double a, double b) { return a > b ? a : b; }

static inline double rk_largest(const double *x, int64_t count) {
  double most = 0.0;
  for (int64_t i = 0; i < count; i++) most = rk_larger(most, fabs(x[i]));
  return most;
}

void rk_banded_take(rk_banded_solver *s, const rk_banded_program *p, rk_arena *arena);

/* The program of what equations of one frame leave free, with rows of length 1 and H of size 1. */
void rk_banded_scale(rk_banded_solver *s);

/* x[frames n] and the last, and the multipliers of all rows, from `best` and z. */
void rk_banded_expand(rk_banded_solver *s, double *x, double *multipliers);

/* out[rows] = C x */
void rk_banded_times(const rk_banded_solver *s, const double *x, double *out);

/* Cx, and what the residual of each side is relative to: the side, and the terms of the sum. */
void rk_banded_look(rk_banded_solver *s, const double *x);

/* out[size] += C' z */
void rk_banded_add_transposed(const rk_banded_solver *s, const double *z, double *out);

/* out[size] = H x */
void rk_banded_hessian_times(const rk_banded_solver *s, const double *x, double *out);

/* b with K x = b becomes x, K as factored. */
void rk_banded_solve(const rk_banded_solver *s, double *b);

/* L of H + C' diag(weight) C, made positive definite by a little where it is not; 0 where that does not help. */
int32_t rk_banded_factor(rk_banded_solver *s);

/* The largest of what x and z lack as a solution, relative; `outside` of sides alone. */
double rk_banded_error(rk_banded_solver *s, const double *x, const double *z);

/* Which sides are active, as ry wants them: as `at` says of each row (1 lower, 2 upper side). */
void rk_banded_activate(rk_banded_solver *s);

/* dx, dy: the point where the active sides are equations. */
void rk_banded_settle(rk_banded_solver *s);

#endif
