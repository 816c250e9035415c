/* Rows of all tasks: those on tips from their residuals (tip_rows.c), and from these the rows of paths and closures. */
#include "step/step_rows.h"

#include "ik/ik_rows.h"
#include "math/rk_jacobi_svd.h"
#include "robot/rk_tree.h"
#include "step/clearance_rows.h"
#include "step/robot_rows.h"
#include "step/tip_rows.h"

static const double IDLE = 1e-5; /* of the fastest motion of a loop: slower ones are rounding (solvers/velocity/task_levels.py) */

/* Some rows of a task as they are of the twists of its two tips. */
typedef struct tip_rows {
  int count;
  double own[36], other[36];
} tip_rows;

/* Adds what a chain of nodes gives to rows[count][6] of the twist at `point`. */
static void climb(const rk_model *m, const double *nodes, int32_t node, const double point[3], int count,
                  const double *rows, const double *scale, double *J) {
  for (; node >= 0; node = m->parent[node]) {
    double twists[6][6];
    const int n = rk_node_twists(m, node, nodes + 12 * (int64_t)node, point, twists);
    for (int k = 0; k < n; k++) {
      const int32_t column = m->iv[node] + k;
      const double size = scale ? scale[column] : 1.0;
      for (int r = 0; r < count; r++)
        J[r * (int64_t)m->nv + column] += size * rk_dot6(rows + 6 * r, twists[k]);
    }
  }
}

/* J[count][nv]; scale null: without it. */
static void make_columns(const rk_model *m, const double *nodes, const rk_tip_rows *task, const double point[3],
                         const tip_rows *rows, const double *scale, double *J) {
  for (int64_t k = 0; k < rows->count * (int64_t)m->nv; k++) J[k] = 0.0;
  climb(m, nodes, m->frame_node[task->tip], point, rows->count, rows->own, scale, J);
  if (task->other >= 0) climb(m, nodes, m->frame_node[task->other], point, rows->count, rows->other, scale, J);
}

/* Zeros in place of rounding: rows of nothing else, as of an axis that only turns about itself, would hold a motion. */
static void drop_rounding(const rk_step *step, const tip_rows *rows, double *J) {
  const int64_t nv = step->model->nv;
  for (int r = 0; r < rows->count; r++) {
    const double *own = rows->own + 6 * r, *other = rows->other + 6 * r;
    double size = 0.0;
    for (int c = 0; c < 6; c++) size += (c < 3 ? step->length : 1.0) * (__builtin_fabs(own[c]) + __builtin_fabs(other[c]));
    for (int64_t k = r * nv; k < (r + 1) * nv; k++)
      if (__builtin_fabs(J[k]) < RK_ROUNDING * size) J[k] = 0.0;
  }
}

static void add_row(tip_rows *rows, double factor, const double *own, const double *other) {
  for (int c = 0; c < 6; c++) {
    rows->own[6 * rows->count + c] += factor * own[c];
    rows->other[6 * rows->count + c] += factor * other[c];
  }
}

/* The one row of a ball, along e[3]: in the middle, where the way out may be any, the one that moves most. Returns the
   length of e. J[nv]: scratch. */
static double along(const rk_model *m, const double *nodes, const rk_tip_rows *task, const double point[3],
                    const double e[3], const double *own, const double *other, tip_rows *row, double *J) {
  const double size = rk_norm3(e);
  double most = -1.0;
  int fastest = 0;
  for (int k = 0; k < 3; k++) {
    if (size > 0.0) {
      add_row(row, e[k] / size, own + 6 * k, other + 6 * k);
      continue;
    }
    tip_rows single = {.count = 0};
    add_row(&single, 1.0, own + 6 * k, other + 6 * k);
    single.count = 1;
    make_columns(m, nodes, task, point, &single, 0, J);
    const double square = rk_dot(m->nv, J, J);
    if (square > most) most = square, fastest = k;
  }
  if (!(size > 0.0)) add_row(row, 1.0, own + 6 * fastest, other + 6 * fastest);
  return size;
}

/* Asks only for this share of what `count` rows lack before the step. */
static void close_share(double share, int32_t count, double *low, double *high) {
  for (int32_t r = 0; r < count; r++) {
    const double remaining = (1.0 - share) * rk_clamp(0.0, low[r], high[r]);
    low[r] -= remaining, high[r] -= remaining;
  }
}

/* Leaves out of a residual the length that remains of what is beyond its band: its axes are others in another pose. */
static void shorten(double remaining, double band, double e[3]) {
  const double length = rk_norm3(e), beyond = length > band ? length - band : 0.0;
  const double wanted = length - rk_clamp(remaining, 0.0, beyond);
  for (int k = 0; k < 3; k++) e[k] *= length > 0.0 ? wanted / length : 1.0;
}

/* The rows of a task, weighted; returns their number. direction[6]: along which a velocity goes, of each. */
static int fill(const rk_step *step, rk_step_data *data, const double *nodes, int32_t t, double direction[6]) {
  static const double unit[12] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  const rk_model *m = step->model;
  const rk_tip_rows *task = step->tips + t;
  const double *target = data->targets + 16 * (int64_t)t, *point, infinite = __builtin_inf();
  const int is_ball = task->is_ball && !rk_is_apart(task, target);
  const int side = task->kind == RK_TIP_PLANE || rk_is_apart(task, target) ? task->side : 0;
  double T[12], O[12], *J = data->J + data->first_row[t] * (int64_t)m->nv;
  double *low = data->low + data->first_row[t], *high = data->high + data->first_row[t];
  rk_lack lack;
  tip_rows rows = {.count = 0};
  rk_place_frame(m, nodes, task->tip, T);
  if (task->other >= 0) rk_place_frame(m, nodes, task->other, O);
  point = T + 9;
  rk_tip_lack(task, T, task->other >= 0 ? O : unit, target, data->stays[t], step->dt,
              data->from ? data->before + 12 * (int64_t)t : 0, &lack);
  const double *remaining = data->remaining ? data->remaining + 6 * (int64_t)t : 0;
  if (remaining && rk_is_on_curve(task)) shorten(remaining[0], task->bands[0], lack.e), remaining = 0;
  for (int r = 0; r < 6; r++) {
    if (!rk_has_row(task, target, r)) continue;
    const double weight = task->weights[r];
    double band = task->bands[r] * (task->kind == RK_TIP_TWIST ? step->dt : 1.0);
    const double *own = lack.A + 6 * r, *other = lack.B + 6 * r;
    double e = lack.e[r];
    /* Each part of a beam is at most as long as what remains of it: one row along it. */
    const int is_shorter = remaining && task->kind == RK_TIP_LASER && remaining[r - r % 3] > 0.0;
    if (is_ball || (is_shorter && r % 3 == 0)) {
      e = along(m, nodes, task, point, lack.e + r, own, other, &rows, J);
      for (int c = 6 * rows.count; c < 6 * rows.count + 6; c++) rows.own[c] *= weight, rows.other[c] *= weight;
      if (is_shorter) band += remaining[r];
    } else if (is_shorter) {
      e = band = 0.0;
    } else {
      add_row(&rows, weight, own, other);
    }
    if (remaining && !is_shorter) e -= remaining[rows.count];
    low[rows.count] = side < 0 ? -infinite : weight * (e - band);
    high[rows.count] = side > 0 ? infinite : weight * (e + band);
    direction[rows.count++] = task->kind == RK_TIP_TWIST ? weight * lack.path[r] : 0.0;
  }
  make_columns(m, nodes, task, point, &rows, step->scale, J);
  drop_rounding(step, &rows, J);
  close_share(data->shares[t], rows.count, low, high);
  return rows.count;
}

int rk_rows_piece(const rk_step *step, const rk_step_data *data, const double *nodes, int32_t t, double *J, double room[2]) {
  const rk_tip_rows *task = step->tips + t;
  double T[12];
  tip_rows rows = {.count = 1};
  rk_place_frame(step->model, nodes, task->tip, T);
  if (!rk_tip_piece(task, T, data->targets + 16 * (int64_t)t, rows.own, room)) return 0;
  for (int c = 0; c < 6; c++) rows.own[c] /= step->length;
  for (int side = 0; side < 2; side++) room[side] /= step->length;
  make_columns(step->model, nodes, task, T + 9, &rows, step->scale, J);
  return 1;
}

void rk_rows_take_piece(const rk_step *step, const double target[16], const double *nodes, int32_t t, double beyond,
                        rk_segment *piece) {
  double T[12];
  rk_place_frame(step->model, nodes, step->tips[t].tip, T);
  rk_tip_take_piece(step->tips + t, T, target, beyond, piece);
}

/* What is across a path in count - 1 rows from `across` on, what is along it in the row `along`: the rows as a reflection
   has them that turns the first axis into the path. Where the path has no direction, the first row is along it. */
static void split_path(rk_step_data *data, int64_t nv, int32_t first, int count, const double *direction, int32_t across,
                      int32_t along) {
  double w[6], square = 0.0, wanted = 0.0, *J = data->J, *on_path = J + along * nv;
  for (int r = 0; r < count; r++) square += direction[r] * direction[r];
  for (int r = 0; r < count; r++) w[r] = square > 0.0 ? direction[r] / rk_sqrt(square) : r == 0;
  w[0] += w[0] < 0.0 ? -1.0 : 1.0;
  for (int64_t k = 0; k < nv; k++) on_path[k] = 0.0;
  for (int r = 0; r < count; r++) {
    rk_add_scaled((int32_t)nv, w[r], J + (first + r) * nv, on_path);
    wanted += w[r] * data->low[first + r];
  }
  for (int r = count - 1; r >= 0; r--) { /* the first one last: it is written over the sum */
    const double factor = -w[r] / __builtin_fabs(w[0]), *own = J + (first + r) * nv;
    const int32_t row = r > 0 ? across + r - 1 : along;
    for (int64_t k = 0; k < nv; k++) J[row * nv + k] = own[k] + factor * on_path[k];
    data->low[row] = data->high[row] = data->low[first + r] + factor * wanted;
  }
}

/* A loop's rows as those motions that it has, from `closed` on; the others are zero, and keep their gap. */
static void close_loop(rk_step_data *data, int32_t nv, int32_t first, int count, double correction, int32_t closed) {
  double V[36], square[6], fastest = 0.0, *A = data->J + closed * (int64_t)nv;
  for (int64_t k = 0; k < count * (int64_t)nv; k++) A[k] = data->J[first * (int64_t)nv + k];
  rk_orthogonalise(count, nv, A, V, square);
  for (int r = 0; r < count; r++) {
    square[r] = rk_dot(nv, A + r * (int64_t)nv, A + r * (int64_t)nv);
    fastest = square[r] > fastest ? square[r] : fastest;
  }
  for (int r = 0; r < count; r++) {
    double gap = 0.0;
    const int moves = square[r] > IDLE * IDLE * fastest;
    for (int k = 0; k < count; k++) gap += V[r * count + k] * data->low[first + k];
    for (int32_t k = 0; !moves && k < nv; k++) A[r * (int64_t)nv + k] = 0.0;
    data->low[closed + r] = data->high[closed + r] = correction * gap;
  }
}

void rk_rows_begin(const rk_step *step, rk_step_data *data, double *nodes) {
  rk_place_nodes(step->model, data->from, nodes);
  for (int32_t t = 0; t < step->n_tips; t++)
    rk_place_frame(step->model, nodes, step->tips[t].tip, data->before + 12 * (int64_t)t);
}

int64_t rk_rows_workspace(const rk_step *step) {
  return rk_robot_rows_workspace(step->model) + rk_clearance_rows_workspace(step->clearance);
}

void rk_rows_fill(const rk_step *step, rk_step_data *data, double *nodes, double *work) {
  const int32_t nv = step->model->nv;
  rk_place_nodes(step->model, data->q, nodes);
  for (int32_t t = 0; t < step->n_tips; t++) {
    const int32_t first = data->first_row[t], made = data->made_row[2 * t], along = data->made_row[2 * t + 1];
    double direction[6];
    const int count = fill(step, data, nodes, t, direction);
    for (int r = 0; data->from && r < count; r++) data->path_directions[6 * (int64_t)t + r] = direction[r];
    if (made >= 0 && along >= 0) split_path(data, nv, first, count, direction, made, along);
    if (made >= 0 && along < 0) close_loop(data, nv, first, count, step->tips[t].correction, made);
  }
  rk_fill_robot_rows(step, data, nodes, work);
  rk_fill_clearance(step, data, nodes, work + rk_robot_rows_workspace(step->model));
}

/* A task's residual at x: rk_rows_measure. */
static void measure(const rk_step *step, const rk_step_data *data, int32_t t, const double *x, double out[2]) {
  const rk_tip_rows *task = step->tips + t;
  const double *target = data->targets + 16 * (int64_t)t, rate = task->kind == RK_TIP_TWIST ? step->dt : 1.0;
  const int32_t nv = step->model->nv;
  int32_t row = data->first_row[t];
  for (int part = 0; part < 2; part++) {
    double sum = 0.0;
    for (int r = 3 * part; r < 3 * part + 3; r++) {
      if (!rk_has_row(task, target, r)) continue;
      const double value = x ? rk_dot(nv, data->J + (int64_t)row * nv, x) : 0.0;
      double residual = rk_clamp(value, data->low[row], data->high[row]) - value;
      residual /= task->weights[r] * rate; /* which has lengths over L */
      sum += residual * residual;
      row++;
    }
    out[part] = rk_sqrt(sum);
  }
}

void rk_rows_measure_across(const rk_step *step, const rk_step_data *data, double *out) {
  for (int32_t t = 0; t < step->n_tips; t++) {
    const rk_tip_rows *task = step->tips + t;
    const double *direction = data->path_directions + 6 * (int64_t)t, *low = data->low + data->first_row[t];
    double advance = 0.0, square = 0.0;
    int row = 0;
    if (data->made_row[2 * t] < 0 || data->made_row[2 * t + 1] < 0) continue;
    for (int r = 0; r < 6; r++)
      if (task->weights[r] != 0.0) advance += direction[row] * low[row], square += direction[row] * direction[row], row++;
    row = 0;
    for (int part = 0; part < 2; part++) {
      double sum = 0.0;
      for (int r = 3 * part; r < 3 * part + 3; r++) {
        if (task->weights[r] == 0.0) continue;
        const double residual = (low[row] - (square > 0.0 ? advance / square * direction[row] : 0.0)) / (task->weights[r] * step->dt);
        sum += residual * residual;
        row++;
      }
      out[2 * (int64_t)t + part] = rk_sqrt(sum);
    }
  }
}

void rk_rows_measure(const rk_step *step, const rk_step_data *data, const double *x, double *out) {
  for (int32_t t = 0; t < step->n_tips; t++) measure(step, data, t, x, out + 2 * (int64_t)t);
  rk_measure_robot_rows(step, data, x, out + 2 * (int64_t)step->n_tips);
  rk_measure_clearance(step, data, x, out + 2 * (int64_t)(step->n_tips + step->n_robot_tasks));
}
