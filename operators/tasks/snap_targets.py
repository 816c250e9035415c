"""Snap Targets: from posing by hand back to following targets, without a jump."""

from __future__ import annotations

import bpy

from ...properties.overrides import key_if_wanted
from ...robokin import RobokinError
from ...scene.animation.auto_keys import keyed_axes
from ...scene.tasks.snap_targets import snap_targets
from ..common import RobotOperator

_ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


class ROBOKIN_OT_snap_targets(RobotOperator, bpy.types.Operator):
    """Move the targets to where the robot's present pose meets them, as after posing its joints by hand"""

    bl_idname = "robokin.snap_targets"
    bl_label = "Snap Targets to Robot"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        moved, unmoved = snap_targets(context, obj)
        if not moved:
            raise RobokinError(
                unmoved[0] if unmoved else f"no task of {obj.name!r} follows an object that could be moved"
            )
        for line in unmoved:
            self.report({"WARNING"}, line)
        for target in moved:
            rotation = _ROTATIONS.get(target.rotation_mode, "rotation_euler")
            for path in ("location", rotation):
                for index in keyed_axes(context, target, path):
                    key_if_wanted(target, target, path, index)
        self.report({"INFO"}, f"moved: {', '.join(target.name for target in moved)}")
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_snap_targets,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
