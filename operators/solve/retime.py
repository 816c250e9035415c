"""Retime: the animation keeps its path and gets new timing."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ...properties.bridge import binding
from ...properties.results.stored_results import store_failures
from ...properties.solver_settings import RETIME_MODES
from ...scene.animation.frames import after_end
from ...scene.bake.retime import retime_limits, retime_steps
from ..common import FrameRangeOperator
from ..handlers.scene_marks import motion_mark
from ..modal import ModalOperator

_LIMITS = ("jerk", "power", "tool_speed", "tool_acceleration")


class ROBOKIN_OT_retime(ModalOperator, FrameRangeOperator, bpy.types.Operator):
    """Give the animation of the range new timing inside the limits; its path stays (Esc stops, and writes nothing)"""

    bl_idname = "robokin.retime"
    bl_label = "Retime"

    mode: bpy.props.EnumProperty(
        name="Timing", description="How fast it goes", items=RETIME_MODES, options={"SKIP_SAVE"}
    )
    duration: bpy.props.FloatProperty(
        name="Duration", description="How long it takes", subtype="TIME_ABSOLUTE", min=0.0, options={"SKIP_SAVE"}
    )
    efforts: bpy.props.BoolProperty(
        name="Efforts", description="Keep the effort limits of the drives, too", options={"SKIP_SAVE"}
    )

    jerk: bpy.props.BoolProperty(name="Jerk", description="Limit the jerks of the joints, too", options={"SKIP_SAVE"})
    power: bpy.props.FloatProperty(
        name="Power W", description="What each drive gives at most [W]; 0: not limited", min=0.0, options={"SKIP_SAVE"}
    )
    tool_speed: bpy.props.FloatProperty(
        name="Tool Speed",
        description="How fast each tool is at most; 0: not limited",
        unit="VELOCITY",
        min=0.0,
        options={"SKIP_SAVE"},
    )
    tool_acceleration: bpy.props.FloatProperty(
        name="Tool Acceleration",
        description="How much each tool accelerates at most; 0: not limited",
        unit="ACCELERATION",
        min=0.0,
        options={"SKIP_SAVE"},
    )

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        robot, settings = binding(obj), obj.robokin.solver
        first, last = self.span(context.scene, settings)
        mode = self.given("mode", settings.retime_mode)
        duration = self.given("duration", settings.retime_duration)
        efforts = self.given("efforts", settings.efforts)
        limits = retime_limits(obj, robot, *(self.given(name, getattr(settings, f"retime_{name}")) for name in _LIMITS))
        result = yield from retime_steps(context.scene, obj, robot, first, last, mode, duration, efforts, limits)
        store_failures(settings.retime_limits, result.rows)
        settings.retime_mark = settings.rewritten_mark = motion_mark(obj, robot)
        self.report({"INFO"}, result.summary() + after_end(context.scene, result.last))


CLASSES = (ROBOKIN_OT_retime,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
