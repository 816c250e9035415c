/* Twin of the `task_jacobian` of tasks on tips in solvers/tasks, which explain what each picks. */
#include "criteria/picked_rows.h"

#include "math/rk_vector.h"
#include "robot/rk_tree.h"
#include "step/curve.h"
#include "step/surface.h"

static const double NEAREST = 1e-9, SHORT = 1e-12;

static double *add(rk_picked *out) { return out->row[out->count++][RK_OWN]; }

static void add_along(const rk_picking *p, const double direction[3], rk_picked *out) {
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

static void pick_pose(rk_picking *p, rk_picked *out) {
  p->turns = p->task->axes == RK_TIP_AXES;
  const int is_twist = p->task->kind == RK_TIP_TWIST;
  for (int k = 0; k < 6; k++) {
    if (p->task->weights[k] == 0.0 || (is_twist && p->task->bands[k] != 0.0)) continue;
    double axis[3] = {0.0, 0.0, 0.0}, *part = add(out) + 3 * (k / 3);
    axis[k % 3] = k < 3 ? 1.0 / p->length : 1.0;
    if (p->turns)
      rk_rotate(p->chains[RK_OWN].T, axis, part);
    else
      for (int i = 0; i < 3; i++) part[i] = axis[i];
  }
}

/* The two turns that tilt the axis. */
static void pick_axis(rk_picking *p, rk_picked *out) {
  double tilt[2][3];
  across(p->task->axis, tilt[0], tilt[1]);
  for (int r = 0; r < 2; r++) rk_rotate(p->chains[RK_OWN].T, tilt[r], add(out) + 3);
  p->turns = 1;
}

/* away[3]: to the target, or the nearest point of a curve, over L. Returns the distance. */
static double to_target(const rk_picking *p, double away[3]) {
  const double *o = p->chains[RK_OWN].T + 9;
  double along[3];
  for (int k = 0; k < 3; k++) away[k] = p->target[k] - o[k];
  if (p->task->kind == RK_TIP_SPOT) rk_curve_gap(p->target, o, away, along, 0);
  for (int k = 0; k < 3; k++) away[k] /= p->length;
  const double r = rk_norm3(away);
  return r > NEAREST ? r : NEAREST;
}

/* These two against the direction to the target, as if the axis pointed there. */
static void pick_aim(rk_picking *p, rk_picked *out) {
  double away[3];
  const double r = to_target(p, away);
  if (p->task->is_ball) return;
  pick_axis(p, out);
  for (int i = 0; i < 2; i++) {
    double axis[3], *row = out->row[i][RK_OWN];
    rk_rotate(p->chains[RK_OWN].T, p->task->axis, axis);
    rk_cross(row + 3, axis, row);
    for (int k = 0; k < 3; k++) row[k] /= r * p->length;
  }
}

/* The beam along `axis`, and how far from the tip it meets the surface, of that normal; 0: it does not. */
static double beam(const rk_picking *p, double axis[3], double normal[3]) {
  rk_rotate(p->chains[RK_OWN].T, p->task->axis, axis);
  return rk_beam_hit(p->target + (p->task->kind == RK_TIP_LASER ? 3 : 2), p->chains[RK_OWN].T + 9, axis, normal);
}

/* direction[3]: the one across the curve that a spot has along a surface of that normal. Returns 0 where both are across. */
static int across_curve(const rk_picking *p, const double spot[3], const double n[3], double direction[3]) {
  double e[3], free[3];
  if (!rk_curve_gap(p->target, spot, e, free, 0)) return 0;
  rk_add_scaled(3, -rk_dot3(n, free), n, free);
  const double size = rk_norm3(free);
  if (!(size * size > SHORT)) return 0;
  rk_cross(n, free, direction);
  for (int k = 0; k < 3; k++) direction[k] /= size;
  return 1;
}

/* The two directions of the spot along the surface, or the one across a curve; of a beam that misses it those of an aim. */
static void pick_beam(rk_picking *p, rk_picked *out) {
  double axis[3], n[3], spot[3], directions[2][3];
  const double t = beam(p, axis, n), *o = p->chains[RK_OWN].T + 9;
  if (t == 0.0) {
    pick_aim(p, out);
    return;
  }
  if (p->task->is_ball) return;
  for (int k = 0; k < 3; k++) spot[k] = o[k] + t * axis[k];
  const int is_one = p->task->kind == RK_TIP_SPOT && across_curve(p, spot, n, directions[0]);
  if (!is_one) across(n, directions[0], directions[1]);
  for (int r = 0; r < (is_one ? 1 : 2); r++) {
    double *row = add(out);
    rk_add_scaled(3, 1.0, directions[r], row);
    rk_add_scaled(3, -rk_dot3(directions[r], axis) / rk_dot3(n, axis), n, row);
    rk_cross(axis, row, row + 3);
    for (int k = 0; k < 3; k++) row[k] /= p->length, row[3 + k] *= t / p->length;
  }
  p->turns = 1;
}

/* Completes a row on the tip with what the body of the other one takes away at `arm` from its origin. */
static void oppose(const double arm[3], double row[2][6]) {
  rk_cross(row[RK_OWN], arm, row[RK_OTHER] + 3);
  for (int k = 0; k < 3; k++) row[RK_OTHER][k] = -row[RK_OWN][k], row[RK_OTHER][3 + k] -= row[RK_OWN][3 + k];
}

/* arm[3]: from the other tip to the tip. */
static void between(const rk_picking *p, double arm[3]) {
  for (int k = 0; k < 3; k++) arm[k] = p->chains[RK_OWN].T[9 + k] - p->chains[RK_OTHER].T[9 + k];
}

static void pick_relative(rk_picking *p, rk_picked *out) {
  double arm[3];
  between(p, arm);
  for (int k = 0; k < 6; k++) {
    if (p->task->weights[k] == 0.0 || p->task->bands[k] != 0.0) continue;
    double axis[3] = {0.0, 0.0, 0.0};
    axis[k % 3] = k < 3 ? 1.0 / p->length : 1.0;
    rk_rotate(p->chains[RK_OTHER].T, axis, add(out) + 3 * (k / 3));
  }
  for (int r = 0; r < out->count; r++) oppose(arm, out->row[r]);
  p->turns = 1;
}

/* arm[3]: of the other point from the other tip; away[3]: from that point to the tip. Returns its length. */
static double apart(const rk_picking *p, double arm[3], double away[3]) {
  rk_rotate(p->chains[RK_OTHER].T, p->target + 1, arm);
  between(p, away);
  for (int k = 0; k < 3; k++) away[k] -= arm[k];
  return rk_norm3(away);
}

static void pick_distance(rk_picking *p, rk_picked *out) {
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

static void pick_advance(const rk_picking *p, int32_t stays, rk_picked *out) {
  const double *start = stays ? p->chains[RK_OWN].T : p->target + 3;
  for (int k = 0; k < 3; k++) {
    const double own[3] = {start[k], start[3 + k], start[6 + k]}, unit[3] = {k == 0, k == 1, k == 2};
    if (p->task->weights[k] != 0.0) add_along(p, p->task->axes == RK_TIP_AXES ? own : unit, out);
  }
}

/* The two directions across the curve; at a corner or an end all three. */
static void pick_curve(const rk_picking *p, rk_picked *out) {
  static const double unit[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  double e[3], along[3], normals[2][3];
  if (p->task->is_ball) return;
  const int is_free = rk_curve_gap(p->target, p->chains[RK_OWN].T + 9, e, along, 0);
  if (is_free) across(along, normals[0], normals[1]);
  for (int r = 0; r < (is_free ? 2 : 3); r++) add_along(p, is_free ? normals[r] : unit[r], out);
}

rk_picked rk_pick(const rk_step_data *data, int32_t t, rk_picking *p) {
  rk_picked out = {0};
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
    case RK_TIP_LASER:
    case RK_TIP_SPOT: pick_beam(p, &out); break;
    case RK_TIP_CURVE: pick_curve(p, &out); break;
    default: pick_pose(p, &out);
  }
  return out;
}

/* What rows change as the axes turn that they are in. */
static void turn(const rk_picked *rows, const double w[3], rk_picked *out) {
  for (int r = 0; r < rows->count; r++)
    for (int part = 0; part < 6; part += 3) rk_cross(w, rows->row[r][RK_OWN] + part, out->row[r][RK_OWN] + part);
}

/* Completes changes like `oppose`, where the arm moves. */
static void oppose_change(const double arm[3], const double moved[3], const rk_picked *rows, rk_picked *out) {
  for (int r = 0; r < rows->count; r++) {
    double shifted[3];
    rk_cross(rows->row[r][RK_OWN], moved, shifted);
    oppose(arm, out->row[r]);
    for (int k = 0; k < 3; k++) out->row[r][RK_OTHER][3 + k] += shifted[k];
  }
}

static void turn_aim(const rk_picking *p, const rk_picked *rows, const double twist[6], rk_picked *out) {
  double away[3];
  const double r = to_target(p, away), nearing = rk_dot3(away, twist) / (r * r * p->length);
  turn(rows, twist + 3, out);
  for (int i = 0; i < rows->count; i++) rk_add_scaled(3, nearing, rows->row[i][RK_OWN], out->row[i][RK_OWN]);
}

static void turn_beam(const rk_picking *p, const rk_picked *rows, const double twist[6], rk_picked *out) {
  double axis[3], n[3], moved[3], arm[3];
  const double t = beam(p, axis, n), slope = rk_dot3(n, axis);
  if (t == 0.0) {
    turn_aim(p, rows, twist, out);
    return;
  }
  rk_cross(twist + 3, axis, moved);
  const double farther = -(rk_dot3(n, twist) + t * rk_dot3(n, moved)) / slope;
  for (int r = 0; r < rows->count; r++) {
    const double *row = rows->row[r][RK_OWN];
    double *change = out->row[r][RK_OWN];
    rk_add_scaled(3, -rk_dot3(row, moved) / slope, n, change);
    rk_cross(axis, change, change + 3);
    rk_cross(moved, row, arm);
    for (int k = 0; k < 3; k++) change[3 + k] = t * (change[3 + k] + arm[k]) + farther / t * row[3 + k];
  }
}

static void turn_relative(const rk_picking *p, const rk_picked *rows, int side, const double twist[6], rk_picked *out) {
  double arm[3], moved[3];
  between(p, arm);
  for (int k = 0; k < 3; k++) moved[k] = side == RK_OWN ? twist[k] : -twist[k];
  if (side == RK_OTHER) turn(rows, twist + 3, out);
  oppose_change(arm, moved, rows, out);
}

static void turn_distance(const rk_picking *p, const rk_picked *rows, int side, const double twist[6], rk_picked *out) {
  double arm[3], moved[3] = {0.0, 0.0, 0.0}, away[3], *change = out->row[0][RK_OWN];
  const double r = apart(p, arm, away);
  if (side == RK_OTHER) rk_cross(twist + 3, arm, moved);
  if (rows->count == 1) {
    for (int k = 0; k < 3; k++) change[k] = (side == RK_OWN ? twist[k] : -twist[k] - moved[k]) / (r * p->length);
    rk_add_scaled(3, -rk_dot3(change, away) / (r * r), away, change);
  }
  oppose_change(arm, moved, rows, out);
}

rk_picked rk_turned(const rk_picking *p, const rk_picked *rows, int side, const double twist[6]) {
  rk_picked out = {.count = rows->count};
  if (p->task->kind == RK_TIP_RELATIVE) turn_relative(p, rows, side, twist, &out);
  else if (p->task->kind == RK_TIP_DISTANCE) turn_distance(p, rows, side, twist, &out);
  else if (p->task->kind == RK_TIP_AIM) turn_aim(p, rows, twist, &out);
  else if (p->task->kind == RK_TIP_LASER || p->task->kind == RK_TIP_SPOT) turn_beam(p, rows, twist, &out);
  else turn(rows, twist + 3, &out);
  return out;
}
