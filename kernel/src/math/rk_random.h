/* Seeded random numbers: solvers/random_numbers.py. */
#ifndef RK_RANDOM_H
#define RK_RANDOM_H

#include <stdint.h>

/* In [0, 1), with 53 random bits (SplitMix64). */
static inline double rk_uniform(uint64_t *state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

#endif
