"""Dynamics: what the animation takes, as curves."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ...properties.bridge import binding
from ...robokin import RobokinError
from ...scene.animation.columns import DYNAMICS, clear_columns, key_columns
from ...scene.animation.curves import refuse_unwritable
from ...scene.bake.samples import sample_motion
from ...scene.criteria.solver_criteria import root_gravity
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


class ROBOKIN_OT_clear_dynamics(RobotOperator, bpy.types.Operator):
    """Remove the curves that Key Dynamics wrote"""

    bl_idname = "robokin.clear_dynamics"
    bl_label = "Clear Dynamics"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        if not clear_columns(obj, DYNAMICS):
            raise RobokinError(f"{obj.name!r} has no curves of Key Dynamics")
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_key_dynamics, ROBOKIN_OT_clear_dynamics)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
