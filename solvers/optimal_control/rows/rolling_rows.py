"""Wheels that roll and do not slip, over all frames of a motion."""

from __future__ import annotations

import numpy as np

from ....robokin.arrays import Array
from ....robokin.model.rolling import RollingBase
from ..discretization import DiscreteMotion
from .row_blocks import RowBlock, RowSource

STEP = 1e-4  # [rad] of differences
NONE = 1e-9  # [L, rad] a slip that is none


class RollingRows(RowSource):
    """A base is at each frame where its wheels carry it from the frame before, along the arc that they roll."""

    reach = 1

    def __init__(self, base: RollingBase) -> None:
        self.base = base

    def block(self, here: DiscreteMotion) -> RowBlock:
        base, n, frames = self.base, here.steps.shape[1], len(here) - 1
        scale = here.grid.scale[base.v : base.v + 3]
        place, turned = self._read(here.q)
        slip = place[1:] - base.roll(place[:-1], turned)
        J = np.zeros((frames, 3, 2, n))  # row, frames before, degree of freedom
        own = np.arange(3)
        J[:, own, 0, base.v + own] = 1.0
        J[:, own, 1, base.v + own] = -1.0
        by = _differences(lambda x: base.roll(place[:-1] + x[0] * _ANGLE, turned + x[1:]))
        J[:, :, 1, base.v + 2] -= by[0] / scale - _ANGLE / scale
        for side, wheel in enumerate(base.wheel_v):
            J[:, :, 0, wheel] -= by[1 + side] / scale
            J[:, :, 1, wheel] += by[1 + side] / scale
        residual = -(slip / scale).ravel()
        frame = np.repeat(np.arange(1, frames + 1), 3)

        def bend(H: Array, z: Array) -> None:
            self._bend(H, z.reshape(-1, 3) / scale, place[:-1], turned)

        key = np.arange(3 * frames)
        return RowBlock(J.reshape(-1, 2, n), frame, residual, residual, key, np.ones(3 * frames, bool), bend)

    def is_missed(self, here: DiscreteMotion) -> bool:
        return bool((abs(self.block(here).residual) > NONE).any())

    def rolled(self, q: Array) -> Array:
        """The frames q (F, nq), with the base exactly where its wheels carry it from the first frame on."""
        found, own = q.copy(), slice(self.base.q, self.base.q + 3)
        _, turned = self._read(q)
        for k, each in enumerate(turned):
            found[k + 1, own] = self.base.roll(found[k, own], each)
        return found

    def _read(self, q: Array) -> tuple[Array, Array]:
        """(F, 3) where the base is, (F - 1, 2) by what its wheels turn."""
        return q[:, self.base.q : self.base.q + 3], np.diff(q[:, list(self.base.wheel_q)], axis=0)

    def _bend(self, H: Array, z: Array, place: Array, turned: Array) -> None:
        """Add how the rows' gradients change: by the angle of the frame before and what the wheels turn."""
        value = lambda x: (z * self.base.roll(place + x[0] * _ANGLE, turned + x[1:])).sum(axis=1)  # noqa: E731
        second = np.empty((len(z), 3, 3))
        for i in range(3):
            for j in range(3):
                one, other = STEP * np.eye(3)[[i, j]]
                corners = value(one + other) - value(one - other) - value(other - one) + value(-one - other)
                second[:, i, j] = -corners / (4.0 * STEP**2)
        left, right = self.base.wheel_v
        now = [(left, 1, 1.0), (right, 2, 1.0)]
        before = [(self.base.v + 2, 0, 1.0), (left, 1, -1.0), (right, 2, -1.0)]
        for i, x, sign in now:
            for j, y, other_sign in now:
                H[1:, 0, i, j] += sign * other_sign * second[:, x, y]
            for j, y, other_sign in before:
                H[1:, 1, i, j] += sign * other_sign * second[:, x, y]
        for i, x, sign in before:
            for j, y, other_sign in before:
                H[:-1, 0, i, j] += sign * other_sign * second[:, x, y]


_ANGLE = np.array([0.0, 0.0, 1.0])


def _differences(of: object) -> list[Array]:
    """The derivatives of a function of three numbers at 0."""
    ends = [(of(STEP * e), of(-STEP * e)) for e in np.eye(3)]  # type: ignore[operator]
    return [(up - down) / (2.0 * STEP) for up, down in ends]
