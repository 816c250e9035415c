/* The way back to the poses that meet the tasks. Twin of solvers/task_surface.py. */
#include "optimum.h"
#include "rk_math.h"

static const double DAMPING = 0.1, DAMPING_CAP = 3.0, DAMPING_FLOOR = 1e-9; /* solvers/ik_steps.py */
static const double MET = 1e-20, WORSE = 1e-9;
enum { CORRECTIONS = 8 };

static void swap(rk_pose *one, rk_pose *other) {
  const rk_pose own = *one;
  *one = *other, *other = own;
}

/* *next: one step of all levels towards the tasks. */
static void approach(const rk_poses *s, const rk_pose *pose, rk_pose *next) {
  rk_box(s, pose->q, s->lo, s->hi);
  for (int32_t k = 0; k < s->n_levels; k++) {
    const double error = pose->error[k] < DAMPING_CAP ? pose->error[k] : DAMPING_CAP;
    s->damping[s->n_bounds + k] = DAMPING * error + DAMPING_FLOOR;
  }
  for (int32_t k = 0; k < s->n; k++) s->x[k] = 0.0;
  const rk_levels levels = {s->n_bounds + s->n_levels, s->start, pose->J, pose->low, pose->high, s->damping};
  rk_hierarchy(s->n, s->lo, s->hi, &levels, s->identity, s->zero, s->hierarchy, s->x, 0, s->lacking, s->freedom);
  rk_moved(s, pose->q, s->x, next->q);
  rk_place(s, next);
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
  for (int32_t k = 0; k < s->n_levels; k++)
    if (__builtin_fabs(pose->error[k] - best->error[k]) > WORSE * best->error[k])
      return pose->error[k] < best->error[k];
  return 0;
}

static int is_met_exactly(const rk_poses *s, const rk_pose *pose, const int32_t *met) {
  for (int32_t k = 0; k < s->n_levels; k++)
    if (met[k] && !(pose->error[k] <= MET)) return 0;
  return 1;
}

void rk_start_retraction(rk_poses *s, rk_pose *start, rk_pose *spare) {
  int32_t *met = s->met;
  for (int32_t k = 0; k < s->n_levels; k++) met[k] = start->met[k];
  rk_pose *point = start;
  for (int time = 0; time < CORRECTIONS && !is_met_exactly(s, start, met); time++) {
    rk_pose *next = point == spare ? spare + 1 : spare;
    approach(s, point, next);
    point = next;
    if (!is_closer(s, point, start, met)) continue;
    swap(start, point);
    point = start;
  }
  for (int32_t k = 0; k < s->n_levels; k++) {
    const double error = start->error[k];
    s->allowed[k] = !start->met[k] ? error * (1.0 + WORSE) : error > MET ? error : MET;
  }
}

int rk_retract(const rk_poses *s, const rk_pose *before, rk_pose *pose, rk_pose *spare) {
  rk_place(s, pose);
  for (int time = 0; time < CORRECTIONS && !is_as_good(s, pose, before); time++) {
    int is_less = 0;
    approach(s, pose, spare);
    for (int32_t k = 0; k < s->n_levels; k++) is_less |= spare->error[k] < pose->error[k];
    if (!is_less) return 0;
    swap(pose, spare);
  }
  return is_as_good(s, pose, before);
}

double rk_slack(const rk_poses *s, const rk_look *look) {
  double slack = 0.0;
  for (int32_t k = 0; k < s->n_levels; k++) {
    const int32_t first = s->start[s->n_bounds + k], rows = s->start[s->n_bounds + k + 1] - first;
    const double *own = look->multiplier + s->n + first;
    slack += rk_sqrt(2.0 * s->allowed[k] * (look->pose.met[k] ? 1.0 : WORSE) * rk_dot(rows, own, own));
  }
  return 2.0 * slack;
}
