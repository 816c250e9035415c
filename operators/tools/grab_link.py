"""Grab Link: any link is moved and turned by the mouse, the other joints follow. Self-Motion: the tool stays."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Vector

from ...properties.bridge import binding
from ...properties.results.result_text import quantity_text
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...robokin.spatial import so3
from ...scene.posing.link_pull import LinkPull
from ...solvers.posing.on_screen import along_line, turned_since
from .gesture import Gesture

AXES = ("X", "Y", "Z")
_VIEWER = Vector((0.0, 0.0, 1.0))  # from what is seen to the eye, in the axes of the view
SNAP_LENGTH, SNAP_ANGLE = 0.01, math.radians(5.0)  # [m], [rad]


class _Pulling(Gesture):
    """Mixin: a link is pulled."""

    is_self_motion = False

    def begin(self, context: bpy.types.Context, bone: str, point: Array | None) -> None:
        self._bone, self._is_turn, self._axis, self._is_own = bone, False, -1, False
        self._pull = LinkPull(self._robot, bone, point, self.pinned(context), self.is_self_motion)
        if not self._pull.freedom:
            stay = f" while these stay: {', '.join(self._pull.anchors)}" if self._pull.anchors else ""
            raise RobokinError(f"no joint is left to move {bone!r}{stay}")
        self._unit, self._turned, self._last = binding(self._robot).metres_per_unit, 0.0, self.first
        self._amount = 0.0  # [m] that the link has moved, or [rad] by which it is asked to turn

    def pinned(self, context: bpy.types.Context) -> list[str]:
        """Names of the bones that stay in place of the base."""
        return []

    def pose(self, context: bpy.types.Context, snap: bool) -> Array:
        q = self._pull.to(self._turning(context, snap) if self._is_turn else self._moving(context, snap))
        if not self._is_turn:
            moved = self._pull.moved
            along = np.linalg.norm(moved) if self._axis < 0 else self._direction() @ moved
            self._amount = float(along) * self._unit
        return q

    def _moving(self, context: bpy.types.Context, snap: bool) -> Array:
        T, grip = self._pull.grip.copy(), self._pull.grip
        step = SNAP_LENGTH / self._unit
        axis = self._direction() if self._axis >= 0 else None
        if axis is None and self.typed is None:
            shift = self.beside(context, self.mouse, grip[:3, 3]) - self.beside(context, self.first, grip[:3, 3])
            T[:3, 3] += step * np.round(shift / step) if snap else shift
            return T
        axis = np.eye(3)[0] if axis is None else axis
        if (typed := self.typed_length(context)) is not None:
            along = typed
        else:
            along = along_line(grip[:3, 3], axis, *self.ray(context)) - self._first_along(context, axis)
            along = step * round(along / step) if snap else along
        T[:3, 3] += along * axis
        return T

    def _first_along(self, context: bpy.types.Context, axis: Array) -> float:
        now, self.mouse = self.mouse, self.first
        try:
            return along_line(self._pull.grip[:3, 3], axis, *self.ray(context))
        finally:
            self.mouse = now

    def _turning(self, context: bpy.types.Context, snap: bool) -> Array:
        toward = np.array(context.region_data.view_rotation @ _VIEWER, float)
        axis = self._direction() if self._axis >= 0 else toward
        center = self.view(context).seen(self._pull.grip[:3, 3])
        self._turned += turned_since(center, self._last, self.mouse)
        self._last = self.mouse
        angle = self._turned * (1.0 if axis @ toward >= 0.0 else -1.0)
        angle = SNAP_ANGLE * round(angle / SNAP_ANGLE) if snap else angle
        angle = angle if self.typed is None else self.typed_angle(context)
        self._amount = angle
        T = self._pull.grip.copy()
        T[:3, :3] = so3.exp(angle * axis) @ T[:3, :3]
        return T

    def _direction(self) -> Array:
        return self._pull.grip[:3, self._axis] if self._is_own else np.eye(3)[self._axis]

    def key(self, context: bpy.types.Context, kind: str) -> bool:
        if kind in ("G", "R") and not self.is_self_motion:
            self._is_turn, self._turned, self._last = kind == "R", 0.0, self.mouse
            self.first = self.mouse
            return True
        if kind not in AXES:
            return False
        axis = AXES.index(kind)
        if self._axis != axis:
            self._axis, self._is_own = axis, False
        elif not self._is_own:
            self._is_own = True
        else:
            self._axis = -1
        return True

    def header_text(self, context: bpy.types.Context) -> str:
        shown = quantity_text(context.scene, "ROTATION" if self._is_turn else "LENGTH", self._amount)
        about = "about" if self._is_turn else "along"
        whose = "its own" if self._is_own else "the world's"
        where = f" {about} {whose} {AXES[self._axis]}" if self._axis >= 0 else ""
        anchors = f"   held: {', '.join(self._pull.anchors)}" if self._pull.anchors else ""
        short = "" if self.is_self_motion or self._pull.is_met else "   as near as it can be"
        return f"{self.bl_label}  {self._bone}: {shown}{where}{short}{anchors}"


class ROBOKIN_OT_grab_link(_Pulling, bpy.types.Operator):
    """Move or turn the link under the mouse; the other joints follow, the base stays"""

    bl_idname = "robokin.grab_link"
    bl_label = "Grab Link"
    hints = (
        "G: move   R: turn   X Y Z: axis (again: its own)   0-9: amount   Ctrl: snap   "
        "Enter or Left Mouse: keep   Esc: back"
    )

    makes_task: bpy.props.BoolProperty(
        name="Keep as Task", description="Add a task that holds the link where it was left"
    )
    pins_selected: bpy.props.BoolProperty(
        name="Pin Selected", description="The other selected bones stay where they are, in place of the base"
    )

    def pinned(self, context: bpy.types.Context) -> list[str]:
        seen = context.selected_pose_bones_from_active_object or ()  # not what is hidden, as tool frames are
        return [bone.name for bone in seen if bone.name != self._bone] if self.pins_selected else []

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_properties("makes_task")

    def kept(self, context: bpy.types.Context) -> None:
        if self.makes_task:
            try:
                bpy.ops.robokin.task_add(kind="POSE", tip=self._bone)
            except RuntimeError as error:  # of its report; the pose stays
                self.report({"WARNING"}, f"no task was added: {error}")


class ROBOKIN_OT_self_motion(_Pulling, bpy.types.Operator):
    """Move the link under the mouse while the tool stays where it is, as far as the robot has joints to spare"""

    bl_idname = "robokin.self_motion"
    bl_label = "Self-Motion"
    is_self_motion = True
    hints = "X Y Z: axis   Ctrl: snap   Enter or Left Mouse: keep   Esc: back"


CLASSES = (ROBOKIN_OT_grab_link, ROBOKIN_OT_self_motion)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
