"""Control points of balls and floating joints whose spline keeps their limits on speed and acceleration.

Their rates are in axes that turn along, so the rates of the spline are no means of those of its points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.model.robot import RobotModel
from ..motion.motion import Motion
from .path import Path

PLACES = np.linspace(0.0, 1.0, 17)  # of each step between frames, at which the spline is looked at
INSIDE = 1e-4  # relative: what of a limit is kept back, for what is between these places
ROUNDING = 1e-6  # relative
LEAST, MOST = 1e-3, 0.03  # shares of the way of a point to the middle of those beside it
ROUNDS = 100
SMALL = 1e-3  # share of a step by which it is differentiated


def spline_path(model: RobotModel, points: Array, dt: float) -> Path:
    """The cubic B-spline of control points (F + 2, nq), with F knots that are dt [s] apart."""
    a, b, c, d = (points[k : len(points) - 3 + k] for k in range(4))
    powers = ((a + 4.0 * b + c) / 6.0, (c - a) / 2.0, (a - 2.0 * b + c) / 2.0, (d - a + 3.0 * (b - c)) / 6.0)
    coefficients = np.stack([x / dt**k for k, x in enumerate(powers)], axis=1)
    count = len(points) - 2
    return Path(model, dt * np.arange(count), coefficients, np.zeros(count, bool))


def end_bends(model: RobotModel, q: Array) -> Array:
    """(2, nq) the second differences per frame at the ends of q (F, nq), of which axes that turn along make no
    acceleration, as fast as in the first and the last step."""
    backend, tree = get_backend(), model.tree
    ends = q[[0, -1]]
    steps = SMALL * backend.difference(tree, ends, q[[1, -2]])
    return (backend.integrate(tree, ends, steps) + backend.integrate(tree, ends, -steps) - 2.0 * ends) / SMALL**2


def calmed(
    model: RobotModel, starts: Sequence[Array], q: Array, dt: float, into_cones: Callable[[Array], Array]
) -> Array:
    """(F + 2, nq) the first of the starts, points as these, where their spline is too fast nearer to the middle of
    those beside them; where that does not help so of the next start, and where none helps the slowest as it is given.
    q: (F, nq) frames. The first and the last frame stay."""
    frames = Motion.of(model, dt * np.arange(len(q)), q)
    limits = [
        np.maximum((1.0 - INSIDE) * limit, abs(x).max(axis=0, initial=0.0)) * (1.0 + ROUNDING)
        for limit, x in ((model.velocity, frames.v[1:]), (model.acceleration, frames.a[2:]))
    ]
    slots = [model.slot(joint.name) for joint in model.moving_joints if joint.nq != joint.nv]
    found, looked = starts[0], np.arange(len(q) - 1)

    def shares(points: Array) -> Array:
        """(F - 1, nv) which share of the limits each step takes at most."""
        intervals = looked[:, None] + np.zeros(len(PLACES), int)
        rates = spline_path(model, points, dt).at(intervals, dt * (looked[:, None] + PLACES))[1:3]
        return np.max([abs(x).max(axis=1) / limit for x, limit in zip(rates, limits, strict=True)], axis=0)

    for points in starts:
        found, share = found.copy(), LEAST
        for slot in slots:
            found[:, slot.q] = points[:, slot.q]
        for _ in range(ROUNDS):
            is_over = shares(found) > 1.0
            slots = [slot for slot in slots if is_over[:, slot.v].any()]
            if not slots:
                return found
            new = found.copy()
            for slot in slots:
                near = np.unique(looked[is_over[:, slot.v].any(axis=1)][:, None] + np.arange(4))
                near = near[(near > 1) & (near < len(points) - 2)]
                middles = 0.5 * (found[near - 1, slot.q] + found[near + 1, slot.q])
                new[near, slot.q] += share * (middles - found[near, slot.q])
                new[[0, -1], slot.q] += found[[2, -3], slot.q] - new[[2, -3], slot.q]
            found, share = into_cones(new), min(MOST, 2.0 * share)
    for slot in slots:
        found[:, slot.q] = min(starts, key=lambda points: shares(points)[:, slot.v].max())[:, slot.q]
    return found
