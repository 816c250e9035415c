"""COLLADA (.dae) files: polygons, diffuse colours and textures, the node tree, the unit and the up axis.

Blender 5 reads no COLLADA. Everything else of the format (animation, lights, physics) has no meaning for a link.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from urllib.parse import unquote

import numpy as np

from ....robokin import FileFormatError
from .collada_materials import ColladaMaterials
from .mesh_data import MeshData, joined

Array = np.ndarray

_DEPTH = 200  # nodes within nodes; deeper is a circle or an attack
_POLYGONS = ("triangles", "polylist", "polygons", "trifans", "tristrips")
# Rotation from the file's axes into Z up.
_UP = {
    "Z_UP": np.eye(4),
    "Y_UP": np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]),
    "X_UP": np.array([[0.0, -1, 0, 0], [0, 0, -1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]),
}


def read_collada(path: str) -> MeshData:
    """All geometry of the scene in metres, Z up. Raises FileFormatError naming the file."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise FileFormatError(path, None, "has a document type definition, which no COLLADA file needs")
        root = ET.fromstring(data)
        return _Document(path, root).read()
    except ET.ParseError as fault:
        raise FileFormatError(path, fault.position[0], f"is not well-formed XML ({fault})") from None
    except (ValueError, IndexError, KeyError, TypeError, AttributeError) as fault:
        raise FileFormatError(path, None, f"is not a COLLADA file that can be read ({fault})") from None


class _Document:
    def __init__(self, path: str, root: ET.Element) -> None:
        if _tag(root) != "COLLADA":
            raise FileFormatError(path, None, "is not a COLLADA file")
        self.path = path
        self.root = root
        for element in root.iter():
            element.tag = _tag(element)  # names without the name space, which differs between versions
        self.by_id = {e.get("id"): e for e in root.iter() if e.get("id")}
        self.materials = ColladaMaterials(self.by_id, os.path.dirname(path))
        self.geometries: dict[str, list[tuple[str, MeshData]]] = {}

    def read(self) -> MeshData:
        unit = self.root.find("asset/unit")
        T_file = self._up().copy()
        T_file[:3, :3] *= float(unit.get("meter", 1.0)) if unit is not None else 1.0
        parts = list(self._scene(T_file))
        if not parts:
            raise FileFormatError(self.path, None, "has no polygons")
        mesh = joined(parts)
        if not np.isfinite(mesh.vertices).all():
            raise FileFormatError(self.path, None, "has coordinates that are not finite numbers")
        return mesh

    def _up(self) -> Array:
        """(4, 4) rotation into Z up. MeshLab, which knows no up axis, states Y_UP in every file it writes, also in
        those of robots whose meshes are Z up; RViz and Gazebo, which ignore the up axis, show them right."""
        tool = self.root.findtext("asset/contributor/authoring_tool", "")
        up = self.root.findtext("asset/up_axis", "Y_UP").strip()
        return np.eye(4) if "MeshLab" in tool else _UP.get(up, np.eye(4))

    def _scene(self, T_file: Array) -> Iterator[MeshData]:
        instance = self.root.find("scene/instance_visual_scene")
        scene = self._target(instance) if instance is not None else self.root.find("library_visual_scenes/visual_scene")
        if scene is None:
            for geometry in self.root.iterfind("library_geometries/geometry"):
                yield from self._instance(geometry, {}, T_file)
            return
        for node in scene.iterfind("node"):
            yield from self._node(node, T_file, 0)

    def _node(self, node: ET.Element, T_above: Array, depth: int) -> Iterator[MeshData]:
        if depth > _DEPTH:
            raise FileFormatError(self.path, None, "its nodes contain each other")
        T = T_above
        for child in node:
            step = _transform(child)
            if step is not None:
                T = T @ step
        for child in node:
            if child.tag == "node":
                yield from self._node(child, T, depth + 1)
            elif child.tag == "instance_node":
                yield from self._node(self._target(child), T, depth + 1)
            elif child.tag == "instance_geometry":
                yield from self._instance(self._target(child), self._bound(child), T)
            elif child.tag == "instance_controller":
                skin = self._target(child).find("skin")
                if skin is not None:
                    bind = skin.find("bind_shape_matrix")
                    shape = np.eye(4) if bind is None else _floats(bind).reshape(4, 4)
                    yield from self._instance(self.by_id[skin.get("source")[1:]], self._bound(child), T @ shape)

    def _target(self, instance: ET.Element) -> ET.Element:
        return self.by_id[unquote(instance.get("url", "")).lstrip("#")]

    def _bound(self, instance: ET.Element) -> dict[str, str]:
        """{symbol used in the geometry: id of a material}."""
        bound = instance.iterfind("bind_material/technique_common/instance_material")
        return {m.get("symbol", ""): m.get("target", "").lstrip("#") for m in bound}

    def _instance(self, geometry: ET.Element, bound: dict[str, str], T: Array) -> Iterator[MeshData]:
        name = geometry.get("id", "")
        if name not in self.geometries:
            mesh = geometry.find("mesh")
            self.geometries[name] = [] if mesh is None else list(self._primitives(mesh))
        for symbol, part in self.geometries[name]:
            material = self.materials.material(bound.get(symbol, symbol))
            vertices = part.vertices @ T[:3, :3].T + T[:3, 3]
            corners, uv = part.corners, part.uv
            if np.linalg.det(T[:3, :3]) < 0:  # mirrored: turn the polygons' order back
                order = _reversed_polygons(part.sizes, part.starts)
                corners, uv = corners[order], None if uv is None else uv[order]
            yield MeshData(vertices, corners, part.sizes, np.zeros(len(part.sizes), int), uv, (material,))

    def _primitives(self, mesh: ET.Element) -> Iterator[tuple[str, MeshData]]:
        for element in mesh:
            if element.tag in _POLYGONS:
                part = self._polygons(element)
                if part is not None:
                    yield element.get("material", ""), part

    def _polygons(self, element: ET.Element) -> MeshData | None:
        offsets = {i.get("semantic"): (int(i.get("offset", 0)), i) for i in reversed(element.findall("input"))}
        stride = 1 + max(int(i.get("offset", 0)) for i in element.iterfind("input"))
        indices, sizes = _indices(element, stride)
        if not len(sizes):
            return None
        offset, source = offsets["VERTEX"]
        position = self._source(self.by_id[source.get("source")[1:]].find("input[@semantic='POSITION']"))[:, :3]
        corners = indices[:, offset]
        if corners.min() < 0 or corners.max() >= len(position):
            raise FileFormatError(self.path, None, "has a polygon with a corner that is not there")
        uv = None
        if "TEXCOORD" in offsets:
            offset, source = offsets["TEXCOORD"]
            coordinates = self._source(source)
            if coordinates.shape[1] >= 2 and len(coordinates) > indices[:, offset].max():
                uv = coordinates[indices[:, offset], :2]
        return MeshData(position, corners, sizes, None, uv)

    def _source(self, element: ET.Element) -> Array:
        source = self.by_id[element.get("source")[1:]]
        accessor = source.find("technique_common/accessor")
        stride = int(accessor.get("stride", 1))
        values = _floats(source.find("float_array"))[int(accessor.get("offset", 0)) :]
        return values[: len(values) // stride * stride].reshape(-1, stride)


def _indices(element: ET.Element, stride: int) -> tuple[Array, Array]:
    """((corners, stride) indices, (polygons,) corner counts) of a primitive element."""
    texts = [_integers(p).reshape(-1, stride) for p in (*element.iterfind("p"), *element.iterfind("ph/p"))]
    if element.tag == "triangles":
        rows = np.concatenate(texts) if texts else np.zeros((0, stride), int)
        return rows[: len(rows) // 3 * 3], np.full(len(rows) // 3, 3)
    if element.tag == "polylist":
        sizes = _integers(element.find("vcount"))
        return np.concatenate(texts)[: sizes.sum()], sizes
    if element.tag == "polygons":
        return np.concatenate(texts), np.array([len(rows) for rows in texts], int)
    triangles = []
    for rows in texts:
        for i in range(len(rows) - 2):
            if element.tag == "trifans":
                triangles.append(rows[[0, i + 1, i + 2]])
            else:
                triangles.append(rows[[i, i + 1, i + 2]] if i % 2 == 0 else rows[[i + 1, i, i + 2]])
    return np.concatenate(triangles), np.full(len(triangles), 3)


def _transform(element: ET.Element) -> Array | None:
    if element.tag == "matrix":
        return _floats(element).reshape(4, 4)
    T = np.eye(4)
    if element.tag == "translate":
        T[:3, 3] = _floats(element)
    elif element.tag == "scale":
        T[:3, :3] = np.diag(_floats(element))
    elif element.tag == "rotate":
        x, y, z, degrees = _floats(element)
        T[:3, :3] = _rotation(np.array([x, y, z]), np.radians(degrees))
    else:
        return None
    return T


def _rotation(axis: Array, angle: float) -> Array:
    """Rodrigues' formula."""
    length = np.linalg.norm(axis)
    if length < 1e-12:
        return np.eye(3)
    x, y, z = axis / length
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def _reversed_polygons(sizes: Array, starts: Array) -> Array:
    """(corners,) order that goes round every polygon the other way."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(sizes.sum()) - starts[owner]
    return starts[owner] + sizes[owner] - 1 - within


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _floats(element: ET.Element) -> Array:
    return np.array((element.text or "").split(), dtype=np.float64)


def _integers(element: ET.Element) -> Array:
    return np.array((element.text or "").split(), dtype=np.int64)
