/* Where the search for an optimum is. */
#ifndef RK_OPTIMUM_SEARCH_H
#define RK_OPTIMUM_SEARCH_H

#include "optimum/optimum.h"

typedef struct rk_optimum_search {
  rk_poses poses;
  rk_program program;
  rk_look looks[2], *look;  /* where it is */
  rk_pose spare[4]; /* the first two of the retraction */
  double *multiplier;       /* [n + n_rows] of what holds a level that is not met */
  double curvature, usual;  /* the largest and the usual one where it was looked at last */
  double change;            /* by which the last steps lowered the cost */
  double stride;            /* of the next step along edges */
  int first, blocked;       /* halvings: of the next Newton step; of the last step, from which no way led back to the tasks */
  double promised;          /* by how much the last step, of its whole length, would have lowered the cost; 0 along edges */
  int iterations, most;     /* at most so many */
  double *H, *V, *E;        /* [n][n] */
  double *value, *weight, *x, *dq, *here, *there; /* [n] */
  double *work;             /* [3 n + 2 n_pieces] */
  double **bent;            /* [n_edges] matrices of the edges as they bend */
} rk_optimum_search;

/* Uses up the directions along which levels that are not met would be met less. */
void rk_hold_unmet(rk_optimum_search *s, rk_look *look);

/* Fills in all of a look at its pose, to which a step of length `last` led. */
void rk_look_at(rk_optimum_search *s, rk_look *look, double last);

/* The cost, as it looks. */
rk_goal rk_goal_of(const rk_optimum_search *s, const rk_look *look);

/* Some potential has no gradient but many. */
int rk_has_edges(const rk_optimum_search *s, const rk_look *look);

/* value[count] are curvatures. */
void rk_note_curvatures(rk_optimum_search *s, int32_t count);

/* E[count][n], value[count]: principal directions of the Lagrangian's Hessian along what can move where inequalities that press
   more than `least` hold. Returns their number. */
int32_t rk_principal_directions(rk_optimum_search *s, double least);

/* E[count][n] of a Newton step: the same, and behind them those across what presses. Returns their number. */
int32_t rk_newton_directions(rk_optimum_search *s);

/* weight[count] of these, with which a step goes no farther along any than `stride` [radians or L]. */
void rk_weigh_directions(rk_optimum_search *s, int32_t count, double stride);

/* Moves to a pose near a stationary one that costs less, when there is one; the pose only. */
int rk_look_around(rk_optimum_search *s, uint64_t *random);

#endif
