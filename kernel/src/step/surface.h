/* Where a beam meets a surface. */
#ifndef RK_SURFACE_H
#define RK_SURFACE_H

/* t > 0: how far from o[3] along a[3] a beam meets the surface[13] of a target first; n[3]: its normal there. Returns 0
   where it misses. */
double rk_beam_hit(const double surface[13], const double o[3], const double a[3], double n[3]);

#endif
