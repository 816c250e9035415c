/* What the algorithms share: a node's placement and its motion axes in the root frame. */
#ifndef RK_TREE_H
#define RK_TREE_H

#include "math/rk_math.h"
#include "math/rk_trig.h"
#include "robokin_kernel.h"

/* The coordinate of a node of one degree of freedom at q; 0 for the others. */
static inline double rk_coordinate(const rk_model *m, int32_t node, const double *q) {
  return m->motion[node] <= RK_HELICAL ? m->scale[node] * q[m->iq[node]] + m->offset[node] : 0.0;
}

/* out = T_parent_node: the node's fixed placement followed by its motion at q. The motion is about or along z;
   s, c: sine and cosine of its coordinate. */
static inline void rk_local_placement(const rk_model *m, int32_t node, const double *q, double coordinate, double s,
                                      double c, double out[12]) {
  const double *P = m->placement + 12 * (int64_t)node;
  if (m->motion[node] <= RK_HELICAL) {
    double slide = coordinate;
    if (m->motion[node] != RK_TRANSLATION) {
      for (int r = 0; r < 9; r += 3) {
        out[r] = c * P[r] + s * P[r + 1];
        out[r + 1] = c * P[r + 1] - s * P[r];
        out[r + 2] = P[r + 2];
      }
      slide *= m->pitch[node]; /* zero for a rotation */
    } else {
      for (int k = 0; k < 9; k++) out[k] = P[k];
    }
    for (int r = 0; r < 3; r++) out[9 + r] = P[9 + r] + slide * P[3 * r + 2];
  } else {
    const int slides = m->motion[node] == RK_FREE;
    double motion[12];
    q += m->iq[node];
    rk_quaternion_matrix(slides ? q + 3 : q, motion);
    for (int r = 0; r < 3; r++) motion[9 + r] = slides ? q[r] : 0.0;
    rk_compose(P, motion, out);
  }
}

/* nodes[node] = T_root_node, from the placement of its parent, which is already in `nodes` ([n_nodes][12]);
   coordinate, s, c as above. */
static inline void rk_place_behind(const rk_model *m, int32_t node, const double *q, double coordinate, double s,
                                   double c, double *nodes) {
  const int32_t parent = m->parent[node];
  double *out = nodes + 12 * (int64_t)node, local[12];
  rk_local_placement(m, node, q, coordinate, s, c, local);
  if (parent < 0)
    for (int k = 0; k < 12; k++) out[k] = local[k];
  else
    rk_compose(nodes + 12 * (int64_t)parent, local, out);
}

static inline void rk_place_node(const rk_model *m, int32_t node, const double *q, double *nodes) {
  const double coordinate = rk_coordinate(m, node, q);
  double s, c;
  rk_sincos(coordinate, &s, &c);
  rk_place_behind(m, node, q, coordinate, s, c, nodes);
}

/* In blocks, whose sines and cosines come from vector instructions. */
static inline void rk_place_nodes(const rk_model *m, const double *q, double *nodes) {
  enum { BLOCK = 16 };
  double coordinates[BLOCK], s[BLOCK], c[BLOCK];
  for (int32_t first = 0; first < m->n_nodes; first += BLOCK) {
    const int count = m->n_nodes - first < BLOCK ? (int)(m->n_nodes - first) : BLOCK;
    for (int k = 0; k < count; k++) coordinates[k] = rk_coordinate(m, first + k, q);
    rk_sincos_each(count, coordinates, s, c);
    for (int k = 0; k < count; k++) rk_place_behind(m, first + k, q, coordinates[k], s[k], c[k], nodes);
  }
}

/* Velocity entries of a node. */
static inline int rk_node_nv(const rk_model *m, int32_t node) {
  return m->motion[node] == RK_BALL ? 3 : m->motion[node] == RK_FREE ? 6 : 1;
}

/* out = the twist, per unit of v[iv], that the node of one degree of freedom placed at T gives the body behind it:
   velocity of the body's point at `point`, then angular velocity; root axes. */
static inline void rk_axis_twist(const rk_model *m, int32_t node, const double T[12], const double point[3],
                                 double out[6]) {
  const double scale = m->scale[node];
  const double axis[3] = {scale * T[2], scale * T[5], scale * T[8]};
  if (m->motion[node] == RK_TRANSLATION) {
    for (int k = 0; k < 3; k++) out[k] = axis[k], out[3 + k] = 0.0;
  } else {
    const double arm[3] = {point[0] - T[9], point[1] - T[10], point[2] - T[11]};
    const double pitch = m->pitch[node];
    rk_cross(axis, arm, out);
    for (int k = 0; k < 3; k++) out[k] += pitch * axis[k], out[3 + k] = axis[k];
  }
}

/* Twists of all velocity entries of a node of any motion, as rk_axis_twist; returns their number. */
static inline int rk_node_twists(const rk_model *m, int32_t node, const double T[12], const double point[3],
                                 double out[6][6]) {
  if (m->motion[node] <= RK_HELICAL) {
    rk_axis_twist(m, node, T, point, out[0]);
    return 1;
  }
  /* v is in the node's own axes: the columns of its rotation. */
  const double arm[3] = {point[0] - T[9], point[1] - T[10], point[2] - T[11]};
  const int angular = m->motion[node] == RK_FREE ? 3 : 0;
  for (int k = 0; k < 3; k++) {
    const double axis[3] = {T[k], T[3 + k], T[6 + k]};
    if (angular) {
      for (int r = 0; r < 3; r++) out[k][r] = axis[r], out[k][3 + r] = 0.0;
    }
    double *turn = out[angular + k];
    rk_cross(axis, arm, turn);
    for (int r = 0; r < 3; r++) turn[3 + r] = axis[r];
  }
  return angular + 3;
}

/* out = twists of all velocity entries of a node dotted with `wrench` (force, then moment about `point`); `twist` is
   what rk_axis_twist gave for it, read only for a node of one degree of freedom. Returns their number. */
static inline int rk_project(const rk_model *m, int32_t node, const double T[12], const double point[3],
                             const double twist[6], const double wrench[6], double out[6]) {
  if (m->motion[node] <= RK_HELICAL) {
    out[0] = rk_dot6(twist, wrench);
    return 1;
  }
  const double arm[3] = {T[9] - point[0], T[10] - point[1], T[11] - point[2]};
  const int angular = m->motion[node] == RK_FREE ? 3 : 0;
  double moment[3];
  rk_cross(arm, wrench, moment);
  for (int k = 0; k < 3; k++) moment[k] = wrench[3 + k] - moment[k];
  if (angular) rk_rotate_back(T, wrench, out);
  rk_rotate_back(T, moment, out + angular);
  return angular + 3;
}

/* The origin of the heaviest node, to express spatial vectors about: what counts most then loses no digits, wherever
   the robot stands and however far from it a lighter body is. */
static inline const double *rk_heaviest_point(const rk_model *m, const double *nodes) {
  static const double origin[3] = {0.0, 0.0, 0.0};
  int32_t heaviest = 0;
  for (int32_t node = 1; node < m->n_nodes; node++)
    if (m->inertia[10 * (int64_t)node] > m->inertia[10 * (int64_t)heaviest]) heaviest = node;
  return m->n_nodes > 0 ? nodes + 12 * (int64_t)heaviest + 9 : origin;
}

/* Add to J (6 rows of `stride` entries, nv used) the Jacobian of the point `point` (root axes) of the body of `node`,
   from node placements; rows as rk_axis_twist. J starts at zero; only columns of the node's ancestors are touched. */
static inline void rk_add_point_jacobian(const rk_model *m, const double *nodes, int32_t node, const double point[3],
                                         int64_t stride, double *J) {
  for (; node >= 0; node = m->parent[node]) {
    double twists[6][6];
    const int n = rk_node_twists(m, node, nodes + 12 * (int64_t)node, point, twists);
    for (int k = 0; k < n; k++) {
      double *column = J + m->iv[node] + k;
      for (int r = 0; r < 6; r++) column[r * stride] += twists[k][r];
    }
  }
}

/* out = T_root_frame from node placements. */
static inline void rk_place_frame(const rk_model *m, const double *nodes, int32_t frame, double out[12]) {
  const double *P = m->frame_placement + 12 * (int64_t)frame;
  const int32_t node = m->frame_node[frame];
  if (node < 0) {
    for (int k = 0; k < 12; k++) out[k] = P[k];
  } else {
    rk_compose(nodes + 12 * (int64_t)node, P, out);
  }
}

#endif
