/* The nearest place on a curve. */
#ifndef RK_CURVE_H
#define RK_CURVE_H

#include "robokin_step.h"

/* *piece: the straight piece that is nearest to p, as a curve of its own, longer by `beyond` at both ends; or
   shorter, by at most a quarter. */
void rk_curve_piece(const double target[16], const double p[3], double beyond, rk_segment *piece);

/* e[3]: from p to the nearest point of the curve of a target of RK_TIP_CURVE or RK_TIP_SPOT; along[3]: its direction
   there. room[2], unless null: how far its straight piece goes on before and after it. Returns 0 where the gap leans along
   it, so that no direction is free: it is one to a corner or an end. */
int rk_curve_gap(const double target[16], const double p[3], double e[3], double along[3], double room[2]);

#endif
