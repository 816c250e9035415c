"""The part of YAML that robots' parameter files use: mappings, lists, numbers, texts, comments, units (`!degrees`).

Anchors, merges, several documents and texts of several lines are refused with a line number: none was seen in a robot.
"""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn

from ...errors import FileFormatError, ModelError
from .expression import Evaluator
from .functions import MATH
from .values import MAX_NESTED, bounded

MAX_BYTES = 1 << 20
UNITS = {
    "!radians": 1.0,
    "!degrees": math.pi / 180.0,
    "!meters": 1.0,
    "!millimeters": 0.001,
    "!foot": 0.3048,
    "!inches": 0.0254,
}
_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_INTEGER = re.compile(r"[-+]?[0-9]{1,100}")
# Digits are matched in one way only: a number of a million of them, and a letter, would never end.
_FLOAT = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,5})?")
_SPECIAL = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}
_ESCAPES = re.compile(r"""\\(["\\/bfnrt]|u[0-9a-fA-F]{4})""")
_OPEN = {"[": "]", "{": "}"}


def parse_yaml(data: bytes, path: str, evaluator: Evaluator) -> object:
    """The value of a YAML file. Raises FileFormatError with the line."""
    if len(data) > MAX_BYTES:
        raise FileFormatError(path, None, f"the file is larger than {MAX_BYTES >> 20} MB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileFormatError(path, None, "is not text in UTF-8") from None
    reader = _Reader(text, path, evaluator)
    try:
        return bounded(reader.document())
    except ModelError as fault:
        raise FileFormatError(path, reader.line, str(fault)) from None


def plain_yaml(text: str, path: str) -> object:
    """The value of YAML text that states data alone, of whatever size. Raises FileFormatError with the line."""
    reader = _Reader(text.rstrip().removesuffix("\n---"), path, None)
    return reader.document()


class _Reader:
    """`line`: the number of the line that is read now."""

    def __init__(self, text: str, path: str, evaluator: Evaluator | None) -> None:
        self.path = path
        self.evaluator = evaluator
        self.line = 0
        self.depth = 0
        self.at = 0
        self.lines: list[tuple[int, int, str]] = []  # number, indentation, content
        for number, raw in enumerate(text.split("\n"), 1):
            content = _without_comment(raw.rstrip())
            bare = content.lstrip(" ")
            if not bare.strip() or bare.startswith("%"):
                continue
            if bare[0] == "\t":
                raise FileFormatError(path, number, "a tab at the beginning of a line, which YAML does not allow")
            if content == "---" and not self.lines:
                continue
            if content in ("---", "..."):
                if content == "...":
                    break
                raise FileFormatError(path, number, "several documents in one file are not supported")
            self.lines.append((number, len(content) - len(bare), bare))

    def document(self) -> object:
        if not self.lines:
            return None
        value = self._node(self.lines[0][1])
        if self.at < len(self.lines):
            self.line = self.lines[self.at][0]
            self._refuse("its indentation fits no line above")
        return value

    def _refuse(self, problem: str) -> NoReturn:
        raise FileFormatError(self.path, self.line, problem)

    def _peek(self) -> tuple[int, str]:
        """(indentation, content) of the next line; (-1, "") at the end."""
        if self.at >= len(self.lines):
            return -1, ""
        self.line, indent, content = self.lines[self.at]
        return indent, content

    def _node(self, indent: int) -> object:
        """What begins at the next line, which is indented so far."""
        self.depth += 1
        if self.depth > MAX_NESTED:
            self._refuse(f"lists are nested more than {MAX_NESTED} deep")
        _, content = self._peek()
        if content == "-" or content.startswith("- "):
            value: object = self._sequence(indent)
        elif _split_key(content) is not None:
            value = self._mapping(indent)
        else:
            self.at += 1
            value = self._inline(content, indent)
        self.depth -= 1
        return value

    def _sequence(self, indent: int) -> list[object]:
        items: list[object] = []
        while True:
            here, content = self._peek()
            if here != indent or not (content == "-" or content.startswith("- ")):
                break
            rest = content[1:].lstrip(" ")
            if not rest:
                self.at += 1
                items.append(self._below(indent))
                continue
            # What follows the dash is a line of its own, further in.
            inner = indent + len(content) - len(rest)
            self.lines[self.at] = (self.line, inner, rest)
            items.append(self._node(inner))
        if here > indent:
            self._refuse("its indentation fits no line above")
        return items

    def _mapping(self, indent: int) -> dict[object, object]:
        found: dict[object, object] = {}
        while True:
            here, content = self._peek()
            if here != indent:
                break
            split = _split_key(content)
            if split is None:
                self._refuse(f"{content[:60]!r} is not `key: value`")
            key, rest = split
            if key == "<<":
                self._refuse("merging (<<) is not supported")
            self.at += 1
            name = self._scalar(key)
            found[name] = self._inline(rest, indent) if rest else self._below(indent, True)
        if here > indent:
            self._refuse("its indentation fits no line above")
        return found

    def _below(self, indent: int, key: bool = False) -> object:
        """The value whose lines follow; None when there are none. A list may stand as far out as its key."""
        here, content = self._peek()
        if here > indent or (key and here == indent and (content == "-" or content.startswith("- "))):
            return self._node(here)
        return None

    def _inline(self, text: str, indent: int) -> object:
        """A value on the line that was just read; one in brackets may go on below."""
        if text[0] in _OPEN:
            parts = [text]
            balance, begin = _balance(text), self.line
            while balance > 0 and self.at < len(self.lines):
                parts.append(self._peek()[1])
                balance += _balance(parts[-1])
                self.at += 1
            self.line = begin
            return _Flow(" ".join(parts), self).whole()
        value = self._scalar(text)
        here, content = self._peek()
        if here > indent:
            self._refuse(f"{content[:60]!r}: a value of several lines is not supported")
        return value

    def _scalar(self, text: str) -> object:
        text = text.strip()
        first = text[:1]
        if first in ('"', "'"):
            return self._quoted(text)
        if first == "!":
            tag, _, rest = text.partition(" ")
            if tag == "!!str":
                return rest.strip().strip("'\"")
            if tag not in UNITS or self.evaluator is None:
                self._refuse(f"the tag {tag[:60]} is not supported (valid: {', '.join(UNITS)})")
            number = self.evaluator.evaluate(rest, _constant)
            if not isinstance(number, (int, float)):
                self._refuse(f"{rest.strip()[:60]!r} is not a number")
            return number * UNITS[tag]
        if first and first in "&*|>%@`":
            self._refuse(f"{text[:60]!r} is not supported here")
        if text in ("", "~", "null", "Null", "NULL"):
            return None
        if text.lower() in _TRUTHS:
            return _TRUTHS[text.lower()]
        if _INTEGER.fullmatch(text):
            return int(text)
        if text.lower() in _SPECIAL:
            return _SPECIAL[text.lower()]
        return float(text) if _FLOAT.fullmatch(text) else text

    def _quoted(self, text: str) -> str:
        if len(text) < 2 or text[-1] != text[0]:
            self._refuse(f"{text[:60]!r} is not closed")
        inside = text[1:-1]
        if text[0] == "'":
            return inside.replace("''", "'")
        return _ESCAPES.sub(lambda found: json.loads(f'"{found[0]}"'), inside)

    # What `_Flow` reads with:
    scalar = _scalar
    refuse = _refuse


class _Flow:
    """A value in brackets: `[1, 2]`, `{a: 1}`."""

    def __init__(self, text: str, reader: _Reader) -> None:
        self.text = text
        self.reader = reader
        self.at = 0

    def whole(self) -> object:
        value = self._value(0)
        if self._next():
            self.reader.refuse(f"{self.text[self.at : self.at + 60]!r} after the end of a value")
        return value

    def _next(self) -> str:
        """The next character that is no space; "" at the end."""
        while self.at < len(self.text) and self.text[self.at] == " ":
            self.at += 1
        return self.text[self.at : self.at + 1]

    def _value(self, depth: int) -> object:
        first = self._next()
        if first not in _OPEN or not first:
            return self.reader.scalar(self._word(",]}"))
        if depth >= MAX_NESTED:
            self.reader.refuse(f"lists are nested more than {MAX_NESTED} deep")
        self.at += 1
        items: list[object] = []
        pairs: dict[object, object] = {}
        while self._next() != _OPEN[first]:
            if first == "{":
                key = self.reader.scalar(self._word(":,]}"))
                if self._next() == ":":
                    self.at += 1
                    pairs[key] = None if self._next() in (",", "}") else self._value(depth + 1)
                else:
                    pairs[key] = None
            else:
                items.append(self._value(depth + 1))
            if self._next() == ",":
                self.at += 1
            elif self._next() != _OPEN[first]:
                self.reader.refuse(f"{self.text[:60]!r} is not closed")
        self.at += 1
        return items if first == "[" else pairs

    def _word(self, ends: str) -> str:
        start = self.at
        quote = self._next()
        if quote in ("'", '"'):
            self.at = _quote_end(self.text, self.at)
        while self.at < len(self.text) and self.text[self.at] not in ends:
            self.at += 1
        return self.text[start : self.at]


def _constant(name: str) -> object:
    if name not in MATH:
        raise ModelError(f"name {name!r} is not defined")
    return MATH[name]


def _quote_end(text: str, start: int) -> int:
    """The place after a quoted text that begins at `start`; the end of the text when it is not closed."""
    quote, at = text[start], start + 1
    while at < len(text):
        if text[at] == "\\" and quote == '"':
            at += 1
        elif text[at] == quote:
            if quote == '"' or text[at + 1 : at + 2] != "'":
                return at + 1
            at += 1
        at += 1
    return len(text)


def _without_comment(line: str) -> str:
    if "#" not in line:
        return line
    at = 0
    while at < len(line):
        before = line[at - 1] if at else " "
        if line[at] in "'\"" and before in " [{,:-":
            at = _quote_end(line, at)
            continue
        if line[at] == "#" and before in " \t":
            return line[:at].rstrip()
        at += 1
    return line


def _balance(text: str) -> int:
    """Brackets that are opened less those that are closed."""
    count = at = 0
    while at < len(text):
        if text[at] in "'\"" and (not at or text[at - 1] in " [{,:"):
            at = _quote_end(text, at)
            continue
        count += (text[at] in "[{") - (text[at] in "]}")
        at += 1
    return count


def _split_key(content: str) -> tuple[str, str] | None:
    """(key, rest) of `key: rest`; None when it is no such line."""
    if content[0] in "[{!&*|>%@`#":
        return None
    at = _quote_end(content, 0) if content[0] in "'\"" else 0
    while 0 <= at < len(content):
        at = content.find(":", at)
        if at >= 0 and (at + 1 == len(content) or content[at + 1] in " \t"):
            return content[:at].rstrip(), content[at + 1 :].strip()
        at = at + 1 if at >= 0 else -1
    return None
