/* What lies around a stationary pose. Twin of `_better_around` in solvers/optimum/sqp.py, which explains it. */
#include "optimum/optimum_search.h"
#include "math/rk_math.h"
#include "math/rk_random.h"

static const double PROBE = 0.05, SMALLER = 0.1, SADDLE = 1e-6, CLEAR = 0.1, TOUCHED = 1e-9, HARDLY = 1e-6;
static const double LESS = 1e-11, UNSEEN = 100.0;
enum { PROBES = 16, CORNERS = 4 };

typedef struct around {
  rk_optimum_search *s;
  uint64_t *random;
  double least; /* cost of the best pose so far */
  int found;    /* it is the last of the spare ones */
} around;

static double drawn(uint64_t *random) { return 2.0 * rk_uniform(random) - 1.0; }

/* A motion of so much along s->dq. */
static void probe(around *a, double size) {
  rk_optimum_search *s = a->s;
  const int32_t n = s->poses.n;
  rk_pose *pose = s->spare + 2, *best = s->spare + 3;
  const double length = rk_sqrt(rk_dot(n, s->dq, s->dq));
  double unused;
  if (length == 0.0) return;
  for (int32_t k = 0; k < n; k++) s->x[k] = size / length * s->dq[k];
  const double *targets = s->poses.optimum->stack->data->targets;
  rk_keep_to(&s->poses, s->poses.whole);
  rk_moved(&s->poses, s->look->pose.q, s->x, pose->q);
  const int found = rk_retract(&s->poses, &s->look->pose, pose, s->spare);
  const double cost = found ? rk_cost(&s->poses, pose, &unused, 0) : __builtin_inf();
  rk_keep_to(&s->poses, targets);
  if (!(cost < a->least)) return;
  const rk_pose own = *pose;
  *pose = *best, *best = own;
  a->least = cost, a->found = 1;
}

/* To both sides along directions that bend the cost downwards, and along random ones of those that do not bend it clearly
   upwards. */
static void probe_what_is_flat(around *a) {
  rk_optimum_search *s = a->s;
  const int32_t n = s->poses.n, count = rk_principal_directions(s, HARDLY * s->look->size);
  int32_t flat = 0;
  for (int32_t i = 0; i < count; i++) {
    const double *direction = s->E + (int64_t)i * n;
    flat += s->value[i] < CLEAR * s->curvature;
    if (!(s->value[i] < -SADDLE * s->curvature)) continue;
    for (int32_t k = 0; k < n; k++) s->dq[k] = direction[k];
    for (int k = 0; k < 4; k++) probe(a, (k % 2 ? -PROBE : PROBE) * (k < 2 ? 1.0 : SMALLER));
  }
  for (int32_t time = 0; flat && time < flat + PROBES / 2; time++) {
    for (int32_t k = 0; k < n; k++) s->dq[k] = 0.0;
    for (int32_t i = 0; i < count; i++)
      if (s->value[i] < CLEAR * s->curvature) rk_add_scaled(n, drawn(a->random), s->E + (int64_t)i * n, s->dq);
    const double size = PROBE * rk_uniform(a->random);
    probe(a, size), probe(a, -size);
  }
}

/* The slope is not one vector around: there are edges, or inequalities that are touched and hardly press. */
static int may_turn(const rk_optimum_search *s) {
  const rk_look *look = s->look;
  if (rk_has_edges(s, look)) return 1;
  const double least = HARDLY * look->size;
  for (int32_t i = 0; i < s->poses.n + s->poses.n_rows; i++)
    if (!look->is_held[i] && (look->lower[i] > -TOUCHED || look->upper[i] < TOUCHED) &&
        __builtin_fabs(look->multiplier[i]) <= least)
      return 1;
  return 0;
}

/* Along random motions that keep to the limits. */
static void probe_what_is_allowed(around *a) {
  rk_optimum_search *s = a->s;
  const int32_t n = s->poses.n, count = n - s->look->fixed;
  for (int time = 0; time < PROBES; time++) {
    for (int32_t k = 0; k < n; k++) s->here[k] = drawn(a->random);
    for (int32_t k = 0; k < count; k++) s->weight[k] = 1.0;
    const rk_goal goal = {s->here, 0, 0, 0};
    double change;
    rk_best_motion(&s->poses, s->look, &s->program, count, s->look->E, s->weight, &goal, s->dq, &change, 0);
    const double share = rk_uniform(a->random);
    probe(a, PROBE * share * share * share);
  }
}

/* On from where a curve has a corner or an end. */
static void probe_past_corners(around *a) {
  rk_optimum_search *s = a->s;
  const int32_t n = s->poses.n, count = n - s->look->fixed;
  for (int32_t i = 0; i < s->poses.n_pieces; i++) {
    const double *row = s->look->pose.J + (int64_t)i * n, side = s->look->upper[n + i] < TOUCHED ? 1.0 : -1.0;
    if (side < 0.0 && !(s->look->lower[n + i] > -TOUCHED)) continue;
    for (int32_t k = 0; k < n; k++) s->dq[k] = 0.0;
    for (int32_t k = 0; k < count; k++) {
      const double *direction = s->look->E + (int64_t)k * n;
      rk_add_scaled(n, side * rk_dot(n, row, direction), direction, s->dq);
    }
    double size = PROBE;
    for (int time = 0; time < CORNERS; time++, size *= SMALLER) probe(a, size);
  }
}

int rk_look_around(rk_optimum_search *s, uint64_t *random) {
  if (s->look->fixed == s->poses.n) return 0;
  const double gain = LESS * s->curvature + UNSEEN * s->look->noise + rk_slack(&s->poses, s->look);
  around a = {.s = s, .random = random, .least = s->look->cost - gain};
  probe_past_corners(&a);
  probe_what_is_flat(&a);
  if (may_turn(s)) probe_what_is_allowed(&a);
  if (!a.found) return 0;
  const rk_pose own = s->look->pose;
  s->look->pose = s->spare[3], s->spare[3] = own;
  rk_keep_to(&s->poses, s->poses.whole);
  return 1;
}
