/* The pairs of a robot's shapes and obstacles at a configuration. */
#ifndef RK_ROBOT_PAIRS_H
#define RK_ROBOT_PAIRS_H

#include "math/rk_math.h"
#include "robokin_clearance.h"

/* Placements and the centres of bounding balls in the root frame: [n_shapes][12], [n_shapes][3]. */
typedef struct rk_places {
  double *placements, *centres;
} rk_places;

/* Places the shapes of the links, or the obstacles, as nodes[n_nodes][12] are, or obstacles[][12]. */
void rk_place_links(const rk_clearance *c, const double *nodes, const rk_places *places);
void rk_place_obstacles(const rk_clearance *c, const double *obstacles, const rk_places *places);

/* The distance of a pair, as rk_distances has it. */
int32_t rk_pair_distance(const rk_clearance *c, const rk_places *places, int32_t pair, double within, double out[10]);

/* Square of the distance between the centres of a pair, and the sum of their radii. */
static inline double rk_pair_centres(const rk_clearance *c, const rk_places *places, int32_t pair, double *radii) {
  const int64_t a = c->pairs[2 * (int64_t)pair], b = c->pairs[2 * (int64_t)pair + 1];
  double between[3];
  rk_subtract3(places->centres + 3 * b, places->centres + 3 * a, between);
  *radii = c->shapes[a].bound + c->shapes[b].bound;
  return rk_dot3(between, between);
}

#endif
