"""`name=value,name=value` of the command line: fields, and numbers separated by colons."""

from __future__ import annotations

import math
import re

from ...robokin.errors import TaskError
from ...robokin.files.text_file import number as plain_number

Fields = dict[str, str]


def parse_fields(text: str, what: str) -> Fields:
    """Raises TaskError that speaks of `what`."""
    fields: Fields = {}
    # A comma separates only where a field follows it, so that names of links may contain one.
    for part in re.split(r",(?=\s*[a-z_0-9]+\s*=)", text):
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals:
            raise TaskError(f"{what} {text!r}: {part.strip()!r} is not name=value, such as kind=WORD")
        if name in fields:
            raise TaskError(f"{what} {text!r}: {name} is given twice")
        fields[name] = value.strip()
    return fields


def numbers(fields: Fields, name: str, *counts: int) -> list[float]:
    """The numbers of a field; as many as one of `counts`. Raises TaskError."""
    values = [number(name, part) for part in fields[name].split(":")]
    if len(values) not in counts:
        wanted = " or ".join(map(str, counts))
        raise TaskError(
            f"{name} takes {wanted} {'number' if wanted == '1' else 'numbers'} separated by colons, not {len(values)}"
        )
    return values


def number(name: str, text: str) -> float:
    """The number that a text is. Raises TaskError."""
    try:
        value = plain_number(text)
    except ValueError:
        raise TaskError(f"{name}: {text!r} is not a number") from None
    if not math.isfinite(value):
        raise TaskError(f"{name}: {text!r} is not finite")
    return value
