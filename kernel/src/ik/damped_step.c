/* The damped step that the static solver and tracking share. Twin of `linearise` and `damped_step` in solvers/descent/steps.py. */
#include "ik/ik_rows.h"
#include "ik/ik_search.h"
#include "limits/cone.h"
#include "limits/rolling.h"
#include "math/rk_random.h"
#include "robot/rk_manifold.h"
#include "robot/rk_tree.h"
#include "step/stack.h"

static const double DAMPING = 0.1, DAMPING_CAP = 3.0, DAMPING_FLOOR = 1e-9;
static const double NUDGE = 0.03, ASIDE = 0.8; /* radians or L */
static const double LITTLE = 0.5;              /* of the room below: where there is less above, a limb bends down */

/* J[count][6], the weighted columns of one task, after rk_search_measure(); we[6]: its weighted error. */
static void task_jacobian(const rk_search *s, int32_t t, const int32_t *columns, int count, double we[6]) {
  const rk_ik *ik = s->ik;
  const rk_model *m = ik->model;
  const rk_task *task = ik->tasks + t;
  const double *T = s->tips + 12 * t;
  const int32_t exact = s->is_exact ? task->parts : task->exact;
  const int simple = !exact;
  double A[36], e[6];
  for (int k = 0; k < 6; k++) e[k] = s->errors[6 * t + k];
  if (!simple) {
    rk_task_matrix(task, exact, T, s->targets + 16 * t, e, A);
    for (int part = 0; part < 2; part++)
      if (task->tip_axes && exact >> part & 1) rk_to_tip_axes(T, 3 * part, e, A);
    for (int r = 0; r < 6; r++)
      for (int c = 0; c < 6; c++) A[6 * r + c] *= task->weights[r];
  }
  for (int r = 0; r < 6; r++) we[r] = task->weights[r] * e[r];
  for (int k = 0; k < 6 * count; k++) s->J[k] = 0.0;
  int at = count; /* columns of a node are not above those of its child, but for mimic joints */
  for (int32_t node = m->frame_node[t]; node >= 0; node = m->parent[node]) {
    double twists[6][6];
    const double *place = s->nodes + 12 * (int64_t)node;
    const int nv = rk_node_twists(m, node, place, T + 9, twists);
    if (m->motion[node] == RK_FREE) {
      /* the lengths of a step move along the fixed axes, so that their bounds are a box */
      const double *P = m->placement + 12 * (int64_t)node;
      const int32_t parent = m->parent[node];
      double axes[9];
      if (parent >= 0)
        rk_multiply(s->nodes + 12 * (int64_t)parent, P, axes);
      else
        for (int k = 0; k < 9; k++) axes[k] = P[k];
      for (int k = 0; k < 3; k++)
        for (int r = 0; r < 3; r++) twists[k][r] = axes[3 * r + k];
    }
    const int32_t first = m->iv[node];
    if (at == 0 || columns[at - 1] < first) at = count;
    while (columns[at - 1] > first) at--;
    double *J = s->J + 6 * (at - 1);
    for (int k = 0; k < nv; k++, J += 6) {
      if (simple) {
        for (int r = 0; r < 6; r++) J[r] += task->weights[r] * twists[k][r];
      } else {
        for (int r = 0; r < 6; r++) J[r] += rk_dot6(A + 6 * r, twists[k]);
      }
    }
  }
}

/* Columns of limited balls in the coordinates in which their limits bound single ones. */
static void turn_columns(const rk_search *s, const int32_t *columns, int count) {
  for (int32_t k = 0; k < s->ik->n_cones; k++) {
    const double *B = s->turns + 9 * k;
    int first = 0;
    while (first < count && columns[first] != s->ik->cones[k].v) first++;
    if (first == count) continue;
    double *J = s->J + 6 * first;
    for (int r = 0; r < 6; r++) {
      const double row[3] = {J[r], J[6 + r], J[12 + r]};
      for (int c = 0; c < 3; c++) J[6 * c + r] = row[0] * B[c] + row[1] * B[3 + c] + row[2] * B[6 + c];
    }
  }
}

/* Columns of wheels carry their base along; those of the base have no say. */
static void roll_columns(const rk_search *s, const int32_t *columns, int count) {
  for (int32_t k = 0; k < s->ik->n_bases; k++) {
    const rk_base *base = s->ik->bases + k;
    const double *M = s->rolls + 6 * k;
    int first = 0;
    while (first < count && columns[first] != base->v) first++;
    if (first == count) continue;
    double *moved = s->J + 6 * first;
    for (int wheel = 0; wheel < 2; wheel++) {
      int at = 0;
      while (columns[at] != base->wheel_v[wheel]) at++;
      double *J = s->J + 6 * at;
      for (int r = 0; r < 6; r++)
        J[r] += M[wheel] * moved[r] + M[2 + wheel] * moved[6 + r] + M[4 + wheel] * moved[12 + r];
    }
    for (int r = 0; r < 18; r++) moved[r] = 0.0;
  }
}

/* H = J'J + damping, lower triangle, and g = J'e. */
static void normal_equations(const rk_search *s, double damping) {
  const rk_ik *ik = s->ik;
  const int32_t n = ik->model->nv;
  for (int32_t k = 0; k < n * n; k++) s->H[k] = 0.0;
  for (int32_t k = 0; k < n; k++) {
    s->g[k] = 0.0;
    s->H[(int64_t)k * n + k] = damping * ik->damping[k];
  }
  for (int32_t t = 0; t < ik->model->n_frames; t++) {
    const int32_t *columns = ik->task_columns + ik->task_start[t];
    const int count = ik->task_start[t + 1] - ik->task_start[t];
    double we[6];
    task_jacobian(s, t, columns, count, we);
    turn_columns(s, columns, count);
    if (s->rolled_from) roll_columns(s, columns, count);
    for (int a = 0; a < count; a++) {
      const double *column = s->J + 6 * a;
      double *row = s->H + (int64_t)columns[a] * n;
      for (int b = 0; b <= a; b++) row[columns[b]] += rk_dot6(column, s->J + 6 * b);
      s->g[columns[a]] += rk_dot6(column, we);
    }
  }
}

/* Turns the quaternion p by the rotation vector w, in its own axes. */
static void turn(const double w[3], double p[4]) {
  double turned[4];
  rk_integrate_ball(p, w, turned);
  rk_copy(p, turned, 4);
}

/* q moved by x, inside the limits: plain coordinates are added, quaternions turned in their own axes. */
static void integrate(const rk_search *s) {
  const rk_ik *ik = s->ik;
  const rk_model *m = ik->model;
  for (int32_t k = 0; k < m->nv; k++) {
    const int32_t i = ik->coordinate[k];
    if (i >= 0) {
      s->q[i] = rk_clamp(s->q[i] + s->x[k], m->lower[i], m->upper[i]);
      continue;
    }
    /* the first of three rotations; the quaternion lies behind the coordinates so far */
    int32_t node = 0;
    while (m->motion[node] < RK_BALL || m->iv[node] + (m->motion[node] == RK_FREE ? 3 : 0) != k) node++;
    turn(s->x + k, s->q + m->iq[node] + (m->motion[node] == RK_FREE ? 3 : 0));
    k += 2;
  }
  for (int32_t k = 0; k < ik->n_cones; k++) rk_cone_project(ik->cones + k, s->q + ik->cones[k].q);
  if (s->rolled_from) rk_roll_bases(ik, s->rolled_from, s->q);
}

/* How the wheels move the bases from here on; the bases' own columns are held. */
static void linearise_rolling(const rk_search *s) {
  for (int32_t k = 0; k < s->ik->n_bases; k++) {
    const rk_base *base = s->ik->bases + k;
    double turned[2];
    for (int wheel = 0; wheel < 2; wheel++)
      turned[wheel] = s->q[base->wheel_q[wheel]] - s->rolled_from[base->wheel_q[wheel]];
    rk_roll_jacobian(base, s->rolled_from + base->q, turned, s->rolls + 6 * k);
    for (int j = 0; j < 3; j++) s->lo[base->v + j] = s->hi[base->v + j] = 0.0;
  }
}

double rk_search_damping(double E) { return DAMPING * (E < DAMPING_CAP ? E : DAMPING_CAP) + DAMPING_FLOOR; }

void rk_search_damped_step(rk_search *s, double damping) {
  const rk_ik *ik = s->ik;
  const rk_model *m = ik->model;
  s->iterations++;
  if (s->ik->stack && s->ik->stack->steps) *s->ik->stack->steps -= s->ik->stack->costs[s->on - 1];
  s->is_kept = 0;
  for (int32_t k = 0; k < m->nv; k++) {
    const int32_t i = ik->coordinate[k];
    s->lo[k] = i < 0 ? -__builtin_inf() : m->lower[i] - s->q[i];
    s->hi[k] = i < 0 ? __builtin_inf() : m->upper[i] - s->q[i];
  }
  for (int32_t k = 0; k < ik->n_cones; k++) {
    const rk_cone *cone = ik->cones + k;
    rk_cone_local(cone, s->q + cone->q, s->turns + 9 * k, s->lo + cone->v, s->hi + cone->v);
  }
  if (s->rolled_from) linearise_rolling(s);
  for (int32_t k = 0; s->busy && k < m->nv; k++)
    if (s->busy[k]) s->lo[k] = s->hi[k] = 0.0;
  if (ik->stack) {
    rk_stack_step(s, damping);
  } else {
    for (int32_t k = 0; s->is_exact && k < m->nv; k++) {
      const double largest = RK_LARGEST_STEP / rk_sqrt(ik->damping[k]);
      s->lo[k] = rk_max(s->lo[k], -largest);
      s->hi[k] = rk_min(s->hi[k], largest);
    }
    normal_equations(s, damping);
    rk_bounded_step(m->nv, s->H, s->g, s->lo, s->hi, ik->fill_start, ik->fill, s->step_work, s->x, s->side);
  }
  for (int32_t k = 0; k < ik->n_cones; k++) {
    double *x = s->x + ik->cones[k].v, turned[3];
    rk_rotate(s->turns + 9 * k, x, turned);
    for (int j = 0; j < 3; j++) x[j] = turned[j];
  }
  integrate(s);
  if (s->keep) s->keep(s->bounds, s->q);
}

void rk_search_step(rk_search *s, double E) {
  rk_search_damped_step(s, s->ik->stack ? -1.0 : rk_search_damping(E));
}

/* Balls in their cones, plain coordinates in their bounds. */
static void move_inside(const rk_search *s) {
  const rk_model *m = s->ik->model;
  for (int32_t k = 0; k < s->ik->n_cones; k++) rk_cone_project(s->ik->cones + k, s->q + s->ik->cones[k].q);
  for (int32_t i = 0; i < m->nq; i++) s->q[i] = rk_clamp(s->q[i], m->lower[i], m->upper[i]);
}

void rk_search_nudge(const rk_search *s, const double *from) {
  const rk_model *m = s->ik->model;
  rk_copy(s->q, from, m->nq);
  for (int32_t k = 0; k < m->nv; k++) {
    const int32_t i = s->ik->coordinate[k];
    if (i < 0) continue;
    const double aside = NUDGE / rk_sqrt(s->ik->damping[k]);
    const double above = m->upper[i] - from[i], below = from[i] - m->lower[i];
    s->q[i] += above < aside || above < LITTLE * below ? -aside : aside;
  }
  for (int32_t node = 0; node < m->n_nodes; node++) {
    const double aside[3] = {NUDGE, NUDGE, NUDGE};
    if (m->motion[node] == RK_BALL) turn(aside, s->q + m->iq[node]);
  }
  move_inside(s);
}

static double drawn_side(const rk_ik *ik, int64_t number, int32_t i) {
  uint64_t seed = (uint64_t)(number * ik->robot_nq + ik->q_index[i]);
  return rk_uniform(&seed) < 0.5 ? -ASIDE : ASIDE;
}

void rk_search_aside(const rk_search *s, const double *from, int64_t number) {
  const rk_model *m = s->ik->model;
  rk_copy(s->q, from, m->nq);
  for (int32_t k = 0; k < m->nv; k++) {
    const int32_t i = s->ik->coordinate[k];
    if (i >= 0) s->q[i] += drawn_side(s->ik, number, i) / rk_sqrt(s->ik->damping[k]);
  }
  for (int32_t node = 0; node < m->n_nodes; node++) {
    const int32_t i = m->iq[node];
    if (m->motion[node] != RK_BALL) continue;
    const double sides[3] = {
      drawn_side(s->ik, number, i), drawn_side(s->ik, number, i + 1), drawn_side(s->ik, number, i + 2)};
    turn(sides, s->q + i);
  }
  move_inside(s);
}
