"""Smooth: the animation repaired where it breaks limits."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ...properties.bridge import binding
from ...properties.results.result_text import in_scene_units
from ...robokin.units import counted
from ...scene.bake.smooth import smooth_steps
from ..common import FramesOperator, check_report
from ..handlers.scene_marks import motion_mark
from ..modal import ModalOperator


class ROBOKIN_OT_smooth(ModalOperator, FramesOperator, bpy.types.Operator):
    """Make the animation of the range the nearest motion that keeps all limits (Esc stops, and writes nothing)"""

    bl_idname = "robokin.smooth"
    bl_label = "Smooth"

    time: bpy.props.FloatProperty(
        name="Time",
        description="Shaking faster than about this is smoothed away; 0 changes no more than the limits ask for",
        subtype="TIME_ABSOLUTE",
        default=0.04,
        min=0.0,
        soft_max=1.0,
    )
    new_action: bpy.props.BoolProperty(name="New Action", description="Write into a new action", options={"SKIP_SAVE"})
    report_path: bpy.props.StringProperty(
        name="Report", description="Write the report as JSON", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )

    keeps_best = True

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        check_report(self.report_path)
        frames = self.frames(context.scene, obj.robokin.solver)
        new = self.given("new_action", obj.robokin.solver.new_action)
        result = yield from smooth_steps(context.scene, obj, frames, self.time, new, self.is_enough)
        self.write_report(self.report_path, result.to_dict())
        obj.robokin.solver.rewritten_mark = motion_mark(obj, binding(obj))
        said = in_scene_units(context.scene, result.summary())
        self.report({"WARNING" if result.after else "INFO"}, f"{counted(len(frames), 'frame')}: {said}")


CLASSES = (ROBOKIN_OT_smooth,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
