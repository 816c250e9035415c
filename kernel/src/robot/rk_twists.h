/* Products of twists and wrenches (linear part first). */
#ifndef RK_TWISTS_H
#define RK_TWISTS_H

#include "math/rk_math.h"

/* out += a x b of two twists. */
static inline void rk_add_motion_cross(const double a[6], const double b[6], double out[6]) {
  double wv[3], vw[3], ww[3];
  rk_cross(a + 3, b, wv);
  rk_cross(a, b + 3, vw);
  rk_cross(a + 3, b + 3, ww);
  for (int k = 0; k < 3; k++) out[k] += wv[k] + vw[k], out[3 + k] += ww[k];
}

/* out += twist x* momentum (force first). */
static inline void rk_add_force_cross(const double twist[6], const double momentum[6], double out[6]) {
  double wp[3], wl[3], vp[3];
  rk_cross(twist + 3, momentum, wp);
  rk_cross(twist + 3, momentum + 3, wl);
  rk_cross(twist, momentum, vp);
  for (int k = 0; k < 3; k++) out[k] += wp[k], out[3 + k] += wl[k] + vp[k];
}

#endif
