/* The iteration that the static solver (ik.c) and tracking (track.c) share. */
#ifndef RK_IK_SEARCH_H
#define RK_IK_SEARCH_H

#include "robokin_ik.h"

#define RK_LARGEST_STEP 3.141592653589793 /* radians or L: farther, a linear prediction means nothing */

/* Where an attempt came nearest to the targets: q [nq], its error, and how far it is from the start. */
typedef struct rk_end {
  double *q;
  double error, distance;
} rk_end;

/* What a step prefers in what freedom the levels leave: the least 1/2 v'Hv + g'v of the displacement since `from`. */
typedef struct rk_preference {
  const double *H, *g; /* [nv][nv], [nv], dimensionless */
  const double *from;  /* [nq] */
} rk_preference;

/* Where things lie in the workspace, and the state of one solve. */
typedef struct rk_search {
  const rk_ik *ik;
  const double *targets;
  double *nodes, *tips;            /* [n_nodes][12], [n_tasks][12] */
  double *errors;                  /* [n_tasks][6] in root axes */
  double *residuals, *best_residuals; /* [tasks][2] */
  double *J;                       /* [6][columns of one task] */
  double *H, *g, *x, *lo, *hi, *step_work;
  double *turns;                   /* [n_cones][9] */
  double *rolls;                   /* [n_bases][6] */
  const double *rolled_from;       /* [nq] from where wheels move the bases, null: bases move freely */
  void (*keep)(const void *bounds, double *q); /* brings the end of a step inside `bounds`; null: it is inside */
  const void *bounds;
  int32_t *side;
  double *q, *start, *best_q;
  double best_error, least_error;
  rk_end chosen, candidate;
  int32_t iterations;
  /* Levels: one, of all tasks, where there is no stack. */
  int32_t levels, tasks;           /* in all */
  int32_t on;                      /* the first levels count */
  int32_t as_one;                  /* 1: those that count are weighed against each other */
  int32_t is_kept;                 /* 1: q is the best configuration, and what was measured last */
  int32_t kept;                    /* the first levels, so many, keep what they had where they began */
  const int32_t *busy;             /* [nv] 1: columns that a step leaves where they are; null: none */
  int32_t is_exact;                /* 1: tasks on tips have the rows that a stack has, which take longer to make */
  int32_t frame;
  double *level_error, *best_level_error; /* [levels] |e|^2 / 2 */
  int32_t *level_met, *best_level_met;
  double *stack_work;
  rk_preference preference;        /* H null: the shortest step */
} rk_search;

/* How many levels are met, from the first on. met: [levels] */
static inline int32_t rk_leading(const int32_t *met, int32_t levels) {
  int32_t count = 0;
  while (count < levels && met[count]) count++;
  return count;
}

static inline int rk_are_all(const int32_t *met, int32_t levels) { return rk_leading(met, levels) == levels; }

/* Lays a search out in rk_ik_workspace(ik) doubles. */
rk_search rk_search_lay_out(const rk_ik *ik, double *work);

/* Places the tips at q; returns the error E = |e|^2 / 2 of the levels that count and are not met, and whether every residual is
   within its tolerance. */
double rk_search_measure(const rk_search *s, int *met);

/* Measures the q that was measured last against other targets. */
double rk_search_compare(const rk_search *s, int *met);

/* Moves q by one bounded damped step; after rk_search_measure, which returned E. Of several levels each is damped by its
   own error. */
void rk_search_step(rk_search *s, double E);

/* The damping that rk_search_step takes, and the step with another one; of several levels of the last that counts. */
double rk_search_damping(double E);
void rk_search_damped_step(rk_search *s, double damping);

/* Puts q beside a configuration: limbs that stand straight at their target bend to one side, whatever rounding says; an elbow
   to the side to which it can. */
void rk_search_nudge(const rk_search *s, const double *from);

/* Puts q away from a configuration: every coordinate by as much, this way or that as is drawn, each time for another number.
   What is drawn for a coordinate of the robot is the same whatever others are in the support. */
void rk_search_aside(const rk_search *s, const double *from, int64_t number);

/* 1 when every target is a finite rigid placement. */
int rk_search_rigid(const rk_search *s);

/* 0 when a distance certificate shows that a task cannot be met. */
int rk_search_reachable(const rk_search *s);

/* Makes q, of error E, the best configuration. */
void rk_search_keep(rk_search *s, double E);

/* Whether q, of error E, is better than the best configuration: the first level that differs decides. */
int rk_search_is_better(const rk_search *s, double E, int met);

/* From now on steps leave what the first `levels` lack at the configuration that was measured last: levels that are not met
   there are as near as they can be. 0: all go on. Of a stack. */
void rk_search_hold(rk_search *s, int32_t levels);

/* Whether each task of the kept levels has the residual that it had where they began, or is within its tolerance. */
int rk_search_holds(const rk_search *s);

/* What is left of the errors of the levels that count, met or not. */
double rk_search_remaining(const rk_search *s);

/* Descends from the best configuration to its minimum, only downwards, in at most `steps` steps; of several levels on the
   last that counts, while those above are kept. Ends when the error changes by less than the fraction
   `settled`. 1 when all that counts is met. */
int rk_search_settle(rk_search *s, int32_t steps, double settled);

#endif
