/* Inverse kinematics: Levenberg-Marquardt with the damping proportional to the squared error (Sugihara,
   "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE T-RO 27(5), 2011), hard limits
   in every step, attempts that do not progress given up early, seeded restarts. Twin of solvers/ik/reference.py. */
#include "limits/cone.h"
#include "ik/ik_search.h"
#include "step/stack.h"
#include "math/rk_math.h"
#include "math/rk_random.h"
#include "math/rk_trig.h"

/* Iterations of an attempt after which the error must have shrunk to the fraction PROGRESS; levels take longer, the more
   so as those above wait for none below. */
enum { PATIENCE = 6, PATIENCE_OF_LEVELS = 15 };
static const double PROGRESS = 0.5;
static const double STILL = 2e-2; /* relative: two steps that change the error by less have come to a minimum */
/* SETTLE: times the iterations of an attempt that the last descent may take; it ends when the error changes by less than
   the fraction SETTLED. */
enum { SETTLE = 10 };
static const double SETTLED = 1e-10, SETTLED_LEVEL = 1e-7;
/* Attempts at levels: the first steps of some go for all levels as one, those above then settle where those below can be
   met; ends of so many that are alike are the answer, or so many that are no better where levels above are met. */
enum { TOGETHER = 5, ENOUGH = 10, IDLE = 8 };
/* Relative: errors of poses nearer to the least are as good, and distances from the start as near; errors of attempts, which
   are not settled yet, may come to be as good. */
static const double TIED = 1e-3, ALIKE = 0.05;
static const double APART = 1e-4;    /* [rad, m] coordinates nearer to each other than this are equal */
static const double AT_LIMIT = 1e-9; /* [rad, m] nearer than this to a limit, a coordinate is at it: rounding has no say */

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
    const int is_used = !ik->stack || ik->stack->used_from[i] <= s->on;
    const double half_range = is_used ? ik->half_range[i] : 0.0, lower = m->lower[i], upper = m->upper[i];
    if (half_range != half_range) {
      const rk_cone *cone = cone_at(ik, i);
      if (cone)
        restart_ball(cone, state, partial, s->q + i);
      else if (!partial) uniform_quaternion(state, s->q + i);
      i += 3;
    } else if (half_range > 0.0) {
      const double centre = ik->about_middle[i] ? ik->middle[i] : s->start[i];
      const double drawn = rk_clamp(centre + half_range * (2.0 * rk_uniform(state) - 1.0), lower, upper);
      const int between = s->q[i] > lower + AT_LIMIT && s->q[i] < upper - AT_LIMIT;
      if (!(partial && between && rk_uniform(state) < 0.5)) s->q[i] = drawn;
    } else if (!partial) {
      s->q[i] = s->start[i];
    }
  }
}

/* -- a solve ------------------------------------------------------------------------------------------------------ */

/* Whether the last two steps have hardly changed the error. */
static int is_still(const double *history, int32_t i, int patience, double E) {
  if (i < 2) return 0;
  const double one = history[(i - 1) % patience], two = history[(i - 2) % patience];
  const double most = E > one ? E : one;
  return __builtin_fabs(E - one) <= STILL * most && __builtin_fabs(E - two) <= STILL * (most > two ? most : two);
}

/* Descends from s->q, fast and not always downwards, and keeps its best; 1 when every residual that counts is within its
   tolerance. together: so many first steps weigh all levels against each other. */
static int attempt(rk_search *s, int32_t together) {
  const int patience = s->ik->stack ? PATIENCE_OF_LEVELS : PATIENCE;
  double history[PATIENCE_OF_LEVELS];
  s->best_error = __builtin_inf();
  for (int32_t i = 0;; i++) {
    int met;
    const double E = rk_search_measure(s, &met);
    if (rk_search_is_better(s, E, met)) rk_search_keep(s, E);
    if (met) return 1;
    if (i == s->ik->iterations || (i >= patience && E > PROGRESS * history[i % patience])) return 0;
    if (s->ik->stack && is_still(history, i, patience, E)) return 0;
    history[i % patience] = E;
    s->as_one = i < together;
    rk_search_step(s, E);
    s->as_one = 0;
  }
}

/* Steps that are left to a search; those of one level without a stack are fast. */
static double steps_left(const rk_search *s) {
  return s->ik->stack && s->ik->stack->steps ? *s->ik->stack->steps / s->ik->stack->costs[s->on - 1] : __builtin_inf();
}

static int settle(rk_search *s) {
  const int32_t fewest = s->ik->iterations, most = SETTLE * fewest;
  const int32_t steps = (int32_t)rk_clamp(steps_left(s), fewest, most);
  return rk_search_settle(s, steps, s->ik->stack ? SETTLED_LEVEL : SETTLED);
}

static double whole_turns(double angle) {
  const double two_pi = 6.283185307179586, round = 0x1.8p52; /* adding and subtracting it rounds to an integer */
  return two_pi * ((angle / two_pi + round) - round);
}

/* Angles of which whole turns do not matter, within half a turn of the start. */
static void unwind(const rk_search *s) {
  for (int32_t i = 0; i < s->ik->model->nq; i++)
    if (s->ik->periodic[i]) s->best_q[i] -= whole_turns(s->best_q[i] - s->start[i]);
}

/* Distance of the best configuration from the start, squared, in the scale of the damping. */
static double distance(const rk_search *s) {
  const rk_ik *ik = s->ik;
  const rk_model *m = ik->model;
  double sum = 0.0;
  for (int32_t k = 0; k < m->nv; k++) {
    const int32_t i = ik->coordinate[k];
    if (i < 0) continue;
    double moved = s->best_q[i] - s->start[i];
    if (ik->periodic[i]) moved -= whole_turns(moved);
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

/* Whether the best configuration is notably nearer to the start than an end; of two as near it is the one whose first
   coordinates are larger, so that rounding has no say. */
static int is_nearer(const rk_search *s, const rk_end *end, double away) {
  if (away < end->distance * (1.0 - TIED)) return 1;
  if (away > end->distance * (1.0 + TIED)) return 0;
  for (int32_t i = 0; i < s->ik->model->nq; i++)
    if (__builtin_fabs(s->best_q[i] - end->q[i]) > APART) return s->best_q[i] > end->q[i];
  return 0;
}

/* Makes the best configuration an end when its error is within `margin` of the least one, and the end's is not or it is
   nearer to the start. */
static void offer(const rk_search *s, rk_end *end, double margin) {
  const double most = s->least_error * (1.0 + margin), away = distance(s), error = s->best_level_error[s->on - 1];
  if (error > most || (end->error <= most && !is_nearer(s, end, away))) return;
  end->error = error;
  end->distance = away;
  rk_copy(end->q, s->best_q, s->ik->model->nq);
}

/* Offers the best configuration as an end; of levels, only where those above the last one are met. Returns 1 when it is
   as good as the least so far, -1 when it is notably better, else 0. */
static int offer_best(rk_search *s) {
  const double error = s->best_level_error[s->on - 1], least = s->least_error;
  if (!rk_are_all(s->best_level_met, s->on - 1)) return 0;
  if (error < s->least_error) s->least_error = error;
  offer(s, &s->chosen, TIED);
  offer(s, &s->candidate, ALIKE);
  return error * (1.0 + ALIKE) < least ? -1 : error <= least * (1.0 + ALIKE);
}

/* Settles the ends of the attempts; the best configuration is then the nearest to the start of those that are as good.
   1 when every residual is within tolerance. */
static int settle_ends(rk_search *s) {
  const int32_t nq = s->ik->model->nq;
  const int has_candidate = s->candidate.distance <= s->chosen.distance * (1.0 + TIED) && !rk_is_equal(s->candidate.q, s->chosen.q, nq);
  rk_copy(s->best_q, s->chosen.q, nq);
  s->is_kept = 0;
  if (settle(s)) return 1;
  if (!has_candidate) return 0;
  s->chosen.error = s->least_error = s->best_level_error[s->on - 1];
  s->chosen.distance = distance(s);
  rk_copy(s->chosen.q, s->best_q, nq);
  rk_copy(s->best_q, s->candidate.q, nq);
  s->is_kept = 0;
  if (settle(s)) return 1;
  if (s->best_level_error[s->on - 1] < s->least_error) s->least_error = s->best_level_error[s->on - 1];
  offer(s, &s->chosen, TIED);
  int met;
  rk_copy(s->q, s->chosen.q, nq);
  rk_search_keep(s, rk_search_measure(s, &met));
  return 0;
}

/* Attempts from s->q, of levels also from beside the start and from the posture that is prescribed, and from restarts,
   drawn anew for each level, while steps are left; their number is added to `attempts`. 1 when all levels that count are
   met; else the ends of the attempts are settled, but in a trial. is_beyond: they are the answer, all of them are
   settled. */
static int search(rk_search *s, uint64_t seed, int is_beyond, int32_t *attempts) {
  const rk_stack *stack = s->ik->stack;
  const int has_posture = stack && stack->postures && s->on >= stack->posture_from;
  s->least_error = s->chosen.error = s->candidate.error = __builtin_inf();
  s->chosen.distance = s->candidate.distance = __builtin_inf();
  const int32_t enough = s->on > 1 ? IDLE : ENOUGH;
  for (int32_t number = 1, alike = 0; number <= s->ik->attempts && alike < enough; number++) {
    if (number > 1 && steps_left(s) <= 0.0) break;
    ++*attempts;
    if (attempt(s, s->on > 1 && number % 4 > 1 ? TOGETHER : 0) || (is_beyond && settle(s))) return 1;
    const int same = offer_best(s);
    if (stack || is_beyond) alike = same < 0 ? 1 : alike + (same || s->on > 1);
    if (number == 1 && stack)
      rk_search_nudge(s, s->start);
    else if (number == 2 && has_posture)
      rk_copy(s->q, stack->postures + (int64_t)(s->on - 1) * s->ik->model->nq, s->ik->model->nq);
    else
      restart(s, &seed, number % 2 == 0);
  }
  return !s->ik->is_trial && settle_ends(s);
}

static rk_ik_outcome solve(rk_search *s, uint64_t seed) {
  const rk_ik *ik = s->ik;
  rk_ik_outcome outcome = {RK_IK_CONVERGED, 0, 0};
  if (!rk_search_rigid(s)) return (rk_ik_outcome){RK_IK_BAD_TARGET, 0, 0};
  s->iterations = 0;
  const int32_t reachable = ik->stack ? ik->stack->reachable : rk_search_reachable(s);
  /* Level by level, so that what a level gets is what it would get without those below: where one cannot be met, those below
     are brought as near as the ones above allow. */
  for (s->on = 1; s->on <= s->levels; s->on++) {
    if (outcome.code != RK_IK_CONVERGED) {
      if (!ik->is_trial) settle(s);
      continue;
    }
    if (s->on > reachable) outcome.code = RK_IK_OUT_OF_REACH;
    const int is_beyond = outcome.code == RK_IK_OUT_OF_REACH;
    if (is_beyond && ik->is_trial) break;
    if (s->on > 1) rk_copy(s->q, s->best_q, ik->model->nq);
    if (!search(s, seed, is_beyond, &outcome.attempts) && !is_beyond) outcome.code = RK_IK_NOT_CONVERGED;
  }
  s->on = s->levels;
  outcome.iterations = s->iterations;
  return outcome;
}

void rk_ik_solve(const rk_ik *ik, int64_t count, const double *targets, const double *q0, uint64_t seed, double *work,
                 double *q, double *residuals, rk_ik_outcome *outcomes) {
  const rk_model *m = ik->model;
  rk_search s = rk_search_lay_out(ik, work);
  for (int64_t item = 0; item < count; item++) {
    const double *from = q0 + item * ik->robot_nq;
    double *to = q + item * ik->robot_nq;
    s.targets = targets + 16 * item * m->n_frames;
    for (int32_t i = 0; i < ik->robot_nq; i++) to[i] = rk_clamp(from[i], ik->robot_lower[i], ik->robot_upper[i]);
    for (int32_t i = 0; i < m->nq; i++) {
      s.start[i] = to[ik->q_index[i]];
      s.q[i] = s.best_q[i] = s.start[i];
    }
    for (int32_t k = 0; k < 2 * s.tasks; k++) s.best_residuals[k] = 0.0;
    outcomes[item] = rk_fit(ik->robot_nq, from) ? solve(&s, seed) : (rk_ik_outcome){RK_IK_BAD_START, 0, 0};
    unwind(&s);
    for (int32_t i = 0; i < m->nq; i++) to[ik->q_index[i]] = s.best_q[i];
    rk_copy(residuals + 2 * item * s.tasks, s.best_residuals, 2 * (int64_t)s.tasks);
  }
}
