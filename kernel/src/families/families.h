/* What the solvers of the families work on: one pose, and the candidates found for it. In solving order throughout. */
#ifndef RK_FAMILIES_H
#define RK_FAMILIES_H

#include "families/subproblems.h"
#include "robokin_families.h"

/* Two turns of a wrist whose outer axes lie on each other: what is added to the first is taken from the last, times
   `sign`. */
typedef struct rk_coupling {
  int32_t first, last;
  double sign;
} rk_coupling;

typedef struct rk_candidate {
  rk_turn turn[RK_CHAIN];
  double slide[RK_CHAIN];
  int32_t branch, couplings;
  rk_coupling coupling[2];
} rk_candidate;

typedef struct rk_pose {
  const rk_family *f;
  double R[9], p[3];         /* T_target T_home^-1: the product of the exponentials of the joints */
  double tip[3], target[3];  /* the tip at zero, and where it goes, in chain order */
  rk_turn wanted[RK_CHAIN];  /* of q0, for turns that may be any */
  double q0[RK_CHAIN];       /* in chain order */
  double nothing;            /* [m] shorter lengths are 0 */
  int32_t count, notes;       /* notes: bits that describe the set */
  int32_t is_free;           /* `wanted` was used */
  int32_t is_lenient;        /* the tolerance is enough */
  int32_t is_nearly_met;     /* for a candidate it was what is met */
  rk_candidate list[RK_POSTURES];
} rk_pose;

/* Fewer than a pose has numbers: only some poses can be met, and rounded ones by the tolerance alone. */
static inline int rk_has_few_joints(const rk_family *f) { return f->joints < (f->oriented ? 6 : 3); }

/* The number in chain order of joint i of the solving order. */
static inline int32_t rk_in_chain(const rk_family *f, int32_t i) { return f->reversed ? f->joints - 1 - i : i; }

/* The image of a point. */
static inline void rk_image(const rk_pose *pose, const double x[3], double out[3]) {
  rk_rotate(pose->R, x, out);
  for (int i = 0; i < 3; i++) out[i] += pose->p[i];
}

/* Room for one more candidate; null when there is none. */
static inline rk_candidate *rk_more(rk_pose *pose) {
  if (pose->count == RK_POSTURES) return 0;
  rk_candidate *found = pose->list + pose->count++;
  found->couplings = 0;
  return found;
}

/* The turn of joint i that q0 has, for one that may be any. */
static inline rk_turn rk_any(rk_pose *pose, int32_t i) {
  pose->is_free = 1;
  return pose->wanted[i];
}

/* Solutions for three turns t[first .. first + 2]. */
typedef struct rk_triple {
  rk_turn t[3];
  int32_t branch, coupled;
  double sign; /* of the coupling of t[0] and t[2], where coupled */
} rk_triple;

/* Turns about h[0], h[1], h[2] whose product is R: two of them, or one. side: at right angles to h[2]. wanted: of the
   first turn, where it may be any. */
int rk_three_turns(const double h0[3], const double h1[3], const double h2[3], const double side[3], const double R[9],
                   rk_turn wanted, rk_triple out[2]);

/* t: with R = R(k, t) for a rotation about k; side: at right angles to k. */
rk_turn rk_turn_of(const double k[3], const double side[3], const double R[9]);

/* Joints 1 to 3 that bring the wrist from `from` to `to`: at most four, branch bits and RK_ROOT set. */
int rk_arm_turns(rk_pose *pose, const double to[3], rk_triple out[4]);

/* Turns about parallel axes k, k2 = +-k with R(k, t0)(fixed + R(k2, t1) x) = v, across k; bit of the second: RK_ELBOW.
   first, second: numbers of their joints. */
int rk_two_parallel(rk_pose *pose, int32_t first, int32_t second, const double k[3], const double k2[3], const double fixed[3],
                    const double x[3], const double v[3], rk_turn t0[2], rk_turn t1[2]);

/* out = R(k, t) */
static inline void rk_turn_matrix(const double k[3], rk_turn t, double out[9]) {
  const double v = 1.0 - t.c, x = k[0], y = k[1], z = k[2];
  out[0] = t.c + v * x * x, out[1] = v * x * y - t.s * z, out[2] = v * x * z + t.s * y;
  out[3] = v * x * y + t.s * z, out[4] = t.c + v * y * y, out[5] = v * y * z - t.s * x;
  out[6] = v * x * z - t.s * y, out[7] = v * y * z + t.s * x, out[8] = t.c + v * z * z;
}

/* out = R(k, t)' A; out is not A. */
static inline void rk_turn_back(const double k[3], rk_turn t, const double A[9], double out[9]) {
  double T[9];
  rk_turn_matrix(k, rk_back(t), T);
  rk_multiply(T, A, out);
}

void rk_spherical_wrist(rk_pose *pose);
void rk_three_parallel(rk_pose *pose);
void rk_spherical_both(rk_pose *pose);
void rk_planar(rk_pose *pose);
void rk_gantry(rk_pose *pose);

enum rk_outcome { RK_INSIDE, RK_OUTSIDE, RK_ASTRAY };

/* x[joints], in chain order, of a candidate led to the pose; Rt: the target's rotation. RK_ASTRAY: it is none. */
enum rk_outcome rk_settle(rk_pose *pose, const rk_candidate *c, const double Rt[9], double *x);

/* Whether angle and its whole turns have one inside the limits of joint i of the chain order: then the one nearest to
   q0 is in *angle. */
int rk_fit_angle(const rk_pose *pose, int32_t i, double *angle);

#endif
