/* The natural logarithm of a positive, normal number, to the last digits; of our own, so that every platform computes
   the same bits. */
#ifndef RK_LOG_H
#define RK_LOG_H

#include <stdint.h>
#include <string.h>

static inline double rk_log(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  bits = (bits & 0xfffffffffffffull) | 0x3ff0000000000000ull;
  double m;
  memcpy(&m, &bits, sizeof m);
  if (m > 1.4142135623730951) m *= 0.5, exponent++;
  const double t = (m - 1.0) / (m + 1.0), z = t * t; /* ln m = 2 atanh t, z < 0.0295 */
  double sum = 0.0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * z + 1.0 / k;
  return exponent * 0.6931471805599453 + 2.0 * t * sum;
}

#endif
