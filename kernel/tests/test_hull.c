/* Hulls of random points: exact memory, every point inside every face, every side between two faces. Points that are
   not in general position must end too. tests/robokin/collision/test_convex_hull.py compares them with others'. */
#include "robokin_collision.h"

#include "check.h"
#include "robots.h"

enum { MOST = 300 };

#define UNIT 281474976710656.0 /* 2^48 */

static int32_t *integers(int64_t n) { return allocate((size_t)n * sizeof(int32_t)); }

static int32_t find(int32_t n, const int64_t *points, int32_t *triangles) {
  const int32_t first[4] = {0, 1, 2, 3};
  double *work = doubles(rk_hull_workspace(n));
  const int32_t count = rk_hull(n, points, first, work, triangles);
  free(work);
  return count;
}

static void check_hull(int32_t n, const int64_t *points, const int32_t *triangles, int32_t count) {
  int32_t *sides = integers(n * n);
  memset(sides, 0, (size_t)(n * n) * sizeof *sides);
  for (int32_t t = 0; t < count; t++) {
    const int32_t *c = triangles + 3 * t;
    const int64_t *a = points + 3 * c[0], *b = points + 3 * c[1], *d = points + 3 * c[2];
    double normal[3];
    for (int k = 0; k < 3; k++) {
      const int u = (k + 1) % 3, v = (k + 2) % 3;
      normal[k] = (double)(b[u] - a[u]) * (double)(d[v] - a[v]) - (double)(b[v] - a[v]) * (double)(d[u] - a[u]);
      sides[c[k] * n + c[(k + 1) % 3]]++;
    }
    for (int32_t i = 0; i < n; i++) {
      double height = 0.0;
      for (int k = 0; k < 3; k++) height += normal[k] * (double)(points[3 * i + k] - a[k]);
      CHECK(height < 1e-12 * UNIT * UNIT * UNIT, "a point is outside by %g", height);
    }
  }
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++)
      CHECK(sides[i * n + j] <= 1 && sides[i * n + j] == sides[j * n + i], "a side lies between two faces");
  free(sides);
}

int main(void) {
  uint64_t random = 1;
  for (int trial = 0; trial < 200; trial++) {
    const int32_t n = 4 + (int32_t)(uniform(&random, 0.0, 1.0) * (MOST - 4));
    int64_t *points = allocate((size_t)n * 3 * sizeof(int64_t));
    int32_t *triangles = integers(3 * (2 * n - 4));
    for (int32_t i = 0; i < n; i++) {
      double at[3], square = 0.0;
      for (int k = 0; k < 3; k++) at[k] = uniform(&random, -1.0, 1.0), square += at[k] * at[k];
      for (int k = 0; k < 3; k++) points[3 * i + k] = (int64_t)(UNIT * (trial % 3 ? at[k] : at[k] / sqrt(square)));
    }
    const int32_t count = find(n, points, triangles);
    CHECK(count >= 4 && (trial % 3 || count == 2 * n - 4), "%d triangles of %d points", count, n);
    check_hull(n, points, triangles, count);
    for (int32_t i = 0; i < 3 * n; i++)
      points[i] = trial % 2 ? points[i] >> 47 : points[3 * (i / 9)]; /* a grid; points that are one */
    const int32_t poor = find(n, points, triangles);
    CHECK(poor >= 0 && poor <= 2 * n - 4, "%d triangles of poor points", poor);
    free(points), free(triangles);
  }
  return report("hull");
}
