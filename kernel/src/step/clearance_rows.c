/* Twin of ClearanceTask.rows in solvers/tasks/clearance.py, which explains them. */
#include "step/clearance_rows.h"

#include "collision/nearest_pairs.h"
#include "math/rk_arena.h"
#include "math/rk_vector.h"
#include "robot/rk_tree.h"
#include "step/robot_rows.h"

static const double NOTHING = -1.0; /* [m] what rows without a pair ask for */
static const double A_LITTLE = 0.02; /* [rad or L] of the joints, that leads to what rows spare */

typedef struct scratch {
  rk_places places;
  rk_nearest_pairs nearest;
  double *found;
  int32_t *which;
} scratch;

static int64_t lay_out(const rk_clearance *c, double *work, scratch *s) {
  rk_arena arena = {.base = work};
  s->places.placements = rk_take(&arena, 12 * (int64_t)c->n_shapes);
  s->places.centres = rk_take(&arena, 3 * (int64_t)c->n_shapes);
  s->nearest = rk_nearest_pairs_lay_out(c, &arena);
  s->found = rk_take(&arena, 10 * (int64_t)c->rows);
  s->which = rk_take_integers(&arena, c->rows);
  return arena.used;
}

int64_t rk_clearance_rows_workspace(const rk_clearance *c) {
  scratch s;
  return c ? lay_out(c, 0, &s) : 0;
}

/* The lowest node that moves both, or -1: it and those above turn the line between their nearest points, which is along
   the normal, as one body. So what they would add is 0. */
static int32_t above_both(const rk_model *m, int32_t a, int32_t b) {
  while (a != b) {
    if (a > b)
      a = m->parent[a];
    else
      b = m->parent[b];
  }
  return a;
}

/* Adds sign times how fast the point of a link goes along n by the nodes below `end`. */
static void climb(const rk_step *step, const double *nodes, int32_t node, int32_t end, const double point[3],
                  const double n[3], double sign, double *J) {
  const rk_model *m = step->model;
  for (; node != end; node = m->parent[node]) {
    double twists[6][6];
    const int count = rk_node_twists(m, node, nodes + 12 * (int64_t)node, point, twists);
    for (int k = 0; k < count; k++) {
      const int32_t column = m->iv[node] + k;
      J[column] += sign * step->scale[column] * rk_dot3(n, twists[k]);
    }
  }
}

void rk_fill_clearance(const rk_step *step, rk_step_data *data, const double *nodes, double *work) {
  const rk_clearance *c = step->clearance;
  if (!c) return;
  const int64_t nv = step->model->nv;
  const double size = 1.0 / step->length;
  const int64_t places = 12 * (int64_t)(c->n_shapes - c->n_links);
  scratch s;
  int32_t failed;
  lay_out(c, work, &s);
  rk_place_links(c, nodes, &s.places);
  rk_place_obstacles(c, data->obstacles + (data->obstacles_move ? data->frame * places : 0), &s.places);
  const int32_t count = rk_nearest_pairs_find(c, &s.places, &s.nearest, s.found, s.which, &failed);
  if (failed) data->failed = failed;
  for (int32_t row = 0; row < c->rows; row++) {
    const int32_t at = data->clearance_row + row;
    const double *found = s.found + 10 * (int64_t)row;
    double *J = data->J + at * nv;
    for (int64_t k = 0; k < nv; k++) J[k] = 0.0;
    data->low[at] = size * (row < count ? c->wanted - found[0] : NOTHING);
    data->high[at] = __builtin_inf();
    if (row >= count) continue;
    int32_t node[2];
    for (int side = 0; side < 2; side++) {
      const int32_t shape = c->pairs[2 * s.which[row] + side];
      node[side] = shape < c->n_links ? c->node[shape] : -1;
    }
    const int32_t end = above_both(step->model, node[0], node[1]);
    for (int side = 0; side < 2; side++)
      climb(step, nodes, node[side], end, found + 1 + 3 * side, found + 7, side ? size : -size, J);
    for (int64_t k = 0; k < nv; k++) /* as other rows: a joint whose axis goes through the nearest point moves nothing */
      if (__builtin_fabs(J[k]) < RK_ROUNDING) J[k] = 0.0;
    data->low[at] += rk_min(size * c->spare, A_LITTLE * rk_sqrt(rk_dot(step->model->nv, J, J)));
  }
}

void rk_measure_clearance(const rk_step *step, const rk_step_data *data, const double *x, double out[2]) {
  const rk_clearance *c = step->clearance;
  const int32_t nv = step->model->nv;
  double sum = 0.0;
  if (!c) return;
  for (int32_t at = data->clearance_row; at < data->clearance_row + c->rows; at++) {
    const double value = x ? rk_dot(nv, data->J + at * (int64_t)nv, x) : 0.0;
    const double residual = rk_max(data->low[at] - value, 0.0) * step->length;
    sum += residual * residual;
  }
  out[0] = rk_sqrt(sum), out[1] = 0.0;
}
