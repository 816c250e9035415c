/* The nearest place on a curve. */
#ifndef RK_CURVE_H
#define RK_CURVE_H

/* e[3]: from p to the nearest point of the curve of a target of RK_TIP_CURVE or RK_TIP_SPOT; along[3]: its direction
   there. Returns 0 where the gap leans along it, so that no direction is free: it is one to a corner or an end. */
int rk_curve_gap(const double target[16], const double p[3], double e[3], double along[3]);

#endif
