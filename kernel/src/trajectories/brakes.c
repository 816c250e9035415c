#include "trajectories/brakes.h"

#include <math.h>

#include "math/rk_math.h"
#include "trajectories/extremal.h"


/* From beyond the speed V, or on the way there, to V, so that -V can be kept too. */
static void slow_down(double v, double a, double V, double A, double J, double sign, rk_piece *pieces) {
  const double to_least = (a + A) / J;
  const double to_speed = (a + sqrt(rk_max(a * a + 2.0 * J * (v - V), 0.0))) / J;
  const double to_other = (a + sqrt(rk_max(0.5 * a * a + J * (v + V), 0.0))) / J;
  const double first = rk_max(rk_min(to_speed, to_other), 0.0);
  pieces[0] = (rk_piece){first, -sign * J};
  pieces[1] = (rk_piece){0.0, 0.0};
  if (to_least >= first) return;
  const double then = v + to_least * (a - 0.5 * J * to_least);
  pieces[0].duration = to_least;
  pieces[1].duration = rk_max(rk_min((then - V) / A, (then + V) / A - A / (2.0 * J)), 0.0);
}

int rk_brake(double v, double a, double V, double A, double J, rk_piece *pieces) {
  if (fabs(a) > A) {
    const double sign = copysign(1.0, a), w = sign * v, b = sign * a;
    if (w + b * b / (2.0 * J) > V) {
      slow_down(w, b, V, A, J, sign, pieces);
      return 2;
    }
    const double first = (b - A) / J, then = w + first * (b - 0.5 * J * first);
    const double hold = rk_max(rk_min((-V - then) / A, (V - then) / A - A / (2.0 * J)), 0.0);
    pieces[0] = (rk_piece){first, -sign * J};
    pieces[1] = (rk_piece){then < -V ? hold : 0.0, 0.0};
    return 2;
  }
  for (int side = 0; side < 2; side++) {
    const double sign = side ? -1.0 : 1.0, w = sign * v, b = sign * a;
    const int beyond = w > V && w - b * b / (2.0 * J) > -V;
    if (beyond || (b > 0.0 && w + b * b / (2.0 * J) > V * (1.0 + 1e-14))) {
      slow_down(w, b, V, A, J, sign, pieces);
      return 2;
    }
  }
  return 0;
}

void rk_stop(double v, double a, double A, double J, rk_piece *pieces) {
  const double sign = v + a * fabs(a) / (2.0 * J) <= 0.0 ? 1.0 : -1.0;
  double times[3];
  rk_change_of_velocity(sign * v, sign * a, 0.0, A, J, times);
  pieces[0] = (rk_piece){times[0], sign * J};
  pieces[1] = (rk_piece){times[1], 0.0};
  pieces[2] = (rk_piece){times[2], -sign * J};
}

int rk_stand(double v, double a, double V, double A, double J, rk_piece *pieces) {
  const double sign = v >= 0.0 ? 1.0 : -1.0, w = sign * v, b = sign * a;
  const double first = rk_min(b + A, b + sqrt(b * b + 2.0 * J * w)) / J, least = b - J * first;
  pieces[0] = (rk_piece){first, -sign * J};
  pieces[1] = (rk_piece){least < 0.0 ? rk_max(w + first * (b - 0.5 * J * first), 0.0) / -least : 0.0, 0.0};
  return least * least <= 2.0 * J * V ? 2 : 0;
}

int rk_can_be_kept(double v, double a, double V, double A, double J) {
  const double more = 1.0 + 1e-12;
  return fabs(a) <= A * more && fabs(v) <= V * more && fabs(v + a * fabs(a) / (2.0 * J)) <= V * more;
}
