"""glTF 2.0 files (.gltf, .glb): polygons, base colours and their textures, the node tree. Metres; turned from Y
up to Z up where that is asked for. Animation, skins, morphs, cameras and lights have no meaning for a link.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .....robokin import FileFormatError
from .....robokin.arrays import Array
from .bounds import Cost, whole
from .gltf_data import GltfData, listed, number_list, place
from .gltf_materials import GltfMaterials
from .mesh_data import FileMaterial, MeshData, fans, joined, placed, strips

Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_COMPRESSED = ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression")


def read_gltf(path: str, y_up: bool = False) -> MeshData:
    """Read a glTF file, text or binary. Raises FileFormatError naming the file."""
    return _Scene(path, GltfData(path), Y_UP if y_up else np.eye(4)).read()


class _Scene:
    def __init__(self, path: str, data: GltfData, T_file: Array) -> None:
        self.path = path
        self.T_file = T_file
        self.data = data
        self.cost = Cost(path)
        self.materials = GltfMaterials(data)
        self.meshes: dict[int, list[MeshData]] = {}

    def read(self) -> MeshData:
        try:
            for name in listed(self.data.root, "extensionsRequired"):
                if name in _COMPRESSED:
                    raise ValueError(f"it is compressed ({name}), which is not supported: save it without")
            return joined(list(self._parts()))
        except (
            ValueError,
            TypeError,
            AttributeError,
            RecursionError,
        ) as fault:  # a list where an object belongs, and the like
            raise FileFormatError(self.path, None, f"not glTF as it should be: {fault}") from None

    def _parts(self) -> Iterator[MeshData]:
        nodes, scenes = self.data.all("nodes"), self.data.all("scenes")
        if scenes:
            roots = listed(scenes[place(self.data.root.get("scene", 0), scenes, "scene")], "nodes")
        else:
            below = {child for node in nodes for child in listed(node, "children") if isinstance(child, int)}
            roots = [i for i in range(len(nodes)) if i not in below]
        for root in roots:
            yield from self._node(root, self.T_file, 0)

    def _node(self, index: object, T_above: Array, depth: int) -> Iterator[MeshData]:
        self.cost.add_visit(depth)
        nodes = self.data.all("nodes")
        node = nodes[place(index, nodes, "node")]
        T = T_above @ _transform(node)
        if "mesh" in node:
            for part in self._mesh(node["mesh"]):
                self.cost.add_visit(depth)
                self.cost.add_corners(len(part.corners))
                # A skin moves its mesh by bones alone; they rest where the mesh is.
                yield placed(part, self.T_file if "skin" in node else T)
        for child in listed(node, "children"):
            yield from self._node(child, T, depth + 1)

    def _mesh(self, index: object) -> list[MeshData]:
        meshes = self.data.all("meshes")
        at = place(index, meshes, "mesh")
        if at not in self.meshes:
            self.meshes[at] = [self._primitive(each) for each in listed(meshes[at], "primitives")]
        return self.meshes[at]

    def _primitive(self, primitive: dict[str, Any]) -> MeshData:
        self.cost.add_visit(0)
        attributes = primitive.get("attributes", {})
        mode = primitive.get("mode", _TRIANGLES)
        if mode not in (_TRIANGLES, _STRIP, _FAN) or "POSITION" not in attributes:
            return joined([])
        points = self.data.accessor(attributes["POSITION"], 3)
        if "indices" in primitive:
            indices = whole(self.data.accessor(primitive["indices"], 1).ravel())
        else:
            indices = np.arange(len(points))
        if mode == _TRIANGLES:
            corners = indices[: len(indices) // 3 * 3]
        else:
            corners = indices[(strips if mode == _STRIP else fans)(len(indices)).ravel()]
        if len(corners) and (corners.min() < 0 or corners.max() >= len(points)):
            raise ValueError("a polygon with a corner that is not there")
        material, channel = FileMaterial(""), 0
        if "material" in primitive:
            material, channel = self.materials.material(primitive["material"])
        uv = None
        if material.texture is not None and f"TEXCOORD_{channel}" in attributes:
            uv = self.data.accessor(attributes[f"TEXCOORD_{channel}"], 2)
            # Pictures begin at the top in glTF, at the bottom in Blender.
            uv = np.column_stack((uv[:, 0], 1.0 - uv[:, 1]))[corners] if len(uv) >= len(points) else None
        # Primitives of one mesh may share their points; each takes only its own.
        used, corners = np.unique(corners, return_inverse=True)
        slots = np.zeros(len(corners) // 3, np.int64)
        return MeshData(points[used], corners.ravel(), np.full(len(corners) // 3, 3), slots, uv, (material,))


def _transform(node: dict[str, Any]) -> Array:
    """(4, 4) of a node, in the frame of the one above."""
    if "matrix" in node:
        return number_list(node["matrix"], 16).reshape(4, 4).T
    T = np.eye(4)
    if "rotation" in node:
        x, y, z, w = number_list(node["rotation"], 4)
        square = x * x + y * y + z * z + w * w
        if square > 0.0:
            s = 2.0 / square
            T[:3, :3] = [
                [1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
                [s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)],
                [s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)],
            ]
    T[:3, :3] *= number_list(node.get("scale", [1, 1, 1]), 3)
    T[:3, 3] = number_list(node.get("translation", [0, 0, 0]), 3)
    return T
