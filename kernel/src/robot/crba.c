/* Mass matrix by the composite rigid body algorithm (Featherstone, Rigid Body Dynamics Algorithms, 2008, section 6.2).

   Everything is expressed in root axes about one point, so that composite inertias and momenta need no transforms on
   their way to the root. Only nodes and their ancestors meet: branches of a tree cost nothing to each other. */
#include "robot/crba.h"

#include "robot/rk_inertia.h"

typedef struct state {
  const rk_model *m;
  const double *nodes, *twists, *point;
} state;

/* Row `row` of M: the momentum that one velocity entry of `node` gives to what `node` carries, seen by each ancestor.
   Mimic nodes may put several pairs of nodes on one entry of M, hence the sums. */
static void couple_with_ancestors(const state *s, int32_t node, int64_t row, const double momentum[6], double *M) {
  const rk_model *m = s->m;
  const int64_t nv = m->nv;
  for (int32_t j = m->parent[node]; j >= 0; j = m->parent[j]) {
    double entries[6];
    const int n = rk_project(m, j, s->nodes + 12 * (int64_t)j, s->point, s->twists + 6 * (int64_t)j, momentum, entries);
    double *across = M + row * nv + m->iv[j], *down = M + m->iv[j] * nv + row;
    for (int k = 0; k < n; k++) {
      across[k] += entries[k];
      down[k * nv] += entries[k];
    }
  }
}

void rk_mass_matrix_placed(const rk_model *m, const double *nodes, double *work, double *M) {
  double *twists = work, *inertias = twists + 6 * (int64_t)m->n_nodes;
  const int64_t nv = m->nv;
  for (int64_t k = 0; k < nv * nv; k++) M[k] = 0.0;
  const double *point = rk_heaviest_point(m, nodes);
  for (int32_t node = 0; node < m->n_nodes; node++) {
    const double *T = nodes + 12 * (int64_t)node;
    rk_move_inertia(m->inertia + 10 * (int64_t)node, T, point, inertias + 10 * (int64_t)node);
    if (m->motion[node] <= RK_HELICAL) rk_axis_twist(m, node, T, point, twists + 6 * (int64_t)node);
  }
  const state s = {m, nodes, twists, point};
  for (int32_t node = m->n_nodes - 1; node >= 0; node--) {
    const double *carried = inertias + 10 * (int64_t)node, *T = nodes + 12 * (int64_t)node;
    const double *twist = twists + 6 * (int64_t)node;
    if (m->parent[node] >= 0) {
      double *parent = inertias + 10 * (int64_t)m->parent[node];
      for (int k = 0; k < 10; k++) parent[k] += carried[k];
    }
    const int64_t row = m->iv[node];
    double momentum[6];
    if (m->motion[node] <= RK_HELICAL) {
      rk_inertia_apply(carried, twist, momentum);
      M[row * nv + row] += rk_dot6(twist, momentum);
      couple_with_ancestors(&s, node, row, momentum, M);
    } else {
      double own[6][6];
      const int n = rk_node_twists(m, node, T, point, own);
      for (int k = 0; k < n; k++) {
        rk_inertia_apply(carried, own[k], momentum);
        rk_project(m, node, T, point, twist, momentum, M + (row + k) * nv + row);
        couple_with_ancestors(&s, node, row + k, momentum, M);
      }
    }
  }
}

void rk_mass_matrix(const rk_model *model, int64_t count, const double *q, double *work, double *out) {
  for (; count > 0; count--, q += model->nq, out += (int64_t)model->nv * model->nv) {
    rk_place_nodes(model, q, work);
    rk_mass_matrix_placed(model, work, work + 12 * (int64_t)model->n_nodes, out);
  }
}
