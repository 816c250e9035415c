"""A robot armature as a URDF file, with what was modelled in Blender as mesh files beside it.

What the description said of its visuals is written as it was read, whether it is shown or not; one that was moved,
scaled or edited since is written as it is now. Objects on bones that no description knows become STL files: one for
each material, since STL has none.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import bpy
import numpy as np

from ....robokin import FileFormatError, Link, RobotModel, urdf_losses, urdf_text
from ....robokin.arrays import Array
from ....robokin.collision.polytope import polytope_around
from ....robokin.files.text_file import write_files
from ....robokin.model.geometry import Geometry, Hull, Material, Mesh
from ....robokin.spatial.se3 import placement
from ....robokin.units import small_length
from ....robokin.urdf.ranges import with_ranges
from ....robokin.urdf.relocation import relocated
from ..model.binding import Binding, binding
from ..parents import with_parents
from ..visuals.link_meshes import bone_from_children
from ..visuals.link_visuals import MADE, SHOWS, fingerprint, shape_scale
from ..visuals.materials import has_texture, stated_color
from ..visuals.meshes import LARGEST, stl_bytes

FOLDER = "meshes"
_SOLID = ("MESH", "CURVE", "SURFACE", "FONT", "META")
_LONGEST = 100  # characters of each of the two names in one of a file; most file systems take 255 in all
_MOVED = 1e-5  # of its size or distance that a visual may differ from its description: single precision


def export_urdf(obj: bpy.types.Object, path: str, depsgraph: bpy.types.Depsgraph) -> list[str]:
    """Write the robot; what could not be said, one line each. Raises RobokinError, and then leaves what was there."""
    robot = binding(obj)
    exported = _Export(obj, robot, Path(path), depsgraph)
    model = exported.model()
    losses = [*urdf_losses(model, exported.meshes), *exported.losses]
    model, notes = with_ranges(model)
    text = urdf_text(relocated(model, path), exported.meshes)
    _write(Path(path), text, exported.files)
    return losses + notes


def _write(path: Path, text: str, files: dict[str, bytes]) -> None:
    """The robot takes its place last, when its meshes are there."""
    folder = path.parent / FOLDER
    new_folder = bool(files) and not folder.exists()
    try:
        if new_folder:
            folder.mkdir()
        write_files({path: text} | {path.parent / name: data for name, data in files.items()})
    except BaseException as fault:
        if new_folder:
            with suppress(OSError):
                folder.rmdir()
        if isinstance(fault, OSError):
            raise FileFormatError(folder, None, f"cannot be written: {fault.strerror or fault}") from None
        raise


class _Export:
    """`files`: name relative to the URDF -> content.   `losses`: lines to report.   `meshes`: of hulls."""

    def __init__(self, obj: bpy.types.Object, robot: Binding, path: Path, depsgraph: bpy.types.Depsgraph) -> None:
        self.obj, self.robot, self.path, self.depsgraph = obj, robot, path, depsgraph
        self.files: dict[str, bytes] = {}
        self.losses: list[str] = []
        self.meshes: dict[Hull, Mesh] = {}
        self._known: dict[bytes, str] = {}
        shapes = [g.shape for link in robot.model.links for g in (*link.visuals, *link.collisions)]
        # Files of the description itself, which must stay.
        self._taken = {os.path.abspath(s.path) for s in shapes if isinstance(s, Mesh) and s.path is not None}

    def model(self) -> RobotModel:
        """The robot with the visuals as they are now."""
        model = self.robot.model
        visuals = {link.name: dict(enumerate(link.visuals)) for link in model.links}
        added: dict[str, list[Geometry]] = {link.name: [] for link in model.links}
        for child in sorted(self.obj.children_recursive, key=lambda o: o.name):
            link = self._link(child) if child.type in _SOLID else None
            if link is None:
                continue
            place = self._in_link(child, link)
            if not np.isfinite(place).all():
                self._left_out(child, "is nowhere: its location, rotation or scale is not a number")
                continue
            number = child.get(SHOWS)
            known = visuals[link].get(number) if isinstance(number, int) else None
            if known is None or not _is_file(child):
                added[link] += self._modelled(child, place)
                if known is not None:
                    del visuals[link][number]
            elif not self._stands(known, place):
                del visuals[link][number]
                added[link] += self._moved(child, known, place)
        links = [
            dataclasses.replace(link, visuals=(*visuals[link.name].values(), *added[link.name])) for link in model.links
        ]
        for link in links:
            self._hull_meshes(link)
        return RobotModel(model.name, links, model.joints[1:], model.root, model.drive)

    def _hull_meshes(self, link: Link) -> None:
        """The polytopes around the link's hulls, for other programs."""
        farthest = 0.0
        for shape in (geometry.shape for geometry in link.collisions):
            if isinstance(shape, Hull):
                triangles, beyond = polytope_around(shape)
                self.meshes[shape] = Mesh(self._file(f"{link.name}_collision", stl_bytes(triangles)))
                farthest = max(farthest, beyond)
        if farthest:
            larger = f"other programs see meshes up to {small_length(farthest)} larger"
            self.losses.append(f"link {link.name!r}: URDF has no rounded hulls; {larger}")

    def _link(self, child: bpy.types.Object) -> str | None:
        """The link that the object moves with; None, and a line, where it moves with none."""
        if (
            any(m.type == "ARMATURE" and m.object == self.obj for m in child.modifiers)
            or child.parent_type == "ARMATURE"
        ):
            return self._left_out(child, "is deformed by the armature, and links are rigid")
        if child.name not in self.depsgraph.view_layer.objects:
            return self._left_out(child, f"is not in the view layer {self.depsgraph.view_layer.name!r}")
        top = child
        while True:
            if any(not c.mute and c.influence > 0.0 for c in top.constraints):
                return self._left_out(child, "is moved by constraints")
            if top.parent == self.obj:
                break
            if top.parent_type != "OBJECT" or top.parent.type == "ARMATURE":
                return self._left_out(child, f"moves with {top.parent.name!r}, which is no part of the robot")
            top = top.parent
        if top.parent_type == "OBJECT" and self.robot.model.root == "fixed":
            return self.robot.model.root_link.name
        bone = self.obj.data.bones.get(top.parent_bone) if top.parent_type == "BONE" else None
        links = (self.robot.link_of_bone.get(self.robot.own_bone(above.name)) for above in with_parents(bone))
        return next(filter(None, links), None) or self._left_out(child, "is on no bone of the robot")

    def _left_out(self, child: bpy.types.Object, why: str) -> str | None:
        """Tell it; there is no link."""
        self.losses.append(f"object {child.name!r} {why}; left out")
        return None

    def _in_link(self, child: bpy.types.Object, link: str) -> Array:
        """(4, 4) T_link_object at rest, with the object's scale, in metres per unit of its mesh."""
        index = self.robot.model.link_index(link)
        bone = self.obj.data.bones[self.robot.bones[index]]
        T_armature_link = np.array(bone.matrix_local, float)
        T_armature_link[:3, :3] = T_armature_link[:3, :3] @ self.robot.frames[index].T
        T = np.linalg.inv(T_armature_link) @ self._in_armature(child)
        T[:3] *= self.robot.metres_per_unit
        return T

    def _in_armature(self, child: bpy.types.Object) -> Array:
        T = np.array(child.matrix_parent_inverse, float) @ np.array(child.matrix_basis, float)
        if child.parent != self.obj:
            return self._in_armature(child.parent) @ T
        if child.parent_type != "BONE":
            return T
        bone = self.obj.data.bones[child.parent_bone]
        return np.array(bone.matrix_local, float) @ bone_from_children(bone, child) @ T

    @staticmethod
    def _stands(known: Geometry, place: Array) -> bool:
        """Whether a visual is where, and as large as, its description says."""
        said = known.placement.copy()
        said[:3, :3] = said[:3, :3] * shape_scale(known.shape)
        size = np.linalg.norm(said[:3, :3])
        moved = np.linalg.norm(place[:3, 3] - said[:3, 3])
        turned = np.linalg.norm(place[:3, :3] - said[:3, :3])
        return bool(turned <= 10 * _MOVED * size and moved <= _MOVED * max(np.linalg.norm(said[:3, 3]), 0.1))

    def _moved(self, child: bpy.types.Object, known: Geometry, place: Array) -> list[Geometry]:
        """The description's visual in another place; as a mesh where it was stretched too."""
        R, stretch = _rotation_and_stretch(place[:3, :3])
        scale = shape_scale(known.shape)
        if abs(stretch - np.diag(scale)).max() > 10 * _MOVED * abs(scale).max():
            return self._modelled(child, place)
        return [dataclasses.replace(known, placement=placement(R, place[:3, 3]))]

    def _modelled(self, child: bpy.types.Object, place: Array) -> list[Geometry]:
        """An STL file for each material of the object as it is seen, modifiers applied."""
        R, stretch = _rotation_and_stretch(place[:3, :3])
        evaluated = child.evaluated_get(self.depsgraph)
        found = []
        mesh = evaluated.to_mesh()
        try:
            for material, corners in _by_material(evaluated, mesh):
                triangles = corners @ stretch.T
                if not (abs(triangles) <= LARGEST).all():
                    self._left_out(child, f"has points that are not numbers up to {LARGEST:g}")
                    return []
                if np.linalg.det(stretch) < 0.0:
                    triangles = triangles[:, ::-1]
                name = child.name if material is None or len(mesh.materials) < 2 else f"{child.name}_{material.name}"
                shape = Mesh(self._file(name, stl_bytes(triangles)))
                own = None if material is None else Material(material.name, stated_color(material))
                if material is not None and has_texture(material):
                    line = f"object {child.name!r}: STL has no textures; that of {material.name!r} is left out"
                    self.losses.append(line)
                found.append(Geometry(shape, placement(R, place[:3, 3]), own, child.name))
        finally:
            evaluated.to_mesh_clear()
        if not found:
            self._left_out(child, "has no faces")
        return found

    def _file(self, name: str, data: bytes) -> str:
        """The name of a mesh file relative to the URDF, the same for the same content."""
        if data not in self._known:
            words = (self.path.stem[:_LONGEST], name[:_LONGEST])
            plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", "_".join(words)).strip(".")
            filename, number = f"{FOLDER}/{plain}.stl", 1
            while filename in self.files or os.path.abspath(self.path.parent / filename) in self._taken:
                filename, number = f"{FOLDER}/{plain}_{number}.stl", number + 1
            self.files[filename] = data
            self._known[data] = filename
        return self._known[data]


def _is_file(child: bpy.types.Object) -> bool:
    """Whether the object still shows what was read from a file."""
    mesh = child.data
    made = child.type == "MESH" and not child.modifiers and mesh.get(MADE)
    return bool(made) and made == fingerprint(mesh)


def _rotation_and_stretch(matrix: Array) -> tuple[Array, Array]:
    """(R, S) with matrix = R S, R a rotation: the nearest one, or where the matrix mirrors, that of its negative."""
    u, _, vt = np.linalg.svd(matrix)
    R = u @ vt
    R = R if np.linalg.det(R) > 0.0 else -R
    return R, R.T @ matrix


def _by_material(owner: bpy.types.Object, mesh: bpy.types.Mesh) -> Iterator[tuple[bpy.types.Material | None, Array]]:
    """(material, (n, 3, 3) corners of its triangles) of an evaluated object."""
    mesh.calc_loop_triangles()
    count = len(mesh.loop_triangles)
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    corners, slots = np.empty(3 * count, np.int32), np.empty(count, np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    mesh.loop_triangles.foreach_get("material_index", slots)
    triangles = points.reshape(-1, 3).astype(float)[corners].reshape(-1, 3, 3)
    for slot in np.unique(slots):
        own = owner.material_slots[slot].material if slot < len(owner.material_slots) else None
        yield own, triangles[slots == slot]
