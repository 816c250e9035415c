/* Twin of `hit` of the surfaces in solvers/tasks/places/surface.py, which explain it. */
#include "step/surface.h"

#include "math/rk_math.h"
#include "robokin_step.h"

static const double PARALLEL = 1e-6, RIM = 1e-12;

int32_t rk_sizeof_triangle(void) { return (int32_t)sizeof(rk_triangle); }

static double hit_plane(const double point[3], const double normal[3], const double o[3], const double a[3]) {
  const double height[3] = {point[0] - o[0], point[1] - o[1], point[2] - o[2]};
  const double slope = rk_dot3(normal, a), t = __builtin_fabs(slope) < PARALLEL ? 0.0 : rk_dot3(normal, height) / slope;
  return t > 0.0 ? t : 0.0;
}

static double hit_triangle(const rk_triangle *own, const double o[3], const double a[3]) {
  double p[3], q[3];
  if (!(__builtin_fabs(rk_dot3(own->normal, a)) >= PARALLEL)) return 0.0;
  rk_cross(a, own->sides[1], p);
  const double inverse = 1.0 / rk_dot3(own->sides[0], p);
  const double away[3] = {o[0] - own->corner[0], o[1] - own->corner[1], o[2] - own->corner[2]};
  const double u = rk_dot3(away, p) * inverse;
  if (!(u >= -RIM)) return 0.0;
  rk_cross(away, own->sides[0], q);
  const double v = rk_dot3(q, a) * inverse, t = rk_dot3(own->sides[1], q) * inverse;
  return v >= -RIM && u + v <= 1.0 + RIM && t > 0.0 ? t : 0.0;
}

double rk_beam_hit(const double surface[13], const double o[3], const double a[3], double n[3]) {
  const rk_triangle *triangle = (const rk_triangle *)(uintptr_t)surface[0], *first = 0;
  const double *R = surface + 1, away[3] = {o[0] - surface[10], o[1] - surface[11], o[2] - surface[12]};
  double from[3], along[3], nearest = __builtin_inf();
  if (!triangle) {
    for (int k = 0; k < 3; k++) n[k] = surface[4 + k];
    return hit_plane(surface + 1, n, o, a);
  }
  rk_rotate_back(R, away, from);
  rk_rotate_back(R, a, along);
  for (int more = 1; more; triangle++) {
    const double t = hit_triangle(triangle, from, along);
    if (t > 0.0 && t < nearest) nearest = t, first = triangle;
    more = !triangle->is_last;
  }
  if (!first) return 0.0;
  rk_rotate(R, first->normal, n);
  return nearest;
}
