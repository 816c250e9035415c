"""Solve Pose: the robot takes the pose that its tasks ask for, at the frame where the scene stands."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import bpy

from ...properties.bridge import binding, read_configuration, robot_model, write_configuration
from ...properties.handlers import posing_paused
from ...properties.overrides import takes_keys
from ...properties.results.result_text import status_words, told
from ...properties.results.why import Why, store_why
from ...properties.task_kinds import KINDS
from ...properties.tasks import follow_renamed_bones
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...scene.animation.curves import auto_keying, key_channels
from ...scene.collisions import clearance_now
from ...scene.criteria.solver_criteria import enabled_criteria
from ...scene.tasks.root_frames import metres_per_world_unit
from ...scene.tasks.solver_tasks import SolverTasks, enabled_tasks
from ...scene.tasks.targets import targets_now
from ...solvers import SolveResult, Status, Task
from ...solvers.ik.solve import solve_ik_steps
from ..common import check_report, write_json
from ..handlers.scene_marks import pose_mark
from ..modal import ModalOperator


def solve_steps(
    context: bpy.types.Context, obj: bpy.types.Object, seed: int
) -> Generator[float, None, tuple[SolveResult, list[bpy.types.PropertyGroup], list[Task]]]:
    """Solve from the present pose for the targets as they stand; nothing is written. Yields the share of the work done
    (0..1) now and then.

    Returns the result, the tasks it is about (those with an influence, which ask for a pose and not for a velocity) and
    their solver's form. Raises RobokinError.
    """
    follow_renamed_bones(obj)
    tasks = [task for task in enabled_tasks(obj) if not KINDS[task.kind].is_velocity]
    targets = targets_now(context, obj, tasks)
    counting, wanted = SolverTasks(obj, tasks).at(targets)
    q0 = read_configuration(obj)
    model, criteria = binding(obj).model_at(q0), enabled_criteria(obj)
    apart = clearance_now(context.scene, obj) if wanted else []
    result = yield from solve_ik_steps(model, [*wanted, *apart], q0, seed, criteria=criteria)
    if apart:
        result = result.first(len(wanted))
    return result, [tasks[i] for i in counting], wanted


def show_result(
    obj: bpy.types.Object,
    status: str,
    reason: str,
    tasks: Sequence,
    wanted: Sequence[Task],
    residual_array: Array,
    unit: float,
    blamed: Why,
) -> None:
    """Put status, reason and residuals (tasks, 2) where the panel reads them, in Blender units of `unit` metres."""
    store_why(obj, blamed)
    settings = obj.robokin.solver
    # Writing is what takes time, and mostly nothing is new.
    if settings.status != status or settings.reason != reason:
        settings.status, settings.reason = status, reason
    if len(tasks) < len(obj.robokin.tasks):
        _forget_results(obj)
    for task, asked, residuals in zip(tasks, wanted, residual_array.tolist(), strict=True):
        position, orientation, reached = 0.0, 0.0, True
        for part, residual in zip(asked.parts, residuals, strict=False):
            if part.is_length:
                position = residual / unit
            else:
                orientation = residual
            reached = reached and residual <= part.tolerance
        task.position_residual, task.orientation_residual = position, orientation
        if not task.solved or task.reached != reached:
            task.solved, task.reached = True, reached


def show_nothing(obj: bpy.types.Object) -> None:
    """There is no result."""
    settings = obj.robokin.solver
    settings.status = settings.reason = settings.why = ""
    _forget_results(obj)


def _forget_results(obj: bpy.types.Object) -> None:
    for task in obj.robokin.tasks:
        task.solved = task.reached = False


def show_bake(obj: bpy.types.Object, frame: float) -> None:
    """What the bake said about a frame."""
    show_nothing(obj)
    settings = obj.robokin.solver
    missed = (item for item in settings.bake_failures if item.status and item.first <= frame <= item.last)
    failure = next(missed, None)
    settings.status, settings.reason = (
        ("CONVERGED", "as baked") if failure is None else (failure.status, failure.reason)
    )


def left_out_text(obj: bpy.types.Object) -> str:
    names = [repr(task.name) for task in obj.robokin.tasks if task.enabled and KINDS[task.kind].is_velocity]
    return f" (left out, since only a bake can meet velocities: {', '.join(names)})" if names else ""


def ending(obj: bpy.types.Object, result: SolveResult) -> str:
    """What a reason does not say by itself: the tasks left out, and the padlocks of a robot that lacks something."""
    locked = () if result.converged else binding(obj).locked
    return left_out_text(obj) + (f" (locked: {', '.join(locked)})" if locked else "")


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
        keyed = self.given("key", obj.robokin.solver.key or auto_keying(context, obj))
        if keyed and not takes_keys(obj):
            name = obj.animation_data.action.name
            raise RobokinError(f"action {name!r} is linked from another file: no keys can be written into it")
        with posing_paused():
            result, tasks, wanted = yield from solve_steps(context, obj, seed)
        if result.status is Status.EMPTY:
            left_out = left_out_text(obj)
            raise RobokinError(f"there is no task to solve for: add a target, or enable a task{left_out}")
        if self.report_path:
            model = robot_model(obj)
            write_json(self.report_path, result.to_dict() | {"q": model.joint_values(result.q)})
        write_configuration(obj, result.q)
        if keyed:
            key_channels(obj, context.scene.frame_current_final)
        reason = result.reason + ending(obj, result)
        unit, blamed = metres_per_world_unit(obj), Why(result.joints, result.tasks)
        show_result(obj, str(result.status), reason, tasks, wanted, result.residual_array, unit, blamed)
        obj.robokin.solver.solve_mark = pose_mark(obj)
        said = f"{status_words(result.status, reason)}: {told(context.scene, reason)}"
        self.report({"INFO" if result.converged else "WARNING"}, said)


CLASSES = (ROBOKIN_OT_solve_pose,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
