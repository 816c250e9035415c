"""Control points of a cubic B-spline that goes through frames where the limits allow it.

The velocities of such a spline are means of the differences of its control points, its accelerations of their second
differences (de Boor 1978). So limits on these are limits on the spline at all times. The frames themselves keep them:
where the spline through the frames passes a limit, that coordinate has the points inside the limits whose spline is
nearest to the frames, in the sense of least squares.
"""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.robot import RobotModel
from ..limits.viability import dof_coordinates
from ..motion.rolled import rolling
from ..qp.banded import solve_banded_qp
from ..qp.dense import QPStatus
from ..qp.sparse_rows import SparseRows

KEPT = 1e-9  # relative: a limit that rounding passes is kept
_MASK = np.array([1.0, 4.0, 1.0]) / 6.0  # what the spline is at a frame, of the points there and beside it


def spline_points(model: RobotModel, q: Array, dt: float) -> Array:
    """(F, nq) control points, the first and the last of them the first and the last frame. q: (F, nq) frames that are
    dt [s] apart. Rolling bases, and balls and floating joints with limits, keep the frames as their points: there the
    spline passes beside the frames."""
    points = q.copy()
    if len(q) < 3 or rolling(model, q).any():
        return points
    dofs = {int(at): i for i, at in enumerate(dof_coordinates(model)) if at >= 0}
    through = _through(q)
    for at in range(model.nq):
        if at not in dofs:
            continue
        i = dofs[at]
        bounds = _bounds(q[:, at], dt, (model.lower[at], model.upper[at]), model.velocity[i], model.acceleration[i])
        points[:, at] = through[:, at]
        if not _kept(through[:, at], bounds):
            points[:, at] = _nearest(q[:, at], bounds)
    for free in _free_of_limits(model):
        points[:, free] = through[:, free]
    return points


def _free_of_limits(model: RobotModel) -> list[int]:
    """Coordinates of balls and floating joints that have no limit of any kind."""
    found: list[int] = []
    for joint in model.moving_joints:
        slot = model.slot(joint.name)
        own = range(model.nq)[slot.q], range(model.nv)[slot.v]
        if len(own[0]) == len(own[1]):
            continue
        limits = np.concatenate([abs(each[slot.q]) for each in (model.lower, model.upper)])
        rates = np.concatenate([each[slot.v] for each in (model.velocity, model.acceleration)])
        is_swung = any(cone.q in own[0] for cone in model.limits.cones)
        if not np.isfinite(limits).any() and not np.isfinite(rates).any() and not is_swung:
            found += own[0]
    return found


def _through(q: Array) -> Array:
    """(F, n) points whose spline goes through the frames, without acceleration at both ends: a tridiagonal system."""
    count = len(q) - 2
    rest = 6.0 * q[1:-1]
    rest[0] -= q[0]
    rest[-1] -= q[-1]
    pivots = np.empty(count)
    pivots[0] = 4.0
    for k in range(1, count):
        pivots[k] = 4.0 - 1.0 / pivots[k - 1]
        rest[k] -= rest[k - 1] / pivots[k - 1]
    rest[-1] /= pivots[-1]
    for k in reversed(range(count - 1)):
        rest[k] = (rest[k] - rest[k + 1]) / pivots[k]
    return np.vstack((q[:1], rest, q[-1:]))


def _bounds(q: Array, dt: float, ends: tuple[float, float], velocity: float, acceleration: float) -> list[Array]:
    """(lower, upper) of the points, and of their first and second differences; where the frames themselves are outside,
    as wide as they need it."""
    found = []
    for values, lower, upper in (
        (q, *ends),
        (np.diff(q), -velocity * dt, velocity * dt),
        (np.diff(q, 2), -acceleration * dt * dt, acceleration * dt * dt),
    ):
        found.append(np.stack((np.minimum(values, lower), np.maximum(values, upper))))
    return found


def _kept(points: Array, bounds: list[Array]) -> bool:
    for order, (lower, upper) in enumerate(bounds):
        values = np.diff(points, order)
        if (values < lower - KEPT * abs(lower)).any() or (values > upper + KEPT * abs(upper)).any():
            return False
    return True


def _nearest(q: Array, bounds: list[Array]) -> Array:
    """The points inside the bounds whose spline is nearest to the frames; the frames where that cannot be found."""
    count, ends = len(q), np.zeros((2, len(q)))
    ends[:] = np.where(np.isin(np.arange(count), (0, count - 1)), q, [[-np.inf], [np.inf]])
    bounds = [np.stack((np.maximum(bounds[0][0], ends[0]), np.minimum(bounds[0][1], ends[1]))), *bounds[1:]]
    at_frame = np.zeros((count, 3))  # rows of the spline at frames, from the point before on
    at_frame[1:-1] = _MASK
    at_frame[[0, -1], 1] = 1.0
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
    rows = SparseRows.joined(
        [
            SparseRows.of(np.tile(mask, (count - order, 1)), np.arange(count - order), count)
            for order, mask in enumerate(masks)
        ]
    )
    lower, upper = (np.concatenate([each[side] for each in bounds]) for side in (0, 1))
    found = solve_banded_qp(H, g, rows, lower, upper)
    if found is None or found.status != QPStatus.OPTIMAL:
        return q
    points = np.clip(found.x[:, 0], *bounds[0])  # rounding at a bound of 0 has no relative share
    return points if _kept(points, bounds) else q
