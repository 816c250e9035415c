/* Inverse kinematics: Levenberg-Marquardt with the damping proportional to the squared error (Sugihara,
   "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE T-RO 27(5), 2011), hard limits
   in every step, attempts that do not progress given up early, seeded restarts. Twin of solvers/ik_reference.py. */
#include "cone.h"
#include "ik_search.h"
#include "rk_math.h"
#include "rk_random.h"
#include "rk_trig.h"

/* PATIENCE: iterations of an attempt after which the error must have shrunk to the fraction PROGRESS. */
enum { PATIENCE = 6 };
static const double PROGRESS = 0.5;
/* SETTLE: times the iterations of an attempt that the last descent may take; it ends when the error changes by less than
   the fraction SETTLED. */
enum { SETTLE = 10 };
/* Relative: errors of poses nearer to the least are as good, and distances from the start as near; errors of attempts, which
   are not settled yet, may come to be as good. */
static const double TIED = 1e-3, ALIKE = 0.05;
static const double AT_LIMIT = 1e-9; /* [rad] nearer than this to a limit, a ball is at it */
static const double SETTLED = 1e-10, DAMPING_LESS = 0.3, DAMPING_MORE = 4.0, DAMPING_LEAST = 1e-9, DAMPING_MOST = 1e6;

int32_t rk_sizeof_ik(void) { return (int32_t)sizeof(rk_ik); }

int32_t rk_sizeof_task(void) { return (int32_t)sizeof(rk_task); }

int32_t rk_sizeof_cone(void) { return (int32_t)sizeof(rk_cone); }

int32_t rk_sizeof_base(void) { return (int32_t)sizeof(rk_base); }

/* -- random numbers: solvers/random_numbers.py ------------------------------------------------------------------- */

static void uniform_quaternion(uint64_t *state, double q[4]) {
  const double two_pi = 6.283185307179586, u = rk_uniform(state);
  const double first = two_pi * rk_uniform(state), second = two_pi * rk_uniform(state);
  const double a = rk_sqrt(1.0 - u), b = rk_sqrt(u);
  double s1, c1, s2, c2;
  rk_sincos(first, &s1, &c1);
  rk_sincos(second, &s2, &c2);
  q[0] = b * c2, q[1] = a * s1, q[2] = a * c1, q[3] = b * s2;
}

/* The limits of the ball whose quaternion starts at i, null when it has none. */
static const rk_cone *cone_at(const rk_ik *ik, int32_t i) {
  for (int32_t k = 0; k < ik->n_cones; k++)
    if (ik->cones[k].q == i) return ik->cones + k;
  return 0;
}

static void restart_ball(const rk_cone *cone, uint64_t *state, int partial, double q[4]) {
  double numbers[3], drawn[4];
  for (int k = 0; k < 3; k++) numbers[k] = rk_uniform(state);
  rk_cone_draw(cone, numbers, drawn);
  const int between = rk_cone_contains(cone, q, AT_LIMIT);
  if (partial && between && rk_uniform(state) < 0.5) return;
  for (int k = 0; k < 4; k++) q[k] = drawn[k];
}

/* Puts s->q at a random place inside the limits. A partial restart moves away from where the last attempt ended: what is
   at a bound there, and half of the rest, so that limbs which are already right have a chance to stay. */
static void restart(const rk_search *s, uint64_t *state, int partial) {
  const rk_ik *ik = s->ik;
  const rk_model *m = ik->model;
  for (int32_t i = 0; i < m->nq; i++) {
    const double spread = ik->spread[i], lower = m->lower[i], upper = m->upper[i];
    if (spread != spread) {
      const rk_cone *cone = cone_at(ik, i);
      if (cone)
        restart_ball(cone, state, partial, s->q + i);
      else if (!partial) uniform_quaternion(state, s->q + i);
      i += 3;
    } else if (spread > 0.0) {
      const double centre = ik->centred[i] ? ik->middle[i] : s->start[i];
      const double drawn = rk_clamp(centre + spread * (2.0 * rk_uniform(state) - 1.0), lower, upper);
      const int between = s->q[i] > lower && s->q[i] < upper;
      if (!(partial && between && rk_uniform(state) < 0.5)) s->q[i] = drawn;
    } else if (!partial) {
      s->q[i] = s->start[i];
    }
  }
}

/* -- a solve ------------------------------------------------------------------------------------------------------ */

static void copy(double *to, const double *from, int64_t count) {
  for (int64_t k = 0; k < count; k++) to[k] = from[k];
}

static void keep(rk_search *s, double E) {
  s->best_error = E;
  copy(s->best_q, s->q, s->ik->model->nq);
  copy(s->best_residuals, s->residuals, 2 * (int64_t)s->ik->model->n_frames);
}

/* Descends from s->q, fast and not always downwards, and keeps its best; 1 when every residual is within its tolerance. */
static int attempt(rk_search *s) {
  double history[PATIENCE];
  s->best_error = __builtin_inf();
  for (int32_t i = 0;; i++) {
    int met;
    const double E = rk_search_measure(s, &met);
    if (met || E < s->best_error) keep(s, E);
    if (met) return 1;
    if (i == s->ik->iterations || (i >= PATIENCE && E > PROGRESS * history[i % PATIENCE])) return 0;
    history[i % PATIENCE] = E;
    rk_search_step(s, E);
    s->iterations++;
  }
}

/* Descends from the best configuration to its minimum, only downwards; 1 when every residual is within tolerance. */
static int settle(rk_search *s) {
  const int32_t nq = s->ik->model->nq;
  int met;
  copy(s->q, s->best_q, nq);
  keep(s, rk_search_measure(s, &met));
  double damping = rk_search_damping(s->best_error);
  for (int32_t i = 0; i < SETTLE * s->ik->iterations && damping < DAMPING_MOST; i++) {
    rk_search_damped_step(s, damping);
    s->iterations++;
    const double E = rk_search_measure(s, &met), gain = s->best_error - E;
    if (met || gain > 0.0) keep(s, E);
    if (met) return 1;
    if (__builtin_fabs(gain) < SETTLED * E) return 0;
    if (gain > 0.0) {
      damping *= DAMPING_LESS;
      if (damping < DAMPING_LEAST) damping = DAMPING_LEAST;
    } else {
      damping *= DAMPING_MORE;
      copy(s->q, s->best_q, nq);
      rk_search_measure(s, &met);
    }
  }
  return 0;
}

static double whole_turns(double angle) {
  const double two_pi = 6.283185307179586, round = 0x1.8p52; /* adding and subtracting it rounds to an integer */
  return two_pi * ((angle / two_pi + round) - round);
}

/* Angles of which whole turns do not matter, within half a turn of the start. */
static void unwind(const rk_search *s) {
  for (int32_t i = 0; i < s->ik->model->nq; i++)
    if (s->ik->turns[i]) s->best_q[i] -= whole_turns(s->best_q[i] - s->start[i]);
}

/* Of the best configuration from the start, squared, in the scale of the damping. */
static double distance(const rk_search *s) {
  const rk_ik *ik = s->ik;
  const rk_model *m = ik->model;
  double sum = 0.0;
  for (int32_t k = 0; k < m->nv; k++) {
    const int32_t i = ik->coordinate[k];
    if (i < 0) continue;
    double moved = s->best_q[i] - s->start[i];
    if (ik->turns[i]) moved -= whole_turns(moved);
    sum += ik->damping[k] * moved * moved;
  }
  for (int32_t node = 0; node < m->n_nodes; node++) {
    if (m->motion[node] < RK_BALL) continue;
    const int32_t i = m->iq[node] + (m->motion[node] == RK_FREE ? 3 : 0);
    double dot = 0.0;
    for (int k = 0; k < 4; k++) dot += s->best_q[i + k] * s->start[i + k];
    sum += 8.0 * (1.0 - __builtin_fabs(dot)); /* of unit quaternions: the angle squared, to third order */
  }
  return sum;
}

/* Makes the best configuration an end when its error is within `margin` of the least one, and the end's is not or it is
   notably nearer to the start: rounding has no say. */
static void offer(const rk_search *s, rk_end *end, double margin) {
  const double most = s->least_error * (1.0 + margin), away = distance(s);
  if (s->best_error > most || (end->error <= most && away >= end->distance * (1.0 - TIED))) return;
  end->error = s->best_error;
  end->distance = away;
  copy(end->q, s->best_q, s->ik->model->nq);
}

static void offer_best(rk_search *s) {
  if (s->best_error < s->least_error) s->least_error = s->best_error;
  offer(s, &s->chosen, TIED);
  offer(s, &s->rival, ALIKE);
}

/* Settles the ends of the attempts; the best configuration is then the nearest to the start of those that are as good.
   1 when every residual is within tolerance. */
static int settle_ends(rk_search *s) {
  const int32_t nq = s->ik->model->nq;
  const int has_rival = s->rival.distance < s->chosen.distance;
  copy(s->best_q, s->chosen.q, nq);
  if (settle(s)) return 1;
  if (!has_rival) return 0;
  s->chosen.error = s->least_error = s->best_error;
  s->chosen.distance = distance(s);
  copy(s->chosen.q, s->best_q, nq);
  copy(s->best_q, s->rival.q, nq);
  if (settle(s)) return 1;
  if (s->best_error < s->least_error) s->least_error = s->best_error;
  offer(s, &s->chosen, TIED);
  int met;
  copy(s->q, s->chosen.q, nq);
  keep(s, rk_search_measure(s, &met));
  return 0;
}

static rk_ik_outcome solve(rk_search *s, uint64_t seed) {
  const rk_ik *ik = s->ik;
  if (!rk_search_rigid(s)) return (rk_ik_outcome){RK_IK_BAD_TARGET, 0, 0};
  s->least_error = s->chosen.error = s->rival.error = __builtin_inf();
  s->chosen.distance = s->rival.distance = __builtin_inf();
  s->iterations = 0;
  if (!rk_search_reachable(s)) {
    if (!attempt(s)) settle(s);
    return (rk_ik_outcome){RK_IK_OUT_OF_REACH, s->iterations, 1};
  }
  for (int32_t number = 1; number <= ik->attempts; number++) {
    if (attempt(s)) return (rk_ik_outcome){RK_IK_CONVERGED, s->iterations, number};
    offer_best(s);
    restart(s, &seed, number % 2 == 0);
  }
  const int found = settle_ends(s);
  return (rk_ik_outcome){found ? RK_IK_CONVERGED : RK_IK_NOT_CONVERGED, s->iterations, ik->attempts};
}

void rk_ik_solve(const rk_ik *ik, int64_t count, const double *targets, const double *q0, uint64_t seed, double *work,
                 double *q, double *residuals, rk_ik_outcome *outcomes) {
  const rk_model *m = ik->model;
  rk_search s = rk_search_lay_out(ik, work);
  for (int64_t item = 0; item < count; item++) {
    const double *from = q0 + item * ik->robot_nq;
    double *to = q + item * ik->robot_nq;
    s.targets = targets + 16 * item * m->n_frames;
    int finite = 1;
    for (int32_t i = 0; i < ik->robot_nq; i++) {
      finite = finite && from[i] - from[i] == 0.0;
      to[i] = rk_clamp(from[i], ik->robot_lower[i], ik->robot_upper[i]);
    }
    for (int32_t i = 0; i < m->nq; i++) {
      s.start[i] = to[ik->q_index[i]];
      s.q[i] = s.best_q[i] = s.start[i];
    }
    for (int32_t k = 0; k < 2 * m->n_frames; k++) s.best_residuals[k] = 0.0;
    outcomes[item] = finite ? solve(&s, seed) : (rk_ik_outcome){RK_IK_BAD_START, 0, 0};
    unwind(&s);
    for (int32_t i = 0; i < m->nq; i++) to[ik->q_index[i]] = s.best_q[i];
    copy(residuals + 2 * item * m->n_frames, s.best_residuals, 2 * (int64_t)m->n_frames);
  }
}
