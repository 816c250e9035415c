/* Sums and differences of rotations. */
#ifndef RK_MANIFOLD_H
#define RK_MANIFOLD_H

/* out = q exp(w / 2), of unit length again; out is not q. */
void rk_integrate_ball(const double q[4], const double w[3], double out[4]);

/* w[3] with q0 exp(w / 2) = q1, quaternions, |w| <= pi. */
void rk_difference_ball(const double *q0, const double *q1, double *w);

#endif
