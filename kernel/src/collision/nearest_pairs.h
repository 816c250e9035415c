/* The nearest pairs of a robot's shapes and obstacles. */
#ifndef RK_NEAREST_PAIRS_H
#define RK_NEAREST_PAIRS_H

#include "collision/robot_pairs.h"
#include "math/rk_arena.h"

enum { RK_SEEN = 4 }; /* a search often comes back to one of so many places */

/* What a look at all pairs has shown, so that the next ones, at places near by, ask few of them: those that are listed; and
   what was found at the last places. What is found is the same without. Zeros at first. */
typedef struct rk_nearest_pairs {
  double *known;                 /* 1 + how many are listed, 0: nothing; how many `last` has; which of `seen` is the next */
  rk_places before;              /* of that look */
  double *least;                 /* [n_pairs] what each was apart at least */
  int32_t *pair;                 /* [n_pairs] */
  double *moved, *bounds;        /* [n_shapes], [n_pairs] */
  double *normal;                /* [n_pairs][3] along which each pair was apart when it was last measured; 0: never */
  int32_t *heap;                 /* [n_pairs] */
  int32_t *last, *is_measured;   /* [rows] the nearest ones, and whether a pair is one of them [n_pairs] */
  double *seen; /* [RK_SEEN]: 1 + how many were found, 0: none; placements[n_shapes][12], found[rows][10], which[rows] */
} rk_nearest_pairs;

rk_nearest_pairs rk_nearest_pairs_lay_out(const rk_clearance *c, rk_arena *arena);

/* The c->rows nearest pairs among those at most `within` apart, nearest first, of equal ones the first.
   found[rows][10], which[rows] as rk_distances has them; returns how many. *failed: 1 + a pair whose distance is not
   found, else 0. */
int32_t rk_nearest_pairs_find(const rk_clearance *c, const rk_places *places, rk_nearest_pairs *s, double *found,
                              int32_t *which, int32_t *failed);

#endif
