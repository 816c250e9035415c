/* The pairs of a robot's shapes and obstacles at a configuration. */
#ifndef RK_ROBOT_PAIRS_H
#define RK_ROBOT_PAIRS_H

#include "robokin_clearance.h"
#include "robokin_kernel.h"

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
double rk_pair_centres(const rk_clearance *c, const rk_places *places, int32_t pair, double *radii);

#endif
