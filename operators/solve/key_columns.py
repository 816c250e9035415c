"""What the animation takes, and how near its tools come to singularities, as curves."""

from __future__ import annotations

from collections.abc import Generator
from typing import ClassVar

import bpy

from ...properties.bridge import binding
from ...robokin import RobokinError
from ...scene.animation.columns import DYNAMICS, SINGULARITIES, clear_columns, key_columns
from ...scene.animation.curves import refuse_unwritable
from ...scene.bake.samples import sample_motion
from ...scene.criteria.solver_criteria import root_gravity
from ...scene.singularities import singularities_steps
from ...solvers.motion.dynamics import MotionDynamics
from ..common import FramesOperator, RobotOperator
from ..modal import ModalOperator


class ROBOKIN_OT_key_dynamics(ModalOperator, FramesOperator, bpy.types.Operator):
    """Write the efforts and the power of the joints, energy, momentum, the load on the base and the zero-moment point
    of the animation as it stands as curves, to be seen in the Graph Editor"""

    bl_idname = "robokin.key_dynamics"
    bl_label = "Key Dynamics"

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        frames, robot = self.frames(context.scene, obj.robokin.solver), binding(obj)
        refuse_unwritable(context.scene, obj, False, robot)
        motion = yield from sample_motion(context.scene, obj, frames, robot)
        count = key_columns(obj, DYNAMICS, frames, MotionDynamics.of(motion, root_gravity(obj, robot)).columns())
        self.report({"INFO"}, f"{count} curves over {len(frames)} frames: see the Graph Editor, group Dynamics")


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
        self.report({"INFO"}, f"{count} curves over {len(frames)} frames: see the Graph Editor, group Singularities")


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
