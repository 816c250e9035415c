"""Slow Down Targets: where the robot cannot keep up, what it follows takes the time that the joints need."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ...properties.bridge import binding
from ...robokin import RobokinError
from ...scene.bake.start import bake_start
from ...scene.slower_targets import (
    end_of,
    others_line,
    requested_times,
    slow_targets,
    spared,
    targets_line,
)
from ...scene.target_keys import followed_by
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
        moved, others = slow_targets(scene, obj, robot, frames, self.factor, followed_by(obj, robot))
        obj.robokin.solver.bake_stretch = 1.0
        self.report({"INFO"}, targets_line(moved, self.factor, end_of(frames, self.factor)) + advice)
        if others:
            self.report({"WARNING"}, others_line(others))


CLASSES = (ROBOKIN_OT_slow_targets,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
