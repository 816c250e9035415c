/* Rolling without slip, twin of RollingBase in robokin/model/rolling.py, which explains it. */
#include "limits/rolling.h"

#include "math/rk_math.h"
#include "math/rk_trig.h"

static const double PI = 3.14159265358979323846;
static const double BESIDE = 1e-9; /* [m] */
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

int rk_drive(const rk_base *base, const double start[3], const double goal[3], double lower, double upper, double turned[2],
             double whole[2]) {
  double heading[2], before[2], after[2], away[2], first = 0.0, distance = 0.0;
  turned_by(base->forward, start[2], heading);
  turned_by(base->centre, start[2], before);
  turned_by(base->centre, goal[2], after);
  for (int k = 0; k < 2; k++) away[k] = goal[k] + after[k] - start[k] - before[k];
  const double far = rk_sqrt(away[0] * away[0] + away[1] * away[1]), last = goal[2] - start[2];
  if (goal[2] < lower || goal[2] > upper) return 0;
  if (far > BESIDE) {
    const double towards = rk_atan2(heading[0] * away[1] - heading[1] * away[0], heading[0] * away[0] + heading[1] * away[1]);
    double least = __builtin_inf();
    for (int k = -2; k <= 2; k++) { /* half circles: forwards, and backwards where it is odd */
      const double turn = towards + k * PI, angle = start[2] + turn, dearer = k % 2 ? BACKWARDS : 0.0;
      const double cost = __builtin_fabs(turn) + __builtin_fabs(last - turn) + dearer;
      if (angle < lower || angle > upper || !(cost < least)) continue;
      least = cost, first = turn, distance = k % 2 ? -far : far;
    }
    if (!(least < __builtin_inf())) return 0;
  }
  const int turns = __builtin_fabs(first) * far > 0.5 * BESIDE;
  const double turn = turns ? first : far > BESIDE ? 0.0 : last, straight = turns ? 0.0 : distance;
  const double across = 0.5 * base->separation, all = across * (__builtin_fabs(first) + __builtin_fabs(last - first));
  turned[0] = (straight - across * turn) / base->rolled[0];
  turned[1] = (straight + across * turn) / base->rolled[1];
  for (int i = 0; i < 2; i++) whole[i] = __builtin_fabs((__builtin_fabs(distance) + all) / base->rolled[i]);
  return 1;
}

void rk_roll_bases(const rk_ik *ik, const double *start, double *q) {
  for (int32_t k = 0; k < ik->n_bases; k++) {
    const rk_base *base = ik->bases + k;
    double turned[2];
    for (int wheel = 0; wheel < 2; wheel++) turned[wheel] = q[base->wheel_q[wheel]] - start[base->wheel_q[wheel]];
    rk_roll(base, start + base->q, turned, q + base->q);
  }
}
