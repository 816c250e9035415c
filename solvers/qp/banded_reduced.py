"""What equations of one frame leave free. Twin of kernel/src/qp/banded_reduced.c.

Equations that only one frame meets say what some of its coordinates are; the program is solved for the rest, x = origin
+ Z u (the null-space method: Nocedal and Wright, "Numerical Optimization", 2006, section 16.2). It is smaller by far:
of an arm of seven joints a tool's pose leaves one unknown per frame. An equation of which those before leave too little
stays a row, so that Z u is never large for little.
"""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from .sparse_rows import SparseRows

FIRM = 1e-2  # of a row of length 1: what others leave of it, at least
NOISE = 1e-13  # relative: an entry of rounding
NOTHING = 1e-11  # relative: by how much rows may be missed of which equations say that they hold


class FreeDirections:
    """Z: (F, n, n) orthonormal directions in columns, 0 where an equation takes one.   taken: (F, n) bool, where.
    origin: (F, n) the point nearest to 0 that the equations ask for.   solved: (m,) bool, which rows these are.

    Of rows of length 1, with sides lower and upper (m,); across: (m,) their entries at the last unknown."""

    def __init__(self, rows: SparseRows, lower: Array, upper: Array, across: Array, shape: tuple[int, ...]) -> None:
        frames, n = shape
        self.Z, self.origin, along = np.tile(np.eye(n), (frames, 1, 1)), np.zeros(shape), np.zeros(shape)
        self.solved, self.triangle = np.zeros(len(rows), bool), np.zeros((frames, n, n))
        self.own: list[list[int]] = [[] for _ in range(frames)]
        for i in np.flatnonzero((lower == upper) & (across == 0.0) & (np.diff(rows.start) > 0)).tolist():
            column, value = (x[rows.start[i] : rows.start[i + 1]] for x in (rows.column, rows.value))
            k = int(column[0]) // n
            rank = len(self.own[k])
            if int(column[-1]) // n != k or rank == n:
                continue
            Q, w = self.Z[k], np.zeros(n)
            w[column - k * n] = value
            w = w @ Q
            beyond = float(np.linalg.norm(w[rank:]))
            if not beyond > FIRM:
                continue
            v = np.where(np.arange(n) < rank, 0.0, w / beyond)
            v[rank] += -1.0 if v[rank] < 0.0 else 1.0
            for turned in (w[None], Q):
                turned -= np.outer(turned @ v, v / abs(v[rank]))
            along[k, rank] = (lower[i] - w[:rank] @ along[k, :rank]) / w[rank]
            self.triangle[k, rank, : rank + 1] = w[: rank + 1]
            self.own[k].append(i)
            self.solved[i] = True
        self.taken = np.arange(n) < np.array([len(own) for own in self.own]).reshape(-1, 1)
        self.Q = self.Z
        self.origin = np.einsum("kij,kj->ki", self.Q, along)
        self.Z = np.where(self.taken[:, None, :], 0.0, self.Q)

    def hessian(self, H: Array) -> Array:
        """Z'HZ, blocks as in `solve_banded_qp`; its diagonal is 1 where there is no direction."""
        found = np.zeros(H.shape)
        for s in range(min(H.shape[:2])):
            found[s:, s] = np.swapaxes(self.Z[s:], 1, 2) @ H[s:, s] @ self.Z[: len(H) - s]
        found[:, 0] += self.taken[:, :, None] * np.eye(H.shape[2])
        return found

    def components(self, x: Array) -> Array:
        """(F, n) Z'x."""
        return np.einsum("kij,ki->kj", self.Z, x.reshape(self.origin.shape))

    def place(self, u: Array) -> Array:
        """(F n,) origin + Z u."""
        return (self.origin + np.einsum("kij,kj->ki", self.Z, u.reshape(self.origin.shape))).ravel()

    def reduced(self, rows: SparseRows) -> tuple[SparseRows, Array]:
        """C Z, and what the rounding of each entry of it is relative to: unit vectors times the terms of C."""
        n = self.origin.shape[1]
        frame = rows.column // n
        each = rows.value[:, None] * self.Z[frame, rows.column % n]
        begins = np.flatnonzero(np.diff(rows.row, prepend=-1) | np.diff(frame, prepend=-1))
        each, own = (np.add.reduceat(x, begins) if len(begins) else x for x in (each, abs(rows.value)))
        terms = np.where(self.taken.any(axis=1)[frame[begins], None], own[:, None], abs(each))
        used = abs(each) > NOISE * terms
        counts = np.bincount(rows.row[begins], used.sum(axis=1), len(rows)).astype(int)
        start, column = np.concatenate(([0], np.cumsum(counts))), frame[begins, None] * n + np.arange(n)
        return SparseRows(start.astype(np.int32), column[used].astype(np.int32), each[used]), terms[used]

    def balance(self, force: Array) -> Array:
        """(m,) multipliers of the equations solved for, with which nothing of force (F n,) is missing: A'z = force."""
        z = np.zeros(len(self.solved))
        pushed = np.einsum("kij,ki->kj", self.Q, force.reshape(self.origin.shape))
        for own, L, along in zip(self.own, self.triangle, pushed, strict=True):
            rank = len(own)
            z[own] = np.linalg.solve(L[:rank, :rank].T, along[:rank])
        return z
