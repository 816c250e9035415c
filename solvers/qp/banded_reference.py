"""The interior-point method for block-banded quadratic programs in NumPy. Twin of kernel/src/qp/banded_qp.c.

A primal-dual method with Mehrotra's predictor and corrector (Nocedal and Wright, "Numerical Optimization", 2006,
section 16.6). Equations are relaxed by a share of the change of their multipliers, as in the proximal method of
multipliers (Schwan et al., "PIQP: A proximal interior-point quadratic programming solver", CDC 2023): so equations may
depend on each other, and Newton's matrix K = H + A'A/delta + C'WC is banded and positive definite. Where the method has
found which sides are active, these as equations give the point to the last digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from .banded import SparseRows

OPTIMAL, INFEASIBLE, MAX_ITERATIONS, NOT_CONVEX, STALLED = range(5)
DELTA = 1e-5  # by which equations give way, rows of length 1 and H of size 1
RHOS = (1e-13, 1e-11, 1e-9, 1e-7)  # added to H of size 1, as much as rounding makes it need
SOLVED = (1e-9, 1e-13)  # relative: residuals and gap of a solution; the second where the first was not polished
POLISHED, NEAR = 1e-12, 1e-9  # the same after it: of a solution, and where rounding stops the method
STEEP = 1e9  # weights of sides beyond which rounding may take the definiteness
CLOSEST = 0.995  # share of the way to the nearest bound that a step goes
REFINEMENTS = 2  # of each step
POLISHES = 12  # steps that settle the active sides
CERTAIN = 1e-8  # relative: a combination of rows that small is none


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


class _Program:
    """The program with rows of length 1 and H of size 1."""

    def __init__(self, H: Array, g: Array, rows: SparseRows, lower: Array, upper: Array) -> None:
        self.shape, self.size = g.shape, g.size
        length = np.sqrt(np.bincount(rows.row, rows.value**2, len(rows)))
        self.length = np.where(length > 0.0, length, 1.0)
        self.rows = SparseRows(rows.start, rows.column, rows.value / self.length[rows.row])
        self.lower, self.upper = lower / self.length, upper / self.length
        self.scale = max(abs(H).max(initial=0.0), 1e-300)
        if self.scale == 1e-300:
            self.scale = max(abs(g).max(initial=0.0), 1e-300)
        self.H, self.g = H / self.scale, g.ravel() / self.scale
        for k in range(len(H)):
            self.H[k, k + 1 :] = 0.0
        self.equal = self.lower == self.upper
        self.has_lower = np.isfinite(self.lower) & ~self.equal
        self.has_upper = np.isfinite(self.upper) & ~self.equal
        self.size_g = max(abs(self.g).max(initial=0.0), 1e-12)
        sides = np.concatenate((self.lower[self.equal | self.has_lower], self.upper[self.has_upper]))
        self.size_b = 1.0 + abs(sides).max(initial=0.0)
        self.pairs = self._pairs()

    def _pairs(self) -> tuple[Array, Array, Array]:
        """Of each two entries of a row: where their product goes in K, the product, and the row."""
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
        x, out = x.reshape(self.shape), np.zeros(self.shape)
        for s in range(self.H.shape[1]):
            own = self.H[s:, s]
            out[s:] += np.einsum("kij,kj->ki", own, x[: len(x) - s])
            if s:
                out[: len(x) - s] += np.einsum("kji,kj->ki", own, x[s:])
        return out.ravel()

    def newton_matrix(self, weight: Array) -> Array:
        """L of K = H + C' diag(weight) C, weight (m,)."""
        index, product, row = self.pairs
        K = self.H + np.bincount(index, product * weight[row], self.H.size).reshape(self.H.shape)
        for rho in RHOS:
            regular = K.copy()
            regular[:, 0] += rho * np.eye(self.shape[1])
            try:
                return factor(regular)
            except np.linalg.LinAlgError:
                pass
        raise NotConvexError

    def solved(self, L: Array, weight: Array, rx: Array, ry: Array) -> tuple[Array, Array]:
        """(dx, dy) with (H + C'WC) dx - A'dy = rx and A dx = ry of the equations A, W of the others; weight is
        1/DELTA of equations."""
        inner = np.where(self.equal, 0.0, weight)
        dx, dy = np.zeros(self.size), np.zeros(len(weight))
        for _ in range(1 + REFINEMENTS):
            Cx = self.rows.times(dx)
            missing = np.where(self.equal, ry - Cx, 0.0)
            lack = rx - self.times(dx) + self.rows.transposed(dy - inner * Cx, self.size)
            lack += self.rows.transposed(missing / DELTA, self.size)
            step = substitute(L, lack.reshape(self.shape)).ravel()
            dy += np.where(self.equal, (missing - self.rows.times(step)) / DELTA, 0.0)
            dx += step
        return dx, dy


def solve(
    H: Array, g: Array, rows: SparseRows, lower: Array, upper: Array, iterations: int
) -> tuple[int, Array, Array, int]:
    """Status, x (F, n), multipliers (m,) and Newton steps; arguments as in `solve_banded_qp`."""
    program = _Program(H, g, rows, lower, upper)
    point = _begin(program)
    count = 0
    try:
        for tolerance in SOLVED:
            status, count = _interior(program, point, tolerance, iterations, count)
            x, z = point.x, point.z
            if status in (INFEASIBLE, NOT_CONVEX):
                break
            x, z, lack = _polished(program, x, z)
            is_last = lack <= POLISHED or status != OPTIMAL
            status = OPTIMAL if lack <= NEAR else MAX_ITERATIONS
            if is_last:
                break
    except NotConvexError:
        status = NOT_CONVEX
    if status == NOT_CONVEX:
        return NOT_CONVEX, np.zeros(g.shape), np.zeros(len(rows)), count
    return status, x.reshape(g.shape), -z * program.scale / program.length, count


@dataclass(eq=False)
class _Point:
    """x, multipliers y of equations, slacks and multipliers of lower and upper sides."""

    x: Array
    y: Array
    sl: Array
    su: Array
    zl: Array
    zu: Array

    @property
    def z(self) -> Array:
        """(m,) multipliers of all, positive at a lower side."""
        return self.y + self.zl - self.zu


def _begin(p: _Program) -> _Point:
    low, up = p.has_lower, p.has_upper
    l, u = np.where(low, p.lower, 0.0), np.where(up, p.upper, 0.0)
    start = max(1e-4, min(1.0, abs(p.g).max(initial=0.0)))
    # Slacks begin near the rows' own room: a step may use it at once.
    room = np.where(low & up, np.minimum(0.5 * (u - l), 1.0), 1.0)
    sl, su = np.where(low, np.maximum(-l, room), 1.0), np.where(up, np.maximum(u, room), 1.0)
    zl, zu = np.where(low, start / np.maximum(sl, 1e-3), 0.0), np.where(up, start / np.maximum(su, 1e-3), 0.0)
    return _Point(np.zeros(p.size), np.zeros(len(low)), sl, su, zl, zu)


def _interior(p: _Program, at: _Point, tolerance: float, iterations: int, count: int) -> tuple[int, int]:
    """Move the point until it is solved; status and steps so far."""
    rows, N = p.rows, p.size
    equal, low, up = p.equal, p.has_lower, p.has_upper
    b, l, u = np.where(equal, p.lower, 0.0), np.where(low, p.lower, 0.0), np.where(up, p.upper, 0.0)
    sides = int(low.sum() + up.sum())
    size_g, size_b = p.size_g, p.size_b
    while True:
        x, y, sl, su, zl, zu = at.x, at.y, at.sl, at.su, at.zl, at.zu
        z = y + zl - zu
        Cx, Hx, force = rows.times(x), p.times(x), rows.transposed(z, N)
        rx = -(Hx + p.g - force)
        ry = np.where(equal, b - Cx, 0.0)
        rl, ru = np.where(low, l + sl - Cx, 0.0), np.where(up, su - u + Cx, 0.0)
        mu = float(sl @ zl + su @ zu) / max(sides, 1)
        dual = abs(rx).max(initial=0.0) / max(size_g, abs(force).max(initial=0.0), abs(Hx).max(initial=0.0))
        primal = max(abs(each).max(initial=0.0) for each in (ry, rl, ru)) / size_b
        gap = mu / max(size_g, abs(z).max(initial=0.0))
        if max(dual, primal, gap) <= tolerance:
            return OPTIMAL, count
        ray = float(b @ y + l @ zl - u @ zu)
        largest = abs(z).max(initial=0.0)
        if ray > CERTAIN * largest and abs(force).max() <= CERTAIN * largest and largest > 1.0 / CERTAIN * size_g:
            return INFEASIBLE, count
        if count == iterations:
            return MAX_ITERATIONS, count
        count += 1
        weight = np.where(equal, 1.0 / DELTA, zl / sl + zu / su)
        try:
            L = p.newton_matrix(weight)
        except NotConvexError:
            return (STALLED if weight.max(initial=0.0) > STEEP else NOT_CONVEX), count

        def step(cl: Array, cu: Array) -> tuple[Array, ...]:
            """For zl dsl + sl dzl = cl, and of the upper sides."""
            push = np.where(low, (cl + zl * rl) / sl, 0.0) - np.where(up, (cu + zu * ru) / su, 0.0)
            dx, dy = p.solved(L, weight, rx + rows.transposed(push, N), ry)
            Cdx = rows.times(dx)
            dsl, dsu = np.where(low, Cdx - rl, 0.0), np.where(up, -Cdx - ru, 0.0)
            return dx, dy, dsl, dsu, np.where(low, (cl - zl * dsl) / sl, 0.0), np.where(up, (cu - zu * dsu) / su, 0.0)

        def longest(dsl: Array, dsu: Array, dzl: Array, dzu: Array) -> float:
            values, changes = np.concatenate((sl, su, zl, zu)), np.concatenate((dsl, dsu, dzl, dzu))
            shrinking = changes < 0.0
            return float(min(1.0, np.min(-values[shrinking] / changes[shrinking], initial=np.inf)))

        if sides:
            _, _, *affine = step(-sl * zl, -su * zu)
            t = longest(*affine)
            dsl, dsu, dzl, dzu = affine
            after = float((sl + t * dsl) @ (zl + t * dzl) + (su + t * dsu) @ (zu + t * dzu)) / sides
            centre = (max(after, 0.0) / mu) ** 3 * mu if mu > 0.0 else 0.0
            dx, dy, *rest = step(centre - sl * zl - dsl * dzl, centre - su * zu - dsu * dzu)
            t = longest(*rest)
            t = min(1.0, CLOSEST * t)
        else:
            dx, dy, *rest = step(-sl * zl, -su * zu)
            t = 1.0
        dsl, dsu, dzl, dzu = rest
        at.x, at.y, at.sl, at.su = x + t * dx, y + t * dy, sl + t * dsl, su + t * dsu
        at.zl, at.zu = zl + t * dzl, zu + t * dzu


def _polished(p: _Program, x: Array, z: Array) -> tuple[Array, Array, float]:
    """The point where the sides that are active are equations, or as it was where that is worse; what it lacks."""
    Cx = p.rows.times(x)
    at_low = p.has_lower & (z > Cx - p.lower)
    at_high = p.has_upper & (-z > p.upper - Cx)
    active = p.equal | at_low | at_high
    wanted = np.where(at_high, p.upper, p.lower)
    L = p.newton_matrix(np.where(active, 1.0 / DELTA, 0.0))
    better, y = x.copy(), np.where(active, z, 0.0)
    for _ in range(POLISHES):
        missing = np.where(active, wanted - p.rows.times(better), 0.0)
        lack = -(p.times(better) + p.g) + p.rows.transposed(y + missing / DELTA, p.size)
        step = substitute(L, lack.reshape(p.shape)).ravel()
        y += np.where(active, (missing - p.rows.times(step)) / DELTA, 0.0)
        better = better + step
    before, after = _error(p, x, z), _error(p, better, y)
    return (better, y, after) if after <= before else (x, z, before)


def _error(p: _Program, x: Array, z: Array) -> float:
    """The largest of what a solution lacks, relative: stationarity, feasibility, signs and complementarity."""
    Cx, Hx, force = p.rows.times(x), p.times(x), p.rows.transposed(z, p.size)
    size_g = max(p.size_g, abs(force).max(initial=0.0), abs(Hx).max(initial=0.0))
    size_z = max(p.size_g, abs(z).max(initial=0.0))
    dual = abs(Hx + p.g - force).max(initial=0.0) / size_g
    outside = np.maximum(np.maximum(p.lower - Cx, Cx - p.upper), 0.0).max(initial=0.0) / p.size_b
    to_low, to_high = np.where(p.has_lower, Cx - p.lower, np.inf), np.where(p.has_upper, p.upper - Cx, np.inf)
    low = np.where(p.equal, 0.0, np.minimum(abs(to_low) / p.size_b, np.maximum(z, 0.0) / size_z))
    high = np.where(p.equal, 0.0, np.minimum(abs(to_high) / p.size_b, np.maximum(-z, 0.0) / size_z))
    return float(max(dual, outside, low.max(initial=0.0), high.max(initial=0.0)))
