/* Descents to a minimum, only downwards. Twin of `settle` in solvers/descent/descent.py. */
#include "ik/ik_search.h"
#include "math/rk_math.h"

static const double DAMPING_LESS = 0.3, DAMPING_MORE = 4.0, DAMPING_LEAST = 1e-9, DAMPING_MOST = 1e6;
enum { RESTORING = 2 }; /* steps that bring levels above back to what they are to keep */
static const double WELL_MET = 1e-18; /* error of levels that no step need lessen: 1e-9 radians or L */

/* Back to the best configuration, which is measured. */
static void return_to_best(rk_search *s) {
  int met;
  if (s->is_kept) return;
  rk_copy(s->q, s->best_q, s->ik->model->nq);
  rk_search_keep(s, rk_search_measure(s, &met));
}

static int all_met(const rk_search *s) { return rk_are_all(s->level_met, s->on); }

/* The levels above the last one that counts, which are met, as well as they can be: how a tolerance is used up says nothing. */
static void make_exact(rk_search *s) {
  const int32_t last = --s->on;
  int met = last > 0 && all_met(s);
  for (int pass = 0; pass < RESTORING && met && rk_search_remaining(s) > WELL_MET; pass++) {
    rk_search_damped_step(s, -1.0);
    const double E = rk_search_measure(s, &met);
    if (met) rk_search_keep(s, E);
  }
  s->on = last + 1;
  return_to_best(s);
}

int rk_search_settle(rk_search *s, int32_t steps, double settled) {
  const int32_t last = s->on - 1;
  return_to_best(s);
  if (all_met(s)) return 1;
  make_exact(s);
  rk_search_hold(s, last);
  double damping = rk_search_damping(s->level_error[last]), refused = -__builtin_inf();
  for (int32_t i = 0; i < steps && damping < DAMPING_MOST && !s->level_met[last]; i++) {
    const double error = s->level_error[last];
    int met;
    rk_search_damped_step(s, damping);
    double E = rk_search_measure(s, &met);
    for (int pass = 0; pass < RESTORING && last > 0 && s->level_error[last] < error && !rk_search_holds(s); pass++) {
      s->on = last; /* the path along what levels above keep is bent */
      rk_search_damped_step(s, -1.0);
      s->on = last + 1;
      E = rk_search_measure(s, &met);
    }
    const double gain = rk_search_holds(s) ? s->best_level_error[last] - s->level_error[last] : -__builtin_inf();
    if (met || gain > 0.0) rk_search_keep(s, E);
    if (met) break;
    if (__builtin_fabs(gain) < settled * s->level_error[last]) break;
    if (gain > 0.0) {
      damping *= DAMPING_LESS;
      if (damping < DAMPING_LEAST) damping = DAMPING_LEAST;
      refused = -__builtin_inf();
    } else {
      /* A shorter step that is worse: what levels above take back is more than any step gains. */
      if (last > 0 && gain < refused) break;
      refused = gain;
      damping *= DAMPING_MORE;
      return_to_best(s);
    }
  }
  return_to_best(s);
  rk_search_hold(s, 0);
  return all_met(s);
}
