/* All postures of a pose: what a family's solver finds, settled, sorted by the distance from q0. Twin:
   solvers/families/reference.py. */
#include "families/families.h"
#include "math/rk_trig.h"

static const double TWO_PI = 6.283185307179586;
static const double SAME = 1e-7; /* [rad, sizes] postures nearer to each other are one */
enum { TRIES = 35 };

int32_t rk_sizeof_family(void) { return (int32_t)sizeof(rk_family); }

typedef struct set {
  double *q, cost[RK_POSTURES];
  int32_t *branch, count;
} set;

/* Adds a posture in the order of the distance from q0, unless it is there already. */
static void insert(const rk_pose *pose, set *s, const double *x, int32_t branch) {
  const rk_family *f = pose->f;
  const int32_t n = f->joints;
  double cost = 0.0;
  for (int32_t i = 0; i < n; i++) {
    const double apart = (x[i] - pose->q0[i]) * (f->chain_slides >> i & 1 ? 1.0 / f->size : 1.0);
    cost += apart * apart;
  }
  for (int32_t k = 0; k < s->count; k++) {
    int32_t i = 0;
    while (i < n) {
      const double unit = f->chain_slides >> i & 1 ? 1.0 / f->size : 1.0;
      if (!(unit * __builtin_fabs(x[i] - s->q[k * n + i]) < SAME)) break;
      i++;
    }
    if (i == n) return;
  }
  if (s->count == RK_POSTURES) return;
  int32_t at = s->count++;
  for (; at > 0 && s->cost[at - 1] > cost; at--) {
    s->cost[at] = s->cost[at - 1], s->branch[at] = s->branch[at - 1];
    rk_copy(s->q + at * n, s->q + (at - 1) * n, n);
  }
  s->cost[at] = cost, s->branch[at] = branch;
  rk_copy(s->q + at * n, x, n);
}

static void solve(rk_pose *pose) {
  pose->count = pose->is_free = 0;
  switch (pose->f->kind) {
    case RK_SPHERICAL_WRIST: rk_spherical_wrist(pose); break;
    case RK_THREE_PARALLEL: rk_three_parallel(pose); break;
    case RK_SPHERICAL_BOTH: rk_spherical_both(pose); break;
    case RK_PLANAR: rk_planar(pose); break;
    case RK_GANTRY: rk_gantry(pose); break;
  }
}

static void want(rk_pose *pose, double beyond) {
  const int32_t n = pose->f->joints;
  double angles[RK_CHAIN] = {0.0}, sines[RK_CHAIN], cosines[RK_CHAIN];
  for (int32_t i = 0; i < n; i++) angles[i] = pose->q0[rk_in_chain(pose->f, i)] + beyond;
  rk_sincos_each(n, angles, sines, cosines);
  for (int32_t i = 0; i < n; i++) pose->wanted[i] = (rk_turn){cosines[i], sines[i]};
}

/* Adds the candidates to the set, those of `skipped` branches excepted. Returns the bits 1 << branch of those outside
   the limits. */
static uint64_t collect(rk_pose *pose, const double *Rt, uint64_t skipped, set *s, uint64_t *inside) {
  uint64_t outside = 0;
  for (int32_t k = 0; k < pose->count; k++) {
    const rk_candidate *c = pose->list + k;
    const uint64_t bit = (uint64_t)1 << (c->branch & 63);
    double x[RK_CHAIN];
    if (skipped & bit) continue;
    const enum rk_outcome found = rk_settle(pose, c, Rt, x);
    if (found == RK_OUTSIDE) outside |= bit;
    if (found != RK_INSIDE) continue;
    const int any = pose->is_free || c->couplings || pose->f->kind == RK_SPHERICAL_BOTH;
    insert(pose, s, x, c->branch | (any ? RK_CONTINUUM : 0));
    *inside |= bit;
  }
  return outside;
}

static void search(rk_pose *pose, const double *Rt, set *s) {
  want(pose, 0.0);
  solve(pose);
  uint64_t inside = 0, outside = collect(pose, Rt, 0, s, &inside);
  if (!pose->is_free || !(outside & ~inside)) return;
  /* A turn that may be any was taken from q0, and others are outside the limits with it: the next ones to q0 are tried. */
  for (int k = 1; k <= TRIES && (outside & ~inside); k++) {
    want(pose, (k & 1 ? 1 : -1) * ((k + 1) / 2) * (TWO_PI / (TRIES + 1)));
    solve(pose);
    outside |= collect(pose, Rt, inside, s, &inside);
  }
  if (outside & ~inside) pose->notes |= RK_HIDDEN;
}

/* The rotation next to one that is rounded, which saves every candidate steps: a step of Newton's for its polar
   decomposition. */
static void orthogonal(double R[9]) {
  double square[9], out[9];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      square[3 * i + j] = (i == j ? 1.5 : 0.0) - 0.5 * (R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j]);
  rk_multiply(R, square, out);
  rk_copy(R, out, 9);
}

static void postures_of(rk_pose *pose, const double *target, const double *q0, set *s) {
  const rk_family *f = pose->f;
  double Rt[9];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) Rt[3 * i + j] = target[4 * i + j];
    pose->target[i] = target[4 * i + 3] - f->centre[i];
    pose->tip[i] = f->home[9 + i];
  }
  orthogonal(Rt);
  /* G = T_target T_home^-1, or its inverse */
  double G[9], x[3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) G[3 * i + j] = rk_dot3(Rt + 3 * i, f->home + 3 * j);
  rk_rotate(G, pose->tip, x);
  if (f->reversed) {
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) pose->R[3 * i + j] = G[3 * j + i];
    rk_rotate_back(G, pose->target, x);
    rk_subtract3(pose->tip, x, pose->p);
  } else {
    rk_copy(pose->R, G, 9);
    rk_subtract3(pose->target, x, pose->p);
  }
  rk_copy(pose->q0, q0, f->joints);
  pose->is_lenient = rk_has_few_joints(f), pose->is_nearly_met = 0;
  search(pose, Rt, s);
  if (s->count || pose->is_lenient || !pose->is_nearly_met) return;
  pose->is_lenient = 1; /* out of reach, but within the tolerance */
  search(pose, Rt, s);
}

void rk_postures(const rk_family *family, int64_t count, const double *targets, const double *q0, double *q,
                 int32_t *branch, int32_t *found) {
  const int32_t n = family->joints;
  rk_pose pose;
  pose.f = family;
  pose.nothing = RK_NOTHING * family->size;
  for (int64_t i = 0; i < count; i++) {
    set s = {.q = q + i * RK_POSTURES * n, .branch = branch + i * RK_POSTURES};
    pose.notes = 0;
    if (rk_fit(16, targets + 16 * i) && rk_fit(n, q0 + n * i)) postures_of(&pose, targets + 16 * i, q0 + n * i, &s);
    found[2 * i] = s.count;
    found[2 * i + 1] = pose.notes;
  }
}
