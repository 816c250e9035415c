"""Tasks and criteria keep their arrays as they are."""

from __future__ import annotations

import numpy as np


class FixedArrays:
    """Arrays that are its attributes become read-only: problems that were compiled from them would not see a change.
    Give another array instead."""

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(self, name, value)
