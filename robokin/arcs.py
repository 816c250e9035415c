"""Limits given as two angles on the circle: which of the two arcs between them a joint may use."""

from __future__ import annotations

import math

import numpy as np

from .arrays import float_array, shown
from .errors import ModelError

TURN = 2.0 * math.pi
SAME = 1e-6  # rad: angles nearer to each other than this are one, as single precision knows them


def arc_limits(first: float, second: float, start: float = 0.0) -> tuple[float, float]:
    """(lower, upper) [rad] of the arc between two limit angles that holds the angle `start`; lower <= start <= upper.

    The angles mean places on the circle: any multiple of a turn may be added to them, and their order does not matter.
    The limits are `first` and `second` up to whole turns, so a servo that starts at 200 degrees between 170 and -170
    has the range 190 to 530 degrees. Two angles at one place leave the whole turn. A start at one of the two angles is
    on both arcs: it takes the one that leads from the smaller of the two numbers up to the larger.

    Source: P. Sukesh, "Exploring the implementation of a 3D rendering engine and robotic arm kinematic software",
    2025, section 2.2.1. Raises ModelError for an angle that is not a finite number.
    """
    low, high = sorted((_finite(first, "first"), _finite(second, "second")))
    start = _finite(start, "start")
    width = (high - low) % TURN
    if min(width, TURN - width) < SAME:
        width = TURN
    offset = (start - low) % TURN
    if TURN - offset < SAME:
        offset = 0.0  # a rounding error below the smaller angle
    if offset <= width + SAME:
        lower = _turned(low, start - offset)
        upper = lower + TURN if width == TURN else _turned(high, lower + width)
    else:
        lower = _turned(high, start - (offset - width))
        upper = _turned(low, start + (TURN - offset))
    return min(lower, start), max(upper, start)


def _turned(angle: float, near: float) -> float:
    """`angle` plus the whole turns that bring it to `near`; itself, to the last bit, where there are none."""
    return angle + TURN * round((near - angle) / TURN)


def _finite(value: float, what: str) -> float:
    try:
        number = float_array(value)
    except ValueError:
        number = np.full(1, np.nan)
    if number.size != 1 or not np.isfinite(number).all():
        raise ModelError(f"the {what} angle must be a finite number of radians, not {shown(value)}")
    return float(number.item())
