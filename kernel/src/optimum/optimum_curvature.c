/* Second derivatives of the Lagrangian on the poses that meet the tasks. Twin of `_bending` and `_hessian`
   in solvers/optimum/sqp.py. */
#include "optimum/optimum_search.h"
#include "math/rk_math.h"
#include "math/rk_symmetric_eigen.h"

static const double STEP = 1e-5, ACROSS = 10.0, LEAST = 1e-10;

void rk_note_curvatures(rk_optimum_search *s, int32_t count) {
  double *sizes = s->work;
  int32_t known = 0;
  for (int32_t i = 0; i < count; i++) {
    const double size = __builtin_fabs(s->value[i]);
    if (size == 0.0) continue;
    int32_t at = known++;
    for (; at > 0 && sizes[at - 1] > size; at--) sizes[at] = sizes[at - 1];
    sizes[at] = size;
  }
  if (known) s->curvature = sizes[known - 1], s->usual = sizes[known / 2];
}

/* H[count][count] of the Lagrangian along directions, by differences. */
static void bend(rk_optimum_search *s, int32_t count, const double *directions) {
  const int32_t n = s->poses.n;
  rk_pose *there = s->spare;
  rk_lagrangian(&s->poses, s->look, &s->look->pose, s->here);
  for (int64_t i = 0; i < count; i++) {
    for (int32_t k = 0; k < n; k++) s->dq[k] = STEP * directions[i * n + k];
    rk_integrated(&s->poses, s->look->pose.q, s->dq, there->q);
    rk_place(&s->poses, there);
    rk_lagrangian(&s->poses, s->look, there, s->there);
    for (int32_t k = 0; k < n; k++) s->there[k] -= s->here[k];
    for (int64_t j = 0; j < count; j++) s->H[i * count + j] = rk_dot(n, s->there, directions + j * n) / STEP;
  }
  for (int64_t i = 0; i < count; i++)
    for (int64_t j = 0; j < i; j++)
      s->H[i * count + j] = s->H[j * count + i] = 0.5 * (s->H[i * count + j] + s->H[j * count + i]);
}

int32_t rk_principal_directions(rk_optimum_search *s, double least) {
  const int64_t n = s->poses.n;
  rk_press(&s->poses, s->look, &s->program, least);
  const int32_t count = s->poses.n - s->look->fixed - s->look->pressed;
  const double *face = s->look->E + s->look->pressed * n;
  bend(s, count, face);
  rk_symmetric_eigen(count, s->H, s->value, s->V, s->work);
  for (int64_t i = 0; i < count; i++) {
    for (int64_t k = 0; k < n; k++) s->E[i * n + k] = 0.0;
    for (int64_t j = 0; j < count; j++) rk_add_scaled((int32_t)n, s->V[i * count + j], face + j * n, s->E + i * n);
  }
  return count;
}

int32_t rk_newton_directions(rk_optimum_search *s) {
  const int64_t n = s->poses.n;
  int32_t count = rk_principal_directions(s, 0.0);
  rk_note_curvatures(s, count);
  for (int64_t i = 0; i < s->look->pressed; i++, count++)
    for (int64_t k = 0; k < n; k++) s->E[count * n + k] = s->look->E[i * n + k];
  return count;
}

void rk_weigh_directions(rk_optimum_search *s, int32_t count, double stride) {
  const int64_t n = s->poses.n;
  const int32_t free = count - s->look->pressed;
  const double least = LEAST * s->curvature, across = ACROSS * s->usual;
  for (int64_t i = 0; i < count; i++) {
    const double slope = __builtin_fabs(rk_dot((int32_t)n, s->E + i * n, s->look->descent));
    double weight = i < free ? __builtin_fabs(s->value[i]) : across;
    if (i < free && weight < slope / stride) weight = slope / stride;
    s->weight[i] = weight > least ? weight : least;
  }
}
