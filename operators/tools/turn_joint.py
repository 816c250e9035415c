"""Turn Joint: a joint follows the mouse along its own arc, or its rail."""

from __future__ import annotations

import math

import bpy

from ...properties.bridge import binding, binding_held, last_binding
from ...properties.joint_values.ball_angles import angles_text
from ...properties.results.result_text import quantity_text
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...scene.posing.joint_turn import JointTurn
from ...solvers.posing.on_screen import ValueDrag
from .gesture import Gesture
from .grab_link import SNAP_ANGLE, SNAP_LENGTH


class ROBOKIN_OT_turn_joint(Gesture, bpy.types.Operator):
    """Turn or slide the joint of the link under the mouse along its own arc or rail, up to its limits"""

    bl_idname = "robokin.turn_joint"
    bl_label = "Turn Joint"
    hints = "Tab: next axis   0-9: value   Ctrl: snap   Enter or Left Mouse: keep   Esc: back"

    def begin(self, context: bpy.types.Context, bone: str, point: Array | None) -> None:
        self._bone, self._point, self._axis = bone, point, 0
        self._hold(context)

    def _hold(self, context: bpy.types.Context) -> None:
        self._turn = turn = JointTurn(self._robot, self._bone, self._axis, self._point)
        turn.refuse_locked()
        limits = turn.lower, turn.upper
        self._drag = ValueDrag(self.view(context), turn.point_at, turn.value, self.first, *limits)

    def pose(self, context: bpy.types.Context, snap: bool) -> Array:
        if self._turn.is_length and (typed := self.typed_length(context)) is not None:
            return self._turn.to(typed * binding(self._robot).metres_per_unit)
        if (angle := self.typed_angle(context)) is not None and not self._turn.is_length:
            return self._turn.to(angle)
        value = self._drag.to(self.mouse)
        step = SNAP_LENGTH if self._turn.is_length else SNAP_ANGLE
        return self._turn.to(step * round(value / step) if snap else value)

    def key(self, context: bpy.types.Context, kind: str) -> bool:
        if kind != "TAB" or self._turn.axes < 2:
            return False
        self._axis, self.first = self._axis + 1, self.mouse
        self._hold(context)
        return True

    def header_text(self, context: bpy.types.Context) -> str:
        return f"{self.bl_label}  {value_and_limits(context.scene, self._robot, self._turn)}"


def value_and_limits(scene: bpy.types.Scene, obj: bpy.types.Object, turn: JointTurn) -> str:
    """The joint, its value and its limits, in the units of the scene; of a ball the angles at which it is seen."""
    kind = "LENGTH" if turn.is_length else "ROTATION"
    low, value, high = (quantity_text(scene, kind, x) for x in (turn.lower, turn.value, turn.upper))
    which = f" axis {turn.axis + 1}" if turn.axes > 1 else ""
    which += " (locked)" if turn.is_locked else ""
    if turn.is_ball:
        return f"{turn.joint.name}{which}: {_ball_angles(obj, turn)}"
    if not math.isfinite(turn.lower) and not math.isfinite(turn.upper):
        return f"{turn.joint.name}{which}: {value}   no limits"
    return f"{turn.joint.name}{which}: {value}   limits {low} to {high}"


def _ball_angles(obj: bpy.types.Object, turn: JointTurn) -> str:
    return angles_text(obj.pose.bones[binding(obj).bone_of_link[turn.joint.child]])


def joint_and_limits(scene: bpy.types.Scene, obj: bpy.types.Object, bone: str) -> str:
    """`value_and_limits` of all axes of a bone's joint, a ball's once; else why it has none. For what is drawn: whether
    the robot has changed is not looked at, which takes longest."""
    try:
        with binding_held(obj, last_binding(obj)):
            turn = JointTurn(obj, bone)
            if turn.is_ball:
                return f"{turn.joint.name}: {_ball_angles(obj, turn)}"
            turns = [turn, *(JointTurn(obj, bone, axis) for axis in range(1, turn.axes))]
            return "   ".join(value_and_limits(scene, obj, each) for each in turns)
    except RobokinError as error:
        return str(error)


CLASSES = (ROBOKIN_OT_turn_joint,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
