"""Values inside a JSON text, taken one by one: what is not as it must be is named by its place in the text."""

from __future__ import annotations

import json
import math
import sys
from typing import Any, NoReturn

import numpy as np

from ....robokin.arrays import Array
from ..errors import DamagedRecordError

LARGEST = 1e100  # no quantity of a robot is larger, and products of some stay finite
_LONGEST = 40  # characters of a wrong text that a message repeats


class JsonEntry:
    """A value in a JSON text. `owner`: begins every message, as "bone 'arm': its record"; `place`: as "joint.lower[0]".

    Each method returns the value as what it must be, or raises DamagedRecordError with the owner, the place, what is
    valid there, and what was found.
    """

    __slots__ = ("owner", "place", "value")

    def __init__(self, owner: str, value: Any, place: str = "") -> None:
        self.owner, self.value, self.place = owner, value, place

    def refuse(self, wanted: str) -> NoReturn:
        raise self.damaged(f"{self.place or 'it'} must be {wanted}, not {described(self.value)}")

    def damaged(self, problem: str) -> DamagedRecordError:
        return DamagedRecordError(f"{self.owner} is damaged: {problem}")

    def members(self, *names: str) -> dict[str, JsonEntry]:
        """The members of an object that has these and no others."""
        found = {name: self.member(name) for name in names}
        for name in self.value:
            if name not in found:
                raise self.damaged(f"{self.place or 'it'} has {described(name)} (valid: {', '.join(names)})")
        return found

    def member(self, name: str) -> JsonEntry:
        """The entry at a key of an object."""
        place = f"{self.place}.{name}" if self.place else name
        if not isinstance(self.value, dict):
            self.refuse("an object")
        if name not in self.value:
            raise self.damaged(f"{place} is missing")
        return JsonEntry(self.owner, self.value[name], place)

    def items(self, count: int | None = None) -> list[JsonEntry]:
        """The items of a list; count: how many it must have."""
        if not isinstance(self.value, list) or count not in (None, len(self.value)):
            self.refuse("a list" if count is None else f"a list of {count}")
        return [JsonEntry(self.owner, item, f"{self.place}[{i}]") for i, item in enumerate(self.value)]

    def text(self) -> str:
        """One that Blender can hold: it has neither half characters nor an end inside."""
        if not isinstance(self.value, str):
            self.refuse("a text")
        if "\0" in self.value or not (self.value.isascii() or _is_whole(self.value)):
            self.refuse("a text of whole characters")
        return self.value

    def choice(self, names: Any) -> str:
        if not isinstance(self.value, str) or self.value not in names:
            self.refuse(f"one of {', '.join(names)}")
        return self.value

    def whole(self, lowest: int, highest: int) -> int:
        if type(self.value) is not int or not lowest <= self.value <= highest:
            self.refuse(f"a whole number of {lowest} to {highest}")
        return self.value

    def switch(self) -> bool:
        if type(self.value) is not bool:
            self.refuse("true or false")
        return self.value

    def number(self, lowest: float = -LARGEST) -> float:
        """One from `lowest` to LARGEST."""
        if type(self.value) not in (int, float) or not lowest <= self.value <= LARGEST:
            self.refuse(f"a number of {lowest:g} to {LARGEST:g}")
        return float(self.value)

    def limit(self) -> float:
        """Any finite one: a limit that means none may be as large as can be written."""
        if type(self.value) not in (int, float) or not -sys.float_info.max <= self.value <= sys.float_info.max:
            self.refuse("a finite number")
        return float(self.value)

    def numbers(self, *shape: int) -> Array:
        """(*shape,) of a list of as many numbers, row by row. Read-only."""
        count, found = math.prod(shape), self.value
        if type(found) is not list or len(found) != count or not all(map(_is_quantity, found)):
            found = [item.number() for item in self.items(count)]  # which says what is wrong
        array = np.array(found, float).reshape(shape)
        array.flags.writeable = False
        return array

    def present(self) -> JsonEntry | None:
        """None for null."""
        return None if self.value is None else self


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _is_quantity(value: object) -> bool:
    return type(value) is float and abs(value) <= LARGEST


def parsed(owner: str, text: object) -> JsonEntry:
    """The whole of a JSON text. Raises DamagedRecordError."""
    whole = JsonEntry(owner, text)
    if not isinstance(text, str):
        whole.refuse("a text")

    def refuse(constant: str) -> NoReturn:
        raise whole.damaged(f"it holds {constant}, which is no number")

    try:
        return JsonEntry(owner, json.loads(text, parse_constant=refuse))
    except ValueError as fault:
        raise whole.damaged(f"it is not JSON ({' '.join(str(fault).split())[:80]})") from None
    except RecursionError:
        raise whole.damaged("it is nested too deeply") from None


def described(value: object) -> str:
    """A wrong value in few words; what holds others is not written whole, however deep or long it is."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return ascii(value if len(value) <= _LONGEST else f"{value[:_LONGEST]}...")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"{value:g}" if abs(value) < 1e300 else "a number of more than 300 digits"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "an object" if isinstance(value, dict) else f"a value of type {type(value).__name__}"
