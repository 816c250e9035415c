"""The bounded damped least-squares step: the least squares step inside a box, exactly.

Twin of kernel/src/qp/bounded_step.c.
"""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array

FREE, AT_LOWER, AT_UPPER = 0, -1, 1
_PATIENCE = 3  # exchanges of whole sets allowed without progress


def bounded_step(H: Array, g: Array, lo: Array, hi: Array) -> tuple[Array, Array]:
    """x (n,) that minimises 1/2 x'Hx - g'x with lo <= x <= hi, and which bound each x_i sits at (n,) int8.

    H: (n, n) symmetric positive definite (J'J plus damping).   g: (n,).   lo <= hi: (n,), may be infinite.
    First block principal pivoting (Judice and Pires, Computers and Operations Research 21, 1994): every coordinate
    that breaks the optimality conditions changes sides at once; nearly always two or three exchanges do. When they
    make no progress, a primal active-set method (Nocedal and Wright, Numerical Optimization, section 16.5) finishes.
    """
    side = np.where((lo >= 0.0) & (g < 0.0), AT_LOWER, np.where((hi <= 0.0) & (g > 0.0), AT_UPPER, FREE)).astype(
        np.int8
    )
    tolerance = 1e-12 * np.max(abs(g), initial=0.0)
    fewest, patience = len(g) + 1, _PATIENCE
    while True:
        x, slope = _solve(H, g, lo, hi, side)
        below, above = (side == FREE) & (x < lo), (side == FREE) & (x > hi)
        wrong = below | above | (side * slope > tolerance)
        count = int(wrong.sum())
        if count == 0:
            return np.clip(x, lo, hi), side
        if count < fewest:
            fewest, patience = count, _PATIENCE
        elif patience == 0:
            break
        else:
            patience -= 1
        side = np.where(wrong, np.where(below, AT_LOWER, np.where(above, AT_UPPER, FREE)), side).astype(np.int8)
    at = np.clip(x, lo, hi)
    side = np.where(at <= lo, AT_LOWER, np.where(at >= hi, AT_UPPER, FREE)).astype(np.int8)
    for _ in range(10 * len(g)):
        x, slope = _solve(H, g, lo, hi, side)
        fraction, first = _first_bound(at, x, lo, hi, side)
        if first >= 0:
            at = np.clip(at + fraction * (x - at), lo, hi)
            side[first] = AT_LOWER if x[first] < lo[first] else AT_UPPER
            continue
        at = np.clip(x, lo, hi)
        leaving = int(np.argmax(side * slope))
        if side[leaving] * slope[leaving] <= tolerance:
            break
        side[leaving] = FREE
    return at, side


def _solve(H: Array, g: Array, lo: Array, hi: Array, side: Array) -> tuple[Array, Array]:
    """The minimum with the coordinates of `side` held at their bounds, and the slope Hx - g of all."""
    free = side == FREE
    x = np.where(side == AT_LOWER, lo, np.where(side == AT_UPPER, hi, 0.0))
    if free.any():
        own, right = H[np.ix_(free, free)], g[free] - H[np.ix_(free, ~free)] @ x[~free]
        try:
            x[free] = np.linalg.solve(own, right)
        except np.linalg.LinAlgError:  # the damping is lost in the rounding of huge weights
            x[free] = np.linalg.lstsq(own, right, rcond=None)[0]
    return x, np.where(free, 0.0, H @ x - g)


def _first_bound(at: Array, x: Array, lo: Array, hi: Array, side: Array) -> tuple[float, int]:
    """Fraction of the way from `at` to `x` at which the first free coordinate meets a bound, and which; -1: none."""
    fraction, first = 1.0, -1
    for i in np.flatnonzero(side == FREE):
        if lo[i] <= x[i] <= hi[i]:
            continue
        own = ((lo[i] if x[i] < lo[i] else hi[i]) - at[i]) / (x[i] - at[i])
        if own < fraction:
            fraction, first = float(own), int(i)
    return fraction, first
