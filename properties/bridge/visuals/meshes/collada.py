"""COLLADA (.dae) files: polygons, diffuse colours and textures, the node tree, the unit and the up axis.

Blender 5 reads no COLLADA. Everything else of the format (animation, lights, physics) has no meaning for a link.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .....robokin import FileFormatError
from .....robokin.arrays import Array
from .....robokin.urdf.xml import Element, parse_xml
from .bounds import MAX_BYTES, MAX_ELEMENTS, Cost, read_bytes
from .collada_geometry import ColladaGeometry
from .collada_materials import ColladaMaterials
from .collada_text import floats, found, prepare, target
from .mesh_data import MeshData, joined, placed

# Rotation from the file's axes into Z up.
_UP = {
    "Z_UP": np.eye(4),
    "Y_UP": np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]),
    "X_UP": np.array([[0.0, -1, 0, 0], [0, 0, -1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]),
}


def read_collada(path: str) -> MeshData:
    """All geometry of the scene in metres, Z up. Raises FileFormatError naming the file and mostly the line."""
    root = parse_xml(read_bytes(path), path, contents=True, max_bytes=MAX_BYTES, max_elements=MAX_ELEMENTS)
    by_id = prepare(root)
    if root.tag != "COLLADA":
        raise FileFormatError(path, root.line, "is not a COLLADA file")
    return _Document(path, root, by_id).read()


class _Document:
    def __init__(self, path: str, root: Element, by_id: dict[str, Element]) -> None:
        self.root = root
        self.by_id = by_id
        self.cost = Cost(path)
        self.geometry = ColladaGeometry(by_id, self.cost)
        self.materials = ColladaMaterials(by_id, path)
        self.bound: dict[int, dict[str, str]] = {}

    def read(self) -> MeshData:
        T_file = self._up().copy()
        unit = found(self.root, "asset/unit")
        if unit is not None:
            T_file[:3, :3] *= unit.number("meter", 1.0)
        return joined(list(self._scene(T_file)))

    def _up(self) -> Array:
        """(4, 4) rotation into Z up. MeshLab, which knows no up axis, states Y_UP in every file it writes, also in
        those of robots whose meshes are Z up; RViz and Gazebo, which ignore the up axis, show them right."""
        tool = found(self.root, "asset/contributor/authoring_tool")
        up = found(self.root, "asset/up_axis")
        if tool is not None and "MeshLab" in tool.content:
            return np.eye(4)
        return _UP.get("Y_UP" if up is None else up.content.strip(), np.eye(4))

    def _scene(self, T_file: Array) -> Iterator[MeshData]:
        instance = found(self.root, "scene/instance_visual_scene")
        scene = found(self.root, "library_visual_scenes/visual_scene")
        if instance is not None:
            scene = target(instance, "url", self.by_id)
        if scene is None:
            for library in self.root.all("library_geometries"):
                for geometry in library.all("geometry"):
                    yield from self._instance(geometry, {}, T_file)
            return
        for node in scene.all("node"):
            yield from self._node(node, T_file, 0)

    def _node(self, node: Element, T_above: Array, depth: int) -> Iterator[MeshData]:
        T = T_above
        for child in node.children:
            self.cost.add_visit(depth)
            step = _transform(child)
            if step is not None:
                T = T @ step
        for child in node.children:
            if child.tag == "node":
                yield from self._node(child, T, depth + 1)
            elif child.tag == "instance_node":
                yield from self._node(target(child, "url", self.by_id), T, depth + 1)
            elif child.tag == "instance_geometry":
                yield from self._instance(target(child, "url", self.by_id), self._bound(child), T)
            elif child.tag == "instance_controller":
                skin = target(child, "url", self.by_id).child("skin")
                if skin is not None:
                    bind = skin.child("bind_shape_matrix")
                    shape = np.eye(4) if bind is None else floats(bind, 16).reshape(4, 4)
                    yield from self._instance(target(skin, "source", self.by_id), self._bound(child), T @ shape)

    def _bound(self, instance: Element) -> dict[str, str]:
        """{symbol used in the geometry: id of a material}."""
        if id(instance) not in self.bound:
            common = found(instance, "bind_material/technique_common")
            bound = [] if common is None else common.all("instance_material")
            self.bound[id(instance)] = {
                m.attributes.get("symbol", ""): m.attributes.get("target", "").lstrip("#") for m in bound
            }
        return self.bound[id(instance)]

    def _instance(self, geometry: Element, bound: dict[str, str], T: Array) -> Iterator[MeshData]:
        for symbol, part in self.geometry.parts(geometry):
            self.cost.add_visit(0)
            self.cost.add_corners(len(part.corners))
            material = self.materials.material(bound.get(symbol, symbol))
            moved = placed(part, T)
            slots = np.zeros(len(part.sizes), np.int64)
            yield MeshData(moved.vertices, moved.corners, moved.sizes, slots, moved.uv, (material,))


def _transform(element: Element) -> Array | None:
    if element.tag == "matrix":
        return floats(element, 16).reshape(4, 4)
    T = np.eye(4)
    if element.tag == "translate":
        T[:3, 3] = floats(element, 3)
    elif element.tag == "scale":
        T[:3, :3] = np.diag(floats(element, 3))
    elif element.tag == "rotate":
        x, y, z, degrees = floats(element, 4)
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
