"""Ways into the limits and to a stop, of one axis. Twin of kernel/src/trajectories/brakes.c.

Pieces are (duration, jerk).
"""

from __future__ import annotations

import math

from .extremal import change_of_velocity

Pieces = list[tuple[float, float]]


def brake(v: float, a: float, V: float, A: float, J: float) -> Pieces:
    """The fastest way from v and a to where the limits can be kept from then on; [] where they can at once."""
    if abs(a) > A:
        sign = math.copysign(1.0, a)
        v, a = sign * v, sign * a
        if v + a * a / (2.0 * J) > V:
            return _slow_down(v, a, V, A, J, sign)
        first = (a - A) / J
        then = v + first * (a - 0.5 * J * first)
        hold = max(min((-V - then) / A, (V - then) / A - A / (2.0 * J)), 0.0) if then < -V else 0.0
        return [(first, -sign * J), (hold, 0.0)]
    for sign in (1.0, -1.0):
        w, b = sign * v, sign * a
        if (w > V and w - b * b / (2.0 * J) > -V) or (b > 0.0 and w + b * b / (2.0 * J) > V * (1.0 + 1e-14)):
            return _slow_down(w, b, V, A, J, sign)
    return []


def _slow_down(v: float, a: float, V: float, A: float, J: float, sign: float) -> Pieces:
    """From beyond the speed V, or on the way there, to V, so that -V can be kept too."""
    to_least = (a + A) / J
    to_speed = (a + math.sqrt(max(a * a + 2.0 * J * (v - V), 0.0))) / J
    to_other = (a + math.sqrt(max(0.5 * a * a + J * (v + V), 0.0))) / J
    first = max(min(to_speed, to_other), 0.0)
    if to_least >= first:
        return [(first, -sign * J), (0.0, 0.0)]
    then = v + to_least * (a - 0.5 * J * to_least)
    hold = max(min((then - V) / A, (then + V) / A - A / (2.0 * J)), 0.0)
    return [(to_least, -sign * J), (hold, 0.0)]


def stop(v: float, a: float, A: float, J: float) -> Pieces:
    """The fastest way from v and a to rest."""
    sign = 1.0 if v + a * abs(a) / (2.0 * J) <= 0.0 else -1.0
    rise, hold, fall = change_of_velocity(sign * v, sign * a, 0.0, A, J)
    return [(rise, sign * J), (hold, 0.0), (fall, -sign * J)]


def stand(v: float, a: float, V: float, A: float, J: float) -> Pieces:
    """The shortest way from v and a to no speed, with what acceleration there is then; [] where it leads beyond -V."""
    sign = 1.0 if v >= 0.0 else -1.0
    v, a = sign * v, sign * a
    first = min(a + A, a + math.sqrt(a * a + 2.0 * J * v)) / J
    least = a - J * first
    hold = max(v + first * (a - 0.5 * J * first), 0.0) / -least if least < 0.0 else 0.0
    return [(first, -sign * J), (hold, 0.0)] if least * least <= 2.0 * J * V else []


def can_be_kept(v: float, a: float, V: float, A: float, J: float) -> bool:
    """The limits, from this state on, give or take rounding."""
    more = 1.0 + 1e-12
    return abs(a) <= A * more and abs(v) <= V * more and abs(v + a * abs(a) / (2.0 * J)) <= V * more
