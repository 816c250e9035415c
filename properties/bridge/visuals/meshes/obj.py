"""Wavefront OBJ files with their MTL materials. No unit and no up axis: the numbers are taken as they are."""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterator

import numpy as np

from .....robokin import FileFormatError
from .....robokin.files.resources import file_beside
from .bounds import MAX_CORNERS, MAX_LINE, MAX_MATERIALS, MAX_SIDE_BYTES, MAX_SIDE_FILES, read_bytes
from .mesh_data import FileMaterial, MeshData

PICTURES = (".png", ".jpg", ".jpeg", ".tga", ".bmp", ".tif", ".tiff")
_LARGEST_INDEX = 18  # digits


def read_obj(path: str) -> MeshData:
    """Raises FileFormatError naming file and line."""
    reader = _ObjReader(path)
    for line, words in _lines(path, read_bytes(path)):
        reader.line = line
        try:
            reader.read(words)
        except (ValueError, IndexError) as fault:
            raise FileFormatError(path, line, str(fault)) from None
        except FileFormatError as fault:
            raise fault if fault.line is not None else FileFormatError(path, line, fault.problem) from None
    return reader.mesh()


def _lines(path: str, data: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """(number, words) of each line that says something; a line that ends in a backslash goes on in the next."""
    pieces: list[bytes] = []
    size = 0
    for number, line in enumerate(io.BytesIO(data), 1):
        size += len(line)
        if size > MAX_LINE:
            raise FileFormatError(path, number, f"a line of more than {MAX_LINE >> 10} kB")
        if line.endswith((b"\\\n", b"\\\r\n")):
            pieces.append(line.rstrip()[:-1])
            continue
        words = b" ".join([*pieces, line]).split()
        pieces, size = [], 0
        if words and not words[0].startswith(b"#"):
            yield number, words


class _ObjReader:
    """`line`: the number of the line that is read. Indices of corners count from 0; -1: there is none."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.line = 0
        self.points = array("d")
        self.texture = array("d")
        self.corners = array("q")
        self.texture_corners = array("q")
        self.sizes = array("q")
        self.slots = array("q")
        self.slot = 0
        self.names: dict[str, int] = {"": 0}
        self.library: dict[str, FileMaterial] = {}
        self.libraries: set[str] = set()

    def read(self, words: list[bytes]) -> None:
        word = words[0]
        if word == b"v":
            self.points.extend(_floats(words[1:4], 3, "vertex"))
        elif word == b"f":
            self._face(words[1:])
        elif word == b"vt":
            self.texture.extend(_floats([*words[1:3], b"0"][:2], 2, "texture coordinate"))
        elif word == b"usemtl":
            self.slot = self.names.setdefault(_text(words), len(self.names))
            if len(self.names) > MAX_MATERIALS:
                raise ValueError(f"has more than {MAX_MATERIALS} materials")
        elif word == b"mtllib":
            self._materials(_text(words))
        if len(self.points) + len(self.texture) + len(self.corners) > 5 * MAX_CORNERS:
            raise ValueError(f"its polygons have more than {MAX_CORNERS} corners")

    def _face(self, corners: list[bytes]) -> None:
        if len(corners) < 3:
            raise ValueError("a face needs three corners")
        n_points, n_texture = len(self.points) // 3, len(self.texture) // 2
        for corner in corners:
            first, _, rest = corner.partition(b"/")
            place = _index(first, n_points)
            if not 0 <= place < n_points:
                raise ValueError("has a face with a corner that is not there")
            self.corners.append(place)
            second = rest.partition(b"/")[0] if rest else b""
            uv = _index(second, n_texture) if second else -1
            self.texture_corners.append(uv if 0 <= uv < n_texture else -1)
        self.sizes.append(len(corners))
        self.slots.append(self.slot)

    def _materials(self, name: str) -> None:
        """The materials of a library; a missing one is left out, as in every reader of OBJ."""
        path = file_beside(self.path, name, (".mtl",))
        if path is None or path in self.libraries:
            return
        self.libraries.add(path)
        if len(self.libraries) > MAX_SIDE_FILES:
            raise ValueError(f"names more than {MAX_SIDE_FILES} files of materials")
        self.library |= _read_mtl(path)

    def mesh(self) -> MeshData:
        indices = np.array(self.texture_corners, np.int64)
        uv = None
        if len(self.texture) and len(indices) and (indices >= 0).all():
            uv = np.array(self.texture, np.float64).reshape(-1, 2)[indices]
        return MeshData(
            np.array(self.points, np.float64).reshape(-1, 3),
            np.array(self.corners, np.int64),
            np.array(self.sizes, np.int64),
            np.array(self.slots, np.int64),
            uv,
            tuple(self.library.get(name, FileMaterial(name)) for name in self.names),
        )


def _floats(words: list[bytes], width: int, what: str) -> list[float]:
    try:
        found = [float(word) for word in words]
    except ValueError:
        found = []
    if len(found) != width:
        raise ValueError(f"a {what} is not {width} numbers")
    return found


def _index(word: bytes, count: int) -> int:
    """The place of the one named: the first is 1, the last one so far -1."""
    if len(word) > _LARGEST_INDEX or not word.lstrip(b"-").isdigit():
        raise ValueError("has a face whose corners are not numbers")
    number = int(word)
    return number + count if number < 0 else number - 1


def _text(words: list[bytes]) -> str:
    return b" ".join(words[1:]).decode("utf-8", "replace")


def _read_mtl(path: str) -> dict[str, FileMaterial]:
    """Diffuse colours and textures."""
    found: dict[str, FileMaterial] = {}
    name, rgb, alpha, picture = "", None, 1.0, None

    def keep() -> None:
        if name:
            found[name] = FileMaterial(name, None if rgb is None else (*rgb, alpha), picture)

    for line, words in _lines(path, read_bytes(path, MAX_SIDE_BYTES)):
        if len(words) < 2:
            continue
        if words[0] == b"newmtl":
            keep()
            if len(found) >= MAX_MATERIALS:
                raise FileFormatError(path, line, f"has more than {MAX_MATERIALS} materials")
            name, rgb, alpha, picture = _text(words), None, 1.0, None
        elif words[0] == b"map_Kd":
            # Options stand before the name, which may have spaces.
            whole = file_beside(path, _text(words), PICTURES)
            picture = whole or file_beside(path, words[-1].decode("utf-8", "replace"), PICTURES)
        else:
            try:
                if words[0] == b"Kd":
                    red, green, blue = (min(max(value, 0.0), 1.0) for value in _floats(words[1:4], 3, "colour"))
                    rgb = (red, green, blue)
                elif words[0] == b"d":
                    alpha = min(max(float(words[-1]), 0.0), 1.0)
            except ValueError:
                continue  # a colour that cannot be read leaves the default one
    keep()
    return found
