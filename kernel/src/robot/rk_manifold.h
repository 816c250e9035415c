/* Differences of rotations. */
#ifndef RK_MANIFOLD_H
#define RK_MANIFOLD_H

/* w[3] with q0 exp(w / 2) = q1, quaternions, |w| <= pi. */
void rk_difference_ball(const double *q0, const double *q1, double *w);

#endif
