"""Checks of what tasks, criteria and constraints are given. All raise TaskError, naming `what`.

Numbers are 0 or of a size from LEAST to MOST, so that their squares and products are neither infinite nor 0.

Plain floats and rotations are looked at without NumPy: making a task anew for each step must not take longer than the
step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import hypot
from struct import Struct
from typing import Any, TypeGuard

import numpy as np

from ...robokin.arrays import DOUBLE, LEAST, MOST, Array, float_array, shown
from ...robokin.errors import TaskError
from ..alike import NUMBERS

FASTEST = 1e8  # [m/s, rad/s] more than a third of light's: beyond, rounding hides what the joints can do
LAST_ROW = [0.0, 0.0, 0.0, 1.0]  # of a pose matrix
ROUNDING = 1e-15  # of a length that is 1
_SIXTEEN = Struct("16d").unpack  # several times faster than lists of rows
NO_MAPPINGS = frozenset((float, int, list, tuple, np.ndarray))
SKEW = 1e-6  # by which products of rows of a rotation may be wrong


def numbers(value: object, what: str) -> Array:
    """Finite float64 array of any shape, of entries up to MOST."""
    if type(value) is float and -MOST <= value <= MOST:
        return np.array(value)
    array = _real(value, what)
    _check_finite(array, what)
    return array


def _real(value: object, what: str) -> Array:
    """A new float64 array."""
    if type(value) is np.ndarray and value.dtype is DOUBLE:
        return value.copy()
    try:
        if type(value) is tuple and NUMBERS.issuperset(map(type, value)):
            return np.array(value, np.float64)
        return float_array(value)
    except (ValueError, OverflowError):  # integers of hundreds of digits
        raise TaskError(f"{what} must be numbers, not {shown(value)}") from None


def _check_finite(array: Array, what: str) -> None:
    if not np.vdot(array, array) <= MOST * MOST:
        if not np.isfinite(array).all():
            raise TaskError(f"{what} is not finite: {array.tolist()}")
        largest = abs(array).max()
        if largest > MOST:
            raise TaskError(f"{what} must be at most {MOST:g}, not {largest:g}")


def speeds(value: object, what: str) -> Array:
    """Numbers up to FASTEST."""
    if type(value) is float and -FASTEST <= value <= FASTEST:
        return np.array(value)
    return slow(numbers(value, what), what)


def slow(array: Array, what: str) -> Array:
    """Speeds as they are, when none is beyond FASTEST. Raises TaskError."""
    if not hypot(*array.ravel().tolist()) <= FASTEST and abs(array).max() > FASTEST:
        raise TaskError(f"{what} must be at most {FASTEST:g} m/s or rad/s, not {abs(array).max():g}")
    return array


def number(value: object, what: str) -> float:
    if type(value) is float and -MOST <= value <= MOST:
        return value
    array = numbers(value, what)
    if array.shape != ():
        raise TaskError(f"{what} must be a number, not {shown(value)}")
    return float(array)


def positive(value: object, what: str) -> float:
    """From LEAST to MOST."""
    if type(value) is float and LEAST <= value <= MOST:
        return value
    try:
        array = float_array(value)
    except ValueError:
        array = np.array(np.nan)
    if array.shape != () or not 0.0 < array < np.inf:
        raise TaskError(f"{what} must be a positive number, not {shown(value)}")
    if not LEAST <= array <= MOST:
        raise TaskError(f"{what} must be from {LEAST:g} to {MOST:g}, not {shown(value)}")
    return float(array)


def none_or_positive(value: object, what: str) -> float:
    """0, or from LEAST to MOST."""
    is_zero = isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and value == 0
    return 0.0 if is_zero else positive(value, what)


def not_negative(value: object, what: str) -> float:
    if type(value) is float and 0.0 <= value <= MOST:
        return value
    found = number(value, what)
    if found < 0.0:
        raise TaskError(f"{what} must not be negative: {shown(value)}")
    return found


def share(value: object, what: str) -> float:
    """From 0 to 1; what is less than LEAST is 0."""
    if type(value) is float and LEAST <= value <= 1.0:
        return value
    array = numbers(value, what)
    if array.shape != () or not 0 <= array <= 1:
        raise TaskError(f"{what} must be a number from 0 to 1, not {shown(value)}")
    return float(array) if array >= LEAST else 0.0


def level(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise TaskError(f"{what} must be a whole number of at least 1, not {shown(value)}")
    return int(value)


def vector(value: object, what: str, size: int = 3) -> Array:
    array = value.copy() if type(value) is np.ndarray and value.dtype is DOUBLE else _real(value, what)
    if array.shape != (size,) or not hypot(*array.tolist()) <= MOST:
        _check_finite(array, what)
        if array.shape != (size,):
            raise TaskError(f"{what} must be {size} numbers, not of shape {array.shape}")
    return array


def direction(value: object, what: str) -> Array:
    """(3,) of length 1. One that is so stays as it is to the last digit: what was checked may be checked again."""
    array = vector(value, what)
    length = hypot(*array.tolist())
    if length < 1e-9:
        raise TaskError(f"{what} has no direction: {array.tolist()}")
    return array if abs(length - 1.0) <= ROUNDING else array / length


def per_axis(value: object, what: str, size: int = 3) -> Array:
    """(size,) numbers that are not negative, from as many or from one for all; what is less than LEAST is 0."""
    if type(value) is float and (value == 0.0 or LEAST <= value <= MOST):
        return _uniform(value, size)
    array = numbers(value, what)
    if array.shape == ():
        array = np.full(size, float(array))
    if array.shape != (size,):
        raise TaskError(f"{what} must be {size} numbers (or one for all), not {array.size}")
    if (array < 0).any():
        raise TaskError(f"{what} must not be negative: {array.tolist()}")
    array[array < LEAST] = 0.0
    array.flags.writeable = False
    return array


@lru_cache(maxsize=64)
def _uniform(value: float, size: int) -> Array:
    array = np.full(size, value)
    array.flags.writeable = False
    return array


def axis_weights(value: object, what: str, size: int = 3) -> Array:
    """`per_axis`, not all 0."""
    array = per_axis(value, what, size)
    if not array.any():
        raise TaskError(f"{what}: every axis is free (all weights are 0)")
    return array


def rotation(value: object, what: str) -> Array:
    array = _real(value, what)
    if array.shape == (3, 3):
        first, second, third = array.tolist()
        if _is_rotation(*first, *second, *third):
            return array
    _check_finite(array, what)
    if array.shape != (3, 3):
        raise TaskError(f"{what} must be a rotation matrix (3, 3), not of shape {array.shape}")
    raise TaskError(f"{what} is not a rotation matrix")


def _is_rotation(a: float, b: float, c: float, d: float, e: float, f: float, g: float, h: float, i: float) -> bool:
    """Whether the first two rows of a matrix are of length 1 and at right angles, and the third is their cross product.
    Not when one is NaN."""
    return (
        -SKEW <= a * a + b * b + c * c - 1.0 <= SKEW
        and -SKEW <= d * d + e * e + f * f - 1.0 <= SKEW
        and -SKEW <= a * d + b * e + c * f <= SKEW
        and -SKEW <= b * f - c * e - g <= SKEW
        and -SKEW <= c * d - a * f - h <= SKEW
        and -SKEW <= a * e - b * d - i <= SKEW
    )


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """`isinstance(value, Mapping)`, which takes long for what is none."""
    return type(value) is dict or (type(value) not in NO_MAPPINGS and isinstance(value, Mapping))


def is_matrix(value: object) -> bool:
    """Whether something has the shape (4, 4)."""
    if type(value) is np.ndarray:
        return value.shape == (4, 4)
    if type(value) in (tuple, list) and len(value) != 4:  # type: ignore[arg-type]
        return False
    try:
        return np.shape(value) == (4, 4)  # type: ignore
    except ValueError:  # ragged lists
        return False


def rigid(value: object, what: str) -> Array:
    array = _real(value, what)
    if array.shape == (4, 4):
        a, b, c, x, d, e, f, y, g, h, i, z, j, k, m, n = _SIXTEEN(array.tobytes())
        is_last = j == k == m == 0.0 and n == 1.0
        if is_last and abs(x) + abs(y) + abs(z) <= MOST and _is_rotation(a, b, c, d, e, f, g, h, i):
            return array
    _check_finite(array, what)
    if array.shape != (4, 4):
        raise TaskError(f"{what} must be a pose matrix (4, 4), not of shape {array.shape}")
    if abs(array[3] - LAST_ROW).max() > 1e-9:
        raise TaskError(f"{what} is not a rigid pose: its last row is {array[3].tolist()}, not 0 0 0 1")
    if not _is_rotation(*array[:3, :3].ravel().tolist()):
        raise TaskError(f"{what}: rotation part is not a rotation matrix")
    return array


def rigid_each(values: Sequence[object]) -> Array | None:
    """(n, 4, 4) of pose matrices, looked at together; None where `rigid` has to look at each."""
    if not all(type(each) is np.ndarray and each.shape == (4, 4) and each.dtype == np.float64 for each in values):
        return None
    poses = np.array(values)
    R = poses[:, :3, :3]
    is_rigid = (
        (np.abs(R) <= 1.0 + SKEW).all()  # and finite, for what follows
        and (np.abs(poses[:, :3, 3]) <= MOST / 3.0).all()
        and (poses[:, 3] == LAST_ROW).all()
        and np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max() <= SKEW
        and (np.linalg.det(R) > 0.0).all()
    )
    return poses if is_rigid else None


def choice(value: object, what: str, valid: Sequence[str]) -> str:
    if not (isinstance(value, str) and value in valid):
        raise TaskError(f"{what} must be one of {', '.join(valid)}, not {shown(value)}")
    return value


def own_name(value: object, default: str) -> str:
    """How reports call a task or a criterion; the default where it has no name of its own."""
    if not isinstance(value, str):
        raise TaskError(f"the name of {default} must be a text, not {shown(value)}")
    return value or default


def link_name(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise TaskError(f"{what} must be the name of a link, not {shown(value)}")
    return value
