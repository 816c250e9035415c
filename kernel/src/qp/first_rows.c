/* The rows of the tasks of the first level, as criteria on how well they move look at them, and how these change: the
   derivative of each column of the Jacobian along each other one. Twin of the `task_jacobian` of tasks on tips in
   solvers/tasks. */
#include "criteria/criteria.h"
#include "math/rk_vector.h"
#include "robot/rk_tree.h"

enum { TIP = 0, OTHER = 1 };

static const double NEAREST = 1e-9;

/* The degrees of freedom that move a tip: their twists at it, per unit of v, columns and nodes. */
typedef struct chain {
  int32_t count, *column, *node;
  double (*twist)[6];
  double T[12];
} chain;

/* Rows of a task: what each picks from the twists of the tip and of the other one, each at its own origin, in root axes,
   lengths over L. */
typedef struct picked {
  int count;
  double row[6][2][6];
} picked;

/* A task at a pose, and whether what it picks depends on that. */
typedef struct pose {
  const rk_tip_rows *task;
  const double *target;
  double length;
  chain chains[2];
  int turns;
} pose;

static int64_t most_movers(const rk_model *m) { return 6 * (int64_t)m->n_nodes; }

int64_t rk_first_rows_workspace(const rk_step *step) { return 16 * most_movers(step->model); }

static void climb(const rk_model *m, const double *nodes, int32_t frame, double *work, chain *c) {
  c->twist = (double(*)[6])work, work += 6 * most_movers(m);
  c->column = (int32_t *)work, work += most_movers(m);
  c->node = (int32_t *)work;
  c->count = 0;
  for (int k = 0; k < 12; k++) c->T[k] = k < 9 && k % 4 == 0;
  if (frame < 0) return;
  rk_place_frame(m, nodes, frame, c->T);
  for (int32_t node = m->frame_node[frame]; node >= 0; node = m->parent[node]) {
    const int n = rk_node_twists(m, node, nodes + 12 * (int64_t)node, c->T + 9, c->twist + c->count);
    for (int k = 0; k < n; k++) c->node[c->count] = node, c->column[c->count++] = m->iv[node] + k;
  }
}

static pose at(const rk_step *step, const rk_step_data *data, const double *nodes, int32_t t, double *work) {
  pose p = {.task = step->tips + t, .target = data->targets + 16 * (int64_t)t, .length = step->length};
  climb(step->model, nodes, p.task->tip, work, p.chains + TIP);
  climb(step->model, nodes, p.task->other, work + 8 * most_movers(step->model), p.chains + OTHER);
  return p;
}

static double *add(picked *out) { return out->row[out->count++][TIP]; }

static void add_along(const pose *p, const double direction[3], picked *out) {
  double *row = add(out);
  for (int k = 0; k < 3; k++) row[k] = direction[k] / p->length;
}

/* u and v across a unit vector, in this order a right-handed frame. */
static void across(const double a[3], double u[3], double v[3]) {
  int least = 0;
  for (int k = 1; k < 3; k++)
    if (__builtin_fabs(a[k]) < __builtin_fabs(a[least])) least = k;
  double other[3] = {0.0, 0.0, 0.0};
  other[least] = 1.0;
  rk_cross(a, other, u);
  const double size = rk_sqrt(rk_dot3(u, u));
  for (int k = 0; k < 3; k++) u[k] /= size;
  rk_cross(a, u, v);
}

static void pick_pose(pose *p, picked *out) {
  p->turns = p->task->axes == RK_TIP_AXES;
  for (int k = 0; k < 6; k++) {
    if (p->task->weights[k] == 0.0) continue;
    double axis[3] = {0.0, 0.0, 0.0}, *part = add(out) + 3 * (k / 3);
    axis[k % 3] = k < 3 ? 1.0 / p->length : 1.0;
    if (p->turns)
      rk_rotate(p->chains[TIP].T, axis, part);
    else
      for (int i = 0; i < 3; i++) part[i] = axis[i];
  }
}

/* The two turns that tilt the axis. */
static void pick_axis(pose *p, picked *out) {
  double tilt[2][3];
  across(p->task->axis, tilt[0], tilt[1]);
  for (int r = 0; r < 2; r++) rk_rotate(p->chains[TIP].T, tilt[r], add(out) + 3);
  p->turns = 1;
}

/* away[3]: to the target, over L. Returns the distance. */
static double to_target(const pose *p, double away[3]) {
  for (int k = 0; k < 3; k++) away[k] = (p->target[k] - p->chains[TIP].T[9 + k]) / p->length;
  const double r = rk_norm3(away);
  return r > NEAREST ? r : NEAREST;
}

/* These two against the direction to the target, as if the axis pointed there. */
static void pick_aim(pose *p, picked *out) {
  double away[3];
  const double r = to_target(p, away);
  if (p->task->is_ball) return;
  pick_axis(p, out);
  for (int i = 0; i < 2; i++) {
    double axis[3], *row = out->row[i][TIP];
    rk_rotate(p->chains[TIP].T, p->task->axis, axis);
    rk_cross(row + 3, axis, row);
    for (int k = 0; k < 3; k++) row[k] /= r * p->length;
  }
}

/* Completes a row on the tip with what the body of the other one takes away at `arm` from its origin. */
static void oppose(const double arm[3], double row[2][6]) {
  rk_cross(row[TIP], arm, row[OTHER] + 3);
  for (int k = 0; k < 3; k++) row[OTHER][k] = -row[TIP][k], row[OTHER][3 + k] -= row[TIP][3 + k];
}

/* arm[3]: from the other tip to the tip. */
static void between(const pose *p, double arm[3]) {
  for (int k = 0; k < 3; k++) arm[k] = p->chains[TIP].T[9 + k] - p->chains[OTHER].T[9 + k];
}

static void pick_relative(pose *p, picked *out) {
  double arm[3];
  between(p, arm);
  for (int k = 0; k < 6; k++) {
    if (p->task->weights[k] == 0.0 || p->task->bands[k] != 0.0) continue;
    double axis[3] = {0.0, 0.0, 0.0};
    axis[k % 3] = k < 3 ? 1.0 / p->length : 1.0;
    rk_rotate(p->chains[OTHER].T, axis, add(out) + 3 * (k / 3));
  }
  for (int r = 0; r < out->count; r++) oppose(arm, out->row[r]);
  p->turns = 1;
}

/* arm[3]: of the other point from the other tip; away[3]: from that point to the tip. Returns its length. */
static double apart(const pose *p, double arm[3], double away[3]) {
  rk_rotate(p->chains[OTHER].T, p->target + 1, arm);
  between(p, away);
  for (int k = 0; k < 3; k++) away[k] -= arm[k];
  return rk_norm3(away);
}

static void pick_distance(pose *p, picked *out) {
  static const double unit[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  double arm[3], away[3];
  const double r = apart(p, arm, away);
  if (p->task->is_ball || p->task->side) return;
  for (int k = 0; k < 3; k++) away[k] /= r > 0.0 ? r : 1.0;
  if (p->target[0] == 0.0 || r == 0.0)
    for (int k = 0; k < 3; k++) add_along(p, unit[k], out);
  else
    add_along(p, away, out);
  for (int i = 0; i < out->count; i++) oppose(arm, out->row[i]);
  p->turns = 1;
}

static void pick_advance(const pose *p, int32_t stays, picked *out) {
  const double *start = stays ? p->chains[TIP].T : p->target + 3;
  for (int k = 0; k < 3; k++) {
    const double own[3] = {start[k], start[3 + k], start[6 + k]}, unit[3] = {k == 0, k == 1, k == 2};
    if (p->task->weights[k] != 0.0) add_along(p, p->task->axes == RK_TIP_AXES ? own : unit, out);
  }
}

static picked pick(const rk_step_data *data, int32_t t, pose *p) {
  picked out = {0};
  const int is_equal = !p->task->side && p->task->bands[0] == 0.0;
  switch (p->task->kind) {
    case RK_TIP_AXIS: pick_axis(p, &out); break;
    case RK_TIP_RELATIVE: pick_relative(p, &out); break;
    case RK_TIP_DISTANCE: pick_distance(p, &out); break;
    case RK_TIP_AIM: pick_aim(p, &out); break;
    case RK_TIP_PLANE:
    case RK_TIP_LINE:
      for (int r = 0; is_equal && r < (p->task->kind == RK_TIP_LINE ? 2 : 1); r++)
        add_along(p, p->target + 3 + 3 * r, &out);
      break;
    case RK_TIP_ADVANCE: pick_advance(p, data->stays[t], &out); break;
    default: pick_pose(p, &out);
  }
  return out;
}

/* What rows change as the axes turn that they are in. */
static void turn(const picked *rows, const double w[3], picked *out) {
  for (int r = 0; r < rows->count; r++)
    for (int part = 0; part < 6; part += 3) rk_cross(w, rows->row[r][TIP] + part, out->row[r][TIP] + part);
}

/* Completes changes like `oppose`, where the arm moves. */
static void oppose_change(const double arm[3], const double moved[3], const picked *rows, picked *out) {
  for (int r = 0; r < rows->count; r++) {
    double shifted[3];
    rk_cross(rows->row[r][TIP], moved, shifted);
    oppose(arm, out->row[r]);
    for (int k = 0; k < 3; k++) out->row[r][OTHER][3 + k] += shifted[k];
  }
}

static void turn_aim(const pose *p, const picked *rows, const double twist[6], picked *out) {
  double away[3];
  const double r = to_target(p, away), nearing = rk_dot3(away, twist) / (r * r * p->length);
  turn(rows, twist + 3, out);
  for (int i = 0; i < rows->count; i++) rk_add_scaled(3, nearing, rows->row[i][TIP], out->row[i][TIP]);
}

static void turn_relative(const pose *p, const picked *rows, int side, const double twist[6], picked *out) {
  double arm[3], moved[3];
  between(p, arm);
  for (int k = 0; k < 3; k++) moved[k] = side == TIP ? twist[k] : -twist[k];
  if (side == OTHER) turn(rows, twist + 3, out);
  oppose_change(arm, moved, rows, out);
}

static void turn_distance(const pose *p, const picked *rows, int side, const double twist[6], picked *out) {
  double arm[3], moved[3] = {0.0, 0.0, 0.0}, away[3], *change = out->row[0][TIP];
  const double r = apart(p, arm, away);
  if (side == OTHER) rk_cross(twist + 3, arm, moved);
  if (rows->count == 1) {
    for (int k = 0; k < 3; k++) change[k] = (side == TIP ? twist[k] : -twist[k] - moved[k]) / (r * p->length);
    rk_add_scaled(3, -rk_dot3(change, away) / (r * r), away, change);
  }
  oppose_change(arm, moved, rows, out);
}

/* What rows pick changes as one of the tips moves with a twist at its origin. */
static picked turned(const pose *p, const picked *rows, int side, const double twist[6]) {
  picked out = {.count = rows->count};
  if (p->task->kind == RK_TIP_RELATIVE) turn_relative(p, rows, side, twist, &out);
  else if (p->task->kind == RK_TIP_DISTANCE) turn_distance(p, rows, side, twist, &out);
  else if (p->task->kind == RK_TIP_AIM) turn_aim(p, rows, twist, &out);
  else turn(rows, twist + 3, &out);
  return out;
}

int32_t rk_first_rows(const rk_step *step, const rk_step_data *data, const double *nodes, double *work, double *J) {
  const int64_t nv = step->model->nv;
  int32_t rows = 0;
  for (int32_t t = 0; t < step->n_tips; t++) {
    if (!step->tips[t].is_first) continue;
    pose p = at(step, data, nodes, t, work);
    const picked own = pick(data, t, &p);
    for (int64_t k = 0; k < own.count * nv; k++) J[rows * nv + k] = 0.0;
    for (int side = TIP; side <= OTHER; side++)
      for (int32_t j = 0; j < p.chains[side].count; j++) {
        const int32_t column = p.chains[side].column[j];
        for (int r = 0; r < own.count; r++)
          J[(rows + r) * nv + column] += step->scale[column] * rk_dot6(own.row[r][side], p.chains[side].twist[j]);
      }
    rows += own.count;
  }
  return rows;
}

/* Adds share times the changes of the twists of a chain, in root axes, each times its weight. */
static void add_changes_of_twists(const chain *c, int32_t j, const double weight[6], double share, double *g) {
  const double *v = c->twist[j], *w = c->twist[j] + 3;
  for (int32_t k = 0; k < c->count; k++) {
    const double *vk = c->twist[k], *wk = c->twist[k] + 3;
    double linear[3], angular[3] = {0.0, 0.0, 0.0};
    if (c->node[k] <= c->node[j]) { /* k is above j, or beside it in one joint */
      rk_cross(wk, v, linear);
      rk_cross(wk, w, angular);
    } else {
      rk_cross(w, vk, linear);
    }
    g[c->column[k]] += share * (rk_dot3(weight, linear) + rk_dot3(weight + 3, angular));
  }
}

void rk_add_change_of_rows(const rk_step *step, const rk_step_data *data, const double *nodes, const double *B,
                           double share, double *work, double *g) {
  const int64_t nv = step->model->nv;
  int32_t rows = 0;
  for (int32_t t = 0; t < step->n_tips; t++) {
    if (!step->tips[t].is_first) continue;
    pose p = at(step, data, nodes, t, work);
    const picked own = pick(data, t, &p);
    picked moved = {0}; /* the sums of B times the twists */
    for (int side = TIP; side <= OTHER; side++) {
      const chain *c = p.chains + side;
      for (int32_t j = 0; j < c->count; j++) {
        double weight[6] = {0.0}; /* of the change of column j */
        for (int r = 0; r < own.count; r++) {
          const double factor = B[(rows + r) * nv + c->column[j]] * step->scale[c->column[j]];
          rk_add_scaled(6, factor, own.row[r][side], weight);
          rk_add_scaled(6, factor, c->twist[j], moved.row[r][side]);
        }
        add_changes_of_twists(c, j, weight, share, g);
      }
    }
    for (int side = TIP; side <= OTHER && p.turns; side++)
      for (int32_t k = 0; k < p.chains[side].count; k++) {
        const picked change = turned(&p, &own, side, p.chains[side].twist[k]);
        double sum = 0.0;
        for (int r = 0; r < own.count; r++)
          sum += rk_dot6(change.row[r][TIP], moved.row[r][TIP]) + rk_dot6(change.row[r][OTHER], moved.row[r][OTHER]);
        g[p.chains[side].column[k]] += share * sum;
      }
    rows += own.count;
  }
}
