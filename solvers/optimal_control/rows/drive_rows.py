"""Limits on what drives give, at frames and half frames, and on the jerk: rows that a start may break."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ....robokin.arrays import Array
from ....robokin.dynamics import Drives
from ..discretization import DiscreteMotion, Discretization, after, differenced
from .drive_efforts import DriveEfforts
from .row_blocks import RowBlock, RowSource

UNUSED = 1e-6  # share of a limit that is left unused: a program is solved to less
LEAST = 1e-6  # share of a limit on the effort that dry friction leaves


class _DriveSource(RowSource):
    """Rows of values of drives over their limits (nv,), where there are some: -1 <= value <= 1."""

    def __init__(self, limit: Array) -> None:
        self.limit = limit
        self.limited = np.flatnonzero(np.isfinite(limit))

    def is_missed(self, here: DiscreteMotion) -> bool:
        return bool((abs(self.block(here).residual) > UNUSED * min(1.0, here.grid.stretch**3)).any())

    def _block(self, number: int, frame: Array, value: Array, blocks: Array) -> tuple[Array, ...]:
        """J, frame, lower, upper and key of values (k, nv) with derivative blocks (k, w, nv, n)."""
        k, width, _, n = blocks.shape
        J = np.swapaxes(blocks[:, :, self.limited], 1, 2) / self.limit[self.limited, None, None]
        share = (value / self.limit)[:, self.limited]
        frames = np.repeat(frame, len(self.limited))
        key = (2 * frames + number) * len(self.limit) + np.tile(self.limited, k)
        room = 1.0 - UNUSED
        return J.reshape(len(frames), width, n), frames, (-room - share).ravel(), (room - share).ravel(), key


class EffortRows(_DriveSource):
    """No drive gives more than its limit, dry friction included; at half frames with the velocity and acceleration of
    the frame after them, as linear keys have them. A limit on power likewise.

    gravity: (3,) [m/s^2] in the root frame.   power: (nv,) [W], infinite where there is none.
    """

    reach = 2

    def __init__(self, grid: Discretization, gravity: Array, power: Array | None = None) -> None:
        self.friction = Drives.of(grid.model).friction
        effort = grid.model.effort
        super().__init__(np.maximum(effort - self.friction, LEAST * effort) if power is None else power)
        self.gravity, self.is_power = gravity, power is not None
        self.name = "power" if self.is_power else "effort"

    def block(self, here: DiscreteMotion) -> RowBlock:
        known = here.known.setdefault(self, [])
        if not known:
            frames = np.arange(len(here))
            eye = np.broadcast_to(np.eye(here.steps.shape[1]), (len(here), *[here.steps.shape[1]] * 2))
            whole = np.stack((eye, np.zeros_like(eye)), axis=1)
            parts = [self._at(here, 0, frames, here.q, whole)]
            if len(here) > 1:
                parts.append(self._at(here, 1, frames[1:], here.halves, here.half_blocks[1:]))
            J, frame, lower, upper, key = (np.concatenate(each) for each in zip(*parts, strict=True))
            order = np.argsort(key, kind="stable")
            all_of_it = np.ones(len(order), bool)
            block = RowBlock(J[order], frame[order], lower[order], upper[order], key[order], all_of_it)
            known.append(block if self.is_power else replace(block, bend=partial(self._bend, here, key[order])))
        return known[0]

    def _bend(self, here: DiscreteMotion, key: Array, H: Array, z: Array) -> None:
        sample, drive = np.divmod(key, len(self.limit))
        frame, half = np.divmod(sample, 2)
        for number in (0, 1):
            own, pull = half == number, np.zeros((len(here), len(self.limit)))
            pull[frame[own], drive[own]] = z[own] / self.limit[drive[own]]
            DriveEfforts(here.grid, self.gravity).bend(here, H, pull, bool(number))

    def _at(self, here: DiscreteMotion, number: int, frame: Array, q: Array, blocks: Array) -> tuple[Array, ...]:
        """blocks: (k, 2, n, n) of the displacements of q (k, nq)."""
        v, a = here.v[frame], here.a[frame]
        efforts = DriveEfforts(here.grid, self.gravity)
        effort = efforts.at(q, v, a)
        (by_q, by_v, by_a), _ = efforts.derivatives(q, v, a, np.zeros_like(v))
        if self.is_power:
            by_q, by_v, by_a = (v[:, :, None] * each for each in (by_q, by_v, by_a))
            pull = np.eye(v.shape[1]) * (effort + self.friction * np.sign(v))[:, :, None]
            by_v = by_v + pull * (here.grid.scale / here.grid.dt)
            effort = effort * v + self.friction * abs(v)
        own = by_a[:, None] @ here.change_blocks[frame]
        own[:, :2] += by_v[:, None] @ here.step_blocks[frame]
        own[:, :2] += by_q[:, None] @ blocks
        return self._block(number, frame, effort, own)


class JerkRows(_DriveSource):
    """No acceleration changes faster than a limit (nv,) [SI per s^3]; before the first frame it is 0."""

    name = "jerk"
    reach = 3

    def block(self, here: DiscreteMotion) -> RowBlock:
        scale = here.grid.scale / here.grid.dt**3
        jerk = np.diff(here.changes, axis=0, prepend=0.0) * scale
        blocks = differenced(here.change_blocks) * scale[:, None]
        frames = np.arange(1, len(here))
        J, frame, lower, upper, key = self._block(0, frames, jerk[1:], blocks[1:])
        # Like the limits on velocities and accelerations: sides that grow with the time, whose tangents lie inside.
        grown = here.grid.stretch**3

        def bend(H: Array, z: Array) -> None:
            pull = np.zeros(here.steps.shape)
            pull[1:, self.limited] = grown * z.reshape(-1, len(self.limited)) / self.limit[self.limited]
            here.bend_changes(H, (pull - after(pull)) * scale)

        return RowBlock(grown * J, frame, grown * lower, grown * upper, key, np.ones(len(key), bool), bend)
