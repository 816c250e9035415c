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

static void place_center(const double total[4], double center[3]) {
  for (int k = 0; k < 3; k++) center[k] = total[1 + k] / total[0];
}

void rk_center_of_mass_placed(const rk_model *m, const double *nodes, double *moments, double center[3], double *J) {
  const int64_t nv = m->nv;
  double total[4];
  own_moments(m, nodes, moments, total);
  place_center(total, center);
  for (int64_t k = 0; k < 3 * nv; k++) J[k] = 0.0 / total[0];
  for (int32_t node = m->n_nodes - 1; node >= 0; node--) {
    const double *carried = moments + 4 * (int64_t)node, mass = carried[0];
    if (m->parent[node] >= 0) {
      double *parent = moments + 4 * (int64_t)m->parent[node];
      for (int k = 0; k < 4; k++) parent[k] += carried[k];
    }
    if (!(mass > 0.0)) continue;
    /* What the node carries moves as a point of its mass at its centre of mass. */
    const double own[3] = {carried[1] / mass, carried[2] / mass, carried[3] / mass};
    const double share = mass / total[0];
    double twists[6][6];
    const int n = rk_node_twists(m, node, nodes + 12 * (int64_t)node, own, twists);
    for (int k = 0; k < n; k++)
      for (int r = 0; r < 3; r++) J[r * nv + m->iv[node] + k] += share * twists[k][r];
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
