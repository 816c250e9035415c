"""The functions that xacro's expressions may call: pure ones, whose cost and result are bounded."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...errors import ModelError
from .values import CONTAINERS, MAX_ENTRIES, MAX_TEXT, bounded, text_of

_MAX_DIGITS = 100
# %-6.2f and {:6.2f}: widths of two digits at most.
_PERCENT = re.compile(r"%(?:\(\w+\))?[-+ #0]*\d{0,2}(?:\.\d{0,2})?[diouxXeEfFgGcrs%]")
_SPECIFICATION = re.compile(r"[<>^]?[-+ ]?0?\d{0,2}(?:\.\d{1,2})?[bcdeEfFgGnosxX%]?")


class Function:
    """A function with its name. Not callable as Python's are: only the evaluator calls it."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Callable) -> None:
        self.name = name
        self.call = call

    def __str__(self) -> str:
        return f"the function {self.name!r}"


class Library:
    """Names behind a dot: `math.pi`, `xacro.load_yaml`."""

    def __init__(self, name: str, members: Mapping[str, object]) -> None:
        self.name = name
        self.members = members

    def __str__(self) -> str:
        return self.name


def gathered(values: Iterable[object]) -> list:
    """A list of values that are made one by one, bounded while it grows. Raises ModelError."""
    made: list[object] = []
    entries = 0
    for value in values:
        made.append(bounded(value))
        entries += 1 + (len(value) if isinstance(value, CONTAINERS) else 0)
        if entries > MAX_ENTRIES:
            raise ModelError(f"a list or dictionary of more than {MAX_ENTRIES} entries")
    return made


def formatted(template: str, values: Any) -> str:
    """`template % values`."""
    parts = values.values() if isinstance(values, dict) else values if isinstance(values, tuple) else (values,)
    if "%" in _PERCENT.sub("", template):
        raise ModelError(f"the format {template[:60]!r} is not supported")
    _check_format(template, template.count("%"), parts)
    return template % values


def _format(template: str, *values: object, **named: object) -> str:
    fields = [field for field in string.Formatter().parse(template) if field[1] is not None]
    for _, name, specification, conversion in fields:
        if not re.fullmatch(r"\w*", str(name)) or conversion or not _SPECIFICATION.fullmatch(specification or ""):
            raise ModelError(f"the format {template[:60]!r} is not supported")
    _check_format(template, len(fields), (*values, *named.values()))
    return template.format(*values, **named)


def _check_format(template: str, fields: int, values: Iterable[object]) -> None:
    longest = 100  # a field's width
    for value in values:
        if isinstance(value, CONTAINERS):
            raise ModelError("lists and dictionaries in formats are not supported")
        longest = max(longest, len(str(value)))
    if len(template) + fields * longest > MAX_TEXT:
        raise ModelError(f"a text of more than {MAX_TEXT} characters")


def _join(separator: str, parts: Iterable[str]) -> str:
    parts = list(parts)
    if len(parts) * len(separator) > MAX_TEXT:
        raise ModelError(f"a text of more than {MAX_TEXT} characters")
    return separator.join(parts)


def _replace(text: str, old: str, new: str) -> str:
    if text.count(old) * len(new) > MAX_TEXT:
        raise ModelError(f"a text of more than {MAX_TEXT} characters")
    return text.replace(old, new)


def _range(*ends: int) -> list[int]:
    numbers = range(*ends)
    if len(numbers) > MAX_ENTRIES:
        raise ModelError(f"a list or dictionary of more than {MAX_ENTRIES} entries")
    return list(numbers)


def _round(number: float, digits: int | None = None) -> float:
    if digits is not None and abs(digits) > _MAX_DIGITS:
        raise ModelError(f"round() to {digits} digits")
    return round(number, digits)


def _each(function: object, *lists: Iterable[object]) -> Iterator[object]:
    if not isinstance(function, Function):
        raise ModelError("map() and filter() need a function")
    return (function.call(*items) for items in zip(*lists, strict=False))


def _filter(function: object, items: list) -> list:
    kept = items if function is None else list(_each(function, items))
    return [item for item, keep in zip(items, kept, strict=True) if keep]


def _named(functions: Mapping[str, Callable]) -> dict[str, Function]:
    return {name: Function(name, call) for name, call in functions.items()}


# Left out: those whose result is much larger than what they are given (factorial, comb, perm, prod, lcm).
_MATH = (
    "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees dist erf erfc exp expm1 fabs floor fmod "
    "frexp fsum gcd hypot isclose isfinite isinf isnan log log10 log1p log2 modf pow radians remainder sin sinh sqrt "
    "tan tanh trunc"
).split()
MATH: dict[str, object] = {
    **_named({name: getattr(math, name) for name in _MATH}),
    **{name: getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")},
}
PYTHON: dict[str, object] = {
    **_named(
        {
            "abs": abs,
            "all": all,
            "any": any,
            "bool": bool,
            "dict": dict,
            "divmod": divmod,
            "enumerate": lambda items, start=0: list(enumerate(items, start)),
            "filter": _filter,
            "float": float,
            "int": int,
            "len": len,
            "list": list,
            "map": lambda function, *lists: gathered(_each(function, *lists)),
            "max": max,
            "min": min,
            "ord": ord,
            "range": _range,
            "repr": repr,
            "reversed": lambda items: list(reversed(items)),
            "round": _round,
            "sorted": sorted,
            "str": text_of,
            "sum": sum,
            "tuple": tuple,
            "zip": lambda *lists: list(zip(*lists, strict=False)),
        }
    ),
    "True": True,
    "False": False,
}
FUNCTIONS: dict[str, object] = {
    **MATH,
    **PYTHON,
    "math": Library("math", MATH),
    "python": Library("python", PYTHON),
}

# Methods; those that are not given here are Python's own.
METHODS: dict[type, dict[str, Callable | None]] = {
    str: {
        "format": _format,
        "join": _join,
        "replace": _replace,
        **dict.fromkeys(
            "capitalize count endswith find index isalnum isalpha isdigit isnumeric isspace lower lstrip removeprefix "
            "removesuffix rfind rsplit rstrip split splitlines startswith strip title upper".split()
        ),
    },
    list: dict.fromkeys(("count", "index")),
    tuple: dict.fromkeys(("count", "index")),
    dict: {
        "get": None,
        "items": lambda value: list(value.items()),
        "keys": lambda value: list(value),
        "values": lambda value: list(value.values()),
    },
}
