/* The nearest points of two convex shapes. Gilbert, Johnson and Keerthi 1988: the simplex in M whose point nearest to
   the origin is known takes in the support point that way, until none is nearer. Of a simplex all faces with the new
   point are tried, so that no sign of a nearly flat one decides. Discs would only be neared by halves: there Newton's
   method turns the simplex. Twin of robokin/collision/reference/nearest.py. */
#include "collision/pair.h"

#include "math/rk_cholesky.h"

#define MOST_ROUNDS 256
#define MOST_IDLE 4 /* rounds that bring nothing the last digit shows */
#define FLAT 1e-20 /* square of the sine of an angle that is none */
#define COAXIAL 1e-8 /* sine of the angle to a disc's axis along which it is flat */
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

/* Corners in M and, of their point nearest to the origin, v, the shares that they have in it and how far it is. */
typedef struct simplex {
  int count;
  rk_difference_point corner[4];
  double share[4], v[3], distance;
} simplex;

/* The best of the faces of a simplex so far: its corners as bits, their shares, its point nearest to the origin. */
typedef struct nearest_face {
  int corners;
  double share[4], v[3], worst;
} nearest_face;

/* How much nearer the worst of the corners is than x, along x. */
INLINED double shortfall(const simplex *s, const double x[3]) {
  double worst = 0.0;
  for (int c = 0; c < s->count; c++) {
    const double beyond[3] = {x[0] - s->corner[c].m[0], x[1] - s->corner[c].m[1], x[2] - s->corner[c].m[2]};
    worst = rk_max(worst, rk_dot3(x, beyond));
  }
  return worst;
}

INLINED void try_face(int n, int mask, const simplex *s, nearest_face *best) {
  const rk_difference_point *corner[4];
  double own[4], x[3] = {0.0, 0.0, 0.0};
  for (int c = 0, at = 0; c < 4; c++)
    if (mask >> c & 1) corner[at++] = &s->corner[c];
  if (!affine_shares(n, corner, own)) return;
  for (int c = 0; c < n; c++)
    for (int k = 0; k < 3; k++) x[k] += own[c] * corner[c]->m[k];
  const double worst = shortfall(s, x);
  if (!(worst < best->worst)) return;
  best->worst = worst, best->corners = mask;
  rk_copy(best->v, x, 3);
  rk_copy(best->share, own, 4);
}

/* Finds the point of the simplex nearest to the origin; it becomes the face that has it. Of the points of all faces the
   nearest one is v with v (v - corner) least for the worst corner; that tells also those apart that are as far to the
   last digit. is_grown: its last corner is new; then no part of what it was before can be it. */
static void reduce(int is_grown, simplex *s) {
  static const int faces[3][6] = {{1, 2, 4, 8}, {3, 5, 6, 9, 10, 12}, {7, 11, 13, 14}};
  const int all = 1 << s->count, with = is_grown ? all >> 1 : 0;
  nearest_face best = {.worst = __builtin_inf()};
  if (is_grown) {
    best.worst = shortfall(s, s->v), best.corners = with - 1;
    rk_copy(best.v, s->v, 3);
    rk_copy(best.share, s->share, 4);
  }
  for (int i = 0; i < s->count; i++)
    if ((faces[0][i] & with) == with) try_face(1, faces[0][i], s, &best);
  for (int i = 0; i < 6; i++)
    if (faces[1][i] < all && (faces[1][i] & with) == with) try_face(2, faces[1][i], s, &best);
  for (int i = 0; i < 4; i++)
    if (faces[2][i] < all && (faces[2][i] & with) == with) try_face(3, faces[2][i], s, &best);
  if (s->count == 4) try_face(4, 15, s, &best);
  s->count = 0;
  for (int c = 0; c < 4; c++)
    if (best.corners >> c & 1) s->corner[s->count++] = s->corner[c];
  rk_copy(s->share, best.share, 4);
  rk_copy(s->v, best.v, 3);
  s->distance = rk_norm3(s->v);
}

/* x without its parts along some unit vectors. */
static void across(int count, double axis[3][3], double x[3]) {
  for (int i = 0; i < count; i++) {
    const double along = rk_dot3(x, axis[i]);
    for (int k = 0; k < 3; k++) x[k] -= along * axis[i][k];
  }
}

/* Turns the corners on their discs to where M ends along n, the direction of least reach across the hulls' points that
   they are beside, after one step of Newton's method. The reach of a unit vector has the gradient x, the point there,
   and the Hessian distance + radius / sine t t' with the tangent t of each rim. Returns whether there is such a step. */
static int turn(const rk_pair *p, simplex *s) {
  double n[3] = {-s->v[0], -s->v[1], -s->v[2]}, axis[3][3], x[3], t[3], H[9], L[9];
  int axes = 0, used = 0;
  for (int c = 0; c < s->count; c++) {
    int is_new = 1;
    for (int i = 0; i < used; i++) is_new &= s->corner[i].of_a != s->corner[c].of_a || s->corner[i].of_b != s->corner[c].of_b;
    if (!is_new) continue;
    s->corner[used] = s->corner[c];
    rk_turn_on_discs(p, n, &s->corner[used++]);
    rk_subtract3(s->corner[used - 1].m, s->corner[0].m, axis[axes]);
    const double square = rk_dot3(axis[axes], axis[axes]);
    across(axes, axis, axis[axes]);
    axes += rk_dot3(axis[axes], axis[axes]) > FLAT * square && rk_unit3(axis[axes]);
  }
  s->count = used;
  across(axes, axis, n);
  if (!rk_unit3(n)) return 0;
  rk_turn_on_discs(p, n, &s->corner[0]);
  rk_copy(x, s->corner[0].m, 3);
  rk_copy(axis[axes++], n, 3);
  for (int k = 0; k < 9; k++) H[k] = k % 4 ? 0.0 : -rk_dot3(x, n);
  for (int side = 0; side < 2; side++) {
    const double disc = (side ? p->b : p->a)->disc, *R = side ? p->Tb : p->Ta, z[3] = {R[2], R[5], R[8]};
    rk_cross(z, n, t);
    const double sine = rk_norm3(t);
    if (!(disc > 0.0)) continue;
    if (sine < COAXIAL || !rk_unit3(t)) return 0;
    across(axes, axis, t);
    for (int k = 0; k < 9; k++) H[k] += disc / sine * t[k / 3] * t[k % 3];
  }
  if (!rk_cholesky(3, H, L)) return 0;
  across(axes, axis, x);
  rk_solve_lower(3, L, x);
  rk_solve_lower_transposed(3, L, x);
  rk_subtract3(n, x, n);
  for (int c = 0; c < used; c++) rk_turn_on_discs(p, n, &s->corner[c]);
  return 1;
}

double rk_nearest(const rk_pair *p, double enough, rk_difference_point *nearest, double *low, double n[3]) {
  simplex own = {.count = 1};
  const double start[3] = {1.0, 0.0, 0.0}, touching = 1e-15 * p->size;
  int idle = 0;
  rk_difference_support(p, rk_dot3(p->shift, p->shift) > 0.0 ? p->shift : start, &own.corner[0]);
  reduce(0, &own);
  *low = -__builtin_inf();
  for (int round = 0; round < MOST_ROUNDS && own.distance > touching && own.count < 4; round++) {
    const double back[3] = {-own.v[0] / own.distance, -own.v[1] / own.distance, -own.v[2] / own.distance};
    simplex more = own;
    rk_difference_support(p, back, &more.corner[more.count++]);
    const double shown = -rk_dot3(more.corner[own.count].m, back);
    if (shown > *low) *low = shown, rk_copy(n, back, 3);
    if (*low > enough || own.distance - *low <= touching) break;
    reduce(1, &more);
    if (more.distance > own.distance + touching) break;
    idle = more.distance < own.distance ? 0 : idle + 1;
    if (idle > MOST_IDLE) break;
    own = more;
    if (!(p->a->disc > 0.0 || p->b->disc > 0.0) || own.count == 4 || !turn(p, &more)) continue;
    reduce(0, &more);
    if (more.distance < own.distance) own = more;
  }
  for (int k = 0; k < 3; k++) {
    nearest->a[k] = nearest->b[k] = 0.0;
    for (int c = 0; c < own.count; c++) {
      nearest->a[k] += own.share[c] * own.corner[c].a[k];
      nearest->b[k] += own.share[c] * own.corner[c].b[k];
    }
    nearest->m[k] = own.v[k];
  }
  return own.distance > touching ? own.distance : 0.0;
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
