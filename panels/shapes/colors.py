"""Colours of overlays: red, green, blue and opacity, as Blender's themes count them. They differ on dark and on
light backgrounds, and by those who do not see red and green alike: what is bad is also brighter."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array

AXIS = (0.36, 0.62, 1.0, 0.9)
RANGE = (0.25, 0.8, 0.82, 0.85)
NEEDLE = (1.0, 1.0, 1.0, 0.95)
BAD = (1.0, 0.22, 0.16, 1.0)
GOOD = (0.3, 0.85, 0.42, 0.9)
MASS = (1.0, 0.83, 0.2, 1.0)
ELLIPSOID = (0.78, 0.5, 1.0, 0.85)
ERROR = (1.0, 0.5, 0.1, 1.0)
PAST = (0.95, 0.42, 0.34, 0.55)
FUTURE = (0.35, 0.62, 1.0, 0.55)
PLAIN = (0.75, 0.75, 0.75, 0.9)

MOVES = (  # one after another: Okabe and Ito's, whom all tell apart
    *((0.34, 0.71, 0.91, 1.0), (0.9, 0.62, 0.0, 1.0), (0.0, 0.75, 0.55, 1.0), (0.95, 0.9, 0.25, 1.0)),
    *((0.8, 0.47, 0.65, 1.0), (0.84, 0.37, 0.0, 1.0), (0.2, 0.5, 0.85, 1.0)),
)

_LIMITS = {"velocity": AXIS, "speed": AXIS, "acceleration": MASS, "jerk": ELLIPSOID, "effort": ERROR, "power": ERROR}

_RAMP = np.array([[0.2, 0.75, 0.95], [0.35, 0.85, 0.4], [1.0, 0.85, 0.2], [1.0, 0.22, 0.16]])


def faded(color: tuple[float, ...], opacity: float) -> tuple[float, ...]:
    return (*color[:3], color[3] * opacity)


def of_limit(kind: str) -> tuple[float, ...]:
    """The colour of a kind of limit, such as "jerk" or "tool speed"; grey of what is none."""
    return _LIMITS.get(kind.removeprefix("tool "), PLAIN)


def blend(first: Array | tuple[float, ...], second: tuple[float, ...], share: Array) -> Array:
    """(n, 4) between two colours, of which the first may be one for each (n, 4), by shares (n,)."""
    share = np.asarray(share, float)[..., None]
    return (1.0 - share) * np.array(first) + share * np.array(second)


def ramp(shares: Array) -> Array:
    """(n, 4) of shares (n,) from 0, which is good, to 1, where a limit or a tolerance is broken: blue, green, yellow,
    red; grey where it is not known (NaN)."""
    known = np.nan_to_num(np.clip(shares, 0.0, 1.0))
    at = known * (len(_RAMP) - 1)
    low = np.minimum(at.astype(int), len(_RAMP) - 2)
    share = (at - low)[..., None]
    found = np.ones((*np.shape(shares), 4))
    found[..., :3] = (1.0 - share) * _RAMP[low] + share * _RAMP[low + 1]
    return np.where(np.isnan(shares)[..., None], np.array(PLAIN), found)
