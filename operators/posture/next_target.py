"""The list of moves as a list of targets: a key takes the robot to the next one."""

from __future__ import annotations

import bpy

from ...properties.bridge import binding, write_configuration
from ...properties.handlers import posing_paused
from ...properties.results.result_text import quantity_text
from ...robokin import RobokinError
from ...scene.posing.move_end import pose_at_end
from ...scene.tasks.root_frames import world_scale
from ..common import RobotOperator
from ..tools.gesture import settle

MET = 1e-3  # [m, rad] what is no farther off is not reported
STEPS = {"NEXT": 1, "ACTIVE": 0, "PREVIOUS": -1}


class ROBOKIN_OT_next_target(RobotOperator, bpy.types.Operator):
    """Pose the robot at the end of the next move in the list; what cannot be reached is reported"""

    bl_idname = "robokin.next_target"
    bl_label = "Next Target"

    direction: bpy.props.EnumProperty(
        name="Which",
        description="Which move of the list; after the last comes the first",
        items=(
            ("NEXT", "Next", "The move after the active one"),
            ("ACTIVE", "Active", "The active move"),
            ("PREVIOUS", "Previous", "The move before the active one"),
        ),
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        which = {"NEXT": "the next", "ACTIVE": "the active", "PREVIOUS": "the previous"}[properties.direction]
        return f"Pose the robot at the end of {which} move; what cannot be reached is reported"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = obj.robokin
        if not robot.moves:
            raise RobokinError(f"{obj.name!r} has no moves: add one")
        index = (min(robot.active_move, len(robot.moves) - 1) + STEPS[self.direction]) % len(robot.moves)
        item = robot.moves[index]
        q, away, turned = pose_at_end(obj, item)
        robot.active_move = index
        with posing_paused():
            write_configuration(obj, q)
            settle(context, obj)
        misses = (("LENGTH", world_scale(obj, binding(obj)) * away, "away"), ("ROTATION", turned, "turned away"))
        said = [f"{quantity_text(context.scene, kind, value)} {word}" for kind, value, word in misses if value > MET]
        if said:
            self.report({"WARNING"}, f"{item.name}: as near as it gets, {' and '.join(said)}")
        else:
            self.report({"INFO"}, f"{item.name}: reached ({index + 1} of {len(robot.moves)})")
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_next_target,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
