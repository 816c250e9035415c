/* Kinematics and dynamics: textbook formulas, what holds for every robot, and hostile sizes. */
#include "check.h"
#include "robots.h"

/* The planar elbow arm of every textbook (Spong, Robot Modeling and Control, section 7.4): two links along x of the
   given lengths, rotating about z; gravity along -y. */
static void test_planar_arm(void) {
  const double l1 = 0.7, l2 = 0.5, c1 = 0.3, c2 = 0.2, m1 = 2.0, m2 = 1.5, I1 = 0.05, I2 = 0.02, g = 9.81;
  rk_model m = make_model(2, 1, 2, 2);
  SET(m.placement, 12 + 9, l1);
  SET(m.frame_node, 0, 1);
  SET(m.frame_placement, 9, l2);
  const double inertia[2][3] = {{m1, m1 * c1, I1 + m1 * c1 * c1}, {m2, m2 * c2, I2 + m2 * c2 * c2}};
  for (int k = 0; k < 2; k++) {
    SET(m.inertia, 10 * k, inertia[k][0]);
    SET(m.inertia, 10 * k + 1, inertia[k][1]);
    SET(m.inertia, 10 * k + 7, inertia[k][2]);
    SET(m.inertia, 10 * k + 9, inertia[k][2]);
  }
  double *work = doubles(rk_workspace(&m)), T[16], J[12], M[4], tau[2], com[3], Jc[6];
  const double q[2] = {0.4, -1.1}, v[2] = {0.8, -0.6}, a[2] = {-0.3, 1.2}, gravity[3] = {0.0, -g, 0.0};
  const double s1 = sin(q[0]), k1 = cos(q[0]), s12 = sin(q[0] + q[1]), k12 = cos(q[0] + q[1]);
  const double s2 = sin(q[1]), k2 = cos(q[1]);

  rk_frame_placements(&m, 1, q, work, T);
  CHECK_NEAR(T[3], l1 * k1 + l2 * k12, 1e-15, "tip x");
  CHECK_NEAR(T[7], l1 * s1 + l2 * s12, 1e-15, "tip y");
  CHECK_NEAR(T[0], k12, 1e-15, "tip direction");
  CHECK(T[12] == 0.0 && T[13] == 0.0 && T[14] == 0.0 && T[15] == 1.0, "the last row");

  rk_frame_jacobian(&m, 1, q, 0, RK_LOCAL_WORLD_ALIGNED, work, J);
  const double expected[12] = {-l1 * s1 - l2 * s12, -l2 * s12, l1 * k1 + l2 * k12, l2 * k12, 0, 0, 0, 0, 0, 0, 1, 1};
  for (int k = 0; k < 12; k++) CHECK_NEAR(J[k], expected[k], 1e-15, "Jacobian");

  const double d11 = m1 * c1 * c1 + m2 * (l1 * l1 + c2 * c2 + 2 * l1 * c2 * k2) + I1 + I2;
  const double d12 = m2 * (c2 * c2 + l1 * c2 * k2) + I2, d22 = m2 * c2 * c2 + I2;
  rk_mass_matrix(&m, 1, q, work, M);
  CHECK_NEAR(M[0], d11, 1e-14, "M11");
  CHECK_NEAR(M[1], d12, 1e-14, "M12");
  CHECK_NEAR(M[2], d12, 1e-14, "M21");
  CHECK_NEAR(M[3], d22, 1e-14, "M22");

  const double h = -m2 * l1 * c2 * s2;
  const double g1 = (m1 * c1 + m2 * l1) * g * k1 + m2 * c2 * g * k12, g2 = m2 * c2 * g * k12;
  rk_inverse_dynamics(&m, 1, q, v, a, gravity, work, tau);
  CHECK_NEAR(tau[0], d11 * a[0] + d12 * a[1] + h * v[1] * v[0] + h * (v[0] + v[1]) * v[1] + g1, 1e-13, "torque 1");
  CHECK_NEAR(tau[1], d12 * a[0] + d22 * a[1] - h * v[0] * v[0] + g2, 1e-13, "torque 2");

  /* Of torque 1 alone. */
  const double z[2] = {1.0, 0.0}, dh = -m2 * l1 * c2 * k2, d12_2 = -m2 * l1 * c2 * s2;
  double change[6 * 4];
  rk_effort_derivatives(&m, 1, q, v, a, z, gravity, work, change);
  CHECK_NEAR(change[0], -(m1 * c1 + m2 * l1) * g * s1 - m2 * c2 * g * s12, 1e-13, "torque 1 by q1");
  CHECK_NEAR(change[1], 2 * d12_2 * a[0] + d12_2 * a[1] + dh * v[1] * (2 * v[0] + v[1]) - m2 * c2 * g * s12, 1e-13,
             "torque 1 by q2");
  CHECK_NEAR(change[4], 2 * h * v[1], 1e-13, "torque 1 by v1");
  CHECK_NEAR(change[5], 2 * h * (v[0] + v[1]), 1e-13, "torque 1 by v2");
  const double of_v_q[4] = {0, 2 * dh * v[1], 0, 2 * dh * (v[0] + v[1])}, of_a_q[4] = {0, 2 * d12_2, 0, d12_2},
               of_v_v[4] = {0, 2 * h, 2 * h, 2 * h};
  for (int k = 0; k < 4; k++) {
    CHECK_NEAR(change[12 + k], of_v_q[k], 1e-13, "torque 1 by v and q");
    CHECK_NEAR(change[16 + k], of_a_q[k], 1e-13, "torque 1 by a and q");
    CHECK_NEAR(change[20 + k], of_v_v[k], 1e-13, "torque 1 by v twice");
  }

  rk_center_of_mass(&m, 1, q, work, com);
  rk_center_of_mass_jacobian(&m, 1, q, work, Jc);
  CHECK_NEAR(com[0], (m1 * c1 * k1 + m2 * (l1 * k1 + c2 * k12)) / (m1 + m2), 1e-15, "centre of mass x");
  CHECK_NEAR(Jc[0], -(m1 * c1 * s1 + m2 * (l1 * s1 + c2 * s12)) / (m1 + m2), 1e-15, "its velocity by joint 1");
  CHECK_NEAR(Jc[1], -m2 * c2 * s12 / (m1 + m2), 1e-15, "its velocity by joint 2");
  free(work);
  free_model(&m);
}

/* Everything that the functions say about one robot, from q alone: rows of equal length, one behind the other. */
typedef struct results {
  double *frames, *jacobians, *com, *com_jacobian, *mass, *torque, *change, *moved, *difference;
} results;

static results evaluate(const rk_model *m, int64_t count, const double *q, const double *v) {
  const int64_t nv = m->nv;
  const double gravity[3] = {0.3, -0.2, -9.81};
  double *work = doubles(rk_workspace(m)), *nodes = doubles(count * m->n_nodes * 12);
  results r = {doubles(count * m->n_frames * 16), doubles(3 * m->n_frames * count * 6 * nv), doubles(count * 3),
               doubles(count * 3 * nv), doubles(count * nv * nv), doubles(count * nv), doubles(count * 6 * nv * nv), doubles(count * m->nq),
               doubles(count * nv)};
  rk_node_placements(m, count, q, nodes);
  rk_frame_placements(m, count, q, work, r.frames);
  for (int32_t f = 0; f < m->n_frames; f++)
    for (int32_t reference = 0; reference < 3; reference++)
      rk_frame_jacobian(m, count, q, f, reference, work, r.jacobians + (3 * f + reference) * count * 6 * nv);
  rk_center_of_mass(m, count, q, work, r.com);
  rk_center_of_mass_jacobian(m, count, q, work, r.com_jacobian);
  rk_mass_matrix(m, count, q, work, r.mass);
  rk_inverse_dynamics(m, count, q, v, v, gravity, work, r.torque);
  rk_effort_derivatives(m, count, q, v, v, v, gravity, work, r.change);
  rk_integrate(m, count, q, v, r.moved);
  rk_difference(m, count, q, r.moved, r.difference);
  free(work);
  free(nodes);
  return r;
}

static void release(results *r) {
  double *owned[] = {r->frames, r->jacobians, r->com, r->com_jacobian, r->mass, r->torque, r->change, r->moved, r->difference};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
}

static int same_bits(const double *a, const double *b, int64_t count) {
  return count == 0 || memcmp(a, b, (size_t)count * sizeof(double)) == 0;
}

static void test_batch_equals_one_by_one(void) {
  int32_t quaternions[10];
  int n;
  uint64_t random = 5;
  rk_model m = make_every_motion(3, quaternions, &n);
  enum { COUNT = 7 };
  double *q = doubles(COUNT * m.nq), *v = doubles(COUNT * m.nv);
  for (int b = 0; b < COUNT; b++) random_configuration(&m, quaternions, n, &random, q + b * m.nq);
  for (int k = 0; k < COUNT * m.nv; k++) v[k] = uniform(&random, -1.0, 1.0);
  results batch = evaluate(&m, COUNT, q, v);
  for (int b = 0; b < COUNT; b++) {
    results one = evaluate(&m, 1, q + b * m.nq, v + b * m.nv);
    CHECK(same_bits(one.frames, batch.frames + b * m.n_frames * 16, m.n_frames * 16), "frames of item %d", b);
    for (int k = 0; k < 3 * m.n_frames; k++)
      CHECK(same_bits(one.jacobians + k * 6 * m.nv, batch.jacobians + (k * COUNT + b) * 6 * m.nv, 6 * m.nv),
            "Jacobian %d of item %d", k, b);
    CHECK(same_bits(one.com, batch.com + 3 * b, 3), "centre of mass of item %d", b);
    CHECK(same_bits(one.com_jacobian, batch.com_jacobian + b * 3 * m.nv, 3 * m.nv), "its Jacobian of item %d", b);
    CHECK(same_bits(one.mass, batch.mass + b * m.nv * m.nv, m.nv * m.nv), "mass matrix of item %d", b);
    CHECK(same_bits(one.torque, batch.torque + b * m.nv, m.nv), "torque of item %d", b);
    CHECK(same_bits(one.change, batch.change + b * 6 * m.nv * m.nv, 6 * m.nv * m.nv), "change of torque of item %d", b);
    CHECK(same_bits(one.moved, batch.moved + b * m.nq, m.nq), "integration of item %d", b);
    release(&one);
  }
  release(&batch);
  results none = evaluate(&m, 0, q, v);
  release(&none);
  free(q);
  free(v);
  free_model(&m);
}

/* Without gravity and at rest, RNEA applied to unit accelerations gives the columns of M; M is symmetric; kinetic
   energy of a random velocity is positive. */
static void test_mass_matrix_and_torque_agree(void) {
  int32_t quaternions[10];
  int n;
  uint64_t random = 6;
  rk_model m = make_every_motion(4, quaternions, &n);
  const double nothing[3] = {0.0, 0.0, 0.0};
  double *q = doubles(m.nq), *rest = doubles(m.nv), *unit = doubles(m.nv), *tau = doubles(m.nv);
  double *M = doubles(m.nv * m.nv), *work = doubles(rk_workspace(&m));
  for (int trial = 0; trial < 20; trial++) {
    random_configuration(&m, quaternions, n, &random, q);
    rk_mass_matrix(&m, 1, q, work, M);
    double energy = 0.0;
    for (int c = 0; c < m.nv; c++) {
      for (int k = 0; k < m.nv; k++) rest[k] = 0.0, unit[k] = k == c;
      rk_inverse_dynamics(&m, 1, q, rest, unit, nothing, work, tau);
      for (int r = 0; r < m.nv; r++) {
        CHECK_NEAR(M[r * m.nv + c], tau[r], 1e-12, "an entry of M");
        CHECK_NEAR(M[r * m.nv + c], M[c * m.nv + r], 1e-12, "M transposed");
        energy += M[r * m.nv + c] * (r + 1) * (c + 1);
      }
    }
    CHECK(energy > 0.0, "kinetic energy %g", energy);
  }
  free(q), free(rest), free(unit), free(tau), free(M), free(work);
  free_model(&m);
}

/* Each Jacobian column is the central difference of the frame's position along the manifold. */
static void test_jacobian_is_the_derivative(void) {
  int32_t quaternions[10];
  int n;
  uint64_t random = 7;
  rk_model m = make_every_motion(5, quaternions, &n);
  const double h = 1e-6;
  double *q = doubles(m.nq), *v = doubles(m.nv), *moved = doubles(m.nq), *work = doubles(rk_workspace(&m));
  double *J = doubles(6 * m.nv), *plus = doubles(m.n_frames * 16), *minus = doubles(m.n_frames * 16);
  random_configuration(&m, quaternions, n, &random, q);
  for (int32_t f = 0; f < m.n_frames; f++) {
    rk_frame_jacobian(&m, 1, q, f, RK_LOCAL_WORLD_ALIGNED, work, J);
    for (int c = 0; c < m.nv; c++) {
      for (int sign = -1; sign <= 1; sign += 2) {
        for (int k = 0; k < m.nv; k++) v[k] = k == c ? sign * h : 0.0;
        rk_integrate(&m, 1, q, v, moved);
        rk_frame_placements(&m, 1, moved, work, sign > 0 ? plus : minus);
      }
      for (int r = 0; r < 3; r++) {
        const int at = 16 * f + 4 * r + 3;
        CHECK_NEAR(J[r * m.nv + c], (plus[at] - minus[at]) / (2 * h), 1e-8, "a linear entry of a Jacobian");
      }
    }
  }
  free(q), free(v), free(moved), free(work), free(J), free(plus), free(minus);
  free_model(&m);
}

/* No node at all: frames stand where they are placed; with a mass, the centre of mass is that of the root. */
static void test_nothing_moves(void) {
  for (int32_t n_frames = 0; n_frames < 3; n_frames++) {
    rk_model m = make_model(0, n_frames, 0, 0);
    for (int32_t f = 0; f < n_frames; f++) {
      SET(m.frame_node, f, -1);
      SET(m.frame_placement, 12 * f + 10, 0.25);
    }
    results massless = evaluate(&m, 2, NULL, NULL);
    CHECK(isnan(massless.com[0]) && isnan(massless.com[5]), "a massless robot has no centre of mass");
    for (int32_t f = 0; f < 2 * n_frames; f++) CHECK(massless.frames[16 * f + 7] == 0.25, "frame %d", f);
    release(&massless);
    SET(m.root_inertia, 0, 2.0);
    SET(m.root_inertia, 3, 1.0);
    results heavy = evaluate(&m, 1, NULL, NULL);
    CHECK(heavy.com[0] == 0.0 && heavy.com[2] == 0.5, "centre of mass of the root");
    release(&heavy);
    free_model(&m);
  }
}

/* A rope of 20,000 nodes needs no more stack than a robot of one. */
static void test_long_chain(void) {
  enum { N = 20000 };
  rk_model m = make_model(N, 1, N, N);
  for (int k = 0; k < N; k++) SET(m.placement, 12 * k + 9, 0.001);
  SET(m.frame_node, 0, N - 1);
  double *q = doubles(N), *work = doubles(rk_workspace(&m)), *J = doubles(6 * N), T[16];
  for (int k = 0; k < N; k++) q[k] = 0.0;
  rk_frame_placements(&m, 1, q, work, T);
  CHECK_NEAR(T[3], 20.0, 1e-9, "its end");
  rk_frame_jacobian(&m, 1, q, 0, RK_LOCAL_WORLD_ALIGNED, work, J);
  CHECK_NEAR(J[N], 19.999, 1e-9, "its end's velocity by the first joint");
  free(q), free(work), free(J);
  free_model(&m);
}

/* Numbers that are not: nothing is written outside, and the results say NaN. */
static void test_not_numbers(void) {
  int32_t quaternions[10];
  int n;
  rk_model m = make_every_motion(8, quaternions, &n);
  const double bad[3] = {NAN, INFINITY, 0.0};
  double *q = doubles(m.nq), *v = doubles(m.nv);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < m.nq; i++) q[i] = bad[k];
    for (int i = 0; i < m.nv; i++) v[i] = bad[k];
    results r = evaluate(&m, 1, q, v);
    if (k < 2) CHECK(isnan(r.com[0]) && isnan(r.torque[0]), "centre of mass %g, torque %g", r.com[0], r.torque[0]);
    release(&r);
  }
  free(q), free(v);
  free_model(&m);
}

int main(void) {
  CHECK(rk_abi() == RK_ABI && rk_sizeof_model() == (int32_t)sizeof(rk_model), "what the loader asks");
  test_planar_arm();
  test_batch_equals_one_by_one();
  test_mass_matrix_and_torque_agree();
  test_jacobian_is_the_derivative();
  test_nothing_moves();
  test_long_chain();
  test_not_numbers();
  return report("tree");
}
