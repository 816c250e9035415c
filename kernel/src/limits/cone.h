/* Swing and twist of a ball, and its limits: an elliptic cone of swings and a range of twists. */
#ifndef RK_CONE_H
#define RK_CONE_H

#include "robokin_ik.h"

/* 1 when the unit quaternion q is inside the limits moved inside by `margin` [rad]. */
int rk_cone_contains(const rk_cone *cone, const double q[4], double margin);

/* Moves q to the nearest swing vector and twist inside the limits; leaves it alone when it is inside. */
void rk_cone_project(const rk_cone *cone, double q[4]);

/* Angular velocities B c (child frame) with lo <= c <= hi keep a step of unit time from q, inside the limits, inside
   them to first order; B[3][3]. */
void rk_cone_local(const rk_cone *cone, const double q[4], double B[9], double lo[3], double hi[3]);

/* q = what three numbers in [0, 1) stand for, inside the limits. */
void rk_cone_draw(const rk_cone *cone, const double numbers[3], double q[4]);

#endif
