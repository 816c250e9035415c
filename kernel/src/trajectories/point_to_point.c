/* Axes from state to state in one duration. Twin of solvers/trajectories/reference.py. */
#include "robokin_trajectories.h"

#include <math.h>

#include "math/rk_math.h"
#include "trajectories/brakes.h"
#include "trajectories/durations.h"

enum { ENTRY = 7, EXIT = 5, BETWEEN = 14, PIECES = ENTRY + BETWEEN + EXIT, PASSES = 64 };
static const double CLOSE = 1e-12; /* relative; of position bounds */

typedef struct state {
  double p, v, a;
} state;

/* Limits on speed and acceleration alone: the durations, and the motions that come farthest. */
typedef struct plain {
  double distance, v0, v1, V, A, least, rounding;
  rk_blocked blocked;
} plain;

typedef struct axis {
  int order, entries, exits, detours;
  const double *start, *end, *limits;
  rk_piece entry[ENTRY], exit[EXIT];
  double fixed; /* what entry and exit last */
  rk_durations core;
  plain plain; /* of order 2, in place of the core */
} axis;


static state step(int order, state s, double t, double u) {
  if (order == 2) return (state){s.p + t * (s.v + 0.5 * t * u), s.v + t * u, u};
  return (state){s.p + t * (s.v + t * (0.5 * s.a + t * u / 6.0)), s.v + t * (s.a + 0.5 * u * t), s.a + u * t};
}

static state advance(int order, state s, const rk_piece *pieces, int count) {
  for (int i = 0; i < count; i++) s = step(order, s, pieces[i].duration, pieces[i].u);
  return s;
}

static double sum_of(const rk_piece *pieces, int count) {
  double total = 0.0;
  for (int i = 0; i < count; i++) total += pieces[i].duration;
  return total;
}

static plain plain_of(const double *start, const double *end, const double *limits) {
  plain s = {.distance = end[0] - start[0], .v0 = start[1], .v1 = end[1], .V = limits[0], .A = limits[1],
             .rounding = 1e-14 * (fabs(start[0]) + fabs(end[0]))};
  s.least = fabs(s.v1 - s.v0) / s.A;
  s.blocked = rk_blocked_of(s.distance, s.v0, s.v1, s.V, s.A);
  return s;
}

static double plain_from(const plain *s, double T) {
  T = rk_max(T, s->least);
  for (int i = 0; i < s->blocked.count; i++) {
    const double low = s->blocked.low[i], high = s->blocked.high[i], near = 1e-14 * high;
    if (low + near < T && T < high - near) T = high;
  }
  return T;
}

static int plain_farthest(const plain *s, int side, double T, rk_piece *pieces) {
  const double sign = side ? -1.0 : 1.0, v0 = sign * s->v0, v1 = sign * s->v1, V = s->V, A = s->A;
  const double rise = rk_min(rk_max(0.5 * (T + (v1 - v0) / A), 0.0), T);
  if (v0 + A * rise > V) {
    const double up = rk_max(V - v0, 0.0) / A, down = rk_max(V - v1, 0.0) / A;
    pieces[0] = (rk_piece){up, sign * A};
    pieces[1] = (rk_piece){rk_max(T - up - down, 0.0), 0.0};
    pieces[2] = (rk_piece){down, -sign * A};
    return 3;
  }
  pieces[0] = (rk_piece){rise, sign * A};
  pieces[1] = (rk_piece){T - rise, -sign * A};
  return 2;
}

static double plain_share(const plain *s, double T) {
  double reach[2];
  for (int side = 0; side < 2; side++) {
    rk_piece pieces[3];
    const int count = plain_farthest(s, side, T, pieces);
    reach[side] = advance(2, (state){0.0, s->v0, 0.0}, pieces, count).p;
  }
  if (reach[0] - reach[1] <= s->rounding) return 1.0;
  return rk_min(rk_max((s->distance - reach[1]) / (reach[0] - reach[1]), 0.0), 1.0);
}

static void settle(axis *x, state start, state end) {
  const double from[3] = {start.p, start.v, start.a}, to[3] = {end.p, end.v, end.a};
  if (x->order == 3) x->core = rk_durations_of(from, to, x->limits);
  else x->plain = plain_of(from, to, x->limits);
  x->fixed = sum_of(x->entry, x->entries) + sum_of(x->exit, x->exits);
}

static state state_of(const double *values) { return (state){values[0], values[1], values[2]}; }

static int brake(axis *x) {
  const double v = x->start[1], V = x->limits[0], A = x->limits[1];
  if (x->order == 3) return rk_brake(v, x->start[2], V, A, x->limits[2], x->entry);
  if (fabs(v) <= V) return 0;
  x->entry[0] = (rk_piece){(fabs(v) - V) / A, -copysign(A, v)};
  return 1;
}

static void begin(axis *x, int order, const double *start, const double *end, const double *limits) {
  x->order = order, x->exits = x->detours = 0;
  x->start = start, x->end = end, x->limits = limits;
  x->entries = brake(x);
  settle(x, advance(order, state_of(start), x->entry, x->entries), state_of(end));
}

static int stop(const axis *x, double v, double a, rk_piece *pieces) {
  const double V = x->limits[0], A = x->limits[1], J = x->limits[2];
  if (x->order == 2) {
    pieces[0] = (rk_piece){fabs(v) / A, -copysign(A, v)};
    return 1;
  }
  const int turn = x->detours == 2 ? rk_stand(v, a, V, A, J, pieces) : 0;
  const state still = advance(3, (state){0.0, v, a}, pieces, turn);
  rk_stop(still.v, still.a, A, J, pieces + turn);
  return turn + 3;
}

static int can_end(const axis *x) {
  const double v = x->end[1], V = x->limits[0];
  if (x->order == 3) return rk_can_be_kept(v, -x->end[2], V, x->limits[1], x->limits[2]);
  return fabs(v) <= V * (1.0 + 1e-12);
}

/* Goes by a stop after the start, and by one before the end; the second time it turns about there, which takes less
 * room, and stops as it comes back. */
static void detour(axis *x) {
  x->detours++;
  x->entries = brake(x);
  state after = advance(x->order, state_of(x->start), x->entry, x->entries);
  x->entries += stop(x, after.v, after.a, x->entry + x->entries);
  after = advance(x->order, state_of(x->start), x->entry, x->entries);
  const double back = x->order == 2 ? -1.0 : 1.0; /* in time: accelerations change their sign, jerks do not */
  rk_piece pieces[EXIT];
  x->exits = stop(x, x->end[1], -x->end[2], pieces);
  for (int i = 0; i < x->exits; i++) {
    const rk_piece from = pieces[x->exits - 1 - i];
    x->exit[i] = (rk_piece){from.duration, back * from.u};
  }
  const double distance = advance(x->order, (state){0.0, 0.0, 0.0}, x->exit, x->exits).p;
  settle(x, (state){after.p, 0.0, 0.0}, (state){x->end[0] - distance, 0.0, 0.0});
}

/* The shortest possible duration that is not shorter than T. */
static double from(const axis *x, double T) {
  const double remaining = T - x->fixed;
  const double found = x->order == 3 ? rk_durations_from(&x->core, remaining) : plain_from(&x->plain, remaining);
  return found == remaining ? T : x->fixed + found;
}

static int farthest(const axis *x, int side, double T, rk_piece *pieces) {
  if (x->order == 2) return plain_farthest(&x->plain, side, T, pieces);
  const double jerk = side == 0 ? x->limits[2] : -x->limits[2];
  double phases[RK_PHASES];
  rk_extremal_phases(&x->core.farthest[side], T, phases);
  for (int i = 0; i < RK_PHASES; i++) pieces[i] = (rk_piece){phases[i], rk_phase_signs[i] * jerk};
  return RK_PHASES;
}

/* The share of the first, and the rest of the second, at the same time. */
static int mixed(const rk_piece *first, int m, const rk_piece *second, int n, double share, rk_piece *found) {
  int i = 0, j = 0, count = 0;
  double left = first[0].duration, right = second[0].duration;
  while (i < m || j < n) {
    const double duration = rk_min(left, right);
    if (duration > 0.0)
      found[count++] = (rk_piece){
          duration, (i < m ? share * first[i].u : 0.0) + (j < n ? (1.0 - share) * second[j].u : 0.0)};
    left -= duration, right -= duration;
    if (left <= 0.0) i++, left = i < m ? first[i].duration : INFINITY;
    if (right <= 0.0) j++, right = j < n ? second[j].duration : INFINITY;
  }
  return count;
}

static int pieces_of(const axis *x, double T, rk_piece *pieces) {
  const double remaining = rk_max(T - x->fixed, 0.0);
  const double share = x->order == 3 ? rk_durations_share(&x->core, remaining) : plain_share(&x->plain, remaining);
  int count = x->entries;
  for (int i = 0; i < count; i++) pieces[i] = x->entry[i];
  if (share == 1.0) {
    count += farthest(x, 0, remaining, pieces + count);
  } else if (share == 0.0) {
    count += farthest(x, 1, remaining, pieces + count);
  } else {
    rk_piece first[RK_PHASES], second[RK_PHASES];
    const int m = farthest(x, 0, remaining, first), n = farthest(x, 1, remaining, second);
    count += mixed(first, m, second, n, share, pieces + count);
  }
  for (int i = 0; i < x->exits; i++) pieces[count++] = x->exit[i];
  return count;
}

/* The least and the largest position: at the ends of the pieces, and where the speed is 0. */
static void reach(int order, state s, const rk_piece *pieces, int count, double *low, double *high) {
  *low = *high = s.p;
  for (int i = 0; i < count; i++) {
    const double t = pieces[i].duration, u = pieces[i].u;
    const double jerk = order == 3 ? u : 0.0, slope = order == 3 ? s.a : u;
    double times[3] = {t, -1.0, -1.0};
    if (jerk == 0.0) {
      if (slope != 0.0) times[1] = -s.v / slope;
    } else {
      const double root = slope * slope - 2.0 * jerk * s.v;
      if (root >= 0.0) {
        const double far = -(slope + copysign(sqrt(root), slope));
        times[1] = far / jerk;
        if (far != 0.0) times[2] = 2.0 * s.v / far;
      }
    }
    for (int k = 0; k < 3; k++) {
      if (!(times[k] > 0.0 && times[k] <= t)) continue;
      const double p = step(order, s, times[k], u).p;
      *low = rk_min(*low, p), *high = rk_max(*high, p);
    }
    s = step(order, s, t, u);
  }
}

static void put(double *row, double t, double p, double v, double a, double j) {
  row[0] = t, row[1] = p, row[2] = v, row[3] = a, row[4] = j;
}

static void write(const axis *x, const rk_piece *pieces, int count, double T, double *knots) {
  double time = 0.0;
  state s = state_of(x->start);
  int row = 0;
  for (int i = 0; i < count; i++) {
    const double t = pieces[i].duration, u = pieces[i].u;
    if (t > 0.0) {
      put(knots + 5 * row, time, s.p, s.v, x->order == 3 ? s.a : u, x->order == 3 ? u : 0.0);
      row++;
    }
    s = step(x->order, s, t, u);
    time = rk_min(time + t, T);
  }
  for (; row < RK_KNOTS; row++) put(knots + 5 * row, T, x->end[0], x->end[1], x->end[2], 0.0);
}

int64_t rk_point_to_point_workspace(int32_t n) {
  return ((int64_t)n * (int64_t)sizeof(axis) + (int64_t)sizeof(double) - 1) / (int64_t)sizeof(double);
}

int32_t rk_point_to_point(int32_t n, int32_t order, const double *start, const double *end, const double *limits,
                          const double *bounds, double least, double *work, double *duration, double *knots,
                          int32_t *concerned) {
  axis *axes = (axis *)work;
  *duration = 0.0, *concerned = -1;
  for (int32_t i = 0; i < n; i++) {
    begin(&axes[i], order, start + 3 * i, end + 3 * i, limits + 3 * i);
    if (can_end(&axes[i])) continue;
    *concerned = i;
    return RK_PLANNED_END;
  }
  for (;;) {
    double T = least;
    int32_t agreed = 0; /* axes in a row to which T is possible */
    for (int64_t turn = 0; agreed < n && turn < (int64_t)PASSES * n; turn++) {
      const double longer = from(&axes[turn % n], T);
      agreed = longer > T ? 1 : agreed + 1;
      T = rk_max(T, longer);
    }
    int changed = 0;
    for (int32_t i = 0; i < n; i++) {
      rk_piece pieces[PIECES];
      double low, high;
      const int count = pieces_of(&axes[i], T, pieces);
      const double lower = bounds[2 * i], upper = bounds[2 * i + 1];
      if (order == 3 && axes[i].core.at_rest && !axes[i].detours && !axes[i].entries)
        low = rk_min(start[3 * i], end[3 * i]), high = rk_max(start[3 * i], end[3 * i]); /* it goes one way */
      else
        reach(order, state_of(start + 3 * i), pieces, count, &low, &high);
      if (low < lower - CLOSE * (1.0 + fabs(lower)) || high > upper + CLOSE * (1.0 + fabs(upper))) {
        if (axes[i].detours == order - 1) {
          *concerned = i;
          return RK_PLANNED_BOUNDS;
        }
        detour(&axes[i]);
        changed = 1;
      } else {
        write(&axes[i], pieces, count, T, knots + (int64_t)5 * RK_KNOTS * i);
      }
    }
    if (!changed) {
      *duration = T;
      return RK_PLANNED_FOUND;
    }
  }
}
