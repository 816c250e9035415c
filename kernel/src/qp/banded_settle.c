/* Points where sides that are active are equations. Twin of solvers/qp/banded_reference.py, which says what is done and
   why. */
#include <math.h>
#include <string.h>

#include "banded_program.h"

static const double FALLING = 0.9, RESTED = 1e-12;
enum { POLISHES = 12 };

double rk_banded_error(rk_banded_solver *s, const double *x, const double *z) {
  rk_banded_look(s, x);
  rk_banded_hessian_times(s, x, s->Hx);
  memset(s->force, 0, sizeof(double) * (size_t)s->size);
  rk_banded_add_transposed(s, z, s->force);
  const double size_g = rk_larger(s->size_g, rk_larger(rk_largest(s->force, s->size), rk_largest(s->Hx, s->size)));
  const double size_z = rk_larger(s->size_g, rk_largest(z, s->rows));
  double most = 0.0;
  s->outside = 0.0;
  for (int64_t i = 0; i < s->size; i++) most = rk_larger(most, fabs(s->Hx[i] + s->g[i] - s->force[i]) / size_g);
  for (int64_t i = 0; i < s->rows; i++) {
    const double to_low = (s->Cx[i] - s->low[i]) / s->room_low[i];
    const double to_high = (s->high[i] - s->Cx[i]) / s->room_high[i];
    s->outside = rk_larger(s->outside, rk_larger(-to_low, -to_high));
    if (s->has[i] & 4) continue;
    if (z[i] > 0.0) most = rk_larger(most, fmin(s->has[i] & 1 ? fabs(to_low) : INFINITY, z[i] / size_z));
    if (z[i] < 0.0) most = rk_larger(most, fmin(s->has[i] & 2 ? fabs(to_high) : INFINITY, -z[i] / size_z));
  }
  return rk_larger(most, s->outside);
}

void rk_banded_activate(rk_banded_solver *s) {
  for (int64_t i = 0; i < s->rows; i++) {
    const int32_t active = s->has[i] & 4 || s->at[i];
    s->weight[i] = active ? 1.0 / RK_DELTA : 0.0;
    s->dy[i] = active ? s->dy[i] : 0.0;
    s->ry[i] = s->at[i] & 2 ? s->high[i] : s->low[i];
  }
}

void rk_banded_settle(rk_banded_solver *s) {
  double moved = INFINITY, pushed = INFINITY;
  for (int32_t turn = 0; turn < POLISHES; turn++) {
    rk_banded_times(s, s->dx, s->other);
    rk_banded_hessian_times(s, s->dx, s->lack);
    for (int64_t i = 0; i < s->size; i++) s->lack[i] = -(s->lack[i] + s->g[i]);
    for (int64_t i = 0; i < s->rows; i++) {
      s->kept[i] = s->weight[i] > 0.0 ? s->ry[i] - s->other[i] : 0.0;
      s->other[i] = s->dy[i] + s->kept[i] / RK_DELTA;
    }
    rk_banded_add_transposed(s, s->other, s->lack);
    rk_banded_solve(s, s->lack);
    rk_banded_times(s, s->lack, s->other);
    for (int64_t i = 0; i < s->rows; i++) {
      s->other[i] = s->weight[i] > 0.0 ? (s->kept[i] - s->other[i]) / RK_DELTA : 0.0;
      s->dy[i] += s->other[i];
    }
    for (int64_t i = 0; i < s->size; i++) s->dx[i] += s->lack[i];
    const double step = rk_largest(s->lack, s->size), push = rk_largest(s->other, s->rows);
    if (step <= RESTED || (step >= FALLING * moved && push >= FALLING * pushed)) break;
    moved = step, pushed = push;
  }
}
