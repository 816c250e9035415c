/* Tracking: limits hold while targets jump about, pieces equal the whole, bad targets end a run; exact memory. */
#include "../include/robokin_track.h"

#include "check.h"
#include "robots.h"

enum { NODES = 3, NQ = 9, NV = 8, FRAMES = 400, SINGLE = 2 * NQ + NV + 5 };

/* A carriage (1 length), on it an arm (1 angle), on it a floating tip; everything has every limit. */
typedef struct robot {
  rk_model model;
  rk_task task;
  rk_ik ik;
  rk_track track;
  int32_t task_start[2], columns[NV], coordinate[NV], ik_coordinate[NV], q_index[NQ], about_middle[NQ];
  double middle[NQ], half_range[NQ], damping[NV], largest[NV], change[NV], lower[NV], upper[NV];
} robot;

static robot *make_robot(void) {
  robot *r = allocate(sizeof *r);
  r->model = make_model(NODES, 1, NQ, NV);
  rk_model *m = &r->model;
  SET(m->motion, 0, RK_TRANSLATION);
  SET(m->motion, 2, RK_FREE);
  SET(m->placement, 12 + 9, 0.3);
  SET(m->frame_node, 0, 2);
  SET(m->frame_placement, 9, 0.2);
  for (int32_t i = 0; i < NQ; i++) {
    SET(m->lower, i, i < 2 ? -1.0 : -INFINITY);
    SET(m->upper, i, i < 2 ? 0.8 : INFINITY);
    r->q_index[i] = i;
  }
  r->task = (rk_task){.kind = RK_TASK_POSE, .parts = 3, .tolerance = {1e-5, 1e-5}, .reach = INFINITY};
  r->task.wrist_reach = INFINITY;
  for (int32_t k = 0; k < 6; k++) r->task.weights[k] = r->task.used[k] = 1.0;
  for (int32_t k = 0; k < NV; k++) {
    r->columns[k] = k;
    r->coordinate[k] = k < 2 ? k : -1;
    r->ik_coordinate[k] = k < 5 ? k : -1;
    r->damping[k] = 1.0;
    r->largest[k] = k < 2 ? 0.05 : 0.03;
    r->change[k] = k < 2 ? 0.01 : 0.004;
    r->lower[k] = k < 2 ? -1.0 : -INFINITY;
    r->upper[k] = k < 2 ? 0.8 : INFINITY;
  }
  r->task_start[1] = NV;
  r->ik = (rk_ik){.model = m, .tasks = &r->task, .task_start = r->task_start, .task_columns = r->columns,
                  .coordinate = r->ik_coordinate, .q_index = r->q_index, .middle = r->middle, .half_range = r->half_range,
                  .about_middle = r->about_middle, .damping = r->damping, .length = 1.0, .robot_nq = NQ,
                  .attempts = 1, .iterations = 30};
  r->track = (rk_track){.ik = &r->ik, .largest = r->largest, .change = r->change, .coordinate = r->coordinate,
                        .lower = r->lower, .upper = r->upper, .braked = 1, .curved = 1};
  return r;
}

typedef struct outcome {
  double *q, *residuals, state[SINGLE];
  int32_t *codes, *iterations;
  int8_t *behind;
  int64_t done;
} outcome;

static outcome run(const robot *r, const double *targets, const int64_t *cuts, int pieces) {
  outcome o = {.q = doubles(FRAMES * NQ), .residuals = doubles(FRAMES * 2), .codes = allocate(FRAMES * sizeof(int32_t)),
               .iterations = allocate(FRAMES * sizeof(int32_t)), .behind = allocate(FRAMES * NV)};
  o.state[5] = o.state[NQ + 5] = 1.0; /* the identity quaternion, behind 2 coordinates and 3 lengths */
  int64_t at = 0;
  for (int piece = 0; piece < pieces; piece++) {
    double *work = doubles(rk_track_workspace(&r->track));
    const int64_t count = cuts[piece] - at;
    o.done += rk_track_run(&r->track, count, targets + 16 * at, 0, 0, o.state, work, o.q + NQ * at, o.residuals + 2 * at,
                           o.codes + at, o.iterations + at, o.behind + NV * at);
    at = cuts[piece];
    free(work);
  }
  return o;
}

static void release(outcome *o) {
  free(o->q), free(o->residuals), free(o->codes), free(o->iterations), free(o->behind);
}

int main(void) {
  robot *r = make_robot();
  uint64_t seed = 7;
  double *targets = doubles(FRAMES * 16);
  for (int64_t k = 0; k < FRAMES; k++) {
    double *T = targets + 16 * k;
    if (k % 80) {
      memcpy(T, T - 16, 16 * sizeof(double));
      continue;
    }
    double w[4], R[9];
    random_quaternion(&seed, w);
    const double two[3] = {2 * w[1], 2 * w[2], 2 * w[3]};
    R[0] = 1 - two[1] * w[2] - two[2] * w[3], R[1] = two[0] * w[2] - two[2] * w[0], R[2] = two[0] * w[3] + two[1] * w[0];
    R[3] = two[0] * w[2] + two[2] * w[0], R[4] = 1 - two[0] * w[1] - two[2] * w[3], R[5] = two[1] * w[3] - two[0] * w[0];
    R[6] = two[0] * w[3] - two[1] * w[0], R[7] = two[1] * w[3] + two[0] * w[0], R[8] = 1 - two[0] * w[1] - two[1] * w[2];
    for (int row = 0; row < 3; row++) {
      for (int c = 0; c < 3; c++) T[4 * row + c] = R[3 * row + c];
      T[4 * row + 3] = uniform(&seed, -0.5, 0.5);
    }
    T[12] = T[13] = T[14] = 0.0, T[15] = 1.0;
  }

  const int64_t whole[1] = {FRAMES}, pieces[4] = {1, 83, 84, FRAMES};
  outcome one = run(r, targets, whole, 1), four = run(r, targets, pieces, 4);
  CHECK(one.done == FRAMES && four.done == FRAMES, "all frames are done");
  CHECK(!memcmp(one.q, four.q, FRAMES * NQ * sizeof(double)), "pieces have the same configurations");
  CHECK(!memcmp(one.residuals, four.residuals, FRAMES * 2 * sizeof(double)), "and residuals");
  CHECK(!memcmp(one.codes, four.codes, FRAMES * sizeof(int32_t)) && !memcmp(one.behind, four.behind, FRAMES * NV),
        "and reports");
  CHECK(!memcmp(one.state, four.state, sizeof one.state), "and end in the same state");

  double before[NQ] = {0}, last[NV] = {0}, step[NV];
  before[5] = 1.0;
  int late = 0;
  for (int64_t k = 0; k < FRAMES; k++) {
    const double *q = one.q + NQ * k;
    rk_difference(&r->model, 1, before, q, step);
    for (int32_t c = 0; c < NV; c++) {
      CHECK(fabs(step[c]) <= r->largest[c] * (1 + 1e-12), "frame %d moves %g", (int)k, step[c]);
      CHECK(fabs(step[c] - last[c]) <= r->change[c] + 1e-12, "frame %d changes by %g", (int)k, step[c] - last[c]);
      if (c < 2) CHECK(q[c] >= -1.0 && q[c] <= 0.8, "frame %d is at %g", (int)k, q[c]);
    }
    late += one.codes[k] == RK_TRACK_LATE;
    if (k % 80 == 79) CHECK(one.codes[k] == RK_IK_CONVERGED, "frame %d has arrived", (int)k);
    memcpy(before, q, sizeof before);
    memcpy(last, step, sizeof last);
  }
  CHECK(late > 20, "only %d frames are late", late);

  targets[16 * 100 + 15] = 2.0;
  outcome ended = run(r, targets, whole, 1);
  CHECK(ended.done == 100, "ended after %d frames", (int)ended.done);
  CHECK(!memcmp(ended.q, one.q, 100 * NQ * sizeof(double)), "the frames before are done");
  release(&one), release(&four), release(&ended);
  free(targets);
  free_model(&r->model);
  free(r);
  return report("track");
}
