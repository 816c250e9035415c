/* Centre of mass and its Jacobian, from the mass and first moment of what each node carries. */
#include "robot/com.h"

/* moments[node] = mass and first moment (root frame) of the node's own body; total: of the robot. */
static void own_moments(const rk_model *m, const double *nodes, double *moments, double total[4]) {
  for (int k = 0; k < 4; k++) total[k] = m->root_inertia[k];
  for (int32_t node = 0; node < m->n_nodes; node++) {
    const double *I = m->inertia + 10 * (int64_t)node, *T = nodes + 12 * (int64_t)node;
    double *moment = moments + 4 * (int64_t)node;
    moment[0] = I[0];
    rk_rotate(T, I + 1, moment + 1);
    for (int k = 0; k < 3; k++) moment[1 + k] += I[0] * T[9 + k];
    for (int k = 0; k < 4; k++) total[k] += moment[k];
  }
}

/* Adds to the moments of each node those of what is behind it: all that it carries. */
static void carry(const rk_model *m, double *moments) {
  for (int32_t node = m->n_nodes - 1; node >= 0; node--)
    for (int k = 0; k < 4 && m->parent[node] >= 0; k++)
      moments[4 * (int64_t)m->parent[node] + k] += moments[4 * (int64_t)node + k];
}

static void place_center(const double total[4], double center[3]) {
  for (int k = 0; k < 3; k++) center[k] = total[1 + k] / total[0];
}

/* The twists of a node at the centre of mass of what it carries, which moves as a point of that share of the mass; returns
   how many. */
static int carried_twists(const rk_model *m, const double *nodes, const double *moments, int32_t node, double all,
                          double *share, double twists[6][6]) {
  const double *carried = moments + 4 * (int64_t)node, mass = carried[0];
  if (!(mass > 0.0)) return 0;
  const double own[3] = {carried[1] / mass, carried[2] / mass, carried[3] / mass};
  *share = mass / all;
  return rk_node_twists(m, node, nodes + 12 * (int64_t)node, own, twists);
}

void rk_center_of_mass_placed(const rk_model *m, const double *nodes, double *moments, double center[3], double *J) {
  const int64_t nv = m->nv;
  double total[4];
  own_moments(m, nodes, moments, total);
  place_center(total, center);
  for (int64_t k = 0; k < 3 * nv; k++) J[k] = 0.0 / total[0];
  carry(m, moments);
  for (int32_t node = m->n_nodes - 1; node >= 0; node--) {
    double twists[6][6], share;
    const int n = carried_twists(m, nodes, moments, node, total[0], &share, twists);
    for (int k = 0; k < n; k++)
      for (int r = 0; r < 3; r++) J[r * nv + m->iv[node] + k] += share * twists[k][r];
  }
}

/* Below a node, and beside it in one joint, all turns with it; above it, its own point moves. */
void rk_add_change_of_center(const rk_model *m, const double *nodes, const double *weight, double share, double *moments,
                             double *g) {
  double total[4], twists[6][6], above[6][6], turned[3], size;
  own_moments(m, nodes, moments, total);
  carry(m, moments);
  for (int32_t node = 0; node < m->n_nodes; node++) {
    const int n = carried_twists(m, nodes, moments, node, total[0], &size, twists);
    for (int k = 0; k < n; k++)
      for (int32_t from = node; from >= 0; from = m->parent[from]) {
        const int count = rk_node_twists(m, from, nodes + 12 * (int64_t)from, nodes + 12 * (int64_t)from + 9, above);
        for (int j = 0; j < count; j++) {
          const int32_t own = m->iv[node] + k, other = m->iv[from] + j;
          rk_cross(above[j] + 3, twists[k], turned);
          g[other] += share * size * rk_dot3(weight + 3 * (int64_t)own, turned);
          if (from != node) g[own] += share * size * rk_dot3(weight + 3 * (int64_t)other, turned);
        }
      }
  }
}

void rk_center_of_mass(const rk_model *model, int64_t count, const double *q, double *work, double *out) {
  double *moments = work + 12 * (int64_t)model->n_nodes, total[4];
  for (; count > 0; count--, q += model->nq, out += 3) {
    rk_place_nodes(model, q, work);
    own_moments(model, work, moments, total);
    place_center(total, out);
  }
}

void rk_center_of_mass_jacobian(const rk_model *model, int64_t count, const double *q, double *work, double *out) {
  double center[3];
  for (; count > 0; count--, q += model->nq, out += 3 * (int64_t)model->nv) {
    rk_place_nodes(model, q, work);
    rk_center_of_mass_placed(model, work, work + 12 * (int64_t)model->n_nodes, center, out);
  }
}
