"""What callers give as numbers, as float64 arrays."""

from __future__ import annotations

import numpy as np

_NUMBERS = "biuf"  # kinds of NumPy's types: bool, signed, unsigned, float
_LONGEST = 80  # characters of a wrong value that a message repeats


def float_array(value: object) -> np.ndarray:
    """A new float64 array of `value`. Raises ValueError for what is not real numbers; that of NumPy would also parse
    text and dates, and drop imaginary parts."""
    array = np.array(value)
    if array.dtype == np.float64:
        return array
    if array.dtype.kind not in _NUMBERS and (array.dtype != object or any(isinstance(x, str) for x in array.flat)):
        raise ValueError(f"{array.dtype} is no type of numbers")
    try:
        return array.astype(np.float64)
    except (TypeError, OverflowError) as error:  # integers of hundreds of digits are among the objects
        raise ValueError(str(error)) from None


def shown(value: object) -> str:
    """`value` on one line of bounded length, for a message."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
