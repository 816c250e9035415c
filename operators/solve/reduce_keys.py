"""Reduce Keys: fewer keys, with a bound on what the tools are off."""

from __future__ import annotations

from collections.abc import Generator

import bpy
import numpy as np

from ...properties.bridge import binding
from ...properties.results.result_text import in_scene_units, scaled_lengths
from ...scene.animation.key_reduction import reduce_steps
from ...scene.tasks.root_frames import metres_per_world_unit, world_scale
from ..common import FrameRangeOperator, check_report
from ..handlers.scene_marks import motion_mark
from ..modal import ModalOperator

DEFAULT = 1e-3  # [m] of the robot


class ROBOKIN_OT_reduce_keys(ModalOperator, FrameRangeOperator, bpy.types.Operator):
    """Leave as few keys in the range as keep each tool near its path and the limits (Esc stops, and writes nothing)"""

    bl_idname = "robokin.reduce_keys"
    bl_label = "Reduce Keys"

    position: bpy.props.FloatProperty(
        name="Position",
        description="How far each tool may be off its path",
        subtype="DISTANCE",
        unit="LENGTH",
        default=DEFAULT,
        min=0.0,
        options={"SKIP_SAVE"},
    )
    rotation: bpy.props.FloatProperty(
        name="Rotation",
        description="By which angle each tool may be off",
        subtype="ANGLE",
        default=np.radians(0.5),
        min=np.radians(1e-3),
        soft_max=np.radians(45.0),
    )
    new_action: bpy.props.BoolProperty(name="New Action", description="Write into a new action", options={"SKIP_SAVE"})
    report_path: bpy.props.StringProperty(
        name="Report", description="Write the report as JSON", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        check_report(self.report_path)
        settings = obj.robokin.solver
        first, last = self.span(context.scene, settings)
        new = self.given("new_action", settings.new_action)
        robot = binding(obj)
        unit = metres_per_world_unit(obj, robot)
        bounds = unit * self.given("position", DEFAULT / unit), self.rotation
        result = yield from reduce_steps(context.scene, obj, first, last, *bounds, bool(new))
        self.write_report(self.report_path, result.to_dict())
        settings.rewritten_mark = motion_mark(obj, robot)
        off = scaled_lengths(result.summary(), world_scale(obj, robot))
        self.report({"INFO"}, f"frames {first} to {last}: {in_scene_units(context.scene, off)}")


CLASSES = (ROBOKIN_OT_reduce_keys,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
