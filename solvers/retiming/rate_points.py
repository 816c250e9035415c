"""Balls and floating joints between frames: velocities whose spline goes through the frames as nearly as limits allow.

Gauss and Newton's method: of the points inside the limits those with the least squares of what the spline is off at
frames, its displacements taken to first order, in each joint's own axes. Limits on speed and acceleration are bounds of
the points themselves, so they hold whatever comes of it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.model.robot import JointSlot, RobotModel
from ...robokin.spatial import quaternion, se3, swing_twist
from ..motion.motion import Motion
from ..progress import mapped
from ..qp.banded import solve_banded_qp
from ..qp.sparse_rows import SparseRows
from .rate_spline import PIECES, RateSpline, summed_weights

UNUSED = 1e-7  # relative: what of a limit is kept back for rounding
END = 1e4  # what the last frame counts for one
ROUNDS = 20
SMALL = 1e-9  # [rad, m] changes of steps that are none
INSIDE = 1e-6  # [rad, m] within limits on positions, besides what is between two looks
EVERY = 2  # pieces: after so many limits on positions are looked at
NEAR = 0.03  # [rad] to its cone: balls farther inside do not look at it

Rows = tuple[Array, Array, Array, Array]  # (m, w), the unknown that each begins at (m,), lower and upper sides (m,)


def rate_spline(
    model: RobotModel, q: Array, dt: float, rests: tuple[bool, bool], slots: list[JointSlot]
) -> Generator[float, None, RateSpline]:
    """Yield the share that is done, if none comes to its end sooner; return the spline.

    q: (F, nq) frames that are dt [s] apart, at least three.   rests: whether the motion begins, and ends, at rest;
    else without acceleration.   slots: the joints that count."""
    backend, tree = get_backend(), model.tree
    steps = dt * Motion.of(model, dt * np.arange(len(q)), q).v[1:]
    limits = model.velocity * dt, model.acceleration * dt * dt
    used = steps, np.diff(steps, axis=0)
    bounds = [np.maximum((1.0 - UNUSED) * limit, abs(x).max(axis=0)) for limit, x in zip(limits, used, strict=True)]
    signs = np.where(rests, -1.0, 1.0)
    missed = np.zeros(model.nv)  # at the last frame, summed over the rounds: what holds it there

    def spline(steps: Array) -> RateSpline:
        points = np.vstack((signs[0] * steps[:1], steps, signs[1] * steps[-1:]))
        return RateSpline(model, q[0], points / dt, dt)

    for count in range(ROUNDS):
        found = spline(steps)
        led = found.steps()
        frames = found.frames(led)
        off = backend.difference(tree, frames, q)
        missed += off[-1] if count else 0.0
        off[-1] += missed
        places = backend.integrate(tree, frames[:-1, None], backend.difference(tree, model.neutral(), led))
        change = np.zeros_like(steps)
        for slot in slots:
            joint = _Joint(steps[:, slot.v], [each[slot.v] for each in bounds], signs, led[..., slot.q])
            nearer = joint.nearer(off[:, slot.v], model, slot, places[..., slot.q], q[:, slot.q])
            change[:, slot.v] = yield from mapped(nearer, lambda _: count / ROUNDS)  # noqa: B023
        steps = steps + change
        slots = [slot for slot in slots if abs(change[:, slot.v]).max() > SMALL]
        if not slots:
            break
    return spline(steps)


@dataclass(frozen=True, eq=False)
class _Joint:
    """steps: (F - 1, n) the points times dt.   bounds: of these and of their changes, (n,) each.   signs: (2,) of the
    points beside, which the first and the last step are.   led: (F - 1, PIECES + 1, 4 or 7) where each step leads.

    The unknowns of a frame are its displacement (n,), and the change of the step after it (n,).
    """

    steps: Array
    bounds: list[Array]
    signs: Array
    led: Array

    def nearer(
        self, off: Array, model: RobotModel, slot: JointSlot, places: Array, q: Array
    ) -> Generator[None, None, Array]:
        """Yield now and then; return (F - 1, n) changes of the steps. off: (F, n) from where they lead to the frames q
        (F, 4 or 7).   places: (F - 1, PIECES + 1, 4 or 7) after each piece."""
        (count, n), H = off.shape, np.zeros((len(off), 3, 2 * off.shape[1], 2 * off.shape[1]))
        weight = np.where(np.arange(count) < count - 1, 1.0, END)[:, None]
        H[:, 0, range(n), range(n)] = weight
        g = np.hstack((-weight * off, np.zeros_like(off)))
        own = [*self._led_rows(), *self._rate_rows()]
        margins = self._margins()
        for inside in (margins, 0.0 * margins):
            rows = [*own, *_position_rows(model, slot, self.displaced, inside, places, q)]
            change = yield from _least(H, g, rows)
            if change is not None:
                return change[:-1, n:]
        change = yield from _least(H, g, own)  # frames that are outside may leave none
        return np.zeros_like(self.steps) if change is None else change[:-1, n:]

    @cached_property
    def displaced(self) -> Array:
        """(F - 1, PIECES + 1, n, 6 n) the displacement after each piece of each step, of the unknowns from the frame
        before on."""
        steps, n = self.steps.shape
        there = _adjoint(self.led)
        share = np.diff(summed_weights(np.arange(PIECES + 1) / PIECES), axis=0)
        pieces = np.einsum("fpij,pk->fpikj", 0.5 * (there[:, 1:] + there[:, :-1]), share)
        found = np.zeros((steps, PIECES + 1, n, 3, 2, n))
        by_points = found[..., 1, :]
        by_points[:, 1:] = np.cumsum(pieces, axis=1)
        by_points[0, :, :, 1] += self.signs[0] * by_points[0, :, :, 0]
        by_points[-1, :, :, 1] += self.signs[1] * by_points[-1, :, :, 2]
        by_points[0, :, :, 0] = by_points[-1, :, :, 2] = 0.0
        found[:, :, :, 1, 0] = np.eye(n)
        return np.linalg.inv(there) @ found.reshape(steps, PIECES + 1, n, 6 * n)

    def _margins(self) -> Array:
        """(F - 1, PIECES + 1) [rad, m] by which limits on positions are to be kept after each piece of each step: the
        height of an arc above its chord between two looks. The last frame may be at the limit."""
        bends = np.linalg.norm(np.diff(self.steps, axis=0), axis=1)
        bends = np.maximum(np.append(bends, 0.0), np.append(0.0, bends)) + (self.steps**2).sum(axis=1)
        found = np.tile((INSIDE + bends * (EVERY**2 / (8.0 * PIECES**2)))[:, None], PIECES + 1)
        found[-1, -1] = 0.0
        return found

    def _led_rows(self) -> list[Rows]:
        """The first frame stays, and the others are where the steps lead."""
        steps, n = self.steps.shape
        eye, zeros = np.eye(n), np.zeros(n)
        to_next = np.zeros((steps, n, 6 * n))
        to_next[:, :, 4 * n : 5 * n] = eye
        rows, first = (to_next - self.displaced[:, -1]).reshape(-1, 6 * n), np.repeat(_begins(steps, n), n)
        none = np.hstack((np.zeros((n, n)), eye)), np.full(n, 2 * n * steps), zeros, zeros
        return [(eye, np.zeros(n, int), zeros, zeros), none, (rows, first, np.zeros(len(rows)), np.zeros(len(rows)))]

    def _rate_rows(self) -> list[Rows]:
        n, found = self.steps.shape[1], []
        values = [self.steps, np.diff(self.steps, axis=0)]
        rate = np.eye(2 * n)[n:]
        blocks, bounds = [rate, np.hstack((-rate, rate))], [*self.bounds]
        first = [2 * n * np.arange(len(each)) for each in values]
        for end in np.flatnonzero(self.signs < 0.0):  # from rest a step changes by twice itself
            values.append(self.steps[[-end]])
            blocks.append(rate)
            bounds.append(0.5 * self.bounds[1])
            first.append(first[0][[-end]])
        for block, at, value, bound in zip(blocks, first, values, bounds, strict=True):
            limited = np.isfinite(bound)
            rows = np.tile(block[limited], (len(value), 1))
            room = bound[limited]
            low, high = (-room - value[:, limited]).ravel(), (room - value[:, limited]).ravel()
            found.append((rows, np.repeat(at, limited.sum()), low, high))
        return found


def _least(H: Array, g: Array, rows: list[Rows]) -> Generator[None, None, Array | None]:
    """Yield now and then; return (F, 2 n) the minimum inside the rows; None where there is none."""
    blocks, first, low, high = zip(*rows, strict=True)
    sparse = SparseRows.joined([SparseRows.of(*each, g.size) for each in zip(blocks, first, strict=True)])
    lower, upper = np.concatenate(low), np.concatenate(high)
    found = yield from solve_banded_qp(H, g, sparse, lower, upper)
    if found is None:
        return None
    values = sparse.times(found.x.ravel())
    return found.x if np.maximum(lower - values, values - upper).max() <= SMALL else None


def _begins(steps: int, n: int) -> Array:
    """(F - 1,) the first unknown of the frame before each step's own."""
    return 2 * n * np.arange(-1, steps - 1)


def _position_rows(
    model: RobotModel, slot: JointSlot, displaced: Array, margins: Array, places: Array, q: Array
) -> list[Rows]:
    """Where frames q are outside, limits are as wide as these, and cones are none."""
    steps, _, n, _ = displaced.shape
    turns, first, found = n - 3, _begins(steps, n), []
    sides = model.lower[slot.q], model.upper[slot.q]
    bounded = np.flatnonzero(np.isfinite(sides).any(axis=0))
    lower, upper = np.minimum(sides[0], q.min(axis=0)), np.maximum(sides[1], q.max(axis=0))
    cones = [each for each in model.limits.cones if each.q == slot.q.start + turns]
    for piece in range(EVERY, PIECES + 1, EVERY) if len(bounded) else ():
        here, margin = places[:, piece], margins[:, piece]
        R = quaternion.to_matrix(here[:, turns:])
        for axis in bounded:
            row = np.einsum("fi,fij->fj", R[:, axis], displaced[:, piece, :3])
            room = lower[axis] + margin - here[:, axis], upper[axis] - margin - here[:, axis]
            found.append((row, first, *room))
    for cone in cones:
        if not swing_twist.contains(cone, q[:, turns:]).all():
            continue
        step, look = np.nonzero(~swing_twist.contains(cone, places[:, EVERY::EVERY, turns:], -NEAR))
        piece = EVERY * (look + 1)
        balls = places[step, piece, turns:]
        own = [cone.shrunk(margin) for margin in margins[step, piece]]
        inside = np.array([swing_twist.project(*each) for each in zip(own, balls, strict=True)]).reshape(-1, 4)
        local = [swing_twist.local_coordinates(*each) for each in zip(own, inside, strict=True)]
        if local:
            B, low, high = (np.array(each) for each in zip(*local, strict=True))
            to_inside = quaternion.log(quaternion.multiply(quaternion.conjugate(balls), inside))
            to_cone, limited = np.linalg.inv(B), np.isfinite(low) | np.isfinite(high)
            rows, shift = to_cone @ displaced[step, piece, -3:], (to_cone @ to_inside[:, :, None])[:, :, 0]
            begins = np.repeat(first[step], limited.sum(axis=1))
            found.append((rows[limited], begins, (low + shift)[limited], (high + shift)[limited]))
    return found


def _adjoint(T: Array) -> Array:
    """(..., n, n) of quaternions (..., 4), or with the place before them (..., 7): from axes there to those here."""
    R = quaternion.to_matrix(T[..., -4:])
    return R if T.shape[-1] == 4 else se3.adjoint(se3.placement(R, T[..., :3]))
