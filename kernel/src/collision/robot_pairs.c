/* Twin of CollisionModel.distances in robokin/collision/model.py, for the requested pairs. */
#include "collision/robot_pairs.h"

#include "collision/pair.h"
#include "math/rk_math.h"

int32_t rk_sizeof_clearance(void) { return (int32_t)sizeof(rk_clearance); }

static void place(const rk_clearance *c, int32_t i, const rk_places *places) {
  const double *T = places->placements + 12 * (int64_t)i;
  double *centre = places->centres + 3 * (int64_t)i;
  rk_rotate(T, c->shapes[i].centre, centre);
  for (int k = 0; k < 3; k++) centre[k] += T[9 + k];
}

void rk_place_links(const rk_clearance *c, const double *nodes, const rk_places *places) {
  for (int32_t i = 0; i < c->n_links; i++) {
    const double *own = c->own + 12 * (int64_t)i;
    double *T = places->placements + 12 * (int64_t)i;
    if (c->node[i] < 0)
      rk_copy(T, own, 12);
    else
      rk_compose(nodes + 12 * (int64_t)c->node[i], own, T);
    place(c, i, places);
  }
}

void rk_place_obstacles(const rk_clearance *c, const double *obstacles, const rk_places *places) {
  rk_copy(places->placements + 12 * (int64_t)c->n_links, obstacles, 12 * (int64_t)(c->n_shapes - c->n_links));
  for (int32_t i = c->n_links; i < c->n_shapes; i++) place(c, i, places);
}

int32_t rk_pair_distance(const rk_clearance *c, const rk_places *places, int32_t pair, double within, double out[10]) {
  const int64_t a = c->pairs[2 * (int64_t)pair], b = c->pairs[2 * (int64_t)pair + 1];
  return rk_shape_distance(c->shapes + a, places->placements + 12 * a, c->shapes + b, places->placements + 12 * b,
                           within, out);
}
