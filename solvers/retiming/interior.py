"""The fastest timing where limits are curved: on jerk, power and the acceleration of tools.

Between two places of rest the square y of the speed along the path is a quadratic spline of the warped parameter r, so
that accelerations are continuous and jerks jump from cell to cell. An interior-point method makes the integral of
dr / sqrt(y) small; each of its points keeps all limits (Nocedal and Wright, "Numerical Optimization", 2006, ch. 19).
With u = y'/2 the rows are a y + b y' + c y'' <= room + size / sqrt(y): the right side is convex, so its tangent asks
for more than the limit does (Debrouwere and others, "Time-optimal path following for robots with convex-concave
constraints", 2013).
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ...robokin.arrays import Array
from ..progress import scaled
from ..qp.banded_program import factor, substitute

PLACES = np.array([0.0, 0.5, 1.0])  # of a cell, where limits are asked for
SIMPSON = np.array([1.0, 4.0, 1.0]) / 6.0
START = 0.3  # share of the limits that the first timing takes at most
ITERATIONS = 120
MERGED, FEWEST = 8, 40  # cells of the grid in one of a coarse one, and how many of these there have to be
COARSE_SHARE = 0.2  # of the work
BACK = 0.8  # times the coarse optimum: where the fine one is looked for
NEARER = 0.05  # share of the gap that such a start has
GAP = 1e-6  # relative to the duration, of what is left to gain
LEAST = 1e-3  # share of the gap that a step aims at, at least ...
APART = 10.0  # ... and by how many times a product of slack and multiplier may be off that (Gondzio 1996)
KEPT = 0.05  # of a multiplier, by a step
NEAREST = 0.98  # share of the way to the nearest bound that a step goes
CLOSEST = 0.01  # of a slack, or of y, that a step leaves at least
SHORTEST, SHORTER, LONG = 1e-6, 0.7, 0.5
BLOCK = 12  # coefficients that are eliminated at once
RIDGE = 1e-13  # relative, added to the diagonal


class LimitRows:
    """Limits at places (p, rows): a y + b y' + c y'' <= room + size / sqrt(y), and norms of (tools, 3) vectors
    along y'/2 + bent y that are at most `tool_room` (tools,)."""

    def __init__(self, places: int) -> None:
        self.parts: list[tuple[Array, ...]] = []
        self.places = places
        self.along, self.bent, self.tool_room = np.zeros((places, 0, 3)), np.zeros((places, 0, 3)), np.zeros(0)

    def add(
        self, a: Array | float, b: Array | float, c: Array | float, room: Array | float, size: Array | float = 0.0
    ) -> None:
        """Add terms, (p, k) each, or what broadcasts to that."""
        self.parts.append(np.broadcast_arrays(a, b, c, room, size))

    def tools(self, along: Array, bent: Array, room: Array) -> None:
        self.along, self.bent, self.tool_room = along, bent, room

    def close(self) -> None:
        a, b, c, self.room, self.size = (np.concatenate(each, axis=1) for each in zip(*self.parts, strict=True))
        self.line = np.stack((a, b, c))

    def at(self, places: Array) -> LimitRows:
        """The limits at some of the places."""
        found = LimitRows(len(places))
        found.line, found.room, found.size = self.line[:, places], self.room[places], self.size[places]
        found.tools(self.along[places], self.bent[places], self.tool_room)
        return found

    def slack(self, y: Array) -> Array:
        """(p, k) what is left at y (p, 3) with its two derivatives."""
        slacks = self.room + self.size / np.sqrt(y[:, :1])
        for power in range(3):
            slacks -= self.line[power] * y[:, power, None]
        if not len(self.tool_room):
            return slacks
        return np.hstack((slacks, self.tool_room - np.linalg.norm(self._moved(y), axis=-1)))

    def fall(self, y: Array) -> Array:
        """(3, p, k) by how much that falls per unit of y, y', y''."""
        fall = self.line.copy()
        fall[0] += 0.5 * self.size * y[:, :1] ** -1.5
        if not len(self.tool_room):
            return fall
        moved = self._moved(y)
        length = np.linalg.norm(moved, axis=-1, keepdims=True)
        unit = np.divide(moved, length, out=np.zeros_like(moved), where=length > 0.0)
        bent, along = (unit * self.bent).sum(axis=-1), 0.5 * (unit * self.along).sum(axis=-1)
        return np.concatenate((fall, np.stack((bent, along, np.zeros_like(bent)))), axis=2)

    def _moved(self, y: Array) -> Array:
        """(p, tools, 3) accelerations."""
        return self.along * (0.5 * y[:, 1])[:, None, None] + self.bent * y[:, 0][:, None, None]

    def most_even(self) -> float:
        """The largest y, the same everywhere, of which the limits leave enough."""
        a, room, size = self.line[0], self.room, self.size
        with np.errstate(divide="ignore", invalid="ignore"):
            curved = np.where((size > 0.0) & (a > 0.0), (START * size / a) ** (2.0 / 3.0), np.inf)
            straight = np.where((size == 0.0) & (a > 0.0), START * room / a, np.inf)
            tools = START * self.tool_room / np.linalg.norm(self.bent, axis=-1)
            # of limits on power: what holds still, and moves no faster than that allows
            limited = np.where((size > 0.0) & (room < 0.0), (START * size / room) ** 2, np.inf)
        return float(min(x.min(initial=1e12) for x in (curved, straight, tools, limited)))


class Spline:
    """Quadratic splines on a grid: coefficients (n + 2,) to y, y', y'' at the places of n cells."""

    def __init__(self, grid: Array) -> None:
        h = np.diff(grid)
        before, after = np.append(h[0], h[:-1]), np.append(h[1:], h[-1])
        first, last = 1.0 / (h * (before + h)), 1.0 / (h * (h + after))
        t = h[:, None] * PLACES
        ends = [
            np.stack(((h[:, None] - t) ** 2, -2.0 * (h[:, None] - t), 2.0 + 0.0 * t), axis=-1) * first[:, None, None],
            np.stack((t**2, 2.0 * t, 2.0 + 0.0 * t), axis=-1) * last[:, None, None],
        ]
        middle = -ends[0] - ends[1]
        middle[..., 0] += 1.0
        self.cells, self.h = len(h), h
        self.basis = np.stack((ends[0], middle, ends[1]), axis=-1)  # (n, places, 3, 3)
        self.weights = (h[:, None] * SIMPSON).ravel()

    def at(self, x: Array) -> Array:
        """(p, 3)"""
        own = np.stack((x[:-2], x[1:-1], x[2:]), axis=-1)
        return np.einsum("cpkj,cj->cpk", self.basis, own).reshape(-1, 3)

    def factor(self, curvature: Array) -> tuple[Array, Array]:
        """curvature: (3, 3, p), symmetric, of y, y', y'' at the places: factors of Newton's matrix, and its scale."""
        H = curvature.reshape(3, 3, self.cells, -1)
        local = np.zeros((self.cells, 3, 3))
        for k in range(3):
            half = sum(H[k, m][:, :, None] * self.basis[:, :, m] for m in range(3))
            local += np.matmul(self.basis[:, :, k].transpose(0, 2, 1), half)
        n = self.cells + 2
        total = -(-n // BLOCK) * BLOCK
        bands = np.zeros((3, total))
        for i in range(3):
            for j in range(i + 1):
                bands[i - j, i : i + self.cells] += local[:, i, j]
        bands[0, n:] = 1.0
        bands[0] *= 1.0 + RIDGE
        scale = 1.0 / np.sqrt(bands[0])
        K = np.zeros((total // BLOCK, 2, BLOCK, BLOCK))
        for offset in range(3):
            row = np.arange(offset, total)
            own = bands[offset, offset:] * scale[offset:] * scale[: total - offset]
            block, before = row // BLOCK, (row - offset) // BLOCK
            K[block, block - before, row % BLOCK, (row - offset) % BLOCK] = own
            inside = block == before
            K[block[inside], 0, (row - offset)[inside] % BLOCK, row[inside] % BLOCK] = own[inside]
        return factor(K), scale

    def step(self, factors: tuple[Array, Array], gradient: Array) -> Array:
        """(n + 2,) Newton's step against a gradient (3, p) at the places."""
        L, scale = factors
        right = np.zeros_like(scale)
        g = gradient.reshape(3, self.cells, -1)
        own = sum((g[k][:, :, None] * self.basis[:, :, k]).sum(axis=1) for k in range(3))
        for i in range(3):
            right[i : i + self.cells] -= own[:, i]
        return (substitute(L, (right * scale).reshape(-1, BLOCK)).ravel() * scale)[: self.cells + 2]

    def squares(self, x: Array) -> Array:
        """(n, 3) powers of r since each cell's start."""
        y = self.at(x).reshape(self.cells, -1, 3)[:, 0]
        return y * [1.0, 1.0, 0.5]


def fastest_steps(grid: Array, rows: LimitRows) -> Generator[float, None, Array]:
    """Yield the share of the work done (0..1) before each step; return (n, 3) the squares of a Timing on the grid, with
    limits kept at the places.

    Mehrotra's predictor and corrector (Nocedal and Wright, algorithm 19.2 with section 14.2)."""
    spline = Spline(grid)
    coarse = yield from scaled(_coarse_steps(grid, rows), 0.0, COARSE_SHARE)
    x = np.full(spline.cells + 2, rows.most_even()) if coarse is None else coarse
    y = spline.at(x)
    slacks, fall = rows.slack(y), rows.fall(y)
    while coarse is not None and not (slacks > 0.0).all():
        x, y = BACK * x, BACK * y
        slacks, fall = rows.slack(y), rows.fall(y)
    z = (1.0 if coarse is None else NEARER) * _duration(spline, y) / (slacks.size * slacks)
    for iteration in range(ITERATIONS):
        yield COARSE_SHARE + (1.0 - COARSE_SHARE) * iteration / ITERATIONS
        gap = float((slacks * z).sum())
        newton = _Newton(spline, y, slacks, fall, z)
        _, _, change, dz = newton.step(0.0)
        t, dual = _longest(slacks, change), _longest(z, dz)
        foreseen = float(((slacks + t * change) * (z + dual * dz)).sum())
        aim = max(LEAST, (foreseen / gap) ** 3) * gap / slacks.size
        dx, dy, change, dz = newton.step(np.clip(aim - change * dz, aim / APART, aim * APART))
        t = min(_longest(slacks, change), _longest(y[:, 0], dy[:, 0]))
        while t > SHORTEST:
            there = y + t * dy
            if (there[:, 0] > CLOSEST * y[:, 0]).all():
                new = rows.slack(there)
                if (new > CLOSEST * slacks).all():
                    break
            t *= SHORTER
        else:
            break
        z = np.maximum(z + dz, KEPT * z)
        x, y, slacks, fall = x + t * dx, there, new, rows.fall(there)
        if float((slacks * z).sum()) < GAP * _duration(spline, y) and t > LONG:
            break
    return spline.squares(x)


def _coarse_steps(grid: Array, rows: LimitRows) -> Generator[float, None, Array | None]:
    """(n + 2,) coefficients near the optimum, of cells that are MERGED times as wide; None where there are too few."""
    cells = len(grid) - 1
    if cells < MERGED * FEWEST:
        return None
    ends = np.append(np.arange(0, cells - MERGED + 1, MERGED), cells)
    wide = grid[ends]
    start, stop = ends[:-1], ends[1:]
    places = np.stack((3 * start, 3 * ((start + stop) // 2), 3 * stop - 1), axis=1).ravel()
    found = yield from fastest_steps(wide, rows.at(places))
    middle = np.concatenate((grid[:1], 0.5 * (grid[:-1] + grid[1:]), grid[-1:]))
    cell = np.clip(np.searchsorted(wide, middle, side="right") - 1, 0, len(wide) - 2)
    t = middle - wide[cell]
    return BACK * np.maximum(found[cell, 0] + t * (found[cell, 1] + t * found[cell, 2]), 0.1 * found[cell, 0])


class _Newton:
    """Newton's method at y (p, 3) with slacks and multipliers (p, rows)."""

    def __init__(self, spline: Spline, y: Array, slacks: Array, fall: Array, z: Array) -> None:
        self.spline, self.slacks, self.fall, self.z = spline, slacks, fall, z
        self.weight, self.ratio = spline.weights * y[:, 0] ** -1.5, z / slacks
        curvature = np.empty((3, 3, len(y)))
        for i in range(3):
            weighted = self.ratio * fall[i]
            for j in range(i + 1):
                curvature[i, j] = curvature[j, i] = np.einsum("pr,pr->p", weighted, fall[j])
        curvature[0, 0] += 0.75 * self.weight / y[:, 0]
        self.factors = spline.factor(curvature)

    def step(self, aim: Array | float) -> tuple[Array, Array, Array, Array]:
        """The step to products of slacks and multipliers `aim`: of coefficients, y, slacks, multipliers."""
        pushed = aim / self.slacks
        gradient = np.array([np.einsum("pr,pr->p", pushed, each) for each in self.fall])
        gradient[0] -= 0.5 * self.weight
        dx = self.spline.step(self.factors, gradient)
        dy = self.spline.at(dx)
        change = -(self.fall * dy.T[:, :, None]).sum(axis=0)
        return dx, dy, change, pushed - self.z - self.ratio * change


def _longest(values: Array, change: Array) -> float:
    """The share of a change, 1 at most, of which positive values stay positive."""
    falls = change < 0.0
    return min(1.0, NEAREST * float((-values[falls] / change[falls]).min(initial=np.inf)))


def _duration(spline: Spline, y: Array) -> float:
    return float((spline.weights / np.sqrt(y[:, 0])).sum())
