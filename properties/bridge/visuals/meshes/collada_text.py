"""Elements of a COLLADA document: what they name, and the numbers in them."""

from __future__ import annotations

from urllib.parse import unquote

import numpy as np

from .....robokin.urdf.xml import Element, shorten
from .bounds import numbers

_SHORT = 10_000  # characters of a text of a few numbers


def prepare(root: Element) -> dict[str, Element]:
    """{id: element}. Name spaces, whose prefixes differ between writers, are taken from the tags."""
    by_id: dict[str, Element] = {}
    rest = [root]
    while rest:
        element = rest.pop()
        element.tag = element.tag.rpartition(":")[2]
        name = element.attributes.get("id")
        if name:
            by_id[name] = element
        rest += element.children
    return by_id


def found(element: Element, path: str) -> Element | None:
    """The first element at `a/b/c` below."""
    inner: Element | None = element
    for tag in path.split("/"):
        inner = inner.child(tag) if inner is not None else None
    return inner


def needed(element: Element, path: str) -> Element:
    """What `found` finds. Raises FileFormatError when it is not there."""
    inner = found(element, path)
    if inner is None:
        raise element.error(f"{element} has no <{path}>")
    return inner


def target(element: Element, attribute: str, by_id: dict[str, Element]) -> Element:
    """The element that `#name` in an attribute means. Raises FileFormatError."""
    name = element.attributes.get(attribute, "").removeprefix("#")
    inner = by_id.get(name) or by_id.get(unquote(name))
    if inner is None:
        raise element.error(f"{element} names {shorten(name)}, which is not there")
    return inner


def floats(element: Element, count: int) -> np.ndarray:
    """(count,) numbers inside an element. Raises FileFormatError."""
    try:
        values = numbers(element.content if len(element.content) < _SHORT else "")
    except ValueError:
        values = np.zeros(0)
    if len(values) != count or not np.isfinite(values).all():
        raise element.error(f"{element} must be {count} numbers, not {shorten(element.content.strip())}")
    return values
