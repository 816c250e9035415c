"""The fastest timing where limits are lines in the acceleration along the path and the square of the speed there.

By reachability analysis (TOPP-RA: Pham and Pham 2018). In a cell of length h the square of the speed is
x + 2 u s + bend s (s - h) at s from its start, so with bends that are known limits are rows a u + b x <= c. Bends come
from the solution before. Cells are split where the acceleration jumps between them; where a limit is passed between the
places of a cell, it is asked for more tightly.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import ConfigurationError
from ..motion.motion import velocity_names
from . import path_speed
from .path import Path
from .path_limits import PathLimits
from .path_rates import PathRates, peaks
from .refinement import bends, first_grid, parts, split
from .timing import ActiveLimit, Timing, active_limits

PLACES = np.linspace(0.0, 1.0, 3)  # of a cell, where limits are asked for ...
LOOKS = np.linspace(0.0, 1.0, 7)  # ... and where they are looked at in the end
SPARE = 4e-6  # relative: what of a limit is kept back, for what is between
OVER = 1e-5  # relative: by how much one may be passed before it is asked for more tightly
SPLITS = 12
ROWS = 10_000_000  # of all cells that splitting leads to
PASSES = 12
FASTEST = 1e12  # of the square of the speed along the path, where nothing limits it
ANIMATION = ("", "animation")


class Reachability:
    """The timing along a path. animated: (2, m) places along it and squares of speeds that are not passed."""

    def __init__(self, path: Path, limits: PathLimits, animated: Array | None) -> None:
        self.path, self.limits, self.model, self.animated = path, limits, path.model, animated
        tools = [tool.speed for tool in limits.tools]
        bound = limits.motion
        self.velocity = (1.0 - SPARE) * np.append(bound.velocity, tools)
        self.acceleration = (1.0 - SPARE) * bound.acceleration
        self.effort_room = (1.0 - SPARE) * limits.effort_room(self.model)
        joints = [name for joint in self.model.moving_joints for name in velocity_names(joint)]
        self.moved_labels = [(name, "velocity") for name in joints] + [
            (tool.link, "tool speed") for tool in limits.tools
        ]
        kinds = ["acceleration"] * 2 + (["effort"] * 2 if limits.gravity is not None else [])
        self.labels = [(name, kind) for kind in kinds for _ in PLACES for name in joints]
        self.grid, self.interval = first_grid(path.knots)
        self.rows, self.room, self.bent, self.swiftest = self._rows(np.arange(len(self.interval)))
        self._limit_speeds()

    def _split(self, into: Array) -> None:
        """Split each cell into so many."""
        self.grid, self.interval = split(self.grid, self.interval, into)
        kept = (self.rows, self.room, self.bent, self.swiftest)
        self.rows, self.room, self.bent, self.swiftest = (np.repeat(each, into, axis=0) for each in kept)
        new = np.flatnonzero(np.repeat(into > 1, into))
        self.rows[new], self.room[new], self.bent[new], self.swiftest[new] = self._rows(new)
        self._limit_speeds()

    def _limit_speeds(self) -> None:
        self.steps = np.diff(self.grid)
        self.animated_most = np.full(len(self.grid), np.inf)
        if self.animated is not None:
            self.animated_most = np.interp(self.grid, *self.animated)
        self.most = np.minimum(self.animated_most, FASTEST)
        self.most[np.isin(self.grid, self.path.knots[self.path.corners])] = 0.0
        self.most[[0, -1]] = 0.0

    def _rates(self, shares: Array, cells: Array) -> tuple[Array, PathRates, Array]:
        """At shares of the cells: (n, shares) lengths since its start, rates, and (n, shares, k) how much joints and
        tools move."""
        since = (self.grid[cells + 1] - self.grid[cells])[:, None] * shares
        interval = np.broadcast_to(self.interval[cells, None], since.shape)
        rates = PathRates.at(self.path, interval, self.grid[cells, None] + since, self.limits)
        sizes = np.linalg.norm(rates.tool_first, axis=-1)
        return since, rates, np.concatenate((rates.first, sizes), axis=-1)

    def _rows(self, cells: Array) -> tuple[Array, Array, Array, Array]:
        """Rows (n, m, 3) of the cells, with x and u at their starts and without bends; (n, m) their right sides, and
        how much a bend of 1 takes of them; (n, places) which joint or tool has its limit on speed first."""
        since, rates, moved = self._rates(PLACES, cells)
        since, h = since[..., None], since[:, -1:, None]
        count, m = len(cells), len(self.labels) + len(PLACES)
        rows, room, bent = np.empty((count, m, 3)), np.empty((count, m)), np.empty((count, m))
        filled = 0

        def add(of_u: Array, of_x: Array, most: Array) -> None:
            """of_u d²s/dt² + of_x (ds/dt)² <= most, sizes (n, places, k)."""
            nonlocal filled
            shape = (count, of_x[0].size)
            own = slice(filled, filled := filled + shape[1])
            rows[:, own, 0] = (of_u + 2.0 * since * of_x).reshape(shape)
            rows[:, own, 1] = of_x.reshape(shape)
            room[:, own] = np.broadcast_to(most, of_x.shape).reshape(shape)
            bent[:, own] = (of_u * (since - 0.5 * h) + of_x * since * (since - h)).reshape(shape)

        for sign in (1.0, -1.0):
            add(sign * rates.first, sign * rates.second, self.acceleration)
        if rates.force is not None:
            a, b, c = rates.force
            is_limited = np.isfinite(self.model.effort)
            for sign in (1.0, -1.0):
                most = np.where(is_limited, self.effort_room - sign * c, 1e30)
                add(sign * a * is_limited, sign * b * is_limited, most)
        swiftest = (abs(moved) / self.velocity).argmax(axis=-1)
        speeds = np.take_along_axis(moved, swiftest[..., None], axis=-1)
        add(np.zeros_like(speeds), speeds**2, np.minimum(self.velocity**2, FASTEST**2)[swiftest][..., None])
        rows[..., 2] = room
        return rows, room, bent, swiftest

    def solve_steps(
        self, solve: path_speed.Solve
    ) -> Generator[float, None, tuple[Array, Timing, tuple[ActiveLimit, ...]]]:
        """Yield the share of the work done (0..1) before each pass; return the intervals of the path's knots in which
        the cells are, their timing, and what binds. Raises ConfigurationError."""
        bend = np.zeros(len(self.steps))
        for done in range(SPLITS):
            yield done / (SPLITS + PASSES)
            x, bend = self._fastest(solve, 1.0, bend)
            bend = bends(x, self.steps)
            into = parts(x, self.steps, bend, ROWS // self.bent.shape[1])
            if (into == 1).all():
                break
            self._split(into)
            bend = np.repeat(bend, into)
        yield SPLITS / (SPLITS + PASSES)
        looked = self._rates(LOOKS, np.arange(len(self.steps)))
        scale, over = np.ones(self.bent.shape), np.ones(1)
        for done in range(PASSES):
            yield (SPLITS + done) / (SPLITS + PASSES)
            x, bend = self._fastest(solve, scale, bend)
            over = self._over(looked, x, bend)
            if over.max() <= 1.0 + OVER:
                break
            scale /= np.maximum(over, 1.0)
        slope = np.diff(x) / self.steps - bend * self.steps
        squares = np.stack((x[:-1], slope, bend), axis=1)
        timing = Timing.of(self.grid, squares / max(1.0, float(over.max())))
        return self.interval, timing, self._bindings(x, bend, timing.times)

    def _fastest(self, solve: path_speed.Solve, scale: Array | float, bend: Array) -> tuple[Array, Array]:
        """x (n + 1,) and the bends: none in cells that would pass 0 with them, or if nothing is allowed so. Raises
        ConfigurationError."""
        while True:
            self.rows[..., 2] = self.room * scale - bend[:, None] * self.bent
            stuck, x = solve(self.rows, self.most, self.steps)
            if stuck >= 0 and not bend.any():
                self._refuse(stuck)
            dips = (bend * self.steps**2 > np.minimum(x[1:], x[:-1])) | (stuck >= 0)
            if not (dips & (bend != 0.0)).any():
                return x, bend
            bend = np.where(dips, 0.0, bend)

    def _over(self, looked: tuple[Array, PathRates, Array], x: Array, bend: Array) -> Array:
        """(n, rows) by how much limits are passed inside the cells, as shares; that of a limit for all its rows."""
        since, rates, moved = looked
        h, bent, u = self.steps[:, None], bend[:, None], (np.diff(x) / (2.0 * self.steps))[:, None]
        here = np.maximum(x[:-1, None] + 2.0 * u * since + bent * since * (since - h), 0.0)[..., None]
        u = (u + bent * (since - 0.5 * h))[..., None]
        moving = peaks(abs(rates.first * u + rates.second * here)).max(axis=1) / self.acceleration
        shares = [moving] * 2 * len(PLACES)
        if rates.force is not None:
            a, b, c = rates.force
            given = a * u + b * here
            for sign in (1.0, -1.0):
                room = np.where(np.isfinite(self.model.effort), self.effort_room - sign * c, np.finfo(float).max)
                share = np.maximum(1.0 + (sign * given - room) / np.maximum(room, 1e-12), 0.0)
                shares += [peaks(share).max(axis=1)] * len(PLACES)
        speed = (peaks(moved**2 * here).max(axis=1) / self.velocity**2).max(axis=1, keepdims=True)
        return np.concatenate([*shares, *[speed] * len(PLACES)], axis=1)

    def _refuse(self, interval: int) -> None:
        """Raises ConfigurationError that names the joint."""
        row = int(np.argmin(self.rows[interval, :, 2]))
        joint, kind = self.labels[row] if row < len(self.labels) else self.moved_labels[0]
        raise cannot_keep(joint, kind, interval / len(self.steps))

    def _bindings(self, x: Array, bend: Array, times: Array) -> tuple[ActiveLimit, ...]:
        u = np.diff(x) / (2.0 * self.steps)
        a, b = self.rows[..., 0], self.rows[..., 1]
        c = self.room - bend[:, None] * self.bent
        used = (a * u[:, None] + b * x[:-1, None]) / np.where(c > 0.0, c, np.inf)
        tightest = used.argmax(axis=1)
        others = len(self.labels)
        fast = np.flatnonzero(tightest >= others)
        tightest[fast] = others + self.swiftest[fast, tightest[fast] - others]
        animated = (x[:-1] >= self.animated_most[:-1] * (1.0 - 1e-9)) & (x[:-1] > 0.0)
        tightest[animated] = others + len(self.moved_labels)
        return active_limits(times, tightest, [*self.labels, *self.moved_labels, ANIMATION])


def cannot_keep(joint: str, kind: str, share: float) -> ConfigurationError:
    return ConfigurationError(
        f"joint {joint!r} cannot keep its limit on {kind} at {share:.0%} of the path, however slow"
    )
