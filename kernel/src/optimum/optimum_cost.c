/* What is to be small at a pose. Twin of solvers/criteria/objective.py. */
#include "optimum/optimum.h"

static int is_potential(const rk_criterion *criterion) {
  return criterion->kind != RK_LEAST_VELOCITY && criterion->kind != RK_KINETIC_ENERGY;
}

int64_t rk_cost_workspace(const rk_step *step) {
  const int64_t sizes[] = {rk_gravity_workspace(step->model), rk_manipulability_workspace(step), step->model->nv,
                           rk_edge_workspace(step)};
  int64_t most = 0;
  for (int k = 0; k < 4; k++) most = sizes[k] > most ? sizes[k] : most;
  return most;
}

/* Adds the potentials that the kernel has not. */
static void add_others(const rk_poses *s, const rk_pose *pose, double *sum, double *size, double *g) {
  const rk_optimum *optimum = s->optimum;
  if (!optimum->potentials) return;
  for (int32_t i = 0; i < s->model->nq; i++) optimum->stack->q[i] = pose->q[i];
  optimum->potentials(g != 0);
  *sum += optimum->other[0], *size += optimum->other[1];
  for (int32_t k = 0; g && k < s->n; k++) g[k] += optimum->other[2 + k];
}

double rk_cost(const rk_poses *s, const rk_pose *pose, double *size, double *g) {
  const rk_step *step = s->step;
  double sum = 0.0, sizes = 0.0;
  for (int32_t k = 0; g && k < s->n; k++) g[k] = 0.0;
  for (int32_t c = 0; c < step->n_criteria; c++) {
    const rk_criterion *criterion = step->criteria + c;
    const double share = criterion->weight * criterion->gain;
    double cost = 0.0;
    if (!is_potential(criterion)) continue;
    if (criterion->kind == RK_SPRINGS)
      cost = rk_add_springs(s->model, pose->q, criterion->rest, criterion->stiffness, share, s->cost_work, g);
    else if (criterion->kind == RK_GRAVITY_TORQUE)
      cost = rk_add_gravity_torque(s->model, pose->nodes, criterion->gravity, criterion->stiffness, share,
                                   s->cost_work, g);
    else if (criterion->kind == RK_MANIPULABILITY)
      cost = rk_add_manipulability(step, s->optimum->stack->data, pose->nodes, 0, 0, share, s->near, s->cost_work, g);
    else if (size)
      cost = rk_add_manipulability(step, s->optimum->stack->data, pose->nodes, 1, criterion->rank, share, s->near, s->cost_work, 0);
    sum += share * cost;
    sizes += share * __builtin_fabs(cost);
  }
  add_others(s, pose, &sum, &sizes, g);
  if (size) *size = sizes;
  for (int32_t k = 0; g && k < s->n; k++) g[k] *= step->scale[k];
  return sum;
}

void rk_first_curvature(const rk_poses *s, double *diagonal) {
  const double *others = s->optimum->metric;
  for (int32_t k = 0; k < s->n; k++) diagonal[k] = others ? others[k] : 0.0;
  for (int32_t c = 0; c < s->step->n_criteria; c++) {
    const rk_criterion *criterion = s->step->criteria + c;
    if (is_potential(criterion))
      rk_add_scaled(s->n, criterion->weight * criterion->gain, criterion->metric, diagonal);
  }
  for (int32_t k = 0; k < s->n; k++) diagonal[k] *= s->step->scale[k] * s->step->scale[k];
}
