"""Pin Feet: a legged robot stays on its feet while its hands are led."""

from __future__ import annotations

import bpy

from ...properties.bridge import binding, binding_held
from ...properties.selected.feet import loose_feet
from ...properties.task_kinds import KINDS
from ...robokin import RobokinError
from ..common import RobotOperator
from .tasks import new_task, tip_pose


class ROBOKIN_OT_pin_feet(RobotOperator, bpy.types.Operator):
    """Add a task for each foot that keeps it where it stands, before all other tasks"""

    bl_idname = "robokin.pin_feet"
    bl_label = "Pin Feet"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = binding(obj)
        bones, tasks = loose_feet(obj, robot), obj.robokin.tasks
        if not bones:
            raise RobokinError(
                f"{obj.name!r} has no loose feet: it has none, its base does not float, no target leads it, or a task "
                "holds a foot or the root"
            )
        active, later = obj.robokin.active_task, [task for task in tasks if not KINDS[task.kind].is_hard]
        with binding_held(obj, robot):
            if any(task.priority == 1 for task in later):
                for task in later:
                    task.priority += 1
            for bone in bones:
                with new_task(obj, robot, "PIN", bone, tip_pose(obj, robot, bone)) as task:
                    task.use_target = False
        obj.robokin.active_task = active
        self.report({"INFO"}, f"pinned: {', '.join(bones)}")
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_pin_feet,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
