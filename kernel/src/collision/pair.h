/* Two shapes beside each other, without their balls. What is looked at is their Minkowski difference M = A - B: A and B
   touch where M has the origin. */
#ifndef RK_COLLISION_PAIR_H
#define RK_COLLISION_PAIR_H

#include "math/rk_math.h"
#include "robokin_collision.h"

#define RK_TOUCHING 1e-11 /* of the size: nearer, the way from point to point does not say which way is out */

typedef struct rk_pair {
  const rk_shape *a, *b;
  const double *Ta, *Tb; /* [12] */
  double shift[3];       /* from the origin of A to that of B, in the axes of the world */
  double size;           /* of both together, without balls: what tolerances are counted in */
} rk_pair;

/* A point of M, from the origin, and the points of A and of B that it is the difference of, each from the origin of its
   shape, so that two that are near are told apart as well as in small shapes; in the axes of the world. of_a, of_b: the
   points of their hulls that these are beside, on their discs. */
typedef struct rk_difference_point {
  double a[3], b[3], m[3];
  int32_t of_a, of_b;
} rk_difference_point;

/* The point of a shape that is farthest along n (not 0), in the axes of the world, from the shape's origin; *point: of
   the hull, chosen where it is negative. */
static inline void rk_support(const rk_shape *s, const double R[9], const double n[3], int32_t *point, double out[3]) {
  double own[3], far[3], most = -__builtin_inf();
  rk_rotate_back(R, n, own);
  for (int32_t i = 0, is_chosen = *point >= 0; !is_chosen && i < s->n_points; i++) {
    const double along = rk_dot3(s->points + 3 * i, own);
    if (i == 0 || along > most) most = along, *point = i;
  }
  rk_copy(far, s->points + 3 * *point, 3);
  const double across = rk_sqrt(own[0] * own[0] + own[1] * own[1]);
  if (s->disc > 0.0 && across > 0.0)
    for (int k = 0; k < 2; k++) far[k] += s->disc * (own[k] / across);
  rk_rotate(R, far, out);
}

/* The point of M that is farthest along n, of those beside the points of the hulls that `out` has. */
static inline void rk_turn_on_discs(const rk_pair *p, const double n[3], rk_difference_point *out) {
  const double back[3] = {-n[0], -n[1], -n[2]};
  rk_support(p->a, p->Ta, n, &out->of_a, out->a);
  rk_support(p->b, p->Tb, back, &out->of_b, out->b);
  for (int k = 0; k < 3; k++) out->m[k] = (out->a[k] - out->b[k]) - p->shift[k];
}

/* The point of M that is farthest along n. */
static inline void rk_difference_support(const rk_pair *p, const double n[3], rk_difference_point *out) {
  out->of_a = out->of_b = -1;
  rk_turn_on_discs(p, n, out);
}

/* How far M reaches along the unit vector n: by that much B is to go along n to be free. */
static inline double rk_reach(const rk_pair *p, const double n[3]) {
  rk_difference_point far;
  rk_difference_support(p, n, &far);
  return rk_dot3(far.m, n);
}

static inline int rk_unit3(double x[3]) {
  const double length = rk_sqrt(rk_dot3(x, x));
  if (!(length > 1e-150)) return 0;
  for (int k = 0; k < 3; k++) x[k] /= length;
  return 1;
}

/* Unit vector across x, or any where x is 0. */
static inline void rk_across(const double x[3], double out[3]) {
  int least = 0;
  for (int k = 1; k < 3; k++)
    if (__builtin_fabs(x[k]) < __builtin_fabs(x[least])) least = k;
  double axis[3] = {0.0, 0.0, 0.0};
  axis[least] = 1.0;
  rk_cross(x, axis, out);
  if (!rk_unit3(out)) rk_copy(out, axis, 3);
}

/* Distance of two shapes with their balls, as rk_distances has them: one status, and out[10]; of shapes that are far the
   normal is a direction along which they were seen apart. */
int32_t rk_shape_distance(const rk_shape *a, const double Ta[12], const rk_shape *b, const double Tb[12], double within,
                          double out[10]);

/* How far two shapes with their balls are apart along the unit vector n: they are not nearer. */
double rk_shape_gap(const rk_shape *a, const double Ta[12], const rk_shape *b, const double Tb[12], const double n[3]);

/* Distance by a formula, negative inside, the points a and b that are nearest or deepest, and the unit normal; returns
   whether the pair has one. */
int rk_closed_form(const rk_pair *p, double *value, rk_difference_point *points, double n[3]);

/* The points of A and of B that are nearest. Returns their distance, 0 where they meet. *low: what it is not less than,
   as the unit vector n shows; once that is above `enough`, the nearest points are not looked for any more. */
double rk_nearest(const rk_pair *p, double enough, rk_difference_point *nearest, double *low, double n[3]);

/* The point of M that is nearest to `away` n, a point outside, and the unit vector from one to the other. Both are as
   exact as they get, however near M is to the origin. Returns whether they are apart. */
int rk_look_back(const rk_pair *p, double away, const double n[3], rk_difference_point *nearest, double next[3]);

/* From the unit vector n down to where the reach is least around; of two that are apart that is where it is least of
   all, and minus their distance. From a point outside M along n the nearest point of M shows a way that is not longer
   (Cameron 1997). Around the least, reaches that differ by rounding belong to directions that differ by its root: of
   those the one is kept whose deepest point is nearest to it. reach: that of n. Returns the least; the points of A and B
   that are nearest or deepest there. */
double rk_descend(const rk_pair *p, double reach, double n[3], rk_difference_point *points);

/* Finds n of the shortest way out by growing a polytope: sooner for polytopes of many edges. Returns whether it is
   proven. */
int rk_expand(const rk_pair *p, double n[3]);

/* Unit n along which B has the shortest way out of A, for two that meet; its length. One that is shown to be less than
   `enough` is not looked for: at most what is returned, and n shows it. */
double rk_shortest_way_out(const rk_pair *p, double enough, double n[3], rk_difference_point *deepest);

#endif
