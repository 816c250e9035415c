/* How deep two convex shapes are in each other. A polytope M comes nearest to the origin inside it at one of its faces.
   Their normals are those of A, of B, and the cross products of their edges (Gottschalk, Lin, Manocha 1996), so the
   least reach among them is the depth, and none can fail. A disc has endless normals: a prism in its place says where
   to begin, and descents go on from there. Twin of robokin/collision/reference/way_out.py. */
#include "collision/pair.h"

#define SIDES 12 /* of the prism in place of a disc */
#define STARTS 12
#define MANY 400 /* crossings of edges that are not looked at one by one */
#define APART 0.97 /* cosine of the angle between two starts that are not the same */
#define MOST_ROUNDS 64
#define SETTLED 1e-13 /* of the size: what the deepest points may be off their normal */
#define SAME 1e-14 /* of the size: reaches that differ by no more are one */
#define NEAR 1e-3  /* of the size: nearer a descent is faster, but less exact */
#define CLOSE 1e-6 /* of the size: from how near the deepest points are looked for at the end */
#define GOLDEN 0.6180339887498949

typedef struct starts {
  int count, most;
  double reach[STARTS], n[STARTS][3];
} starts;

/* Take n in, sorted by reach; of two that are about the same the better one. */
static void consider(const rk_pair *p, double n[3], starts *s) {
  const double reach = rk_reach(p, n);
  if (s->count == s->most && reach >= s->reach[s->count - 1]) return;
  for (int i = 0; i < s->count; i++)
    if (rk_dot3(s->n[i], n) > APART) {
      if (reach >= s->reach[i]) return;
      for (int j = i; j + 1 < s->count; j++) s->reach[j] = s->reach[j + 1], rk_copy(s->n[j], s->n[j + 1], 3);
      s->count--;
      i--;
    }
  int at = s->count < s->most ? s->count++ : s->count - 1;
  for (; at > 0 && s->reach[at - 1] > reach; at--) s->reach[at] = s->reach[at - 1], rk_copy(s->n[at], s->n[at - 1], 3);
  s->reach[at] = reach;
  rk_copy(s->n[at], n, 3);
}

static void consider_both(const rk_pair *p, double n[3], starts *s) {
  consider(p, n, s);
  for (int k = 0; k < 3; k++) n[k] = -n[k];
  consider(p, n, s);
}

static const double CIRCLE[SIDES][2] = {
    {1.0, 0.0}, {0.8660254037844387, 0.5}, {0.5, 0.8660254037844387}, {0.0, 1.0},
    {-0.5, 0.8660254037844387}, {-0.8660254037844387, 0.5}, {-1.0, 0.0}, {-0.8660254037844387, -0.5},
    {-0.5, -0.8660254037844387}, {0.0, -1.0}, {0.5, -0.8660254037844387}, {0.8660254037844387, -0.5},
};

static int32_t edge_count(const rk_shape *s) { return s->n_edges + (s->disc > 0.0 ? SIDES / 2 : 0); }

/* Direction of an edge in the axes of the world. */
static void edge(const rk_shape *s, const double R[9], int32_t i, double out[3]) {
  const double side[3] = {CIRCLE[(i - s->n_edges + SIDES) % SIDES][0], CIRCLE[(i - s->n_edges + SIDES) % SIDES][1], 0.0};
  rk_rotate(R, i < s->n_edges ? s->edges + 3 * i : side, out);
}

static void consider_normals(const rk_pair *p, const rk_shape *s, const double R[9], starts *found) {
  double n[3];
  for (int32_t i = 0; i < s->n_normals; i++) {
    rk_rotate(R, s->normals + 3 * i, n);
    consider_both(p, n, found);
  }
  for (int i = 0; s->disc > 0.0 && i < SIDES / 2; i++) {
    const double side[3] = {CIRCLE[i][0], CIRCLE[i][1], 0.0};
    rk_rotate(R, side, n);
    consider_both(p, n, found);
  }
}

static void consider_edges(const rk_pair *p, starts *found) {
  for (int32_t i = 0; i < edge_count(p->a); i++) {
    double first[3], second[3], n[3];
    edge(p->a, p->Ta, i, first);
    for (int32_t j = 0; j < edge_count(p->b); j++) {
      edge(p->b, p->Tb, j, second);
      rk_cross(first, second, n);
      if (rk_dot3(n, n) > 1e-24 && rk_unit3(n)) consider_both(p, n, found);
    }
  }
}

/* Points, and lines that are parallel, have no normals: any across them will do. */
static void consider_across(const rk_pair *p, starts *found) {
  double along[3] = {1.0, 0.0, 0.0}, n[3];
  if (p->a->n_edges)
    rk_rotate(p->Ta, p->a->edges, along);
  else if (p->b->n_edges)
    rk_rotate(p->Tb, p->b->edges, along);
  rk_across(along, n);
  consider_both(p, n, found);
  double other[3];
  rk_cross(along, n, other);
  rk_unit3(other);
  consider_both(p, other, found);
}

/* Reach along n turned towards the unit vector `across`, by the tangent of an angle; that direction, in x. */
static double reach_at(const rk_pair *p, const double n[3], const double across[3], double tangent, double x[3]) {
  for (int k = 0; k < 3; k++) x[k] = n[k] + tangent * across[k];
  rk_unit3(x);
  return rk_reach(p, x);
}

/* Least reach on the great circle from n on through `to`; n becomes where it is. */
static double go_along(const rk_pair *p, double reach, double n[3], const double to[3]) {
  double across[3], x[3];
  const double cosine = rk_dot3(n, to);
  for (int k = 0; k < 3; k++) across[k] = to[k] - cosine * n[k];
  double low = 0.0, middle = 0.0, high = rk_sqrt(rk_dot3(across, across)), best = reach;
  if (!rk_unit3(across)) return reach;
  for (int i = 0; i < 40; i++) {
    const double next = reach_at(p, n, across, high, x);
    if (!(next < best)) break;
    best = next, low = middle, middle = high, high *= 2.0;
  }
  double left = high - GOLDEN * (high - low), right = low + GOLDEN * (high - low);
  double at_left = reach_at(p, n, across, left, x), at_right = reach_at(p, n, across, right, x);
  while (high - low > 1e-9 * (1.0 + high)) {
    if (at_left < at_right) {
      high = right, right = left, at_right = at_left;
      left = high - GOLDEN * (high - low), at_left = reach_at(p, n, across, left, x);
    } else {
      low = left, left = right, at_left = at_right;
      right = low + GOLDEN * (high - low), at_right = reach_at(p, n, across, right, x);
    }
  }
  const double least = reach_at(p, n, across, 0.5 * (low + high), x);
  if (!(least < reach)) return reach;
  rk_copy(n, x, 3);
  return least;
}

double rk_descend(const rk_pair *p, double reach, double n[3], rk_difference_point *deepest) {
  rk_difference_support(p, n, deepest);
  double beyond = 0.5, least = __builtin_inf(), found = reach, at[3];
  rk_copy(at, n, 3);
  for (int round = 0; round < MOST_ROUNDS && beyond > CLOSE; round++) {
    rk_difference_point points;
    double next[3], off[3], line[3];
    if (!rk_look_back(p, reach + beyond * p->size, at, &points, next)) break;
    for (int k = 0; k < 3; k++) off[k] = points.m[k] - reach * at[k];
    const double aside = rk_sqrt(rk_dot3(off, off));
    if (aside < least || reach < found - SAME * p->size) {
      least = aside, found = reach, *deepest = points;
      rk_copy(n, at, 3);
    }
    if (least <= SETTLED * p->size) break;
    double better = rk_reach(p, next);
    if (better > reach + SAME * p->size) {
      beyond *= 0.1;
      continue;
    }
    if (reach - better > 1e-15 * p->size) {
      rk_copy(line, at, 3);
      const double along = go_along(p, reach, line, next);
      if (along < better) rk_copy(next, line, 3), better = along;
    }
    rk_copy(at, next, 3);
    reach = better, beyond = rk_max(0.5 * beyond, NEAR);
  }
  return found;
}

double rk_shortest_way_out(const rk_pair *p, double enough, double n[3], rk_difference_point *deepest) {
  starts found = {.count = 0, .most = p->a->disc > 0.0 || p->b->disc > 0.0 ? STARTS : 1};
  const int crossings = p->a->n_edges * p->b->n_edges;
  if (found.most == 1 && crossings > MANY && rk_expand(p, n)) {
    consider(p, n, &found);
  } else {
    consider_across(p, &found);
    consider_normals(p, p->a, p->Ta, &found);
    consider_normals(p, p->b, p->Tb, &found);
    consider_edges(p, &found);
  }
  if (found.count > 0 && found.reach[0] < enough) {
    rk_copy(n, found.n[0], 3);
    return found.reach[0];
  }
  double least = __builtin_inf();
  for (int i = 0; i < found.count; i++) {
    rk_difference_point points;
    const double reach = rk_descend(p, found.reach[i], found.n[i], &points);
    if (!(reach < least)) continue;
    least = reach;
    rk_copy(n, found.n[i], 3);
    *deepest = points;
  }
  return least;
}
