/* Twin of the `rows` methods of tasks on tips in solvers/tasks, which explain them: a function for each kind. */
#include "step/tip_rows.h"

#include "ik/ik_rows.h"
#include "math/rk_math.h"
#include "math/rk_trig.h"
#include "math/rk_vector.h"
#include "step/curve.h"
#include "step/surface.h"

static const double NEAREST = 1e-9, SHORT = 1e-12;
enum { NEARING = 4 }; /* steps to the nearest place on a path */

/* (t - sin t) / t^3, of the angle t and its square; below 1 rad, where digits cancel, as a series. */
static double rk_sinc3(double angle, double square, double sine) {
  if (angle >= 1.0) return (angle - sine) / (square * angle);
  double sum = 0.0;
  for (int k = 21; k > 3; k -= 2) sum = (1.0 - sum) * square / (k * (k - 1));
  return (1.0 - sum) / 6.0;
}

/* out = exp of a twist[6], a rigid placement (Sola, Deray, Atchuthan, "A micro Lie theory", 2018, Eq. 172). */
static void rk_screw(const double twist[6], double out[12]) {
  const double *v = twist, *w = twist + 3;
  const double square = rk_dot3(w, w), angle = rk_sqrt(square);
  double s, c, half, other;
  rk_sincos(angle, &s, &c);
  rk_sincos(0.5 * angle, &half, &other);
  const double first = angle > 0.0 ? s / angle : 1.0, chord = angle > 0.0 ? half / (0.5 * angle) : 1.0;
  const double second = 0.5 * chord * chord, third = rk_sinc3(angle, square, s);
  double wv[3], wwv[3];
  rk_cross(w, v, wv);
  rk_cross(w, wv, wwv);
  for (int r = 0; r < 3; r++) {
    for (int k = 0; k < 3; k++) out[3 * r + k] = second * (w[r] * w[k] - (r == k ? square : 0.0)) + (r == k);
    out[9 + r] = v[r] + second * wv[r] + third * wwv[r];
  }
  out[1] -= first * w[2], out[2] += first * w[1], out[5] -= first * w[0];
  out[3] += first * w[2], out[6] -= first * w[1], out[7] += first * w[0];
}

/* A block of A or B, whose rows and columns start at `row` and `column`: += factor M. */
static void add_block(double *A, int row, int column, double factor, const double M[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) A[6 * (row + r) + column + c] += factor * M[3 * r + c];
}

static void add_unit(double *A, int row, int column) {
  for (int k = 0; k < 3; k++) A[6 * (row + k) + column + k] += 1.0;
}

/* M x = v x x. */
static void hat(const double v[3], double M[9]) {
  M[0] = M[4] = M[8] = 0.0;
  M[1] = -v[2], M[2] = v[1], M[5] = -v[0];
  M[3] = v[2], M[6] = -v[1], M[7] = v[0];
}

static void transpose(const double M[9], double out[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) out[3 * r + c] = M[3 * c + r];
}

static int turns(const rk_tip_rows *rows) {
  return rows->weights[3] != 0.0 || rows->weights[4] != 0.0 || rows->weights[5] != 0.0;
}

/* A moves rigidly with both: what is the same seen from either asks for nothing. */
static void oppose(rk_lack *out) {
  for (int k = 0; k < 36; k++) out->B[k] = -out->A[k];
}

static void pose(const rk_tip_rows *rows, const double T[12], const double target[16], int32_t stays, rk_lack *out) {
  double block[9];
  add_unit(out->A, 0, 0);
  if (!stays)
    for (int k = 0; k < 3; k++) out->e[k] = target[4 * k + 3] - T[9 + k];
  if (!turns(rows)) return;
  if (!stays) rk_turn_error(T, target, out->e + 3);
  rk_right_jacobian_inverse(out->e + 3, block);
  add_block(out->A, 3, 3, 1.0, block);
}

static void axis(const rk_tip_rows *rows, const double T[12], const double target[16], rk_lack *out) {
  double a[3], block[9];
  const double d[3] = {target[2], target[6], target[10]};
  rk_rotate(T, rows->axis, a);
  rk_alignment_error(a, d, out->e + 3);
  rk_alignment_matrix(a, d, block);
  add_block(out->A, 3, 3, 1.0, block);
}

static void relative(const rk_tip_rows *rows, const double T[12], const double O[12], const double target[16],
                     rk_lack *out) {
  double into[9], pose[12], block[9], turned[9];
  const double away[3] = {T[9] - O[9], T[10] - O[10], T[11] - O[11]};
  transpose(O, into);
  rk_multiply(into, T, pose);
  rk_rotate(into, away, pose + 9);
  for (int k = 0; k < 3; k++) out->e[k] = target[4 * k + 3] - pose[9 + k];
  add_block(out->A, 0, 0, 1.0, into);
  if (turns(rows)) {
    rk_turn_error(pose, target, out->e + 3);
    rk_right_jacobian_inverse(out->e + 3, block);
    rk_multiply(block, into, turned);
    add_block(out->A, 3, 3, 1.0, turned);
  }
  oppose(out);
}

static void distance(const rk_tip_rows *rows, const double T[12], const double O[12], const double target[16],
                     rk_lack *out) {
  double there[3], away[3], arm[9];
  rk_rotate(O, target + 1, there);
  for (int k = 0; k < 3; k++) away[k] = T[9 + k] - (O[9 + k] + there[k]);
  if (rk_is_apart(rows, target)) {
    const double apart = rk_norm3(away);
    for (int k = 0; k < 3; k++) out->A[k] = apart > 0.0 ? away[k] / apart : k == 2;
    out->e[0] = target[0] - apart;
    oppose(out);
    return;
  }
  for (int k = 0; k < 3; k++) out->e[k] = -away[k];
  add_unit(out->A, 0, 0);
  oppose(out);
  hat(away, arm); /* the other point is not where the tip is */
  add_block(out->B, 0, 3, -1.0, arm);
}

/* Rows row ... row + 2: a tip axis points at `point`. */
static void aim(const rk_tip_rows *rows, const double T[12], const double point[3], int row, rk_lack *out) {
  double a[3], d[3], M[9], D[9], product[9];
  for (int k = 0; k < 3; k++) d[k] = point[k] - T[9 + k];
  const double r = rk_norm3(d);
  if (r < NEAREST) return;
  for (int k = 0; k < 3; k++) d[k] /= r;
  rk_rotate(T, rows->axis, a);
  rk_alignment_error(a, d, out->e + row);
  rk_alignment_matrix(a, d, M);
  add_block(out->A, row, 3, 1.0, M);
  hat(d, D);
  rk_multiply(M, D, product);
  add_block(out->A, row, 0, 1.0 / r, product);
}

/* Heights of a point over `count` planes through it with these normals. */
static void across(int count, const double *normals, const double T[12], const double point[3], rk_lack *out) {
  const double away[3] = {point[0] - T[9], point[1] - T[10], point[2] - T[11]};
  for (int r = 0; r < count; r++) {
    out->e[r] = rk_dot3(normals + 3 * r, away);
    for (int k = 0; k < 3; k++) out->A[6 * r + k] = normals[3 * r + k];
  }
}

/* Motion along a curve is free. */
static void leave_free(const double along[3], double A[36]) {
  const double square = rk_dot3(along, along);
  for (int c = 0; c < 6; c++) {
    const double free = (along[0] * A[c] + along[1] * A[6 + c] + along[2] * A[12 + c]) / (square > SHORT ? square : SHORT);
    for (int r = 0; r < 3; r++) A[6 * r + c] -= along[r] * free;
  }
}

/* What the spot of a beam along a[3] sees of the twist, t from the tip on a surface with that normal. */
static void see_spot(const double a[3], double t, const double n[3], rk_lack *out) {
  const double slope = rk_dot3(n, a);
  double arm[9], slide[9], turned[9];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) slide[3 * r + c] = (r == c) - a[r] * n[c] / slope;
  hat(a, arm);
  rk_multiply(slide, arm, turned);
  add_block(out->A, 0, 0, 1.0, slide);
  add_block(out->A, 0, 3, -t, turned);
}

/* p[3]: the point, or the spot of the beam, that is to be on a curve. A beam that misses its surface has the point on it that
   is as far away as the curve. n[3]: the normal of the surface that it stays on; 0: it is free. */
static void place(const rk_tip_rows *rows, const double T[12], const double target[16], double p[3], double n[3],
                  rk_lack *out) {
  double a[3] = {0.0, 0.0, 0.0}, t = 0.0, arm[9], along[3];
  const int is_beam = rows->kind == RK_TIP_SPOT;
  if (is_beam) {
    rk_rotate(T, rows->axis, a);
    t = rk_beam_hit(target + 2, T + 9, a, n);
  }
  if (t > 0.0) {
    see_spot(a, t, n, out);
  } else {
    if (is_beam) {
      rk_curve_gap(target, T + 9, p, along, 0);
      t = rk_norm3(p);
      for (int k = 0; k < 9 && t > 0.0; k++) out->A[6 * (k / 3) + k % 3] -= a[k / 3] * p[k % 3] / t;
    }
    hat(a, arm);
    add_unit(out->A, 0, 0);
    add_block(out->A, 0, 3, -t, arm);
    for (int k = 0; k < 3; k++) n[k] = 0.0;
  }
  for (int k = 0; k < 3; k++) p[k] = T[9 + k] + t * a[k];
}

static void curve(const rk_tip_rows *rows, const double T[12], const double target[16], rk_lack *out) {
  double p[3], n[3], along[3];
  place(rows, T, target, p, n, out);
  if (!rk_curve_gap(target, p, out->e, along, 0)) return;
  rk_add_scaled(3, -rk_dot3(n, along), n, along);
  leave_free(along, out->A);
}

int rk_tip_piece(const rk_tip_rows *rows, const double T[12], const double target[16], double row[6], double room[2]) {
  rk_lack seen = {.e = {0.0}};
  double p[3], n[3], along[3];
  place(rows, T, target, p, n, &seen);
  if (!rk_curve_gap(target, p, seen.e, along, room)) return 0;
  for (int c = 0; c < 6; c++) row[c] = along[0] * seen.A[c] + along[1] * seen.A[6 + c] + along[2] * seen.A[12 + c];
  return 1;
}

void rk_tip_take_piece(const rk_tip_rows *rows, const double T[12], const double target[16], double beyond,
                       rk_segment *piece) {
  rk_lack seen = {.e = {0.0}};
  double p[3], n[3];
  place(rows, T, target, p, n, &seen);
  rk_curve_piece(target, p, beyond, piece);
}

static void advance(const rk_tip_rows *rows, const double T[12], const double target[16], int32_t stays,
                    rk_lack *out) {
  const double *start = stays ? T : target + 3, unit[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  const double away[3] = {start[9] - T[9], start[10] - T[10], start[11] - T[11]};
  double into[9];
  transpose(rows->axes == RK_TIP_AXES ? start : unit, into);
  rk_rotate(into, away, out->e);
  for (int k = 0; k < 3; k++) out->e[k] += target[k];
  add_block(out->A, 0, 0, 1.0, into);
}

static void laser(const rk_tip_rows *rows, const double T[12], const double target[16], rk_lack *out) {
  const double *wanted = target, *o = T + 9;
  double a[3], n[3];
  rk_rotate(T, rows->axis, a);
  const double t = rk_beam_hit(target + 3, o, a, n);
  for (int k = 0; k < 3; k++) out->e[k] = wanted[k] - (o[k] + t * a[k]);
  if (t > 0.0) see_spot(a, t, n, out);
  else aim(rows, T, wanted, 3, out); /* it is turned towards the target */
}

static void twist(const rk_tip_rows *rows, const double T[12], const double target[16], double dt, rk_lack *out) {
  double moved[12], into[9], place[3];
  for (int k = 0; k < 6; k++) out->e[k] = target[k] * dt;
  if (rows->axes != RK_ROOT_AXES) rk_screw(out->e, moved);
  if (rows->axes == RK_TIP_AXES) {
    transpose(T, into);
    for (int k = 0; k < 3; k++) out->e[k] = moved[9 + k];
    add_block(out->A, 0, 0, 1.0, into);
    add_block(out->A, 3, 3, 1.0, into);
    return;
  }
  if (rows->axes == RK_SPACE_AXES) {
    rk_rotate(moved, T + 9, place);
    for (int k = 0; k < 3; k++) out->e[k] = place[k] + moved[9 + k] - T[9 + k];
  }
  add_unit(out->A, 0, 0);
  add_unit(out->A, 3, 3);
}

/* Where a share of a motion leads the tip from `origin`, and its derivative. */
static void go(const rk_tip_rows *rows, const double step[6], double share, const double origin[3], double e[6],
               double path[6]) {
  double part[6], moved[12], place[3], turned[3];
  const double nowhere[3] = {0.0, 0.0, 0.0}, *from = rows->axes == RK_SPACE_AXES ? origin : nowhere;
  for (int k = 0; k < 6; k++) e[k] = part[k] = share * step[k], path[k] = step[k];
  if (rows->axes == RK_ROOT_AXES) return;
  rk_screw(part, moved);
  rk_rotate(moved, from, place);
  for (int k = 0; k < 3; k++) place[k] += moved[9 + k];
  rk_cross(step + 3, place, turned);
  for (int k = 0; k < 3; k++) e[k] = place[k] - from[k], path[k] += turned[k];
}

/* The residual at T of a motion that began at `before`: twin of TwistTask.rows_after. */
static void rest_of_twist(const rk_tip_rows *rows, const double T[12], const double before[12], const double target[16],
                          double dt, rk_lack *out) {
  double step[6], back[9], R[9], d[6], e[6], block[9], share = 1.0;
  for (int k = 0; k < 6; k++) step[k] = target[k] * dt;
  transpose(before, back);
  rk_multiply(T, back, R);
  rk_log_rotation(R, d + 3);
  const double turned[3] = {-d[3], -d[4], -d[5]};
  const double path_twist[6] = {T[9] - before[9], T[10] - before[10], T[11] - before[11], d[3], d[4], d[5]};
  rk_right_jacobian_inverse(turned, block);
  const double unit[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, *axes = rows->axes == RK_TIP_AXES ? back : unit;
  for (int part = 0; part < 6; part += 3) rk_rotate(axes, path_twist + part, d + part);
  add_block(out->A, 0, 0, 1.0, axes);
  rk_multiply(axes, block, R);
  add_block(out->A, 3, 3, 1.0, R);
  for (int i = 0; i < NEARING; i++) {
    double slope = 0.0, past = 0.0;
    go(rows, step, share, before + 9, e, out->path);
    for (int k = 0; k < 6; k++) {
      if (rows->weights[k] == 0.0) continue;
      slope += out->path[k] * out->path[k];
      past += out->path[k] * (d[k] - e[k]);
    }
    share = slope > 0.0 ? rk_clamp(share + past / slope, 0.0, 1.0) : 1.0;
  }
  go(rows, step, share, before + 9, e, out->path);
  for (int k = 0; k < 6; k++) out->e[k] = e[k] - d[k] + (1.0 - share) * out->path[k];
}

void rk_tip_lack(const rk_tip_rows *rows, const double T[12], const double O[12], const double target[16],
                 int32_t stays, double dt, const double *before, rk_lack *out) {
  for (int k = 0; k < 6; k++) out->e[k] = 0.0;
  for (int k = 0; k < 36; k++) out->A[k] = out->B[k] = 0.0;
  switch (rows->kind) {
    case RK_TIP_AXIS: axis(rows, T, target, out); break;
    case RK_TIP_RELATIVE: relative(rows, T, O, target, out); break;
    case RK_TIP_DISTANCE: distance(rows, T, O, target, out); break;
    case RK_TIP_AIM: aim(rows, T, target, 0, out); break;
    case RK_TIP_PLANE: across(1, target + 3, T, target, out); break;
    case RK_TIP_LINE: across(2, target + 3, T, target, out); break;
    case RK_TIP_ADVANCE: advance(rows, T, target, stays, out); return; /* its axes are those of the start */
    case RK_TIP_LASER: laser(rows, T, target, out); break;
    case RK_TIP_CURVE:
    case RK_TIP_SPOT: curve(rows, T, target, out); break;
    case RK_TIP_TWIST:
      if (before) {
        rest_of_twist(rows, T, before, target, dt, out);
      } else {
        twist(rows, T, target, dt, out);
        for (int k = 0; k < 6; k++) out->path[k] = out->e[k];
      }
      return;
    default: pose(rows, T, target, stays, out);
  }
  if (rows->axes != RK_TIP_AXES || rows->is_ball) return;
  for (int part = 0; part < 2; part++) rk_to_tip_axes(T, 3 * part, out->e, out->A);
}
