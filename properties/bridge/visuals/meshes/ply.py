"""PLY files (Stanford), text and binary. No unit and no up axis: the numbers are taken as they are.

Blender's own importer ends the program on damaged headers, so it is never given one.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np

from .....robokin import FileFormatError
from .....robokin.arrays import Array
from .bounds import MAX_CORNERS, MAX_SIDES, Cost, count_of, numbers, read_bytes, whole
from .mesh_data import MeshData

_MAX_HEADER = 64 << 10
_MAX_NAMES = 256  # elements, and properties of each
_TYPES = {
    **dict.fromkeys(("char", "int8"), "i1"),
    **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"),
    **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"),
    **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"),
    **dict.fromkeys(("double", "float64"), "f8"),
}
_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_CORNERS = ("vertex_indices", "vertex_index")


@dataclass
class _Property:
    """`count`: the type of the number of entries before a list; None: a single value. Types as NumPy names them."""

    name: str
    type: str
    count: str | None = None


@dataclass
class _Element:
    name: str
    count: int
    properties: list[_Property] = field(default_factory=list)

    @property
    def has_lists(self) -> bool:
        return any(each.count is not None for each in self.properties)


def read_ply(path: str) -> MeshData:
    """Raises FileFormatError naming the file, ValueError."""
    data = read_bytes(path)
    header, end = _header(path, data)
    order, elements = _parsed(path, header)
    body = _Text(path, data[end:]) if order == "" else _Binary(path, data, end, order)
    vertices = np.zeros((0, 3))
    cost = Cost(path)
    for element in elements:
        if element.name == "vertex" and not element.has_lists:
            names = [each.name for each in element.properties]
            if not {"x", "y", "z"} <= set(names):
                raise FileFormatError(path, None, "its vertices have no x, y and z")
            vertices = np.column_stack([body.column(element, names.index(axis)) for axis in "xyz"])
            body.skip(element)
        elif element.name == "face":
            sizes, corners = body.lists(element, cost)
            return MeshData(vertices, corners, sizes)
        elif element.has_lists:
            body.lists(element, cost)
        else:
            body.skip(element)
    return MeshData(vertices, np.zeros(0, np.int64), np.zeros(0, np.int64))


def _header(path: str, data: bytes) -> tuple[list[str], int]:
    """(lines of the header, where the body begins)."""
    if data[:4].rstrip() != b"ply":
        raise FileFormatError(path, 1, "not a PLY file")
    at = data.find(b"\nend_header", 0, _MAX_HEADER)
    end = data.find(b"\n", at + 1, at + 20) if at >= 0 else -1
    if end < 0:
        raise FileFormatError(path, None, "its header has no end")
    return data[:at].decode("ascii", "replace").splitlines(), end + 1


def _parsed(path: str, lines: list[str]) -> tuple[str, list[_Element]]:
    """(byte order, "" for text; the elements)."""
    order: str | None = None
    elements: list[_Element] = []
    for number, line in enumerate(lines, 1):
        match line.split():
            case [] | ["ply" | "comment" | "obj_info", *_]:
                continue
            case ["format", name, _] if name in _ORDERS and order is None:
                order = _ORDERS[name]
            case ["element", name, count] if len(elements) < _MAX_NAMES:
                try:
                    elements.append(_Element(name[:40], count_of(count, MAX_CORNERS)))
                except ValueError as fault:
                    raise FileFormatError(path, number, f"the count of {name[:40]!r}: {fault}") from None
            case ["property", kind, name] if elements and kind in _TYPES:
                elements[-1].properties.append(_Property(name, _TYPES[kind]))
            case ["property", "list", count, kind, name] if elements and {count, kind} <= _TYPES.keys():
                if _TYPES[count][0] == "f":
                    raise FileFormatError(path, number, f"the number of entries of {name[:40]!r} cannot be a {count}")
                elements[-1].properties.append(_Property(name, _TYPES[kind], _TYPES[count]))
            case _:
                raise FileFormatError(path, number, f"its header has {line.strip()[:60]!r}, which is not of PLY")
        if elements and len(elements[-1].properties) > _MAX_NAMES:
            raise FileFormatError(path, number, f"more than {_MAX_NAMES} properties of {elements[-1].name!r}")
    if order is None:
        raise FileFormatError(path, None, "its header states no format")
    return order, elements


def _place_of_corners(element: _Element) -> int:
    places = [i for i, each in enumerate(element.properties) if each.count is not None and each.name in _CORNERS]
    return places[0] if places else -1


class _Text:
    """The body of a text file: one stream of numbers."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.values = numbers(data)
        self.at = 0

    def _need(self, count: int) -> None:
        if self.at + count > len(self.values):
            raise FileFormatError(self.path, None, "ends before its header says so")

    def column(self, element: _Element, place: int) -> Array:
        width = len(element.properties)
        self._need(element.count * width)
        return self.values[self.at + place : self.at + element.count * width : width]

    def skip(self, element: _Element) -> None:
        self.at += element.count * len(element.properties)

    def lists(self, element: _Element, cost: Cost) -> tuple[Array, Array]:
        wanted = _place_of_corners(element)
        sizes, places = array("q"), array("q")
        for _ in range(element.count):
            size = 0
            for place, each in enumerate(element.properties):
                self._need(1)
                entries = 1
                if each.count is not None:
                    entries = int(self.values[self.at]) if 0 <= self.values[self.at] <= MAX_CORNERS else MAX_CORNERS + 1
                    self.at += 1
                    self._need(entries)
                if place == wanted:
                    size = entries
                    cost.add_corners(entries)
                    places.extend(range(self.at, self.at + entries))
                self.at += entries
            sizes.append(size)
        return np.array(sizes, np.int64), whole(self.values[np.array(places, np.int64)])


class _Binary:
    """The body of a binary file."""

    def __init__(self, path: str, data: bytes, start: int, order: str) -> None:
        self.path = path
        self.data = data
        self.at = start
        self.order = order

    def _need(self, size: int) -> None:
        if self.at + size > len(self.data):
            raise FileFormatError(self.path, None, "ends before its header says so")

    def _record(self, element: _Element) -> np.dtype:
        return np.dtype([(f"p{i}", self.order + each.type) for i, each in enumerate(element.properties)])

    def column(self, element: _Element, place: int) -> Array:
        record = self._record(element)
        self._need(record.itemsize * element.count)
        return np.frombuffer(self.data, record, element.count, self.at)[f"p{place}"].astype(np.float64)

    def skip(self, element: _Element) -> None:
        size = self._record(element).itemsize * element.count
        self._need(size)
        self.at += size

    def lists(self, element: _Element, cost: Cost) -> tuple[Array, Array]:
        if not element.count:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        wanted = _place_of_corners(element)
        same = self._all_alike(element, wanted)
        if same is not None:
            cost.add_corners(same[1].size)
            return same
        sizes, found = [], []
        for _ in range(element.count):
            size = 0
            for place, each in enumerate(element.properties):
                entries = self._entries(each)
                item = np.dtype(self.order + each.type)
                self._need(entries * item.itemsize)
                if place == wanted:
                    size = entries
                    cost.add_corners(entries)
                    found.append(np.frombuffer(self.data, item, entries, self.at).astype(np.float64))
                self.at += entries * item.itemsize
            sizes.append(size)
        return np.array(sizes, np.int64), whole(np.concatenate(found) if found else np.zeros(0))

    def _entries(self, each: _Property) -> int:
        """How many values of this property come next."""
        if each.count is None:
            return 1
        item = np.dtype(self.order + each.count)
        self._need(item.itemsize)
        entries = int(np.frombuffer(self.data, item, 1, self.at)[0])
        self.at += item.itemsize
        if entries < 0:
            raise FileFormatError(self.path, None, "has a list of a negative number of entries")
        return entries

    def _all_alike(self, element: _Element, wanted: int) -> tuple[Array, Array] | None:
        """All at once, where every list is as long as the first one: so it is in most files."""
        start, fields, counts = self.at, [], []
        for i, each in enumerate(element.properties):
            entries = self._entries(each)
            if each.count is not None:
                fields.append((f"c{i}", self.order + each.count))
                counts.append((f"c{i}", entries))
            item = np.dtype(self.order + each.type)
            if entries > MAX_SIDES:
                break
            fields.append((f"p{i}", item, (entries,)))
            self.at += entries * item.itemsize
        size = self.at - start
        self.at = start
        if start + size * element.count > len(self.data) or len(fields) != len(element.properties) + len(counts):
            return None
        records = np.frombuffer(self.data, np.dtype(fields), element.count, start)
        if any((records[name] != entries).any() for name, entries in counts):
            return None
        self.at += size * element.count
        if wanted < 0:
            return np.zeros(element.count, np.int64), np.zeros(0, np.int64)
        corners = records[f"p{wanted}"].astype(np.float64)
        return np.full(element.count, corners.shape[1]), whole(corners.ravel())
