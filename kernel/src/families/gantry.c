/* Three slides, and up to three turning joints, in any order: slides do not turn, so that the rotation is the turns'
   own; then the position is linear in the slides. */
#include "families/families.h"

static const double FLAT = 1e-9; /* a smaller determinant of three directions: they lie in a plane */

/* The slides for the turns of c; 0 where their directions lie in a plane. */
static int slides(const rk_pose *pose, rk_candidate *c) {
  const rk_family *f = pose->f;
  double direction[3][3], x[3], residual[3], normal[3];
  int32_t number[3] = {0}, count = 0;
  /* The tip with all slides at 0, and the directions of the slides, from the tip to the root. */
  rk_copy(x, pose->tip, 3);
  for (int32_t i = f->joints - 1; i >= 0; i--) {
    if (f->slides >> i & 1) {
      number[count] = i;
      rk_copy(direction[count++], f->h[i], 3);
      continue;
    }
    double y[3], z[3];
    rk_subtract3(x, f->o[i], y);
    rk_turned(f->h[i], c->turn[i], y, z);
    rk_add3(z, f->o[i], x);
    for (int32_t j = 0; j < count; j++) {
      rk_turned(f->h[i], c->turn[i], direction[j], z);
      rk_copy(direction[j], z, 3);
    }
  }
  rk_subtract3(pose->target, x, residual);
  rk_cross(direction[1], direction[2], normal);
  const double det = rk_dot3(direction[0], normal);
  if (!(__builtin_fabs(det) > FLAT)) return 0;
  for (int i = 0; i < 3; i++) {
    rk_cross(direction[(i + 1) % 3], direction[(i + 2) % 3], normal);
    c->slide[number[i]] = rk_dot3(residual, normal) / det;
  }
  return 1;
}

static void add(rk_pose *pose, const int32_t turns[3], int32_t count, const rk_triple *found) {
  rk_candidate *c = rk_more(pose);
  if (!c) return;
  for (int32_t i = 0; i < count; i++) c->turn[turns[i]] = found->t[i];
  c->branch = found->branch;
  if (found->coupled) c->couplings = 1, c->coupling[0] = (rk_coupling){turns[0], turns[2], found->sign};
  if (slides(pose, c)) return;
  pose->count--;
  pose->notes |= RK_HIDDEN;
}

void rk_gantry(rk_pose *pose) {
  const rk_family *f = pose->f;
  int32_t turns[3] = {0}, count = 0;
  for (int32_t i = 0; i < f->joints; i++)
    if (!(f->slides >> i & 1)) turns[count++] = i;
  rk_triple found[2] = {0};
  int solutions = 1;
  if (count == 1) {
    found[0].t[0] = rk_turn_of(f->h[turns[0]], f->side[turns[0]], pose->R);
  } else if (count == 2) {
    const double *h0 = f->h[turns[0]], *h1 = f->h[turns[1]];
    double goal[3], A[9];
    rk_rotate(pose->R, h1, goal);
    if (!rk_sub1(h0, h1, goal, RK_NOTHING, found[0].t)) return;
    rk_turn_back(h0, found[0].t[0], pose->R, A);
    found[0].t[1] = rk_turn_of(h1, f->side[turns[1]], A);
  } else if (count == 3) {
    solutions = rk_three_turns(f->h[turns[0]], f->h[turns[1]], f->h[turns[2]], f->side[turns[2]], pose->R,
                               pose->wanted[turns[0]], found);
  }
  for (int i = 0; i < solutions; i++) add(pose, turns, count, found + i);
}
