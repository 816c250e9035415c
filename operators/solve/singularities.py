"""Singularities: how near the tools of an animation come to them, as curves."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ...robokin import RobokinError
from ...scene.animation.columns import SINGULARITIES, clear_columns, key_columns
from ...scene.animation.curves import refuse_unwritable
from ...scene.singularities import singularities_steps
from ..common import FramesOperator, RobotOperator
from ..modal import ModalOperator


class ROBOKIN_OT_key_singularities(ModalOperator, FramesOperator, bpy.types.Operator):
    """Write the smallest singular value and the manipulability of each tool with a task on its pose, position or
    orientation as curves of the animation as it stands, to be seen in the Graph Editor"""

    bl_idname = "robokin.key_singularities"
    bl_label = "Key Singularities"

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        frames = self.frames(context.scene, obj.robokin.solver)
        refuse_unwritable(context.scene, obj, new_action=False)
        found = yield from singularities_steps(context.scene, context.view_layer, obj, frames)
        if not found.names:
            raise RobokinError(f"{obj.name!r} has no task on the pose, position or orientation of a tip")
        count = key_columns(obj, SINGULARITIES, frames, found.columns())
        self.report({"INFO"}, f"{count} curves over {len(frames)} frames: see the Graph Editor, group Singularities")


class ROBOKIN_OT_clear_singularities(RobotOperator, bpy.types.Operator):
    """Remove the curves that Key Singularities wrote"""

    bl_idname = "robokin.clear_singularities"
    bl_label = "Clear Singularities"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        if not clear_columns(obj, SINGULARITIES):
            raise RobokinError(f"{obj.name!r} has no curves of Key Singularities")
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_key_singularities, ROBOKIN_OT_clear_singularities)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
