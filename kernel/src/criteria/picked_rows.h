/* What tasks on tips pick from the twists of their tips, for criteria on how well they move, and how that changes. */
#ifndef RK_PICKED_ROWS_H
#define RK_PICKED_ROWS_H

#include "robokin_step.h"

enum { RK_OWN = 0, RK_OTHER = 1 };

/* The degrees of freedom that move a tip: their twists at it, per unit of v, columns and nodes. */
typedef struct rk_chain {
  int32_t count, *column, *node;
  double (*twist)[6];
  double T[12];
} rk_chain;

/* Rows of a task: what each picks from the twists of the tip and of the other one, each at its own origin, in root axes,
   lengths over L. */
typedef struct rk_picked {
  int count;
  double row[6][2][6];
} rk_picked;

/* A task at a pose, and whether what it picks depends on that. */
typedef struct rk_picking {
  const rk_tip_rows *task;
  const double *target;
  double length;
  rk_chain chains[2];
  int turns;
} rk_picking;

rk_picked rk_pick(const rk_step_data *data, int32_t t, rk_picking *p);

/* What rows pick changes as one of the tips moves with a twist at its origin. */
rk_picked rk_turned(const rk_picking *p, const rk_picked *rows, int side, const double twist[6]);

#endif
