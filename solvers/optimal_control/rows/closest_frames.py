"""Frames that are as near to what a level asks for as joints inside their limits can come: they stay so.

There the residual's gradient J'r is zero, beside what limits hold. Rows that let no residual grow have next to no
derivative along what makes it grow, so that their multipliers are huge. How half the squared residual bends, at the
second order, says how far a frame may move instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....robokin.arrays import Array
from ..discretization import DiscreteMotion
from .row_blocks import SLACK, RowBlock

FLAT = 1e-6  # relative: second derivatives that small are none: the frame is nearest all along there
NEAREST = 1e-3  # [rad, L] from where it is nearest that a frame may be


@dataclass(frozen=True, eq=False)
class ClosestFrames:
    """index: (K,) frames.   pressed: (K, n) bool, coordinates that press on a limit of their position, and stay as in q
    (K, nq).   off: (K, n) the step to where each is nearest.   room: (K,) how far from there, in the measure of
    `_newton`, the residual grows by SLACK."""

    level: int
    index: Array
    pressed: Array
    q: Array
    off: Array
    room: Array

    @classmethod
    def of(cls, level: int, blocks: list[RowBlock], missed: Array, here: DiscreteMotion) -> ClosestFrames:
        """The frames among `missed` (F,) bool that are as near as they can come."""
        n, limits = here.steps.shape[1], here.grid.limits
        index = np.flatnonzero(missed)
        if not len(index) or any(block.bend is None or block.J.shape[1] > 1 for block in blocks):
            return cls(level, index[:0], np.zeros((0, n), bool), here.q[:0], np.zeros((0, n)), np.zeros(0))
        gradient, _ = _derivatives(blocks, len(here))
        q = here.q[index][:, limits.coordinate]
        at_lower = (limits.coordinate >= 0) & (q <= limits.lower) & (gradient[index] > 0.0)
        at_upper = (limits.coordinate >= 0) & (q >= limits.upper) & (gradient[index] < 0.0)
        size = np.sqrt(sum(block.lacking_squares(len(here)) for block in blocks))[index]
        room = np.sqrt(2.0 * SLACK * size / n)
        found = cls(level, index, at_lower | at_upper, here.q[index], np.zeros((len(index), n)), room)
        _, off, curvature = found._newton(blocks, here)
        own = (abs(off).max(axis=1, initial=0.0) <= NEAREST) & (curvature >= -FLAT)
        return cls(level, index[own], found.pressed[own], found.q[own], off[own], room[own])

    def block(self, blocks: list[RowBlock], here: DiscreteMotion) -> RowBlock:
        S, step, _ = self._newton(blocks, here)
        count, n = step.shape
        side = np.einsum("kij,kj->ki", S, step - self.off)
        room = np.where(self.pressed, 0.0, self.room[:, None])
        frame = np.repeat(self.index, n)
        return RowBlock(
            S.reshape(count * n, 1, n),
            frame,
            (side - room).ravel(),
            (side + room).ravel(),
            np.arange(len(frame)),
            np.ones(len(frame), bool),
        )

    def _newton(self, blocks: list[RowBlock], here: DiscreteMotion) -> tuple[Array, Array, Array]:
        """The root (K, n, n) of the Hessian of half the squared residual, the step (K, n) to where that is least, the
        least eigenvalue (K,) over the largest."""
        gradient, G = (each[self.index] for each in _derivatives(blocks, len(here)))
        either = self.pressed[:, :, None] | self.pressed[:, None, :]
        values, V = np.linalg.eigh(np.where(either, 0.0, G))
        most = np.maximum(abs(values).max(axis=1, initial=0.0), 1e-300)
        bends = values > FLAT * most[:, None]
        along = np.einsum("kji,kj->ki", V, np.where(self.pressed, 0.0, gradient))
        step = -np.einsum("kij,kj->ki", V, np.where(bends, along, 0.0) / np.where(bends, values, 1.0))
        root = np.sqrt(np.where(bends, values, 0.0))
        S = np.einsum("kij,kj,klj->kil", V, root, V) + self.pressed[:, :, None] * np.eye(self.pressed.shape[1])
        step = np.where(self.pressed, here.grid.difference(here.q[self.index], self.q), step)
        return S, step, values.min(axis=1, initial=0.0) / most


def _derivatives(blocks: list[RowBlock], frames: int) -> tuple[Array, Array]:
    """The gradient (F, n) and the Hessian (F, n, n) of half the squared residual of whole rows."""
    n = blocks[0].J.shape[2]
    gradient, H = np.zeros((frames, n)), np.zeros((frames, 1, n, n))
    for block in blocks:
        residual = np.where(block.is_whole, block.residual, 0.0)
        gradient -= block.gradient(residual, frames)
        block.squares(residual != 0.0, H)
        if block.bend is not None:
            block.bend(H, -residual)
    return gradient, H[:, 0]
