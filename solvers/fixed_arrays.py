"""Tasks and criteria keep their arrays as they are."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np


class FixedArrays:
    """Arrays that are its attributes become read-only: problems that were compiled from them would not see a change.
    Give another array instead."""

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(self, name, value)

    def _keep(self, **attributes: object) -> None:
        """Set at once, when the object is made, several times faster; arrays that are read-only already."""
        self.__dict__.update(attributes)


def fixed(arrays: dict[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """The same, read-only."""
    for array in arrays.values():
        array.flags.writeable = False
    return MappingProxyType(arrays)
