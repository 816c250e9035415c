/* The way out of polytopes with many edges, without a look at every crossing of them. A polytope in M grows where it is
   nearest to the origin (van den Bergen 2001). Its faces are a lower bound of the depth, the reach along any normal is
   an upper one: where both are equal, the normal is proven to be the shortest way out. No twin: the same answer as that
   of all faces and crossings, sooner. */
#include "collision/pair.h"

#define MOST_POINTS 192
#define MOST_FACES (2 * MOST_POINTS)
#define MOST_EDGES (3 * MOST_FACES)
#define EQUAL 1e-13 /* of the size: what the bounds may differ by */
#define FLAT 1e-9   /* of the size: thinner, there is no volume to grow */

typedef struct face {
  int corner[3];
  double n[3], away; /* unit normal outwards; distance of its plane from the origin along it */
} face;

typedef struct polytope {
  int n_points, n_faces;
  double points[MOST_POINTS][3];
  face faces[MOST_FACES];
} polytope;

static void reached(const rk_pair *p, const double n[3], double out[3]) {
  rk_difference_point far;
  rk_difference_support(p, n, &far);
  rk_copy(out, far.m, 3);
}

/* Returns whether the corners span a face. */
static int add_face(polytope *hull, int a, int b, int c, double thin) {
  if (hull->n_faces == MOST_FACES) return 0;
  face *f = &hull->faces[hull->n_faces];
  double first[3], second[3];
  rk_subtract3(hull->points[b], hull->points[a], first);
  rk_subtract3(hull->points[c], hull->points[a], second);
  rk_cross(first, second, f->n);
  if (!(rk_dot3(f->n, f->n) > thin) || !rk_unit3(f->n)) return 0;
  f->corner[0] = a, f->corner[1] = b, f->corner[2] = c;
  f->away = rk_dot3(f->n, hull->points[a]);
  hull->n_faces++;
  return 1;
}

/* Four points of M that span a volume; returns whether there are such. */
static int start(const rk_pair *p, polytope *hull, double thin) {
  double(*v)[3] = hull->points, along[3], other[3], edge[3], n[3], best = -1.0;
  for (int axis = 0; axis < 3; axis++) {
    double direction[3] = {0.0, 0.0, 0.0}, low[3], high[3];
    direction[axis] = 1.0;
    reached(p, direction, high);
    direction[axis] = -1.0;
    reached(p, direction, low);
    rk_subtract3(high, low, along);
    const double length = rk_dot3(along, along);
    if (length > best) best = length, rk_copy(v[0], low, 3), rk_copy(v[1], high, 3);
  }
  rk_subtract3(v[1], v[0], along);
  if (!rk_unit3(along)) return 0;
  rk_across(along, other);
  for (int side = 0; side < 2; side++) {
    reached(p, other, v[2]);
    rk_subtract3(v[2], v[0], edge);
    rk_cross(along, edge, n);
    if (rk_dot3(n, n) > thin) break;
    for (int k = 0; k < 3; k++) other[k] = -other[k];
  }
  if (!rk_unit3(n)) return 0;
  for (int side = 0; side < 2; side++) {
    reached(p, n, v[3]);
    rk_subtract3(v[3], v[0], edge);
    const double height = rk_dot3(n, edge);
    if (height * height > thin) break;
    for (int k = 0; k < 3; k++) n[k] = -n[k];
  }
  hull->n_points = 4, hull->n_faces = 0;
  static const int sides[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
  for (int f = 0; f < 4; f++) {
    const int *c = sides[f];
    if (!add_face(hull, c[0], c[1], c[2], thin * thin)) return 0;
    face *made = &hull->faces[f];
    const int inner = 6 - c[0] - c[1] - c[2];
    const double height = rk_dot3(made->n, v[inner]) - made->away;
    if (!(height * height > thin)) return 0;
    if (height > 0.0) {
      made->corner[1] = c[2], made->corner[2] = c[1], made->away = -made->away;
      for (int k = 0; k < 3; k++) made->n[k] = -made->n[k];
    }
  }
  return 1;
}

/* Take in a point outside; returns whether the hull is one again. */
static int grow(polytope *hull, const double point[3], double size) {
  int edges[MOST_EDGES][2], n_edges = 0;
  for (int f = 0; f < hull->n_faces;) {
    const face *visible = &hull->faces[f];
    if (rk_dot3(visible->n, point) - visible->away <= 0.0) {
      f++;
      continue;
    }
    for (int k = 0; k < 3; k++) {
      const int from = visible->corner[k], to = visible->corner[(k + 1) % 3];
      int twin = 0;
      while (twin < n_edges && !(edges[twin][0] == to && edges[twin][1] == from)) twin++;
      if (twin < n_edges) {
        n_edges--;
        edges[twin][0] = edges[n_edges][0], edges[twin][1] = edges[n_edges][1];
      } else {
        edges[n_edges][0] = from, edges[n_edges][1] = to, n_edges++;
      }
    }
    hull->faces[f] = hull->faces[--hull->n_faces];
  }
  if (!n_edges || hull->n_points == MOST_POINTS) return 0;
  const int at = hull->n_points++;
  rk_copy(hull->points[at], point, 3);
  const double thin = 1e-30 * size * size * size * size;
  for (int e = 0; e < n_edges; e++)
    if (!add_face(hull, edges[e][0], edges[e][1], at, thin)) return 0;
  return 1;
}

int rk_expand(const rk_pair *p, double n[3]) {
  polytope hull;
  const double thin = FLAT * FLAT * p->size * p->size;
  if (!start(p, &hull, thin)) return 0;
  for (;;) {
    int nearest = 0;
    for (int f = 1; f < hull.n_faces; f++)
      if (hull.faces[f].away < hull.faces[nearest].away) nearest = f;
    const face *f = &hull.faces[nearest];
    double point[3];
    reached(p, f->n, point);
    if (rk_dot3(point, f->n) - f->away <= EQUAL * p->size) {
      rk_copy(n, f->n, 3);
      return f->away >= 0.0;
    }
    if (!grow(&hull, point, p->size)) return 0;
  }
}
