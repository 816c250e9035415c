/* The convex hull of points in general position: quickhull (Barber, Dobkin, Huhdanpaa 1996). Each point that is outside
   waits at one of the faces that it sees. The farthest of a face joins the hull: what it sees gives way to a cone of
   faces between it and the rim. Which face a point sees is decided exactly, by integers. Twin of
   robokin/collision/reference/hull.py. */
#include "math/rk_arena.h"
#include "robokin_collision.h"

#define NONE (-1)
#define SURE 1e-15 /* of the sum of magnitudes: a height that is larger has the sign that it shows */
#define HALF 50    /* bits of the lower part of a normal */

__extension__ typedef __int128 wide;

typedef struct face {
  int64_t u[3], v[3]; /* two sides; the normal is their product, which a double holds in part only */
  double normal[3];   /* outwards */
  double farthest;    /* height of the first of its points */
  int32_t corner[3];        /* counter-clockwise from outside */
  int32_t beside[3];        /* the face at the side from corner k to the next */
  int32_t waiting;          /* first of the points that wait here, the farthest; NONE: no point */
  int32_t is_live, is_visible, is_listed;
} face;

typedef struct side {
  int32_t from, to, outer; /* from one point to another; the face beyond, which stays */
} side;

typedef struct hull {
  int32_t n, capacity, count; /* count: faces that were ever made */
  const int64_t *points;
  face *faces;
  int32_t *after;  /* [n] the point that waits behind a point */
  int32_t *starts; /* [n] the new face whose side on the rim starts at a point */
  int32_t *listed; /* [capacity] faces to look at, where points may wait */
  int32_t *free;   /* [capacity] places of faces that gave way */
  int32_t *visible; /* [capacity] */
  side *rim;       /* [capacity] */
  int32_t n_listed, n_free, n_visible, n_rim;
} hull;

static int64_t doubles(int64_t bytes) { return (bytes + 7) / 8; }

static int64_t lay_out(hull *h, int32_t n, double *work) {
  rk_arena arena = {work, 0};
  h->n = n;
  h->capacity = n < 4 ? 4 : 2 * n - 4; /* no hull has more */
  h->faces = (face *)rk_take(&arena, doubles((int64_t)h->capacity * (int64_t)sizeof(face)));
  h->rim = (side *)rk_take(&arena, doubles((int64_t)h->capacity * (int64_t)sizeof(side)));
  h->after = rk_take_integers(&arena, n);
  h->starts = rk_take_integers(&arena, n);
  h->listed = rk_take_integers(&arena, h->capacity);
  h->free = rk_take_integers(&arena, h->capacity);
  h->visible = rk_take_integers(&arena, h->capacity);
  h->count = h->n_listed = h->n_free = 0;
  return arena.used;
}

int64_t rk_hull_workspace(int32_t n) {
  hull h;
  return lay_out(&h, n, 0);
}

static const int64_t *point(const hull *h, int32_t i) { return h->points + 3 * (int64_t)i; }

static wide product(const int64_t u[3], const int64_t v[3], int k) {
  const int y = (k + 1) % 3, z = (k + 2) % 3;
  return (wide)u[y] * v[z] - (wide)u[z] * v[y];
}

static void between(const hull *h, int32_t from, int32_t to, int64_t out[3]) {
  for (int k = 0; k < 3; k++) out[k] = point(h, to)[k] - point(h, from)[k];
}

/* Height of a point over a face, times twice its area; positive: the point sees it. The sign is exact. */
static double above(const hull *h, const face *f, int32_t i) {
  int64_t d[3];
  between(h, f->corner[0], i, d);
  double height = 0.0, magnitude = 0.0;
  for (int k = 0; k < 3; k++) {
    const double part = f->normal[k] * (double)d[k];
    height += part;
    magnitude += part < 0.0 ? -part : part;
  }
  if (height > SURE * magnitude || height < -SURE * magnitude) return height;
  wide high = 0, low = 0;
  for (int k = 0; k < 3; k++) {
    const wide normal = product(f->u, f->v, k), upper = normal >> HALF;
    high += upper * d[k];
    low += (normal - upper * ((wide)1 << HALF)) * d[k];
  }
  high += low >> HALF;
  if (high < 0) return -SURE * magnitude;
  return high > 0 || low - ((low >> HALF) * ((wide)1 << HALF)) > 0 ? SURE * magnitude : 0.0;
}

/* Index of a new face; NONE where there is no place. */
static int32_t add_face(hull *h, int32_t a, int32_t b, int32_t c) {
  if (!h->n_free && h->count == h->capacity) return NONE;
  if (!h->n_free) {
    h->faces[h->count].is_listed = 0; /* one that is made anew in an old place may be listed yet */
    h->free[h->n_free++] = h->count++;
  }
  const int32_t place = h->free[--h->n_free];
  face *f = h->faces + place;
  between(h, a, b, f->u);
  between(h, a, c, f->v);
  for (int k = 0; k < 3; k++) f->normal[k] = (double)product(f->u, f->v, k);
  f->corner[0] = a, f->corner[1] = b, f->corner[2] = c;
  f->beside[0] = f->beside[1] = f->beside[2] = NONE;
  f->waiting = NONE;
  f->farthest = 0.0;
  f->is_live = 1;
  f->is_visible = 0;
  return place;
}

/* The point waits at the face if it sees it. */
static int waits(hull *h, int32_t place, int32_t i) {
  face *f = h->faces + place;
  const double height = above(h, f, i);
  if (!(height > 0.0)) return 0;
  if (f->waiting == NONE || height > f->farthest) {
    h->after[i] = f->waiting;
    f->waiting = i;
    f->farthest = height;
  } else {
    h->after[i] = h->after[f->waiting];
    h->after[f->waiting] = i;
  }
  if (!f->is_listed) {
    f->is_listed = 1;
    h->listed[h->n_listed++] = place;
  }
  return 1;
}

/* The faces that the point sees, from one of them on, and the rim around them. */
static void look(hull *h, int32_t first, int32_t i) {
  h->n_visible = h->n_rim = 0;
  h->faces[first].is_visible = 1;
  h->visible[h->n_visible++] = first;
  for (int32_t at = 0; at < h->n_visible; at++) {
    const face *f = h->faces + h->visible[at];
    for (int k = 0; k < 3; k++) {
      face *beside = h->faces + f->beside[k];
      if (!beside->is_visible && above(h, beside, i) > 0.0) {
        beside->is_visible = 1;
        h->visible[h->n_visible++] = f->beside[k];
      }
    }
  }
  for (int32_t at = 0; at < h->n_visible; at++) {
    const face *f = h->faces + h->visible[at];
    for (int k = 0; k < 3; k++)
      if (!h->faces[f->beside[k]].is_visible)
        h->rim[h->n_rim++] = (side){f->corner[k], f->corner[(k + 1) % 3], f->beside[k]};
  }
}

/* The visible faces give way; chain: all points that waited there, but for the one that joins. */
static int32_t give_way(hull *h, int32_t joins) {
  int32_t chain = NONE;
  for (int32_t at = 0; at < h->n_visible; at++) {
    face *f = h->faces + h->visible[at];
    for (int32_t i = f->waiting, next; i != NONE; i = next) {
      next = h->after[i];
      if (i == joins) continue;
      h->after[i] = chain;
      chain = i;
    }
    f->waiting = NONE;
    f->is_live = f->is_visible = 0;
    h->free[h->n_free++] = h->visible[at];
  }
  return chain;
}

/* Faces from the rim to the point. They take the places in `visible`. Returns 0 where the rim is no single loop. */
static int close_rim(hull *h, int32_t joins) {
  if (h->n_rim < 3) return 0;
  for (int32_t s = 0; s < h->n_rim; s++) h->starts[h->rim[s].from] = h->starts[h->rim[s].to] = NONE;
  for (int32_t s = 0; s < h->n_rim; s++) {
    const side *e = h->rim + s;
    const int32_t place = add_face(h, e->from, e->to, joins);
    if (place == NONE || h->starts[e->from] != NONE) return 0;
    h->starts[e->from] = h->visible[s] = place;
    face *outer = h->faces + e->outer;
    int found = 0;
    for (int k = 0; k < 3; k++)
      if (outer->corner[k] == e->to && outer->corner[(k + 1) % 3] == e->from) outer->beside[k] = place, found = 1;
    if (!found) return 0;
    h->faces[place].beside[0] = e->outer;
  }
  for (int32_t s = 0; s < h->n_rim; s++) {
    const int32_t next = h->starts[h->rim[s].to];
    if (next == NONE) return 0;
    h->faces[h->visible[s]].beside[1] = next;
    h->faces[next].beside[2] = h->visible[s];
  }
  return 1;
}

/* Four faces around four points that span much. Returns 0 where these lie in a plane. */
static int begin(hull *h, const int32_t first[4]) {
  const int32_t turns[2][4][3] = {{{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}}, {{0, 2, 1}, {0, 3, 2}, {2, 3, 1}, {1, 3, 0}}};
  static const int32_t beside[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  const double height = above(h, h->faces + add_face(h, first[0], first[1], first[2]), first[3]);
  if (height == 0.0) return 0;
  h->count = h->n_free = 0;
  for (int f = 0; f < 4; f++) {
    const int32_t *turn = turns[height > 0.0][f];
    face *made = h->faces + add_face(h, first[turn[0]], first[turn[1]], first[turn[2]]);
    for (int k = 0; k < 3; k++) made->beside[k] = beside[f][k];
  }
  for (int32_t i = 0; i < h->n; i++) {
    if (i == first[0] || i == first[1] || i == first[2] || i == first[3]) continue;
    for (int32_t f = 0; f < 4 && !waits(h, f, i); f++) {
    }
  }
  return 1;
}

int32_t rk_hull(int32_t n, const int64_t *points, const int32_t first[4], double *work, int32_t *triangles) {
  hull h;
  lay_out(&h, n, work);
  h.points = points;
  if (n < 4 || !begin(&h, first)) return 0;
  while (h.n_listed) {
    const int32_t place = h.listed[--h.n_listed];
    face *f = h.faces + place;
    f->is_listed = 0;
    if (!f->is_live || f->waiting == NONE) continue;
    const int32_t joins = f->waiting;
    look(&h, place, joins);
    const int32_t rim = h.n_rim, chain = give_way(&h, joins);
    if (!close_rim(&h, joins)) return 0;
    for (int32_t i = chain, next; i != NONE; i = next) {
      next = h.after[i];
      for (int32_t s = 0; s < rim && !waits(&h, h.visible[s], i); s++) {
      }
    }
  }
  int32_t count = 0;
  for (int32_t place = 0; place < h.count; place++)
    if (h.faces[place].is_live) {
      for (int k = 0; k < 3; k++) triangles[3 * count + k] = h.faces[place].corner[k];
      count++;
    }
  return count;
}
