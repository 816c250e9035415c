/* Ways into the limits and to a stop, of one axis. Twin of solvers/trajectories/brakes.py. */
#ifndef RK_BRAKES_H
#define RK_BRAKES_H

/* u: the jerk, or of order 2 the acceleration. */
typedef struct rk_piece {
  double duration, u;
} rk_piece;

/* The fastest way from v and a to where the limits can be kept from then on. Returns the number of pieces, 0 or 2. */
int rk_brake(double v, double a, double V, double A, double J, rk_piece *pieces);

/* The fastest way from v and a to rest, three pieces. */
void rk_stop(double v, double a, double A, double J, rk_piece *pieces);

/* The shortest way from v and a to no speed, with what acceleration there is then. Returns the number of pieces, 2, or 0
 * where it leads beyond -V. */
int rk_stand(double v, double a, double V, double A, double J, rk_piece *pieces);

/* The limits, from this state on, give or take rounding. */
int rk_can_be_kept(double v, double a, double V, double A, double J);

#endif
