"""Named poses and links that may touch of an SRDF file, and back."""

from __future__ import annotations

import os

import bpy
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ...properties.bridge import robot_model
from ...properties.registration import registration
from ...robokin import import_srdf
from ...scene.srdf import take_srdf, write_srdf
from ..common import RobotOperator, chosen_file


class ROBOKIN_OT_import_srdf(RobotOperator, bpy.types.Operator, ImportHelper):
    """Take the named poses of an SRDF file as stored postures, in place of those of the same names, and its links that
    may touch"""

    bl_idname = "robokin.import_srdf"
    bl_label = "Import SRDF"

    filename_ext = ".srdf"
    filter_glob: bpy.props.StringProperty(default="*.srdf;*.xml", options={"HIDDEN"})

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        path = bpy.path.abspath(self.filepath)
        model = robot_model(obj)
        found = import_srdf(path, model)
        for warning in found.warnings:
            self.report({"WARNING"}, warning)
        self.report({"INFO"}, f"{os.path.basename(path)}: {take_srdf(obj, model, found)}")
        return {"FINISHED"}


class ROBOKIN_OT_export_srdf(RobotOperator, bpy.types.Operator, ExportHelper):
    """Write the stored postures of the robot, and its links that may touch, as an SRDF file"""

    bl_idname = "robokin.export_srdf"
    bl_label = "Export SRDF"
    bl_options = {"REGISTER"}  # the scene is not changed: nothing to undo

    filename_ext = ".srdf"
    filter_glob: bpy.props.StringProperty(default="*.srdf", options={"HIDDEN"})

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        path = chosen_file(obj, self.filepath, ".srdf")
        self.report({"INFO"}, f"{path.name}: {write_srdf(obj, str(path))}")
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_import_srdf, ROBOKIN_OT_export_srdf)


def _import_item(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.operator(ROBOKIN_OT_import_srdf.bl_idname, text="Robot Postures (.srdf)")


def _export_item(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.operator(ROBOKIN_OT_export_srdf.bl_idname, text="Robot Postures (.srdf)")


register, unregister = registration(
    CLASSES, (bpy.types.TOPBAR_MT_file_import, _import_item), (bpy.types.TOPBAR_MT_file_export, _export_item)
)
