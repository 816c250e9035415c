/* The best of the motions that tasks and limits allow at a pose, to first order. Twin of `best` in solvers/optimum/subproblem.py,
   which explains it. */
#include "optimum/optimum.h"
#include "qp/projection.h"
#include "math/rk_math.h"
#include "math/rk_symmetric_eigen.h"
#include "robokin_qp.h"

static const double ROUNDING[2] = {1e-13, 1e-10}, EDGE = 1e-4, CUT = 1e-9, EPS = 1e-14;
enum { CUTS = 30 };

rk_program rk_lay_out_program(rk_arena *arena, const rk_poses *s) {
  const int64_t n = s->n, all = n + s->n_rows, most = s->most, cuts = s->n_edges * (2 * most + CUTS);
  rk_program program = {.y0 = rk_take(arena, n + s->n_edges), .root = rk_take(arena, n + s->n_edges)};
  program.projection = rk_take(arena, rk_projection_workspace(n + s->n_edges, all + cuts));
  program.inequality = rk_take_integers(arena, all), program.edge = rk_take_integers(arena, cuts);
  program.w = rk_take(arena, cuts * most), program.top = rk_take(arena, s->n_edges);
  program.slope = rk_take(arena, n);
  double **matrices[] = {&program.H, &program.vectors};
  for (int k = 0; k < 2; k++) *matrices[k] = rk_take(arena, most * most);
  program.values = rk_take(arena, most), program.work = rk_take(arena, 3 * most);
  return program;
}

/* One quadratic program: z of `count` directions E, then a bound t on what each edge rises. */
typedef struct solving {
  const rk_poses *s;
  const rk_look *look;
  const rk_program *own;
  const rk_goal *goal;
  const double *E;
  int32_t count, edges, inequalities;
  double size; /* the usual weight; the program is that over it */
  rk_projection p;
} solving;

static int is_sharp(const rk_edge *edge) { return edge->count > 1; }

/* The inequalities that a motion of length `reach`, in the coordinates y = root z, can get to. */
static void add_inequalities(solving *v, double reach, double least) {
  const int32_t n = v->s->n;
  const rk_look *look = v->look;
  for (int32_t i = 0; i < n + v->s->n_rows; i++) {
    if (look->is_held[i]) continue;
    const double *row = i < n ? 0 : look->pose.J + (int64_t)(i - n) * n;
    const double room = -look->lower[i] < look->upper[i] ? -look->lower[i] : look->upper[i];
    const double length = row ? rk_sqrt(rk_dot(n, row, row)) : 1.0;
    if (room > length * reach / least) continue;
    double *normal = v->p.N + (int64_t)v->p.p * v->p.n;
    for (int32_t k = 0; k < v->count; k++) {
      const double *direction = v->E + (int64_t)k * n;
      normal[k] = (row ? rk_dot(n, row, direction) : direction[i]) / v->own->root[k];
    }
    if (room > rk_sqrt(rk_dot(v->count, normal, normal)) * reach) continue;
    for (int32_t k = v->count; k < v->p.n; k++) normal[k] = 0.0;
    v->p.low[v->p.p] = look->lower[i], v->p.high[v->p.p] = look->upper[i];
    v->own->inequality[v->p.p++] = i;
  }
  v->inequalities = v->p.p;
}

static const double *matrix_of(const solving *v, int32_t e) { return v->goal->A ? v->goal->A[e] : v->goal->edges[e].A; }

/* H = A of an edge, turned by a motion x, unless null. */
static void matrix_after(const solving *v, int32_t e, const double *x) {
  const rk_edge *edge = v->goal->edges + e;
  const int64_t count = edge->count, n = v->s->n;
  const double *A = matrix_of(v, e), *slope = edge->slopes;
  for (int64_t a = 0; a < count; a++)
    for (int64_t b = 0; b <= a; b++, slope += n)
      v->own->H[a * count + b] = v->own->H[b * count + a] = A[a * count + b] + (x ? rk_dot((int32_t)n, slope, x) : 0.0);
}

/* own->slope[n], the gradient of w'Aw. Returns w'Aw of A as it is. */
static double along(const solving *v, int32_t e, const double *w) {
  const rk_edge *edge = v->goal->edges + e;
  const int64_t count = edge->count, n = v->s->n;
  const double *A = matrix_of(v, e), *slope = edge->slopes;
  double value = 0.0;
  for (int64_t k = 0; k < n; k++) v->own->slope[k] = 0.0;
  for (int64_t a = 0; a < count; a++)
    for (int64_t b = 0; b <= a; b++, slope += n) {
      const double share = (a == b ? 1.0 : 2.0) * w[a] * w[b];
      rk_add_scaled((int32_t)n, share, slope, v->own->slope);
      value += share * A[a * count + b];
    }
  return value;
}

/* t of edge e, the k-th that is sharp, is at least what w'Aw rises. */
static void add_cut(solving *v, int32_t e, int32_t k, const double *w) {
  const int32_t at = v->p.p - v->inequalities, n = v->s->n, most = v->s->most;
  const double value = along(v, e, w);
  double *normal = v->p.N + (int64_t)v->p.p * v->p.n;
  for (int32_t i = 0; i < v->count; i++)
    normal[i] = rk_dot(n, v->own->slope, v->E + (int64_t)i * n) / (v->size * v->own->root[i]);
  for (int32_t i = v->count; i < v->p.n; i++) normal[i] = i == v->count + k ? -1.0 / v->own->root[i] : 0.0;
  v->p.low[v->p.p] = -__builtin_inf(), v->p.high[v->p.p] = (v->own->top[e] - value) / v->size;
  v->own->edge[at] = e;
  for (int32_t i = 0; i < v->goal->edges[e].count; i++) v->own->w[(int64_t)at * most + i] = w[i];
  v->p.p++;
}

/* The vectors of A, and those that chose its gradient so far. */
static void add_first_cuts(solving *v, int has_chosen) {
  for (int32_t e = 0, k = 0; e < v->goal->n_edges; e++) {
    const rk_edge *edge = v->goal->edges + e;
    const int64_t count = edge->count;
    if (!is_sharp(edge)) continue;
    v->own->top[e] = -__builtin_inf();
    matrix_after(v, e, 0);
    rk_symmetric_eigen(edge->count, v->own->H, v->own->values, v->own->vectors, v->own->work);
    for (int64_t i = 0; i < count; i++)
      if (v->own->values[i] > v->own->top[e]) v->own->top[e] = v->own->values[i];
    for (int64_t i = 0; i < count; i++) add_cut(v, e, k, v->own->vectors + i * count);
    for (int64_t i = 0; i < count * count; i++) v->own->H[i] = edge->W[i];
    rk_symmetric_eigen(edge->count, v->own->H, v->own->values, v->own->vectors, v->own->work);
    for (int64_t i = 0; i < count; i++)
      if (has_chosen && v->own->values[i] > EPS) add_cut(v, e, k, v->own->vectors + i * count);
    k++;
  }
}

/* Adds a cut where an edge rises more than its bound. Returns how many. */
static int add_missing_cuts(solving *v, const double *x) {
  const double length = rk_sqrt(rk_dot(v->s->n, x, x));
  int added = 0;
  for (int32_t e = 0, k = 0; e < v->goal->n_edges; e++) {
    const rk_edge *edge = v->goal->edges + e;
    const double *A = matrix_of(v, e), t = v->p.y[v->count + k] / v->own->root[v->count + k];
    int32_t top = 0;
    double largest = 0.0;
    if (!is_sharp(edge)) continue;
    matrix_after(v, e, x);
    rk_symmetric_eigen(edge->count, v->own->H, v->own->values, v->own->vectors, v->own->work);
    for (int32_t i = 1; i < edge->count; i++)
      if (v->own->values[i] > v->own->values[top]) top = i;
    for (int32_t i = 0; i < edge->count * edge->count; i++)
      if (__builtin_fabs(A[i]) > largest) largest = __builtin_fabs(A[i]);
    if (v->own->values[top] - v->own->top[e] > v->size * (t + CUT * length) + EPS * largest) {
      add_cut(v, e, k, v->own->vectors + (int64_t)top * edge->count);
      added++;
    }
    k++;
  }
  return added;
}

/* carried: as in rk_project_with; what is active goes on from there. */
static int project(rk_projection *p, int32_t carried) {
  p->tolerance = ROUNDING[0];
  if ((carried ? rk_project_with(p, carried, 0) : rk_project(p)) == RK_QP_OPTIMAL) return 1;
  p->tolerance = ROUNDING[1];
  return rk_project(p) == RK_QP_OPTIMAL;
}

/* What the program presses on: multipliers of inequalities, and the gradient of each edge that is chosen. */
static void press_on(const solving *v, double *multiplier, rk_edge *edges) {
  const int32_t most = v->s->most;
  for (int32_t i = 0; i < v->s->n + v->s->n_rows; i++) multiplier[i] = 0.0;
  for (int32_t e = 0; e < v->goal->n_edges; e++)
    for (int32_t i = 0; is_sharp(edges + e) && i < edges[e].count * edges[e].count; i++) edges[e].W[i] = 0.0;
  for (int32_t j = 0; j < v->p.k; j++) {
    const int32_t c = v->p.number[j];
    const double own = -v->p.sign[j] * v->p.u[j];
    if (c < v->inequalities) {
      multiplier[v->own->inequality[c]] = v->size * own;
      continue;
    }
    rk_edge *edge = edges + v->own->edge[c - v->inequalities];
    const double *w = v->own->w + (int64_t)(c - v->inequalities) * most;
    for (int32_t a = 0; a < edge->count; a++) rk_add_scaled(edge->count, own * w[a], w, edge->W + a * edge->count);
  }
  for (int32_t e = 0; e < v->goal->n_edges; e++) {
    const int32_t count = edges[e].count;
    double trace = 0.0;
    for (int32_t i = 0; i < count; i++) trace += edges[e].W[i * (count + 1)];
    for (int32_t i = 0; is_sharp(edges + e) && trace > 0.0 && i < count * count; i++) edges[e].W[i] /= trace;
  }
}

static void start(solving *v, const double *weight, int has_chosen) {
  const int32_t n = v->s->n;
  double reach = 0.0, least = __builtin_inf(), *y0 = v->own->y0, *root = v->own->root;
  for (int32_t k = 0; k < v->count; k++) v->size += weight[k] / v->count;
  for (int32_t k = 0; k < v->count; k++) {
    root[k] = rk_sqrt(weight[k] / v->size);
    y0[k] = -rk_dot(n, v->E + (int64_t)k * n, v->goal->slope) / (v->size * root[k]);
    reach += y0[k] * y0[k];
    if (root[k] < least) least = root[k];
  }
  reach = rk_sqrt(reach);
  for (int32_t k = v->count; k < v->count + v->edges; k++) root[k] = rk_sqrt(EDGE), y0[k] = -1.0 / root[k];
  const int64_t cuts = v->s->n_edges * (2 * v->s->most + CUTS);
  v->p = rk_projection_lay_out(v->count + v->edges, n + v->s->n_rows + cuts, v->own->projection);
  v->p.p = 0;
  for (int32_t e = 0; e < v->goal->n_edges; e++) {
    const rk_edge *edge = v->goal->edges + e;
    if (!is_sharp(edge)) continue;
    const int32_t pairs = edge->count * (edge->count + 1) / 2;
    for (const double *slope = edge->slopes; slope < edge->slopes + (int64_t)pairs * n; slope += n)
      reach += 2.0 * rk_sqrt(rk_dot(n, slope, slope)) / (v->size * least);
  }
  /* Staying costs nothing, so no slope can pay for more. */
  add_inequalities(v, v->edges ? 2.0 * reach : reach, least);
  add_first_cuts(v, has_chosen);
}

int rk_best_motion(const rk_poses *s, const rk_look *look, const rk_program *program, int32_t count, const double *E,
                   const double *weight, const rk_goal *goal, double *x, double *change, rk_pressing *pressing) {
  const int32_t n = s->n;
  solving v = {.s = s, .look = look, .own = program, .goal = goal, .E = E, .count = count};
  int found = count == 0;
  for (int32_t i = 0; i < n; i++) x[i] = 0.0;
  *change = 0.0;
  for (int32_t i = 0; pressing && i < n + s->n_rows; i++) pressing->multiplier[i] = 0.0;
  if (!count) return 1;
  for (int32_t e = 0; e < goal->n_edges; e++) v.edges += is_sharp(goal->edges + e);
  start(&v, weight, !pressing);
  for (int32_t k = 0; k < v.p.n; k++) v.p.y0[k] = program->y0[k];
  for (int32_t time = 0, carried = 0; time < CUTS; time++) {
    if (!project(&v.p, carried)) break;
    const int32_t solved = v.p.p, went_on = carried > 0;
    found = 1;
    for (int32_t i = 0; i < n; i++) x[i] = 0.0;
    for (int32_t k = 0; k < count; k++) rk_add_scaled(n, v.p.y[k] / program->root[k], E + (int64_t)k * n, x);
    *change = rk_dot(n, goal->slope, x);
    for (int32_t k = count; k < v.p.n; k++) *change += v.size * v.p.y[k] / program->root[k];
    if (pressing) press_on(&v, pressing->multiplier, pressing->edges);
    /* Once more from none in the end: of cuts that are nearly alike those are active then that press the most. */
    carried = add_missing_cuts(&v, x) ? solved : 0;
    if (!carried && !went_on) break;
  }
  return found;
}
