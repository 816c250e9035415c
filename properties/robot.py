"""What an armature object knows as a robot: `Object.robokin`."""

from __future__ import annotations

import bpy

from .bridge import is_robot
from .solver_settings import RobokinSolverSettings
from .tasks import RobokinTask


class RobokinRobot(bpy.types.PropertyGroup):
    """The robot's tasks and solver settings. Joints and links are on the bones (`Bone.robokin`)."""

    is_robot: bpy.props.BoolProperty(
        name="Is a Robot",
        description="This armature carries a robot",
        get=lambda settings: is_robot(settings.id_data),
    )
    tasks: bpy.props.CollectionProperty(type=RobokinTask, name="Tasks", description="What the robot's tips must do")
    active_task: bpy.props.IntProperty(name="Active Task", description="Task shown in the panel")
    solver: bpy.props.PointerProperty(type=RobokinSolverSettings, name="Solver")


CLASSES = (RobokinRobot,)
