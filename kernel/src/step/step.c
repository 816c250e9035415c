/* The differential step. Twin of solvers/velocity/problem.py, which explains it. */
#include "robokin_step.h"

#include "robot/crba.h"
#include "criteria/criteria.h"
#include "math/rk_vector.h"
#include "limits/rk_viability.h"
#include "step/step_rows.h"

static const double LARGEST_STEP = 3.141592653589793, ROUNDING = 8.881784197001252e-16, UNIT = 1e-12, TOUCHED = 1e-9;

/* One step, and where things lie in the workspace. */
typedef struct stepping {
  const rk_step *step;
  const rk_step_data *data;
  double *nodes, *node_work;
  double *M, *H, *g, *x, *lo, *hi, *box_lo, *box_hi, *away;
  double *rows, *scratch, *hierarchy;
} stepping;

int32_t rk_sizeof_step(void) { return (int32_t)sizeof(rk_step); }
int32_t rk_sizeof_step_data(void) { return (int32_t)sizeof(rk_step_data); }
int32_t rk_sizeof_criterion(void) { return (int32_t)sizeof(rk_criterion); }
int32_t rk_sizeof_robot_row(void) { return (int32_t)sizeof(rk_robot_row); }
int32_t rk_sizeof_tip_rows(void) { return (int32_t)sizeof(rk_tip_rows); }

static int64_t scratch_size(const rk_step *step) {
  const int64_t gravity = rk_gravity_workspace(step->model), manipulability = rk_manipulability_workspace(step);
  return gravity > manipulability ? gravity : manipulability;
}

int64_t rk_step_workspace(const rk_step *step, int32_t m) {
  const int64_t n = step->model->nv, nodes = step->model->n_nodes;
  return 28 * nodes + 2 * n * n + 7 * n + rk_rows_workspace(step) + scratch_size(step) + rk_hierarchy_workspace(step->model->nv, m);
}

static stepping lay_out(const rk_step *step, const rk_step_data *data, double *work) {
  const int64_t n = step->model->nv, nodes = step->model->n_nodes;
  stepping s = {.step = step, .data = data};
  s.rows = work, work += rk_rows_workspace(step);
  s.nodes = work, work += 12 * nodes;
  s.node_work = work, work += 16 * nodes;
  s.M = work, work += n * n;
  s.H = work, work += n * n;
  double **vectors[] = {&s.g, &s.x, &s.lo, &s.hi, &s.box_lo, &s.box_hi, &s.away};
  for (int k = 0; k < 7; k++, work += n) *vectors[k] = work;
  s.scratch = work, work += scratch_size(step);
  s.hierarchy = work;
  return s;
}

static int is_start(const rk_model *m, const double *q, const double *previous) {
  if (!rk_fit(m->nq, q) || !rk_fit(m->nv, previous)) return 0;
  for (int32_t node = 0; node < m->n_nodes; node++) {
    if (m->motion[node] <= RK_HELICAL) continue;
    const double *turn = q + m->iq[node] + (m->motion[node] == RK_FREE ? 3 : 0);
    if (!(__builtin_fabs(turn[0] * turn[0] + rk_dot3(turn + 1, turn + 1) - 1.0) <= UNIT)) return 0;
  }
  return 1;
}

/* The viable steps, dimensionless, and of them those that a linear prediction is good for. */
static void bound(const stepping *s) {
  const rk_step *step = s->step;
  for (int32_t k = 0; k < step->model->nv; k++) {
    const int32_t i = step->coordinate[k];
    const double position = i >= 0 ? s->data->q[i] : 0.0, scale = step->scale[k];
    double lo, hi;
    rk_viable_step(s->data->previous[k] * step->dt, position - step->lower[k], step->upper[k] - position,
                   step->largest[k], step->change[k], &lo, &hi);
    s->lo[k] = lo / scale, s->hi[k] = hi / scale;
    s->box_lo[k] = rk_clamp(-LARGEST_STEP, s->lo[k], s->hi[k]);
    s->box_hi[k] = rk_clamp(LARGEST_STEP, s->lo[k], s->hi[k]);
  }
}

/* H and g of 1/2 v'Hv + g'v, lower triangle; the costs that do not wait for v. */
static void combine(const stepping *s) {
  const rk_step *step = s->step;
  const int64_t nv = step->model->nv;
  for (int64_t k = 0; k < nv * nv; k++) s->H[k] = s->data->H ? s->data->H[k] : 0.0;
  for (int64_t k = 0; k < nv; k++) s->g[k] = s->data->g ? s->data->g[k] : 0.0;
  for (int32_t c = 0; c < step->n_criteria; c++) {
    const rk_criterion *criterion = step->criteria + c;
    const double weight = criterion->weight, share = weight * criterion->gain;
    double cost = 0.0;
    switch (criterion->kind) {
      case RK_KINETIC_ENERGY:
        rk_mass_matrix_placed(step->model, s->nodes, s->node_work, s->M);
        rk_add_scaled((int32_t)(nv * nv), share, s->M, s->H);
        continue;
      case RK_SPRINGS:
        cost = rk_add_springs(step->model, s->data->q, criterion->rest, criterion->stiffness, share, s->away, s->g);
        break;
      case RK_MANIPULABILITY:
      case RK_SMALLEST_SINGULAR_VALUE:
        cost = rk_add_manipulability(step, s->data, s->nodes, criterion->kind == RK_SMALLEST_SINGULAR_VALUE, criterion->rank,
                                     share, 0, s->scratch, s->g);
        break;
      case RK_GRAVITY_TORQUE:
        cost = rk_add_gravity_torque(step->model, s->nodes, criterion->gravity, criterion->stiffness, share,
                                     s->scratch, s->g);
        break;
      default: /* the least velocity */
        for (int64_t k = 0; k < nv; k++) s->g[k] -= share * criterion->metric[k] * s->data->previous[k];
    }
    s->data->costs[c] = cost;
    for (int64_t k = 0; k < nv; k++) s->H[k * (nv + 1)] += weight * criterion->metric[k];
  }
  for (int64_t i = 0; i < nv; i++) {
    s->g[i] *= step->scale[i] * step->dt;
    for (int64_t j = 0; j <= i; j++) s->H[i * nv + j] *= step->scale[i] * step->scale[j];
  }
}

/* The costs of the velocity. */
static void weigh(const stepping *s) {
  const rk_step *step = s->step;
  const int32_t nv = step->model->nv;
  const double *v = s->data->v;
  for (int32_t c = 0; c < step->n_criteria; c++) {
    const rk_criterion *criterion = step->criteria + c;
    double cost = 0.0;
    if (criterion->kind == RK_KINETIC_ENERGY) {
      for (int64_t i = 0; i < nv; i++) cost += 0.5 * criterion->gain * v[i] * rk_dot(nv, s->M + i * nv, v);
    } else if (criterion->kind == RK_LEAST_VELOCITY) {
      for (int32_t k = 0; k < nv; k++) {
        const double change = v[k] - criterion->gain * s->data->previous[k];
        cost += 0.5 * criterion->metric[k] * change * change;
      }
    } else {
      continue;
    }
    s->data->costs[c] = cost;
  }
}

int64_t rk_step_objective_workspace(const rk_step *step) {
  const int64_t n = step->model->nv;
  return 28 * (int64_t)step->model->n_nodes + n * n + n + scratch_size(step);
}

void rk_step_objective(const rk_step *step, const rk_step_data *data, double *work, double *H, double *g) {
  const int64_t n = step->model->nv, nodes = step->model->n_nodes;
  stepping s = {.step = step, .data = data, .H = H, .g = g};
  s.nodes = work, work += 12 * nodes;
  s.node_work = work, work += 16 * nodes;
  s.M = work, work += n * n;
  s.away = work, work += n;
  s.scratch = work;
  rk_place_nodes(step->model, data->q, s.nodes);
  combine(&s);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++) H[j * n + i] = H[i * n + j];
}

int32_t rk_step_run(const rk_step *step, rk_step_data *data, double *work) {
  const stepping s = lay_out(step, data, work);
  const rk_model *m = step->model;
  if (!is_start(m, data->q, data->previous)) return RK_STEP_BAD_START;
  rk_rows_fill(step, data, s.nodes, s.rows);
  rk_rows_measure(step, data, 0, data->errors);
  if (data->levels < 0) return RK_STEP_DONE;
  bound(&s);
  combine(&s);
  for (int32_t k = 0; k < m->nv; k++) s.x[k] = 0.0;
  const rk_levels levels = {data->levels, data->start, data->J, data->low, data->high, data->damping};
  if (!rk_hierarchy(m->nv, s.box_lo, s.box_hi, &levels, s.H, s.g, s.hierarchy, s.x, data->points,
                    data->level_residuals, data->freedom))
    return RK_STEP_NOT_CONVEX;
  data->n_active = 0;
  for (int32_t k = 0; k < m->nv; k++) {
    data->active[k] = s.x[k] <= s.lo[k] + TOUCHED || s.x[k] >= s.hi[k] - TOUCHED;
    data->n_active += data->active[k];
    s.x[k] *= 1.0 - ROUNDING;
    data->v[k] = step->scale[k] * s.x[k] / step->dt;
  }
  rk_rows_measure(step, data, s.x, data->residuals);
  weigh(&s);
  return RK_STEP_DONE;
}
