"""What callers give as numbers and words, checked; numbers as float64."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from .errors import ConfigurationError, ModelError, RobokinError, shown

Array = np.ndarray
DOUBLE = np.dtype(np.float64)  # the very object nearly always: `is` takes less time than ==
_NUMBERS = "biuf"  # kinds of NumPy's types: bool, signed, unsigned, float
Item = TypeVar("Item")

# Sizes of numbers with which solvers calculate: beyond them squares and products are infinite or 0.
LEAST, MOST = 1e-30, 1e30


def float_array(value: object) -> Array:
    """A new float64 array of `value`. Raises ValueError for what is not real numbers; that of NumPy would also parse
    text and dates, take None for NaN, and drop imaginary parts."""
    array = np.array(value)
    if array.dtype is DOUBLE:
        return array
    if array.dtype.kind not in _NUMBERS and (
        array.dtype != object or any(x is None or isinstance(x, str) for x in array.flat)
    ):
        raise ValueError(f"{array.dtype} is no type of numbers")
    try:
        return array.astype(np.float64)
    except (TypeError, OverflowError) as error:  # integers of hundreds of digits are among the objects
        raise ValueError(str(error)) from None


def check_size(array: Array, what: str) -> None:
    """Raises ConfigurationError, which speaks of `what`, for entries that are not finite or are larger than MOST."""
    if np.vdot(array, array) <= MOST * MOST:
        return
    if not np.isfinite(array).all():
        raise ConfigurationError(f"{what} has entries that are not finite")
    if abs(array).max() > MOST:
        raise ConfigurationError(f"{what} must be at most {MOST:g}, not {abs(array).max():g}")


def within_size(array: Array) -> Array:
    """What a search led to, with entries of at most MOST: one may start from there again."""
    return np.clip(array, -MOST, MOST)


def farthest(a: Array, b: Array) -> float:
    """The greatest difference of two arrays (n,) of few numbers: by NumPy it takes three times as long."""
    return max(map(abs, (a - b).tolist()), default=0.0)


def finite_number(value: object, what: str) -> float:
    """Raises ModelError for what is not one finite real number."""
    try:
        array = float_array(value)
    except ValueError:
        array = np.empty(0)
    if array.shape != () or not np.isfinite(array):
        raise ModelError(f"{what} must be a finite number, not {shown(value)}")
    return float(array)


def not_negative(value: object, what: str) -> float:
    """Raises ModelError for what is not one finite number >= 0."""
    number = finite_number(value, what)
    if number < 0.0:
        raise ModelError(f"{what} must not be negative: {number:g}")
    return number


def text(value: object, what: str) -> str:
    """Raises ModelError for what is not a text."""
    if not isinstance(value, str):
        raise ModelError(f"{what} must be a text, not {shown(value)}")
    return value


def list_of(
    items: Iterable[Item], wanted: type[Item], one: str, many: str, error: type[RobokinError]
) -> tuple[Item, ...]:
    """All of them. one, many: what they are called. Raises `error` for what is not a list of such."""
    if type(items) not in (list, tuple) and isinstance(items, wanted):
        raise error(f"{many} must be a list of {many}; put the one {one} in [ ]")
    try:
        found = tuple(items)
    except TypeError:
        raise error(f"{many} must be a list of {many}, not {shown(items)}") from None
    for item in found:
        if not isinstance(item, wanted):
            raise error(f"{shown(item)} is not a {one}")
    return found


def frozen_array(value: object, shape: tuple[int, ...], what: str) -> Array:
    """A read-only float64 copy of `value`; ModelError when the shape is wrong or an entry is NaN."""
    try:
        array = float_array(value)
    except ValueError:
        raise ModelError(f"{what} must be numbers, not {shown(value)}") from None
    if array.shape != shape:
        raise ModelError(f"{what} must have shape {shape}, not {array.shape}")
    if np.isnan(array).any():
        raise ModelError(f"{what} is not a number")
    array.flags.writeable = False
    return array


_IDENTITY, _LAST_ROW = np.eye(3), np.array([0.0, 0.0, 0.0, 1.0])


def frozen_placement(value: object, what: str) -> Array:
    placement = frozen_array(value, (4, 4), what)
    if not np.isfinite(placement).all():
        raise ModelError(f"{what} must be finite")
    rotation = placement[:3, :3]
    if abs(rotation @ rotation.T - _IDENTITY).max() > 1e-6 or np.linalg.det(rotation) < 0:
        raise ModelError(f"{what} is not a rigid placement (its rotation part is not a rotation)")
    if abs(placement[3] - _LAST_ROW).max() > 1e-9:
        raise ModelError(f"{what} is not a rigid placement (its last row is {placement[3].tolist()}, not 0, 0, 0, 1)")
    return placement
