"""From an ordinary armature to a robot, and the joints of many bones at once."""

from __future__ import annotations

import bpy

from ..properties.bridge import is_robot
from ..properties.bridge.record.stored import HELPER_KEY, KEY
from .prepared.robot_panel import CATEGORY, RobotPanel, draw_text


class ROBOKIN_PT_make_robot(bpy.types.Panel):
    bl_label = "Make Robot"
    bl_idname = "ROBOKIN_PT_make_robot"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = CATEGORY
    bl_order = 0

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.object
        return obj is not None and obj.type == "ARMATURE" and (not is_robot(obj) or _selects_others(context))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        if is_robot(context.object):
            draw_text(context, layout, "Bones are selected that are no joints yet", "INFO")
            layout.operator("robokin.make_robot", text="Make Selected Bones Joints", icon="BONE_DATA").selected = True
            return
        draw_text(context, layout, "Locks, limits and the rest pose say what joint each bone is", "INFO")
        column = layout.column(align=True)
        column.scale_y = 1.3
        column.operator("robokin.make_robot", icon="ARMATURE_DATA")
        column.operator("robokin.convert_rig", icon="CON_KINEMATIC")


def _selects_others(context: bpy.types.Context) -> bool:
    selected = context.selected_pose_bones_from_active_object or ()
    owners = [bone.bone for bone in selected if bone.bone is not None]
    return any(KEY not in bone and HELPER_KEY not in bone for bone in owners)


class ROBOKIN_PT_many_joints(RobotPanel, bpy.types.Panel):
    bl_label = "Selected Joints"
    bl_idname = "ROBOKIN_PT_many_joints"
    bl_parent_id = "ROBOKIN_PT_joint"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and len(context.selected_pose_bones_from_active_object or ()) > 0

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        count = len(context.selected_pose_bones_from_active_object)
        row = layout.row(align=True)
        row.operator("robokin.set_joint", text=f"Set {count} Joints..." if count > 1 else "Set Joint...")
        row.operator("robokin.copy_joint", text="Copy to Selected", icon="COPYDOWN")


CLASSES = (ROBOKIN_PT_make_robot, ROBOKIN_PT_many_joints)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
