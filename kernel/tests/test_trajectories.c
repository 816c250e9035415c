/* From state to state: every piece leads to the next, inside the limits and the bounds. */
#include "robokin_trajectories.h"

#include "check.h"

enum { AXES = 4, CASES = 20000 };

static void check_axis(const double *knots, const double *end, double T, double reach) {
  double size = 1.0;
  for (int k = 0; k < RK_KNOTS; k++) size = fmax(size, fabs(knots[5 * k + 1]));
  for (int k = 0; k + 1 < RK_KNOTS; k++) {
    const double *a = knots + 5 * k, *b = a + 5, t = b[0] - a[0];
    CHECK(t >= 0.0, "a piece lasts %g", t);
    CHECK_NEAR(a[1] + t * (a[2] + t * (a[3] / 2.0 + t * a[4] / 6.0)), b[1], 1e-8 * size, "p");
    CHECK(fabs(b[1]) <= reach + 1e-8, "p is %g", b[1]);
  }
  CHECK_NEAR(knots[5 * (RK_KNOTS - 1)], T, 0.0, "the end");
  CHECK_NEAR(knots[5 * (RK_KNOTS - 1) + 1], end[0], 0.0, "the end");
}

int main(void) {
  uint64_t seed = 7;
  int found = 0;
  double *work = doubles(rk_point_to_point_workspace(AXES)), *knots = doubles(5 * RK_KNOTS * AXES);
  for (int i = 0; i < CASES; i++) {
    double start[AXES][3], end[AXES][3], limits[AXES][3], bounds[AXES][2], T;
    const int order = i % 3 ? 3 : 2;
    const double reach = i % 2 ? 1.2 : INFINITY;
    int32_t axis;
    for (int n = 0; n < AXES; n++) {
      for (int k = 0; k < 3; k++) limits[n][k] = exp(uniform(&seed, -2.0, 2.0));
      start[n][0] = uniform(&seed, -1.0, 1.0), end[n][0] = uniform(&seed, -1.0, 1.0);
      for (int k = 1; k < 3; k++) {
        start[n][k] = i % 5 ? uniform(&seed, -0.3, 0.3) * limits[n][k - 1] : 0.0;
        end[n][k] = i % 7 ? uniform(&seed, -0.3, 0.3) * limits[n][k - 1] : 0.0;
      }
      bounds[n][0] = -reach, bounds[n][1] = reach;
      if (i % 11 == 0) limits[n][0] = INFINITY;
    }
    const int32_t status = rk_point_to_point(AXES, order, *start, *end, *limits, *bounds, i % 13 ? 0.0 : 5.0, work, &T,
                                             knots, &axis);
    if (status != RK_PLANNED_FOUND) continue;
    found++;
    for (int n = 0; n < AXES; n++) check_axis(knots + 5 * RK_KNOTS * n, end[n], T, reach);
  }
  CHECK(found > CASES / 4, "%d found", found);
  free(work), free(knots);
  return report("trajectories");
}
