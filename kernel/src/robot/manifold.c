/* q (+) v and its inverse, node by node. Angles and lengths add; quaternions follow the exponential map of SO(3),
   floating bodies that of SE(3), both with v in the child frame (Sola, Deray, Atchuthan, A micro Lie theory,
   arXiv 1812.01537, examples 4 and 5). Mimic nodes repeat what the joint they follow does. */
#include "robot/rk_manifold.h"
#include "robot/rk_tree.h"

/* sin(x) / x */
static double sinc(double x, double sine) { return x == 0.0 ? 1.0 : sine / x; }

/* (t - sin t) / t^3 */
static double turning_slide(double t, double sine) {
  const double z = t * t;
  if (z > 0.25) return (t - sine) / (z * t);
  return 1.0 / 6 + z * (-1.0 / 120 + z * (1.0 / 5040 + z * (-1.0 / 362880 + z * (1.0 / 39916800 +
         z * (-1.0 / 6227020800 + z * (1.0 / 1307674368000))))));
}

/* (1 - h cot h) / t^2 with h = t / 2: the factor of [w]^2 in the inverse of SO(3)'s left Jacobian; |t| <= pi. */
static double inverse_slide(double t) {
  const double z = t * t;
  if (z > 0.25) {
    double s, c;
    rk_sincos(0.5 * t, &s, &c);
    return (1.0 - 0.5 * t * c / s) / z;
  }
  return 1.0 / 12 + z * (1.0 / 720 + z * (1.0 / 30240 + z * (1.0 / 1209600 + z * (1.0 / 47900160 +
         z * (691.0 / 1307674368000 + z * (1.0 / 74724249600))))));
}

/* y = x + a w x x + b w x (w x x) */
static void turn(const double w[3], double a, double b, const double x[3], double y[3]) {
  double once[3], twice[3];
  rk_cross(w, x, once);
  rk_cross(w, once, twice);
  for (int k = 0; k < 3; k++) y[k] = x[k] + a * once[k] + b * twice[k];
}

void rk_integrate_ball(const double q[4], const double w[3], double out[4]) {
  const double half = 0.5 * rk_norm3(w);
  double s, c;
  rk_sincos(half, &s, &c);
  const double factor = 0.5 * sinc(half, s);
  const double step[4] = {c, factor * w[0], factor * w[1], factor * w[2]};
  rk_quaternion_multiply(q, step, out);
  const double norm = rk_sqrt(out[0] * out[0] + rk_dot3(out + 1, out + 1));
  for (int k = 0; k < 4; k++) out[k] /= norm;
}

static void integrate_free(const double *q, const double *v, double *out) {
  const double *w = v + 3, angle = rk_norm3(w);
  double s, c, half_s, slide[3], R[9], moved[3];
  rk_sincos(angle, &s, &c);
  rk_sincos(0.5 * angle, &half_s, &c);
  const double half_sinc = sinc(0.5 * angle, half_s);
  turn(w, 0.5 * half_sinc * half_sinc, turning_slide(angle, s), v, slide);
  rk_quaternion_matrix(q + 3, R);
  rk_rotate(R, slide, moved);
  for (int k = 0; k < 3; k++) out[k] = q[k] + moved[k];
  rk_integrate_ball(q + 3, w, out + 3);
}

void rk_difference_ball(const double *q0, const double *q1, double *w) {
  const double back[4] = {q0[0], -q0[1], -q0[2], -q0[3]};
  double step[4];
  rk_quaternion_multiply(back, q1, step);
  const double sign = step[0] < 0.0 ? -1.0 : 1.0;
  const double length = rk_norm3(step + 1);
  const double factor = length == 0.0 ? 2.0 : 2.0 * rk_atan2(length, sign * step[0]) / length;
  for (int k = 0; k < 3; k++) w[k] = sign * factor * step[1 + k];
}

static void difference_free(const double *q0, const double *q1, double *v) {
  double R[9], slide[3];
  const double moved[3] = {q1[0] - q0[0], q1[1] - q0[1], q1[2] - q0[2]};
  rk_difference_ball(q0 + 3, q1 + 3, v + 3);
  rk_quaternion_matrix(q0 + 3, R);
  rk_rotate_back(R, moved, slide);
  turn(v + 3, -0.5, inverse_slide(rk_norm3(v + 3)), slide, v);
}

void rk_integrate(const rk_model *model, int64_t count, const double *q, const double *v, double *out) {
  for (; count > 0; count--, q += model->nq, v += model->nv, out += model->nq) {
    for (int32_t node = 0; node < model->n_nodes; node++) {
      const int32_t iq = model->iq[node], iv = model->iv[node];
      switch (model->motion[node]) {
        case RK_BALL: rk_integrate_ball(q + iq, v + iv, out + iq); break;
        case RK_FREE: integrate_free(q + iq, v + iv, out + iq); break;
        default: out[iq] = q[iq] + v[iv];
      }
    }
  }
}

void rk_difference(const rk_model *model, int64_t count, const double *q0, const double *q1, double *out) {
  for (; count > 0; count--, q0 += model->nq, q1 += model->nq, out += model->nv) {
    for (int32_t node = 0; node < model->n_nodes; node++) {
      const int32_t iq = model->iq[node], iv = model->iv[node];
      switch (model->motion[node]) {
        case RK_BALL: rk_difference_ball(q0 + iq, q1 + iq, out + iv); break;
        case RK_FREE: difference_free(q0 + iq, q1 + iq, out + iv); break;
        default: out[iv] = q1[iq] - q0[iq];
      }
    }
  }
}
