"""Slow Down Targets: where the robot cannot keep up, what it follows takes the time that the joints need."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ...properties.bridge import binding
from ...robokin import RobokinError
from ...scene.animation.frames import chosen_span, end_span
from ...scene.bake.start import bake_start
from ...scene.slower_targets import end_of, requested_times, slow_targets, spared
from ..common import FramesOperator
from ..modal import ModalOperator


class ROBOKIN_OT_slow_targets(ModalOperator, FramesOperator, bpy.types.Operator):
    """Move the keys of the targets apart, so far that the robot can keep up with them; then bake again"""

    bl_idname = "robokin.slow_targets"
    bl_label = "Slow Down Targets"

    factor: bpy.props.FloatProperty(
        name="Factor",
        description="How many times as long the targets take; 0: as long as the joints need",
        min=0.0,
        soft_max=10.0,
        options={"SKIP_SAVE"},
    )

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        settings, scene, robot = obj.robokin.solver, context.scene, binding(obj)
        frames, advice = self.frames(scene, settings), ""
        if self.factor == 0.0:
            q0 = bake_start(scene, obj, robot, settings.start)
            needed = yield from requested_times(scene, context.view_layer, obj, robot, frames, q0)
            if needed <= 1.0:
                raise RobokinError(f"{obj.name!r}: the robot can keep up with its targets, slower ones do not help")
            self.factor, advice = spared(needed), ". Bake again"
        first, last = self.frame_start, self.frame_end
        moved, others = slow_targets(scene, obj, robot, first, self.factor)
        settings, end = obj.robokin.solver, end_of((first, last), self.factor)
        if chosen_span(scene, settings)[1] == last:
            end_span(scene, settings, end)
        settings.bake_stretch = 1.0
        names = ", ".join(each.name for each in moved)
        self.report({"INFO"}, f"{names}: {self.factor:.4g} times as long, to frame {end}{advice}")
        if others:
            self.report({"WARNING"}, f"not only keys move {', '.join(others)}: what does keeps its time")


CLASSES = (ROBOKIN_OT_slow_targets,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
