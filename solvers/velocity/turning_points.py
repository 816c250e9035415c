"""Whether the path from a pose to where its tasks would lead turns back before it arrives there.

The path is where the errors e(x) of the tasks and of what extends them have shrunk by one share, e(x) = (1 - m) e(0): a
curve in x and m, followed along its arc so that it can be seen to turn (Allgower, Georg, "Numerical continuation
methods", 1990). Where m turns back no pose near has smaller errors: the rows are singular there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...robokin.arrays import Array

LONGEST, SHORTEST = 0.05, 1e-4  # radians or L, of a step along the arc; a turn is known to the shortest
STEPS, CORRECTIONS = 120, 5
ON_CURVE = 1e-8
NOISE = 1e-8  # of rows from differences: smaller singular values than this part of the largest are 0


def turn(errors_and_rows: Callable[[Array], tuple[Array, Array]], dof: int) -> Array | None:
    """x (dof,) where the path turns back; None when it arrives, or when neither is found in STEPS.

    errors_and_rows: of a displacement x (dof,) from the start, e (n,) and its rows (n, dof), de = -rows dx.
    """
    x, m = np.zeros(dof), 0.0
    start, rows = errors_and_rows(x)
    length = float(np.linalg.norm(start))
    if length <= ON_CURVE:
        return None
    direction = start / length  # m is counted in the length of the errors, as x is
    z = np.append(np.zeros(dof), 1.0)
    z, step = _tangent(rows, direction, z), min(LONGEST, max(SHORTEST, length))
    for _ in range(STEPS):
        found = _corrected(errors_and_rows, start, direction, x + step * z[:-1], m + step * z[-1], z)
        if found is None:
            if step <= SHORTEST:
                return None
            step *= 0.5
            continue
        then = _tangent(found[2], direction, z)
        if then[-1] <= 0.0:
            if step <= SHORTEST:
                return found[0]
            step *= 0.5
            continue
        x, m, z = found[0], found[1], then
        if m >= length:
            return None
        step = min(LONGEST, 1.5 * step)
    return None


def _tangent(rows: Array, direction: Array, last: Array) -> Array:
    """(dof + 1,) of the curve, the one nearest to the last: motions that nothing asks for stay out of it."""
    _, s, Vt = np.linalg.svd(np.column_stack((rows, -direction)))
    free = Vt[int((s > NOISE * s.max(initial=0.0)).sum()) :]
    z = free.T @ (free @ last)
    return z / (np.linalg.norm(z) or 1.0)


def _corrected(
    errors_and_rows: Callable[[Array], tuple[Array, Array]],
    start: Array,
    direction: Array,
    x: Array,
    m: float,
    z: Array,
) -> tuple[Array, float, Array] | None:
    """x, m and the rows there, brought back onto the curve at right angles to z; None where that fails."""
    length = float(np.linalg.norm(start))
    for _ in range(CORRECTIONS):
        e, rows = errors_and_rows(x)
        residual = e - (1.0 - m / length) * start
        if abs(residual).max() <= ON_CURVE:
            return x, m, rows
        whole = np.vstack((np.column_stack((rows, -direction)), z))
        correction = np.linalg.lstsq(whole, np.append(residual, 0.0), rcond=NOISE)[0]
        x, m = x + correction[:-1], m + float(correction[-1])
    return None
