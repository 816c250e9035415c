"""Stored postures: the list, and what can be done with a pose as a whole."""

from __future__ import annotations

import bpy

from .prepared.robot_panel import RobotPanel, draw_text


class ROBOKIN_UL_postures(bpy.types.UIList):
    bl_idname = "ROBOKIN_UL_postures"

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.row(align=True)
        row.prop(item, "name", text="", emboss=False, icon="POSE_HLT")
        for role, used, sign in (
            ("HOME", data.home_posture == item.name, "HOME"),
            ("START", data.solver.posture == item.name, "PLAY"),
        ):
            button = row.row(align=True)
            button.active = used
            chosen = button.operator("robokin.posture_role", text="", icon=sign, emboss=used)
            chosen.name, chosen.role = item.name, role
        row.operator("robokin.posture_apply", text="", icon="CHECKMARK").name = item.name


class ROBOKIN_MT_postures(bpy.types.Menu):
    bl_label = "Posture Specials"
    bl_idname = "ROBOKIN_MT_postures"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator("robokin.posture_overwrite", icon="FILE_REFRESH")
        layout.operator("robokin.posture_add", text="Add from Selected Bones", icon="ADD").selected = True
        layout.operator("robokin.posture_mirror", icon="MOD_MIRROR")
        layout.separator()
        layout.operator("robokin.copy_joint_values", text="Copy as Lines", icon="COPYDOWN").style = "LINES"
        layout.operator("robokin.copy_joint_values", text="Copy as JSON").style = "JSON"
        layout.separator()
        layout.operator("robokin.import_srdf", icon="IMPORT")
        layout.operator("robokin.export_srdf", icon="EXPORT")


class ROBOKIN_PT_postures(RobotPanel, bpy.types.Panel):
    bl_label = "Postures"
    bl_idname = "ROBOKIN_PT_postures"
    page = "POSE"
    bl_order = 1

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        robot = obj.robokin
        row = layout.row()
        row.template_list("ROBOKIN_UL_postures", "", robot, "postures", robot, "active_posture", rows=4)
        buttons = row.column(align=True)
        buttons.operator("robokin.posture_add", text="", icon="ADD").selected = False
        buttons.operator("robokin.posture_remove", text="", icon="REMOVE")
        buttons.menu("ROBOKIN_MT_postures", text="", icon="DOWNARROW_HLT")
        if len(robot.postures) > 1:
            buttons.separator()
            buttons.operator("robokin.posture_move", text="", icon="TRIA_UP").direction = "UP"
            buttons.operator("robokin.posture_move", text="", icon="TRIA_DOWN").direction = "DOWN"
        if not robot.postures:
            draw_text(context, layout, "+ stores the present pose", "INFO")
        column = layout.column(align=True)
        row = column.row(align=True)
        row.operator("robokin.postures", icon="POSE_HLT")
        row.operator("robokin.mirror_pose", text="Mirror", icon="MOD_MIRROR")
        row = column.row(align=True)
        row.operator("robokin.copy_joint_values", text="Copy", icon="COPYDOWN")
        row.operator("robokin.paste_joint_values", text="Paste", icon="PASTEDOWN")


CLASSES = (ROBOKIN_UL_postures, ROBOKIN_MT_postures, ROBOKIN_PT_postures)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
