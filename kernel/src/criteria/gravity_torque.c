/* The torque against gravity and its derivative, on momenta: what each degree of freedom moves, and how fast. Twin of
   solvers/criteria/gravity_torque.py. */
#include "criteria/criteria.h"

#include "robot/rk_tree.h"

/* One degree of freedom: the angular velocity it gives and the momentum of all that it moves, per unit. */
typedef struct mover {
  double turn[3], momentum[3];
} mover;

int64_t rk_gravity_workspace(const rk_model *m) { return 40 * (int64_t)m->n_nodes + m->nv; }

/* Mass and mass times centre, in root axes, of what is behind each node. */
static void weigh(const rk_model *m, const double *nodes, double *behind) {
  for (int64_t node = 0; node < m->n_nodes; node++) {
    const double *T = nodes + 12 * node, *inertia = m->inertia + 10 * node;
    double *own = behind + 4 * node, h[3];
    rk_rotate(T, inertia + 1, h);
    own[0] = inertia[0];
    for (int k = 0; k < 3; k++) own[1 + k] = h[k] + inertia[0] * T[9 + k];
  }
  for (int32_t node = m->n_nodes - 1; node >= 0; node--)
    if (m->parent[node] >= 0)
      for (int k = 0; k < 4; k++) behind[4 * (int64_t)m->parent[node] + k] += behind[4 * (int64_t)node + k];
}

double rk_add_gravity_torque(const rk_model *m, const double *nodes, const double *gravity, const double *stiffness,
                             double share, double *work, double *g) {
  double *behind = work, *force = work + 4 * (int64_t)m->n_nodes, cost = 0.0;
  mover *movers = (mover *)(force + m->nv); /* six for each node */
  weigh(m, nodes, behind);
  for (int32_t k = 0; k < m->nv; k++) force[k] = 0.0;
  for (int32_t node = 0; node < m->n_nodes; node++) {
    const double *whole = behind + 4 * (int64_t)node, mass = whole[0];
    double centre[3], twists[6][6];
    for (int k = 0; k < 3; k++) centre[k] = mass > 0.0 ? whole[1 + k] / mass : 0.0;
    const int n = rk_node_twists(m, node, nodes + 12 * (int64_t)node, centre, twists);
    for (int j = 0; j < n; j++) {
      mover *own = movers + 6 * (int64_t)node + j;
      for (int k = 0; k < 3; k++) own->momentum[k] = mass * twists[j][k], own->turn[k] = twists[j][3 + k];
      force[m->iv[node] + j] -= rk_dot3(own->momentum, gravity);
    }
  }
  for (int32_t k = 0; k < m->nv; k++) {
    cost += 0.5 * stiffness[k] * force[k] * force[k];
    force[k] *= share * stiffness[k];
  }
  for (int32_t node = 0; g && node < m->n_nodes; node++)
    for (int j = 0, n = rk_node_nv(m, node); j < n; j++) {
      const mover *own = movers + 6 * (int64_t)node + j;
      const int32_t column = m->iv[node] + j;
      double lever[3];
      rk_cross(own->momentum, gravity, lever); /* (w x p) . g = w . (p x g) */
      for (int32_t above = node; above >= 0; above = m->parent[above])
        for (int k = 0, count = rk_node_nv(m, above); k < count; k++) {
          const double slope = -rk_dot3(movers[6 * (int64_t)above + k].turn, lever);
          const int32_t other = m->iv[above] + k;
          g[other] += force[column] * slope;
          if (above != node) g[column] += force[other] * slope;
        }
    }
  return cost;
}
