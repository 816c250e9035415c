/* Plain checks for the C tests: a failed one says where and what, and the program's exit code tells. */
#ifndef RK_CHECK_H
#define RK_CHECK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition, ...)                                   \
  do {                                                          \
    if (!(condition)) {                                         \
      failures++;                                               \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__);                             \
      fputc('\n', stderr);                                      \
    }                                                           \
  } while (0)

#define CHECK_NEAR(value, expected, tolerance, what)                                                      \
  do {                                                                                                    \
    const double value_ = (value), expected_ = (expected);                                                \
    CHECK(fabs(value_ - expected_) <= (tolerance), "%s is %.17g, expected %.17g", what, value_, expected_); \
  } while (0)

static inline int report(const char *name) {
  if (failures) {
    fprintf(stderr, "%s: %d checks failed\n", name, failures);
    return 1;
  }
  printf("%s: ok\n", name);
  return 0;
}

/* Exactly `count` doubles on the heap, so that the address sanitiser sees every step outside; filled with NaN. */
static inline double *doubles(int64_t count) {
  double *memory = malloc((size_t)count * sizeof(double));
  if (count > 0 && !memory) abort();
  for (int64_t k = 0; k < count; k++) memory[k] = NAN;
  return memory;
}

/* Uniform in [low, high); xorshift64*, the same everywhere. */
static inline double uniform(uint64_t *state, double low, double high) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return low + (high - low) * (double)((*state * 2685821657736338717u) >> 11) / 9007199254740992.0;
}

static inline void random_quaternion(uint64_t *state, double q[4]) {
  double square = 0.0;
  do {
    square = 0.0;
    for (int k = 0; k < 4; k++) q[k] = uniform(state, -1.0, 1.0), square += q[k] * q[k];
  } while (square > 1.0 || square < 1e-4);
  for (int k = 0; k < 4; k++) q[k] /= sqrt(square);
}

#endif
