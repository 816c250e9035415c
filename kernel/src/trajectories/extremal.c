#include "trajectories/extremal.h"

#include <math.h>

#include "math/rk_math.h"

const double rk_phase_signs[RK_PHASES] = {1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0};


void rk_change_of_velocity(double v0, double a0, double v1, double A, double J, double *durations) {
  const double peak = sqrt(rk_max(J * (v1 - v0) + 0.5 * a0 * a0, 0.0));
  if (peak > A) {
    durations[0] = (A - a0) / J;
    durations[1] = (v1 - v0 - (2.0 * A * A - a0 * a0) / (2.0 * J)) / A;
    durations[2] = A / J;
    return;
  }
  durations[0] = rk_max(peak - a0, 0.0) / J;
  durations[1] = 0.0;
  durations[2] = peak / J;
}

rk_extremal rk_extremal_of(const double *start, const double *end, const double *limits, double sign) {
  rk_extremal m = {.v0 = sign * start[1], .a0 = sign * start[2], .v1 = sign * end[1], .a1 = sign * end[2],
                   .V = limits[0], .A = limits[1], .J = limits[2], .cruising = INFINITY};
  if (m.V < INFINITY) {
    rk_change_of_velocity(m.v0, m.a0, m.V, m.A, m.J, m.rise);
    rk_change_of_velocity(m.v1, -m.a1, m.V, m.A, m.J, m.fall);
    m.cruising = (m.rise[0] + m.rise[1] + m.rise[2]) + (m.fall[0] + m.fall[1] + m.fall[2]);
  }
  return m;
}

/* Durations of +, 0, -, + where the acceleration A is held. */
static void one_held(double T, double a0, double a1, double dv, double A, double J, double *times) {
  const double K = J * (A * T - dv) - A * (2.0 * A - a0 + a1) + 0.5 * (2.0 * A * A - a0 * a0 + a1 * a1);
  const double low = rk_min(rk_min(A - sqrt(rk_max(A * A + K, 0.0)), a1), A);
  times[0] = (A - a0) / J;
  times[2] = (A - low) / J;
  times[3] = (a1 - low) / J;
  times[1] = rk_max(T - times[0] - times[2] - times[3], 0.0);
}

static void set(double *phases, double first, double upper, double middle, double lower, double last) {
  phases[0] = first, phases[1] = upper, phases[2] = middle, phases[3] = 0.0, phases[4] = 0.0;
  phases[5] = lower, phases[6] = last;
}

void rk_extremal_phases(const rk_extremal *m, double T, double *phases) {
  if (m->cruising <= T) {
    for (int i = 0; i < 3; i++) phases[i] = m->rise[i], phases[4 + i] = m->fall[2 - i];
    phases[3] = T - m->cruising;
    return;
  }
  const double a0 = m->a0, a1 = m->a1, A = m->A, J = m->J;
  const double change = (a1 - a0) / J, dv = m->v1 - m->v0;
  const double middle = 0.5 * (T - change), outer = 0.5 * (T + change);
  if (middle <= 0.0) {
    set(phases, rk_max(outer, 0.0), 0.0, 0.0, 0.0, 0.0);
    return;
  }
  const double c = (dv - (a1 * a1 - a0 * a0) / (2.0 * J)) / (2.0 * J);
  const double first = rk_min(rk_max(0.5 * middle - a0 / J + c / middle, 0.0), outer), last = outer - first;
  if (a0 + J * first <= A && a1 - J * last >= -A) {
    set(phases, first, 0.0, middle, 0.0, last);
    return;
  }
  /* Both accelerations are held, or one of them. */
  const double rest = T - (A - a0) / J - 2.0 * A / J - (a1 + A) / J;
  const double more = (dv - (a1 * a1 - a0 * a0) / (2.0 * J)) / A;
  const double upper = 0.5 * (rest + more), lower = 0.5 * (rest - more);
  double t[4];
  if (upper >= 0.0 && lower >= 0.0) {
    set(phases, (A - a0) / J, upper, 2.0 * A / J, lower, (a1 + A) / J);
  } else if (upper > lower) {
    one_held(T, a0, a1, dv, A, J, t);
    set(phases, t[0], t[1], t[2], 0.0, t[3]);
  } else { /* the same, back in time */
    one_held(T, -a1, -a0, -dv, A, J, t);
    set(phases, t[3], 0.0, t[2], t[1], t[0]);
  }
}

double rk_extremal_at(const rk_extremal *m, double T, double *slope) {
  double phases[RK_PHASES], p = 0.0, v = m->v0, a = m->a0;
  rk_extremal_phases(m, T, phases);
  *slope = m->V;
  for (int i = 0; i < RK_PHASES; i++) {
    const double t = phases[i], j = rk_phase_signs[i] * m->J;
    if (i == 2 && m->cruising > T) *slope = v + 0.5 * a * t;
    p += t * (v + t * (0.5 * a + t * j / 6.0));
    v += t * (a + 0.5 * j * t);
    a += j * t;
  }
  return p;
}

int rk_extremal_turns(const rk_extremal *m, double *turns) {
  const double a0 = m->a0, a1 = m->a1, dv = m->v1 - m->v0, A = m->A, J = m->J;
  const double change = (a1 - a0) / J;
  const double c = (dv - (a1 * a1 - a0 * a0) / (2.0 * J)) / (2.0 * J);
  double found[RK_TURNS];
  int count = 0, kept = 0;
  found[count++] = 2.0 * sqrt(2.0 * fabs(c) / sqrt(3.0)) + change;
  if (A < INFINITY) {
    for (int side = 0; side < 2; side++) {
      const double sign = side ? -1.0 : 1.0, root = A * A / (J * J) - 2.0 * sign * c;
      if (root >= 0.0) {
        found[count++] = 2.0 * (A / J - sqrt(root)) + change;
        found[count++] = 2.0 * (A / J + sqrt(root)) + change;
      }
      const double x0 = side ? -a1 : a0, x1 = side ? -a0 : a1, d = side ? -dv : dv;
      for (int low = 0; low < 2; low++) {
        const double at = low ? -A : 0.25 * A;
        const double constant = at * at - 2.0 * A * at + A * (2.0 * A - x0 + x1) - A * A + 0.5 * (x0 * x0 - x1 * x1);
        found[count++] = (constant + J * d) / (J * A);
      }
    }
  }
  for (int i = 0; i < count; i++) {
    if (!(found[i] < m->cruising)) continue;
    int at = kept++;
    for (; at > 0 && turns[at - 1] > found[i]; at--) turns[at] = turns[at - 1];
    turns[at] = found[i];
  }
  return kept;
}
