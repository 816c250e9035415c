"""The grid along a path: fine where the fastest timing needs it.

x is the square of the speed along the path at the ends of the cells (n + 1,), steps their lengths (n,), bends half the
second derivatives of x in them (n,).
"""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array

CELLS = 500  # of the first grid at least, where samples are fewer
COARSE = 2e-4  # relative: by how much x may be missed in a cell
PARTS = 2  # of a cell at once


def first_grid(knots: Array) -> tuple[Array, Array]:
    """The borders of cells (n + 1,), and the interval of the knots that each is in (n,)."""
    per = max(2, -(-CELLS // (len(knots) - 1)))  # so that no two neighbours are places of rest
    return split(knots, np.arange(len(knots) - 1), np.full(len(knots) - 1, per))


def split(grid: Array, interval: Array, into: Array) -> tuple[Array, Array]:
    """The grid and its intervals with each cell in so many equal parts."""
    cells = np.repeat(np.arange(len(into)), into)
    before = np.arange(len(cells)) - np.repeat(np.cumsum(into) - into, into)
    borders = grid[cells] + np.diff(grid)[cells] * before / into[cells]
    return np.append(borders, grid[-1]), interval[cells]


def bends(x: Array, steps: Array) -> Array:
    """The lesser of what the cells on both sides tell; none beside a switch, little where x is near 0."""
    rates = np.diff(np.diff(x) / (2.0 * steps)) / (0.5 * (steps[1:] + steps[:-1]))
    found = np.zeros(len(steps))
    before, after = rates[:-1], rates[1:]
    found[1:-1] = np.where(before * after > 0.0, np.copysign(np.minimum(abs(before), abs(after)), before), 0.0)
    most = 0.5 * np.minimum(x[1:], x[:-1]) / steps**2
    return np.clip(found, -most, most)


def parts(x: Array, steps: Array, bend: Array, most: int) -> Array:
    """(n,) into how many each cell is split: where accelerations jump from cell to cell, as x is missed by about the
    jump times the length, and by its cube where x bends. The worst first, until there are `most` cells."""
    u, half = np.diff(x) / (2.0 * steps), 0.5 * bend * steps
    jump = np.zeros(len(x))
    jump[1:-1] = abs((u[1:] - half[1:]) - (u[:-1] + half[:-1]))
    jump[x <= 0.0] = 0.0
    low, high = np.minimum(x[1:], x[:-1]), np.maximum(x[1:], x[:-1])
    missed = np.maximum(jump[1:], jump[:-1]) * steps / np.maximum(np.where(low > 0.0, low, high), 1e-300)
    more = (missed / COARSE) ** np.where(bend == 0.0, 1.0, 1.0 / 3.0)
    into = np.clip(np.ceil(more), 1, PARTS).astype(int)
    order = np.argsort(-missed)
    into[order[np.cumsum(into[order] - 1) > most - len(steps)]] = 1
    return into
