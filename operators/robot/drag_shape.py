"""Drag Shape: a size or the place of a collision shape goes along with the mouse."""

from __future__ import annotations

import bpy

from ...properties.bridge import binding, read_configuration, world_from_root
from ...properties.results.result_text import quantity_text
from ...properties.selected.active_shape import active_shape, put_shape
from ...robokin import RobokinError
from ...robokin.collision.shape_handles import FACES, MOVES, NAMES, shape_handles, value_of, with_value
from ...robokin.kinematics import forward_kinematics
from ...robokin.model.geometry import Geometry
from ...robokin.model.tree import axis_to_z
from ...robokin.spatial.se3 import placement
from ..posture.drag_operator import DragOperator
from ..posture.mouse_drag import Sliding, snapped

STEPS = (0.01, 0.001)  # [m] with Ctrl, and Shift too
_LABELS = {"RADIUS": "Radius", "TOP": "Length", "BOTTOM": "Length"}
_LABELS |= {face: f"Size {face[0]}" for face in FACES} | {move: f"Move {move[-1]}" for move in MOVES}
_DOES = {"RADIUS": "Changes the radius", "TOP": "Moves the upper end", "BOTTOM": "Moves the lower end"}
_DOES |= {face: f"Moves the {face[2:].lower()} side along {face[0]}; the other stays" for face in FACES}
_DOES |= {move: f"Moves the shape along its own {move[-1]} axis" for move in MOVES}
_HANDLES = [(name, _LABELS[name], _DOES[name]) for name in NAMES]  # Python 3.11 reads none made inside an annotation


class ROBOKIN_OT_drag_shape(DragOperator, bpy.types.Operator):
    """Drag a size of the collision shape, or where it is. Ctrl snaps, Shift is finer, numbers are typed"""

    bl_idname = "robokin.drag_shape"
    bl_label = "Drag Collision Shape"

    handle: bpy.props.EnumProperty(
        name="Handle",
        description="What is dragged",
        items=_HANDLES,
        options={"SKIP_SAVE"},
    )
    value: bpy.props.FloatProperty(
        name="Value",
        description="Radius, length or size; by how much it moves along its own axis",
        subtype="DISTANCE",
        precision=4,
        options={"SKIP_SAVE"},
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        bone, index, geometry = _chosen(obj)
        put_shape(obj, bone, index, with_value(geometry, self.handle, self.value * binding(obj).metres_per_unit))
        return {"FINISHED"}

    def begin(self, context: bpy.types.Context, obj: bpy.types.Object, event: bpy.types.Event) -> Sliding:
        self._bone, self._index, self._geometry = _chosen(obj)
        self._start = self._value = value_of(self._geometry, self.handle)
        robot = binding(obj)
        link = robot.model.links[robot.bones.index(self._bone)].name
        world = world_from_root(obj, None, robot)
        world[:3] /= robot.metres_per_unit
        T = world @ forward_kinematics(robot.model, read_configuration(obj, robot))[link] @ self._geometry.placement
        chosen = next(each for each in shape_handles(self._geometry.shape) if each.name == self.handle)
        return Sliding(T @ placement(axis_to_z(chosen.direction), chosen.point), *self.ray(context, event))

    def apply(self, context: bpy.types.Context, obj: bpy.types.Object, event: bpy.types.Event) -> None:
        unit = binding(obj).metres_per_unit
        if (typed := self.typed.length(context.scene)) is not None:
            wanted = typed * unit
        else:
            wanted = self._start + self.moved
            wanted = snapped(wanted, STEPS[event.shift]) if self.snap.is_held else wanted
        changed = with_value(self._geometry, self.handle, wanted)
        self._value = wanted if self.handle in MOVES else value_of(changed, self.handle)
        put_shape(obj, self._bone, self._index, changed)

    def header_text(self, context: bpy.types.Context) -> str:
        return f"{self._bone}: {_LABELS[self.handle]} {quantity_text(context.scene, 'LENGTH', self._value)}"

    def keep(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        self.value = self._value / binding(obj).metres_per_unit

    def put_back(self, obj: bpy.types.Object) -> None:
        put_shape(obj, self._bone, self._index, self._geometry)


def _chosen(obj: bpy.types.Object) -> tuple[str, int, Geometry]:
    """Raises RobokinError where there is no shape."""
    found = active_shape(obj)
    if found is None:
        raise RobokinError(f"{obj.name!r}: the link of the active bone has no collision shape")
    return found


CLASSES = (ROBOKIN_OT_drag_shape,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
