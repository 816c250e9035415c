/* The gradient of z . tau by the adjoint of the recursive Newton-Euler algorithm of rnea.c: a pass from the root, and
   one back.

   z . tau is the sum over the bodies of f . Z, f being the wrench that moves a body, Z the twist that the velocities z
   give it. The pass back adds up what that sum gains per unit of each node's twists: by_V, by_A, by_Z. A displacement
   turns all that is behind a joint, which is as if what comes from its parent turned the other way. */
#include <stddef.h>

#include "robot/rk_inertia.h"
#include "robot/rk_tree.h"
#include "robot/rk_twists.h"

/* own_*: what the node adds to the twist of its parent. */
typedef struct part {
  double axis[6], inertia[10], own_v[6], own_a[6], own_z[6], V[6], A[6], Z[6], by_V[6], by_A[6], by_Z[6];
} part;

static void difference6(const double a[6], const double b[6], double out[6]) {
  for (int r = 0; r < 6; r++) out[r] = a[r] - b[r];
}

static void add6(const double a[6], double out[6]) {
  for (int r = 0; r < 6; r++) out[r] += a[r];
}

static void move(const rk_model *m, int32_t node, const double T[12], const double point[3], const double *v,
                 const double *a, const double *z, const double gravity[3], const part *up, part *p) {
  double own[6][6];
  const int n = rk_node_twists(m, node, T, point, own);
  for (int r = 0; r < 6; r++) {
    p->axis[r] = own[0][r];
    p->own_v[r] = p->own_a[r] = p->own_z[r] = 0.0;
  }
  for (int k = 0; k < n; k++) {
    const int32_t i = m->iv[node] + k;
    for (int r = 0; r < 6; r++) {
      p->own_v[r] += own[k][r] * v[i];
      p->own_a[r] += own[k][r] * a[i];
      p->own_z[r] += own[k][r] * z[i];
    }
  }
  for (int r = 0; r < 6; r++) {
    p->V[r] = p->own_v[r] + (up ? up->V[r] : 0.0);
    p->Z[r] = p->own_z[r] + (up ? up->Z[r] : 0.0);
  }
  rk_add_motion_cross(p->V, p->own_v, p->own_a);
  /* Gravity acts as if the root accelerated upwards. */
  for (int r = 0; r < 6; r++) p->A[r] = p->own_a[r] + (up ? up->A[r] : r < 3 ? -gravity[r] : 0.0);
  rk_move_inertia(m->inertia + 10 * (int64_t)node, T, point, p->inertia);
  /* f = I A + V x* I V; V pulls through f and, in what is behind, through the accelerations that it adds. */
  double momentum[6], crossed[6] = {0}, back[6] = {0}, of_crossed[6];
  rk_inertia_apply(p->inertia, p->V, momentum);
  rk_inertia_apply(p->inertia, p->Z, p->by_A);
  rk_inertia_apply(p->inertia, p->A, p->by_Z);
  rk_add_force_cross(p->V, momentum, p->by_Z);
  rk_add_motion_cross(p->V, p->Z, crossed);
  rk_inertia_apply(p->inertia, crossed, of_crossed);
  rk_add_force_cross(p->Z, momentum, back);
  for (int r = 0; r < 6; r++) p->by_V[r] = -of_crossed[r] - back[r];
}

static void effort_gradient(const rk_model *m, const double *q, const double *v, const double *a, const double *z,
                            const double gravity[3], double *work, double *out) {
  const int64_t nv = m->nv;
  part *parts = (part *)(work + 12 * (int64_t)m->n_nodes);
  for (int64_t k = 0; k < 3 * nv; k++) out[k] = 0.0;
  rk_place_nodes(m, q, work);
  const double *point = rk_heaviest_point(m, work);
  for (int32_t node = 0; node < m->n_nodes; node++)
    move(m, node, work + 12 * (int64_t)node, point, v, a, z, gravity,
         m->parent[node] < 0 ? NULL : parts + m->parent[node], parts + node);
  for (int32_t node = m->n_nodes - 1; node >= 0; node--) {
    part *p = parts + node;
    const double *T = work + 12 * (int64_t)node;
    double wrench[3][6] = {{0}}, before[6], entries[6];
    rk_add_force_cross(p->own_v, p->by_A, p->by_V);
    difference6(p->V, p->own_v, before);
    rk_add_force_cross(before, p->by_V, wrench[0]);
    difference6(p->A, p->own_a, before);
    rk_add_force_cross(before, p->by_A, wrench[0]);
    difference6(p->Z, p->own_z, before);
    rk_add_force_cross(before, p->by_Z, wrench[0]);
    rk_add_force_cross(p->V, p->by_A, wrench[1]);
    for (int r = 0; r < 6; r++) {
      wrench[0][r] = -wrench[0][r];
      wrench[1][r] = p->by_V[r] - wrench[1][r];
      wrench[2][r] = p->by_A[r];
    }
    for (int i = 0; i < 3; i++) {
      const int n = rk_project(m, node, T, point, p->axis, wrench[i], entries);
      for (int k = 0; k < n; k++) out[i * nv + m->iv[node] + k] += entries[k];
    }
    if (m->parent[node] >= 0) {
      part *up = parts + m->parent[node];
      add6(p->by_V, up->by_V);
      add6(p->by_A, up->by_A);
      add6(p->by_Z, up->by_Z);
    }
  }
}

void rk_effort_gradient(const rk_model *model, int64_t count, const double *q, const double *v, const double *a,
                        const double *z, const double *gravity, double *work, double *out) {
  const int64_t nv = model->nv;
  for (; count > 0; count--, q += model->nq, v += nv, a += nv, z += nv, out += 3 * nv)
    effort_gradient(model, q, v, a, z, gravity, work, out);
}
