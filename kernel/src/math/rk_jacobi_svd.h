/* Singular values of small matrices by one-sided Jacobi rotations (Hestenes 1958; Demmel and Veselic 1992: exact to the
   last digits also of the small ones). */
#ifndef RK_JACOBI_SVD_H
#define RK_JACOBI_SVD_H

#include "math/rk_math.h"
#include "math/rk_vector.h"

/* Turns the columns A[count][m] of a matrix until they are orthogonal, and V[count][count] with them. Pairs beside each
   other in a sweep have no column in common, so that a processor turns several at once: each column meets each other one
   while all but the last go round. */
static inline void rk_turn_columns(int32_t count, int32_t m, double *A, double *V, double *square) {
  enum { SWEEPS = 30 };
  const double small = 1e-30; /* the squared cosine of none; a sweep leaves no more than its `most` times `brought` */
  const int32_t round = count + (count & 1) - 1;
  double most = 1.0, brought = 1.0; /* squares of cosines, and of what a turn brings of one column into another */
  for (int sweep = 0; !(most * brought <= small) && sweep < SWEEPS; sweep++) {
    most = brought = 0.0;
    for (int32_t i = 0; i < count; i++) square[i] = rk_dot(m, A + (int64_t)i * m, A + (int64_t)i * m);
    for (int32_t turn = 0; turn < round; turn++)
      for (int32_t k = 0; 2 * k < round; k++) {
        const int32_t above = turn + k, below = turn - k;
        const int32_t i = above < round ? above : above - round, j = k == 0 ? round : below < 0 ? below + round : below;
        if (j >= count) continue;
        double *a = A + (int64_t)i * m, *b = A + (int64_t)j * m;
        const double ab = rk_dot(m, a, b), both = square[i] * square[j];
        if (!(ab * ab > small * both)) continue;
        if (ab * ab > most * both) most = ab * ab / both;
        const double apart = square[j] - square[i], length = rk_sqrt(apart * apart + 4.0 * ab * ab);
        const double sum = length + __builtin_fabs(apart), c = rk_sqrt(0.5 * sum / length);
        const double t = (apart < 0.0 ? -2.0 : 2.0) * ab / sum, s = c * t;
        brought = rk_max(t * t * (rk_max(square[i], square[j]) / rk_min(square[i], square[j])), brought);
        square[i] = rk_max(square[i] - t * ab, 0.0), square[j] = rk_max(square[j] + t * ab, 0.0);
        rk_turn_pair(m, c, s, a, b);
        rk_turn_pair(count, c, s, V + (int64_t)i * count, V + (int64_t)j * count);
      }
  }
}

/* A[count][m], the columns of a matrix, become orthogonal: its singular values are then their lengths. V[count][count]:
   A = V old A, row i of V the right singular vector of A[i]. square[count]: of their lengths. */
static inline void rk_orthogonalise(int32_t count, int32_t m, double *A, double *V, double *square) {
  for (int32_t i = 0; i < count; i++)
    for (int32_t k = 0; k < count; k++) V[(int64_t)i * count + k] = i == k;
  rk_turn_columns(count, m, A, V, square);
}

/* rk_orthogonalise from the V of a matrix nearby, which leaves little to turn. old[count][m]: scratch. */
static inline void rk_orthogonalise_again(int32_t count, int32_t m, const double *near, double *old, double *A, double *V,
                                          double *square) {
  rk_copy(old, A, (int64_t)count * m);
  rk_copy(V, near, (int64_t)count * count);
  for (int64_t i = 0; i < count; i++) {
    for (int64_t k = 0; k < m; k++) A[i * m + k] = 0.0;
    for (int64_t j = 0; j < count; j++) rk_add_scaled(m, V[i * count + j], old + j * m, A + i * m);
  }
  rk_turn_columns(count, m, A, V, square);
}

#endif
