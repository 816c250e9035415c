"""The gizmo of the active joint in Pose Mode: an arc with a needle, a rail, the rings and the cone of a ball; knobs at
its limits. What is dragged is the operator `robokin.drag_joint`."""

from __future__ import annotations

import bpy

from ...properties.bridge.record.stored import ROBOT_KEY
from ...properties.overrides import takes_changes
from ...robokin.arrays import Array
from ..overlays.robot_view import RobotView
from ..shapes.on_screen import pixel_size
from .handle_gizmo import HandleGroup
from .handles import Handle, joint_handles

MOST = 9  # handles of a joint: three freedoms with two limits each


def shown_bone(context: bpy.types.Context) -> bpy.types.Bone | None:
    """The active bone, where its gizmo is to be shown; asked for at every redraw."""
    obj = context.object
    if obj is None or context.mode != "POSE" or obj.type != "ARMATURE" or ROBOT_KEY not in obj.data:
        return None
    settings = context.scene.robokin.overlays
    is_shown = settings.show and settings.joint_gizmo and not settings.shape_gizmo
    return obj.data.bones.active if is_shown and takes_changes(obj) else None


class ROBOKIN_GGT_joint(HandleGroup, bpy.types.GizmoGroup):
    bl_idname = "ROBOKIN_GGT_joint"
    bl_label = "Joint"
    most = MOST

    @classmethod
    def shown(cls, context: bpy.types.Context) -> tuple | None:
        bone = shown_bone(context)
        return None if bone is None else (context.object.session_uid, bone.name)

    def handles(self, context: bpy.types.Context, view: RobotView, perspective: Array, width: float) -> list[Handle]:
        """Raises RobokinError."""
        structure, bone = view.structure, context.object.data.bones.active
        joint = structure.robot.joint_of_bone.get(bone.name) if structure and bone else None
        if structure is None or joint is None or not joint.nv:
            return []
        index = structure.robot.model.joint_index(joint.name)
        point = view.links[index, :3, 3]
        return joint_handles(view, index, pixel_size(point, perspective, width))


CLASSES = (ROBOKIN_GGT_joint,)
