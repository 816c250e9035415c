"""XML for files of unknown origin: no document types, no entities, no network; bounded size, depth and count.

The standard library's ElementTree loses line numbers and expands entities; expat itself need do neither.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from xml.parsers import expat

from ..errors import FileFormatError, ModelError
from ..files.text_file import MAX_BYTES, number

MAX_DEPTH = 64
MAX_ELEMENTS = 200_000
LARGEST = 1e100  # no quantity of a robot is larger, and products of some stay finite
SHOWN = 60  # characters of a wrong value that a message repeats
LONGEST = 500  # characters of a message: the names in it come from the file

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Element:
    """One XML element with the line where it begins. `content`: the text directly inside, where it was asked for."""

    __slots__ = ("attributes", "children", "content", "line", "path", "tag")

    def __init__(self, tag: str, attributes: dict[str, str], path: str, line: int) -> None:
        self.tag = tag
        self.attributes = attributes
        self.path = path
        self.line = line
        self.content = ""
        self.children: list[Element] = []

    def error(self, problem: str) -> FileFormatError:
        """The error to raise about this element."""
        whole = len(problem) <= LONGEST
        return FileFormatError(self.path, self.line, problem if whole else problem[:LONGEST] + "...")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Turns a ModelError of the block into a FileFormatError at this element."""
        try:
            yield
        except ModelError as error:
            raise self.error(str(error)) from None

    def walk(self) -> Iterator[Element]:
        """This element and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def child(self, tag: str) -> Element | None:
        """The first child called `tag`."""
        return next((c for c in self.children if c.tag == tag), None)

    def needed_child(self, tag: str) -> Element:
        found = self.child(tag)
        if found is None:
            raise self.error(f"{self} has no <{tag}>")
        return found

    def all(self, tag: str) -> list[Element]:
        return [c for c in self.children if c.tag == tag]

    def text(self, name: str) -> str:
        """A needed attribute that is not empty."""
        value = self.attributes.get(name, "")
        if not value.strip():
            raise self.error(f"{self} has no {name!r}")
        return value

    def number(self, name: str, default: float | None = None, largest: float = LARGEST) -> float:
        """A number of at most that size; needed when there is no default."""
        if name not in self.attributes and default is not None:
            return default
        return self._parse(name, self.text(name).strip(), largest)

    def numbers(self, name: str, count: int, default: tuple[float, ...] | None = None) -> tuple[Any, ...]:
        """A tuple of `count` floats separated by white space; needed when there is no default."""
        if name not in self.attributes and default is not None:
            return default
        words = self.text(name).split()
        if len(words) != count:
            raise self.error(f"{self}: {name!r} must be {count} numbers, not {shorten(self.attributes[name])}")
        return tuple(self._parse(name, word, LARGEST) for word in words)

    def _parse(self, name: str, word: str, largest: float) -> float:
        try:
            value = number(word)
        except ValueError:
            value = math.nan
        if not abs(value) <= largest:
            hint = " (unexpanded xacro?)" if "${" in word or "$(" in word else ""
            size = f" up to {LARGEST:g}" if math.isfinite(value) else ""
            raise self.error(f"{self}: {name!r} must be a finite number{size}, not {shorten(word)}{hint}")
        return value

    def __str__(self) -> str:
        name = self.attributes.get("name")
        return f"<{shorten(self.tag, quoted=False)}>" if name is None else f"{self.tag} {shorten(name)}"


def shorten(value: str, quoted: bool = True) -> str:
    """`value` on one line and of bounded length, for a message."""
    shown = value if len(value) <= SHOWN else value[:SHOWN] + "..."
    return repr(shown) if quoted else repr(shown)[1:-1]


def parse_xml(
    data: bytes | str,
    path: str,
    *,
    contents: bool = False,
    max_bytes: int = MAX_BYTES,
    max_elements: int = MAX_ELEMENTS,
) -> Element:
    """The root element of an XML document. Raises FileFormatError with the line; time and memory are bounded.

    contents: keep the text inside elements, which URDF has no use for.
    """
    if len(data) > max_bytes:
        raise FileFormatError(path, None, f"the file is larger than {max_bytes >> 20} MB")
    if not data.strip():
        raise FileFormatError(path, 1, "the file is empty")
    if isinstance(data, bytes) and b"\0" in data[:1024] and not data.startswith(_UTF16):
        raise FileFormatError(path, 1, "this is a binary file, not XML")
    if isinstance(data, str):
        data = data.removeprefix("\ufeff")
    builder = _Builder(path, contents, max_elements)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise FileFormatError(path, error.lineno, f"not well-formed XML: {expat.errors.messages[error.code]}") from None
    except (LookupError, ValueError) as error:  # an encoding that Python or expat does not know
        line = max(builder.parser.CurrentLineNumber, 1)
        raise FileFormatError(path, line, f"unreadable text encoding ({shorten(str(error), quoted=False)})") from None
    return builder.stack[0].children[0]


class _Builder:
    def __init__(self, path: str, contents: bool, max_elements: int) -> None:
        self.path = path
        self.max_elements = max_elements
        self.count = 0
        self.stack = [Element("", {}, path, 0)]
        self.parser = expat.ParserCreate()
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.texts: list[list[str]] = [[]]
        if contents:
            self.parser.buffer_text = True
            self.parser.CharacterDataHandler = self.text

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.count += 1
        if len(self.stack) > MAX_DEPTH:
            raise FileFormatError(self.path, line, f"elements are nested more than {MAX_DEPTH} deep")
        if self.count > self.max_elements:
            raise FileFormatError(self.path, line, f"more than {self.max_elements} elements")
        element = Element(tag, attributes, self.path, line)
        self.stack[-1].children.append(element)
        self.stack.append(element)
        self.texts.append([])

    def text(self, text: str) -> None:
        self.texts[-1].append(text)

    def end(self, tag: str) -> None:
        self.stack.pop().content = "".join(self.texts.pop())

    def doctype(self, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        raise FileFormatError(self.path, line, "document types and entities (<!DOCTYPE>) are not accepted")
