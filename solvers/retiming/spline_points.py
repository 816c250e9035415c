"""Control points of a cubic B-spline that goes through frames where the limits allow it.

The velocities of such a spline are means of the differences of its control points, its accelerations of their second
differences (de Boor 1978). So limits on these are limits on the spline at all times. The frames themselves keep them:
where the spline through the frames passes a limit, that coordinate has the points inside the limits whose spline is
nearest to the frames, in the sense of least squares.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.model.robot import RobotModel
from ..limits.viability import dof_coordinates
from ..motion.rolled import rolling
from ..progress import mapped
from ..qp.banded import solve_banded_qp
from ..qp.dense import QPStatus
from ..qp.sparse_rows import SparseRows
from ..trajectories.motion_limits import MotionLimits
from .path import solve_tridiagonal

KEPT = 1e-9  # relative: a limit that rounding passes is kept
RESTS = 1.001  # times the longest first step from rest: one that is no longer begins at rest
_MASK = np.array([1.0, 4.0, 1.0]) / 6.0  # what the spline is at a frame, of the points there and beside it


def spline_points(model: RobotModel, q: Array, dt: float, rests: tuple[bool, bool]) -> Generator[float, None, Array]:
    """Yield the share that is done; return (F + 2, nq) control points, one for each frame and one before and after.

    q: (F, nq) frames that are dt [s] apart, at least three.   rests: whether the motion begins, and ends, at rest
    (`at_rest`); else without acceleration.

    The spline begins and ends at the first and the last frame. Wheels of rolling bases with limits keep the frames as
    their points: there the spline passes beside the frames. The limits of balls and floating joints do not count."""
    points = _through(q, rests)
    beside = _wheels_of_limited(model, q)
    points[:, sorted(beside)] = np.vstack((2.0 * q[0] - q[1], q, 2.0 * q[-1] - q[-2]))[:, sorted(beside)]
    for i, at in enumerate(dof_coordinates(model)):
        if at < 0 or at in beside:
            continue
        rates = model.velocity[i], model.acceleration[i]
        own = _Bounds.of(q[:, at], dt, (model.lower[at], model.upper[at]), rates, rests)
        if not own.keep(points[1:-1, at]):
            points[:, at] = yield from mapped(_nearest(q[:, at], own), lambda _: i / model.nv)  # noqa: B023
    return points


def _wheels_of_limited(model: RobotModel, q: Array) -> set[int]:
    """Coordinates of the wheels of rolling bases that have limits of their own."""
    found: set[int] = set()
    for base, rolls in zip(model.rolling_bases, rolling(model, q), strict=True):
        own, rates = slice(base.q, base.q + 3), slice(base.v, base.v + 3)
        limits = (
            *(abs(each[own]) for each in (model.lower, model.upper)),
            model.velocity[rates],
            model.acceleration[rates],
        )
        if rolls and np.isfinite(limits).any():
            found |= {*base.wheel_q}
    return found


def at_rest(model: RobotModel, q: Array, dt: float) -> tuple[bool, bool]:
    """Whether the motion begins, and ends, at rest: where the first step (or the last) of all joints is such as from
    rest inside the limits on acceleration."""
    steps = get_backend().difference(model.tree, q[[0, -2]], q[[1, -1]])
    least = 0.5 * MotionLimits.of(model).acceleration * dt * dt * RESTS
    begins, ends = (abs(steps) <= least).all(axis=1)
    return bool(begins), bool(ends)


def _with_ends(inner: Array, rests: tuple[bool, bool]) -> Array:
    """(F + 2, ...) the points before and after added: such that there is no velocity, or no acceleration."""
    first = inner[1] if rests[0] else 2.0 * inner[0] - inner[1]
    last = inner[-2] if rests[1] else 2.0 * inner[-1] - inner[-2]
    return np.concatenate((first[None], inner, last[None]))


def _through(q: Array, rests: tuple[bool, bool]) -> Array:
    """(F + 2, n) points whose spline goes through the frames: a tridiagonal system."""
    count = len(q)
    pivots, above, rest = np.full(count, 4.0), np.ones(count), 6.0 * q
    below = np.ones(count)
    for end, at, side in ((0, 0, above), (1, -1, below)):
        side[at] = 2.0 if rests[end] else 0.0
        if not rests[end]:
            pivots[at], rest[at] = 1.0, q[at]
    return _with_ends(solve_tridiagonal(below, pivots, above, rest), rests)


@dataclass(frozen=True, eq=False)
class _Bounds:
    """Lower and upper bounds (2, ...) of the points (F), and of their first and second differences. ends: (2,) bound on
    the second difference over an end at rest.   rests: which ends are."""

    points: Array
    steps: Array
    bends: Array
    ends: Array
    rests: tuple[bool, bool]

    @classmethod
    def of(
        cls,
        q: Array,
        dt: float,
        positions: tuple[float, float],
        rates: tuple[float, float],
        rests: tuple[bool, bool],
    ) -> _Bounds:
        """Where the frames themselves are outside, as wide as they need it."""
        velocity, bend = rates[0] * dt, rates[1] * dt * dt
        found = []
        for values, lower, upper in ((q, *positions), (np.diff(q), -velocity, velocity), (np.diff(q, 2), -bend, bend)):
            found.append(np.stack((np.minimum(values, lower), np.maximum(values, upper))))
        for end, at in ((0, 0), (1, -1)):
            if rests[end]:  # the point of an end at rest is beyond it
                found[0][:, at] = -np.inf, np.inf
            else:
                found[0][:, at] = q[at]
        points, steps, bends = found
        return cls(points, steps, bends, np.full(2, bend), rests)

    def keep(self, points: Array) -> bool:
        """Whether points (F,) keep them."""
        for order, (lower, upper) in enumerate((self.points, self.steps, self.bends)):
            values = np.diff(points, order)
            if (values < lower - KEPT * abs(lower)).any() or (values > upper + KEPT * abs(upper)).any():
                return False
        bent = 2.0 * abs(points[[1, -2]] - points[[0, -1]])
        return not (bent > self.ends * (1.0 + KEPT))[list(self.rests)].any()


def _nearest(q: Array, bounds: _Bounds) -> Generator[None, None, Array]:
    """Yield now and then; return (F + 2,) the points inside the bounds whose spline is nearest to the frames; the
    frames where that cannot be found."""
    count, rests = len(q), bounds.rests
    at_frame = np.zeros((count, 3))  # rows of the spline at frames, from the point before on
    at_frame[1:-1] = _MASK
    for end, place in ((0, 0), (1, -1)):
        at_frame[place, 1] = 0.0 if rests[end] else 1.0
    H, g = np.zeros((count, 3, 1, 1)), np.zeros((count, 1))
    for i in range(3):
        for j in range(i + 1):  # of frame k: the points k - 1 + i and k - 1 + j
            value = at_frame[:, i] * at_frame[:, j]
            at = np.arange(count) - 1 + i
            used = (at >= 0) & (at < count) & (value != 0.0)
            H[at[used], i - j, 0, 0] += value[used]
        at = np.arange(count) - 1 + i
        used = (at >= 0) & (at < count)
        g[at[used], 0] -= (at_frame[:, i] * q)[used]
    masks = (np.array([1.0]), np.array([-1.0, 1.0]), np.array([1.0, -2.0, 1.0]))
    rows = [
        SparseRows.of(np.tile(mask, (count - order, 1)), np.arange(count - order), count)
        for order, mask in enumerate(masks)
    ]
    ranges = [bounds.points, bounds.steps, bounds.bends]
    for end, (place, begins, meets) in enumerate(((0, 0, (4.0, 2.0)), (-1, count - 2, (2.0, 4.0)))):
        if rests[end]:  # it is at the frame there, and accelerates no more than it may
            bent = np.array([[-2.0, 2.0] if end == 0 else [2.0, -2.0]])
            rows += [SparseRows.of(each, np.array([begins]), count) for each in (np.array([meets]), bent)]
            ranges += [np.full((2, 1), 6.0 * q[place]), bounds.ends[end] * np.array([[-1.0], [1.0]])]
    lower, upper = (np.concatenate([each[side] for each in ranges]) for side in (0, 1))
    found = yield from solve_banded_qp(H, g, SparseRows.joined(rows), lower, upper)
    if found is None or found.status != QPStatus.OPTIMAL:
        return _with_ends(q, (False, False))
    points = np.clip(found.x[:, 0], *bounds.points)  # rounding at a bound of 0 has no relative share
    for end, (place, beside) in enumerate(((0, 1), (-1, -2))):
        if rests[end]:
            points[place] = 1.5 * q[place] - 0.5 * points[beside]
    return _with_ends(points, rests) if bounds.keep(points) else _with_ends(q, (False, False))
