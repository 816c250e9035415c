"""Reset Record: what is left of a joint whose record on its bone is damaged becomes a joint again."""

from __future__ import annotations

import bpy

from ...properties.bridge import reset_record
from ..common import RobotOperator


class ROBOKIN_OT_reset_record(RobotOperator, bpy.types.Operator):
    """Make the damaged record of a bone anew: what is whole of it stays, the rest comes from the bone's fields and its
    rest pose, or is guessed"""

    bl_idname = "robokin.reset_record"
    bl_label = "Reset Record"

    bone: bpy.props.StringProperty(
        name="Bone",
        description="Bone whose record is damaged; empty: the record of the armature itself",
        options={"SKIP_SAVE"},
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        reset_record(context, obj, self.bone)
        self.report({"INFO"}, f"the record of {self.bone or obj.data.name!r} is reset: check its joint")
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_reset_record,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
