/* Robots for the C tests, on exactly sized heap arrays. */
#ifndef RK_TEST_ROBOTS_H
#define RK_TEST_ROBOTS_H

#include "../include/robokin_kernel.h"
#include "check.h"

static inline void *allocate(size_t bytes) {
  void *memory = calloc(1, bytes);
  if (bytes && !memory) abort();
  return memory;
}

/* A robot of n identical-looking nodes (rotations without offset, identity placements, no mass) to be changed. */
static inline rk_model make_model(int32_t n_nodes, int32_t n_frames, int32_t nq, int32_t nv) {
  rk_model m = {.n_nodes = n_nodes, .n_frames = n_frames, .nq = nq, .nv = nv};
  const size_t n = (size_t)n_nodes, f = (size_t)n_frames;
  int32_t *ints = allocate(n * 4 * sizeof(int32_t));
  m.parent = ints, m.motion = ints + n, m.iq = ints + 2 * n, m.iv = ints + 3 * n;
  double *placement = allocate(n * 12 * sizeof(double)), *scale = allocate(n * sizeof(double));
  double *frames = allocate(f * 12 * sizeof(double));
  for (size_t k = 0; k < n; k++) {
    ints[k] = (int32_t)k - 1;
    ints[2 * n + k] = ints[3 * n + k] = (int32_t)k;
    placement[12 * k] = placement[12 * k + 4] = placement[12 * k + 8] = 1.0;
    scale[k] = 1.0;
  }
  for (size_t k = 0; k < f; k++) frames[12 * k] = frames[12 * k + 4] = frames[12 * k + 8] = 1.0;
  m.placement = placement, m.scale = scale, m.frame_placement = frames;
  m.pitch = allocate(n * sizeof(double)), m.offset = allocate(n * sizeof(double));
  m.inertia = allocate(n * 10 * sizeof(double)), m.frame_node = allocate(f * sizeof(int32_t));
  m.root_inertia = allocate(10 * sizeof(double));
  m.lower = allocate((size_t)nq * sizeof(double)), m.upper = allocate((size_t)nq * sizeof(double));
  return m;
}

static inline void free_model(rk_model *m) {
  const void *owned[] = {m->parent, m->placement, m->scale, m->frame_placement, m->pitch, m->offset,
                         m->inertia, m->frame_node, m->root_inertia, m->lower, m->upper};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free((void *)owned[k]);
}

/* The models are made here, so that writing through their pointers to const is allowed. */
#define SET(pointer, index, value) (*((__typeof__(*(pointer) + 0) *)&(pointer)[index]) = (value))

/* A branched robot with every motion twice, a node without mass, one mimic node before and one behind the node it
   follows, random inertias and placements. Needs all of q: see random_configuration. */
static inline rk_model make_every_motion(uint64_t seed, int32_t *quaternions, int *n_quaternions) {
  static const int32_t motions[10] = {RK_FREE,  RK_ROTATION, RK_TRANSLATION, RK_HELICAL, RK_BALL,
                                      RK_BALL, RK_HELICAL,  RK_TRANSLATION, RK_ROTATION, RK_FREE};
  static const int32_t parents[10] = {-1, 0, 1, 2, 3, 1, 5, 6, -1, 8};
  enum { FOLLOWED = 6, BEFORE = 3, BEHIND = 8 };
  int32_t nq = 0, nv = 0, iq[10], iv[10];
  *n_quaternions = 0;
  for (int32_t k = 0; k < 10; k++) {
    if (k == BEFORE || k == BEHIND) continue;
    iq[k] = nq, iv[k] = nv;
    nq += motions[k] == RK_FREE ? 7 : motions[k] == RK_BALL ? 4 : 1;
    nv += motions[k] == RK_FREE ? 6 : motions[k] == RK_BALL ? 3 : 1;
    if (motions[k] == RK_FREE || motions[k] == RK_BALL) quaternions[(*n_quaternions)++] = nq - 4;
  }
  iq[BEFORE] = iq[BEHIND] = iq[FOLLOWED], iv[BEFORE] = iv[BEHIND] = iv[FOLLOWED];

  rk_model m = make_model(10, 12, nq, nv);
  for (int32_t k = 0; k < 10; k++) {
    SET(m.parent, k, parents[k]);
    SET(m.motion, k, motions[k]);
    SET(m.iq, k, iq[k]);
    SET(m.iv, k, iv[k]);
    if (motions[k] == RK_HELICAL) SET(m.pitch, k, 0.1);
    if (k == BEFORE || k == BEHIND) {
      SET(m.scale, k, -0.7);
      SET(m.offset, k, 0.3);
    }
    double w[4];
    random_quaternion(&seed, w);
    const double R[9] = {1 - 2 * (w[2] * w[2] + w[3] * w[3]), 2 * (w[1] * w[2] - w[0] * w[3]), 2 * (w[1] * w[3] + w[0] * w[2]),
                         2 * (w[1] * w[2] + w[0] * w[3]), 1 - 2 * (w[1] * w[1] + w[3] * w[3]), 2 * (w[2] * w[3] - w[0] * w[1]),
                         2 * (w[1] * w[3] - w[0] * w[2]), 2 * (w[2] * w[3] + w[0] * w[1]), 1 - 2 * (w[1] * w[1] + w[2] * w[2])};
    for (int e = 0; e < 9; e++) SET(m.placement, 12 * k + e, R[e]);
    for (int e = 9; e < 12; e++) SET(m.placement, 12 * k + e, uniform(&seed, -0.5, 0.5));
    if (k == 2) continue;
    /* Six point masses, summed: an inertia that a body can have. */
    for (int p = 0; p < 6; p++) {
      const double mass = uniform(&seed, 0.1, 1.0);
      const double c[3] = {uniform(&seed, -0.2, 0.2), uniform(&seed, -0.2, 0.2), uniform(&seed, -0.2, 0.2)};
      double *I = (double *)m.inertia + 10 * k;
      I[0] += mass;
      for (int r = 0; r < 3; r++) I[1 + r] += mass * c[r];
      I[4] += mass * (c[1] * c[1] + c[2] * c[2]);
      I[5] -= mass * c[0] * c[1];
      I[6] -= mass * c[0] * c[2];
      I[7] += mass * (c[0] * c[0] + c[2] * c[2]);
      I[8] -= mass * c[1] * c[2];
      I[9] += mass * (c[0] * c[0] + c[1] * c[1]);
    }
  }
  for (int32_t f = 0; f < 12; f++) {
    SET(m.frame_node, f, f - 2 < -1 ? -1 : f - 2);
    for (int e = 9; e < 12; e++) SET(m.frame_placement, 12 * f + e, uniform(&seed, -0.5, 0.5));
  }
  return m;
}

static inline void random_configuration(const rk_model *m, const int32_t *quaternions, int n, uint64_t *state,
                                        double *q) {
  for (int32_t k = 0; k < m->nq; k++) q[k] = uniform(state, -2.0, 2.0);
  for (int k = 0; k < n; k++) random_quaternion(state, q + quaternions[k]);
}

#endif
