/* The finite motion of a constant twist. */
#ifndef RK_SCREW_H
#define RK_SCREW_H

#include "math/rk_math.h"
#include "math/rk_trig.h"

/* (t - sin t) / t^3, of the angle t and its square; below 1 rad, where digits cancel, as a series. */
static inline double rk_sinc3(double angle, double square, double sine) {
  if (angle >= 1.0) return (angle - sine) / (square * angle);
  double sum = 0.0;
  for (int k = 21; k > 3; k -= 2) sum = (1.0 - sum) * square / (k * (k - 1));
  return (1.0 - sum) / 6.0;
}

/* out = exp of a twist[6], a rigid placement (Sola, Deray, Atchuthan, "A micro Lie theory", 2018, Eq. 172). */
static inline void rk_screw(const double twist[6], double out[12]) {
  const double *v = twist, *w = twist + 3;
  const double square = rk_dot3(w, w), angle = rk_sqrt(square);
  double s, c, half, other;
  rk_sincos(angle, &s, &c);
  rk_sincos(0.5 * angle, &half, &other);
  const double first = angle > 0.0 ? s / angle : 1.0, chord = angle > 0.0 ? half / (0.5 * angle) : 1.0;
  const double second = 0.5 * chord * chord, third = rk_sinc3(angle, square, s);
  double wv[3], wwv[3];
  rk_cross(w, v, wv);
  rk_cross(w, wv, wwv);
  for (int r = 0; r < 3; r++) {
    for (int k = 0; k < 3; k++) out[3 * r + k] = second * (w[r] * w[k] - (r == k ? square : 0.0)) + (r == k);
    out[9 + r] = v[r] + second * wv[r] + third * wwv[r];
  }
  out[1] -= first * w[2], out[2] += first * w[1], out[5] -= first * w[0];
  out[3] += first * w[2], out[6] -= first * w[1], out[7] += first * w[0];
}

#endif
