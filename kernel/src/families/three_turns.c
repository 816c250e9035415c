/* A rotation as three turns about given axes: a wrist or a shoulder whose axes meet. */
#include "families/families.h"

rk_turn rk_turn_of(const double k[3], const double side[3], const double R[9]) {
  double turned[3], across[3];
  rk_rotate(R, side, turned);
  rk_cross(k, side, across);
  return rk_unit_turn(rk_dot3(side, turned), rk_dot3(across, turned));
}

int rk_three_turns(const double h0[3], const double h1[3], const double h2[3], const double side[3], const double R[9],
                   rk_turn wanted, rk_triple out[2]) {
  double goal[3];
  rk_turn t0[2], t1[2];
  rk_rotate(R, h2, goal);
  int count = rk_sub2(h0, h1, h2, goal, RK_NOTHING, t0, t1);
  const int coupled = count == -1;
  if (count == -2) return 0; /* axes 2 and 3 would lie on each other */
  if (coupled) t0[0] = wanted, count = 1;
  for (int i = 0; i < count; i++) {
    double turned[3], back[3], last[3], across[3];
    rk_rotate(R, side, turned);
    rk_turned(h0, rk_back(t0[i]), turned, back);
    rk_turned(h1, rk_back(t1[i]), back, last);
    rk_cross(h2, side, across);
    const rk_turn t2 = rk_unit_turn(rk_dot3(side, last), rk_dot3(across, last));
    out[i] = (rk_triple){{t0[i], t1[i], t2}, i ? RK_WRIST : 0, coupled, rk_dot3(h0, goal) > 0.0 ? 1.0 : -1.0};
  }
  return count;
}
