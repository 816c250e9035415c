/* Spatial inertias of 10 doubles: m, m c (3), and Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the reference point. */
#ifndef RK_INERTIA_H
#define RK_INERTIA_H

#include "math/rk_math.h"

/* out = the inertia `in`, given in the frame placed at T, in the root axes and about `point`. */
static inline void rk_move_inertia(const double in[10], const double T[12], const double point[3], double out[10]) {
  const double mass = in[0];
  const double full[9] = {in[4], in[5], in[6], in[5], in[7], in[8], in[6], in[8], in[9]};
  double RI[9], h[3];
  rk_multiply(T, full, RI);
  rk_rotate(T, in + 1, h);
  const double d[3] = {T[9] - point[0], T[10] - point[1], T[11] - point[2]};
  /* About the new point (Featherstone 2008, eq. 2.66): I + (2 h.d + m d.d) 1 - h d' - d h' - m d d'. */
  const double g[3] = {h[0] + mass * d[0], h[1] + mass * d[1], h[2] + mass * d[2]};
  const double trace = rk_dot3(h, d) + rk_dot3(g, d);
  out[0] = mass;
  for (int k = 0; k < 3; k++) out[1 + k] = g[k];
  double *I = out + 4;
  for (int r = 0; r < 3; r++)
    for (int c = r; c < 3; c++)
      *I++ = rk_dot3(RI + 3 * r, T + 3 * c) + (r == c ? trace : 0.0) - h[r] * d[c] - d[r] * g[c];
}

/* out = the momentum (linear, angular about the reference point) of a body that moves with `twist`; with an
   acceleration for the twist, its rate. */
static inline void rk_inertia_apply(const double inertia[10], const double twist[6], double out[6]) {
  const double *h = inertia + 1, *I = inertia + 4, *v = twist, *w = twist + 3;
  double wh[3], hv[3];
  rk_cross(w, h, wh);
  rk_cross(h, v, hv);
  for (int k = 0; k < 3; k++) out[k] = inertia[0] * v[k] + wh[k];
  out[3] = I[0] * w[0] + I[1] * w[1] + I[2] * w[2] + hv[0];
  out[4] = I[1] * w[0] + I[3] * w[1] + I[4] * w[2] + hv[1];
  out[5] = I[2] * w[0] + I[4] * w[1] + I[5] * w[2] + hv[2];
}

#endif
