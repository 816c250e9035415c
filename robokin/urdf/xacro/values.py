"""The values of xacro's expressions, all of bounded size; and what one file may cost in all."""

from __future__ import annotations

from ...errors import ModelError

MAX_TEXT = 65_536  # characters of a text
MAX_ENTRIES = 10_000  # entries of a list or dictionary, those of the lists inside it included
MAX_NESTED = 30  # lists inside lists
LARGEST_INTEGER = 10**100
MAX_STEPS = 1_000_000  # a real robot takes some ten thousand; these are seconds

_SIMPLE = (float, type(None))
CONTAINERS = (list, tuple, dict)


class Budget:
    """Counts what expanding one file costs. A step is about a microsecond, or 64 characters of a text."""

    def __init__(self) -> None:
        self._remaining = MAX_STEPS

    def spend(self, steps: int = 1) -> None:
        """Raises ModelError when nothing is left."""
        self._remaining -= steps
        if self._remaining < 0:
            raise ModelError(f"takes more than {MAX_STEPS} steps: does a macro call itself, or double itself?")


def bounded(value: object) -> object:
    """`value`, if it is one that xacro knows and of bounded size. Raises ModelError."""
    weight(value)
    return value


def weight(value: object) -> int:
    """How many steps it costs to go through a value. Raises ModelError for one that is no value, or too large."""
    entries = characters = 0
    rest: list[tuple[object, int]] = [(value, 0)]
    while rest:
        each, depth = rest.pop()
        if isinstance(each, CONTAINERS):
            entries += len(each)
            if entries > MAX_ENTRIES:
                raise ModelError(f"a list or dictionary of more than {MAX_ENTRIES} entries")
            if depth > MAX_NESTED:
                raise ModelError(f"lists are nested more than {MAX_NESTED} deep")
            if isinstance(each, dict):
                rest += [(key, depth + 1) for key in each]
                each = each.values()
            rest += [(item, depth + 1) for item in each]
        elif isinstance(each, str):
            characters += len(each)
            if characters > MAX_TEXT:
                raise ModelError(f"a text, or the texts of a list, of more than {MAX_TEXT} characters")
        elif isinstance(each, int):
            if abs(each) > LARGEST_INTEGER:
                raise ModelError("a number above 1e100")
        elif not isinstance(each, _SIMPLE):
            raise ModelError(f"{each} is no value (valid: numbers, texts, lists, dictionaries)")
    return 1 + entries + characters // 64


def text_of(value: object) -> str:
    """The value as Python writes it."""
    return value if isinstance(value, str) else str(value)


def literal(value: object) -> object:
    """A text that is a number, a truth value or quoted, as that; other values as they are."""
    if not isinstance(value, str):
        return value
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    if "_" in value:  # Python would take 1_0 for a number
        return value
    for read in (int, float, truth):
        try:
            return bounded(read(value))
        except (ValueError, ModelError):
            continue
    return value


def truth(value: object) -> bool:
    """A condition's value. Raises ModelError."""
    if not isinstance(value, str):
        return bool(value)
    if value in ("true", "True", "false", "False"):
        return value in ("true", "True")
    try:
        return bool(int(value))
    except ValueError:
        raise ModelError(f"{value[:60]!r} is neither true nor false") from None
