"""Import motion: joint values over time from a file become keys."""

from __future__ import annotations

import bpy
from bpy_extras.io_utils import ImportHelper

from ...properties.bridge import binding
from ...properties.registration import registration
from ...robokin import RobokinError
from ...robokin.units import counted
from ...scene.animation.motion_keys import key_motion
from ...solvers.motion.files import absent_note, read_known_motion
from ..common import RobotOperator


class ROBOKIN_OT_import_motion(RobotOperator, ImportHelper, bpy.types.Operator):
    """Key the joints as a CSV, JSON or JointTrajectory file of joint values over time says, by the joints' names"""

    bl_idname = "robokin.import_motion"
    bl_label = "Import Motion"

    filename_ext = ".csv"
    filter_glob: bpy.props.StringProperty(default="*.csv;*.json;*.yaml;*.yml", options={"HIDDEN"})
    frame_start: bpy.props.IntProperty(
        name="First", description="Frame in which the motion begins", default=1, options={"SKIP_SAVE"}
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.given("frame_start", context.scene.frame_start)
        return ImportHelper.invoke(self, context, event)

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        if not self.filepath:
            raise RobokinError(f"no file to read a motion of {obj.name!r} from: set filepath")
        robot = binding(obj)
        motion, others, absent = read_known_motion(bpy.path.abspath(self.filepath), robot.model)
        if absent:
            self.report({"WARNING"}, absent_note(self.filepath, absent))
        if others:
            self.report({"WARNING"}, f"no joints of {robot.model.name!r}, left out: {', '.join(others)}")
        first = self.given("frame_start", context.scene.frame_start)
        frames, outside = key_motion(context.scene, obj, motion, first, robot)
        if outside:
            self.report(
                {"WARNING"}, f"moved inside the limits in {counted(len(outside), 'frame')}, the first {outside[0]}"
            )
        self.report({"INFO"}, f"frames {frames[0]} to {frames[-1]} keyed, {motion.duration:.3f} s")
        return {"FINISHED"}

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_properties("frame_start")


def _menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.operator(ROBOKIN_OT_import_motion.bl_idname, text="Robot Motion (.csv, .json, .yaml)")


register, unregister = registration((ROBOKIN_OT_import_motion,), (bpy.types.TOPBAR_MT_file_import, _menu))
