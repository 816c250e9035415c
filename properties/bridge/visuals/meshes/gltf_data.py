"""The JSON of a glTF file and the numbers in its buffers, with every offset and count checked before it is used."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import unquote

import numpy as np

from .....robokin import FileFormatError
from .....robokin.arrays import Array
from .....robokin.files.resources import file_beside
from .bounds import LARGEST, MAX_BYTES, MAX_CORNERS, MAX_SIDE_FILES, count_of, read_bytes

_MAX_ENTRIES = 100_000  # of a list of the document
_JSON, _BINARY = 0x4E4F534A, 0x004E4942
_TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_INDEX_TYPES = (5121, 5123, 5125)
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


class GltfData:
    """`root`: the document. Raises FileFormatError."""

    def __init__(self, path: str) -> None:
        self.path = path
        data = read_bytes(path)
        self._binary: bytes | None = None
        self._remaining = MAX_BYTES  # of all buffers together
        self._files = 0
        self._buffers: dict[int, bytes] = {}
        self._accessors: dict[tuple[int, int], Array] = {}
        text = self._chunks(data) if data[:4] == b"glTF" else data
        try:
            root = json.loads(text)
        except RecursionError:
            raise FileFormatError(path, None, "its JSON is nested too deep") from None
        except ValueError as fault:
            raise FileFormatError(path, getattr(fault, "lineno", None), f"is not JSON: {str(fault)[:200]}") from None
        version = root.get("asset") if isinstance(root, dict) else None
        if not isinstance(version, dict) or not str(version.get("version", "")).startswith("2."):
            raise FileFormatError(path, None, "is not glTF 2.0")
        self.root: dict[str, Any] = root
        for name in ("nodes", "scenes", "meshes", "accessors", "bufferViews", "buffers", "materials", "textures"):
            self.all(name)

    def _chunks(self, data: bytes) -> bytes:
        """The JSON of a .glb, whose binary part is kept."""
        if len(data) < 20 or int.from_bytes(data[4:8], "little") != 2:
            raise FileFormatError(self.path, None, "is not glTF 2.0")
        at, text = 12, None
        while at + 8 <= len(data):
            size, kind = int.from_bytes(data[at : at + 4], "little"), int.from_bytes(data[at + 4 : at + 8], "little")
            if at + 8 + size > len(data):
                raise FileFormatError(self.path, None, "is cut off")
            chunk = data[at + 8 : at + 8 + size]
            if kind == _JSON and text is None:
                text = chunk
            elif kind == _BINARY and self._binary is None:
                self._binary = chunk
            at += 8 + size
        if text is None:
            raise FileFormatError(self.path, None, "has no JSON inside")
        return text

    def all(self, name: str) -> list[dict[str, Any]]:
        """The objects of a list of the document; none where it is absent."""
        found = self.root.get(name, [])
        if not isinstance(found, list) or len(found) > _MAX_ENTRIES or not all(isinstance(e, dict) for e in found):
            raise FileFormatError(self.path, None, f"its {name} are not a list of up to {_MAX_ENTRIES} objects")
        return found

    def accessor(self, index: object, width: int) -> Array:
        """(n, width) numbers. Raises ValueError, FileFormatError."""
        accessors = self.all("accessors")
        at = place(index, accessors, "accessor")
        if (at, width) not in self._accessors:
            try:
                self._accessors[at, width] = self._values(accessors[at], width)
            except ValueError as fault:
                raise ValueError(f"accessor {at}: {fault}") from None
        return self._accessors[at, width]

    def _values(self, accessor: dict[str, Any], width: int) -> Array:
        count = count_of(accessor.get("count"), MAX_CORNERS)
        if _WIDTHS.get(str(accessor.get("type"))) != width:
            raise ValueError(f"its type is {str(accessor.get('type'))[:40]!r}, not of {width} numbers")
        kind = accessor.get("componentType")
        if "bufferView" in accessor:
            raw = self._array(accessor, kind, count, width)
        else:
            self._take(8 * count * width)
            raw = np.zeros((count, width))
        values = raw.astype(np.float64)
        if accessor.get("normalized") and raw.dtype.kind in "iu":
            values = np.maximum(values / np.iinfo(raw.dtype).max, -1.0)
        if isinstance(sparse := accessor.get("sparse"), dict):
            some = count_of(sparse.get("count"), count)
            at, to = sparse.get("indices", {}), sparse.get("values", {})
            if at.get("componentType") not in _INDEX_TYPES:
                raise ValueError("its sparse indices are no whole numbers")
            places = self._array(at, at.get("componentType"), some, 1).ravel().astype(np.int64)
            if len(places) and places.max() >= count:
                raise ValueError("a sparse index beyond its end")
            values[places] = self._array(to, kind, some, width)
        if not (np.abs(values) <= LARGEST).all():
            raise ValueError(f"it has numbers that are not finite or above {LARGEST:g}")
        return values

    def _array(self, owner: dict[str, Any], kind: object, count: int, width: int) -> Array:
        """(count, width) numbers of a buffer view, as they are stored."""
        if not isinstance(kind, int) or kind not in _TYPES:
            raise ValueError(f"unknown componentType {str(kind)[:40]!r}")
        item = np.dtype(_TYPES[kind])
        view = self.view(owner.get("bufferView"))
        stride = count_of(self._view_of(owner).get("byteStride", item.itemsize * width), 4096, item.itemsize * width)
        offset = count_of(owner.get("byteOffset", 0), len(view))
        if count and offset + stride * (count - 1) + item.itemsize * width > len(view):
            raise ValueError("it goes beyond its buffer view")
        if not count:
            return np.zeros((0, width), item)
        return np.ndarray((count, width), item, view, offset, (stride, item.itemsize))

    def _view_of(self, owner: dict[str, Any]) -> dict[str, Any]:
        views = self.all("bufferViews")
        return views[place(owner.get("bufferView"), views, "bufferView")]

    def view(self, index: object) -> memoryview:
        """The bytes of a buffer view. Raises ValueError, FileFormatError."""
        views = self.all("bufferViews")
        view = views[place(index, views, "bufferView")]
        data = self._buffer(view.get("buffer"))
        offset = count_of(view.get("byteOffset", 0), len(data))
        length = count_of(view.get("byteLength"), len(data) - offset)
        return memoryview(data)[offset : offset + length]

    def _buffer(self, index: object) -> bytes:
        buffers = self.all("buffers")
        at = place(index, buffers, "buffer")
        if at not in self._buffers:
            uri = buffers[at].get("uri")
            if uri is None and at == 0 and self._binary is not None:
                data = self._binary
            else:
                data = self.bytes_of(uri, (".bin", ".glbin", ".glbuf"))
            self._buffers[at] = data[: count_of(buffers[at].get("byteLength"), len(data))]
        return self._buffers[at]

    def bytes_of(self, uri: object, endings: tuple[str, ...]) -> bytes:
        """What a uri holds, or the file beside this one that it names. Raises ValueError, FileFormatError."""
        if not isinstance(uri, str):
            raise ValueError("a buffer without data")
        if uri.startswith("data:"):
            head, mark, text = uri.partition(",")
            if not mark or not head.endswith(";base64"):
                raise ValueError(f"data {head[:40]!r} that is not base64")
            return base64.b64decode(text, validate=True)
        path = file_beside(self.path, unquote(uri), endings)
        if path is None:
            raise ValueError(f"{uri[:100]!r} is not there, or outside the robot's folders, or no {endings[0]}")
        self._files += 1
        if self._files > MAX_SIDE_FILES:
            raise ValueError(f"more than {MAX_SIDE_FILES} files")
        data = read_bytes(path)
        self._take(len(data))
        return data

    def _take(self, size: int) -> None:
        self._remaining -= size
        if self._remaining < 0:
            raise ValueError(f"the data are larger than {MAX_BYTES >> 20} MB")


def place(index: object, items: list, what: str) -> int:
    """An index into a list. Raises ValueError."""
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(items):
        raise ValueError(f"{what} {str(index)[:40]} is not there")
    return index


def listed(owner: dict[str, Any], name: str) -> list:
    """A list inside an object, which may be absent. Raises ValueError."""
    found = owner.get(name, [])
    if not isinstance(found, list):
        raise ValueError(f"{name} is no list")
    return found


def number_list(value: object, count: int) -> Array:
    """(count,) finite numbers. Raises ValueError."""
    good = isinstance(value, list) and len(value) == count
    if not good or not all(isinstance(v, (int, float)) and abs(v) <= LARGEST for v in value):
        raise ValueError(f"{str(value)[:60]} are not {count} numbers")
    return np.array(value, np.float64)
