"""The list of moves, the active one, and the button that makes keys of them."""

from __future__ import annotations

import bpy

from ...properties.moves import MOVE_KINDS
from ...properties.results import readouts
from ...properties.results.result_text import in_scene_units
from ..prepared.robot_panel import RobotPanel, draw_entries, draw_text, options

_KIND_ICONS = {identifier: icon for identifier, _, _, icon, _ in MOVE_KINDS}

_STEPS = (("PREVIOUS", "", "TRIA_LEFT"), ("ACTIVE", "Go There", "NONE"), ("NEXT", "", "TRIA_RIGHT"))


class ROBOKIN_UL_moves(bpy.types.UIList):
    bl_idname = "ROBOKIN_UL_moves"

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.split(factor=0.65)
        preview = readouts.moves(item.id_data)
        is_failing = preview is not None and preview.failing == index
        row.prop(item, "name", text="", emboss=False, icon="ERROR" if is_failing else _KIND_ICONS[item.kind])
        if item.last > item.first:
            row.label(text=f"{item.first} - {item.last}")


class ROBOKIN_PT_moves(RobotPanel, bpy.types.Panel):
    bl_label = "Moves"
    bl_idname = "ROBOKIN_PT_moves"
    page = "ANIMATE"
    bl_order = 8
    bl_options = {"DEFAULT_CLOSED"}

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        robot = obj.robokin
        draw_entries(layout, robot, "moves", "move")
        if not robot.moves:
            draw_text(context, layout, "+ adds a move to the present pose", "INFO")
        elif 0 <= robot.active_move < len(robot.moves):
            _draw_move(layout, robot, robot.moves[robot.active_move])
        if robot.moves:
            row = layout.row(align=True)
            for direction, text, icon in _STEPS:
                row.operator("robokin.next_target", text=text, icon=icon).direction = direction
        row = layout.row(align=True)
        row.operator("robokin.bake_moves", icon="ACTION")
        if len(robot.moves) > 1:
            row.operator("robokin.bake_moves", text="Active").which = "ACTIVE"
        action = obj.animation_data.action if obj.animation_data else None
        if action is not None and any(item.last > item.first for item in robot.moves):
            layout.label(text=f"Stretches of {action.name}", icon="ACTION")
        body = options(layout, "robokin_moves_options")
        if body is not None:
            _draw_options(body, robot)
        preview = readouts.moves(obj)
        if preview is not None and preview.problem:
            start = "From the present pose" if preview.start is None else f"From frame {preview.start}"
            draw_text(context, layout, f"{start}: {in_scene_units(context.scene, preview.problem)}", "ERROR")


def _draw_move(layout: bpy.types.UILayout, robot: bpy.types.PropertyGroup, item: bpy.types.PropertyGroup) -> None:
    column = layout.column(align=True)
    column.prop(item, "kind")
    if item.kind == "JOINT":
        column.prop_search(item, "posture", robot, "postures", icon="POSE_HLT")
    if item.kind != "JOINT" or not item.posture:
        column.prop(item, "tip")
        column.prop(item, "target")
        if item.kind == "CIRCLE":
            column.prop(item, "via")
    column.prop(item, "speed")


def _draw_options(layout: bpy.types.UILayout, robot: bpy.types.PropertyGroup) -> None:
    """What is rare of the active move, then of all."""
    if 0 <= robot.active_move < len(robot.moves):
        item = robot.moves[robot.active_move]
        if item.kind != "JOINT":
            layout.prop(item, "tool_speed")
        for name in ("blend", "wait", "progress"):
            layout.prop(item, name)
    limits = options(layout, "robokin_moves_limits", "Limits of Drives and Tools")
    if limits is not None:
        for name in ("efforts", "retime_power", "retime_tool_speed", "retime_tool_acceleration"):
            limits.prop(robot.solver, name)


CLASSES = (ROBOKIN_UL_moves, ROBOKIN_PT_moves)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
