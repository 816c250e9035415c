/* Three turning joints that bring a point somewhere: R1(p12 + R2(p23 + R3 from)) = to. */
#include "families/families.h"

int rk_two_parallel(rk_pose *pose, int32_t first, int32_t second, const double k[3], const double k2[3], const double fixed[3],
                    const double x[3], const double v[3], rk_turn t0[2], rk_turn t1[2]) {
  int count = rk_sub3(k2, fixed, x, v, pose->nothing, t1);
  if (count < 0) t1[0] = rk_any(pose, second), count = 1;
  for (int i = 0; i < count; i++) {
    double arm[3];
    rk_turned(k2, t1[i], x, arm);
    rk_add3(arm, fixed, arm);
    if (!rk_sub1(k, arm, v, pose->nothing, t0 + i)) {
      t0[i] = rk_any(pose, first);
      return 1; /* folded up: both are the same */
    }
  }
  return count;
}

typedef struct arm {
  double h1[3], h2[3], h3[3], p12[3], p23[3], from[3], to[3];
  int32_t joint[3]; /* numbers in the solving order */
} arm;

/* Axes 2 and 3 are parallel: h2 sees the first turn alone. */
static int parallel(rk_pose *pose, const arm *a, rk_triple out[4]) {
  double sum[3], f[3];
  rk_turn t1[2];
  int count = 0;
  rk_add3(a->p12, a->p23, sum);
  rk_add3(sum, a->from, sum);
  rk_form(a->to, a->h1, a->h2, f);
  int solutions = rk_linear(f[0], f[1], rk_dot3(a->h2, sum) - f[2], pose->nothing, t1);
  if (solutions < 0) t1[0] = rk_any(pose, a->joint[0]), solutions = 1;
  for (int i = 0; i < solutions; i++) {
    double v[3];
    rk_turn t2[2], t3[2];
    rk_turned(a->h1, rk_back(t1[i]), a->to, v);
    rk_subtract3(v, a->p12, v);
    const int here = rk_two_parallel(pose, a->joint[1], a->joint[2], a->h2, a->h3, a->p23, a->from, v, t2, t3);
    for (int j = 0; j < here; j++)
      out[count++] = (rk_triple){{t1[i], t2[j], t3[j]}, (i ? RK_SHOULDER : 0) | (j ? RK_ELBOW : 0), 0, 0.0};
  }
  return count;
}

/* Axes 1 and 2 meet: the distance from there sees the third turn alone. */
static int intersecting(rk_pose *pose, const arm *a, rk_triple out[4]) {
  double u[3];
  rk_turn t3[2];
  int count = 0;
  /* |p23 + R3 from| = |to|, parts along h3 included */
  double f[3];
  rk_form(a->p23, a->h3, a->from, f);
  const double d = 0.5 * (rk_dot3(a->to, a->to) - rk_dot3(a->p23, a->p23) - rk_dot3(a->from, a->from)) - f[2];
  int solutions = rk_linear(f[0], f[1], d, pose->nothing * (rk_norm3(a->p23) + rk_norm3(a->from)), t3);
  if (solutions < 0) t3[0] = rk_any(pose, a->joint[2]), solutions = 1;
  for (int i = 0; i < solutions; i++) {
    rk_turn t1[2], t2[2];
    rk_turned(a->h3, t3[i], a->from, u);
    rk_add3(u, a->p23, u);
    int here = rk_sub2(a->h1, a->h2, u, a->to, pose->nothing, t1, t2);
    if (here == -1) {
      t1[0] = rk_any(pose, a->joint[0]), here = 1;
    } else if (here == -2) {
      t2[0] = rk_any(pose, a->joint[1]), here = 1;
      if (!rk_sub1(a->h1, u, a->to, pose->nothing, t1)) t1[0] = rk_any(pose, a->joint[0]);
    }
    for (int j = 0; j < here; j++)
      out[count++] = (rk_triple){{t1[j], t2[j], t3[i]}, (j ? RK_SHOULDER : 0) | (i ? RK_ELBOW : 0), 0, 0.0};
  }
  return count;
}

/* Any axes: D. L. Pieper, "The kinematics of manipulators under computer control", Stanford 1968. With u = p23 + R3 from
   and p12 the common normal of axes 1 and 2, the distance to axis 1's foot and the height along it say where the part
   of R2 u across axis 2 is, of which the length is known: a polynomial of degree two in the third turn. */
static int general(rk_pose *pose, const arm *a, rk_triple out[4]) {
  double e2[3], f[3], h1_e2, normal, t_coeff[3];
  normal = rk_norm3(a->p12);
  double e1[3];
  for (int i = 0; i < 3; i++) e1[i] = a->p12[i] / normal;
  rk_cross(a->h2, e1, e2);
  h1_e2 = rk_dot3(a->h1, e2);
  const double h1_h2 = rk_dot3(a->h1, a->h2);
  /* In the third turn: |u|^2 = f (times 2 and constants), and h2'u. */
  rk_form(a->p23, a->h3, a->from, f);
  rk_form(a->h2, a->h3, a->from, t_coeff);
  const double squares = rk_dot3(a->p23, a->p23) + rk_dot3(a->from, a->from);
  const double length[3] = {2.0 * f[0], 2.0 * f[1], 2.0 * f[2] + squares};
  const double along[3] = {t_coeff[0], t_coeff[1], t_coeff[2] + rk_dot3(a->h2, a->p23)};
  const double goal2 = rk_dot3(a->to, a->to), height = rk_dot3(a->h1, a->to) - rk_dot3(a->h1, a->p12);
  double X[3], Y[3];
  for (int i = 0; i < 3; i++) {
    X[i] = -0.5 * length[i] + (i == 2 ? 0.5 * (goal2 - normal * normal) : 0.0); /* e1'R2 u, times normal */
    Y[i] = -h1_h2 * along[i] + (i == 2 ? height : 0.0);                         /* e2'R2 u, times h1_e2 */
  }
  /* X^2 h1_e2^2 + Y^2 normal^2 = (|u|^2 - along^2) (normal h1_e2)^2 */
  const double x2 = h1_e2 * h1_e2, y2 = normal * normal, u2 = x2 * y2;
  double g[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) g[i][j] = x2 * X[i] * X[j] + y2 * Y[i] * Y[j] + u2 * along[i] * along[j];
  const double polynomial[5] = {
      g[2][2] + 0.5 * (g[0][0] + g[1][1]) - u2 * length[2],
      2.0 * g[0][2] - u2 * length[0],
      2.0 * g[1][2] - u2 * length[1],
      0.5 * (g[0][0] - g[1][1]),
      g[0][1],
  };
  rk_turn t3[4];
  const int roots = rk_circle_roots(polynomial, t3);
  for (int k = 0; k < roots; k++) {
    double u[3], v[3], at[3];
    const double x = (X[0] * t3[k].c + X[1] * t3[k].s + X[2]) / normal;
    const double y = (Y[0] * t3[k].c + Y[1] * t3[k].s + Y[2]) / h1_e2;
    const double z = along[0] * t3[k].c + along[1] * t3[k].s + along[2];
    rk_turned(a->h3, t3[k], a->from, u);
    rk_add3(u, a->p23, u);
    for (int i = 0; i < 3; i++) at[i] = x * e1[i] + y * e2[i] + z * a->h2[i];
    rk_triple *o = out + k;
    *o = (rk_triple){.branch = RK_ROOT * k};
    o->t[2] = t3[k];
    if (!rk_sub1(a->h2, u, at, pose->nothing, o->t + 1)) o->t[1] = rk_any(pose, a->joint[1]);
    rk_turned(a->h2, o->t[1], u, v);
    rk_add3(v, a->p12, v);
    if (!rk_sub1(a->h1, v, a->to, pose->nothing, o->t)) o->t[0] = rk_any(pose, a->joint[0]);
  }
  return roots;
}

int rk_arm_turns(rk_pose *pose, const double to[3], rk_triple out[4]) {
  const rk_family *f = pose->f;
  double from[3];
  arm a;
  rk_subtract3(f->o[3], f->o[2], from); /* the wrist's centre */
  if (!f->mirrored) {
    for (int i = 0; i < 3; i++) {
      a.h1[i] = f->h[0][i], a.h2[i] = f->h[1][i], a.h3[i] = f->h[2][i];
      a.p12[i] = f->o[1][i] - f->o[0][i], a.p23[i] = f->o[2][i] - f->o[1][i];
      a.from[i] = from[i], a.to[i] = to[i];
      a.joint[i] = i;
    }
  } else { /* from = R3'(-p23 + R2'(-p12 + R1' to)) */
    for (int i = 0; i < 3; i++) {
      a.h1[i] = -f->h[2][i], a.h2[i] = -f->h[1][i], a.h3[i] = -f->h[0][i];
      a.p12[i] = f->o[1][i] - f->o[2][i], a.p23[i] = f->o[0][i] - f->o[1][i];
      a.from[i] = to[i], a.to[i] = from[i];
      a.joint[i] = 2 - i;
    }
  }
  int count;
  if (f->arm == RK_ARM_PARALLEL)
    count = parallel(pose, &a, out);
  else if (f->arm == RK_ARM_INTERSECTING)
    count = intersecting(pose, &a, out);
  else
    count = general(pose, &a, out);
  if (f->mirrored)
    for (int i = 0; i < count; i++) {
      const rk_turn first = out[i].t[0];
      out[i].t[0] = out[i].t[2], out[i].t[2] = first;
    }
  return count;
}
