"""The sidebar's Retarget panel: a captured motion, which bone leads which tip, and the button that makes tasks."""

from __future__ import annotations

import bpy

from ...properties.pairs.retarget_pairs import RETARGET_KINDS
from ..prepared.robot_panel import RobotPanel, draw_entries, draw_text

_KIND_ICONS = {identifier: icon for identifier, _, _, icon, _ in RETARGET_KINDS}


class ROBOKIN_UL_retarget_pairs(bpy.types.UIList):
    bl_idname = "ROBOKIN_UL_retarget_pairs"

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.split(factor=0.58)  # the name has an icon, too
        row.prop(item, "name", text="", emboss=False, icon=_KIND_ICONS[item.kind])
        row.label(text=item.source or "no bone", icon="NONE" if item.source else "QUESTION")


class ROBOKIN_PT_retarget(RobotPanel, bpy.types.Panel):
    bl_label = "Retarget"
    bl_idname = "ROBOKIN_PT_retarget"
    page = "ANIMATE"
    bl_order = 9
    bl_options = {"DEFAULT_CLOSED"}

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        robot = obj.robokin
        layout.prop(robot, "retarget_source")
        if robot.retarget_source is None:
            draw_text(context, layout, "Choose the armature that has the motion, as of a BVH file", "INFO")
        layout.operator("robokin.retarget_guess", icon="VIEWZOOM")
        draw_entries(layout, robot, "retarget_pairs", "retarget_pair")
        if 0 <= robot.active_retarget_pair < len(robot.retarget_pairs):
            item = robot.retarget_pairs[robot.active_retarget_pair]
            column = layout.column()
            column.prop_search(item, "tip", obj.data, "bones")
            if robot.retarget_source is not None and robot.retarget_source.type == "ARMATURE":
                column.prop_search(item, "source", robot.retarget_source.data, "bones")
            column.prop(item, "kind")
            column.prop(item, "priority")
        layout.prop(robot, "retarget_scale", text="Scale (0: Guess)")
        layout.operator("robokin.retarget_motion", icon="CON_ARMATURE")


CLASSES = (ROBOKIN_UL_retarget_pairs, ROBOKIN_PT_retarget)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
