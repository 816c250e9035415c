/* Six turning joints of which the last three axes meet: the first three place that point, the others turn. */
#include "families/families.h"

void rk_spherical_wrist(rk_pose *pose) {
  const rk_family *f = pose->f;
  double to[3];
  rk_triple arms[4], wrists[2];
  rk_image(pose, f->o[3], to);
  rk_subtract3(to, f->o[0], to);
  const int count = rk_arm_turns(pose, to, arms);
  for (int i = 0; i < count; i++) {
    double A[9], B[9];
    rk_turn_back(f->h[0], arms[i].t[0], pose->R, A);
    rk_turn_back(f->h[1], arms[i].t[1], A, B);
    rk_turn_back(f->h[2], arms[i].t[2], B, A);
    const int here = rk_three_turns(f->h[3], f->h[4], f->h[5], f->side[5], A, pose->wanted[3], wrists);
    for (int j = 0; j < here; j++) {
      rk_candidate *found = rk_more(pose);
      if (!found) return;
      for (int k = 0; k < 3; k++) found->turn[k] = arms[i].t[k], found->turn[3 + k] = wrists[j].t[k];
      found->branch = arms[i].branch | wrists[j].branch;
      if (wrists[j].coupled) found->couplings = 1, found->coupling[0] = (rk_coupling){3, 5, wrists[j].sign};
    }
  }
}
