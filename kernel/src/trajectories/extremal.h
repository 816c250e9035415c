/* The motions of one axis that come farthest. Twin of solvers/trajectories/extremal.py. */
#ifndef RK_EXTREMAL_H
#define RK_EXTREMAL_H

enum { RK_PHASES = 7, RK_TURNS = 9 };

typedef struct rk_extremal {
  double v0, a0, v1, a1;
  double V, A, J;
  double rise[3], fall[3];
  double cruising; /* the duration from which on it cruises */
} rk_extremal;

/* The signs of the jerk in the phases. */
extern const double rk_phase_signs[RK_PHASES];

/* Durations of the jerks +, 0, - that lead from v0, a0 to v1 and acceleration 0, where that is a rise. */
void rk_change_of_velocity(double v0, double a0, double v1, double A, double J, double *durations);

/* start, end: p, v, a.   limits: V, A, J.   sign: -1 for the least far motion, with all of it mirrored. */
rk_extremal rk_extremal_of(const double *start, const double *end, const double *limits, double sign);

void rk_extremal_phases(const rk_extremal *m, double T, double *phases);

/* How far it comes in T, and in `slope` how fast that grows with T. */
double rk_extremal_at(const rk_extremal *m, double T, double *slope);

/* Durations, sorted, between which how far it comes is a convex or a concave function. Returns how many. */
int rk_extremal_turns(const rk_extremal *m, double *turns);

#endif
