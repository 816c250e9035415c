/* Inverse dynamics by the recursive Newton-Euler algorithm (Featherstone, Rigid Body Dynamics Algorithms, 2008,
   section 5.3), with spatial vectors in root axes about one point, as in crba.c. */
#include "robot/rk_inertia.h"
#include "robot/rk_tree.h"
#include "robot/rk_twists.h"

/* Velocity and acceleration of a node's body from those of its parent; keeps the axis twist of a node of one degree
   of freedom. */
static void move_node(const rk_model *m, int32_t node, const double T[12], const double point[3], const double *v,
                      const double *a, double axis[6], double velocity[6], double acceleration[6]) {
  double own[6][6], relative[6] = {0};
  const int n = rk_node_twists(m, node, T, point, own);
  v += m->iv[node], a += m->iv[node];
  for (int k = 0; k < n; k++)
    for (int r = 0; r < 6; r++) {
      relative[r] += own[k][r] * v[k];
      acceleration[r] += own[k][r] * a[k];
    }
  for (int r = 0; r < 6; r++) velocity[r] += relative[r];
  rk_add_motion_cross(velocity, relative, acceleration);
  if (n == 1)
    for (int r = 0; r < 6; r++) axis[r] = own[0][r];
}

static void inverse_dynamics(const rk_model *m, const double *q, const double *v, const double *a,
                             const double gravity[3], double *work, double *tau) {
  const int64_t n = m->n_nodes;
  double *nodes = work, *axes = nodes + 12 * n, *velocities = axes + 6 * n, *accelerations = velocities + 6 * n,
         *forces = accelerations + 6 * n;
  for (int32_t k = 0; k < m->nv; k++) tau[k] = 0.0;
  rk_place_nodes(m, q, nodes);
  const double *point = rk_heaviest_point(m, nodes);
  for (int32_t node = 0; node < m->n_nodes; node++) {
    const int64_t at = 6 * (int64_t)node, up = 6 * (int64_t)m->parent[node];
    const double *T = nodes + 2 * at;
    double *velocity = velocities + at, *acceleration = accelerations + at, *force = forces + at;
    for (int r = 0; r < 6; r++) {
      velocity[r] = up < 0 ? 0.0 : velocities[up + r];
      /* Gravity acts as if the root accelerated upwards. */
      acceleration[r] = up < 0 ? (r < 3 ? -gravity[r] : 0.0) : accelerations[up + r];
    }
    move_node(m, node, T, point, v, a, axes + at, velocity, acceleration);
    double inertia[10], momentum[6];
    rk_move_inertia(m->inertia + 10 * (int64_t)node, T, point, inertia);
    rk_inertia_apply(inertia, acceleration, force);
    rk_inertia_apply(inertia, velocity, momentum);
    rk_add_force_cross(velocity, momentum, force);
  }
  for (int32_t node = m->n_nodes - 1; node >= 0; node--) {
    const int64_t at = 6 * (int64_t)node;
    double entries[6];
    const int own = rk_project(m, node, nodes + 2 * at, point, axes + at, forces + at, entries);
    for (int k = 0; k < own; k++) tau[m->iv[node] + k] += entries[k];
    if (m->parent[node] >= 0) {
      double *parent = forces + 6 * (int64_t)m->parent[node];
      for (int r = 0; r < 6; r++) parent[r] += forces[at + r];
    }
  }
}

void rk_inverse_dynamics(const rk_model *model, int64_t count, const double *q, const double *v, const double *a,
                         const double *gravity, double *work, double *out) {
  for (; count > 0; count--, q += model->nq, v += model->nv, a += model->nv, out += model->nv)
    inverse_dynamics(model, q, v, a, gravity, work, out);
}
