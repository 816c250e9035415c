"""What the links look like: one object per visual, parented to the bone of its link."""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Collection

import bmesh
import bpy
import numpy as np
from mathutils import Matrix

from ....robokin import FileFormatError, RobokinError
from ....robokin.arrays import Array
from ....robokin.files.resources import missing_meshes
from ....robokin.kinematics import rest_placements
from ....robokin.model.geometry import Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere
from ....robokin.model.robot import RobotModel
from ....robokin.spatial.se3 import translation
from ....robokin.units import counted
from ..model.binding import Binding
from .materials import MaterialShelf
from .meshes import FORMATS, MAX_ROBOT_CORNERS, FileMaterial, MeshData, is_supported, read_mesh

SHOWS = "robokin_visual"  # on an object: which of its link's visuals it shows
MADE = "robokin_mesh"  # on a mesh: fingerprint of what was read from the file, to notice that it was edited
_SHARP = math.radians(35.0)
_SEGMENTS = 32
_LISTED = 10  # meshes that are left out, each with its reason


class VisualMeshes:
    """The mesh data of a robot's visuals, read once per file before anything is made in the scene.

    `warnings`: what was left out and why, file by file. No mesh is a reason to refuse a robot.
    """

    def __init__(self, model: RobotModel) -> None:
        self.warnings: list[str] = []
        self._files: dict[tuple[str, bool], MeshData] = {}
        self._made: dict[object, bpy.types.Mesh] = {}
        self._shelf = MaterialShelf()
        shapes = [g.shape for link in model.links for g in link.visuals if isinstance(g.shape, Mesh)]
        unsupported = {shape.filename for shape in shapes if not is_supported(shape.filename)}
        if unsupported:
            names = sorted(os.path.basename(name) for name in unsupported)
            shown = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
            valid = ", ".join(ending[1:].upper() for ending in FORMATS)
            self.warnings.append(f"{len(names)} mesh(es) left out, format not supported: {shown} (valid: {valid})")
        missing = missing_meshes(model)
        problems = [each for each in missing if not any(f"mesh {n!r} not found" in each.problem for n in unsupported)]
        found = {(s.path, s.y_up) for s in shapes if s.path is not None and s.filename not in unsupported}
        corners = 0
        for path, y_up in sorted(found):
            try:
                data = read_mesh(path, y_up)
                corners += len(data.corners)
                if corners > MAX_ROBOT_CORNERS:
                    raise FileFormatError(path, None, f"the robot's meshes have more than {MAX_ROBOT_CORNERS} corners")
                self._files[path, y_up] = data
            except FileFormatError as problem:
                problems.append(problem)
        self.warnings += [f"mesh left out: {problem}" for problem in problems[:_LISTED]]
        if len(problems) > _LISTED:
            self.warnings.append(f"{counted(len(problems) - _LISTED, 'more mesh', 'more meshes')} left out")

    def new_object(self, name: str, geometry: Geometry) -> bpy.types.Object | None:
        """An object that shows `geometry`, in metres, not yet placed; None for a mesh that is left out."""
        mesh = self._mesh(geometry.shape)
        if mesh is None:
            return None
        obj = bpy.data.objects.new(name, mesh)
        own = geometry.material
        for slot in obj.material_slots:
            # A material of the mesh file wins, as in RViz; the description's serves where the file states none.
            if slot.material is None:
                slot.link = "OBJECT"
                stated = FileMaterial("") if own is None else FileMaterial(own.name, own.rgba, own.texture_path)
                slot.material = self._shelf.material(stated)
        return obj

    def _mesh(self, shape: Shape) -> bpy.types.Mesh | None:
        key: object = (shape.path, shape.y_up) if isinstance(shape, Mesh) else shape
        if isinstance(shape, Mesh) and key not in self._files:
            return None
        if key not in self._made:
            if isinstance(shape, Mesh):
                name = bpy.path.display_name_from_filepath(str(shape.path))
                made = _from_arrays(name, self._files[str(shape.path), shape.y_up], self._shelf)
                if not len(made.polygons):
                    self.warnings.append(f"{shape.path}: all its polygons are points or lines, nothing is shown")
            else:
                made = _from_primitive(shape)
            if not made.materials:
                made.materials.append(None)
            made[MADE] = fingerprint(made)
            self._made[key] = made
        return self._made[key]


def unfound_meshes(model: RobotModel) -> list[str]:
    """File names of the meshes that were not found."""
    shapes = [geometry.shape for link in model.links for geometry in (*link.visuals, *link.collisions)]
    return list(dict.fromkeys(s.filename for s in shapes if isinstance(s, Mesh) and s.path is None))


def add_visuals(
    obj: bpy.types.Object,
    robot: Binding,
    meshes: VisualMeshes,
    collection: bpy.types.Collection,
    chosen: Collection[tuple[str, int]] | None = None,
) -> list[bpy.types.Object]:
    """Put the visuals of every link into `collection`, each moving with its bone. chosen: (bone, index) of some."""
    made = []
    places = rest_placements(robot.model)
    for link, bone, place in zip(robot.model.links, robot.bones, places, strict=True):
        for i, geometry in enumerate(link.visuals):
            if chosen is not None and (bone, i) not in chosen:
                continue
            visual = meshes.new_object(link.name if i == 0 else f"{link.name} {i}", geometry)
            if visual is None:
                continue
            visual[SHOWS] = i
            collection.objects.link(visual)
            _attach(visual, obj, obj.data.bones[bone], place, geometry, robot.metres_per_unit)
            made.append(visual)
    return made


def shape_scale(shape: Shape) -> Array:
    """(3,) metres in a unit of the mesh that shows a shape."""
    return np.array(shape.scale if isinstance(shape, Mesh) else (1.0, 1.0, 1.0))


def _attach(
    visual: bpy.types.Object,
    obj: bpy.types.Object,
    bone: bpy.types.Bone,
    place: Array,
    geometry: Geometry,
    metres_per_unit: float,
) -> None:
    """Parent to the bone so that the object's own location, rotation and scale are those of the description."""
    visual.parent, visual.parent_type, visual.parent_bone = obj, "BONE", bone.name
    T_armature_link = place.copy()
    T_armature_link[:3, 3] /= metres_per_unit
    # Children of a bone sit at its tail. The rest matrix is the single precision one that Blender poses with.
    T_armature_tail = np.array(bone.matrix_local, float) @ translation((0.0, bone.length, 0.0))
    visual.matrix_parent_inverse = Matrix((np.linalg.inv(T_armature_tail) @ T_armature_link).tolist())
    visual.location = geometry.placement[:3, 3] / metres_per_unit
    visual.rotation_euler = Matrix(geometry.placement[:3, :3].tolist()).to_euler()
    visual.scale = shape_scale(geometry.shape) / metres_per_unit
    # Clicks in the viewport pick the bones.
    visual.hide_select = True


def fingerprint(mesh: bpy.types.Mesh) -> str:
    """A number that is equal for meshes with equal vertices."""
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    return f"{len(mesh.vertices)} {len(mesh.polygons)} {zlib.crc32(points.tobytes()):08x}"


def _from_arrays(name: str, data: MeshData, shelf: MaterialShelf) -> bpy.types.Mesh:
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(data.vertices))
    mesh.vertices.foreach_set("co", data.vertices.astype(np.float32).ravel())
    mesh.loops.add(len(data.corners))
    mesh.loops.foreach_set("vertex_index", data.corners.astype(np.int32))
    mesh.polygons.add(len(data.sizes))
    mesh.polygons.foreach_set("loop_start", data.starts.astype(np.int32))
    if data.slots is not None and len(data.materials) > 1:
        mesh.polygons.foreach_set("material_index", data.slots.astype(np.int32))
    if data.uv is not None:
        layer = mesh.uv_layers.new(name="UVMap", do_init=False)
        layer.data.foreach_set("uv", data.uv.astype(np.float32).ravel())
    for material in data.materials:
        stated = material.rgba is not None or material.texture is not None
        mesh.materials.append(shelf.material(material) if stated else None)
    mesh.validate()  # polygons with a corner twice, and the like
    mesh.update()
    _shade(mesh)
    return mesh


def _shade(mesh: bpy.types.Mesh) -> None:
    mesh.shade_smooth()
    mesh.set_sharp_from_angle(angle=_SHARP)


def _from_primitive(shape: Shape) -> bpy.types.Mesh:
    collected = bmesh.new()
    if isinstance(shape, Box):
        bmesh.ops.create_cube(collected, size=1.0, matrix=Matrix.Diagonal((*shape.size, 1.0)))
    elif isinstance(shape, Sphere):
        bmesh.ops.create_uvsphere(collected, u_segments=_SEGMENTS, v_segments=_SEGMENTS // 2, radius=shape.radius)
    elif isinstance(shape, Cylinder):
        bmesh.ops.create_cone(
            collected,
            cap_ends=True,
            segments=_SEGMENTS,
            radius1=shape.radius,
            radius2=shape.radius,
            depth=shape.length,
        )
    elif isinstance(shape, Capsule):
        bmesh.ops.create_uvsphere(collected, u_segments=_SEGMENTS, v_segments=_SEGMENTS // 2, radius=shape.radius)
        for vertex in collected.verts:
            if abs(vertex.co.z) > 1e-9 * shape.radius:
                vertex.co.z += math.copysign(shape.length / 2.0, vertex.co.z)
    else:
        raise RobokinError(f"no picture of a {type(shape).__name__}")
    mesh = bpy.data.meshes.new(type(shape).__name__)
    collected.to_mesh(mesh)
    collected.free()
    _shade(mesh)
    return mesh
