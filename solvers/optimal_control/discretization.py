"""A motion as unknowns: displacements of every frame, what they do to its differences, and the limits as rows.

The unknowns y (F, n) are displacements of the frames in the tangent space of each, q_k + scale y_k, lengths counted in
L. Differences are those of `Motion`: d_k = q_k - q_{k-1} on the manifold, v_k = d_k / dt, a_k = (v_k - v_{k-1}) / dt,
with v_0 given. A derivative is an array of blocks (F, p + 1, n, n): block [k, s] is that of frame k along y_{k-s}.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.errors import TaskError
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.robot import RobotModel
from ...robokin.spatial import quaternion, swing_twist
from ..limits.viability import StepLimits
from ..qp.sparse_rows import SparseRows
from . import turning

SHORTEST = 1e-9  # [s] between frames: only where nothing bounds it
UNUSED = 1e-7  # share of limits on velocities and accelerations that is left unused: a program is solved to less
INSIDE = 1e-7  # share of a curved limit that is left unused: steps leave it to second order


class Discretization:
    """What stays the same of a motion while its frames move.

    limits: per step.   length: L [m].   start_velocity: (nv,) v_0.   is_start_fixed: frame 0 does not move.
    """

    def __init__(
        self,
        model: RobotModel,
        dt: float,
        start_velocity: Array,
        length: float = 1.0,
        is_start_fixed: bool = True,
        backend: str = "auto",
    ) -> None:
        self.model, self.dt, self.start_velocity, self.length = model, dt, start_velocity, length
        self.is_start_fixed, self.backend_name, self.backend = is_start_fixed, backend, get_backend(backend)
        self.limits = StepLimits.of(model, dt)
        self.stretch = 1.0  # dt over the one that was given
        self.scale = np.where(model.is_length, length, 1.0)
        tree = model.tree
        nodes = [
            (MotionPrimitive(motion), int(iq), int(iv))
            for motion, iq, iv in zip(tree.motion, tree.iq, tree.iv, strict=True)
        ]
        self.free = [(iq, iv) for motion, iq, iv in nodes if motion == MotionPrimitive.FREE]
        balls = [iv for motion, _, iv in nodes if motion == MotionPrimitive.BALL]
        self.joined = [(iv, 3) for iv in balls] + [(iv, 6) for _, iv in self.free]  # first and count of each
        wheels = [iv for base in model.rolling_bases for iv in base.wheel_v]
        self.plain_rows: dict[int, SparseRows] = {}  # of limits, of so many frames, where nothing turns
        self.bends = np.setdiff1d(np.arange(len(self.scale)), wheels)  # those along which rows are curved

    @property
    def reach(self) -> int:
        """How many frames before its own a row of a limit reaches to."""
        return 2 if np.isfinite(self.limits.max_step_change).any() else 1

    def stretched(self, s: float) -> Discretization:
        """Itself, with the time between frames multiplied by exp(s). Raises TaskError where that is next to nothing."""
        found = copy(self)
        found.stretch, found.dt = self.stretch * float(np.exp(s)), self.dt * float(np.exp(s))
        if found.dt < SHORTEST:
            raise TaskError("duration: nothing bounds it: the robot can stand still, or what moves has no speed limits")
        found.limits = StepLimits.of(self.model, found.dt)
        return found

    def starting(self, v: Array, is_start_fixed: bool) -> Discretization:
        """Itself, of frames that start later: with the velocity v (nv,) there."""
        found = copy(self)
        found.start_velocity, found.plain_rows, found.is_start_fixed = v, {}, is_start_fixed
        return found

    def moved(self, q: Array, y: Array) -> Array:
        """(F, nq) after displacements y (F, n), not outside the limits of single coordinates by rounding, nor outside
        cones, which are curved."""
        q = self.backend.integrate(self.model.tree, q, y * self.scale)
        if not len(q):
            return q
        q = np.clip(q, self.model.lower, self.model.upper)
        for cone in self.limits.cones:
            own = slice(cone.q, cone.q + 4)
            for k in np.flatnonzero(~swing_twist.contains(cone, q[:, own])):
                q[k, own] = swing_twist.project(cone.shrunk(INSIDE), q[k, own])
        return q

    def difference(self, q0: Array, q1: Array) -> Array:
        """(..., n) displacement from q0 to q1, dimensionless."""
        return self.backend.difference(self.model.tree, q0, q1) / self.scale


class DiscreteMotion:
    """The frames q (F, nq) of a discretization, and their derivatives. known: what others found out about it."""

    def __init__(self, grid: Discretization, q: Array) -> None:
        self.grid, self.q = grid, q
        self.known: dict[object, Any] = {}

    def __len__(self) -> int:
        return len(self.q)

    def moved(self, y: Array, s: float = 0.0) -> DiscreteMotion:
        """After displacements y (F, n), in exp(s) times the time."""
        return DiscreteMotion(self.grid.stretched(s) if s else self.grid, self.grid.moved(self.q, y))

    def stretched(self, s: float) -> DiscreteMotion:
        """These frames in exp(s) times the time."""
        return DiscreteMotion(self.grid.stretched(s), self.q)

    @cached_property
    def steps(self) -> Array:
        """(F, n) d_k; d_0 = v_0 dt."""
        first = self.grid.start_velocity * self.grid.dt / self.grid.scale
        return np.vstack((first[None], self.grid.difference(self.q[:-1], self.q[1:])))

    @cached_property
    def changes(self) -> Array:
        """(F, n) d_k - d_{k-1}; 0 at frame 0."""
        return np.diff(self.steps, axis=0, prepend=self.steps[:1])

    @cached_property
    def v(self) -> Array:
        """(F, nv) SI"""
        return self.steps * self.grid.scale / self.grid.dt

    @cached_property
    def a(self) -> Array:
        """(F, nv) SI"""
        return self.changes * self.grid.scale / self.grid.dt**2

    @cached_property
    def step_blocks(self) -> Array:
        """(F, 2, n, n) of d_k."""
        grid, n = self.grid, self.q.shape[1] and self.steps.shape[1]
        blocks = np.zeros((len(self), 2, n, n))
        blocks[1:, 0], blocks[1:, 1] = np.eye(n), -np.eye(n)
        turning.set_blocks(grid, self.q[:-1], self.q[1:], grid.difference, blocks[1:])
        return blocks

    @cached_property
    def halves(self) -> Array:
        """(F - 1, nq) half-way to each frame from the one before."""
        return self._half_way(self.q[:-1], self.q[1:])

    @cached_property
    def half_blocks(self) -> Array:
        """(F, 2, n, n) of the displacements of `halves`, each at the frame after it."""
        grid, n = self.grid, self.steps.shape[1]
        blocks = np.zeros((len(self), 2, n, n))
        blocks[1:] = 0.5 * np.eye(n)
        turning.set_blocks(grid, self.q[:-1], self.q[1:], self._from_half_way, blocks[1:])
        return blocks

    def _half_way(self, q0: Array, q1: Array) -> Array:
        grid = self.grid
        return grid.moved(q0, 0.5 * grid.difference(q0, q1))

    def bend_steps(self, H: Array, w: Array) -> None:
        """Add to H (F, p + 1, n, n) the second derivative of the sum over frames of w (F, n) times d_k."""
        self._bend(H, w, self.grid.difference)

    def bend_changes(self, H: Array, w: Array) -> None:
        """Add to H (F, p + 1, n, n) the second derivative of the sum of w (F, n) times d_k - d_{k-1}."""
        self.bend_steps(H, w - after(w))

    def bend_halves(self, H: Array, w: Array) -> None:
        """Add to H that of the sum of w (F, n) times the displacements of `halves`, each at the frame after it."""
        self._bend(H, w, self._from_half_way)

    def _bend(self, H: Array, w: Array, of: turning.Pairwise) -> None:
        if self.grid.joined:
            own, across, before = turning.second(self.grid, self.q[:-1], self.q[1:], of, w[1:])
            H[1:, 0] += own
            H[1:, 1] += across
            H[:-1, 0] += before

    def _from_half_way(self, q0: Array, q1: Array) -> Array:
        return self.grid.difference(self.halves, self._half_way(q0, q1))

    @cached_property
    def change_blocks(self) -> Array:
        """(F, 3, n, n) of d_k - d_{k-1}."""
        return differenced(self.step_blocks)

    # -- limits --------------------------------------------------------------------------------------------------------

    def limit_rows(self) -> tuple[SparseRows, Array, Array]:
        """Rows of the limits on positions, velocities and accelerations, and what they leave (m,) (m,) from here."""
        grid, limits, n = self.grid, self.grid.limits, self.steps.shape[1]
        sides = [(np.zeros(n), np.zeros(n))] if grid.is_start_fixed else []
        sides += [(lower, upper) for _, _, _, lower, upper in self._position_rows]
        bounds = limits.max_step / grid.scale, limits.max_step_change / grid.scale
        for bound, value in zip(bounds, (self.steps, self.changes), strict=True):
            limited = np.flatnonzero(np.isfinite(bound))
            room = (1.0 - UNUSED) * bound[limited]
            sides.append(((-room - value[1:, limited]).ravel(), (room - value[1:, limited]).ravel()))
        # What is outside by rounding, or not viable at the start, need not come back in this step.
        lower, upper = (np.concatenate([each[i] for each in sides]) for i in (0, 1))
        if grid.joined:
            return self._limit_rows(), lower, upper
        if len(self) not in grid.plain_rows:
            grid.plain_rows[len(self)] = self._limit_rows()
        return grid.plain_rows[len(self)], lower, upper

    def _limit_rows(self) -> SparseRows:
        """The rows of `limit_rows`; where nothing turns, they are those of all trajectories."""
        grid, limits, (frames, n) = self.grid, self.grid.limits, self.steps.shape
        parts, first = [], np.arange(frames) * n
        if grid.is_start_fixed:
            parts.append(SparseRows.of(np.eye(n), np.zeros(n, int), frames * n))
        for blocks, at, _, _, _ in self._position_rows:
            parts.append(SparseRows.of(blocks, first[at], frames * n))
        for bound, blocks in (
            (limits.max_step, self.step_blocks),
            (limits.max_step_change, self.change_blocks),
        ):
            limited, width = np.flatnonzero(np.isfinite(bound)), blocks.shape[1]
            own = np.concatenate([blocks[1:, s] for s in range(width - 1, -1, -1)], axis=2)[:, limited]
            at = np.repeat(first[1:] - (width - 1) * n, len(limited))
            parts.append(SparseRows.of(own.reshape(len(at), width * n), at, frames * n))
        return SparseRows.joined(parts)

    def bend_limits(self, H: Array, z: Array) -> None:
        """Add to H how `limit_rows` bend times their multipliers z (m,)."""
        if not self.grid.joined:
            return
        force, begin = np.zeros(self.steps.shape), self.grid.is_start_fixed * H.shape[2]
        for _, frame, coordinate, lower, _ in self._position_rows:
            force[frame, coordinate] += z[begin : begin + len(lower)]
            begin += len(lower)
        H[:, 0] += turning.second(self.grid, self.q, self.q, self._limited, force)[0]
        limits = self.grid.limits
        for bound, add in ((limits.max_step, self.bend_steps), (limits.max_step_change, self.bend_changes)):
            force, limited = np.zeros(self.steps.shape), np.flatnonzero(np.isfinite(bound))
            end = begin + (len(force) - 1) * len(limited)
            force[1:, limited] = z[begin:end].reshape(len(force) - 1, -1)
            add(H, force)
            begin = end

    def _limited(self, _: Array, q: Array) -> Array:
        """(F, n) what the limits of positions of joints that turn are on, with slopes of 1 here."""
        grid, found = self.grid, np.zeros(self.steps.shape)
        for iq, iv in grid.free:
            found[:, iv : iv + 3] = q[:, iq : iq + 3] / grid.length
        for cone, (_, lower, _) in zip(grid.limits.cones, self._cones, strict=True):
            own, near = slice(cone.q, cone.q + 4), cone.shrunk(INSIDE)
            measure, twist = swing_twist.measures(near, q[:, own])
            to_centre = np.where(np.isfinite(lower[:, 0]), -lower[:, 0], 0.0)
            found[:, cone.v] = measure * to_centre / (1.0 + swing_twist.measures(near, self.q[:, own])[0])
            found[:, cone.v + 2] = twist
        return found

    @cached_property
    def _cones(self) -> list[tuple[Array, Array, Array]]:
        """Rows (F, 3, 3), lower and upper sides (F, 3) of each cone."""
        found = []
        for cone in self.grid.limits.cones:
            balls, own = self.q[:, cone.q : cone.q + 4], cone.shrunk(INSIDE)
            B, lower, upper = (
                np.array(x) for x in zip(*(swing_twist.local_coordinates(own, q) for q in balls), strict=True)
            )
            found.append((np.linalg.inv(B), lower, upper))
        return found

    @cached_property
    def _position_rows(self) -> list[tuple[Array, Array, Array, Array, Array]]:
        """Rows (m, n), the frame and the coordinate of each (m,), lower and upper sides (m,)."""
        grid, limits, q = self.grid, self.grid.limits, self.q
        n, every, found = len(grid.scale), np.arange(len(q)), []
        bounded = np.flatnonzero((limits.coordinate >= 0) & (np.isfinite(limits.lower) | np.isfinite(limits.upper)))
        if len(bounded):
            values, scale = q[:, limits.coordinate[bounded]].T, grid.scale[bounded, None]
            low, high = ((side[bounded, None] - values) / scale for side in (limits.lower, limits.upper))
            coordinate, frame = np.repeat(bounded, len(q)), np.tile(every, len(bounded))
            found.append((np.eye(n)[coordinate], frame, coordinate, low.ravel(), high.ravel()))
        for iq, iv in grid.free:
            R = quaternion.to_matrix(q[:, iq + 3 : iq + 7])
            for axis in range(3):
                lower, upper = grid.model.lower[iq + axis], grid.model.upper[iq + axis]
                if np.isfinite(lower) or np.isfinite(upper):
                    row = np.zeros((len(q), n))
                    row[:, iv : iv + 3] = R[:, axis]
                    low, high = (lower - q[:, iq + axis]) / grid.length, (upper - q[:, iq + axis]) / grid.length
                    found.append((row, every, np.full(len(q), iv + axis), low, high))
        for cone, (own, lower, upper) in zip(limits.cones, self._cones, strict=True):
            rows = np.zeros((len(q), 3, n))
            rows[:, :, cone.v : cone.v + 3] = own
            frame, k = np.nonzero(np.isfinite(lower) | np.isfinite(upper))
            low, high = np.minimum(lower[frame, k], 0.0), np.maximum(upper[frame, k], 0.0)
            found.append((rows[frame, k], frame, cone.v + k, low, high))
        return found

    def too_fast(self) -> float:
        """What the displacements and their changes have beyond the limits on v and a, summed over all."""
        limits, scale = self.grid.limits, self.grid.scale
        bounds = limits.max_step / scale, limits.max_step_change / scale
        pairs = zip((self.steps[1:], self.changes[1:]), bounds, strict=True)
        return float(sum(np.maximum(abs(value) - (1.0 - UNUSED) * bound, 0.0).sum() for value, bound in pairs))

    @property
    def speed_share(self) -> Array:
        """(F,) the largest share of a limit on a velocity or an acceleration, from the frame before."""
        limits, scale = self.grid.limits, self.grid.scale
        each = abs(self.steps) * scale / limits.max_step, abs(self.changes) * scale / limits.max_step_change
        return np.max(np.hstack(each), axis=1, initial=0.0)

    @cached_property
    def excess(self) -> float:
        """The largest violation of limits, relative to each; of positions in L or radians."""
        grid, model = self.grid, self.grid.model
        outside = np.maximum(model.lower - self.q, self.q - model.upper).max(initial=0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            speed = np.nan_to_num(abs(self.v[1:]) / model.velocity - 1.0, posinf=0.0).max(initial=0.0)
            rate = np.nan_to_num(abs(self.a[1:]) / model.acceleration - 1.0, posinf=0.0).max(initial=0.0)
        cones = [not swing_twist.contains(cone, self.q[:, cone.q : cone.q + 4]).all() for cone in grid.limits.cones]
        return float(max(outside, speed, rate, 1.0 if any(cones) else 0.0)) if grid.dt else 0.0


def differenced(blocks: Array) -> Array:
    """(F, p + 2, n, n) of x_k - x_{k-1}, from those of x (F, p + 1, n, n); frame 0 stays as it is, of which x_{-1} is
    given."""
    frames, width, n, _ = blocks.shape
    found = np.zeros((frames, width + 1, n, n))
    found[:, :-1] = blocks
    found[1:, 1:] -= blocks[:-1]
    return found


def after(x: Array) -> Array:
    """(F, ...) x of the frame after, 0 after the last."""
    return np.concatenate((x[1:], np.zeros_like(x[:1])))
