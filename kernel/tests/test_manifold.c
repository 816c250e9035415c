/* Integration and difference of quaternions and floating bodies: group axioms, near zero and near half a turn. */
#include "check.h"
#include "robots.h"

static const double ANGLES[] = {0.0,  5e-324, 1e-300, 1e-160, 1e-20, 1e-9, 1e-8,        1e-4,           0.1,
                                0.49, 0.4999, 0.5,    0.5001, 0.51,  1.0,  3.141592653, 3.14159265358979};

/* A ball's q is its quaternion, a floating body's its position and quaternion. */
static rk_model make_single(int32_t motion) {
  rk_model m = make_model(1, 0, motion == RK_BALL ? 4 : 7, motion == RK_BALL ? 3 : 6);
  SET(m.motion, 0, motion);
  return m;
}

static void test_round_trip(int32_t motion) {
  uint64_t random = 11;
  rk_model m = make_single(motion);
  const int quaternion = m.nq - 4, angular = m.nv - 3;
  double q[7], v[6], back[6], moved[7];
  for (size_t a = 0; a < sizeof ANGLES / sizeof *ANGLES; a++) {
    for (int trial = 0; trial < 50; trial++) {
      double direction[4], length = 0.0;
      for (int k = 0; k < m.nq; k++) q[k] = uniform(&random, -2.0, 2.0);
      random_quaternion(&random, q + quaternion);
      random_quaternion(&random, direction);
      for (int k = 0; k < m.nv; k++) v[k] = uniform(&random, -1.0, 1.0);
      for (int k = 0; k < 3; k++) length += direction[k] * direction[k];
      for (int k = 0; k < 3; k++) v[angular + k] = ANGLES[a] * direction[k] / sqrt(length);
      rk_integrate(&m, 1, q, v, moved);
      rk_difference(&m, 1, q, moved, back);
      for (int k = 0; k < m.nv; k++) CHECK_NEAR(back[k], v[k], 5e-15, "a velocity there and back");
      /* The other sign of a quaternion is the same rotation. */
      for (int k = 0; k < 4; k++) moved[quaternion + k] = -moved[quaternion + k];
      rk_difference(&m, 1, q, moved, back);
      if (ANGLES[a] < 3.14)
        for (int k = 0; k < m.nv; k++) CHECK_NEAR(back[k], v[k], 5e-15, "the same with the other quaternion");
    }
  }
  free_model(&m);
}

/* Motion with one twist is a one-parameter group: two steps of v are one of 2 v. */
static void test_two_steps(void) {
  uint64_t random = 12;
  rk_model m = make_single(RK_FREE);
  double q[7], v[6], twice[6], once[7], two[7], whole[7];
  for (size_t a = 0; a < sizeof ANGLES / sizeof *ANGLES; a++) {
    for (int k = 0; k < 7; k++) q[k] = uniform(&random, -2.0, 2.0);
    random_quaternion(&random, q + 3);
    for (int k = 0; k < 6; k++) v[k] = (k < 3 ? 1.0 : ANGLES[a]) * uniform(&random, -1.0, 1.0), twice[k] = 2.0 * v[k];
    rk_integrate(&m, 1, q, v, once);
    rk_integrate(&m, 1, once, v, two);
    rk_integrate(&m, 1, q, twice, whole);
    for (int k = 0; k < 7; k++) CHECK_NEAR(two[k], whole[k], 4e-15, "two steps of one twist");
  }
  free_model(&m);
}

/* The tiny and the small: no digit of a rotation vector is lost on the way. */
static void test_relative_precision(void) {
  rk_model m = make_single(RK_BALL);
  const double q[4] = {1.0, 0.0, 0.0, 0.0};
  for (double size = 1.0; size > 1e-300; size *= 0.37) {
    const double v[3] = {0.3 * size, -0.5 * size, 0.7 * size};
    double moved[4], back[3];
    rk_integrate(&m, 1, q, v, moved);
    rk_difference(&m, 1, q, moved, back);
    for (int k = 0; k < 3; k++) CHECK_NEAR(back[k] / v[k], 1.0, 1e-14, "a small rotation, relatively");
  }
  free_model(&m);
}

/* A million steps later a quaternion still has unit length. */
static void test_no_drift(void) {
  rk_model m = make_single(RK_BALL);
  double q[2][4] = {{1.0, 0.0, 0.0, 0.0}};
  const double v[3] = {0.011, -0.007, 0.013};
  for (int step = 0; step < 1000000; step++) rk_integrate(&m, 1, q[step % 2], v, q[(step + 1) % 2]);
  const double *end = q[0];
  const double square = end[0] * end[0] + end[1] * end[1] + end[2] * end[2] + end[3] * end[3];
  CHECK_NEAR(square, 1.0, 1e-15, "the squared length");
  free_model(&m);
}

int main(void) {
  test_round_trip(RK_BALL);
  test_round_trip(RK_FREE);
  test_two_steps();
  test_relative_precision();
  test_no_drift();
  return report("manifold");
}
