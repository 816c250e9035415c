/* Six turning joints of which three neighbours have parallel axes k: joints 2, 3, 4, or 1, 2, 3. The joint at the other
   side of two more, a and b, than the parallel ones is the outer one: joint 1, or joint 6. Without it the chain is
   E_k R_a R_b; what k sees of it does not depend on E_k, and says where the outer joint and joint a are. */
#include "families/families.h"

typedef struct chain {
  const double *k, *a, *b;    /* axes */
  const double *side;         /* of b */
  int32_t first, outer, last; /* numbers: of the first parallel joint, of the outer one, of a */
} chain;

/* The pose without the outer joint: the rotation, and the image of a point of axis b. */
static void without_outer(const rk_pose *pose, const chain *c, rk_turn outer, double R[9], double at[3]) {
  const rk_family *f = pose->f;
  const double *b = f->o[c->last + 1], *h = f->h[c->outer], *o = f->o[c->outer];
  double x[3], y[3];
  if (f->outer_last) { /* G R6^-1 */
    double T[9];
    rk_turn_matrix(h, rk_back(outer), T);
    rk_multiply(pose->R, T, R);
    rk_subtract3(b, o, x);
    rk_turned(h, rk_back(outer), x, y);
    rk_add3(y, o, x);
    rk_image(pose, x, at);
  } else { /* R1^-1 G */
    rk_turn_back(h, outer, pose->R, R);
    rk_image(pose, b, y);
    rk_subtract3(y, o, x);
    rk_turned(h, rk_back(outer), x, y);
    rk_add3(y, o, at);
  }
}

/* The parallel turns' sum for which the elbow reaches, nearest to the one given: it reaches where p - E t, across k, is no
   longer and no shorter than both links together, of which both ends are a c + b s = d. */
static rk_turn within_reach(const chain *c, const rk_family *f, const double at[3], rk_turn turn_a, rk_turn total) {
  double x[3], y[3], p[3], t[3], form[3], lengths[2];
  const double *oa = f->o[c->last], *ob = f->o[c->last + 1];
  for (int i = 0; i < 2; i++) {
    rk_subtract3(f->o[c->first + i + 1], f->o[c->first + i], x);
    rk_across(c->k, x, y);
    lengths[i] = rk_norm3(y);
  }
  rk_subtract3(ob, oa, x);
  rk_turned(c->a, turn_a, x, y);
  rk_add3(y, oa, x);
  rk_subtract3(x, f->o[c->first + 2], y);
  rk_across(c->k, y, t);
  rk_subtract3(at, f->o[c->first], x);
  rk_across(c->k, x, p);
  rk_form(p, c->k, t, form);
  const double squares = rk_dot3(p, p) + rk_dot3(t, t), longest = lengths[0] + lengths[1];
  const double shortest = lengths[0] - lengths[1], here = squares - 2.0 * (form[0] * total.c + form[1] * total.s);
  if (here <= longest * longest && here >= shortest * shortest) return total;
  rk_turn edges[2], best = total;
  const double end = here > longest * longest ? longest : shortest, least = RK_NOTHING * f->size;
  const int count = rk_linear(form[0], form[1], 0.5 * (squares - end * end), least * least, edges);
  double nearest = -2.0;
  for (int i = 0; i < count; i++) {
    const double cosine = edges[i].c * total.c + edges[i].s * total.s;
    if (cosine > nearest) nearest = cosine, best = edges[i];
  }
  return best;
}

/* The joints other than the outer one, from the turn of a and b and the sum of the parallel ones. */
static void add(rk_pose *pose, const chain *c, rk_turn outer, const rk_triple *hand, const double at[3], int32_t branch) {
  const rk_family *f = pose->f;
  const double *k = c->k, *o1 = f->o[c->first], *o2 = f->o[c->first + 1], *o3 = f->o[c->first + 2];
  const double *oa = f->o[c->last], *ob = f->o[c->last + 1], *k2 = f->h[c->first + 1], *k3 = f->h[c->first + 2];
  double x[3], y[3], v[3], p12[3], p23[3];
  rk_turn t1[2], t2[2];
  /* at = o1 + E1(p12 + E2 p23) + E (oa - o3 + Ra(ob - oa)) across k, E = E1 E2 E3 */
  rk_subtract3(ob, oa, x);
  rk_turned(c->a, hand->t[1], x, y);
  rk_add3(y, oa, x);
  rk_subtract3(x, o3, x);
  rk_turned(k, hand->t[0], x, y);
  rk_subtract3(at, y, v);
  rk_subtract3(v, o1, v);
  rk_subtract3(o2, o1, p12);
  rk_subtract3(o3, o2, p23);
  const int count = rk_two_parallel(pose, c->first, c->first + 1, k, k2, p12, p23, v, t1, t2);
  const double e2 = rk_dot3(k, k2), e3 = rk_dot3(k, k3);
  for (int i = 0; i < count; i++) {
    rk_candidate *found = rk_more(pose);
    if (!found) return;
    const rk_turn two = rk_sum(t1[i], e2 < 0.0 ? rk_back(t2[i]) : t2[i]), third = rk_sum(hand->t[0], rk_back(two));
    found->turn[c->first] = t1[i], found->turn[c->first + 1] = t2[i];
    found->turn[c->first + 2] = e3 < 0.0 ? rk_back(third) : third;
    found->turn[c->last] = hand->t[1], found->turn[c->last + 1] = hand->t[2];
    found->turn[c->outer] = outer;
    found->branch = branch | (i ? RK_ELBOW : 0);
  }
}

/* With the turns of the outer joint and of a: those of the others. */
static void add_turned(rk_pose *pose, const chain *c, rk_turn outer, rk_turn a, int32_t branch) {
  double R[9], at[3], goal[3], turned[3], A[9], B[9];
  rk_triple hand = {.t[1] = a};
  without_outer(pose, c, outer, R, at);
  rk_rotate(R, c->b, goal);
  rk_turned(c->a, a, c->b, turned);
  if (!rk_sub1(c->k, turned, goal, RK_NOTHING, hand.t)) {
    hand.t[0] = rk_any(pose, c->first);
    pose->notes |= RK_HIDDEN;
  }
  rk_turn_back(c->k, hand.t[0], R, A);
  rk_turn_back(c->a, a, A, B);
  hand.t[2] = rk_turn_of(c->b, c->side, B);
  add(pose, c, outer, &hand, at, branch);
}

void rk_three_parallel(rk_pose *pose) {
  const rk_family *f = pose->f;
  const int32_t first = f->outer_last ? 0 : 1, last = first + 3, outer = f->outer_last ? 5 : 0;
  const chain c = {f->h[first], f->h[last], f->h[last + 1], f->side[last + 1], first, outer, last};
  const double *h = f->h[outer];
  double x[3], y_position[3], y_direction[3], span[3], P[3], D[3], place, ends[3];
  /* k'(at - o_first) and k'R b as y'R(h, outer) x + place. */
  if (f->outer_last) {
    rk_rotate_back(pose->R, c.k, x);
    rk_subtract3(f->o[last + 1], f->o[outer], y_position);
    rk_copy(y_direction, c.b, 3);
    rk_image(pose, f->o[outer], span);
  } else {
    rk_copy(x, c.k, 3);
    rk_image(pose, f->o[last + 1], span);
    rk_subtract3(span, f->o[outer], y_position);
    rk_rotate(pose->R, c.b, y_direction);
    rk_copy(span, f->o[outer], 3);
  }
  rk_subtract3(span, f->o[first], ends);
  place = rk_dot3(c.k, ends);
  rk_form(y_position, h, x, P);
  rk_form(y_direction, h, x, D);
  /* The same of joint a: k'(oa - o_first) + k'Ra(ob - oa), and k'Ra b. */
  double tail[3], base[3], N[3], M[3];
  rk_subtract3(f->o[last + 1], f->o[last], tail);
  rk_subtract3(f->o[last], f->o[first], base);
  rk_form(c.k, c.a, tail, N);
  rk_form(c.k, c.a, c.b, M);
  N[2] += rk_dot3(c.k, base) - place;
  rk_turn t[4];
  int count;
  if (f->meets) { /* tail is 0: the position sees the outer joint alone */
    count = rk_linear(P[0], P[1], N[2] - P[2], pose->nothing, t);
    if (count < 0) { /* what the others can do depends on it */
      t[0] = rk_any(pose, outer), count = 1;
      pose->notes |= RK_HIDDEN;
    }
  } else if (M[0] * M[0] + M[1] * M[1] <= RK_NOTHING * RK_NOTHING) { /* a and b are parallel: the direction sees the outer joint alone */
    count = rk_linear(D[0], D[1], M[2] - D[2], RK_NOTHING, t);
    if (count < 0) {
      t[0] = rk_any(pose, outer), count = 1;
      pose->notes |= RK_HIDDEN;
    }
    for (int i = 0, found = 0; i < count; i++) {
      rk_turn a[2];
      const double reach = P[0] * t[i].c + P[1] * t[i].s + P[2] - N[2];
      for (int j = 0, here = rk_linear(N[0], N[1], reach, pose->nothing, a); j < here; j++)
        add_turned(pose, &c, t[i], a[j], RK_ROOT * found++);
    }
    return;
  } else { /* (c, s) of joint a = 1/det (..) is linear in those of the outer one, and of length 1 */
    const double det = N[0] * M[1] - N[1] * M[0];
    double ca[3], sa[3], g[3][3];
    for (int i = 0; i < 3; i++) {
      const double n = P[i] - (i == 2 ? N[2] : 0.0), m = D[i] - (i == 2 ? M[2] : 0.0);
      ca[i] = (n * M[1] - m * N[1]) / det;
      sa[i] = (N[0] * m - M[0] * n) / det;
    }
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) g[i][j] = ca[i] * ca[j] + sa[i] * sa[j];
    const double polynomial[5] = {g[2][2] + 0.5 * (g[0][0] + g[1][1]) - 1.0, 2.0 * g[0][2], 2.0 * g[1][2],
                                  0.5 * (g[0][0] - g[1][1]), g[0][1]};
    count = rk_circle_roots(polynomial, t);
    for (int i = 0; i < count; i++) {
      const double cosine = ca[0] * t[i].c + ca[1] * t[i].s + ca[2], sine = sa[0] * t[i].c + sa[1] * t[i].s + sa[2];
      add_turned(pose, &c, t[i], rk_unit_turn(cosine, sine), RK_ROOT * i);
    }
    return;
  }
  for (int i = 0; i < count; i++) {
    double R[9], at[3];
    rk_triple hands[2];
    without_outer(pose, &c, t[i], R, at);
    /* Where k and b lie on each other, b keeps its turn and the parallel ones follow. */
    double T[9], A[9], B[9];
    int here = rk_three_turns(c.k, c.a, c.b, c.side, R, (rk_turn){1.0, 0.0}, hands);
    if (here == 1 && hands[0].coupled) {
      const rk_turn kept = rk_any(pose, last + 1);
      rk_turn_matrix(c.b, rk_back(kept), T);
      rk_multiply(R, T, A);
      rk_turn_matrix(c.a, rk_back(hands[0].t[1]), T);
      rk_multiply(A, T, B);
      hands[0].t[0] = within_reach(&c, f, at, hands[0].t[1], rk_turn_of(c.k, f->side[first], B));
      rk_turn_back(c.k, hands[0].t[0], R, A);
      rk_turn_back(c.a, hands[0].t[1], A, B);
      hands[0].t[2] = rk_turn_of(c.b, c.side, B);
    }
    for (int j = 0; j < here; j++)
      add(pose, &c, t[i], hands + j, at, (i ? RK_SHOULDER : 0) | hands[j].branch);
  }
}
