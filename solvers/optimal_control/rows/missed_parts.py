"""Parts of tasks that frames miss: how far off each may be is one row, of the norm of its residual.

Where the residual is least, the norm has no gradient: a row that lets it grow by nothing leaves no motion there, and
its multiplier has no bound. So where a part has come nearer than at the start it may give back as much as counts as
met, and elsewhere a share of that: then there is room around the least, and multipliers are bounded (Slater's
condition: Boyd and Vandenberghe, "Convex Optimization", 2004, section 5.2.3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....robokin.arrays import Array
from .row_blocks import MET, NOISE, SLACK, RowBlock

GROWS = 0.1  # share of what counts as met by which a part may come to be farther off than at the start
LEAST_ROOM = 5e-3  # share of it that is left where a part is as far off as it may come to be
SOFTEST = 1e-2  # relative: what bends less counts as bending so much
STIFFER = 10.0  # times what one frame alone would need: neighbours draw it along


@dataclass(frozen=True, eq=False)
class MissedParts:
    """cell: (K,) frame times parts plus part, ascending.   parts: of the task.   most: (K,) how large norms may be."""

    cell: Array
    parts: int
    most: Array

    @classmethod
    def of(cls, block: RowBlock, first: RowBlock, still: Array, coming: Array) -> MissedParts:
        """What a block misses, but where all that moves it is still (F, n) bool. A part that is nearer than in `first`,
        the block of the start, may give back as much as counts as met, others a share of that. Of frames coming (F,),
        that might come nearer yet, all that is not met is missed."""
        if block.tolerance is None:
            return cls(np.zeros(0, int), 1, np.zeros(0))
        parts, frames, norm = len(block.tolerance), len(still), _norms(block, len(still))
        cell_of = block.frame * parts + block.part
        weight = np.full(frames * parts, np.inf)  # the least of each part: by it norms tell no more than residuals are
        np.minimum.at(weight, cell_of, block.weight)
        tolerance = weight * np.tile(block.tolerance, frames)
        room = np.minimum(tolerance, weight * MET)
        is_missed = norm > tolerance + np.where(np.repeat(coming, parts), 0.0, room)
        moves = (block.J[:, 0] != 0.0) & ~still[block.frame] if block.J.shape[1] == 1 else block.J.any(axis=1)
        is_moved = np.bincount(cell_of, moves.any(axis=1), frames * parts) > 0.0
        spare = _norms(first, frames) - norm
        cell = np.flatnonzero(is_missed & is_moved)
        most = norm + np.clip(spare + GROWS * room, LEAST_ROOM * room, room)
        return cls(cell, parts, most[cell])

    @property
    def frame(self) -> Array:
        return self.cell // self.parts

    def rows_of(self, block: RowBlock) -> tuple[Array, Array]:
        """The rows of a block that belong to missed parts, and which part each belongs to. Something is missed."""
        cell = block.frame * self.parts + block.part
        at = np.minimum(np.searchsorted(self.cell, cell), len(self.cell) - 1)
        index = np.flatnonzero((self.cell[at] == cell) & block.is_whole)
        return index, at[index]

    def block(self, of: RowBlock) -> RowBlock:
        """(r'r - most^2) / (2 most) <= 0 for each part, r its residual. of: the block of the task."""
        index, part = self.rows_of(of)
        residual, count = of.residual[index], len(self.cell)
        J = np.zeros((count, *of.J.shape[1:]))
        np.add.at(J, part, -(residual / self.most[part])[:, None, None] * of.J[index])
        upper = 0.5 * (self.most - np.bincount(part, residual**2, count) / self.most)

        def bend(H: Array, z: Array) -> None:
            force = np.zeros(len(of.lower))
            force[index] = np.maximum(z / self.most, 0.0)[part]
            replace(of, J=of.J * np.sqrt(force)[:, None, None]).squares((force > 0.0) & (of.residual != 0.0), H)
            of.add_bend(H, -force * of.residual)

        none = np.full(count, -np.inf)
        return RowBlock(J, self.frame, none, upper, self.cell, np.ones(count, bool), bend)


def _norms(block: RowBlock, frames: int) -> Array:
    """(frames times parts,) of the residuals of whole rows."""
    assert block.tolerance is not None
    parts = len(block.tolerance)
    squares = np.where(block.is_whole, block.residual, 0.0) ** 2
    return np.sqrt(np.bincount(block.frame * parts + block.part, squares, frames * parts))


def pressing(block: RowBlock, gradient: Array) -> Array:
    """(K,) multipliers of the rows of missed parts, with which their bending holds a gradient (F, n) back about as far
    as they have room."""
    frames, n = gradient.shape
    H = np.zeros((frames, block.J.shape[1], n, n))
    block.add_bend(H, np.ones(len(block.lower)))
    values, V = np.linalg.eigh(H[block.frame, 0])
    stiffness = np.maximum(values, np.maximum(SOFTEST * values[:, -1:], NOISE))
    along = np.einsum("kji,kj->ki", V, gradient[block.frame])
    return STIFFER * np.sqrt((along**2 / stiffness).sum(axis=1) / (2.0 * np.maximum(block.upper, SLACK)))
