"""The fastest timing where limits are lines in the acceleration along the path and the square of the speed there.

By reachability analysis (TOPP-RA: Pham and Pham 2018). In a cell of length h the square of the speed is
x + 2 u s + bend s (s - h) at s from its start, so with bends that are known limits are rows a u + b x <= c. Bends come
from the solution before. Cells are split where the acceleration jumps between them; where a limit is passed between the
places of a cell, it is asked for more tightly.
"""

from __future__ import annotations

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
SPLITS = 6
ROWS = 3_000_000  # of all cells that splitting leads to
PASSES = 12
FASTEST = 1e12  # of the square of the speed along the path, where nothing limits it
ANIMATION = ("", "animation")


class Reachability:
    """The timing along a path. own_speeds: at its knots along it, which are not passed, or None."""

    def __init__(self, path: Path, limits: PathLimits, own_speeds: Array | None) -> None:
        self.path, self.limits, self.model, self.own_speeds = path, limits, path.model, own_speeds
        tools = [tool.speed for tool in limits.tools]
        bound = limits.motion
        self.velocity = (1.0 - SPARE) * np.append(bound.velocity, tools)
        self.acceleration = (1.0 - SPARE) * bound.acceleration
        self.room = limits.effort_room(self.model)
        self._take(*first_grid(path.knots))

    def _take(self, grid: Array, interval: Array) -> None:
        """interval: (n,) of the path's knots for each of the cells."""
        self.grid, self.interval, self.steps = grid, interval, np.diff(grid)
        self.animated_most = np.full(len(grid), np.inf)
        if self.own_speeds is not None:
            self.animated_most = np.interp(grid, self.path.knots, self.own_speeds**2)
        self.most = np.minimum(self.animated_most, FASTEST)
        self.most[np.isin(grid, self.path.knots[self.path.corners])] = 0.0
        self.most[[0, -1]] = 0.0
        self._make_rows()

    def _rates(self, shares: Array) -> tuple[Array, PathRates, Array]:
        """At shares of each cell: (n, shares) lengths since its start, rates, and (n, shares, k) how much joints and
        tools move."""
        since = self.steps[:, None] * shares
        rates = PathRates.at(
            self.path, np.broadcast_to(self.interval[:, None], since.shape), self.grid[:-1, None] + since, self.limits
        )
        sizes = np.linalg.norm(rates.tool_first, axis=-1)
        return since, rates, np.concatenate((rates.first, sizes), axis=-1)

    def _make_rows(self) -> None:
        since, rates, moved = self._rates(PLACES)
        since, h = since[..., None], self.steps[:, None, None]
        joints = [name for joint in self.model.moving_joints for name in velocity_names(joint)]
        tools = [tool.link for tool in self.limits.tools]
        rows: list[Array] = []
        self.labels: list[tuple[str, str]] = []

        def add(of_u: Array, of_x: Array, most: Array, labels: list[tuple[str, str]]) -> None:
            """of_u d²s/dt² + of_x (ds/dt)² <= most, sizes (n, places, k)."""
            bent = of_u * (since - 0.5 * h) + of_x * since * (since - h)
            row = (of_u + 2.0 * since * of_x, of_x, np.broadcast_to(most, of_x.shape), bent)
            rows.append(np.stack(row, axis=-1).reshape(len(self.steps), -1, 4))
            self.labels.extend(labels * len(PLACES))

        for sign in (1.0, -1.0):
            labels = [(name, "acceleration") for name in joints]
            add(sign * rates.first, sign * rates.second, self.acceleration, labels)
        speeds = [(name, "velocity") for name in joints] + [(name, "tool speed") for name in tools]
        add(np.zeros_like(moved), moved**2, np.minimum(self.velocity**2, FASTEST**2), speeds)
        if rates.force is not None:
            a, b, c = rates.force
            is_limited = np.isfinite(self.model.effort)
            for sign in (1.0, -1.0):
                room = np.where(is_limited, self.room - sign * c, 1e30)
                add(sign * a * is_limited, sign * b * is_limited, room, [(name, "effort") for name in joints])
        found = np.concatenate(rows, axis=1)
        self.rows, self.bent = np.ascontiguousarray(found[..., :3]), np.ascontiguousarray(found[..., 3])

    def solve(self, solve: path_speed.Solve) -> tuple[Array, Timing, tuple[ActiveLimit, ...]]:
        """The intervals of the path's knots in which the cells are, their timing, and what binds. Raises
        ConfigurationError."""
        bend = np.zeros(len(self.steps))
        for _ in range(SPLITS):
            x, bend = self._fastest(solve, 1.0, bend)
            bend = bends(x, self.steps)
            into = parts(x, self.steps, bend, ROWS // self.bent.shape[1])
            if (into == 1).all():
                break
            self._take(*split(self.grid, self.interval, into))
            bend = np.repeat(bend, into)
        looked, scale, over = self._rates(LOOKS), np.ones(self.bent.shape), np.ones(1)
        for _ in range(PASSES):
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
            rows = self.rows.copy()
            rows[..., 2] = rows[..., 2] * scale - bend[:, None] * self.bent
            stuck, x = solve(rows, self.most, self.steps)
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
        shares = [peaks(abs(rates.first * u + rates.second * here)).max(axis=1) / self.acceleration] * 2
        shares.append(peaks(moved**2 * here).max(axis=1) / self.velocity**2)
        if rates.force is not None:
            a, b, c = rates.force
            given = a * u + b * here
            for sign in (1.0, -1.0):
                room = np.where(np.isfinite(self.model.effort), self.room - sign * c, np.finfo(float).max)
                share = np.where(sign * given > room, 1.0 + (sign * given - room) / np.maximum(room, 1e-12), 0.0)
                shares.append(peaks(share).max(axis=1))
        return np.concatenate([np.tile(share, (1, len(PLACES))) for share in shares], axis=1)

    def _refuse(self, interval: int) -> None:
        """Raises ConfigurationError that names the joint."""
        joint, kind = self.labels[np.argmin(self.rows[interval, :, 2])]
        raise cannot_keep(joint, kind, interval / len(self.steps))

    def _bindings(self, x: Array, bend: Array, times: Array) -> tuple[ActiveLimit, ...]:
        u = np.diff(x) / (2.0 * self.steps)
        a, b, c = np.moveaxis(self.rows, -1, 0)
        c = c - bend[:, None] * self.bent
        used = (a * u[:, None] + b * x[:-1, None]) / np.where(c > 0.0, c, np.inf)
        tightest = used.argmax(axis=1)
        animated = (x[:-1] >= self.animated_most[:-1] * (1.0 - 1e-9)) & (x[:-1] > 0.0)
        tightest[animated] = len(self.labels)
        return active_limits(times, tightest, [*self.labels, ANIMATION])


def cannot_keep(joint: str, kind: str, share: float) -> ConfigurationError:
    return ConfigurationError(
        f"joint {joint!r} cannot keep its limit on {kind} at {share:.0%} of the path, however slow"
    )
