/* First and second derivatives of inverse dynamics, along the recursive Newton-Euler algorithm of rnea.c.

   z . tau is the sum over the bodies of f . Z, f being the wrench that moves a body, Z the twist that the velocities z
   give it. A pass back adds up what that sum gains per unit of each node's twists: by_V, by_A, by_Z; these, on a
   node's own twists, are the gradients along v, a and z, and that along z is tau. A displacement turns all that is
   behind a joint, which is as if what comes from its parent turned the other way. So along one coordinate all that is
   behind it sees the same change of V and Z (compare Carpentier and Mansard, "Analytical Derivatives of Rigid Body
   Dynamics Algorithms", RSS 2018). */
#include <stddef.h>

#include "robot/rk_inertia.h"
#include "robot/rk_tree.h"
#include "robot/rk_twists.h"

/* own: the twists of the node's velocity entries. own_*: what it adds to the twist of its parent.
   d_*: how by_* change. moves: whether the node is behind what changes, carries: whether it is in front of it. */
typedef struct part {
  double own[6][6], inertia[10], momentum[6], own_v[6], own_a[6], own_z[6], V[6], A[6], Z[6], by_V[6], by_A[6], by_Z[6];
  double d_V[6], d_A[6], d_Z[6];
  int32_t entries, moves, carries, unused;
} part;

/* A coordinate that changes, in what is behind it. axis: its twist. turns: along a displacement, else along a velocity.
   V, A, Z: changes of these at its node. before: V in front of it. */
typedef struct change {
  int32_t node, coordinate, turns;
  double axis[6], V[6], A[6], Z[6], before[6];
} change;

static void difference6(const double a[6], const double b[6], double out[6]) {
  for (int r = 0; r < 6; r++) out[r] = a[r] - b[r];
}

static void add6(const double a[6], double out[6]) {
  for (int r = 0; r < 6; r++) out[r] += a[r];
}

static void subtract6(const double a[6], double out[6]) {
  for (int r = 0; r < 6; r++) out[r] -= a[r];
}

static void move(const rk_model *m, int32_t node, const double T[12], const double point[3], const double *v,
                 const double *a, const double *z, const double gravity[3], const part *up, part *p) {
  p->entries = rk_node_twists(m, node, T, point, p->own);
  for (int r = 0; r < 6; r++) p->own_v[r] = p->own_a[r] = p->own_z[r] = 0.0;
  for (int k = 0; k < p->entries; k++) {
    const int32_t i = m->iv[node] + k;
    for (int r = 0; r < 6; r++) {
      p->own_v[r] += p->own[k][r] * v[i];
      p->own_a[r] += p->own[k][r] * a[i];
      p->own_z[r] += p->own[k][r] * z[i];
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
  double crossed[6] = {0}, back[6] = {0}, of_crossed[6];
  rk_inertia_apply(p->inertia, p->V, p->momentum);
  rk_inertia_apply(p->inertia, p->Z, p->by_A);
  rk_inertia_apply(p->inertia, p->A, p->by_Z);
  rk_add_force_cross(p->V, p->momentum, p->by_Z);
  rk_add_motion_cross(p->V, p->Z, crossed);
  rk_inertia_apply(p->inertia, crossed, of_crossed);
  rk_add_force_cross(p->Z, p->momentum, back);
  for (int r = 0; r < 6; r++) p->by_V[r] = -of_crossed[r] - back[r];
}

/* Adds to d_V, d_A, d_Z what the change of the twists of its body brings. */
static void add_change(part *p, const change *c) {
  double A[6], beyond[6], wrench[6], momentum[6], crossed[6] = {0};
  for (int r = 0; r < 6; r++) A[r] = c->A[r];
  difference6(p->V, c->before, beyond);
  rk_add_motion_cross(c->V, beyond, A);
  rk_inertia_apply(p->inertia, c->Z, wrench);
  add6(wrench, p->d_A);
  rk_inertia_apply(p->inertia, A, wrench);
  add6(wrench, p->d_Z);
  rk_inertia_apply(p->inertia, c->V, momentum);
  rk_add_force_cross(c->V, p->momentum, p->d_Z);
  rk_add_force_cross(p->V, momentum, p->d_Z);
  rk_add_motion_cross(c->V, p->Z, crossed);
  rk_add_motion_cross(p->V, c->Z, crossed);
  rk_inertia_apply(p->inertia, crossed, wrench);
  rk_add_force_cross(c->Z, p->momentum, wrench);
  rk_add_force_cross(p->Z, momentum, wrench);
  subtract6(wrench, p->d_V);
}

static void put(const rk_model *m, int32_t node, const part *p, const change *c, const double wrench[6], double *out) {
  for (int k = 0; k < p->entries; k++)
    out[(int64_t)(m->iv[node] + k) * m->nv + c->coordinate] += rk_dot6(p->own[k], wrench);
}

/* Puts the entries of a node in the column of a change, from d_V, d_A, d_Z there. */
static void put_entries(const rk_model *m, int32_t node, const part *p, const change *c, double *out) {
  const int64_t size = (int64_t)m->nv * m->nv;
  put(m, node, p, c, p->d_Z, out + (c->turns ? 0 : size));
  double wrench[6], turned[6] = {0}, before[6], A[6];
  rk_add_force_cross(p->V, p->d_A, turned);
  if (p->moves) rk_add_force_cross(c->V, p->by_A, turned);
  difference6(p->d_V, turned, wrench);
  put(m, node, p, c, wrench, out + (c->turns ? 3 : 5) * size);
  if (!c->turns) return;
  put(m, node, p, c, p->d_A, out + 4 * size);
  for (int r = 0; r < 6; r++) turned[r] = 0.0;
  difference6(p->A, p->own_a, before);
  rk_add_force_cross(before, p->d_A, turned);
  difference6(p->Z, p->own_z, before);
  rk_add_force_cross(before, p->d_Z, turned);
  difference6(p->V, p->own_v, before);
  rk_add_force_cross(before, p->d_V, turned);
  if (p->moves) {
    subtract6(c->before, before);
    for (int r = 0; r < 6; r++) A[r] = c->A[r];
    rk_add_motion_cross(c->V, before, A);
    rk_add_force_cross(c->V, p->by_V, turned);
    rk_add_force_cross(A, p->by_A, turned);
    rk_add_force_cross(c->Z, p->by_Z, turned);
  }
  for (int r = 0; r < 6; r++) wrench[r] = -turned[r];
  put(m, node, p, c, wrench, out + 2 * size);
}

/* The columns of one coordinate: of what is behind it, then of what carries it. */
static void put_columns(const rk_model *m, part *parts, const change *c, double *out) {
  for (int32_t node = 0; node < m->n_nodes; node++) {
    part *p = parts + node;
    p->moves = node == c->node || (m->parent[node] >= c->node && parts[m->parent[node]].moves);
    p->carries = 0;
    for (int r = 0; r < 6; r++) p->d_V[r] = p->d_A[r] = p->d_Z[r] = 0.0;
  }
  for (int32_t node = m->parent[c->node]; node >= 0; node = m->parent[node]) parts[node].carries = 1;
  for (int32_t node = m->n_nodes - 1; node >= 0; node--) {
    part *p = parts + node, *up = m->parent[node] < 0 ? NULL : parts + m->parent[node];
    if (!p->moves && !p->carries) continue;
    const int32_t is_own = node == c->node;
    if (p->moves) add_change(p, c);
    rk_add_force_cross(p->own_v, p->d_A, p->d_V);
    if (is_own && !c->turns) rk_add_force_cross(c->axis, p->by_A, p->d_V);
    put_entries(m, node, p, c, out);
    if (is_own && c->turns) { /* seen from what carries it, all of it turns */
      rk_add_force_cross(c->axis, p->by_V, p->d_V);
      rk_add_force_cross(c->axis, p->by_A, p->d_A);
      rk_add_force_cross(c->axis, p->by_Z, p->d_Z);
    }
    if (up) add6(p->d_V, up->d_V), add6(p->d_A, up->d_A), add6(p->d_Z, up->d_Z);
  }
}

static void effort_derivatives(const rk_model *m, const double *q, const double *v, const double *a, const double *z,
                               const double gravity[3], double *work, double *out) {
  part *parts = (part *)(work + 12 * (int64_t)m->n_nodes);
  for (int64_t k = 0; k < 6 * (int64_t)m->nv * m->nv; k++) out[k] = 0.0;
  rk_place_nodes(m, q, work);
  const double *point = rk_heaviest_point(m, work);
  for (int32_t node = 0; node < m->n_nodes; node++)
    move(m, node, work + 12 * (int64_t)node, point, v, a, z, gravity,
         m->parent[node] < 0 ? NULL : parts + m->parent[node], parts + node);
  for (int32_t node = m->n_nodes - 1; node >= 0; node--) {
    part *p = parts + node, *up = m->parent[node] < 0 ? NULL : parts + m->parent[node];
    rk_add_force_cross(p->own_v, p->by_A, p->by_V);
    if (up) add6(p->by_V, up->by_V), add6(p->by_A, up->by_A), add6(p->by_Z, up->by_Z);
  }
  for (int32_t node = 0; node < m->n_nodes; node++) {
    const part *p = parts + node;
    for (int k = 0; k < p->entries; k++) {
      change along = {node, m->iv[node] + k, 1, {0}, {0}, {0}, {0}, {0}}, faster = along;
      double A[6], Z[6], back[6];
      faster.turns = 0;
      difference6(p->V, p->own_v, along.before);
      difference6(p->A, p->own_a, A);
      difference6(p->Z, p->own_z, Z);
      for (int r = 0; r < 6; r++) {
        along.axis[r] = faster.axis[r] = faster.V[r] = p->own[k][r];
        faster.before[r] = along.before[r];
        back[r] = -p->own[k][r];
      }
      rk_add_motion_cross(back, along.before, along.V);
      rk_add_motion_cross(back, A, along.A);
      rk_add_motion_cross(back, Z, along.Z);
      rk_add_motion_cross(p->V, faster.axis, faster.A);
      put_columns(m, parts, &along, out);
      put_columns(m, parts, &faster, out);
    }
  }
}

void rk_effort_derivatives(const rk_model *model, int64_t count, const double *q, const double *v, const double *a,
                           const double *z, const double *gravity, double *work, double *out) {
  const int64_t nv = model->nv;
  for (; count > 0; count--, q += model->nq, v += nv, a += nv, z += nv, out += 6 * nv * nv)
    effort_derivatives(model, q, v, a, z, gravity, work, out);
}
