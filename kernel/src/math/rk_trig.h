/* Sine, cosine and arc tangent of our own, so that every platform computes the same bits (error <= 2 ulp). */
#ifndef RK_TRIG_H
#define RK_TRIG_H

/* Any finite angle, however large; NaN for infinite and NaN angles. */
void rk_sincos(double angle, double *sine, double *cosine);

/* `count` angles, several at a time, with the bits of rk_sincos. The arrays do not overlap. */
void rk_sincos_each(int count, const double *angles, double *sines, double *cosines);

/* What C's atan2 returns, signed zeros and infinities included. */
double rk_atan2(double y, double x);

/* x less the arc tangent of x, for |x| < 0.4375: fdlibm's polynomial. */
static inline double rk_atan_excess(double x) {
  const double z = x * x, w = z * z;
  const double odd =
      z * (3.33333333333329318027e-01 +
           w * (1.42857142725034663711e-01 +
                w * (9.09088713343650656196e-02 +
                     w * (6.66107313738753120669e-02 + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))));
  const double even =
      w * (-1.99999999998764832476e-01 +
           w * (-1.11111104054623557880e-01 +
                w * (-7.69187620504482999495e-02 + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))));
  return x * (odd + even);
}

#endif
