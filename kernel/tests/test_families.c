/* All postures of arms of each family: each meets its pose, inside the limits, and the pose's own is among them; refused
   targets; singular poses; exact memory. */
#include "../include/robokin_families.h"

#include "check.h"
#include "math/rk_math.h"
#include "math/rk_random.h"
#include "math/rk_trig.h"

enum { COUNT = 200 };

typedef struct arm {
  const char *name;
  int32_t kind, kind_of_arm, joints, slides, meets;
  double axis[RK_CHAIN][3], point[RK_CHAIN][3];
} arm;

static const arm ARMS[] = {
    {"UR5", RK_THREE_PARALLEL, 0, 6, 0, 1,
     {{0, 0, 1}, {0, -1, 0}, {0, -1, 0}, {0, -1, 0}, {0, 0, -1}, {0, -1, 0}},
     {{0, 0, 0}, {0, 0, 0}, {-0.425, 0, 0}, {-0.81725, 0, 0}, {-0.81725, -0.10915, -0.09465}, {-0.81725, -0.10915, -0.09465}}},
    {"wrist", RK_SPHERICAL_WRIST, RK_ARM_PARALLEL, 6, 0, 0,
     {{0, 0, 1}, {0, 1, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 0}, {0, 0, 1}},
     {{0, 0, 0}, {0.1, 0, 0.3}, {0.1, 0, 0.7}, {0.15, 0, 1.1}, {0.15, 0, 1.1}, {0.15, 0, 1.1}}},
    {"meeting shoulder", RK_SPHERICAL_WRIST, RK_ARM_INTERSECTING, 6, 0, 0,
     {{0, 0, 1}, {0, 1, 0}, {0.6, 0.8, 0}, {0, 0, 1}, {0, 1, 0}, {0, 0, 1}},
     {{0, 0, 0}, {0, 0, 0}, {0.1, 0, 0.4}, {0.15, 0, 0.9}, {0.15, 0, 0.9}, {0.15, 0, 0.9}}},
    {"general", RK_SPHERICAL_WRIST, RK_ARM_GENERAL, 6, 0, 0,
     {{0, 0, 1}, {0, 1, 0}, {0.6, 0, 0.8}, {0, 0, 1}, {0, 1, 0}, {0, 0, 1}},
     {{0, 0, 0}, {0.1, 0, 0}, {0.2, 0.1, 0.4}, {0.35, 0, 0.9}, {0.35, 0, 0.9}, {0.35, 0, 0.9}}},
    {"three parallel", RK_THREE_PARALLEL, 0, 6, 0, 0,
     {{0, 0, 1}, {0, 1, 0}, {0, -1, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0.6, 0.8}},
     {{0, 0, 0}, {0, 0, 0}, {0.4, 0, 0}, {0.8, 0, 0}, {0.8, 0.1, 0.1}, {0.9, 0.2, 0.15}}},
    {"iiwa", RK_SPHERICAL_BOTH, 0, 7, 0, 0,
     {{0, 0, 1}, {0, 1, 0}, {0, 0, 1}, {0, -1, 0}, {0, 0, 1}, {0, 1, 0}, {0, 0, 1}},
     {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0.4}, {0, 0, 0.8}, {0, 0, 0.8}, {0, 0, 0.8}}},
    {"SCARA", RK_PLANAR, 0, 4, 4, 0,
     {{0, 0, 1}, {0, 0, 1}, {0, 0, -1}, {0, 0, -1}}, {{0, 0, 0}, {0.3, 0, 0}, {0.6, 0, 0}, {0.6, 0, 0}}},
    {"gantry", RK_GANTRY, 0, 6, 7, 0,
     {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 1}, {0, 1, 0}, {0, 0, 1}},
     {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0.1}, {0, 0, 0.1}, {0, 0, 0.1}}},
};

static rk_family family_of(const arm *a) {
  rk_family f = {.kind = a->kind, .arm = a->kind_of_arm, .joints = a->joints, .meets = a->meets, .oriented = 1};
  f.slides = f.chain_slides = a->slides;
  for (int i = 0; i < RK_CHAIN; i++) {
    for (int k = 0; k < 3; k++) f.axis[i][k] = f.h[i][k] = a->axis[i][k], f.point[i][k] = f.o[i][k] = a->point[i][k];
    const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
    rk_cross(f.h[i], fabs(f.h[i][0]) < 0.5 ? x : y, f.side[i]);
    const double length = sqrt(rk_dot3(f.side[i], f.side[i]));
    for (int k = 0; k < 3; k++) f.side[i][k] /= length;
    f.lower[i] = -2.9, f.upper[i] = 2.9;
  }
  for (int k = 0; k < 3; k++) f.home[4 * k] = 1.0, f.home[9 + k] = a->point[a->joints - 1][k], f.centre[k] = 0.3;
  f.home[9] += 0.1;
  f.size = 1.0;
  f.tolerance[0] = f.tolerance[1] = 1e-5;
  return f;
}

/* T[16] of the tip. */
static void place(const rk_family *f, const double *q, double T[16]) {
  double G[12];
  for (int i = 0; i < 12; i++) G[i] = f->home[i];
  for (int32_t i = f->joints - 1; i >= 0; i--) {
    double E[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, moved[12], s, c;
    const double *k = f->axis[i], *o = f->point[i];
    if (f->slides >> i & 1) {
      for (int j = 0; j < 3; j++) E[9 + j] = q[i] * k[j];
    } else {
      rk_sincos(q[i], &s, &c);
      const double K[9] = {0, -k[2], k[1], k[2], 0, -k[0], -k[1], k[0], 0};
      for (int r = 0; r < 3; r++)
        for (int j = 0; j < 3; j++) E[3 * r + j] = (r == j ? c : 0.0) + s * K[3 * r + j] + (1.0 - c) * k[r] * k[j];
      for (int r = 0; r < 3; r++) E[9 + r] = o[r] - rk_dot3(E + 3 * r, o);
    }
    rk_compose(E, G, moved);
    for (int j = 0; j < 12; j++) G[j] = moved[j];
  }
  for (int r = 0; r < 3; r++) {
    for (int j = 0; j < 3; j++) T[4 * r + j] = G[3 * r + j];
    T[4 * r + 3] = G[9 + r] + f->centre[r], T[12 + r] = 0.0;
  }
  T[15] = 1.0;
}

static void test_arm(const arm *a, int is_singular) {
  const rk_family f = family_of(a);
  const int32_t n = f.joints;
  uint64_t seed = 5;
  double *used = doubles(COUNT * n), *targets = doubles(COUNT * 16), *q0 = doubles(COUNT * n);
  double *q = doubles(COUNT * RK_POSTURES * n);
  int32_t *branch = malloc(COUNT * RK_POSTURES * sizeof(int32_t)), *found = malloc(COUNT * 2 * sizeof(int32_t));
  for (int i = 0; i < COUNT; i++) {
    for (int k = 0; k < n; k++) {
      const double drawn = 5.6 * rk_uniform(&seed) - 2.8;
      used[i * n + k] = is_singular ? 1.5707963267948966 * floor(3.0 * rk_uniform(&seed) - 1.0) : drawn;
      q0[i * n + k] = is_singular ? drawn : 0.0;
    }
    place(&f, used + i * n, targets + 16 * i);
  }
  rk_postures(&f, COUNT, targets, q0, q, branch, found);
  for (int i = 0; i < COUNT; i++) {
    double nearest = 1e9, last = 0.0;
    CHECK(found[2 * i] > 0 || (found[2 * i + 1] & RK_HIDDEN), "%s, pose %d has no posture", a->name, i);
    for (int k = 0; k < found[2 * i]; k++) {
      const double *own = q + (i * RK_POSTURES + k) * n;
      double T[16], off = 0.0, apart = 0.0, cost = 0.0;
      place(&f, own, T);
      for (int j = 0; j < 16; j++) off = fmax(off, fabs(T[j] - targets[16 * i + j]));
      CHECK(off < 1e-11, "%s, pose %d, posture %d is off by %g", a->name, i, k, off);
      for (int j = 0; j < n; j++) {
        CHECK(own[j] >= f.lower[j] && own[j] <= f.upper[j], "%s, pose %d, joint %d at %g", a->name, i, j, own[j]);
        apart = fmax(apart, fabs(own[j] - used[i * n + j]));
        cost += (own[j] - q0[i * n + j]) * (own[j] - q0[i * n + j]);
      }
      CHECK(cost >= last - 1e-9, "%s, pose %d is not in order", a->name, i);
      last = cost;
      nearest = fmin(nearest, apart);
    }
    if (!is_singular && a->kind != RK_SPHERICAL_BOTH)
      CHECK(nearest < 1e-5, "%s, pose %d: the posture itself is missing by %g", a->name, i, nearest);
  }
  free(used), free(targets), free(q0), free(q), free(branch), free(found);
}

static void test_refusals(void) {
  for (size_t a = 0; a < sizeof ARMS / sizeof ARMS[0]; a++) {
    const rk_family f = family_of(ARMS + a);
    const double sizes[] = {NAN, INFINITY, 1e31, 1e29, 1e15, 10.0};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
      double T[16], q0[RK_CHAIN] = {0}, q[RK_POSTURES * RK_CHAIN];
      int32_t branch[RK_POSTURES], found[2];
      place(&f, q0, T);
      T[3] = sizes[k], T[7] = -sizes[k];
      rk_postures(&f, 1, T, q0, q, branch, found);
      CHECK(found[0] == 0 || f.kind == RK_GANTRY, "%s: %d postures at %g", ARMS[a].name, found[0], sizes[k]);
    }
  }
}

int main(void) {
  CHECK(rk_sizeof_family() == (int32_t)sizeof(rk_family), "the size");
  for (size_t a = 0; a < sizeof ARMS / sizeof ARMS[0]; a++) {
    test_arm(ARMS + a, 0);
    test_arm(ARMS + a, 1);
  }
  test_refusals();
  return report("families");
}
