/* The differential step. Twin of solvers/velocity_problem.py, which explains it. */
#include "robokin_step.h"

#include "crba.h"
#include "criteria.h"
#include "ik_rows.h"
#include "rk_manifold.h"
#include "rk_tree.h"
#include "rk_vector.h"
#include "rk_viability.h"
#include "robot_rows.h"

static const double LARGEST_STEP = 3.141592653589793, ROUNDING = 8.881784197001252e-16, UNIT = 1e-12, TOUCHED = 1e-9;

/* One step, and where things lie in the workspace. */
typedef struct stepping {
  const rk_step *step;
  const rk_step_data *data;
  double *nodes, *node_work;
  double *M, *H, *g, *x, *lo, *hi, *box_lo, *box_hi, *away;
  double *scratch, *hierarchy;
} stepping;

int32_t rk_sizeof_step(void) { return (int32_t)sizeof(rk_step); }
int32_t rk_sizeof_step_data(void) { return (int32_t)sizeof(rk_step_data); }
int32_t rk_sizeof_criterion(void) { return (int32_t)sizeof(rk_criterion); }
int32_t rk_sizeof_robot_row(void) { return (int32_t)sizeof(rk_robot_row); }

static int64_t scratch_size(const rk_step *step) {
  const int64_t sizes[] = {rk_gravity_workspace(step->model), rk_manipulability_workspace(step),
                           rk_robot_rows_workspace(step->model)};
  int64_t most = 0;
  for (int k = 0; k < 3; k++) most = sizes[k] > most ? sizes[k] : most;
  return most;
}

int64_t rk_step_workspace(const rk_step *step, int32_t m) {
  const int64_t n = step->model->nv, nodes = step->model->n_nodes;
  return 28 * nodes + 2 * n * n + 7 * n + scratch_size(step) + rk_hierarchy_workspace(step->model->nv, m);
}

static stepping lay_out(const rk_step *step, const rk_step_data *data, double *work) {
  const int64_t n = step->model->nv, nodes = step->model->n_nodes;
  stepping s = {.step = step, .data = data};
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

/* The rows of a frame task, weighted, of those of its six axes that are not free. */
static void fill_rows(const stepping *s, int32_t t) {
  const rk_step *step = s->step;
  const rk_model *m = step->model;
  const rk_task *task = step->tasks + t;
  const int64_t nv = m->nv;
  const double *target = s->data->targets + 16 * (int64_t)t;
  double T[12], here[12], e[6], A[36], rows[36];
  rk_place_frame(m, s->nodes, t, T);
  if (s->data->stays[t]) {
    for (int r = 0; r < 3; r++) {
      for (int c = 0; c < 3; c++) here[4 * r + c] = T[3 * r + c];
      here[4 * r + 3] = T[9 + r];
    }
    target = here;
  }
  rk_task_error(task, T, target, e);
  rk_task_matrix(task, T, target, e, A);
  for (int part = 0; part < 2; part++)
    if (task->tip_axes) rk_to_tip_axes(T, 3 * part, e, A);
  double *J = s->data->J + s->data->first_row[t] * nv;
  int count = 0;
  for (int r = 0; r < 6; r++) {
    if (task->used[r] == 0.0) continue;
    const double weight = task->weights[r], band = step->bands[6 * t + r];
    const int32_t row = s->data->first_row[t] + count;
    s->data->low[row] = weight * (e[r] - band), s->data->high[row] = weight * (e[r] + band);
    for (int c = 0; c < 6; c++) rows[6 * count + c] = weight * A[6 * r + c];
    count++;
  }
  for (int64_t k = 0; k < count * nv; k++) J[k] = 0.0;
  for (int32_t node = m->frame_node[t]; node >= 0; node = m->parent[node]) {
    double twists[6][6];
    const int n = rk_node_twists(m, node, s->nodes + 12 * (int64_t)node, T + 9, twists);
    for (int k = 0; k < n; k++) {
      const int32_t column = m->iv[node] + k;
      for (int r = 0; r < count; r++) J[r * nv + column] += step->scale[column] * rk_dot6(rows + 6 * r, twists[k]);
    }
  }
}

/* What the parts of a frame task lack at x, in metres and radians; x null: before the step. */
static void measure(const stepping *s, int32_t t, const double *x, double out[2]) {
  const rk_task *task = s->step->tasks + t;
  const int32_t nv = s->step->model->nv;
  int32_t row = s->data->first_row[t];
  for (int part = 0; part < 2; part++) {
    double sum = 0.0;
    for (int r = 3 * part; r < 3 * part + 3; r++) {
      if (task->used[r] == 0.0) continue;
      const double value = x ? rk_dot(nv, s->data->J + (int64_t)row * nv, x) : 0.0;
      double lacking = rk_clamp(value, s->data->low[row], s->data->high[row]) - value;
      lacking /= task->weights[r]; /* which has lengths over L */
      sum += lacking * lacking;
      row++;
    }
    out[part] = rk_sqrt(sum);
  }
}

/* away[nv]: from the rest configuration, lengths of floating joints along the axes of the parent. */
static void stretch(const stepping *s, const double *rest) {
  const rk_model *m = s->step->model;
  const double *q = s->data->q;
  for (int32_t node = 0; node < m->n_nodes; node++) {
    const int32_t iq = m->iq[node], iv = m->iv[node], motion = m->motion[node];
    const int32_t lengths = motion == RK_FREE ? 3 : motion == RK_BALL ? 0 : 1;
    for (int32_t k = 0; k < lengths; k++) s->away[iv + k] = q[iq + k] - rest[iq + k];
    if (motion > RK_HELICAL) rk_difference_ball(rest + iq + lengths, q + iq + lengths, s->away + iv + lengths);
  }
}

/* Adds the gradient of a spring, weighted, to g; it leaves forces in `away`. */
static void pull(const stepping *s, const rk_criterion *criterion) {
  const rk_model *m = s->step->model;
  const double share = criterion->weight * criterion->gain;
  for (int32_t k = 0; k < m->nv; k++) s->away[k] *= share * criterion->stiffness[k];
  for (int32_t node = 0; node < m->n_nodes; node++) {
    if (m->motion[node] != RK_FREE) continue;
    double R[9], turned[3], *force = s->away + m->iv[node];
    rk_quaternion_matrix(s->data->q + m->iq[node] + 3, R);
    rk_rotate_back(R, force, turned);
    for (int k = 0; k < 3; k++) force[k] = turned[k];
  }
  rk_add_scaled(m->nv, 1.0, s->away, s->g);
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
        stretch(s, criterion->rest);
        for (int64_t k = 0; k < nv; k++) cost += 0.5 * criterion->stiffness[k] * s->away[k] * s->away[k];
        pull(s, criterion);
        break;
      case RK_MANIPULABILITY:
      case RK_SMALLEST_SINGULAR_VALUE:
        cost = rk_add_manipulability(step, s->nodes, criterion->kind == RK_SMALLEST_SINGULAR_VALUE, criterion->rank,
                                     share, s->scratch, s->g);
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

int32_t rk_step_run(const rk_step *step, rk_step_data *data, double *work) {
  const stepping s = lay_out(step, data, work);
  const rk_model *m = step->model;
  if (!is_start(m, data->q, data->previous)) return RK_STEP_BAD_START;
  rk_place_nodes(m, data->q, s.nodes);
  for (int32_t t = 0; t < m->n_frames; t++) fill_rows(&s, t);
  rk_fill_robot_rows(step, data, s.nodes, s.scratch);
  for (int32_t t = 0; t < m->n_frames; t++) measure(&s, t, 0, data->errors + 2 * (int64_t)t);
  rk_measure_robot_rows(step, data, 0, data->errors + 2 * (int64_t)m->n_frames);
  if (data->levels < 0) return RK_STEP_DONE;
  bound(&s);
  combine(&s);
  for (int32_t k = 0; k < m->nv; k++) s.x[k] = 0.0;
  const rk_levels levels = {data->levels, data->start, data->J, data->low, data->high, data->damping};
  if (!rk_hierarchy(m->nv, s.box_lo, s.box_hi, &levels, s.H, s.g, s.hierarchy, s.x, data->points,
                    data->lacking, data->freedom))
    return RK_STEP_NOT_CONVEX;
  data->n_active = 0;
  for (int32_t k = 0; k < m->nv; k++) {
    data->active[k] = s.x[k] <= s.lo[k] + TOUCHED || s.x[k] >= s.hi[k] - TOUCHED;
    data->n_active += data->active[k];
    s.x[k] *= 1.0 - ROUNDING;
    data->v[k] = step->scale[k] * s.x[k] / step->dt;
  }
  for (int32_t t = 0; t < m->n_frames; t++) measure(&s, t, s.x, data->residuals + 2 * (int64_t)t);
  rk_measure_robot_rows(step, data, s.x, data->residuals + 2 * (int64_t)m->n_frames);
  weigh(&s);
  return RK_STEP_DONE;
}
