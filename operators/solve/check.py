"""Check: limits, speeds, accelerations and tasks of the animation as it stands; nothing is moved."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ...properties.bridge import binding
from ...properties.results.result_text import in_scene_units
from ...properties.results.stored_results import store_failures
from ...scene.bake.retime import set_limits
from ...scene.check.check import check_steps
from ...scene.check.markers import clear_markers, set_markers
from ..common import FramesOperator, RobotOperator, check_report
from ..handlers.scene_marks import motion_mark
from ..modal import ModalOperator


class ROBOKIN_OT_check(ModalOperator, FramesOperator, bpy.types.Operator):
    """Compare the animation as it stands with the tasks and with the limits on position, speed and acceleration"""

    bl_idname = "robokin.check"
    bl_label = "Check Animation"

    markers: bpy.props.BoolProperty(
        name="Timeline Markers", description="Mark where something begins to fail", options={"SKIP_SAVE"}
    )
    efforts: bpy.props.BoolProperty(
        name="Efforts", description="Check the efforts of the drives, too", options={"SKIP_SAVE"}
    )
    tipping: bpy.props.BoolProperty(
        name="Tipping",
        description="Check that the zero-moment point stays above what the robot stands on: the points of a Support "
        "task, or its feet",
        options={"SKIP_SAVE"},
    )
    singularity: bpy.props.FloatProperty(
        name="Singularity",
        description="Warn of frames in which the smallest singular value of a tool is less; 0: do not look",
        min=0.0,
        options={"SKIP_SAVE"},
    )
    report_path: bpy.props.StringProperty(
        name="Report", description="Write the report as JSON", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        check_report(self.report_path)
        scene, robot, settings = context.scene, binding(obj), obj.robokin.solver
        frames, efforts = self.frames(scene, settings), self.given("efforts", settings.efforts)
        near = self.given("singularity", settings.singularity)
        own = {"limits": set_limits(obj, robot), "tipping": self.given("tipping", settings.tipping)}
        own |= {"efforts": efforts, "singularity": near}
        found = yield from check_steps(scene, context.view_layer, obj, robot, frames, **own)
        settings.check_summary, settings.check_passed = found.summary(), found.passed
        settings.check_mark = motion_mark(obj, robot)
        store_failures(settings.check_failures, [(r.first, r.last, r.status, r.reason) for r in found.rows()])
        clear_markers(obj)
        if self.given("markers", settings.markers):
            set_markers(scene, obj, found)
        self.write_report(self.report_path, found.to_dict())
        self.report({"INFO" if found.passed else "WARNING"}, in_scene_units(scene, found.summary()))


class ROBOKIN_OT_check_clear(RobotOperator, bpy.types.Operator):
    """Remove the timeline markers and the result of the last check"""

    bl_idname = "robokin.check_clear"
    bl_label = "Clear Check"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        clear_markers(obj)
        obj.robokin.solver.check_summary = ""
        store_failures(obj.robokin.solver.check_failures, [])
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_check, ROBOKIN_OT_check_clear)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
