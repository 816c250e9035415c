/* Polynomials, their coefficients and the split of pi/2 are those of fdlibm (k_sin.c, k_cos.c, s_atan.c,
   e_rem_pio2.c): Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved. Developed at SunSoft, a Sun
   Microsystems, Inc. business. Permission to use, copy, modify, and distribute this software is freely granted,
   provided that this notice is preserved. */
#include "math/rk_trig.h"

#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double from_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static const uint64_t SIGN = 0x8000000000000000u;

/* The bits of 2/pi behind one word of zeros: bit j of the table, counted from the left, weighs 2^(63 - j). */
static const uint64_t TWO_OVER_PI[20] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

/* angle = quadrant * pi/2 + high + low with |high| <= pi/4. Payne and Hanek, Radian reduction for trigonometric
   functions, SIGNUM 18 (1983): a fixed-point product with only those bits of 2/pi that matter modulo four quadrants.
   For finite |angle| >= 2^20. */
static int reduce_huge(double angle, double *high, double *low) {
  const uint64_t bits = bits_of(angle);
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1075;
  const uint64_t mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u; /* |angle| = mantissa * 2^exponent */

  /* Table bits before `start` contribute multiples of four quadrants; 192 bits from there leave an error below
     2^-137 quadrants, and no double comes nearer than 2^-62 to a whole quadrant. */
  const int start = exponent + 62, shift = start % 64;
  uint64_t word[3];
  for (int w = 0; w < 3; w++) {
    const uint64_t *at = TWO_OVER_PI + start / 64 + w;
    word[w] = shift ? at[0] << shift | at[1] >> (64 - shift) : at[0];
  }
  const u128 p2 = (u128)mantissa * word[2];
  const u128 p1 = (u128)mantissa * word[1] + (uint64_t)(p2 >> 64);
  const uint64_t p0 = mantissa * word[0] + (uint64_t)(p1 >> 64);

  int quadrant = (int)(p0 >> 62);
  u128 fraction = (((u128)p0 << 64) | (uint64_t)p1) << 2 | (uint64_t)p2 >> 62;
  const int above_half = (int)(fraction >> 127);
  if (above_half) fraction = -fraction;
  quadrant += above_half;

  const int zeros = __builtin_clzll((uint64_t)(fraction >> 64));
  const uint64_t normalised = (uint64_t)(fraction << zeros >> 64);
  const uint64_t half_pi = 0xc90fdaa22168c235u; /* pi/2 * 2^63 */
  const uint64_t product = (uint64_t)((u128)normalised * half_pi >> 64);
  const double unit = from_bits((uint64_t)(1023 - 63 - zeros) << 52);
  const double sign = above_half ? -unit : unit;
  *high = (double)(product & ~(uint64_t)0x7ff) * sign;
  *low = (double)(product & 0x7ff) * sign;
  if (bits & SIGN) {
    *high = -*high;
    *low = -*low;
    return -quadrant;
  }
  return quadrant;
}

/* What reduce_huge does, for |angle| < 2^20: Cody and Waite's subtraction of n pi/2, in parts of 33, 33 and 53 bits. */
static uint64_t reduce(double angle, double *high, double *low) {
  const double round = 6755399441055744.0; /* 1.5 * 2^52: adding it leaves a rounded integer in the last bits */
  const double shifted = angle * 6.36619772367581382433e-01 + round, n = shifted - round;
  const double first = angle - n * 1.57079632673412561417e+00, second = n * 6.07710050630396597660e-11;
  const double rest = first - second;
  const double third = n * 2.02226624879595063154e-21 - ((first - rest) - second);
  *high = rest - third;
  *low = (rest - *high) - third;
  return bits_of(shifted);
}

static double sine_near_zero(double x, double low) {
  const double z = x * x, w = z * z;
  const double r = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06) +
                   z * w * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10);
  const double v = z * x;
  return x - ((z * (0.5 * low - v * r) - low) - v * -1.66666666666666324348e-01);
}

static double cosine_near_zero(double x, double low) {
  const double z = x * x, w = z * z;
  const double r =
      z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05)) +
      w * w * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
  const double half = 0.5 * z, rounded = 1.0 - half;
  return rounded + (((1.0 - rounded) - half) + (z * r - x * low));
}

/* Sine and cosine of quadrant * pi/2 + high + low. A quarter turn swaps and negates: by bits, since a branch on the
   quadrant would be mispredicted half of the time, and keep a loop from using vector instructions. */
static void sincos_reduced(uint64_t quadrant, double high, double low, double *sine, double *cosine) {
  const uint64_t s = bits_of(sine_near_zero(high, low)), c = bits_of(cosine_near_zero(high, low));
  const uint64_t swapped = (s ^ c) & -(quadrant & 1);
  *sine = from_bits(s ^ swapped ^ (quadrant & 2) << 62);
  *cosine = from_bits(c ^ swapped ^ ((quadrant + 1) & 2) << 62);
}

static int is_moderate(double angle) { return angle > -0x1p20 && angle < 0x1p20; }

void rk_sincos(double angle, double *sine, double *cosine) {
  double high, low;
  uint64_t quadrant;
  if (is_moderate(angle)) {
    quadrant = reduce(angle, &high, &low);
  } else if (angle - angle == 0.0) {
    quadrant = (uint64_t)reduce_huge(angle, &high, &low);
  } else {
    *sine = *cosine = angle - angle;
    return;
  }
  sincos_reduced(quadrant, high, low, sine, cosine);
}

void rk_sincos_each(int count, const double *restrict angles, double *restrict sines, double *restrict cosines) {
  int moderate = 1;
  for (int k = 0; k < count; k++) moderate &= is_moderate(angles[k]);
  for (int k = 0; k < count; k++) {
    double high, low;
    const uint64_t quadrant = reduce(angles[k], &high, &low);
    sincos_reduced(quadrant, high, low, sines + k, cosines + k);
  }
  if (moderate) return;
  for (int k = 0; k < count; k++) rk_sincos(angles[k], sines + k, cosines + k);
}

/* Arc tangent of x >= 0. */
static double arc_tangent(double x) {
  static const double HIGH[4] = {4.63647609000806093515e-01, 7.85398163397448278999e-01, 9.82793723247329054082e-01,
                                 1.57079632679489655800e+00};
  static const double LOW[4] = {2.26987774529616870924e-17, 3.06161699786838301793e-17, 1.39033110312309984516e-17,
                                6.12323399573676603587e-17};
  int range;
  if (x < 0.4375) {
    if (x < 0x1p-27) return x;
    range = -1;
  } else if (x < 0.6875) {
    range = 0, x = (2.0 * x - 1.0) / (2.0 + x);
  } else if (x < 1.1875) {
    range = 1, x = (x - 1.0) / (x + 1.0);
  } else if (x < 2.4375) {
    range = 2, x = (x - 1.5) / (1.0 + 1.5 * x);
  } else {
    range = 3, x = -1.0 / x;
  }
  if (range < 0) return x - rk_atan_excess(x);
  return HIGH[range] - ((rk_atan_excess(x) - LOW[range]) - x);
}

double rk_atan2(double y, double x) {
  if (x != x || y != y) return x + y;
  const double PI = 3.14159265358979311600e+00, PI_LOW = 1.22464679914735317722e-16;
  const uint64_t sign_y = bits_of(y) & SIGN;
  const int left = (bits_of(x) & SIGN) != 0;
  const double ay = from_bits(bits_of(y) & ~SIGN), ax = from_bits(bits_of(x) & ~SIGN);
  const double infinity = __builtin_inf();
  double angle; /* of (ax, ay), then of (x, ay) */
  if (ay == 0.0) {
    angle = 0.0;
  } else if (ax == infinity) {
    angle = ay == infinity ? arc_tangent(1.0) : 0.0;
  } else {
    angle = arc_tangent(ay / ax);
  }
  if (left) angle = PI - (angle - PI_LOW);
  return from_bits(bits_of(angle) | sign_y);
}
