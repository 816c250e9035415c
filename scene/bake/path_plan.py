"""A path around obstacles between two poses of the timeline."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...properties.frame_rate import frame_seconds
from ...properties.task_kinds import KINDS
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...robokin.collision import CollisionModel, Obstacle
from ...scene.animation.curves import pose_held, refuse_unwritable, sample_configurations
from ...scene.animation.motion_keys import key_motion
from ...scene.tasks.solver_tasks import SolverTasks, enabled_tasks
from ...scene.tasks.targets import targets_over
from ...solvers import ClearanceTask
from ...solvers.ik.solve import solve_ik_steps
from ...solvers.motion.collisions import collision_violations
from ...solvers.planning.plan import BUDGET, PathPlan, plan_path_steps
from ...solvers.progress import scaled
from ...solvers.retiming.retime import retime
from ..collisions import checked_collisions, collisions_over
from ..keyed_numbers import narrowest_over
from .retime import inside, keyed_limits

_SPARE = 2e-3  # [m] beyond the margin where a path ends: the planner takes what is nearer for not free
_STANDS = 1e-6  # [m] and of a rotation matrix: an obstacle that moves less stands still


@dataclass(frozen=True, eq=False)
class PlannedKeys:
    """plan: what was found; keys were written where there is a path."""

    first: int
    last: int
    plan: PathPlan

    def summary(self) -> str:
        """One line."""
        if self.plan.motion is None:
            return f"no path between frames {self.first} and {self.last}: {self.plan.reason}"
        if not self.plan.motion.duration:
            return f"the pose at frame {self.first} is that at frame {self.last}: the robot rests between"
        return f"frames {self.first} to {self.last}: {self.plan.reason}"


def plan_steps(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    robot: Binding,
    first: int,
    last: int,
    margin: float,
    budget: int = BUDGET,
    seed: int = 0,
    to_targets: bool = False,
) -> Generator[float, None, PlannedKeys]:
    """Yield the share of the work done (0..1) now and then; return what was found and written.

    The poses of two frames stay; between them the robot moves on a path on which no link is nearer than `margin` [m] to
    another or an obstacle, inside the narrowest limits of these frames, a key a frame. to_targets: in place of the
    later pose one that meets the tasks there. Where no path is found nothing is written. Raises RobokinError for a
    robot without collision shapes, obstacles that move, frames that are too few for the path, and where no pose meets
    the tasks.
    """
    if last <= first:
        raise RobokinError(f"a path needs two frames, not {first} to {last}")
    refuse_unwritable(scene, obj, False, robot)
    ends = yield from scaled(sample_configurations(scene, obj, [first, last], robot), 0.0, 0.05)
    robot = yield from scaled(narrowest_over(scene, obj, range(first, last + 1), robot), 0.05, 0.05)
    model = robot.model_at(ends[0])
    found = yield from scaled(collisions_over(scene, view_layer, obj, range(first, last + 1), robot), 0.05, 0.2)
    kept = f"is outside its position limits in frames {first} to {last}"
    collisions, start = _standing(found, obj), inside(model, ends[0], first, kept)
    if to_targets:
        apart = ClearanceTask(collisions, margin + _SPARE)
        goal = yield from _goal(scene, view_layer, obj, robot, last, start, apart)
    else:
        goal = inside(model, ends[1], last, kept)
    bound = keyed_limits(model, None, frame_seconds(scene))
    steps = plan_path_steps(model, collisions, start, goal, bound, margin=margin, budget=budget, seed=seed)
    plan = yield from scaled(steps, 0.2, 0.95)
    if plan.motion is not None:
        duration, step = (last - first) * frame_seconds(scene), frame_seconds(scene)
        if plan.motion.duration > duration * (1.0 + 1e-9):
            frames = int(np.ceil(plan.motion.duration / step))
            raise RobokinError(
                f"the path takes {plan.motion.duration:.3f} s, {frames} frames, not {last - first}: "
                f"move the later pose to frame {first + frames} or on"
            )
        motion = retime(model, plan.motion.path, plan.motion.limits, duration).motion(1.0 / step)
        for violation in collision_violations(motion, collisions):
            # keys are joined by straight lines, which cut the bends of a fast path
            frame = first + violation.frame
            raise RobokinError(
                f"frame {frame}, or after it: {violation.sentence()}; ask for more margin or more frames"
            )
        yield 0.95
        key_motion(scene, obj, motion, first, robot)
    return PlannedKeys(first, last, plan)


def _goal(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    robot: Binding,
    frame: int,
    q0: Array,
    apart: ClearanceTask,
) -> Generator[float, None, Array]:
    """(nq,) a pose that meets the tasks at a frame, with links apart. Raises RobokinError."""
    tasks = [task for task in enabled_tasks(obj, robot) if not KINDS[task.kind].is_velocity]
    if not tasks:
        raise RobokinError(f"{obj.name!r} has no task that says where the path ends")
    with pose_held(obj, q0, robot):
        targets = yield from scaled(targets_over(scene, view_layer, obj, tasks, [frame], robot=robot), 0.2, 0.2)
    counting = np.flatnonzero(targets.influence[0]).tolist()
    wanted = SolverTasks(obj, robot, tasks).whole(targets, 0, counting)
    found = yield from scaled(solve_ik_steps(robot.model_at(q0), [*wanted, apart], q0), 0.2, 0.2)
    if not found.converged:
        raise RobokinError(f"frame {frame}: no pose meets the tasks: {found.reason}")
    return found.q


def _standing(collisions: CollisionModel | None, obj: bpy.types.Object) -> CollisionModel:
    """What may not touch, with obstacles that stand still. Raises RobokinError."""
    collisions = checked_collisions(obj, collisions)
    standing = []
    for obstacle in collisions.obstacles:
        T = obstacle.placement.reshape(-1, 4, 4)
        if abs(T - T[0]).max() > _STANDS:
            raise RobokinError(f"obstacle {obstacle.name!r} moves: a path is planned around what stands still")
        standing.append(Obstacle(obstacle.name, obstacle.shape, T[0]))
    return collisions.among(standing)
