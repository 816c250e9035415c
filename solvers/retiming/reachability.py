"""The fastest timing where limits are lines in the acceleration along the path and the square of the speed there.

By reachability analysis (TOPP-RA: Pham and Pham 2018). Rows a u + b x <= c, for each interval of the grid those of its
places; where a limit is passed between these, it is asked for more tightly.
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
from .timing import ActiveLimit, Timing, active_limits

LOOKS = np.linspace(0.0, 1.0, 7)  # of an interval, where limits are looked at ...
ASKED = slice(None, None, 3)  # ... and those of them where they are asked for
PLACES = LOOKS[ASKED]
SPARE = 2e-6  # relative: what of a limit is kept back, for what is between
OVER = 2e-7  # relative: by how much one may be passed before it is asked for more tightly
PASSES = 8
FASTEST = 1e12  # of the square of the speed along the path, where nothing limits it
ANIMATION = ("", "animation")


class Reachability:
    """The timing along a path on a grid; interval: (n,) of the path's knots for each of the grid's."""

    def __init__(self, path: Path, grid: Array, interval: Array, limits: PathLimits) -> None:
        self.grid, self.limits, self.model = grid, limits, path.model
        self.steps = np.diff(grid)
        places = grid[:-1, None] + self.steps[:, None] * LOOKS
        rates = PathRates.at(path, np.broadcast_to(interval[:, None], places.shape), places, limits)
        sizes = np.linalg.norm(rates.tool_first, axis=-1)
        moved = np.concatenate((rates.first, sizes), axis=-1)  # joints and tools
        self.looked = (rates.first, rates.second, moved, rates.force)
        tools = [tool.speed for tool in limits.tools]
        bound = limits.motion
        self.velocity = (1.0 - SPARE) * np.append(bound.velocity, tools)
        self.acceleration = (1.0 - SPARE) * bound.acceleration
        self.room = limits.effort_room(self.model)
        self._make_rows()
        self.most = np.full(len(grid), FASTEST)
        self.animated_most = np.full(len(grid), np.inf)
        self.most[0] = self.most[-1] = 0.0

    def _make_rows(self) -> None:
        first, second, moved = (each[:, ASKED] for each in self.looked[:3])
        span = 2.0 * self.steps[:, None, None] * PLACES[:, None]
        joints = [name for joint in self.model.moving_joints for name in velocity_names(joint)]
        tools = [tool.link for tool in self.limits.tools]
        rows: list[Array] = []
        self.labels: list[tuple[str, str]] = []

        def add(a: Array, b: Array, c: Array, labels: list[tuple[str, str]]) -> None:
            """Sizes (n, places, k)."""
            rows.append(np.stack((a, b, np.broadcast_to(c, a.shape)), axis=-1).reshape(len(self.steps), -1, 3))
            self.labels.extend(labels * len(PLACES))

        for sign in (1.0, -1.0):
            a, b = sign * (first + second * span), sign * second
            add(a, b, self.acceleration, [(name, "acceleration") for name in joints])
        speeds = [(name, "velocity") for name in joints] + [(name, "tool speed") for name in tools]
        square = np.minimum(self.velocity**2, FASTEST**2)
        add(moved**2 * span, moved**2, square, speeds)
        if self.looked[3] is not None:
            a, b, c = (each[:, ASKED] for each in self.looked[3])
            is_limited = np.isfinite(self.model.effort)
            for sign in (1.0, -1.0):
                room = np.where(is_limited, self.room - sign * c, 1e30)
                add(
                    sign * (a + b * span) * is_limited,
                    sign * b * is_limited,
                    room,
                    [(name, "effort") for name in joints],
                )
        self.rows = np.concatenate(rows, axis=1)

    def slow_down(self, most: Array) -> None:
        """most: (n + 1,) squares of the speed along the path."""
        self.animated_most = most
        self.most = np.minimum(self.most, most)

    def solve(self, solve: path_speed.Solve) -> tuple[Timing, tuple[ActiveLimit, ...]]:
        """Raises ConfigurationError."""
        scale = np.ones((len(self.steps), self.rows.shape[1]))
        for _ in range(PASSES):
            rows = self.rows.copy()
            rows[..., 2] *= scale
            stuck, x = solve(rows, self.most, self.steps)
            if stuck >= 0:
                self._refuse(stuck)
            over = self._over(x)
            if over.max() <= 1.0 + OVER:
                break
            scale /= np.maximum(over, 1.0)
        else:
            x = x / over.max()
        slope = np.diff(x) / self.steps
        timing = Timing.of(self.grid, np.stack((x[:-1], slope, np.zeros_like(slope)), axis=1))
        return timing, self._bindings(x, timing.times)

    def _over(self, x: Array) -> Array:
        """(n, rows) by how much limits are passed inside the intervals, as shares; that of a limit for all its rows."""
        first, second, moved, force = self.looked
        u = (np.diff(x) / (2.0 * self.steps))[:, None, None]
        here = np.maximum(x[:-1, None] + 2.0 * u[..., 0] * self.steps[:, None] * LOOKS, 0.0)[..., None]
        shares = [peaks(abs(first * u + second * here)).max(axis=1) / self.acceleration] * 2
        shares.append(peaks(moved**2 * here).max(axis=1) / self.velocity**2)
        if force is not None:
            a, b, c = force
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

    def _bindings(self, x: Array, times: Array) -> tuple[ActiveLimit, ...]:
        u = np.diff(x) / (2.0 * self.steps)
        a, b, c = np.moveaxis(self.rows, -1, 0)
        used = (a * u[:, None] + b * x[:-1, None]) / np.where(c > 0.0, c, np.inf)
        tightest = used.argmax(axis=1)
        animated = (x[:-1] >= self.animated_most[:-1] * (1.0 - 1e-9)) & (x[:-1] > 0.0)
        tightest[animated] = len(self.labels)
        return active_limits(times, tightest, [*self.labels, ANIMATION])


def cannot_keep(joint: str, kind: str, share: float) -> ConfigurationError:
    return ConfigurationError(
        f"joint {joint!r} cannot keep its limit on {kind} at {share:.0%} of the path, however slow"
    )
