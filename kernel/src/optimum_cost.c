/* What is to be small at a pose. Twin of solvers/objective.py. */
#include "criteria.h"
#include "optimum.h"

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

double rk_cost(const rk_poses *s, const rk_pose *pose, double *size, double *g) {
  const rk_step *step = s->optimum->step;
  double sum = 0.0;
  *size = 0.0;
  for (int32_t k = 0; g && k < s->n; k++) g[k] = 0.0;
  for (int32_t c = 0; c < step->n_criteria; c++) {
    const rk_criterion *criterion = step->criteria + c;
    const double share = criterion->weight * criterion->gain;
    double cost = 0.0;
    if (!is_potential(criterion)) continue;
    if (criterion->kind == RK_SPRINGS)
      cost = rk_add_springs(step->model, pose->q, criterion->rest, criterion->stiffness, share, s->cost_work, g);
    else if (criterion->kind == RK_GRAVITY_TORQUE)
      cost = rk_add_gravity_torque(step->model, pose->nodes, criterion->gravity, criterion->stiffness, share,
                                   s->cost_work, g);
    else if (criterion->kind == RK_MANIPULABILITY)
      cost = rk_add_manipulability(step, pose->nodes, 0, 0, share, s->cost_work, g);
    else
      cost = rk_add_manipulability(step, pose->nodes, 1, criterion->rank, share, s->cost_work, 0);
    sum += share * cost;
    *size += share * __builtin_fabs(cost);
  }
  for (int32_t k = 0; g && k < s->n; k++) g[k] *= step->scale[k];
  return sum;
}

void rk_first_curvature(const rk_poses *s, double *diagonal) {
  const rk_step *step = s->optimum->step;
  for (int32_t k = 0; k < s->n; k++) diagonal[k] = 0.0;
  for (int32_t c = 0; c < step->n_criteria; c++) {
    const rk_criterion *criterion = step->criteria + c;
    if (!is_potential(criterion)) continue;
    for (int32_t k = 0; k < s->n; k++)
      diagonal[k] += criterion->weight * criterion->gain * criterion->metric[k] * step->scale[k] * step->scale[k];
  }
}
