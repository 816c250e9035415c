/* Distance and penetration of convex shapes. Conventions as in robokin_kernel.h. */
#ifndef ROBOKIN_COLLISION_H
#define ROBOKIN_COLLISION_H

#include "robokin_kernel.h"

/* The convex hull of some points, plus a flat disc about z, plus a ball: Minkowski sums. Everything is in the shape's
   own frame and is that of Core in robokin/collision/core.py, field by field. Not owned. */
typedef struct rk_shape {
  int32_t n_points, n_normals, n_edges;
  int32_t is_block;      /* a box or cylinder about the origin, along the axes: its last point is half of its sides */
  const double *points;  /* [n_points][3] */
  const double *normals; /* [n_normals][3] unit normals of the hull's faces; more do no harm */
  const double *edges;   /* [n_edges][3] unit directions of its edges; more do no harm */
  double disc;           /* radius of the disc, 0: none */
  double radius;         /* of the ball */
  double centre[3];      /* of a ball around the whole shape */
  double bound;          /* its radius */
} rk_shape;

RK_API int32_t rk_sizeof_shape(void);

/* What a query came to. */
enum rk_distance_status {
  RK_DISTANCE_FOUND = 0,
  RK_DISTANCE_FAR = 1,   /* beyond `within`: value is a lower bound, the rest is 0 */
  RK_DISTANCE_FAILED = 2 /* not found to the tolerance: value is -infinity, the rest is 0 */
};

/* Distances of `pairs` of shapes at `count` sets of placements[count][n_shapes][12].
   out[count][n_pairs][10]: value (negative inside), point on the first, point on the second, unit normal from the first
   to the second: second - first = value normal. status[count][n_pairs]: an rk_distance_status.
   Of a pair that is shown to be farther apart than `within` the distance is not looked for. */
RK_API void rk_distances(int64_t count, int32_t n_shapes, const rk_shape *shapes, const double *placements,
                         int32_t n_pairs, const int32_t *pairs, double within, double *out, int32_t *status);

/* Convex hull of points[n][3], integers within 2^48 of 0, no four of which lie in a plane. first: four of them that
   span much. work: as many doubles as rk_hull_workspace says. triangles[2 n - 4][3]: indices of points,
   counter-clockwise from outside. Returns how many there are; 0 where too many points lie in a plane. */
RK_API int64_t rk_hull_workspace(int32_t n);
RK_API int32_t rk_hull(int32_t n, const int64_t *points, const int32_t first[4], double *work, int32_t *triangles);

#endif
