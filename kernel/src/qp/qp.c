/* Quadratic programs: the change to coordinates where H is the identity, and back. Twin of solvers/qp/dense.py. */
#include "robokin_qp.h"

#include "qp/projection.h"
#include "math/rk_cholesky.h"

int64_t rk_qp_workspace(int32_t n, int32_t m) {
  const int64_t size = n;
  return size * size + rk_projection_workspace(size, size + m);
}

int32_t rk_qp(int32_t n, int32_t m, const double *H, const double *g, const double *C, const double *low,
              const double *high, double tolerance, double *work, double *x, double *multipliers,
              int32_t *iterations) {
  const int32_t p = n + m;
  double *L = work;
  rk_projection s = rk_projection_lay_out(n, p, work + (int64_t)n * n);
  s.tolerance = tolerance;
  for (int32_t i = 0; i < n; i++) x[i] = 0.0;
  for (int32_t c = 0; c < p; c++) multipliers[c] = 0.0;
  *iterations = 0;
  if (!rk_cholesky(n, H, L)) return RK_QP_NOT_CONVEX;
  for (int32_t c = 0; c < p; c++) {
    double *normal = s.N + (int64_t)c * n;
    for (int32_t i = 0; i < n; i++) normal[i] = c < n ? (double)(i == c) : C[(int64_t)(c - n) * n + i];
    rk_solve_lower(n, L, normal);
    s.low[c] = low[c], s.high[c] = high[c];
  }
  for (int32_t i = 0; i < n; i++) s.y0[i] = -g[i];
  rk_solve_lower(n, L, s.y0);
  const int32_t status = rk_project(&s);
  for (int32_t i = 0; i < n; i++) x[i] = s.y[i];
  rk_solve_lower_transposed(n, L, x);
  if (status == RK_QP_OPTIMAL)
    for (int32_t i = 0; i < n; i++) x[i] = x[i] < low[i] ? low[i] : x[i] > high[i] ? high[i] : x[i];
  for (int32_t j = 0; j < s.k; j++) multipliers[s.number[j]] = -s.sign[j] * s.u[j];
  *iterations = s.iterations;
  return status;
}
