"""Tables of robots: new ones as texts, and the robot's own Denavit-Hartenberg parameters or screws."""

from __future__ import annotations

import math
from functools import lru_cache

import bpy
import numpy as np

from ..properties.bridge import binding
from ..properties.pages import shown_page
from ..properties.selected.active_robot import active_robot
from ..robokin import RobokinError, RobotModel, dh_table, screw_table
from ..robokin.arrays import Array
from ..robokin.spatial import so3
from .prepared.robot_panel import CATEGORY, draw_text

DH_HEADINGS = ("", "θ °", "d mm", "a mm", "α °")
SCREW_HEADINGS = ("", "v m", "w")


@lru_cache(maxsize=8)
def table_cells(model: RobotModel, kind: str, link: str) -> tuple[tuple[str, ...], ...]:
    """Rows of cells, the headings first, then one row per joint (q where its value is added), then the fixed frames
    that are not trivial. Raises RobokinError for a robot that has no such table."""
    if kind == "SCREWS":
        screws = screw_table(model, link)
        rows = [(str(row.joint), _vector(row.screw[:3]), _vector(row.screw[3:])) for row in screws.rows]
        return SCREW_HEADINGS, *rows
    table = dh_table(model, link, kind.lower())
    found = [DH_HEADINGS]
    for row in table.rows:
        theta, d = _number(math.degrees(row.theta)), _number(1e3 * row.d)
        theta, d = (_plus_q(theta), d) if row.type == "R" else (theta, _plus_q(d))
        found.append((row.joint, theta, d, _number(1e3 * row.a), _number(math.degrees(row.alpha))))
    return tuple(found)


@lru_cache(maxsize=8)
def frame_lines(model: RobotModel, kind: str, link: str) -> tuple[str, ...]:
    """The fixed frames of a table, one line for each that is not the identity. Raises RobokinError."""
    if kind == "SCREWS":
        frames = {"Home": screw_table(model, link).home}
    else:
        table = dh_table(model, link, kind.lower())
        frames = {"Base": table.base, "Tool": table.tool}
    return tuple(
        f"{name}: {_vector(T[:3, 3])} m, {_vector(np.degrees(so3.to_rpy(T[:3, :3])))} ° (RPY)"
        for name, T in frames.items()
        if abs(T - np.eye(4)).max() > 1e-9
    )


def _number(value: float) -> str:
    return f"{round(value, 4) + 0.0:.5g}"


def _plus_q(number: str) -> str:
    return "q" if number == "0" else f"q{number}" if number[0] == "-" else f"q+{number}"


def _vector(values: Array) -> str:
    return "  ".join(_number(float(x)) for x in values)


def draw_new(layout: bpy.types.UILayout) -> None:
    column = layout.column(align=True)
    column.operator_menu_enum("robokin.table_example", "kind", text="New Table", icon="FILE_NEW")
    column.operator("robokin.robot_from_text", text="From Text", icon="OUTLINER_OB_ARMATURE")


def draw_table(context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    settings = obj.robokin
    row = layout.row()
    row.use_property_split = False
    row.prop(settings, "table_kind", expand=True)
    layout.prop_search(settings, "table_tip", obj.pose, "bones", text="Tip")
    try:
        robot = binding(obj)
        link = robot.link_of_bone.get(settings.table_tip, settings.table_tip)
        cells = table_cells(robot.model, settings.table_kind, link)
        frames = frame_lines(robot.model, settings.table_kind, link)
    except RobokinError as fault:
        draw_text(context, layout, str(fault), "INFO")
        return
    grid = layout.grid_flow(row_major=True, columns=len(cells[0]), even_columns=False, align=True)
    for row in cells:
        for cell in row:
            grid.label(text=cell)
    for line in frames:
        draw_text(context, layout, line)
    layout.operator("robokin.robot_to_text", text="Copy as Text", icon="COPYDOWN")


class ROBOKIN_PT_tables(bpy.types.Panel):
    bl_label = "Tables"
    bl_idname = "ROBOKIN_PT_tables"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = CATEGORY
    bl_order = 20
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return shown_page(context) == "ROBOT" or active_robot(context) is None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        obj = active_robot(context)
        if obj is not None:
            draw_table(context, layout, obj)
        draw_new(layout)


class ROBOKIN_PT_text_tables(bpy.types.Panel):
    bl_label = "Robot Tables"
    bl_idname = "ROBOKIN_PT_text_tables"
    bl_space_type = "TEXT_EDITOR"
    bl_region_type = "UI"
    bl_category = CATEGORY

    def draw(self, context: bpy.types.Context) -> None:
        draw_new(self.layout)


CLASSES = (ROBOKIN_PT_tables, ROBOKIN_PT_text_tables)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
