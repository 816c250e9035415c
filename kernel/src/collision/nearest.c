/* The nearest points of two convex shapes. Gilbert, Johnson and Keerthi 1988: the simplex in M whose point nearest to
   the origin is known takes in the support point that way, until none is nearer. Of a simplex all faces are tried, so
   that no sign of a nearly flat one decides. Twin of robokin/collision/reference/nearest.py. */
#include "collision/pair.h"

#define MOST_ROUNDS 256
#define MOST_IDLE 4 /* rounds that bring nothing the last digit shows */
#define ROUNDS 3 /* of the shares in a simplex */

#define INLINED static inline __attribute__((always_inline)) /* for constant counts */

/* Shares of the corners p[count] in the point of their affine hull that is nearest to the origin; found again from where
   it is, as of thin simplices it is not exact. Returns whether that point is in their convex hull. */
INLINED int affine_shares(int count, const rk_difference_point *p[4], double share[4]) {
  double e[3][3], n[3], c[3], d[3];
  for (int i = 1; i < count; i++)
    for (int k = 0; k < 3; k++) e[i - 1][k] = (p[i]->a[k] - p[0]->a[k]) - (p[i]->b[k] - p[0]->b[k]);
  for (int i = 0; i < 4; i++) share[i] = 0.0;
  if (count >= 3) rk_cross(e[0], e[1], n);
  const double weight = count == 2   ? rk_dot3(e[0], e[0])
                        : count == 3 ? rk_dot3(n, n)
                        : count == 4 ? rk_dot3(n, e[2])
                                     : 1.0;
  if (weight == 0.0) return 0;
  for (int round = 0; round < ROUNDS && count > 1; round++) {
    double x[3];
    for (int k = 0; k < 3; k++) {
      x[k] = p[0]->m[k];
      for (int i = 1; i < count; i++) x[k] += share[i] * e[i - 1][k];
    }
    if (count == 2) {
      share[1] -= rk_dot3(x, e[0]) / weight;
    } else if (count == 3) {
      rk_cross(e[1], x, c);
      rk_cross(x, e[0], d);
      share[1] += rk_dot3(n, c) / weight;
      share[2] += rk_dot3(n, d) / weight;
    } else {
      rk_cross(e[1], e[2], c);
      rk_cross(e[2], e[0], d);
      share[1] -= rk_dot3(x, c) / weight;
      share[2] -= rk_dot3(x, d) / weight;
      share[3] -= rk_dot3(x, n) / weight;
    }
  }
  share[0] = 1.0 - share[1] - share[2] - share[3];
  return share[0] >= 0.0 && share[1] >= 0.0 && share[2] >= 0.0 && share[3] >= 0.0;
}

/* The best of the faces of a simplex so far: its corners as bits, their shares, its point nearest to the origin. */
typedef struct nearest_face {
  int corners;
  double share[4], v[3], worst;
} nearest_face;

INLINED void try_face(int n, int mask, int count, const rk_difference_point simplex[4], nearest_face *best) {
  const rk_difference_point *corner[4];
  double own[4], x[3] = {0.0, 0.0, 0.0}, worst = 0.0;
  for (int c = 0, at = 0; c < 4; c++)
    if (mask >> c & 1) corner[at++] = &simplex[c];
  if (!affine_shares(n, corner, own)) return;
  for (int c = 0; c < n; c++)
    for (int k = 0; k < 3; k++) x[k] += own[c] * corner[c]->m[k];
  for (int c = 0; c < count; c++) {
    const double beyond[3] = {x[0] - simplex[c].m[0], x[1] - simplex[c].m[1], x[2] - simplex[c].m[2]};
    worst = rk_max(worst, rk_dot3(x, beyond));
  }
  if (!(worst < best->worst)) return;
  best->worst = worst, best->corners = mask;
  rk_copy(best->v, x, 3);
  rk_copy(best->share, own, 4);
}

/* The point of the simplex nearest to the origin, in v; the simplex becomes the face that has it, with shares of its
   corners. Of the points of all faces the nearest one is v with v (v - corner) least for the worst corner; that tells
   also those apart that are as far to the last digit. Returns how far it is. */
static double reduce(int *count, rk_difference_point simplex[4], double share[4], double v[3]) {
  static const int faces[3][6] = {{1, 2, 4, 8}, {3, 5, 6, 9, 10, 12}, {7, 11, 13, 14}};
  const int all = 1 << *count;
  nearest_face best = {.worst = __builtin_inf()};
  for (int i = 0; i < *count; i++) try_face(1, faces[0][i], *count, simplex, &best);
  for (int i = 0; i < 6; i++)
    if (faces[1][i] < all) try_face(2, faces[1][i], *count, simplex, &best);
  for (int i = 0; i < 4; i++)
    if (faces[2][i] < all) try_face(3, faces[2][i], *count, simplex, &best);
  if (*count == 4) try_face(4, 15, 4, simplex, &best);
  int n = 0;
  for (int c = 0; c < *count; c++)
    if (best.corners >> c & 1) simplex[n++] = simplex[c];
  rk_copy(share, best.share, n);
  rk_copy(v, best.v, 3);
  *count = n;
  return rk_sqrt(rk_dot3(v, v));
}

double rk_nearest(const rk_pair *p, double enough, rk_difference_point *nearest, double *low,
                  double n[3]) {
  rk_difference_point simplex[4];
  double share[4] = {1.0, 0.0, 0.0, 0.0}, v[3];
  const double start[3] = {1.0, 0.0, 0.0}, touching = 1e-15 * p->size;
  int count = 1, idle = 0;
  rk_difference_support(p, rk_dot3(p->shift, p->shift) > 0.0 ? p->shift : start, &simplex[0]);
  double distance = reduce(&count, simplex, share, v);
  *low = -__builtin_inf();
  for (int round = 0; round < MOST_ROUNDS && distance > touching && count < 4; round++) {
    const double back[3] = {-v[0] / distance, -v[1] / distance, -v[2] / distance};
    rk_difference_point more[4];
    double own[4], x[3];
    for (int c = 0; c < count; c++) more[c] = simplex[c];
    rk_difference_support(p, back, &more[count]);
    const double shown = -rk_dot3(more[count].m, back);
    if (shown > *low) *low = shown, rk_copy(n, back, 3);
    if (*low > enough || distance - *low <= touching) break;
    int size = count + 1;
    const double nearer = reduce(&size, more, own, x);
    if (nearer > distance + touching) break;
    idle = nearer < distance ? 0 : idle + 1;
    if (idle > MOST_IDLE) break;
    distance = nearer, count = size;
    rk_copy(v, x, 3);
    for (int c = 0; c < count; c++) simplex[c] = more[c], share[c] = own[c];
  }
  for (int k = 0; k < 3; k++) {
    nearest->a[k] = nearest->b[k] = 0.0;
    for (int c = 0; c < count; c++) {
      nearest->a[k] += share[c] * simplex[c].a[k];
      nearest->b[k] += share[c] * simplex[c].b[k];
    }
    nearest->m[k] = v[k];
  }
  return distance > touching ? distance : 0.0;
}

int rk_look_back(const rk_pair *p, double away, const double n[3], rk_difference_point *nearest, double next[3]) {
  rk_pair apart = *p;
  double low, shown[3];
  for (int k = 0; k < 3; k++) apart.shift[k] += away * n[k];
  rk_nearest(&apart, __builtin_inf(), nearest, &low, shown);
  for (int k = 0; k < 3; k++) {
    next[k] = -nearest->m[k];
    nearest->m[k] += away * n[k];
  }
  return rk_unit3(next);
}
