"""The fastest timing where limits are curved: the rows of a path, piece by piece between places of rest."""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise

import numpy as np

from ...robokin.arrays import Array
from ..motion.motion import velocity_names
from ..progress import scaled
from .interior import PLACES, LimitRows, fastest_steps
from .path import Path
from .path_limits import PathLimits
from .path_rates import PathRates, peaks
from .reachability import ANIMATION, cannot_keep
from .timing import ActiveLimit, Timing, active_limits
from .warp import Warp

CELLS = 600  # of a piece at least
SPARE = 2e-7  # relative: what of a limit is kept back
LOOKS = np.linspace(0.0, 1.0, 9)  # of a cell, where limits are looked at in the end ...
CLOSE_LOOKS = np.linspace(0.0, 1.0, 129)  # ... and of one in which y changes much
MUCH = 0.1  # relative
OVER, PASSES = 1e-4, 5  # relative: cells that pass a limit by more are asked for less, so many times
ROUNDING, STRETCH = 1e-9, 1e-5  # relative: what counts as no limit passed, and by what times are made longer at least
STILL = 1e-9  # relative: a joint that moves less by the parameter is at rest


class SmoothTiming:
    """The timing along a path that rests at the parameters `rests`, its first and last among them."""

    def __init__(self, path: Path, rests: Array, limits: PathLimits, animated: Array | None) -> None:
        """animated: (2, m) places along the path and squares of the speeds that it is no faster than."""
        self.path, self.limits, self.animated, self.model = path, limits, animated, path.model
        self.warp = Warp(rests, 3 if limits.has_jerk else 2)
        borders = self.warp.inverse(path.knots)
        piece = np.clip(np.searchsorted(rests, path.knots[:-1], side="right") - 1, 0, len(rests) - 2)
        length = np.diff(rests)[piece]
        counts = np.ceil(CELLS * np.diff(borders) / length).astype(int).clip(2)
        self.intervals = np.repeat(np.arange(len(counts)), counts)
        share = np.concatenate([np.arange(count) / count for count in counts])
        self.grid = np.append(borders[self.intervals] + share * np.diff(borders)[self.intervals], borders[-1])
        self.piece = piece[self.intervals]
        self.kept = np.ones(len(self.piece))  # the share of the speeds that cells are asked for
        self.joints = joints = [name for joint in self.model.moving_joints for name in velocity_names(joint)]
        tools = [tool.link for tool in limits.tools]
        self.labels = [(name, "velocity") for name in joints] + [(link, "tool speed") for link in tools] + [ANIMATION]
        kinds = ["acceleration", *(["jerk"] if limits.has_jerk else [])]
        kinds += [] if limits.gravity is None else ["effort", *(["power"] if limits.power is not None else [])]
        for kind in kinds:
            self.labels += [(name, kind) for name in joints]
        self.labels += [(link, "tool acceleration") for link in tools]

    def solve_steps(self) -> Generator[float, None, tuple[Timing, tuple[ActiveLimit, ...]]]:
        """Yield the share of the work done (0..1) now and then; return the timing and what binds. Raises
        ConfigurationError for efforts that cannot be given."""
        squares = np.zeros((len(self.piece), 3))
        waiting = range(len(self.warp.borders) - 1)
        for done in range(PASSES):
            shares = np.linspace(1.0 - 0.5**done, 1.0 - 0.5 ** (done + 1), len(waiting) + 1)
            for k, span in zip(waiting, pairwise(shares.tolist()), strict=True):
                cells = np.flatnonzero(self.piece == k)
                steps = fastest_steps(self.grid[cells[0] : cells[-1] + 2], self._rows(cells))
                squares[cells] = yield from scaled(steps, *span)
            slower = self._slower(squares)
            self.kept /= np.maximum(slower, 1.0)
            waiting = np.unique(self.piece[slower > 1.0 + OVER]).tolist()
            if not waiting:
                break
        timing, over = Timing.of(self.grid, squares), slower.max()
        while over > 1.0 + ROUNDING:  # slower, it may need more power: where it relieved a joint of a weight
            timing = timing.stretched(max(over, 1.0 + STRETCH))
            over = self.share(timing)
        binding = self._shares(squares, np.arange(len(squares)), LOOKS)[1]
        return timing, active_limits(timing.times, binding, self.labels)

    def share(self, timing: Timing) -> float:
        """How near the timing is to passing a limit; 1 where it is at one."""
        return float(self._slower(timing.squares).max())

    def _slower(self, squares: Array) -> Array:
        """(cells,) the factors by which cells must slow down to keep all limits."""
        cells, h = np.arange(len(squares)), np.diff(self.grid)
        start, end = squares[:, 0], squares[:, 0] + h * (squares[:, 1] + h * squares[:, 2])
        close = cells[abs(end - start) > MUCH * np.minimum(start, end)]
        slower = self._shares(squares, cells, LOOKS)[0]
        slower[close] = np.maximum(slower[close], self._shares(squares, close, CLOSE_LOOKS)[0])
        return slower

    def _rates(self, cells: Array, places: Array) -> tuple[PathRates, Array]:
        """Rates by r at (cells, places), and ds/dr."""
        r = self.grid[cells][:, None] + np.diff(self.grid)[cells][:, None] * places
        piece = np.broadcast_to(self.piece[cells][:, None], r.shape)
        s, *derivatives = self.warp.within(piece, r)
        s = np.clip(
            s, self.path.knots[self.intervals[cells]][:, None], self.path.knots[self.intervals[cells] + 1][:, None]
        )
        intervals = np.broadcast_to(self.intervals[cells][:, None], r.shape)
        return PathRates.at(self.path, intervals, s, self.limits).warped(*derivatives), self._allowed(s, derivatives[0])

    def _allowed(self, s: Array, s1: Array) -> Array:
        """The most of dr/dt that an animation allows."""
        if self.animated is None:
            return np.full(s.shape, np.inf)
        return np.sqrt(np.interp(s, *self.animated)) / np.maximum(s1, 1e-30)

    def _rows(self, cells: Array) -> LimitRows:
        limits, nv = self.limits, self.model.nv
        rates, allowed = self._rates(cells, PLACES)
        first, second, third = (x.reshape(-1, nv) for x in (rates.first, rates.second, rates.third))
        bound = limits.motion
        rows = LimitRows(len(first))
        kept = self.kept[cells]
        pace = np.repeat(self._pace(cells) * kept, len(PLACES))[:, None]
        speeds = (self._most_speed(cells, rates, allowed) * kept[:, None, None]).reshape(len(first), -1)
        rows.add(1.0, 0.0, 0.0, ((1.0 - SPARE) * speeds.min(axis=1, keepdims=True)) ** 2)
        for sign in (1.0, -1.0):
            rows.add(sign * second, 0.5 * sign * first, 0.0, (1.0 - SPARE) * pace**2 * bound.acceleration)
            if limits.has_jerk:
                jerk = (1.0 - SPARE) * pace**3 * bound.jerk
                rows.add(sign * third, 1.5 * sign * second, 0.5 * sign * first, 0.0, jerk)
        if rates.force is not None:
            self._add_forces(rows, first, tuple(x.reshape(-1, nv) for x in rates.force), cells)
        along, bent = (x.reshape(len(first), -1, 3) for x in (rates.tool_first, rates.tool_second))
        bounded = np.isfinite([tool.acceleration for tool in limits.tools]) if limits.tools else np.zeros(0, bool)
        room = (1.0 - SPARE) * np.array([tool.acceleration for tool in limits.tools])
        rows.tools(along[:, bounded], bent[:, bounded], room[bounded])
        rows.close()
        return rows

    def _pace(self, cells: Array) -> Array:
        """(cells,) the share of the speed that limits on joints allow."""
        paces = self.limits.paces
        return np.ones(len(cells)) if paces is None else paces[self.intervals[cells]]

    def _most_speed(self, cells: Array, rates: PathRates, allowed: Array) -> Array:
        """(cells, places, joints and tools and one) the most of dr/dt that each allows."""
        tools = np.linalg.norm(rates.tool_first, axis=-1)
        moved = np.concatenate((abs(rates.first), tools), axis=-1)
        joints = self._pace(cells)[:, None] * self.limits.motion.velocity
        own = np.array([tool.speed for tool in self.limits.tools])
        caps = np.tile(own, (len(cells), 1))
        if self.limits.caps is not None:
            caps = np.minimum(caps, self.limits.caps[self.intervals[cells]])
        bound = np.hstack((joints, caps))[:, None]
        with np.errstate(divide="ignore"):
            speeds = np.minimum(bound / moved, 1e12)
        return np.concatenate((speeds, np.minimum(allowed, 1e12)[..., None]), axis=-1)

    def _add_forces(self, rows: LimitRows, first: Array, force: tuple[Array, ...], cells: Array) -> None:
        a, b, c = force
        room = (1.0 - SPARE) * self.limits.effort_room(self.model)
        is_limited = np.isfinite(room)
        for sign in (1.0, -1.0):
            room_left = np.where(is_limited, room - sign * c, 1.0)
            if (room_left <= 0.0).any():
                place, dof = np.argwhere(room_left <= 0.0)[0]
                joint = self.joints[dof]
                raise cannot_keep(joint, "effort", (cells[0] + place / len(PLACES)) / len(self.piece))
            rows.add(sign * b * is_limited, 0.5 * sign * a * is_limited, 0.0, room_left)
            if self.limits.power is None:
                continue
            power = self.limits.power
            moves = (abs(first) > STILL * abs(first).max(initial=1e-300)) & np.isfinite(power)
            size = np.where(moves, (1.0 - SPARE) * power / np.where(moves, abs(first), 1.0), 0.0)
            rest = np.where(moves, -sign * c - self.limits.still_effort(self.model), 1.0)
            rows.add(sign * b * moves, 0.5 * sign * a * moves, 0.0, rest, size)

    def _shares(self, squares: Array, cells: Array, looks: Array) -> tuple[Array, Array]:
        """The factors by which these cells must slow down to keep all limits, and the limit nearest in each."""
        rates, allowed = self._rates(cells, looks)
        t = np.diff(self.grid)[cells, None] * looks
        y0, b, c = (x[:, None] for x in squares[cells].T)
        y = np.maximum(y0 + t * (b + t * c), 0.0)[..., None]
        u, root = (0.5 * b + t * c)[..., None], np.sqrt(y)
        limits, bound = self.limits, self.limits.motion
        slower = [peaks(root / self._most_speed(cells, rates, allowed))]
        shares = [slower[0]]

        def add(values: Array, most: Array, power: float) -> None:
            peak = peaks(abs(values)) / most
            shares.append(peak)
            slower.append(peak**power)

        pace = self._pace(cells)[:, None, None]
        add(rates.first * u + rates.second * y, pace**2 * bound.acceleration, 0.5)
        if limits.has_jerk:
            jerks = root * (rates.first * c[..., None] + 3.0 * rates.second * u + rates.third * y)
            add(jerks, pace**3 * bound.jerk, 1.0 / 3.0)
        if rates.force is not None:
            fa, fb, fc = rates.force
            moving, room = fa * u + fb * y, limits.effort_room(self.model)
            efforts = np.where(np.isfinite(room), abs(moving + fc) / room, 0.0)
            shares.append(efforts)
            # what weight leaves is for what moves
            room_left = np.where(np.isfinite(room), room - np.sign(moving) * fc, np.inf)
            slower.append(np.sqrt(abs(moving) / np.maximum(room_left, 1e-12)))
            if limits.power is not None:
                still = limits.still_effort(self.model)
                add((abs(moving + fc) + still) * abs(rates.first) * root, limits.power, 1.0)
        accelerations = np.linalg.norm(rates.tool_first * u[..., None] + rates.tool_second * y[..., None], axis=-1)
        add(accelerations, np.array([tool.acceleration for tool in limits.tools]), 0.5)
        nearest = np.concatenate([share.max(axis=1) for share in shares], axis=1).argmax(axis=1)
        return np.concatenate([each.max(axis=1) for each in slower], axis=1).max(axis=1), nearest
