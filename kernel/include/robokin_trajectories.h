/* Motions of axes from state to state. Conventions as in robokin_kernel.h. */
#ifndef ROBOKIN_TRAJECTORIES_H
#define ROBOKIN_TRAJECTORIES_H

#include "robokin_kernel.h"

enum { RK_KNOTS = 28 };

/* The values are those of Planned in solvers/trajectories/reference.py. */
enum rk_planned { RK_PLANNED_FOUND = 0, RK_PLANNED_END = 1, RK_PLANNED_BOUNDS = 2 };

/* Doubles of workspace that rk_point_to_point needs for n axes. */
RK_API int64_t rk_point_to_point_workspace(int32_t n);

/* The fastest motion of n axes that takes all of them from start[n][3] to end[n][3], p, v, a each, in one duration that
   is not shorter than `least`. limits[n][3]: on the sizes of v, a and, of order 3, the jerk; those on v, and of order 3
   on a, may be infinite. Order 2: the acceleration may jump. bounds[n][2]: of p. Starts outside the limits are brought
   into them first. knots[n][RK_KNOTS][5]: t, p, v, a, j at the start of each piece of constant jerk, from the last one
   on the end. Returns an rk_planned; `axis` is the one that it concerns. */
RK_API int32_t rk_point_to_point(int32_t n, int32_t order, const double *start, const double *end, const double *limits,
                                 const double *bounds, double least, double *work, double *duration, double *knots,
                                 int32_t *axis);

/* The fastest speed along a path of n intervals of lengths steps[n]: x[n + 1], squares of the speed at their ends, each
   at most most[n + 1], with a constant acceleration u = (x[i + 1] - x[i]) / (2 steps[i]) in each interval, and
   rows[n][m][3]: a u + b x[i] <= c. By reachability (Pham and Pham 2018): low[n + 1] to high[n + 1] are the x from which
   the end can be reached. Returns -1, or the last interval from which it cannot. */
RK_API int32_t rk_path_speed(int32_t n, int32_t m, const double *rows, const double *most, const double *steps,
                             double *low, double *high, double *x);

#endif
