/* Geometric Jacobian of a frame: one column per velocity entry of the nodes that carry it. */
#include "robot/rk_tree.h"

/* Place only `node` and what carries it; `path` has room for n_nodes indices. */
static void place_path(const rk_model *m, const double *q, int32_t node, double *nodes, double *path) {
  int32_t length = 0;
  for (; node >= 0; node = m->parent[node]) path[length++] = node;
  while (length > 0) rk_place_node(m, (int32_t)path[--length], q, nodes);
}

void rk_frame_jacobian(const rk_model *model, int64_t count, const double *q, int32_t frame, int32_t reference,
                       double *work, double *out) {
  static const double origin[3] = {0.0, 0.0, 0.0};
  const int64_t nv = model->nv;
  const int32_t node = model->frame_node[frame];
  for (; count > 0; count--, q += model->nq, out += 6 * nv) {
    double T[12];
    place_path(model, q, node, work, work + 12 * (int64_t)model->n_nodes);
    rk_place_frame(model, work, frame, T);
    for (int64_t k = 0; k < 6 * nv; k++) out[k] = 0.0;
    rk_add_point_jacobian(model, work, node, reference == RK_WORLD ? origin : T + 9, nv, out);
    if (reference != RK_LOCAL) continue;
    for (int64_t column = 0; column < nv; column++) {
      for (int half = 0; half < 2; half++) {
        double *top = out + 3 * half * nv + column, local[3];
        const double world[3] = {top[0], top[nv], top[2 * nv]};
        rk_rotate_back(T, world, local);
        for (int r = 0; r < 3; r++) top[r * nv] = local[r];
      }
    }
  }
}
