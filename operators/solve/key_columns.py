"""What the animation takes, and how near its tools come to singularities, as curves."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import ClassVar

import bpy

from ...properties.bridge import binding
from ...properties.solver_settings import ALL_CURVES, DYNAMICS_CURVES
from ...robokin import RobokinError
from ...robokin.units import counted
from ...scene.animation.columns import DYNAMICS, SINGULARITIES, clear_columns, key_columns
from ...scene.animation.curves import refuse_unwritable
from ...scene.bake.samples import sample_motion
from ...scene.dynamics import chosen_columns, dynamics_steps
from ...scene.singularities import singularities_steps
from ...solvers.progress import scaled
from ..common import FramesOperator, RobotOperator
from ..modal import ModalOperator


class ROBOKIN_OT_key_dynamics(ModalOperator, FramesOperator, bpy.types.Operator):
    """Write velocity to jerk, effort and power of the joints, energy, momentum, the load on the base, the zero-moment
    point, and how tools and selected links move, of the animation as it stands as curves for the Graph Editor"""

    bl_idname = "robokin.key_dynamics"
    bl_label = "Key Dynamics"

    curves: bpy.props.EnumProperty(
        name="Curves",
        description="Which curves are written",
        items=DYNAMICS_CURVES,
        options={"ENUM_FLAG", "SKIP_SAVE"},
        default=ALL_CURVES,
    )

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        frames, robot = self.frames(context.scene, obj.robokin.solver), binding(obj)
        refuse_unwritable(context.scene, obj, False, robot)
        motion = yield from scaled(sample_motion(context.scene, obj, frames, robot), 0.0, 0.2)
        found = yield from scaled(dynamics_steps(context.scene, obj, robot, motion, frames[0]), 0.2, 0.4)
        groups = self.given("curves", obj.robokin.solver.dynamics_curves)
        columns = yield from scaled(chosen_columns(obj, robot, found, groups), 0.4, 1.0)
        count = key_columns(obj, DYNAMICS, frames, columns)
        self.report({"INFO"}, f"{_written(count, frames)}: see the Graph Editor, groups Dynamics")


class ROBOKIN_OT_key_singularities(ModalOperator, FramesOperator, bpy.types.Operator):
    """Write the smallest singular value and the manipulability of each tool with a task on its pose, position or
    orientation as curves of the animation as it stands, to be seen in the Graph Editor"""

    bl_idname = "robokin.key_singularities"
    bl_label = "Key Singularities"

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        frames = self.frames(context.scene, obj.robokin.solver)
        refuse_unwritable(context.scene, obj, False, binding(obj))
        found = yield from singularities_steps(context.scene, context.view_layer, obj, frames)
        if not found.names:
            raise RobokinError(f"{obj.name!r} has no task on the pose, position or orientation of a tip")
        count = key_columns(obj, SINGULARITIES, frames, found.columns())
        self.report({"INFO"}, f"{_written(count, frames)}: see the Graph Editor, group Singularities")


def _written(count: int, frames: Sequence[int]) -> str:
    return f"{counted(count, 'curve')} over {counted(len(frames), 'frame')}"


class _ClearColumns(RobotOperator):
    """Mixin: removes the curves of a group."""

    columns: ClassVar[tuple[str, str]]

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        if not clear_columns(obj, self.columns):
            raise RobokinError(f"{obj.name!r} has no curves of Key {self.columns[1]}")
        return {"FINISHED"}


class ROBOKIN_OT_clear_dynamics(_ClearColumns, bpy.types.Operator):
    """Remove the curves that Key Dynamics wrote"""

    bl_idname = "robokin.clear_dynamics"
    bl_label = "Clear Dynamics"
    columns = DYNAMICS


class ROBOKIN_OT_clear_singularities(_ClearColumns, bpy.types.Operator):
    """Remove the curves that Key Singularities wrote"""

    bl_idname = "robokin.clear_singularities"
    bl_label = "Clear Singularities"
    columns = SINGULARITIES


CLASSES = (
    ROBOKIN_OT_key_dynamics,
    ROBOKIN_OT_key_singularities,
    ROBOKIN_OT_clear_dynamics,
    ROBOKIN_OT_clear_singularities,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
