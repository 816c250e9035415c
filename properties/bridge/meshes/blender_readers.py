"""Formats that Blender's own importers read: PLY and glTF. They make objects; what they made is taken apart again."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
from mathutils import Matrix

from ....robokin import FileFormatError


def read_ply(path: str) -> bpy.types.Mesh:
    """A new mesh, coordinates as in the file. Raises FileFormatError."""
    return _joined(path, lambda: bpy.ops.wm.ply_import(filepath=path, forward_axis="Y", up_axis="Z"))


def read_gltf(path: str) -> bpy.types.Mesh:
    """A new mesh; glTF is metres and Y up by definition, and turned to Z up. Raises FileFormatError."""
    mesh = _joined(path, lambda: bpy.ops.import_scene.gltf(filepath=path, disable_bone_shape=True))
    # Unlike the other importers this one turns metres into the scene's unit.
    mesh.transform(Matrix.Scale(bpy.context.scene.unit_settings.scale_length, 4))
    return mesh


def _joined(path: str, run: object) -> bpy.types.Mesh:
    before = set(bpy.data.objects)
    others = {*bpy.data.actions, *bpy.data.collections}
    try:
        run()
    except RuntimeError as fault:
        raise FileFormatError(path, None, f"cannot be read ({str(fault).strip().splitlines()[-1]})") from None
    finally:
        made = [obj for obj in bpy.data.objects if obj not in before]
    bpy.context.view_layer.update()
    mesh = bpy.data.meshes.new("import")
    collected = bmesh.new()
    materials: list[bpy.types.Material | None] = []
    leftovers = {obj.data for obj in made if obj.data is not None}
    for obj in made:
        if obj.type != "MESH":
            continue
        part = obj.data.copy()  # several objects may show the same mesh
        leftovers.add(part)
        part.transform(obj.matrix_world)
        if obj.matrix_world.is_negative:
            part.flip_normals()
        slots = []
        for material in list(part.materials) or [None]:
            if material not in materials:
                materials.append(material)
            slots.append(materials.index(material))
        own = np.zeros(len(part.polygons), np.int32)
        part.polygons.foreach_get("material_index", own)
        part.polygons.foreach_set("material_index", np.array(slots, np.int32)[np.minimum(own, len(slots) - 1)])
        collected.from_mesh(part)
    collected.to_mesh(mesh)
    collected.free()
    for material in materials:
        mesh.materials.append(material)
    leftovers |= {*bpy.data.actions, *bpy.data.collections} - others
    bpy.data.batch_remove([*made, *leftovers])
    if not len(mesh.polygons):
        raise FileFormatError(path, None, "has no polygons")
    return mesh
