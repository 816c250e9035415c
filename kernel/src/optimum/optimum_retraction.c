/* The way back to the poses that meet the tasks. Twin of solvers/optimum/constraint_manifold.py. */
#include "ik/ik_search.h"
#include "math/rk_math.h"
#include "optimum/optimum.h"

static const double MET = 1e-20, WORSE = 1e-9, ROUNDING = 1e-14, ROOM = 0.5;
static const double RANK_TOLERANCE = 1e-6, FARTHEST = 0.5; /* of rows, relative; [rad or L] of a Newton step */
enum { CORRECTIONS = 8, FEW = 3, FIXED = 4 };

static void swap(rk_pose *one, rk_pose *other) {
  const rk_pose own = *one;
  *one = *other, *other = own;
}

/* x of least length that meets the equations and what is lacking of the bands, in the first order, of the levels that
   can be met; coordinates whose bounds it meets stay there. Returns 0 when there is none near. */
static int newton(const rk_poses *s, const rk_pose *pose, const int32_t *met) {
  const int32_t n = s->n;
  rk_box(s, pose->q, s->lo, s->hi);
  for (int32_t k = 0; k < n; k++) s->v[k] = __builtin_inf(); /* where coordinates that are fixed are */
  for (int time = 0; time < FIXED; time++) {
    double square = 0.0;
    int32_t count = 0, fixed = 0;
    for (int32_t i = s->n_bound_rows, level = 0; i < s->n_rows; i++) {
      while (i >= s->start[s->n_bounds + level + 1]) level++;
      if (!met[level]) continue;
      const double residual = rk_clamp(0.0, pose->low[i], pose->high[i]);
      if (pose->low[i] != pose->high[i] && residual == 0.0) continue;
      double *row = s->W + (int64_t)count * n;
      s->residual[count] = residual;
      for (int32_t k = 0; k < n; k++) {
        const double entry = pose->J[(int64_t)i * n + k], is_free = s->v[k] == __builtin_inf();
        row[k] = is_free ? entry : 0.0;
        if (!is_free) s->residual[count] -= entry * s->v[k];
      }
      square += rk_dot(n, row, row);
      count++;
    }
    const int32_t rank = rk_reduce_rows(&s->basis, 0, count, RANK_TOLERANCE * rk_sqrt(square), s->W, s->order);
    for (int32_t k = 0; k < n; k++) s->x[k] = 0.0;
    for (int32_t i = 0; i < rank; i++) {
      const double *row = s->W + (int64_t)s->order[i] * n;
      s->x[i] = (s->residual[s->order[i]] - rk_dot(i, row, s->x)) / row[i];
    }
    rk_out_of_basis(&s->basis, rank, s->x);
    if (!(rk_dot(n, s->x, s->x) <= FARTHEST * FARTHEST)) return 0;
    for (int32_t k = 0; k < n; k++) {
      if (s->v[k] != __builtin_inf()) s->x[k] = s->v[k];
      if (s->x[k] >= s->lo[k] && s->x[k] <= s->hi[k]) continue;
      s->v[k] = s->x[k] < s->lo[k] ? s->lo[k] : s->hi[k];
      fixed = 1;
    }
    if (!fixed) return 1;
  }
  return 0;
}

/* Whether the residual of some level is smaller; of those that can be met, unless `met` is null. */
static int is_less(const rk_poses *s, const rk_pose *pose, const rk_pose *other, const int32_t *met) {
  for (int32_t k = 0; k < s->n_levels; k++)
    if ((!met || met[k]) && pose->error[k] < other->error[k]) return 1;
  return 0;
}

static int is_met_exactly(const rk_poses *s, const rk_pose *pose, const int32_t *met) {
  for (int32_t k = 0; k < s->n_levels; k++)
    if (met[k] && !(pose->error[k] <= MET)) return 0;
  return 1;
}

/* *next: one step of all levels towards the tasks. */
static void approach(const rk_poses *s, const rk_pose *pose, rk_pose *next) {
  rk_box(s, pose->q, s->lo, s->hi);
  for (int32_t k = 0; k < s->n_levels; k++) s->damping[s->n_bounds + k] = rk_search_damping(pose->error[k]);
  for (int32_t k = 0; k < s->n; k++) s->x[k] = 0.0;
  const rk_levels levels = {s->n_bounds + s->n_levels, s->start, pose->J, pose->low, pose->high, s->damping};
  rk_hierarchy(s->n, s->lo, s->hi, &levels, s->identity, s->zero, s->hierarchy, s->x, 0, s->residual, s->freedom);
  rk_moved(s, pose->q, s->x, next->q);
  rk_place(s, next);
}

/* *next: nearer to the tasks; a Newton step, where that brings levels that can be met nearer. */
static void correct(const rk_poses *s, const rk_pose *pose, const int32_t *met, rk_pose *next) {
  if (!is_met_exactly(s, pose, met) && newton(s, pose, met)) {
    rk_moved(s, pose->q, s->x, next->q);
    rk_place(s, next);
    if (is_less(s, next, pose, met)) return;
  }
  approach(s, pose, next);
}

static int is_as_good(const rk_poses *s, const rk_pose *pose, const rk_pose *before) {
  for (int32_t k = 0; k < s->n_levels; k++)
    if ((before->met[k] && !pose->met[k]) || !(pose->error[k] <= s->allowed[k])) return 0;
  return 1;
}

/* The first level that differs decides; none may be met less than at the start. */
static int is_closer(const rk_poses *s, const rk_pose *pose, const rk_pose *best, const int32_t *met) {
  for (int32_t k = 0; k < s->n_levels; k++)
    if (met[k] && !pose->met[k]) return 0;
  for (int32_t k = 0; k < s->n_levels; k++) {
    const double own = rk_max(pose->error[k], MET), least = rk_max(best->error[k], MET);
    if (__builtin_fabs(own - least) > ROUNDING * least) return own < least;
  }
  return 0;
}

int rk_are_met(const rk_poses *s, const rk_pose *pose) {
  for (int32_t k = 0; k < s->n_levels; k++)
    if (!pose->met[k]) return 0;
  return 1;
}

/* start: with its levels met as exactly as they can be; none worse. spare: two poses. */
static void centre(const rk_poses *s, rk_pose *start, rk_pose *spare) {
  int32_t *met = s->met;
  for (int32_t k = 0; k < s->n_levels; k++) met[k] = start->met[k];
  rk_pose *point = start;
  const int is_whole = rk_are_met(s, start);
  for (int time = 0; time < CORRECTIONS && !(is_whole && is_met_exactly(s, start, met)); time++) {
    rk_pose *next = point == spare ? spare + 1 : spare;
    correct(s, point, met, next);
    point = next;
    if (!is_closer(s, point, start, met)) continue;
    swap(start, point);
    point = start;
  }
}

void rk_start_retraction(rk_poses *s, rk_pose *start, rk_pose *spare) {
  centre(s, start, spare);
  for (int32_t k = 0; k < s->n_levels; k++) {
    const double error = start->error[k];
    s->allowed[k] = !start->met[k] ? error * (1.0 + WORSE) : error > MET ? error : MET;
  }
}

/* Whether a level uses up by how much it may be met worse, which is for rounding: no other step would have room. */
static int uses_room(const rk_poses *s, const rk_pose *pose, const rk_pose *before) {
  for (int32_t k = 0; k < s->n_levels; k++)
    if (!before->met[k] && pose->error[k] > s->allowed[k] * (1.0 - ROOM * WORSE)) return 1;
  return 0;
}

int rk_retract(const rk_poses *s, const rk_pose *before, rk_pose *pose, rk_pose *spare) {
  rk_place(s, pose);
  const int most = rk_are_met(s, before) ? CORRECTIONS : FEW;
  for (int time = 0; time < most && !is_as_good(s, pose, before); time++) {
    correct(s, pose, before->met, spare);
    if (!is_less(s, spare, pose, 0)) return 0;
    swap(pose, spare);
  }
  if (!is_as_good(s, pose, before)) return 0;
  if (uses_room(s, pose, before)) centre(s, pose, spare);
  return 1;
}

double rk_slack(const rk_poses *s, const rk_look *look) {
  double slack = 0.0;
  for (int32_t k = 0; k < s->n_levels; k++) {
    const int32_t first = s->start[s->n_bounds + k], rows = s->start[s->n_bounds + k + 1] - first;
    const double *own = look->multiplier + s->n + first;
    slack += rk_sqrt(2.0 * s->allowed[k] * (look->pose.met[k] ? 1.0 : WORSE) * rk_dot(rows, own, own));
  }
  for (int32_t i = 0; i < s->n_pieces; i++) slack += RK_INSIDE * __builtin_fabs(look->multiplier[s->n + i]);
  return 2.0 * slack;
}

double rk_excess_cost(const rk_poses *s, const rk_look *look, const rk_pose *pose) {
  double excess = 0.0;
  for (int32_t k = 0; k < s->n_levels; k++)
    for (int32_t i = s->start[s->n_bounds + k]; look->pose.met[k] && i < s->start[s->n_bounds + k + 1]; i++)
      excess += look->multiplier[s->n + i] * rk_clamp(0.0, pose->low[i], pose->high[i]);
  return excess;
}
