/* Limits that bind several degrees of freedom together: the cones of balls, and where wheeled bases may go. */
#ifndef RK_COUPLED_H
#define RK_COUPLED_H

#include "robokin_ik.h"

/* Moves q[4] into the cone, its step from `last` within [lo, hi] and such that braking after it stays there too.
   previous[3]: the last step; change[3]: of it, per frame. */
void rk_ball_within(const rk_cone *cone, const double last[4], const double previous[3], const double lo[3],
                    const double hi[3], const double change[3], double q[4]);

/* Shortens step[2] of the wheels of a base at x, y, angle `start`, such that the base stays within lower, upper and its
   steps within `largest`, each [3], now and while it brakes. previous[2], change[2]: of the wheels. */
void rk_base_within(const rk_base *base, const double start[3], const double previous[2], const double change[2],
                    const double lower[3], const double upper[3], const double largest[3], double step[2]);

/* next[]: the steps in these columns when they brake along one path. */
void rk_brake_together(int n, const int32_t *columns, const double *step, const double *change, double *next);

#endif
