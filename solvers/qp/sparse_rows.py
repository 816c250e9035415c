"""Rows with few entries each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array


@dataclass(frozen=True, eq=False)
class SparseRows:
    """m rows C over N unknowns, each with few entries: those of row i are start[i] .. start[i + 1].

    start: (m + 1,) int32.   column: (entries,) int32, ascending in a row.   value: (entries,).
    """

    start: Array
    column: Array
    value: Array

    @classmethod
    def of(cls, blocks: Array, first: Array, size: int) -> SparseRows:
        """From dense rows (m, w) that begin at the unknowns `first` (m,), of `size` unknowns; zeros are left out, and
        what lies outside the unknowns has to be 0."""
        column = first[:, None] + np.arange(blocks.shape[1])
        used = (blocks != 0.0) & (column >= 0) & (column < size)
        start = np.concatenate(([0], np.cumsum(used.sum(axis=1))))
        return cls(start.astype(np.int32), column[used].astype(np.int32), np.ascontiguousarray(blocks[used], float))

    @classmethod
    def joined(cls, parts: list[SparseRows]) -> SparseRows:
        offsets = np.cumsum([0, *(len(part.value) for part in parts)])
        starts = [part.start[:-1] + offset for part, offset in zip(parts, offsets, strict=False)]
        return cls(
            np.concatenate([*starts, offsets[-1:]]).astype(np.int32),
            np.concatenate([part.column for part in parts]).astype(np.int32),
            np.concatenate([part.value for part in parts]),
        )

    def without(self, unknowns: Array) -> SparseRows:
        """These rows, of which some unknowns (N,) bool have no entries."""
        kept = ~unknowns[self.column]
        start = np.concatenate(([0], np.cumsum(kept)))[self.start]
        return SparseRows(start.astype(np.int32), self.column[kept], self.value[kept])

    def among(self, rows: Array) -> SparseRows:
        """Some of the rows, (m,) bool."""
        counts = np.diff(self.start)
        kept, start = np.repeat(rows, counts), np.concatenate(([0], np.cumsum(counts[rows])))
        return SparseRows(start.astype(np.int32), self.column[kept], self.value[kept])

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def row(self) -> Array:
        """(entries,) index of the row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def times(self, x: Array) -> Array:
        """(m,) C x."""
        return np.bincount(self.row, self.value * x[self.column], len(self))

    def transposed(self, z: Array, size: int) -> Array:
        """(size,) C'z."""
        return np.bincount(self.column, self.value * np.repeat(z, np.diff(self.start)), size)
