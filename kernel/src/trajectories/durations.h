/* In which time one axis can go from a state to a state. Twin of solvers/trajectories/durations.py. */
#ifndef RK_DURATIONS_H
#define RK_DURATIONS_H

#include "trajectories/extremal.h"

/* Intervals of durations that no motion has. */
typedef struct rk_blocked {
  int count;
  double low[2], high[2];
} rk_blocked;

rk_blocked rk_blocked_of(double d, double x0, double x1, double X, double A);

typedef struct rk_durations {
  int at_rest; /* at both ends: the least far motion is the farthest one mirrored */
  double distance, least, rounding;
  rk_blocked blocked;
  rk_extremal farthest[2];
} rk_durations;

rk_durations rk_durations_of(const double *start, const double *end, const double *limits);

/* The shortest possible one that is not shorter than T. */
double rk_durations_from(const rk_durations *d, double T);

/* How much of the farthest motion, beside the least far one, leads to the end in a possible duration. */
double rk_durations_share(const rk_durations *d, double T);

#endif
