/* What a pose looks like to the search: its cost, what holds it, and how far it is from being stationary. Twin of `_look`
   in solvers/optimum/sqp.py. */
#include "optimum/optimum_search.h"
#include "math/rk_math.h"

static const double GROUND = 1e-3, NOISE = 1e-14, SHORT = 1e-3, PROBE = 0.05, UNSEEN = 100.0;
static const double NEAR = 0.005, REACHED = 30.0;

static double length_of(int32_t n, const double *x) { return rk_sqrt(rk_dot(n, x, x)); }

/* The edges, and the size of the steepest gradient. What is farther away than short steps come makes the cost bend, which
   a Newton step knows better than an edge. */
static void take_edges(rk_optimum_search *s, rk_look *look, double last) {
  const int32_t n = s->poses.n;
  const double gap = REACHED * last < NEAR ? REACHED * last : NEAR, ground = GROUND * s->usual;
  s->poses.near->rows = 0;
  for (int32_t k = 0; k < n; k++) s->there[k] = look->slope[k];
  for (rk_edge *edge = look->edges; edge < look->edges + s->poses.n_edges; edge++) {
    rk_take_edge(&s->poses, &look->pose, gap, edge);
    if (edge->count > 0) rk_add_scaled(n, 1.0, edge->slopes, s->there);
    if (edge->count == 1) rk_add_scaled(n, 1.0, edge->slopes, look->slope);
  }
  const double size = length_of(n, s->there);
  look->size = size > ground ? size : ground > 0.0 ? ground : 1.0;
}

rk_goal rk_goal_of(const rk_optimum_search *s, const rk_look *look) {
  const rk_goal goal = {look->slope, s->poses.n_edges, look->edges, 0};
  return goal;
}

void rk_look_at(rk_optimum_search *s, rk_look *look, double last) {
  const int32_t n = s->poses.n;
  double size, change;
  rk_take_pieces(&s->poses, &look->pose);
  look->cost = rk_cost(&s->poses, &look->pose, &size, look->slope);
  look->noise = NOISE * size;
  take_edges(s, look, last);
  rk_linearise(&s->poses, look);
  rk_hold_unmet(s, look);
  for (int32_t k = 0; k < n - look->fixed; k++) s->weight[k] = look->size / SHORT;
  const rk_goal goal = rk_goal_of(s, look);
  rk_pressing pressing = {look->multiplier, look->edges};
  const int known = rk_best_motion(&s->poses, look, &s->program, n - look->fixed, look->E, s->weight, &goal, look->descent,
                                   &change, &pressing);
  rk_hold(&s->poses, look, s->there);
  look->residual = known ? length_of(n, look->descent) / SHORT : __builtin_inf();
  /* A slope that no pose around could show to be one. */
  if (known && look->residual * look->size * PROBE <= UNSEEN * look->noise) look->residual = 0.0;
  for (int32_t k = 0; k < n; k++) look->descent[k] *= look->size / SHORT;
}

int rk_has_edges(const rk_optimum_search *s, const rk_look *look) {
  for (int32_t e = 0; e < s->poses.n_edges; e++)
    if (look->edges[e].count > 1) return 1;
  return 0;
}
