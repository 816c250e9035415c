/* Turning joints with parallel axes, and a slide along them anywhere between (SCARA) or none. Two turns bring the tip's
   point somewhere in the plane; three bring the third axis somewhere, and turn. */
#include "families/families.h"

void rk_planar(rk_pose *pose) {
  const rk_family *f = pose->f;
  int32_t turns[3] = {0}, count = 0, slide = -1;
  for (int32_t i = 0; i < f->joints; i++) {
    if (f->slides >> i & 1)
      slide = i;
    else
      turns[count++] = i;
  }
  const double *k = f->h[turns[0]], *k2 = f->h[turns[1]];
  const double *end = count == 3 ? f->o[turns[2]] : pose->tip;
  double at[3], v[3], p12[3], p23[3];
  rk_turn t1[2], t2[2];
  if (count == 3)
    rk_image(pose, end, at);
  else
    rk_copy(at, pose->target, 3);
  rk_subtract3(at, f->o[turns[0]], v);
  rk_subtract3(f->o[turns[1]], f->o[turns[0]], p12);
  rk_subtract3(end, f->o[turns[1]], p23);
  const int found = rk_two_parallel(pose, turns[0], turns[1], k, k2, p12, p23, v, t1, t2);
  for (int i = 0; i < found; i++) {
    rk_candidate *c = rk_more(pose);
    if (!c) return;
    c->turn[turns[0]] = t1[i], c->turn[turns[1]] = t2[i];
    if (count == 3) {
      const rk_turn two = rk_sum(t1[i], rk_dot3(k, k2) < 0.0 ? rk_back(t2[i]) : t2[i]);
      const rk_turn third = rk_sum(rk_turn_of(k, f->side[turns[0]], pose->R), rk_back(two));
      c->turn[turns[2]] = rk_dot3(k, f->h[turns[2]]) < 0.0 ? rk_back(third) : third;
    }
    if (slide >= 0) {
      double offset[3];
      rk_subtract3(at, end, offset);
      c->slide[slide] = rk_dot3(f->h[slide], offset);
    }
    c->branch = i ? RK_ELBOW : 0;
  }
}
