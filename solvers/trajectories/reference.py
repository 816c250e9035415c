"""Several axes from state to state in one duration. Twin of kernel/src/trajectories/point_to_point.c.

order: 3 with limited jerk, 2 with limited acceleration alone. Pieces are (duration, jerk or acceleration).
"""

from __future__ import annotations

import itertools
import math
from enum import IntEnum

import numpy as np

from ...robokin.arrays import Array
from .brakes import Pieces, brake, can_be_kept, stand, stop
from .durations import PASSES, Durations, blocked
from .extremal import Numbers

KNOTS = 28  # the pieces of one axis at most, and one
CLOSE = 1e-12  # relative; of position bounds


class Planned(IntEnum):
    """What came of it; the values are those of `enum rk_planned`."""

    FOUND = 0
    END = 1  # the end is not inside the limits on speed and acceleration, or cannot be left inside them
    BOUNDS = 2  # from the start, or to the end, no way was found that stays inside the bounds


class SpeedDurations:
    """Durations for limits on speed and acceleration alone."""

    def __init__(self, start: Numbers, end: Numbers, limits: Numbers) -> None:
        self.distance, self.v0, self.v1 = end[0] - start[0], start[1], end[1]
        self.V, self.A = limits[:2]
        self.least = abs(self.v1 - self.v0) / self.A
        self.blocked = blocked(self.distance, self.v0, self.v1, self.V, self.A)
        self.rounding = 1e-14 * (abs(start[0]) + abs(end[0]))

    def from_(self, T: float) -> float:
        T = max(T, self.least)
        for low, high in self.blocked:
            near = 1e-14 * high
            if low + near < T < high - near:
                T = high
        return T

    def extreme(self, side: int, T: float) -> Pieces:
        sign = 1.0 if side == 0 else -1.0
        v0, v1, V, A = sign * self.v0, sign * self.v1, self.V, self.A
        rise = min(max(0.5 * (T + (v1 - v0) / A), 0.0), T)
        if v0 + A * rise > V:
            up, down = max(V - v0, 0.0) / A, max(V - v1, 0.0) / A
            return [(up, sign * A), (max(T - up - down, 0.0), 0.0), (down, -sign * A)]
        return [(rise, sign * A), (T - rise, -sign * A)]

    def share(self, T: float) -> float:
        most, least = (_advance(2, [0.0, self.v0, 0.0], self.extreme(side, T))[0] for side in (0, 1))
        if most - least <= self.rounding:
            return 1.0
        return min(max((self.distance - least) / (most - least), 0.0), 1.0)


class AxisPlan:
    """One axis: pieces to begin with, pieces to end with, and what is between them in the time that is left."""

    def __init__(self, order: int, start: Numbers, end: Numbers, limits: Numbers) -> None:
        self.order, self.start, self.end, self.limits = order, start, end, limits
        self.entry: Pieces = self._brake()
        self.exit: Pieces = []
        self.detours = 0
        self._settle(tuple(_advance(order, list(start), self.entry)), end)

    def _settle(self, start: Numbers, end: Numbers) -> None:
        kind = Durations if self.order == 3 else SpeedDurations
        self.core: Durations | SpeedDurations = kind(start, end, self.limits)
        self.fixed = sum_of(self.entry) + sum_of(self.exit)

    def _brake(self) -> Pieces:
        _, v, a = self.start
        V, A, J = self.limits
        if self.order == 3:
            return brake(v, a, V, A, J)
        return [((abs(v) - V) / A, -math.copysign(A, v))] if abs(v) > V else []

    def _stop(self, v: float, a: float) -> Pieces:
        V, A, J = self.limits
        if self.order == 2:
            return [(abs(v) / A, -math.copysign(A, v))]
        turn = stand(v, a, V, A, J) if self.detours == 2 else []
        _, v, a = _advance(3, [0.0, v, a], turn)
        return turn + stop(v, a, A, J)

    def can_end(self) -> bool:
        _, v, a = self.end
        V, A, J = self.limits
        return can_be_kept(v, -a, V, A, J) if self.order == 3 else abs(v) <= V * (1.0 + 1e-12)

    def detour(self) -> None:
        """The motion that stops after the start and before the end; the second one turns about there, which takes less
        room, and stops as it comes back."""
        self.detours += 1
        entry = self._brake()
        _, v, a = _advance(self.order, list(self.start), entry)
        self.entry = entry + self._stop(v, a)
        after = _advance(self.order, list(self.start), self.entry)
        back = -1.0 if self.order == 2 else 1.0  # in time: accelerations change their sign, jerks do not
        self.exit = [(t, back * u) for t, u in reversed(self._stop(self.end[1], -self.end[2]))]
        distance = _advance(self.order, [0.0, 0.0, 0.0], self.exit)[0]
        self._settle((after[0], 0.0, 0.0), (self.end[0] - distance, 0.0, 0.0))

    def from_(self, T: float) -> float:
        """The shortest possible duration that is not shorter than T."""
        remaining = T - self.fixed
        found = self.core.from_(remaining)
        return T if found == remaining else self.fixed + found

    def pieces(self, T: float) -> Pieces:
        remaining = max(T - self.fixed, 0.0)
        share = self.core.share(remaining)
        if share == 1.0:
            between = self.core.extreme(0, remaining)
        elif share == 0.0:
            between = self.core.extreme(1, remaining)
        else:
            between = _mixed(self.core.extreme(0, remaining), self.core.extreme(1, remaining), share)
        return self.entry + between + self.exit


def sum_of(pieces: Pieces) -> float:
    total = 0.0
    for duration, _ in pieces:
        total += duration
    return total


def _mixed(first: Pieces, second: Pieces, share: float) -> Pieces:
    """The share of the first, and the rest of the second, at the same time."""
    found: Pieces = []
    i = j = 0
    left, right = first[0][0], second[0][0]
    while i < len(first) or j < len(second):
        step = min(left, right)
        if step > 0.0:
            u = (share * first[i][1] if i < len(first) else 0.0) + (
                (1.0 - share) * second[j][1] if j < len(second) else 0.0
            )
            found.append((step, u))
        left, right = left - step, right - step
        if left <= 0.0:
            i += 1
            left = first[i][0] if i < len(first) else math.inf
        if right <= 0.0:
            j += 1
            right = second[j][0] if j < len(second) else math.inf
    return found


def _step(order: int, state: list[float], t: float, u: float) -> list[float]:
    """The state after a piece. Of order 2 the acceleration is that of the piece."""
    p, v, a = state
    if order == 2:
        return [p + t * (v + 0.5 * t * u), v + t * u, u]
    return [p + t * (v + t * (0.5 * a + t * u / 6.0)), v + t * (a + 0.5 * u * t), a + u * t]


def _advance(order: int, state: list[float], pieces: Pieces) -> list[float]:
    for t, u in pieces:
        state = _step(order, state, t, u)
    return state


def _reach(order: int, state: list[float], pieces: Pieces) -> tuple[float, float]:
    """The least and the largest position: at the ends of the pieces, and where the speed is 0."""
    low = high = state[0]
    for t, u in pieces:
        _, v, a = state
        jerk = u if order == 3 else 0.0
        slope = a if order == 3 else u
        times = [t]
        if jerk == 0.0:
            times.append(-v / slope if slope != 0.0 else -1.0)
        else:
            root = slope * slope - 2.0 * jerk * v
            if root >= 0.0:
                far = -(slope + math.copysign(math.sqrt(root), slope))
                times += [far / jerk, 2.0 * v / far if far != 0.0 else -1.0]
        for time in times:
            if 0.0 < time <= t:
                p = _step(order, state, time, u)[0]
                low, high = min(low, p), max(high, p)
        state = _step(order, state, t, u)
    return low, high


def point_to_point(
    order: int, start: Array, end: Array, limits: Array, bounds: Array, least: float
) -> tuple[Planned, int, float, Array]:
    """start, end: (n, 3) p, v, a.   limits: (n, 3) on the sizes of v, a, jerk.   bounds: (n, 2) of p.
    least: the duration is not shorter.
    What came of it, the axis that it concerns, the duration, and (n, KNOTS, 5) t, p, v, a, j at the start of each
    piece, from the last one on the end.
    """
    rows = [tuple(map(tuple, array.tolist())) for array in (start, end, limits)]
    axes = [AxisPlan(order, *row) for row in zip(*rows, strict=True)]
    knots = np.zeros((len(axes), KNOTS, 5))
    for i, axis in enumerate(axes):
        if not axis.can_end():
            return Planned.END, i, 0.0, knots
    while True:
        T, agreed = least, 0  # axes in a row to which T is possible
        for axis in itertools.chain.from_iterable([axes] * PASSES):
            longer = axis.from_(T)
            agreed = 1 if longer > T else agreed + 1
            T = max(T, longer)
            if agreed == len(axes):
                break
        changed = False
        for i, axis in enumerate(axes):
            pieces = axis.pieces(T)
            low, high = _reach(order, list(axis.start), pieces)
            lower, upper = bounds[i].tolist()
            if low < lower - CLOSE * (1.0 + abs(lower)) or high > upper + CLOSE * (1.0 + abs(upper)):
                if axis.detours == order - 1:
                    return Planned.BOUNDS, i, 0.0, knots
                axis.detour()
                changed = True
            else:
                _write(order, axis, pieces, T, knots[i])
        if not changed:
            return Planned.FOUND, -1, T, knots


def _write(order: int, axis: AxisPlan, pieces: Pieces, T: float, knots: Array) -> None:
    time, state = 0.0, list(axis.start)
    row = 0
    for t, u in pieces:
        if t > 0.0:
            p, v, a = state
            knots[row] = (time, p, v, a, u) if order == 3 else (time, p, v, u, 0.0)
            row += 1
        state = _step(order, state, t, u)
        time = min(time + t, T)
    knots[row:] = (T, *axis.end, 0.0)
