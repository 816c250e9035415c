"""Solve Pose: the robot takes the pose that its tasks ask for, at the frame where the scene stands."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ...properties.bridge import write_configuration
from ...properties.handlers import posing_paused
from ...properties.overrides import takes_keys
from ...properties.results.result_text import in_scene_units, status_words
from ...robokin import RobokinError
from ...scene.animation.auto_keys import auto_key
from ...scene.animation.curves import key_channels
from ...scene.posing.solve import SolvedPose, solve_steps
from ...scene.tasks.memory import remember_shown
from ..common import check_report, write_json
from ..handlers.scene_marks import pose_mark
from ..live.events import stand
from ..modal import ModalOperator


def take_pose(context: bpy.types.Context, obj: bpy.types.Object, solved: SolvedPose, keyed: bool = False) -> str:
    """The robot stands as was found, and the panel says so; the reason that it shows."""
    write_configuration(obj, solved.result.q, solved.robot)
    if keyed:
        key_channels(obj, context.scene.frame_current_final, solved.robot)
    else:
        auto_key(context, obj, solved.robot)
    reason = solved.store(obj)
    remember_shown(obj, solved.robot.model, solved.faded)
    obj.robokin.solver.solve_mark = pose_mark(obj, solved.robot)
    if not solved.result.converged:
        stand(obj, solved.robot)
    return reason


class ROBOKIN_OT_solve_pose(ModalOperator, bpy.types.Operator):
    """Pose the robot so that its tasks are met, as far as joint limits allow"""

    bl_idname = "robokin.solve_pose"
    bl_label = "Solve Pose"

    seed: bpy.props.IntProperty(
        name="Seed", description="Which restarts are drawn when the first attempt fails", min=0, options={"SKIP_SAVE"}
    )
    key: bpy.props.BoolProperty(name="Insert Keyframe", description="Key the robot's channels", options={"SKIP_SAVE"})
    report_path: bpy.props.StringProperty(
        name="Report", description="Write the result as JSON", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        check_report(self.report_path)
        seed = self.given("seed", obj.robokin.solver.seed)
        keyed = self.given("key", obj.robokin.solver.key)
        if keyed and not takes_keys(obj):
            name = obj.animation_data.action.name
            raise RobokinError(f"action {name!r} is linked from another file: no keys can be written into it")
        with posing_paused():
            solved = yield from solve_steps(context, obj, seed)
        robot, result = solved.robot, solved.result
        if self.report_path:
            write_json(self.report_path, result.to_dict() | {"q": robot.model.joint_values(result.q)})
        reason = take_pose(context, obj, solved, keyed)
        said = f"{status_words(result.status, reason)}: {in_scene_units(context.scene, reason)}"
        self.report({"INFO" if result.converged else "WARNING"}, said)


CLASSES = (ROBOKIN_OT_solve_pose,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
