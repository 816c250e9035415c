"""In which time one axis can go from a state to a state. Twin of kernel/src/trajectories/durations.c.

A duration is possible when the end lies between how far the axis comes at most and at least in that time. Those that
are not fill a few intervals: a moving axis cannot arrive a little later, it has to turn.
"""

from __future__ import annotations

import math

from .brakes import Pieces
from .extremal import SIGNS, Extremal, Numbers

TOLERANCE = 1e-14  # of positions, relative: rounding
NEWTON = 80
PASSES = 64  # there are never more than ten; rounding shall not make it endless


def blocked(d: float, x0: float, x1: float, X: float, A: float) -> list[tuple[float, float]]:
    """Durations in which no motion of an axis with speeds up to X and accelerations up to A leads from speed x0 to x1
    over the distance d, as open intervals, sorted. Those that are shorter than |x1 - x0| / A are not among them."""
    found = []
    for sign in (1.0, -1.0):
        y0, y1, y = sign * x0, sign * x1, sign * d
        root = 2.0 * (y0 * y0 + y1 * y1) - 4.0 * A * y
        if root <= 0.0:
            continue
        root = math.sqrt(root)
        start, stop = (y0 + y1 - root) / A, (y0 + y1 + root) / A
        if 0.5 * root > X:
            stop = (y0 + y1 + 2.0 * X) / A + ((y0 * y0 + y1 * y1 - 2.0 * X * X) / (2.0 * A) - y) / X
        if stop > abs(x1 - x0) / A:
            found.append((start, stop))
    return sorted(found)


def rest_to_rest(distance: float, V: float, A: float, J: float) -> float:
    """The shortest duration from rest to rest."""
    onset = A / J
    if math.inf > V:
        rise = V / A + onset if V > A * onset else 2.0 * math.sqrt(V / J)
        if distance >= V * rise:
            return distance / V + rise
    if A < math.inf and distance >= 2.0 * A * onset * onset:
        return onset + math.sqrt(onset * onset + 4.0 * distance / A)
    return 4.0 * math.cbrt(distance / (2.0 * J))


class Durations:
    """The possible durations of one axis from `start` to `end` within `limits`: [v, a, jerk]."""

    def __init__(self, start: Numbers, end: Numbers, limits: Numbers) -> None:
        self.distance = end[0] - start[0]
        _, A, J = limits
        self.farthest = (
            Extremal(start, end, limits),
            Extremal((0.0, -start[1], -start[2]), (0.0, -end[1], -end[2]), limits),
        )
        self.is_at_rest = start[1] == start[2] == end[1] == end[2] == 0.0  # the least far motion is mirrored
        self.least = rest_to_rest(abs(self.distance), *limits) if self.is_at_rest else abs(end[2] - start[2]) / J
        self.blocked = blocked(end[1] - start[1], start[2], end[2], A, J)
        self.rounding = TOLERANCE * (abs(start[0]) + abs(end[0]))

    def from_(self, T: float) -> float:
        """The shortest possible one that is not shorter than T."""
        T = max(T, self.least)
        if self.is_at_rest:
            return T
        met = [False, False]
        for _ in range(PASSES):
            stop = after = math.inf
            for low, high in self.blocked:
                if low < T < high:
                    T, met = high, [False, False]
                elif low >= T and low < stop:
                    stop, after = low, high
            side = next((s for s in (0, 1) if not met[s] and self.shortfall(s, T) < 0.0), None)
            if side is None:
                return T
            T = self._next(side, T, stop)
            met[side], met[1 - side] = True, False
            if T > stop:
                T, met = after, [False, False]
        return T

    def shortfall(self, side: int, T: float) -> float:
        """How far the farthest motion (side 0), or the least far one (1), passes the end, give or take rounding."""
        p, slope = self.farthest[side].at(T)
        return p - (self.distance if side == 0 else -self.distance) + self.rounding + TOLERANCE * T * abs(slope)

    def extreme(self, side: int, T: float) -> Pieces:
        """The farthest motion in T, or the least far one."""
        sign, phases = 1.0 - 2.0 * side, self.farthest[side].phases(T)
        return [(phases[i], sign * SIGNS[i] * self.farthest[side].J) for i in range(7)]

    def share(self, T: float) -> float:
        """How much of the farthest motion, beside the least far one, leads to the end in a possible duration."""
        most, slope = self.farthest[0].at(T)
        if self.distance >= most - self.rounding - TOLERANCE * T * abs(slope):
            return 1.0
        mirrored, slope = (most, slope) if self.is_at_rest else self.farthest[1].at(T)
        least = -mirrored
        if self.distance <= least + self.rounding + TOLERANCE * T * abs(slope):
            return 0.0
        return (self.distance - least) / (most - least)

    def _next(self, side: int, T: float, stop: float) -> float:
        """Where the farthest motion next comes as far as the end, from T on where it does not; infinite if it does
        not before `stop`."""
        motion, distance = self.farthest[side], self.distance if side == 0 else -self.distance
        last = min(stop, motion.cruising)
        slope = motion.at(T)[1]
        for turn in [*motion.turns(), last]:
            turn = min(turn, last)
            if turn <= T or turn == math.inf:
                continue
            p1, slope1 = motion.at(turn)
            if p1 >= distance:
                return _root(motion, distance, T, turn)
            if slope > 0.0 > slope1:  # concave, with its top between
                top = _climb(motion, distance, T, turn)
                if top < turn:
                    return top
            T, slope = turn, slope1
        if last == stop < math.inf:
            return math.inf
        if motion.cruising < math.inf:
            T = max(T, motion.cruising)
            return T + max(distance - motion.at(T)[0], 0.0) / motion.V
        step = max(T, 1e-3)
        while motion.at(T + step)[0] < distance and step < 1e30:
            step *= 2.0
        return _root(motion, distance, T, T + step)


def _root(motion: Extremal, distance: float, low: float, high: float) -> float:
    """Where it comes as far as `distance`, between a duration in which it does not and one in which it does."""
    T = high
    for _ in range(NEWTON):
        p, slope = motion.at(T)
        if p >= distance:
            high = T
        else:
            low = T
        step = (distance - p) / slope if slope != 0.0 else math.inf
        following = T + step
        if not low < following < high:
            following = 0.5 * (low + high)
            if abs(step) <= 1e-15 * T or not low < following < high:
                break
        if following == T:
            break
        T = following
    return T


def _climb(motion: Extremal, distance: float, low: float, high: float) -> float:
    """The first zero where the function is concave and below at both ends: from the left by tangents, which lie above.
    `high` if its top is below too."""
    T = low
    for _ in range(NEWTON):
        p, slope = motion.at(T)
        if p >= distance:
            return T
        if slope <= 0.0:
            return high
        following = T + (distance - p) / slope
        if following >= high:
            return high
        if following == T:
            return T
        T = following
    return T
