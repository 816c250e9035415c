/* Seven turning joints whose first three axes meet in S and last three in W. The distance of S and W says the turn of
   the fourth joint; then the arm may turn about the line from S to W. Of that redundancy angle 0 is where the upper arm
   is turned least from where q0 has it. A joint is at a limit where a c + b s = d in that angle: between those angles a
   branch is all inside the limits, or not at all (M. Shimizu et al., "Analytical inverse kinematic computation for
   7-DOF redundant manipulators with joint limits", IEEE Trans. Robotics 24(5), 2008). */
#include "families/families.h"
#include "math/rk_trig.h"

enum { MOST_EDGES = 34 };
static const double PI = 3.141592653589793;
/* [rad] from where a joint is at its limit, at least, and times the geometry is off the ideal one. */
static const double INWARD = 1e-9, OFF = 100.0;

typedef struct arc {
  double about[3], B[9], R4B[9]; /* the upper arm at 0; R4B: with the elbow turned */
  rk_turn elbow;
} arc;

/* The least rotation from direction u to direction v, both unit. */
static void least_rotation(const double u[3], const double v[3], double out[9]) {
  double w[3], across[3];
  rk_cross(u, v, w);
  double c = rk_dot3(u, v), s = rk_norm3(w);
  if (!(s > RK_NOTHING)) { /* any axis across u */
    const double x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0};
    rk_across(u, __builtin_fabs(u[0]) < 0.7 ? x : y, across);
    rk_copy(w, across, 3);
    s = 0.0, c = c < 0.0 ? -1.0 : 1.0;
  }
  const double scale = 1.0 / rk_norm3(w);
  for (int i = 0; i < 3; i++) w[i] *= scale;
  rk_turn_matrix(w, (rk_turn){c, s}, out);
}

static void set_arc(const rk_pose *pose, rk_turn elbow, const double goal[3], arc *a) {
  const rk_family *f = pose->f;
  double Q[9], T[9], A[9], x[3], v[3], u[3], g[3];
  rk_turn_matrix(f->h[0], pose->wanted[0], A);
  rk_turn_matrix(f->h[1], pose->wanted[1], T);
  rk_multiply(A, T, Q);
  rk_turn_matrix(f->h[2], pose->wanted[2], T);
  rk_multiply(Q, T, A); /* q0's upper arm */
  rk_subtract3(f->o[4], f->o[3], x);
  rk_turned(f->h[3], elbow, x, v);
  rk_subtract3(f->o[3], f->o[0], x);
  rk_add3(v, x, v);
  rk_rotate(A, v, u);
  const double nu = rk_norm3(u), ng = rk_norm3(goal);
  a->elbow = elbow;
  if (nu > pose->nothing && ng > pose->nothing) {
    for (int i = 0; i < 3; i++) u[i] /= nu, g[i] = goal[i] / ng;
    least_rotation(u, g, T);
    rk_multiply(T, A, a->B);
    rk_copy(a->about, g, 3);
  } else { /* W in S: the arm may turn any way; it keeps q0's */
    rk_copy(a->B, A, 9);
    rk_copy(a->about, f->h[0], 3);
  }
  rk_turn_matrix(f->h[3], elbow, T);
  rk_multiply(a->B, T, a->R4B);
}

/* The turns of shoulder and wrist at an angle of the arc: how many there are of each. */
static void turns_at(const rk_pose *pose, const arc *a, rk_turn angle, rk_triple shoulder[2], int *shoulders,
                     rk_triple wrist[2], int *wrists) {
  const rk_family *f = pose->f;
  double R[9], T[9], M[9], back[9];
  rk_turn_matrix(a->about, angle, T);
  rk_multiply(T, a->B, R);
  *shoulders = rk_three_turns(f->h[0], f->h[1], f->h[2], f->side[2], R, pose->wanted[0], shoulder);
  rk_multiply(T, a->R4B, M);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) back[3 * r + c] = M[3 * c + r];
  rk_multiply(back, pose->R, M);
  *wrists = rk_three_turns(f->h[4], f->h[5], f->h[6], f->side[6], M, pose->wanted[4], wrist);
}

/* Solution `which` of `count` is one, and inside the limits. A single one of axes that are not at right angles only comes
   nearest to the rotation. */
static int fits(const rk_pose *pose, int32_t first, const rk_triple *found, int count, int which) {
  const rk_triple *turns = found + which;
  if (which >= count || (count == 1 && !turns->coupled)) return 0;
  for (int32_t i = 0; i < 3; i++) {
    double angle = rk_atan2(turns->t[i].s, turns->t[i].c);
    const int32_t chain = rk_in_chain(pose->f, first + i);
    if (!(turns->coupled && i != 1) && !rk_fit_angle(pose, chain, &angle)) return 0;
  }
  return 1;
}

static void add(rk_pose *pose, const arc *a, const rk_triple *shoulder, const rk_triple *wrist, int32_t branch) {
  rk_candidate *c = rk_more(pose);
  if (!c) return;
  for (int i = 0; i < 3; i++) c->turn[i] = shoulder->t[i], c->turn[4 + i] = wrist->t[i];
  c->turn[3] = a->elbow;
  c->branch = branch;
  if (shoulder->coupled) c->coupling[c->couplings++] = (rk_coupling){0, 2, shoulder->sign};
  if (wrist->coupled) c->coupling[c->couplings++] = (rk_coupling){4, 6, wrist->sign};
}

/* -- where joints are at their limits -------------------------------------------------------------------------------- */

typedef struct edges {
  double angle[MOST_EDGES];
  int count;
} edges;

/* Angles with y'R(about, angle) x = value. */
static void add_edges(const arc *a, const double y[3], const double x[3], double value, edges *e) {
  double form[3];
  rk_turn t[2];
  rk_form(y, a->about, x, form);
  const int count = rk_linear(form[0], form[1], value - form[2], RK_NOTHING, t);
  for (int i = 0; i < count && e->count < MOST_EDGES; i++) e->angle[e->count++] = rk_atan2(t[i].s, t[i].c);
}

/* The angles at which from'R to = value, R the rotation that the three turns make. */
static void add_bound(const rk_pose *pose, const arc *a, int is_wrist, const double from[3], const double to[3],
                      double value, edges *e) {
  double x[3], y[3];
  rk_rotate(is_wrist ? pose->R : a->B, to, is_wrist ? y : x);
  if (is_wrist)
    rk_rotate(a->R4B, from, x);
  else
    rk_copy(y, from, 3);
  add_edges(a, y, x, value, e);
}

/* Where three turns about h are at their limits: h[0]'R h[2] = y'R(about, angle) x, and so on. first: their number in
   the solving order. */
static void add_limits(const rk_pose *pose, const arc *a, int32_t first, edges *e) {
  const rk_family *f = pose->f;
  const double *h0 = f->h[first], *h1 = f->h[first + 1], *h2 = f->h[first + 2];
  const int is_wrist = first == 4;
  double z[3], form[3];
  rk_form(h0, h1, h2, form);
  const double reach = rk_sqrt(form[0] * form[0] + form[1] * form[1]);
  for (int32_t i = 0; i < 3; i++) {
    const int32_t chain = rk_in_chain(f, first + i);
    for (int side = 0; side < 2; side++) {
      const double limit = side ? f->upper[chain] : f->lower[chain];
      if (!(__builtin_fabs(limit) < RK_MOST)) continue;
      rk_turn t;
      rk_sincos(limit, &t.s, &t.c);
      if (i == 1) {
        add_bound(pose, a, is_wrist, h0, h2, form[0] * t.c + form[1] * t.s + form[2], e);
      } else if (i == 0) {
        rk_turned(h0, t, h1, z);
        add_bound(pose, a, is_wrist, z, h2, rk_dot3(h1, h2), e);
      } else {
        rk_turned(h2, rk_back(t), h1, z);
        add_bound(pose, a, is_wrist, h0, z, rk_dot3(h1, h0), e);
      }
    }
  }
  const double skew = __builtin_fabs(rk_dot3(h0, h1)) + __builtin_fabs(rk_dot3(h1, h2));
  if (skew > RK_NOTHING) { /* else the three turns reach every rotation */
    add_bound(pose, a, is_wrist, h0, h2, form[2] + reach, e);
    add_bound(pose, a, is_wrist, h0, h2, form[2] - reach, e);
  }
}

static void sort(edges *e) {
  for (int i = 1; i < e->count; i++) {
    const double angle = e->angle[i];
    int at = i;
    for (; at > 0 && e->angle[at - 1] > angle; at--) e->angle[at] = e->angle[at - 1];
    e->angle[at] = angle;
  }
}

static int branch_fits(const rk_pose *pose, const arc *a, double angle, int is, int iw, rk_triple *shoulder,
                       rk_triple *wrist) {
  rk_triple s[2], w[2];
  rk_turn t;
  int shoulders, wrists;
  rk_sincos(angle, &t.s, &t.c);
  turns_at(pose, a, t, s, &shoulders, w, &wrists);
  if (!fits(pose, 0, s, shoulders, is) || !fits(pose, 4, w, wrists, iw)) return 0;
  *shoulder = s[is], *wrist = w[iw];
  return 1;
}

/* The posture of a branch whose angle is nearest to 0, among the stretches between the edges. */
static int nearest(const rk_pose *pose, const arc *a, const edges *e, int is, int iw, rk_triple *shoulder,
                   rk_triple *wrist) {
  const double step = rk_max(INWARD, OFF * pose->f->off);
  double best = 4.0;
  for (int i = 0; i < e->count; i++) {
    const double from = e->angle[i], to = i + 1 < e->count ? e->angle[i + 1] : e->angle[0] + 2.0 * PI;
    const double middle = 0.5 * (from + to), inward = rk_min(step, 0.5 * (to - from));
    const double first = from + inward, last = to - inward > PI ? to - inward - 2.0 * PI : to - inward;
    rk_triple s, w;
    if (!branch_fits(pose, a, middle, is, iw, &s, &w)) continue;
    const double end = __builtin_fabs(first) < __builtin_fabs(last) ? first : last;
    const double own = __builtin_fabs(end) < __builtin_fabs(middle) ? end : middle;
    if (__builtin_fabs(own) >= best) continue;
    best = __builtin_fabs(own);
    if (!branch_fits(pose, a, own, is, iw, shoulder, wrist)) *shoulder = s, *wrist = w;
  }
  return best < 4.0;
}

void rk_spherical_both(rk_pose *pose) {
  const rk_family *f = pose->f;
  double goal[3], p[3], x[3], form[3];
  rk_turn elbow[2], none = {1.0, 0.0};
  rk_image(pose, f->o[4], goal);
  rk_subtract3(goal, f->o[0], goal);
  rk_subtract3(f->o[3], f->o[0], p);
  rk_subtract3(f->o[4], f->o[3], x);
  rk_form(p, f->h[3], x, form);
  const double d = 0.5 * (rk_dot3(goal, goal) - rk_dot3(p, p) - rk_dot3(x, x)) - form[2];
  const int count = rk_linear(form[0], form[1], d, pose->nothing * (rk_norm3(p) + rk_norm3(x)), elbow);
  for (int k = 0; k < count; k++) {
    double angle = rk_atan2(elbow[k].s, elbow[k].c);
    if (!rk_fit_angle(pose, 3, &angle)) continue;
    arc a;
    rk_triple s[2], w[2], shoulder, wrist;
    int shoulders, wrists;
    set_arc(pose, elbow[k], goal, &a);
    turns_at(pose, &a, none, s, &shoulders, w, &wrists);
    edges e = {.count = -1};
    for (int is = 0; is < 2; is++)
      for (int iw = 0; iw < 2; iw++) {
        const int32_t branch = (is ? RK_SHOULDER : 0) | (k ? RK_ELBOW : 0) | (iw ? RK_WRIST : 0);
        if (fits(pose, 0, s, shoulders, is) && fits(pose, 4, w, wrists, iw)) {
          add(pose, &a, s + is, w + iw, branch);
          continue;
        }
        if (e.count < 0) {
          e.count = 0;
          add_limits(pose, &a, 0, &e);
          add_limits(pose, &a, 4, &e);
          sort(&e);
        }
        if (nearest(pose, &a, &e, is, iw, &shoulder, &wrist)) add(pose, &a, &shoulder, &wrist, branch);
      }
  }
}
