"""Whether two things say the same, so that what was made of the one will do for the other."""

from __future__ import annotations

from struct import pack
from types import MappingProxyType

import numpy as np

from ..robokin.arrays import DOUBLE

OWN = __name__.rpartition(".")[0] + "."  # the modules whose classes say all about themselves in their attributes
MOST_NUMBERS = 256  # of what is part of a key
PLAIN = frozenset((float, int, str, bool, type(None)))
NUMBERS = frozenset((float, int))
FLOATS = frozenset((float,))


def is_own(kind: type) -> bool:
    """Whether a class is one of this package. Nothing is known of the attributes of others."""
    return kind.__module__.startswith(OWN)


def is_value(kind: type) -> bool:
    """Whether objects of this class compare by value, as those of a `Plane` do."""
    return is_own(kind) and kind.__eq__ is not object.__eq__


class Same:
    """Equal to the same object, which it keeps alive, and to one of the same class of our own with like attributes."""

    __slots__ = ("what",)

    def __init__(self, what: object) -> None:
        self.what = what

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Same):
            return False
        one, another, kind = self.what, other.what, type(self.what)
        if one is another or type(another) is not kind or not (is_own(kind) and hasattr(one, "__dict__")):
            return one is another
        return _contents(one) == _contents(another)

    def __hash__(self) -> int:
        return hash(type(self.what))


def _contents(thing: object) -> dict[str, object]:
    return {name: content(value) for name, value in vars(thing).items()}


def content(value: object) -> object:
    """Something that is equal for what says the same, and for the same object where that is not known."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if isinstance(value, np.generic):
        return content(value.item())
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.shape, value.dtype, value.tobytes()
    if isinstance(value, tuple | list):
        return kind, [content(each) for each in value]
    if is_value(kind):
        return value
    if kind in (dict, MappingProxyType):
        return kind, [(content(key), content(each)) for key, each in value.items()]  # type: ignore[attr-defined]
    return Same(value)


def exactly(value: object, most: int = MOST_NUMBERS) -> object:
    """Equal for numbers that are the same to the last bit, in alike arrays, tuples, lists or dictionaries, and
    hashable; None of anything else, and of what may hold more than `most` numbers."""
    kind = type(value)
    if kind is np.ndarray:
        known = value.dtype is DOUBLE and value.size <= most  # type: ignore[attr-defined]
        return (value.shape, value.tobytes()) if known else None  # type: ignore[attr-defined]
    if kind is float:
        return pack("d", value)
    if kind is dict:
        keys = exactly([*value.values()], most)  # type: ignore[attr-defined]
        return None if keys is None else (dict, *value, keys)  # type: ignore[misc]
    if kind is tuple or kind is list:
        count = len(value)  # type: ignore[arg-type]
        if count > most:
            return None
        if FLOATS.issuperset(map(type, value)):  # type: ignore[call-overload]
            return kind, pack(f"{count}d", *value)  # type: ignore[misc]
        each = (kind, *[exactly(one, most // count) for one in value])  # type: ignore[attr-defined]
        return None if None in each else each
    return value if kind is int else None


class Frozen(tuple):
    """What a list, an array or a dictionary of words and numbers says, hashable."""

    __slots__ = ()


def frozen(argument: object) -> object:
    """A `Frozen` of a list, an array or a dictionary that says all about itself, else the same."""
    kind = type(argument)
    if kind in (list, dict) and len(argument) > MOST_NUMBERS:  # type: ignore[arg-type]
        return argument
    if kind is list and all(type(each) in NUMBERS for each in argument):  # type: ignore[attr-defined]
        return Frozen((list, *argument))  # type: ignore[misc]
    if kind is dict and all(type(each) in PLAIN for pair in argument.items() for each in pair):  # type: ignore[attr-defined]
        return Frozen((dict, *argument.items()))  # type: ignore[attr-defined]
    if kind is np.ndarray and argument.dtype.kind in "fiu" and argument.size <= MOST_NUMBERS:  # type: ignore[attr-defined]
        return Frozen(content(argument))  # type: ignore[arg-type]
    return argument


def is_plain(argument: object) -> bool:
    """Whether an argument can be part of a key: a word, a number, a few numbers, a value class of our own."""
    kind = type(argument)
    if kind is tuple:
        return len(argument) <= MOST_NUMBERS and all(type(each) in NUMBERS for each in argument)  # type: ignore[arg-type, attr-defined]
    return kind in PLAIN or kind is Frozen or is_value(kind)
