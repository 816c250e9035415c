"""A block-banded quadratic program in NumPy, and Newton's matrix of it. Twin of kernel/src/qp/banded_program.c."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from .banded_qp import BandedQP
from .banded_reduced import NOTHING, FreeDirections
from .sparse_rows import SparseRows

Factor = tuple[Array, Array, float]  # L, and what the last unknown adds: K^-1 of its column, what is left of its entry

# By which equations give way at first, rows of length 1 and H of size 1, and at least: where they nearly follow from
# sides that hold, they come true slowly, and so it falls to a FIRMER share.
DELTA, LEAST_DELTA, FIRMER = 1e-5, 1e-10, 0.1
SLOW = 0.1  # a share of what equations are off by: a step that leaves more makes them firmer
# Added to H of size 1, as much as rounding makes it need: the first FEW, or all where sides are steep.
RHOS = (1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 1e-1, 10.0)
FEW = 2
STEEP = 1e9  # weights of sides beyond which rounding may take the definiteness
REFINEMENTS = 2  # of each step, unless it leaves less than this share
EXACT = 1e-7


def largest(x: Array) -> float:
    return float(abs(x).max(initial=0.0))


class NotConvexError(Exception):
    """Newton's matrix is not positive definite."""


def factor(K: Array) -> Array:
    """L (F, p + 1, n, n) of K = LL', blocks as in `solve_banded_qp`. Raises LinAlgError."""
    L, (frames, band) = K.copy(), K.shape[:2]
    for k in range(frames):
        L[k, 0] = np.linalg.cholesky(L[k, 0])
        below = range(1, min(band, frames - k))
        for s in below:
            L[k + s, s] = np.linalg.solve(L[k, 0], L[k + s, s].T).T
        for s in below:
            for t in range(s, below.stop):
                L[k + t, t - s] -= L[k + t, t] @ L[k + s, s].T
    return L


def substitute(L: Array, b: Array) -> Array:
    """x (F, n) with LL'x = b."""
    x, (frames, band) = b.copy(), L.shape[:2]
    for k in range(frames):
        for s in range(1, min(band, k + 1)):
            x[k] -= L[k, s] @ x[k - s]
        x[k] = np.linalg.solve(L[k, 0], x[k])
    for k in range(frames - 1, -1, -1):
        for s in range(1, min(band, frames - k)):
            x[k] -= L[k + s, s].T @ x[k + s]
        x[k] = np.linalg.solve(L[k, 0].T, x[k])
    return x


def _times(H: Array, x: Array) -> Array:
    """(F, n) H x."""
    out = np.zeros(x.shape)
    for s in range(min(H.shape[1], len(x))):
        blocks = H[s:, s]
        out[s:] += np.einsum("kij,kj->ki", blocks, x[: len(x) - s])
        if s:
            out[: len(x) - s] += np.einsum("kji,kj->ki", blocks, x[s:])
    return out


class BandedProgram:
    """The program of what equations of one frame leave free, with rows of length 1 and H of size 1. kept: the rows that
    it has of those given."""

    def __init__(self, given: BandedQP) -> None:
        H, g, rows, last = given.H, given.g, given.rows, given.last
        self.given, self.shape, self.banded, self.last = given, g.shape, g.size, last
        self.size = g.size + (last is not None)
        length = np.sqrt(np.bincount(rows.row, rows.value**2, len(rows)))
        self.length = np.where(length > 0.0, length, 1.0)
        rows = SparseRows(rows.start, rows.column, rows.value / self.length[rows.row])
        lower, upper = given.lower / self.length, given.upper / self.length
        most, least = float(abs(H).max(initial=0.0)), float(abs(g).max(initial=0.0))
        if last is not None:
            most = max(most, float(abs(last.border).max(initial=0.0)), abs(last.corner))
            least = max(least, abs(last.slope))
        self.scale = most if most > 1e-300 else max(least, 1e-300)
        self.size_g = max(least / self.scale, 1e-12)
        H, across = H / self.scale, np.zeros(len(rows)) if last is None else last.across / self.length
        for k in range(len(H)):
            H[k, k + 1 :] = 0.0
        self.free = free = FreeDirections(rows, lower, upper, across, g.shape)
        shift, (part, terms) = rows.times(free.origin.ravel()), free.reduced(rows)
        room = 1.0 + SparseRows(rows.start, rows.column, abs(rows.value)).times(abs(free.origin.ravel()))
        is_empty = (np.diff(part.start) == 0) & (across == 0.0)
        is_kept = ~free.solved & ~(is_empty & (np.maximum(lower - shift, shift - upper) <= NOTHING * room))
        self.kept, self.room = np.flatnonzero(is_kept), room[is_kept]
        self.rows, self.across = part.among(is_kept), across[is_kept]
        self.terms = SparseRows(part.start, part.column, terms).among(is_kept)
        self.lower, self.upper = (lower - shift)[self.kept], (upper - shift)[self.kept]
        self.H, self.border, self.corner = free.hessian(H), np.zeros(g.size), 0.0
        self.g = free.components(_times(H, free.origin) + g / self.scale).ravel()
        if last is not None:
            self.border, self.corner = free.components(last.border / self.scale).ravel(), last.corner / self.scale
            slope = last.slope + float((last.border * free.origin).sum())
            self.g = np.append(self.g, slope / self.scale)
        self.equal = given.lower[self.kept] == given.upper[self.kept]
        self.has_lower = np.isfinite(self.lower) & ~self.equal
        self.has_upper = np.isfinite(self.upper) & ~self.equal
        self.sides = int(self.has_lower.sum() + self.has_upper.sum())
        # The sides that count, 0 for others.
        self.low = np.where(self.equal | self.has_lower, self.lower, 0.0)
        self.high = np.where(self.has_upper, self.upper, 0.0)
        self.pairs = self._pairs()
        self.delta = DELTA

    def _pairs(self) -> tuple[Array, Array, Array]:
        """Products of each two entries of a row: where their product goes in K, the product, and the row."""
        index, product, row = [], [], []
        n, band = self.shape[1], self.H.shape[1]
        counts = np.diff(self.rows.start)
        for count in np.unique(counts):
            own = np.flatnonzero(counts == count)
            at = self.rows.start[own][:, None] + np.arange(count)
            column, value = self.rows.column[at], self.rows.value[at]
            i, j = column[:, :, None], column[:, None, :]
            s = i // n - j // n
            place = ((i // n * band + s) * n + i % n) * n + j % n
            used = s >= 0
            index.append(place[used])
            product.append((value[:, :, None] * value[:, None, :])[used])
            row.append(np.broadcast_to(own[:, None, None], used.shape)[used])
        if not index:
            return np.zeros(0, int), np.zeros(0), np.zeros(0, int)
        return np.concatenate(index), np.concatenate(product), np.concatenate(row)

    def times(self, x: Array) -> Array:
        """(N,) H x."""
        own, out = x, _times(self.H, x[: self.banded].reshape(self.shape))
        if self.last is None:
            return out.ravel()
        return np.append(out.ravel() + self.border * own[-1], self.border @ own[:-1] + self.corner * own[-1])

    def guessed(self, multipliers: Array) -> Array:
        """Multipliers of the rows of this program, from those (m,) of all."""
        return -(multipliers * self.length / self.scale)[self.kept]

    def expanded(self, u: Array, z: Array) -> tuple[Array, Array]:
        """x (F n,) and the last unknown, multipliers (m,) of all rows."""
        given, last = self.given, self.last
        x, multipliers = self.free.place(u[: self.banded]), np.zeros(len(self.length))
        multipliers[self.kept] = -z * self.scale / self.length[self.kept]
        force = _times(given.H, x.reshape(self.shape)) + given.g
        force += 0.0 if last is None else last.border * u[-1]
        force = force.ravel() + given.rows.transposed(multipliers, self.banded)
        multipliers += self.free.balance(-force) / self.length
        return np.append(x, u[self.banded :]), multipliers

    def along(self, x: Array) -> Array:
        """(m,) C x."""
        found = self.rows.times(x)
        return found if self.last is None else found + self.across * x[-1]

    def rooms(self, x: Array) -> tuple[Array, Array]:
        """(m,) what the residual of each lower and upper side is relative to: its own size, so that no side loosens
        others, and the terms of the sum C x, which rounding is relative to."""
        terms = self.room + self.terms.times(abs(x))
        terms += 0.0 if self.last is None else abs(self.across * x[-1])
        low = terms + abs(self.low)
        return low, np.where(self.has_upper, terms + abs(self.high), low)

    def pushed(self, z: Array) -> Array:
        """(N,) C'z."""
        found = self.rows.transposed(z, self.banded)
        return found if self.last is None else np.append(found, self.across @ z)

    def newton_matrix(self, weight: Array) -> Factor:
        """The factor of K = H + C' diag(weight) C, weight (m,)."""
        index, product, row = self.pairs
        K = self.H + np.bincount(index, product * weight[row], self.H.size).reshape(self.H.shape)
        for rho in RHOS[: None if weight.max(initial=0.0) > STEEP else FEW]:  # ... all, where sides are steep
            regular = K.copy()
            regular[:, 0] += rho * np.eye(self.shape[1])
            try:
                L = factor(regular)
            except np.linalg.LinAlgError:
                continue
            if self.last is None:
                return L, np.zeros(0), 1.0
            column = self.border + self.rows.transposed(weight * self.across, self.banded)
            eliminated = substitute(L, column.reshape(self.shape)).ravel()
            pivot = float(self.corner + rho + weight @ self.across**2 - column @ eliminated)
            if pivot > 0.0:
                return L, eliminated, pivot
        raise NotConvexError

    def substituted(self, factored: Factor, b: Array) -> Array:
        """(N,) x with K x = b."""
        L, eliminated, pivot = factored
        x = substitute(L, b[: self.banded].reshape(self.shape)).ravel()
        if self.last is None:
            return x
        last = (b[-1] - eliminated @ b[:-1]) / pivot
        return np.append(x - eliminated * last, last)

    def solved(self, L: Factor, weight: Array, rx: Array, ry: Array, refinements: int) -> tuple[Array, Array, float]:
        """(dx, dy) with (H + C'WC) dx - A'dy = rx and A dx = ry of the equations A, W of the others; weight is that of
        all rows. Last, what of ry it leaves, the largest."""
        inner = np.where(self.equal, 0.0, weight)
        dx, dy, missing, residual = np.zeros(self.size), np.zeros(len(weight)), ry, rx
        for turn in range(1 + refinements):
            if turn:
                Cx = self.along(dx)
                missing = np.where(self.equal, ry - Cx, 0.0)
                residual = rx - self.times(dx) + self.pushed(dy - inner * Cx)
                if largest(residual) <= EXACT * largest(rx) and largest(missing) <= EXACT * largest(ry):
                    break
            step = self.substituted(L, residual + self.pushed(missing / self.delta))
            missing = np.where(self.equal, missing - self.along(step), 0.0)
            dy += missing / self.delta
            dx += step
        return dx, dy, largest(missing)
