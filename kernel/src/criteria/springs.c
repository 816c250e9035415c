/* Springs on joint values. Twin of the potentials in solvers/criteria/joint_springs.py and rest_posture.py. */
#include "criteria/criteria.h"

#include "robot/rk_manifold.h"
#include "math/rk_math.h"
#include "math/rk_vector.h"

/* away[nv]: from the rest configuration, lengths of floating joints along the axes of the parent. */
static void stretch(const rk_model *m, const double *q, const double *rest, double *away) {
  for (int32_t node = 0; node < m->n_nodes; node++) {
    const int32_t iq = m->iq[node], iv = m->iv[node], motion = m->motion[node];
    const int32_t lengths = motion == RK_FREE ? 3 : motion == RK_BALL ? 0 : 1;
    for (int32_t k = 0; k < lengths; k++) away[iv + k] = q[iq + k] - rest[iq + k];
    if (motion > RK_HELICAL) rk_difference_ball(rest + iq + lengths, q + iq + lengths, away + iv + lengths);
  }
}

double rk_add_springs(const rk_model *m, const double *q, const double *rest, const double *stiffness, double share,
                      double *away, double *g) {
  double cost = 0.0;
  stretch(m, q, rest, away);
  for (int32_t k = 0; k < m->nv; k++) {
    const double force = stiffness[k] * away[k];
    cost += 0.5 * force * away[k];
    away[k] = share * force;
  }
  if (!g) return cost;
  for (int32_t node = 0; node < m->n_nodes; node++) {
    if (m->motion[node] != RK_FREE) continue;
    double R[9], turned[3], *force = away + m->iv[node];
    rk_quaternion_matrix(q + m->iq[node] + 3, R);
    rk_rotate_back(R, force, turned);
    for (int k = 0; k < 3; k++) force[k] = turned[k];
  }
  rk_add_scaled(m->nv, 1.0, away, g);
  return cost;
}
