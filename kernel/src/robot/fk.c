/* Forward kinematics: T_root_node = T_root_parent * placement * motion(q), parents first. */
#include "robot/rk_tree.h"

void rk_node_placements(const rk_model *model, int64_t count, const double *q, double *out) {
  for (; count > 0; count--, q += model->nq, out += 12 * (int64_t)model->n_nodes) rk_place_nodes(model, q, out);
}

void rk_frame_placements(const rk_model *model, int64_t count, const double *q, double *work, double *out) {
  for (; count > 0; count--, q += model->nq) {
    rk_place_nodes(model, q, work);
    for (int32_t frame = 0; frame < model->n_frames; frame++, out += 16) {
      double T[12];
      rk_place_frame(model, work, frame, T);
      for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) out[4 * r + c] = T[3 * r + c];
        out[4 * r + 3] = T[9 + r];
        out[12 + r] = 0.0;
      }
      out[15] = 1.0;
    }
  }
}
