"""File > Export > Robot (.urdf): the robot itself."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy_extras.io_utils import ExportHelper

from ...properties.bridge import export_urdf
from ...properties.registration import registration
from ...properties.selected.active_robot import active_robot
from ..common import RobotOperator, chosen_file

_SHOWN = 8  # lines of what URDF cannot say that are shown one by one


class ROBOKIN_OT_export_urdf(RobotOperator, ExportHelper, bpy.types.Operator):
    """Write the robot as a URDF, what was modeled in Blender as mesh files beside it"""

    bl_idname = "robokin.export_urdf"
    bl_label = "Export URDF"
    bl_options = {"REGISTER"}  # the scene is not changed: nothing to undo

    filename_ext = ".urdf"
    filter_glob: bpy.props.StringProperty(default="*.urdf", options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not self.filepath:
            folder = Path(bpy.data.filepath).parent if bpy.data.filepath else Path.home()
            self.filepath = str(folder / f"{bpy.path.clean_name(active_robot(context).name)}.urdf")
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        path = chosen_file(obj, self.filepath, ".urdf")
        losses = export_urdf(obj, str(path), context.evaluated_depsgraph_get())
        for line in losses[:_SHOWN]:
            self.report({"WARNING"}, line)
        if len(losses) > _SHOWN:
            self.report({"WARNING"}, f"and {len(losses) - _SHOWN} more that a URDF cannot say")
        self.report({"INFO"}, f"{path.name}: robot {obj.name!r} written")
        return {"FINISHED"}


def _menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.operator(ROBOKIN_OT_export_urdf.bl_idname, text="Robot (.urdf)")


register, unregister = registration((ROBOKIN_OT_export_urdf,), (bpy.types.TOPBAR_MT_file_export, _menu))
