/* The iteration that the static solver (ik.c) and tracking (track.c) share. */
#ifndef RK_IK_SEARCH_H
#define RK_IK_SEARCH_H

#include "robokin_ik.h"

/* Where an attempt came nearest to the targets: q [nq], its error, and how far it is from the start. */
typedef struct rk_end {
  double *q;
  double error, distance;
} rk_end;

/* Where things lie in the workspace, and the state of one solve. */
typedef struct rk_search {
  const rk_ik *ik;
  const double *targets;
  double *nodes, *tips;            /* [n_nodes][12], [n_tasks][12] */
  double *errors;                  /* [n_tasks][6] in root axes */
  double *residuals, *best_residuals; /* [n_tasks][2] */
  double *J;                       /* [6][columns of one task] */
  double *H, *g, *x, *lo, *hi, *step_work;
  double *turns;                   /* [n_cones][9] */
  double *rolls;                   /* [n_bases][6] */
  const double *rolled_from;       /* [nq] from where wheels move the bases, null: bases move freely */
  int32_t *side;
  double *q, *start, *best_q;
  double best_error, least_error;
  rk_end chosen, rival;
  int32_t iterations;
} rk_search;

/* Lays a search out in rk_ik_workspace(ik) doubles. */
rk_search rk_search_lay_out(const rk_ik *ik, double *work);

/* Places the tips at q; returns the weighted error E = e'e/2 and whether every residual is within its tolerance. */
double rk_search_measure(const rk_search *s, int *met);

/* The same for other targets at the q that was measured last. */
double rk_search_compare(const rk_search *s, int *met);

/* Moves q by one bounded damped step; after rk_search_measure, which returned E. */
void rk_search_step(const rk_search *s, double E);

/* The damping that rk_search_step takes, and the step with another one. */
double rk_search_damping(double E);
void rk_search_damped_step(const rk_search *s, double damping);

/* 1 when every target is a finite rigid placement. */
int rk_search_rigid(const rk_search *s);

/* 0 when a distance certificate shows that a task cannot be met. */
int rk_search_reachable(const rk_search *s);

#endif
