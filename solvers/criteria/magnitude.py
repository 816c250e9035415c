"""Sizes that criteria take: beyond them squares and products of what is weighed are infinite or 0."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import shown
from ...robokin.errors import TaskError
from ..tasks.checks import numbers, positive

LEAST, MOST = 1e-30, 1e30


def magnitude(value: object, what: str) -> float:
    """A number from LEAST to MOST. Raises TaskError."""
    found = positive(value, what)
    if not LEAST <= found <= MOST:
        raise TaskError(f"{what} must be from {LEAST:g} to {MOST:g}, not {shown(value)}")
    return found


def weight(value: object, what: str) -> float:
    """0, which leaves a criterion out but for its cost, or a magnitude. Raises TaskError."""
    is_zero = isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and value == 0
    return 0.0 if is_zero else magnitude(value, what)


def at_most(value: object, what: str) -> np.ndarray:
    """Numbers of any shape, none larger than MOST. Raises TaskError."""
    found = numbers(value, what)
    if abs(found).max(initial=0.0) > MOST:
        raise TaskError(f"{what} must be at most {MOST:g}, not {shown(value)}")
    return found
