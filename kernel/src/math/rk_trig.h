/* Sine, cosine and arc tangent of our own, so that every platform computes the same bits (error <= 2 ulp). */
#ifndef RK_TRIG_H
#define RK_TRIG_H

/* Any finite angle, however large; NaN for infinite and NaN angles. */
void rk_sincos(double angle, double *sine, double *cosine);

/* The same bits for `count` angles, several at a time. The arrays do not overlap. */
void rk_sincos_each(int count, const double *angles, double *sines, double *cosines);

/* As C's atan2, signed zeros and infinities included. */
double rk_atan2(double y, double x);

#endif
