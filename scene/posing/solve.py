"""The tasks solved at the frame where the scene stands."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import bpy

from ...properties.bridge import Binding, binding, read_configuration
from ...properties.results.result_text import scaled_lengths
from ...properties.results.stored_results import store_result
from ...properties.results.why import Why
from ...properties.task_kinds import KINDS
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...scene.collisions import clearance_now
from ...scene.criteria.solver_criteria import enabled_criteria, shapes_of_criteria
from ...scene.tasks.memory import Faded, fading, read_memory
from ...scene.tasks.root_frames import metres_per_world_unit, world_scale
from ...scene.tasks.solver_tasks import pose_tasks
from ...solvers import SolveResult, Status, Task
from ...solvers.ik.solve import solve_ik_steps
from ...solvers.progress import scaled
from ...solvers.tasks.influence import is_partial


@dataclass(frozen=True, eq=False)
class SolvedPose:
    """robot: whose pose it is. tasks: those that the result is about, `wanted` in the solver's form.
    faded: what fades in it, None where nothing does."""

    robot: Binding
    result: SolveResult
    tasks: list[bpy.types.PropertyGroup]
    wanted: list[Task]
    faded: Faded | None

    def store(self, obj: bpy.types.Object) -> str:
        """Put the result where the panel reads it; the reason that it shows."""
        result, unit = self.result, metres_per_world_unit(obj, self.robot)
        reason, blamed = (
            scaled_lengths(result.reason, world_scale(obj, self.robot))
            + ending(velocities_left_out(obj), self.robot, result),
            Why(result.joints, result.tasks),
        )
        store_result(obj, str(result.status), reason, self.tasks, self.wanted, result.residual_array, unit, blamed)
        return reason


def solve_steps(
    context: bpy.types.Context, obj: bpy.types.Object, seed: int, start: Array | None = None
) -> Generator[float, None, SolvedPose]:
    """Yield the share of the work done (0..1) now and then; return the pose for the targets as they stand.

    The solve starts from `start` (nq,), else from the present pose. It is about the tasks with an influence, which ask
    for a pose and not for a velocity. Nothing is written. Raises RobokinError, also where there is no such task.
    """
    robot = binding(obj)
    tasks, wanted = pose_tasks(context, obj, robot)
    q0 = read_configuration(obj, robot)
    yield from scaled(shapes_of_criteria(obj), 0.0, 0.4)
    model, criteria = robot.model_at(q0), enabled_criteria(obj)
    apart = []
    if wanted:
        apart = yield from scaled(clearance_now(context.scene, obj, robot), 0.4, 0.5)
    every, q0, without = [*wanted, *apart], q0 if start is None else start, None
    names = fading(every, [task.influence for task in every])
    if names:
        known = read_memory(obj, robot.model).without_at(q0, names)
        whole = [task for task in every if not is_partial(task.influence)]
        leaving = solve_ik_steps(model, whole, q0 if known is None else known, seed, "auto", None, criteria, False)
        without = (yield from leaving).q
    solving = solve_ik_steps(model, every, q0, seed, criteria=criteria, without=without)
    result = yield from scaled(solving, 0.5, 1.0)
    if apart:
        result = result.first(len(wanted))
    if result.status is Status.EMPTY:
        raise RobokinError(f"there is no task to solve for: add a target, or enable a task{velocities_left_out(obj)}")
    return SolvedPose(robot, result, tasks, wanted, None if without is None else Faded(names, result.q, without))


def ending(left_out: str, robot: Binding, result: SolveResult) -> str:
    """What a reason does not say by itself: the tasks left out, and the padlocks of a robot that misses something."""
    locked = () if result.converged or {*robot.locked} <= {*result.joints} else robot.locked
    return left_out + (f" (locked: {', '.join(locked)})" if locked else "")


def velocities_left_out(obj: bpy.types.Object) -> str:
    names = [repr(task.name) for task in obj.robokin.tasks if task.enabled and KINDS[task.kind].is_velocity]
    return f" (left out, since only a bake can meet velocities: {', '.join(names)})" if names else ""
