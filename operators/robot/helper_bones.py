"""Update Helper Bones: the bones that joints need beside their own, after a type, an axis or a bone was changed."""

from __future__ import annotations

import bpy

from ...properties.bridge import fit_helper_bones
from ...robokin.units import counted
from ..common import RobotOperator


class ROBOKIN_OT_helper_bones(RobotOperator, bpy.types.Operator):
    """Add, move and remove helper bones, so that every joint can be shown: one joint may need several bones"""

    bl_idname = "robokin.helper_bones"
    bl_label = "Update Helper Bones"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        changed = fit_helper_bones(context, obj)
        self.report({"INFO"}, f"{counted(changed, 'joint')} of {obj.name!r} got other helper bones")
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_helper_bones,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
