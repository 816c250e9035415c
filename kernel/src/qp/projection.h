/* The point of a polyhedron that is nearest to a given one: the core of quadratic programs, in coordinates where H is
   the identity. Twin of `_Projection` in solvers/qp/dense.py, which explains it; the factors are updated here. */
#ifndef RK_PROJECTION_H
#define RK_PROJECTION_H

#include <stdint.h>

/* p constraints low <= N y <= high on y[n]; k of them are active, with sign-turned normals Q'R. */
typedef struct rk_projection {
  int32_t n, p, k, iterations;
  double tolerance;
  double *N, *low, *high, *length; /* [p][n], [p]: filled in by the caller, but for the length */
  double *y0, *y;                  /* [n] the point, filled in by the caller, and the nearest one */
  double *u, *sign;                /* [n] of the active ones */
  int32_t *number;                 /* [n] which they are */
  double *Q, *R;                   /* [n][n] of which k rows, orthonormal; upper triangular, k columns */
  double *d, *r, *rest, *shift, *left, *along; /* [n] */
  double moved, *safe;             /* how far y has come, and until when each constraint is kept surely [p] */
  double *rate;                    /* [p] */
  int32_t *flag;                   /* [p] */
} rk_projection;

/* Lays a projection of at most n unknowns and p constraints out in rk_projection_workspace(n, p) doubles. */
int64_t rk_projection_workspace(int64_t n, int64_t p);
rk_projection rk_projection_lay_out(int64_t n, int64_t p, double *work);

/* y of y0: an rk_qp_status. */
int32_t rk_project(rk_projection *s);

/* Projects again after y0 was moved a little: the active constraints are tried first. */
int32_t rk_project_again(rk_projection *s);

/* Projects y0; the constraints that have a side[p], 1 lower or -1 upper, are tried first. carried: 0, or as many as it was
   projected with before; what was active then is tried first instead. */
int32_t rk_project_with(rk_projection *s, int32_t carried, const int32_t *side);

/* Projects from a y that keeps all constraints, filled in by the caller. */
int32_t rk_project_from(rk_projection *s);

#endif
