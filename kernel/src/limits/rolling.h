/* How a wheeled base moves on the arc that its wheels roll. Twin of RollingBase in robokin/model/rolling.py. */
#ifndef RK_ROLLING_H
#define RK_ROLLING_H

#include "robokin_ik.h"

/* out = x, y, angle reached from `start` when the wheels turn by `turned`; out may be start. */
void rk_roll(const rk_base *base, const double start[3], const double turned[2], double out[3]);

/* M[3][2], its derivative by `turned`. */
void rk_roll_jacobian(const rk_base *base, const double start[3], const double turned[2], double M[6]);

/* turned[2]: by how much the wheels turn on an arc of that length [m] and turn [rad]. */
void rk_turn_wheels(const rk_base *base, double distance, double turn, double turned[2]);

/* turned[2]: by how much the wheels turn on the first of the arcs that lead a base to a place: it turns in place, drives straight,
   forwards or backwards, whichever turns it less, and turns in place. whole[2]: on all of them. last, q, lower, upper: [nq], from
   where to where, and the position limits, which each arc ends in; 0 where that is not so. */
int rk_drive(const rk_base *base, const double *last, const double *q, const double *lower, const double *upper, double turned[2],
             double whole[2]);

/* Put the bases in q where their wheels have moved them since `start`, both [nq]. */
void rk_roll_bases(const rk_ik *ik, const double *start, double *q);

#endif
