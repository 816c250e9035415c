"""Collision shapes of links, one by one: choose, add, remove, copy, mirror."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ...properties.bridge import Binding, binding
from ...properties.bridge.editing.link_shapes import link_shapes, put_link_shapes
from ...properties.selected.active_shape import active_shape, shape_bone
from ...properties.selected.selection import select, selected_bones
from ...robokin import RobokinError
from ...robokin.collision.shape_handles import box_of
from ...robokin.mirror import mirrored_links
from ...robokin.model.geometry import Capsule, Cylinder, Geometry, Shape, Sphere
from ...robokin.reflection import reflected_geometry
from ...robokin.units import counted
from ..common import RobotOperator

KINDS = (
    ("SPHERE", "Sphere", "A ball: the quickest to check", "MESH_UVSPHERE", 0),
    ("CAPSULE", "Capsule", "A cylinder with round ends, along its Z axis: arms and legs", "MESH_CAPSULE", 1),
    ("BOX", "Box", "A box, whose corners can be made round", "MESH_CUBE", 2),
    ("CYLINDER", "Cylinder", "A cylinder with flat ends, along its Z axis", "MESH_CYLINDER", 3),
)


class _ShapesOperator(RobotOperator):
    """Mixin: an operator on the shapes of the active bone's link, and of selected ones."""

    def active_bone(self, obj: bpy.types.Object) -> str:
        """Raises RobokinError."""
        bone = shape_bone(obj)
        if bone is None:
            raise RobokinError(f"{obj.name!r}: no bone with a joint is active (click one in Pose Mode)")
        return bone

    def active_shape(self, obj: bpy.types.Object) -> tuple[str, int, Geometry]:
        """Raises RobokinError."""
        found = active_shape(obj)
        if found is None:
            raise RobokinError(f"the link of {self.active_bone(obj)!r} has no collision shape")
        return found

    def put(self, obj: bpy.types.Object, bone: str, shapes: Sequence[Geometry], active: int) -> None:
        put_link_shapes(obj, {bone: shapes})
        obj.robokin.active_shape = max(active, 0)


class ROBOKIN_OT_shape_select(_ShapesOperator, bpy.types.Operator):
    """Make a collision shape the active one, whose sizes and handles are shown"""

    bl_idname = "robokin.shape_select"
    bl_label = "Select Collision Shape"

    bone: bpy.props.StringProperty(
        name="Bone", description="Bone of its link; empty: the active one", options={"SKIP_SAVE"}
    )
    index: bpy.props.IntProperty(name="Index", description="Which shape of the link", min=0, options={"SKIP_SAVE"})

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        bone = self.bone or self.active_bone(obj)
        count = len(link_shapes(obj, bone))
        if self.index >= count:
            raise RobokinError(f"the link of {bone!r} has {counted(count, 'collision shape')}, no number {self.index}")
        obj.data.bones.active = obj.data.bones[bone]
        for each in obj.pose.bones if self.bone else ():
            select(each, each.name == bone)
        obj.robokin.active_shape = self.index
        return {"FINISHED"}


class ROBOKIN_OT_shape_add(_ShapesOperator, bpy.types.Operator):
    """Add a collision shape to the link of the active bone"""

    bl_idname = "robokin.shape_add"
    bl_label = "Add Collision Shape"

    kind: bpy.props.EnumProperty(name="Kind", description="What the shape is", items=KINDS)

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        bone, robot = self.active_bone(obj), binding(obj)
        shapes = link_shapes(obj, bone)
        size = max(0.25 * obj.data.bones[bone].length * robot.metres_per_unit, 1e-3)
        self.put(obj, bone, (*shapes, Geometry(_shape(self.kind, size))), len(shapes))
        return {"FINISHED"}


class ROBOKIN_OT_shape_remove(_ShapesOperator, bpy.types.Operator):
    """Remove the active collision shape"""

    bl_idname = "robokin.shape_remove"
    bl_label = "Remove Collision Shape"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        bone, index, _ = self.active_shape(obj)
        shapes = link_shapes(obj, bone)
        self.put(obj, bone, shapes[:index] + shapes[index + 1 :], index - (index == len(shapes) - 1))
        return {"FINISHED"}


class ROBOKIN_OT_shape_duplicate(_ShapesOperator, bpy.types.Operator):
    """Add a copy of the active collision shape to its link, in the same place"""

    bl_idname = "robokin.shape_duplicate"
    bl_label = "Duplicate Collision Shape"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        bone, _, geometry = self.active_shape(obj)
        shapes = link_shapes(obj, bone)
        self.put(obj, bone, (*shapes, geometry), len(shapes))
        return {"FINISHED"}


class ROBOKIN_OT_shapes_copy(_ShapesOperator, bpy.types.Operator):
    """Give the links of the other selected bones the collision shapes of the active bone's link, in place of theirs"""

    bl_idname = "robokin.shapes_copy"
    bl_label = "Copy Collision Shapes to Selected"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        bone = self.active_shape(obj)[0]
        others = [each for each in _chosen_bones(obj, binding(obj)) if each != bone]
        if not others:
            raise RobokinError(f"no bone beside {bone!r} is selected (select those that get its shapes in Pose Mode)")
        shapes = link_shapes(obj, bone)
        put_link_shapes(obj, dict.fromkeys(others, shapes))
        self.report({"INFO"}, f"{counted(len(shapes), 'shape')} of {bone!r} on {counted(len(others), 'other link')}")
        return {"FINISHED"}


class ROBOKIN_OT_shapes_mirror(_ShapesOperator, bpy.types.Operator):
    """Give the links of the other side, by their names, the mirror images of the collision shapes of the selected
    bones, in place of theirs"""

    bl_idname = "robokin.shapes_mirror"
    bl_label = "Mirror Collision Shapes"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = binding(obj)
        images, bones = mirrored_links(robot.model), robot.bone_of_link
        chosen = _chosen_bones(obj, robot) or [self.active_bone(obj)]
        found, without = {}, []
        for bone in chosen:
            image = images.get(robot.link_of_bone[bone])
            if image is None:
                without.append(bone)
            else:
                found[bones[image[0]]] = [reflected_geometry(each, image[1]) for each in link_shapes(obj, bone)]
        if not found:
            raise RobokinError(f"no link has the name of {', '.join(without[:6])} with left and right swapped")
        both = sorted(found.keys() & set(chosen))
        if both:
            raise RobokinError(f"both sides are selected, {', '.join(both[:6])}: select the side to take shapes from")
        put_link_shapes(obj, found)
        self.report(
            {"INFO"},
            f"{counted(sum(map(len, found.values())), 'shape')} on {counted(len(found), 'link')} of the other side",
        )
        if without:
            self.report({"WARNING"}, f"no other side by their names: {', '.join(without[:6])}")
        return {"FINISHED"}


def _chosen_bones(obj: bpy.types.Object, robot: Binding) -> list[str]:
    """Selected bones, as those that have joints."""
    own = [robot.own_bone(bone) for bone in selected_bones(obj) if bone in robot.joint_of_bone]
    return list(dict.fromkeys(own))


def _shape(kind: str, size: float) -> Shape:
    """size [m]: its radius, or half an edge."""
    if kind == "BOX":
        return box_of(np.full(3, 2.0 * size), 0.0)
    return Sphere(size) if kind == "SPHERE" else (Capsule if kind == "CAPSULE" else Cylinder)(size, 2.0 * size)


CLASSES = (
    ROBOKIN_OT_shape_select,
    ROBOKIN_OT_shape_add,
    ROBOKIN_OT_shape_remove,
    ROBOKIN_OT_shape_duplicate,
    ROBOKIN_OT_shapes_copy,
    ROBOKIN_OT_shapes_mirror,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
