"""The fastest speed along a path, by reachability (TOPP-RA: Pham and Pham 2018). Twin of
kernel/src/trajectories/path_speed.c.

A path has n intervals. x is the square of the speed along it at their ends, u the acceleration, constant in each
interval: x grows by twice its length times u. Rows are a u + b x <= c, with x at the interval's start.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend.library import load_library, pointer

Solve = Callable[[Array, Array, Array], tuple[int, Array]]

FLAT = 1e-12  # a row that does not concern u
CLOSE = 1e-12  # relative: of a side that is passed by rounding


def native(rows: Array, most: Array, steps: Array) -> tuple[int, Array]:
    """rows: (n, m, 3).   most: (n + 1,) of x.   steps: (n,). -1 or the last interval from which the end cannot be
    reached, and x (n + 1,)."""
    n, m, _ = rows.shape
    inputs = [np.ascontiguousarray(array) for array in (rows, most, steps)]
    results = [np.zeros(n + 1) for _ in range(3)]
    pointers = [pointer(array) for array in (*inputs, *results)]
    return load_library().rk_path_speed(n, m, *pointers), results[2]


def reference(rows: Array, most: Array, steps: Array) -> tuple[int, Array]:
    """Twin of `native`."""
    n = len(steps)
    low, high, x = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    high[n] = most[n]
    for i in range(n - 1, -1, -1):
        a, b, c = rows[i].T
        flat = abs(a) <= FLAT * (1.0 + abs(b))
        start = max(0.0, *(c[flat & (b < 0.0)] / b[flat & (b < 0.0)]), 0.0)
        end = min(most[i], *(c[flat & (b > 0.0)] / b[flat & (b > 0.0)]), most[i])
        if (c[flat & (b == 0.0)] < 0.0).any() or start > end:
            return i, x
        own = (rows[i][~flat], 2.0 * steps[i], low[i + 1], high[i + 1])
        upper = _farthest(*own, 1.0, start, end)
        lower = None if upper is None else _farthest(*own, -1.0, start, upper)
        if upper is None or lower is None:
            return i, x
        low[i], high[i] = lower, upper
    x[0] = high[0]
    for i in range(n):
        a, b = rows[i][:, 0], rows[i][:, 1]
        steep = rows[i][abs(a) > FLAT * (1.0 + abs(b))]
        u = _sides(steep, x[i], 2.0 * steps[i], low[i + 1], high[i + 1])[0]
        x[i + 1] = max(min(x[i] + 2.0 * steps[i] * u, high[i + 1]), low[i + 1])
    return -1, x


def _sides(rows: Array, x: float, span: float, low_next: float, high_next: float) -> tuple[float, ...]:
    """The tightest rows at x: u at most, u at least, each with its slope in x."""
    a, b, c = rows.T
    u = (c - b * x) / a
    high, high_slope = (high_next - x) / span, -1.0 / span
    low, low_slope = (low_next - x) / span, -1.0 / span
    up, down = np.flatnonzero(a > 0.0), np.flatnonzero(a < 0.0)
    if len(up) and u[up].min() < high:
        i = up[np.argmin(u[up])]
        high, high_slope = u[i], -b[i] / a[i]
    if len(down) and u[down].max() > low:
        i = down[np.argmax(u[down])]
        low, low_slope = u[i], -b[i] / a[i]
    return high, high_slope, low, low_slope


def _farthest(
    rows: Array, span: float, low_next: float, high_next: float, sign: float, start: float, end: float
) -> float | None:
    """The largest x (sign 1) or the smallest (sign -1) in start .. end at which some u is left; None if there is
    none."""
    x = end if sign > 0.0 else start
    for _ in range(len(rows) + 3):
        high, high_slope, low, low_slope = _sides(rows, x, span, low_next, high_next)
        if high >= low:
            return x
        slope = high_slope - low_slope
        if not sign * slope < 0.0:  # the gap is concave: where it does not grow on the way, there is nothing
            return None
        step = -(high - low) / slope
        if abs(step) <= CLOSE * (abs(x) + CLOSE):
            return x
        x += step
        if not start <= x <= end:
            return None
    return x
