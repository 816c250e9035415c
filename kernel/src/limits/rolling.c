/* Rolling without slip, twin of RollingBase in robokin/model/rolling.py, which explains it. */
#include "limits/rolling.h"

#include "math/rk_math.h"
#include "math/rk_trig.h"

static const double PI = 3.14159265358979323846;
static const double BESIDE = 1e-9; /* [m, rad] */
static const double BACKWARDS = 1e-6; /* [rad] */

static void turned_by(const double vector[2], double angle, double out[2]) {
  double s, c;
  rk_sincos(angle, &s, &c);
  out[0] = c * vector[0] - s * vector[1];
  out[1] = s * vector[0] + c * vector[1];
}

static double sinc(double x) {
  double s, c;
  rk_sincos(x, &s, &c);
  return x == 0.0 ? 1.0 : s / x;
}

/* d/dx sin(x) / x */
static double sinc_slope(double x) {
  const double z = x * x;
  if (z >= 0.25) {
    double s, c;
    rk_sincos(x, &s, &c);
    return (c - s / x) / x;
  }
  double total = 0.0, factorial = 355687428096000.0; /* 17! */
  for (int k = 8; k >= 1; k--) {
    total = total * z + (k % 2 ? -2.0 : 2.0) * k / factorial;
    factorial /= 2.0 * k * (2.0 * k + 1.0);
  }
  return x * total;
}

static void distance_and_turn(const rk_base *base, const double turned[2], double *distance, double *turn) {
  const double left = base->rolled[0] * turned[0], right = base->rolled[1] * turned[1];
  *distance = 0.5 * (left + right);
  *turn = (right - left) / base->separation;
}

void rk_roll(const rk_base *base, const double start[3], const double turned[2], double out[3]) {
  double distance, turn, heading[2], before[2], after[2];
  const double angle = start[2];
  distance_and_turn(base, turned, &distance, &turn);
  const double half = 0.5 * turn, chord = distance * sinc(half);
  turned_by(base->forward, angle + half, heading);
  turned_by(base->centre, angle, before);
  turned_by(base->centre, angle + turn, after);
  for (int k = 0; k < 2; k++) out[k] = start[k] + (chord * heading[k] + before[k] - after[k]);
  out[2] = angle + turn;
}

void rk_roll_jacobian(const rk_base *base, const double start[3], const double turned[2], double M[6]) {
  double distance, turn, heading[2], centre[2];
  distance_and_turn(base, turned, &distance, &turn);
  const double half = 0.5 * turn, s = sinc(half), slope = sinc_slope(half);
  turned_by(base->forward, start[2] + half, heading);
  turned_by(base->centre, start[2] + turn, centre);
  const double aside[2] = {-heading[1], heading[0]}, arm[2] = {-centre[1], centre[0]};
  const double turns[2] = {-base->rolled[0] / base->separation, base->rolled[1] / base->separation};
  for (int k = 0; k < 2; k++) {
    const double by_distance = s * heading[k], by_turn = 0.5 * distance * (slope * heading[k] + s * aside[k]) - arm[k];
    for (int wheel = 0; wheel < 2; wheel++) M[2 * k + wheel] = by_distance * (0.5 * base->rolled[wheel]) + by_turn * turns[wheel];
  }
  M[4] = turns[0], M[5] = turns[1];
}

static int is_inside(const rk_base *base, const double place[3], const double wheels[2], const double *lower, const double *upper) {
  int inside = 1;
  for (int i = 0; i < 3; i++) inside &= place[i] >= lower[base->q + i] - BESIDE && place[i] <= upper[base->q + i] + BESIDE;
  for (int i = 0; i < 2; i++)
    inside &= wheels[i] >= lower[base->wheel_q[i]] - BESIDE && wheels[i] <= upper[base->wheel_q[i]] + BESIDE;
  return inside;
}

void rk_turn_wheels(const rk_base *base, double distance, double turn, double turned[2]) {
  turned[0] = (distance - 0.5 * base->separation * turn) / base->rolled[0];
  turned[1] = (distance + 0.5 * base->separation * turn) / base->rolled[1];
}

int rk_drive(const rk_base *base, const double *last, const double *q, const double *lower, const double *upper, double turned[2],
             double whole[2]) {
  const double *start = last + base->q, *goal = q + base->q;
  double heading[2], before[2], after[2], away[2];
  turned_by(base->forward, start[2], heading);
  turned_by(base->centre, start[2], before);
  turned_by(base->centre, goal[2], after);
  for (int k = 0; k < 2; k++) away[k] = goal[k] + after[k] - start[k] - before[k];
  const double far = rk_sqrt(away[0] * away[0] + away[1] * away[1]), all = goal[2] - start[2];
  const double towards = rk_atan2(heading[0] * away[1] - heading[1] * away[0], heading[0] * away[0] + heading[1] * away[1]);
  double least = __builtin_inf();
  for (int k = -2; k <= 2; k++) { /* half circles: forwards, and backwards where it is odd */
    double turn = towards + k * PI, distance = k % 2 ? -far : far, place[3], wheels[2];
    if (far <= BESIDE) turn = all, distance = 0.0;
    const double cost = __builtin_fabs(turn) + __builtin_fabs(all - turn) + (k % 2 ? BACKWARDS : 0.0);
    const double arcs[3][2] = {{0.0, turn}, {distance, 0.0}, {0.0, all - turn}};
    if (!(cost < least)) continue;
    int inside = 1, first = __builtin_fabs(turn) * far <= 0.5 * BESIDE; /* it has turned already */
    double own[2] = {0.0, 0.0};
    for (int i = 0; i < 3; i++) place[i] = start[i];
    for (int i = 0; i < 2; i++) wheels[i] = last[base->wheel_q[i]];
    if (far <= BESIDE) first = 0;
    for (int arc = 0; arc < 3; arc++) {
      double step[2];
      rk_turn_wheels(base, arcs[arc][0], arcs[arc][1], step);
      rk_roll(base, place, step, place);
      for (int i = 0; i < 2; i++) wheels[i] += step[i], own[i] += __builtin_fabs(step[i]);
      inside = inside && is_inside(base, place, wheels, lower, upper);
    }
    if (!inside) continue;
    least = cost;
    rk_turn_wheels(base, arcs[first][0], arcs[first][1], turned);
    for (int i = 0; i < 2; i++) whole[i] = own[i];
  }
  return least < __builtin_inf();
}

void rk_roll_bases(const rk_ik *ik, const double *start, double *q) {
  for (int32_t k = 0; k < ik->n_bases; k++) {
    const rk_base *base = ik->bases + k;
    double turned[2];
    for (int wheel = 0; wheel < 2; wheel++) turned[wheel] = q[base->wheel_q[wheel]] - start[base->wheel_q[wheel]];
    rk_roll(base, start + base->q, turned, q + base->q);
  }
}
