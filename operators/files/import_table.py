"""File > Import > Robot Table (.csv): a robot from Denavit-Hartenberg parameters, screws or joint axes."""

from __future__ import annotations

import os

import bpy
from bpy_extras.io_utils import ImportHelper

from ...properties.bridge import import_robot
from ...properties.registration import registration
from ...robokin import load_robot_table
from ..common import ReportingOperator, report_robot
from .import_urdf import ROOTS


class ROBOKIN_OT_import_table(ReportingOperator, bpy.types.Operator, ImportHelper):
    """Make a robot from a table of Denavit-Hartenberg parameters, screws or joint axes"""

    bl_idname = "robokin.import_table"
    bl_label = "Import Robot Table"

    filename_ext = ".csv"
    filter_glob: bpy.props.StringProperty(default="*.csv", options={"HIDDEN"})
    root: bpy.props.EnumProperty(name="Base", description="How the robot's base moves", items=ROOTS)
    meshes: bpy.props.BoolProperty(
        name="Shapes", description="Show the links: rods between the joints, drums about their axes", default=True
    )

    def work(self, context: bpy.types.Context) -> set[str]:
        path = bpy.path.abspath(self.filepath)
        model = load_robot_table(path, self.root)
        obj, warnings = import_robot(context, model, meshes=self.meshes)
        report_robot(self, obj, model, warnings, os.path.basename(path))
        return {"FINISHED"}

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_properties("root", "meshes")


def draw_menu_item(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.operator(ROBOKIN_OT_import_table.bl_idname, text="Robot Table (.csv)")


register, unregister = registration((ROBOKIN_OT_import_table,), (bpy.types.TOPBAR_MT_file_import, draw_menu_item))
