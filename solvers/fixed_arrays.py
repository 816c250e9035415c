"""What tasks and criteria are made of stays as it is, or its change is seen.

One rule for all: their attributes may be set again until a problem is made of them, and from then on only a task's
target; anything else is refused, as a compiled problem would not see it. What an attribute holds cannot be changed in
place. `solve_ik`, `velocity_step`, `track` and `check_motion` make their problems of copies, so they see every change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import ClassVar, TypeVar

import numpy as np

from ..robokin.errors import TaskError

OWN = __name__.rpartition(".")[0] + "."  # the modules whose classes say all about themselves in their attributes
FREE = "target"  # what problems read anew

Checks = Mapping[str, Callable[[object, str], object]]  # of a value, and how messages call it
Part = TypeVar("Part", bound="FixedArrays")


class FixedArrays:
    """checks: by attribute, what it must be when it is set."""

    checks: ClassVar[Checks] = {}
    name: str
    _is_compiled = False

    def __setattr__(self, name: str, value: object) -> None:
        if self._is_compiled and name != FREE and not name.startswith("_"):
            raise TaskError(f"{self.name}: {name} cannot be set any more, a problem is made of it: make another")
        check = self.checks.get(name)
        given = value if check is None else check(value, f"{self.name}: {name.replace('_', ' ')}")
        object.__setattr__(self, name, _fixed(given, is_own(type(self))))

    def __copy__(self: Part) -> Part:
        other = object.__new__(type(self))
        other.__dict__.update({name: value for name, value in vars(self).items() if name != "_is_compiled"})
        return other

    def _keep(self, **attributes: object) -> None:
        """Set at once, when the object is made, several times faster; arrays that are read-only already."""
        self.__dict__.update(attributes)


def is_own(kind: type) -> bool:
    """Whether a class is one of this package; of those of other makers nothing is known."""
    return kind.__module__.startswith(OWN)


def compiled(parts: Iterable[Part]) -> None:
    """Tell tasks or criteria that a problem is made of them."""
    for part in parts:
        if is_own(type(part)):
            part.__dict__["_is_compiled"] = True


def fixed(arrays: dict[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """The same, read-only."""
    for array in arrays.values():
        array.flags.writeable = False
    return MappingProxyType(arrays)


def _fixed(value: object, is_whole: bool) -> object:
    """The same, read-only: a copy of what others may write into. is_whole: lists and mappings too."""
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            value = value.copy()
            value.flags.writeable = False
    elif is_whole and type(value) is list:
        return tuple(_fixed(each, True) for each in value)
    elif is_whole and type(value) is dict:
        return MappingProxyType({key: _fixed(each, True) for key, each in value.items()})
    return value
