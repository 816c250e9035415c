/* Tasks in levels, as the static solver and tracking take them. Conventions as in robokin_kernel.h. */
#ifndef ROBOKIN_STACK_H
#define ROBOKIN_STACK_H

#include "robokin_step.h"

/* Fills in rows that the kernel has not, at data->q: those of other tasks and what these lack. frame: which of the
   frames of this call. */
typedef void (*rk_other_rows)(int32_t frame);

/* Fills data->H and data->g in with the criteria that the kernel has not, at data->q. */
typedef void (*rk_other_criteria)(int32_t frame);

/* Kinds of levels: nothing but velocities; of these, the path direction, after what is across it. */
enum rk_level_kind { RK_LEVEL_POSES = 0, RK_LEVEL_VELOCITIES = 1, RK_LEVEL_PATHS = 2 };

/* A compiled stack: the rows of all levels, level by level in data->start. Not owned. */
typedef struct rk_stack {
  const rk_step *step;       /* rows and criteria at a configuration */
  rk_step_data *data;        /* where the rows lie, and the targets of the kernel's tasks */
  double *q, *previous, *from; /* [nq], [nv], [nq] data->q, data->previous and data->from, which the solver writes */
  const int32_t *kind;       /* [levels] */
  const int32_t *level, *path_level; /* [n_tasks] the level of each task, and that of its path; -1: none */
  const double *tolerance;   /* [n_tasks][2] of its parts */
  double *residuals;         /* [n_tasks][2] at data->q: the kernel's tasks, then others */
  double *across;            /* [n_tasks][2] the same without what is along a path */
  const int32_t *used_from;  /* [nq] so many levels count at least when restarts draw a coordinate; null: no restarts */
  const double *costs;       /* [levels] of a step when so many levels count */
  double *steps;             /* [1] what they may cost: when it is spent, a search begins no further attempt; null: no end */
  const double *postures;    /* [levels][nq] that tasks of the first levels prescribe: one more initial guess; null: none */
  rk_other_rows rows;         /* null: the kernel has all */
  rk_other_criteria criteria; /* null: the kernel has all */
  int32_t n_tasks, n_criteria; /* n_criteria: all of them, with those of others */
  int32_t reachable;         /* levels before the first one that a distance certificate shows to be out of reach */
  int32_t posture_from;      /* so many levels count at least when one of them is a guess */
  int32_t adds_up;           /* the residuals of frames add up */
  int32_t changes;           /* the same targets ask for other places from frame to frame */
} rk_stack;

RK_API int32_t rk_sizeof_stack(void);

#endif
