/* The kernel's own trigonometry against the C library's. */
#include "math/rk_trig.h"
#include "check.h"

static double ulps(double value, long double exact) {
  const double size = fabs((double)exact);
  const double ulp = nextafter(size, INFINITY) - size;
  return (double)fabsl((long double)value - exact) / ulp;
}

static void check_angle(double angle) {
  double s, c;
  rk_sincos(angle, &s, &c);
  CHECK(ulps(s, sinl((long double)angle)) <= 2.0, "sin(%.17g) = %.17g, not %.17g", angle, s, sin(angle));
  CHECK(ulps(c, cosl((long double)angle)) <= 2.0, "cos(%.17g) = %.17g, not %.17g", angle, c, cos(angle));
}

static void test_sincos(void) {
  uint64_t random = 1;
  const double ranges[] = {1e-300, 1e-9, 1e-3, 1.0, 10.0, 1e3, 1e6};
  for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
    for (int k = 0; k < 20000; k++) check_angle(uniform(&random, -ranges[r], ranges[r]));
  /* Near the zeros of either function, where the subtraction of n pi/2 cancels most digits; the worst is
     n = 409102 (found by exact arithmetic over all n). */
  for (int n = -5000; n <= 5000; n++) check_angle(n * 1.5707963267948966);
  check_angle(642615.9188844458);
  for (int n = -5000; n <= 5000; n++) check_angle(nextafter(n * 0.78539816339744828, INFINITY));
  check_angle(0x1p20);
  check_angle(nextafter(0x1p20, 0.0));
}

/* Many at once: the same bits, whatever the count and whichever of them is large or no number. */
static void test_sincos_each(void) {
  enum { MOST = 9 };
  uint64_t random = 4;
  const double ranges[] = {1e-3, 10.0, 1e5, 1e9};
  for (int trial = 0; trial < 20000; trial++) {
    const int count = trial % (MOST + 1);
    double angles[MOST], sines[MOST], cosines[MOST], s, c;
    for (int k = 0; k < count; k++) {
      const double range = ranges[(trial + k * (trial % 3)) % 4];
      angles[k] = uniform(&random, -range, range);
    }
    if (count && trial % 50 == 9) angles[trial % count] = trial % 100 == 9 ? NAN : INFINITY;
    rk_sincos_each(count, angles, sines, cosines);
    for (int k = 0; k < count; k++) {
      rk_sincos(angles[k], &s, &c);
      if (s != s) {
        CHECK(sines[k] != sines[k] && cosines[k] != cosines[k], "of %g: %g, %g", angles[k], sines[k], cosines[k]);
        continue;
      }
      CHECK(!memcmp(&s, sines + k, sizeof s), "sine of %.17g: %.17g alone, %.17g", angles[k], s, sines[k]);
      CHECK(!memcmp(&c, cosines + k, sizeof c), "cosine of %.17g: %.17g alone, %.17g", angles[k], c, cosines[k]);
    }
  }
}

/* The double nearest to a multiple of pi/2 (Muller et al., Handbook of Floating-Point Arithmetic, section 10.2.1),
   where nothing but exact reduction gives a digit; and powers of two up to the last. */
static void test_huge_angles(void) {
  double s, c;
  rk_sincos(ldexp(6381956970095103.0, 797), &s, &c);
  CHECK_NEAR(fabs(c) / 4.687165924254624e-19, 1.0, 1e-15, "the smallest cosine of a double");
  for (int e = 20; e < 1024; e++) {
    const double angle = ldexp(1.3, e);
    rk_sincos(angle, &s, &c);
    CHECK(ulps(s, sin(angle)) <= 2.0 && ulps(c, cos(angle)) <= 2.0, "at 1.3 * 2^%d: %.17g %.17g", e, s, c);
    double s_left, c_left;
    rk_sincos(-angle, &s_left, &c_left);
    CHECK(s_left == -s && c_left == c, "sin is odd and cos is even at 1.3 * 2^%d", e);
  }
  const double bad[] = {INFINITY, -INFINITY, NAN};
  for (int k = 0; k < 3; k++) {
    rk_sincos(bad[k], &s, &c);
    CHECK(isnan(s) && isnan(c), "of %g: %g %g", bad[k], s, c);
  }
}

static void test_atan2(void) {
  uint64_t random = 2;
  for (int k = 0; k < 200000; k++) {
    const double y = uniform(&random, -1.0, 1.0) * pow(10.0, uniform(&random, -4.0, 4.0));
    const double x = uniform(&random, -1.0, 1.0) * pow(10.0, uniform(&random, -4.0, 4.0));
    CHECK(ulps(rk_atan2(y, x), atan2l((long double)y, (long double)x)) <= 2.0, "atan2(%.17g, %.17g) = %.17g", y, x,
          rk_atan2(y, x));
  }
  const double special[] = {0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1e308, -1e308, INFINITY, -INFINITY, NAN};
  const int n = sizeof special / sizeof *special;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const double mine = rk_atan2(special[i], special[j]), theirs = atan2(special[i], special[j]);
      const int same_sign = !signbit(mine) == !signbit(theirs);
      CHECK(isnan(mine) ? isnan(theirs) : same_sign && fabs(mine - theirs) <= 4.5e-16, "atan2(%g, %g) = %.17g, not %.17g",
            special[i], special[j], mine, theirs);
    }
}

int main(void) {
  test_sincos();
  test_sincos_each();
  test_huge_angles();
  test_atan2();
  return report("trig");
}
