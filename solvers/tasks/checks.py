"""Checks of what tasks, criteria and constraints are given. All raise TaskError, naming `what`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...robokin.errors import TaskError

Array = np.ndarray


def numbers(value: object, what: str) -> Array:
    """Finite float64 array of any shape."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TaskError(f"{what} must be numbers, not {value!r}") from None
    if not np.isfinite(array).all():
        raise TaskError(f"{what} is not finite: {array.tolist()}")
    return array


def number(value: object, what: str) -> float:
    array = numbers(value, what)
    if array.shape != ():
        raise TaskError(f"{what} must be a number, not {value!r}")
    return float(array)


def positive(value: object, what: str) -> float:
    array = numbers(value, what)
    if array.shape != () or array <= 0:
        raise TaskError(f"{what} must be a positive number, not {value!r}")
    return float(array)


def not_negative(value: object, what: str) -> float:
    found = number(value, what)
    if found < 0.0:
        raise TaskError(f"{what} must not be negative: {value!r}")
    return found


def share(value: object, what: str) -> float:
    array = numbers(value, what)
    if array.shape != () or not 0 <= array <= 1:
        raise TaskError(f"{what} must be a number from 0 to 1, not {value!r}")
    return float(array)


def level(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise TaskError(f"{what} must be a whole number of at least 1, not {value!r}")
    return int(value)


def vector(value: object, what: str, size: int = 3) -> Array:
    array = numbers(value, what)
    if array.shape != (size,):
        raise TaskError(f"{what} must be {size} numbers, not of shape {array.shape}")
    return array


def direction(value: object, what: str) -> Array:
    """(3,) of length 1."""
    array = vector(value, what)
    length = np.linalg.norm(array)
    if length < 1e-9:
        raise TaskError(f"{what} has no direction: {array.tolist()}")
    return array / length


def per_axis(value: object, what: str, size: int = 3) -> Array:
    """(size,) numbers that are not negative, from as many or from one for all."""
    array = numbers(value, what)
    if array.shape == ():
        array = np.full(size, float(array))
    if array.shape != (size,):
        raise TaskError(f"{what} must be {size} numbers (or one for all), not {array.size}")
    if (array < 0).any():
        raise TaskError(f"{what} must not be negative: {array.tolist()}")
    array.flags.writeable = False
    return array


def axis_weights(value: object, what: str, size: int = 3) -> Array:
    """`per_axis`, not all 0."""
    array = per_axis(value, what, size)
    if not array.any():
        raise TaskError(f"{what}: every axis is free (all weights are 0)")
    return array


def rotation(value: object, what: str) -> Array:
    array = numbers(value, what)
    if array.shape != (3, 3):
        raise TaskError(f"{what} must be a rotation matrix (3, 3), not of shape {array.shape}")
    if abs(array @ array.T - np.eye(3)).max() > 1e-6 or np.linalg.det(array) < 0:
        raise TaskError(f"{what} is not a rotation matrix")
    return array


def rigid(value: object, what: str) -> Array:
    array = numbers(value, what)
    if array.shape != (4, 4):
        raise TaskError(f"{what} must be a pose matrix (4, 4), not of shape {array.shape}")
    if abs(array[3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-9:
        raise TaskError(f"{what} is not a rigid pose: its last row is {array[3].tolist()}, not 0 0 0 1")
    rotation(array[:3, :3], f"{what}: rotation part")
    return array


def choice(value: object, what: str, valid: Sequence[str]) -> str:
    if not (isinstance(value, str) and value in valid):
        raise TaskError(f"{what} must be one of {', '.join(valid)}, not {value!r}")
    return value


def link_name(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise TaskError(f"{what} must be the name of a link, not {value!r}")
    return value
