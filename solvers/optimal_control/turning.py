"""How displacements of balls and floating joints combine, to first and second order, by differences.

A function of two frames that counts each joint apart, as the difference of both does, is moved along one coordinate of
all joints at once. Displacements are those of each frame's own tangent space, so that second derivatives are along
geodesics: what Newton's method on a manifold needs (Absil, Mahony, Sepulchre, "Optimization Algorithms on Matrix
Manifolds", 2008, section 5.5).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Protocol

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import Backend
from ...robokin.model.robot import RobotModel

STEP = 1e-6  # [rad, L] of central differences
SECOND = 1e-4  # [rad, L] of second differences
Pairwise = Callable[[Array, Array], Array]  # (k, nq) and (k, nq) -> (k, n)


class Joints(Protocol):
    """joined: first and count of the degrees of freedom of each joint that turns.   scale: (n,) what a displacement of
    1 is."""

    model: RobotModel
    backend: Backend
    joined: list[tuple[int, int]]
    scale: Array


def set_blocks(grid: Joints, q0: Array, q1: Array, of: Pairwise, blocks: Array) -> None:
    """Set in blocks (k, 2, n, n) how `of` changes along what turns in q1, and in q0."""
    for count, firsts in _by_count(grid):
        for s, j in itertools.product(range(2), range(count)):
            up, down = (of(*_moved(grid, q0, q1, firsts, {(s, j): sign * STEP})) for sign in (1.0, -1.0))
            change = (up - down) / (2.0 * STEP)
            for first in firsts:
                blocks[:, s, first : first + count, first + j] = change[:, first : first + count]


def second(grid: Joints, q0: Array, q1: Array, of: Pairwise, w: Array) -> tuple[Array, Array, Array]:
    """Second derivatives (k, n, n) of the sum of w (k, n) times `of`: along q1 twice, q1 and q0, q0 twice."""
    found = np.zeros((3, *w.shape, w.shape[1]))
    for count, firsts in _by_count(grid):
        own = np.array(firsts)[:, None] + np.arange(count)
        if not w[:, own].any():
            continue

        def value(*moved: tuple[int, int]) -> Array:
            """(k, joints) summed over both ends of a displacement."""
            ends = [_moved(grid, q0, q1, firsts, dict.fromkeys(moved, size)) for size in (SECOND, -SECOND)]  # noqa: B023
            return np.sum([(w[:, own] * of(*each)[:, own]).sum(axis=2) for each in ends], axis=0)  # noqa: B023

        places = list(itertools.product(range(2), range(count)))
        here, single = value(), {place: value(place) for place in places}
        for a, b in itertools.combinations_with_replacement(places, 2):
            along = single[a] - here if a == b else 0.5 * (value(a, b) - single[a] - single[b] + here)
            for i, j in {(a[1], b[1]), (b[1], a[1])} if a[0] == b[0] else {(a[1], b[1])}:
                found[a[0] + b[0], :, own[:, i], own[:, j]] = along.T / SECOND**2
    return found[0], found[1], found[2]


def _by_count(grid: Joints) -> list[tuple[int, list[int]]]:
    """How many degrees of freedom joints that turn have, and the first one of each such joint."""
    counts = sorted({count for _, count in grid.joined})
    return [(count, [first for first, own in grid.joined if own == count]) for count in counts]


def _moved(
    grid: Joints, q0: Array, q1: Array, firsts: list[int], by: dict[tuple[int, int], float]
) -> tuple[Array, Array]:
    """q0 and q1 with the j-th coordinate of these joints displaced, by: {(0, j): of q1, (1, j): of q0}."""
    ends = [q1, q0]
    for s in (0, 1):
        y = np.zeros(len(grid.scale))
        for (at, j), size in by.items():
            if at == s:
                y[[first + j for first in firsts]] = size
        if y.any():
            ends[s] = grid.backend.integrate(grid.model.tree, ends[s], y * grid.scale)
    return ends[1], ends[0]
