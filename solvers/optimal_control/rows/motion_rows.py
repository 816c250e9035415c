"""All that a motion is asked for as rows of one program over its frames, level by level.

A row may keep the residual that it has where it is held, but get no larger one, and the norm of what is missed may grow
by next to nothing. So tasks that are met stay met, those that cannot be met come no farther off, unless they are left
free, and a level below never costs one above.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from ....robokin.arrays import Array
from ...qp.sparse_rows import SparseRows
from ..discretization import DiscreteMotion
from .missed_parts import MissedParts, pressing
from .nearest_frames import nearest
from .row_blocks import FIRST, RowBlock, RowSource

AROUND = 2.0  # [s] from a frame that might come nearer, within which others move for it
DETERMINED = 1e-4  # share of the largest singular value of rows that the least one is more than
EASED = 0.25  # share of a multiplier before that the next one is at least


class MotionRows:
    """What sources ask of a motion. last: levels below this one count for nothing, until it is set back.
    free: (F,) bool of each source, frames whose whole rows are not held.   still: (F, n) bool, coordinates that stay
    as they are: those of frames that miss a level and can come no nearer to it, and those that rows which stay leave
    nothing free.   off: of each source, how far off what is missed may be.   first: the trajectory that was held first.
    ends: (F,) bool, frames that stay as they are, or None."""

    def __init__(self, sources: Sequence[RowSource], ends: Array | None = None) -> None:
        self.sources, self.ends, self.last = list(sources), ends, math.inf
        self.levels = sorted({source.level for source in sources})
        self.reach = max([source.reach for source in sources], default=0)
        self.least: list[RowBlock] | None = None
        self.free: list[Array] = []
        self.still: Array | None = None
        self.off: list[MissedParts] = []
        self.first: DiscreteMotion | None = None

    def blocks(self, here: DiscreteMotion) -> list[RowBlock]:
        if self not in here.known:
            here.known[self] = [source.block(here) for source in self.sources]
        return here.known[self]

    def at(self, here: DiscreteMotion) -> LinearisedRows:
        return LinearisedRows(self, here, self.blocks(here))

    def hold(self, here: DiscreteMotion, but: int | None = None, until: float = math.inf) -> None:
        """Ask from now on for residuals that are no larger than here, but for frames that a level misses. until: the
        first level that may still come nearer."""
        self.least = self.blocks(here)
        self.free = [(source.level == but) & source.missed(here) for source in self.sources]
        self.still = self.nearest(here, until)[0].copy()
        if but is not None:
            self.still |= self._in_no_way(here, but)
        if self.ends is not None:
            self.still |= self.ends[:, None]
        self.still |= self._determined(here)
        coming = self.nearest(here, math.inf)[2].copy()
        for block in self.of_level(here, FIRST):
            coming[block.frame] = False  # what comes first may be what keeps them
        self.first = self.first or here
        pairs = zip(self.least, self.blocks(self.first), strict=True)
        self.off = [MissedParts.of(*pair, self.still, coming) for pair in pairs]

    def parts(self, here: DiscreteMotion, level: int) -> Iterator[tuple[MotionRows, DiscreteMotion, int]]:
        """Rows and trajectory of each stretch of frames around those that might come nearer to a level, and which frame
        is its first. Frames farther away than AROUND stay: no other one is in their way, or can help them. So each
        stretch is a program of its own; at its ends as many frames stay as rows see of what is outside."""
        self.first = self.first or here
        coming, reach = self.nearest(here, level + 1)[2], math.ceil(AROUND / here.grid.dt)
        edge, moving = max(self.reach, here.grid.reach), _around(coming, reach)
        for begin, end in _runs(_around(coming, reach + edge)):
            grid = here.grid.starting(here.v[begin], begin > 0 or here.grid.is_start_fixed)
            sources = [source.part(begin, end) for source in self.sources]
            own = MotionRows([each for each in sources if each is not None], ~moving[begin:end])
            own.first, own.last = DiscreteMotion(grid, self.first.q[begin:end]), self.last
            yield own, DiscreteMotion(grid, here.q[begin:end]), begin

    def nearest(self, here: DiscreteMotion, until: float) -> tuple[Array, Array, Array]:
        """`still` (F, n) of the levels before one, steps (F, n) to where these frames are nearest to theirs, and (F,)
        bool, frames that miss the last of these levels and might come nearer to it, or meet a task there."""
        levels = [each for each in self.levels if FIRST < each < until]
        key = (self, "nearest", len(levels))
        if key not in here.known:
            here.known[key] = self._nearest(here, levels)
        return here.known[key]

    def _nearest(self, here: DiscreteMotion, levels: Sequence[int]) -> tuple[Array, Array, Array]:
        still, steps, coming = np.zeros(here.steps.shape, bool), np.zeros(here.steps.shape), np.zeros(len(here), bool)
        above: list[RowBlock] = []
        for level in levels:
            missed = np.sum([source.missed(here) for source in self.sources if source.level == level], axis=0)
            blocks = self.of_level(here, level)
            own, step, coming = nearest(here, missed > 0, blocks, above, still)
            still, steps, above, coming = still | own, steps + step, above + blocks, coming | (missed > 1)
        return still, steps, coming

    def _in_no_way(self, here: DiscreteMotion, level: int) -> Array:
        """(F, n) `still` of frames that miss a level, where none that might come nearer is before or after them up to
        the next one that is met."""
        (still, _, coming), is_asked = self.nearest(here, level + 1), np.zeros(len(here), bool)
        for block in self.of_level(here, level):
            is_asked[block.frame[block.is_whole]] = True
        missed = np.any([source.missed(here) for source in self.sources if source.level == level], axis=0)
        run = np.cumsum(is_asked & ~missed)
        return still & (missed & ~np.isin(run, run[coming]))[:, None]

    def _determined(self, here: DiscreteMotion) -> Array:
        """(F, n) bool, coordinates that rows which stay as they are move, in frames in which they leave none free."""
        assert self.still is not None
        H = np.zeros((len(here), 1, *2 * self.still.shape[1:]))
        for source, block, free in zip(self.sources, self.blocks(here), self.free, strict=True):
            if source.level <= self.last and block.J.shape[1] == 1:
                stays = (block.lower == block.upper) & block.stay(block.residual)
                block.squares(stays & ~(block.is_whole & free[block.frame]), H)
        moved = (np.diagonal(H[:, 0], axis1=1, axis2=2) > 0.0) & ~self.still
        H = H[:, 0] * (moved[:, :, None] & moved[:, None])
        largest = abs(H).max(axis=(1, 2), initial=0.0)
        values = np.linalg.eigvalsh(H + (largest[:, None] * ~moved)[:, None] * np.eye(H.shape[-1]))
        return moved & (values > DETERMINED**2 * largest[:, None]).all(axis=1)[:, None]

    def of_level(self, here: DiscreteMotion, level: int) -> list[RowBlock]:
        blocks = zip(self.sources, self.blocks(here), strict=True)
        return [block for source, block in blocks if source.level == level]

    def is_missed(self, here: DiscreteMotion, level: int) -> bool:
        return any(source.is_missed(here) for source in self.sources if source.level == level)

    def missed(self, here: DiscreteMotion, level: int) -> int:
        """How many frames of tasks of a level are missed."""
        return sum(int(source.missed(here).sum()) for source in self.sources if source.level == level)


class LinearisedRows:
    """The rows of all frames at a trajectory: `plain` of what is asked for, then the norms of missed parts."""

    def __init__(self, constraints: MotionRows, here: DiscreteMotion, blocks: list[RowBlock]) -> None:
        self.constraints, self.here = constraints, here
        sides: list[tuple[Array, Array]] = []
        norms: list[RowBlock] = []
        for number, (source, block) in enumerate(zip(constraints.sources, blocks, strict=True)):
            if source.level > constraints.last:
                sides.append((np.full(len(block.lower), -np.inf), np.full(len(block.lower), np.inf)))
            elif constraints.least is None:
                sides.append((block.lower, block.upper))
            else:
                low, high = block.kept(constraints.least[number])
                off, free = constraints.off[number], constraints.free[number]
                is_free = block.is_whole & free[block.frame]
                if len(off.cell):
                    is_free[off.rows_of(block)[0]] = True
                    norms.append(off.block(block))
                    norms[-1].upper[free[off.frame]] = np.inf
                sides.append(
                    (np.where(is_free, -np.inf, block.lower - low), np.where(is_free, np.inf, block.upper - high))
                )
        self.blocks, self.norms, self.plain = [*blocks, *norms], norms, sum(len(block.lower) for block in blocks)
        sides += [(block.lower, block.upper) for block in norms]
        none = np.zeros(0)
        self.lower, self.upper = (np.concatenate([none, *(own[i] for own in sides)]) for i in (0, 1))

    def rows(self) -> SparseRows:
        """(m, F n)"""
        frames, n = self.here.steps.shape
        empty = SparseRows.of(np.zeros((0, n)), np.zeros(0, int), frames * n)
        return SparseRows.joined([empty, *(block.rows(frames) for block in self.blocks)])

    @property
    def tells_bending(self) -> bool:
        """Whether it is known how all equations bend: only then a cost's own bending leads to the optimum."""
        return all(block.bend is not None or not (block.lower == block.upper).any() for block in self.blocks)

    def bend(self, H: Array, z: Array) -> None:
        """Add to H (F, p + 1, n, n) the derivative of C'z, z (m,), of rows of which it is known."""
        end = 0
        for block in self.blocks:
            begin, end = end, end + len(block.lower)
            if z[begin:end].any():
                block.add_bend(H, z[begin:end])

    def bend_upwards(self, H: Array, z: Array) -> None:
        """Add to H what bends upwards of the norms of missed parts, times their multipliers among z (m,)."""
        own, end = np.zeros((len(H), 1, *H.shape[2:])), self.plain
        for block in self.norms:
            begin, end = end, end + len(block.lower)
            block.add_bend(own, z[begin:end])
        bent = np.flatnonzero(own.any(axis=(1, 2, 3)))
        values, V = np.linalg.eigh(own[bent, 0])
        H[bent, 0] += (V * np.maximum(values, 0.0)[:, None]) @ np.swapaxes(V, 1, 2)

    def begun(self, gradient: Array) -> Array:
        """(m,) multipliers to begin with against a gradient (F, n): of missed parts, 0 of other rows."""
        return np.concatenate([np.zeros(self.plain), *(pressing(block, gradient) for block in self.norms)])

    def eased(self, newest: Array, before: Array) -> Array:
        """(m,) multipliers of how rows bend: those of missed parts fall step by step, as the rows of a step hold back
        nothing where a norm is least."""
        z = newest.copy()
        z[self.plain : len(self.lower)] = np.maximum(newest, EASED * before)[self.plain : len(self.lower)]
        return z

    @cached_property
    def residual(self) -> Array:
        """(m,) the residual beyond what is held."""
        return np.clip(0.0, self.lower, self.upper)


def _around(chosen: Array, reach: int) -> Array:
    """(F,) bool, frames that are no farther than `reach` from those chosen."""
    at, frames = np.flatnonzero(chosen), np.arange(len(chosen))
    after = np.searchsorted(at, frames - reach)
    return (after < len(at)) & (np.append(at, len(chosen) + reach)[after] <= frames + reach)


def _runs(chosen: Array) -> list[tuple[int, int]]:
    """The first frame of each run of frames chosen, and the one after its last."""
    changes = np.flatnonzero(np.diff(chosen.astype(int), prepend=0, append=0))
    return list(zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True))
