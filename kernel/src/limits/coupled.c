/* Limits of several degrees of freedom together, twin of solvers/limits/coupled.py, which explains it. */
#include "limits/coupled.h"

#include "limits/cone.h"
#include "math/rk_math.h"
#include "math/rk_trig.h"
#include "limits/rolling.h"
#include "robot/rk_manifold.h"

enum { HALVINGS = 40, ROUNDS = 10, LONGEST = 256 };

/* A group of n <= 3 degrees of freedom that brakes along one path. */
typedef struct group {
  int n;
  const double *change;
  const rk_cone *cone; /* a ball at `last`, or */
  const rk_base *base; /* a base at `last` with these bounds */
  const double *last, *lower, *upper, *largest;
} group;

static double frames_to_stop(const group *g, const double *step) {
  double most = 0.0;
  for (int k = 0; k < g->n; k++) {
    const double frames = __builtin_fabs(step[k]) / g->change[k];
    if (frames > most) most = frames;
  }
  return most;
}

static void brake(const group *g, const double *step, double *out) {
  const double frames = frames_to_stop(g, step), share = frames > 1.0 ? 1.0 - 1.0 / frames : 0.0;
  for (int k = 0; k < g->n; k++) out[k] = share * step[k];
}

void rk_brake_together(int n, const int32_t *columns, const double *step, const double *change, double *next) {
  double own[3] = {0.0}, limits[3] = {0.0}, slower[3];
  for (int k = 0; k < n; k++) own[k] = step[columns[k]], limits[k] = change[columns[k]];
  const group g = {.n = n, .change = limits};
  brake(&g, own, slower);
  for (int k = 0; k < n; k++) next[columns[k]] = slower[k];
}

static int is_inside(const group *g, const double *step, double share, double before, double frames, double here[3]) {
  double scaled[3];
  if (g->cone) {
    double q[4];
    for (int k = 0; k < 3; k++) scaled[k] = share * step[k];
    rk_integrate_ball(g->last, scaled, q);
    return rk_cone_contains(g->cone, q, 0.0);
  }
  double there[3];
  for (int k = 0; k < 2; k++) scaled[k] = (share - before) * step[k];
  rk_roll(g->base, here, scaled, there);
  for (int k = 0; k < 3; k++) {
    const double farthest = frames * g->largest[k];
    if (there[k] < g->lower[k] || there[k] > g->upper[k] || __builtin_fabs(there[k] - here[k]) > farthest) return 0;
    here[k] = there[k];
  }
  return 1;
}

static int is_safe(const group *g, const double *step) {
  const double frames = frames_to_stop(g, step);
  const int64_t count = (int64_t)(frames < 1e9 ? frames : 1e9), looked = count < LONGEST ? count : LONGEST;
  double here[3] = {0.0, 0.0, 0.0}, before = 0.0, share = 1.0, passed = -1.0, j = 0.0;
  if (g->base)
    for (int k = 0; k < 3; k++) here[k] = g->last[k];
  for (int64_t number = 0;; number++) {
    if (!is_inside(g, step, share, before, j - passed, here)) return 0;
    if (number == looked) return 1;
    before = share, passed = j;
    j = (double)(count <= LONGEST ? number + 1 : (number + 1) * count / LONGEST);
    share = 1.0 + j - 0.5 * j * (j + 1.0) / frames;
  }
}

/* The farthest safe step found between the braked one and `step`. */
static void shorten(const group *g, const double *previous, double *step) {
  if (is_safe(g, step)) return;
  double low = 0.0, high = 1.0, slow[3], tried[3];
  brake(g, previous, slow);
  for (int halving = 0; halving < HALVINGS; halving++) {
    const double middle = 0.5 * (low + high);
    for (int k = 0; k < g->n; k++) tried[k] = slow[k] + middle * (step[k] - slow[k]);
    if (is_safe(g, tried))
      low = middle;
    else
      high = middle;
  }
  for (int k = 0; k < g->n; k++) step[k] = slow[k] + low * (step[k] - slow[k]);
}

void rk_ball_within(const rk_cone *cone, const double last[4], const double previous[3], const double lo[3],
                    const double hi[3], const double change[3], double q[4]) {
  const group g = {.n = 3, .change = change, .cone = cone, .last = last};
  double step[3], bounded[3], inside[4];
  for (int round = 0; round < ROUNDS; round++) {
    int outside = 0;
    rk_difference_ball(last, q, step);
    for (int k = 0; k < 3; k++) {
      bounded[k] = rk_min(rk_max(step[k], lo[k]), hi[k]);
      outside |= bounded[k] != step[k];
    }
    if (outside) rk_integrate_ball(last, bounded, q);
    for (int k = 0; k < 4; k++) inside[k] = q[k];
    rk_cone_project(cone, inside);
    int moved = 0;
    for (int k = 0; k < 4; k++) {
      moved |= inside[k] != q[k];
      q[k] = inside[k];
    }
    if (!moved) break;
  }
  int changed = 0;
  rk_difference_ball(last, q, step);
  for (int k = 0; k < 3; k++) bounded[k] = rk_min(rk_max(step[k], lo[k]), hi[k]);
  shorten(&g, previous, bounded);
  for (int k = 0; k < 3; k++) changed |= bounded[k] != step[k];
  if (!changed) return;
  rk_integrate_ball(last, bounded, q);
  rk_cone_project(cone, q);
}

void rk_base_within(const rk_base *base, const double start[3], const double previous[2], const double change[2],
                    const double lower[3], const double upper[3], const double largest[3], double step[2]) {
  const double inf = __builtin_inf();
  const group g = {2, change, 0, base, start, lower, upper, largest};
  int bounded = 0;
  for (int k = 0; k < 3; k++) bounded |= lower[k] > -inf || upper[k] < inf || largest[k] < inf;
  if (bounded) shorten(&g, previous, step);
}
