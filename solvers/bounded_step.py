"""The bounded damped least-squares step: the least squares step inside a box, exactly.

Twin of kernel/src/bounded_step.c.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

FREE, AT_LOWER, AT_UPPER = 0, -1, 1
_PATIENCE = 3  # exchanges of whole sets allowed without progress
_MAX_EXCHANGES = 50


def bounded_step(H: Array, g: Array, lo: Array, hi: Array) -> tuple[Array, Array]:
    """x (n,) that minimises 1/2 x'Hx - g'x with lo <= x <= hi, and which bound each x_i sits at (n,) int8.

    H: (n, n) symmetric positive definite (J'J plus damping).   g: (n,).   lo <= hi: (n,), may be infinite.
    Block principal pivoting: every coordinate that breaks the optimality conditions changes sides at once; when that
    makes no progress, one at a time, which terminates for positive definite H.
    Source: Judice and Pires, "A block principal pivoting algorithm for large-scale strictly monotone linear
    complementarity problems", Computers and Operations Research 21, 1994.
    """
    side = np.where((lo >= 0.0) & (g < 0.0), AT_LOWER, np.where((hi <= 0.0) & (g > 0.0), AT_UPPER, FREE)).astype(
        np.int8
    )
    tolerance = 1e-12 * np.max(abs(g), initial=0.0)
    fewest, patience = len(g) + 1, _PATIENCE
    x = np.zeros(len(g))
    for _ in range(_MAX_EXCHANGES):
        free = side == FREE
        x = np.where(side == AT_LOWER, lo, np.where(side == AT_UPPER, hi, 0.0))
        if free.any():
            rhs = g[free] - H[np.ix_(free, ~free)] @ x[~free]
            x[free] = np.linalg.solve(H[np.ix_(free, free)], rhs)
        slope = H @ x - g
        below, above = free & (x < lo), free & (x > hi)
        leaves = ((side == AT_LOWER) & (slope < -tolerance)) | ((side == AT_UPPER) & (slope > tolerance))
        wrong = below | above | leaves
        count = int(wrong.sum())
        if count == 0:
            break
        if count < fewest:
            fewest, patience = count, _PATIENCE
        elif patience > 0:
            patience -= 1
        else:
            last = np.flatnonzero(wrong)[-1]
            wrong[:last] = False
        side = np.where(wrong, np.where(below, AT_LOWER, np.where(above, AT_UPPER, FREE)), side).astype(np.int8)
    return np.clip(x, lo, hi), side
