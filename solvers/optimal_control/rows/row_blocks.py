"""Rows of a program over all frames of a motion: what they ask for, and which residual the start may keep."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ....robokin.arrays import Array
from ...qp.sparse_rows import SparseRows
from ..discretization import DiscreteMotion

MET = 1e-5  # residual of an equation that counts as met: it stays as it is
SLACK = 5e-8  # more that residuals may be: else, at the least that is possible, nothing could move
NOISE = 1e-9  # sides whose derivatives are all this small hold nothing: made as long as others, they would be huge
FIRST = 0  # the level of limits and obstacles, before all tasks


@dataclass(frozen=True, eq=False)
class RowBlock:
    """lower <= C y <= upper, dimensionless and weighted.

    J: (m, w, n), J[i, s] along y of frame[i] - s.   frame: (m,).   lower, upper: (m,).   key: (m,) integers, ascending:
    which row is which at other trajectories.   is_whole: (m,) bool, rows whose residual is to become less; of others it
    stays what it is.   bend(H, z): adds the derivative of C'z, z (m,), to H (F, p + 1, n, n); None where it is not
    known.   part: (m,) which part of its task a row is of.   tolerance: (parts,) what is met of each; None: no task.
    weight: (m,) what rows are multiplied by, beside being made dimensionless.
    """

    J: Array
    frame: Array
    lower: Array
    upper: Array
    key: Array
    is_whole: Array
    bend: Callable[[Array, Array], None] | None = None
    part: Array | int = 0
    tolerance: Array | None = None
    weight: Array | float = 1.0

    @property
    def residual(self) -> Array:
        """(m,) positive where C y should be larger."""
        return np.clip(0.0, self.lower, self.upper)

    def add_bend(self, H: Array, z: Array) -> None:
        """`bend`, where it is known."""
        if self.bend is not None:
            self.bend(H, z)

    def lacking_squares(self, frames: int) -> Array:
        """(F,) the squares of the residuals of whole rows, summed at each frame."""
        return np.bincount(self.frame, np.where(self.is_whole, self.residual, 0.0) ** 2, frames)

    def stay(self, residual: Array) -> Array:
        """(m,) bool, rows that keep such a residual (m,): of equations that are met, and those that are not whole."""
        return ~self.is_whole | ((self.lower == self.upper) & (abs(residual) <= MET))

    def kept(self, before: RowBlock) -> tuple[Array, Array]:
        """(m,) (m,) by how much lower and upper sides are moved when residuals are no larger than `before`."""
        at = np.searchsorted(before.key, self.key)
        at[at == len(before.key)] = 0
        known = before.key[at] == self.key if len(before.key) else np.zeros(len(at), bool)
        residual = np.where(known, before.residual[at], 0.0) if len(before.key) else np.zeros(len(at))
        stays = self.stay(residual)
        room = residual + SLACK * np.sign(residual)
        return np.where(stays, residual, np.maximum(room, 0.0)), np.where(stays, residual, np.minimum(room, 0.0))

    def rows(self, frames: int) -> SparseRows:
        """(m, F n)"""
        m, width, n = self.J.shape
        is_still = (self.lower != self.upper) & (abs(self.J).max(axis=(1, 2), initial=0.0) <= NOISE)
        reversed_blocks = np.where(is_still[:, None, None], 0.0, self.J[:, ::-1]).reshape(m, width * n)
        return SparseRows.of(reversed_blocks, (self.frame - (width - 1)) * n, frames * n)

    def gradient(self, z: Array, frames: int) -> Array:
        """(F, n) C'z."""
        found = np.zeros((frames, self.J.shape[2]))
        for s in range(self.J.shape[1]):
            own = self.frame >= s
            _add_up(found, self.frame[own] - s, z[own, None] * self.J[own, s])
        return found

    def squares(self, used: Array, H: Array) -> None:
        """Add the sum of the squares of some rows, (m,) bool, to H (F, p + 1, n, n)."""
        J, frame = self.J[used], self.frame[used]
        width = J.shape[1]
        for s in range(width):
            for t in range(s, width):
                own = frame >= t
                _add_up(H[:, t - s], frame[own] - s, J[own, s, :, None] * J[own, t, None, :])


def _add_up(found: Array, frame: Array, values: Array) -> None:
    """Add to found (F, ...) the values (m, ...) of frames (m,), each frame's next to one another."""
    begin = np.flatnonzero(np.diff(frame, prepend=-1))
    if len(begin):
        found[frame[begin]] += np.add.reduceat(values, begin)


class RowSource(ABC):
    """What asks for rows. level: the priority; residuals of a lower level do not grow for those of a higher one.
    reach: how many frames before its own a row reaches to.   name: of a limit that a result may still break."""

    name: str = ""
    level: int = FIRST
    reach: int = 0

    @abstractmethod
    def block(self, here: DiscreteMotion) -> RowBlock: ...

    def part(self, begin: int, end: int) -> RowSource | None:
        """What it asks of frames begin .. end alone, counted from the first of them; None: of these nothing."""
        return self

    @abstractmethod
    def is_missed(self, here: DiscreteMotion) -> bool:
        """Whether more is missing than tolerances allow."""

    def missed(self, here: DiscreteMotion) -> Array:
        """(F,) bool, frames at which a task whose influence is whole is missed."""
        return np.zeros(len(here), bool)
