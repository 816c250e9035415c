"""The polygons of a COLLADA geometry."""

from __future__ import annotations

import numpy as np

from .....robokin.arrays import Array
from .....robokin.urdf.xml import Element
from .bounds import Cost, count_of, integers, numbers
from .collada_text import needed, target
from .mesh_data import MeshData, fans, strips

_POLYGONS = ("triangles", "polylist", "polygons", "trifans", "tristrips")
_MOST_INPUTS = 64
_MOST_STRIDE = 4096


class ColladaGeometry:
    """Geometries by element, each read once. `by_id`: the elements of the document by id."""

    def __init__(self, by_id: dict[str, Element], cost: Cost) -> None:
        self._by_id = by_id
        self._cost = cost
        self._read: dict[int, list[tuple[str, MeshData]]] = {}
        self._sources: dict[int, Array] = {}

    def parts(self, geometry: Element) -> list[tuple[str, MeshData]]:
        """(symbol of the material, polygons) of each primitive element. Raises FileFormatError."""
        if id(geometry) not in self._read:
            mesh = geometry.child("mesh")
            found = [] if mesh is None else [e for e in mesh.children if e.tag in _POLYGONS]
            self._read[id(geometry)] = [(e.attributes.get("material", ""), self._polygons(e)) for e in found]
        return self._read[id(geometry)]

    def _polygons(self, element: Element) -> MeshData:
        self._cost.add_visit(0)
        try:
            return self._of(element)
        except ValueError as fault:
            raise element.error(f"{element} {fault}") from None

    def _of(self, element: Element) -> MeshData:
        given = element.all("input")
        offsets = [count_of(each.attributes.get("offset", "0"), _MOST_INPUTS) for each in given]
        inputs: dict[str | None, tuple[int, Element]] = {}
        for offset, each in zip(offsets, given, strict=True):
            inputs.setdefault(each.attributes.get("semantic"), (offset, each))
        if "VERTEX" not in inputs:
            raise ValueError("has no <input> of vertices")
        stride = 1 + max(offsets)
        indices, sizes = _indices(element, stride)
        offset, source = inputs["VERTEX"]
        vertices = target(source, "source", self._by_id)
        positions = next((e for e in vertices.all("input") if e.attributes.get("semantic") == "POSITION"), None)
        if positions is None:
            raise vertices.error(f"{vertices} has no <input> of positions")
        points = self._source(positions)
        corners = indices[:, offset]
        if len(corners) and (corners.min() < 0 or corners.max() >= len(points)):
            raise ValueError("has a polygon with a corner that is not there")
        if points.shape[1] < 3:
            raise ValueError("has positions of less than three numbers")
        uv = None
        if "TEXCOORD" in inputs and len(corners):
            offset, source = inputs["TEXCOORD"]
            coordinates, places = self._source(source), indices[:, offset]
            if coordinates.shape[1] >= 2 and places.min() >= 0 and places.max() < len(coordinates):
                uv = coordinates[places, :2]
        # Primitives of one geometry share its points; each takes only its own.
        used, corners = np.unique(corners, return_inverse=True)
        return MeshData(points[used, :3], corners.ravel(), sizes, None, uv)

    def _source(self, element: Element) -> Array:
        """(n, width) numbers that an <input> names."""
        source = target(element, "source", self._by_id)
        if id(source) not in self._sources:
            accessor = needed(source, "technique_common/accessor")
            values = numbers(needed(source, "float_array").content)
            stride = count_of(accessor.attributes.get("stride", "1"), _MOST_STRIDE, 1)
            values = values[count_of(accessor.attributes.get("offset", "0"), len(values)) :]
            self._sources[id(source)] = values[: len(values) // stride * stride].reshape(-1, stride)
        return self._sources[id(source)]


def _indices(element: Element, stride: int) -> tuple[Array, Array]:
    """((corners, stride) indices, (polygons,) corner counts) of a primitive element. Raises ValueError."""
    texts = [*element.all("p"), *(p for ph in element.all("ph") for p in ph.all("p"))]
    rows = [integers(text.content) for text in texts]
    if any(len(each) % stride for each in rows):
        raise ValueError("has corners that do not fit its <input>s")
    counts = np.array([len(each) // stride for each in rows], np.int64)
    every = np.concatenate(rows).reshape(-1, stride) if rows else np.zeros((0, stride), np.int64)
    if element.tag == "triangles":
        return every[: len(every) // 3 * 3], np.full(len(every) // 3, 3)
    if element.tag == "polylist":
        vcount = element.child("vcount")
        sizes = integers(vcount.content) if vcount is not None else np.zeros(0, np.int64)
        if ((sizes < 0) | (sizes > len(every))).any() or sizes.sum() > len(every):
            raise ValueError("has a <vcount> that does not fit its corners")
        return every[: sizes.sum()], sizes
    if element.tag == "polygons":
        return every, counts
    form = fans if element.tag == "trifans" else strips
    begins = np.cumsum(counts) - counts
    places = [begin + form(count).ravel() for begin, count in zip(begins, counts, strict=True)]
    order = np.concatenate(places) if places else np.zeros(0, np.int64)
    return every[order], np.full(len(order) // 3, 3)
