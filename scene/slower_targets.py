"""How much more time targets need so that a robot keeps up with them, and their keys moved apart."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence

import bpy
import numpy as np

from ..properties.bridge import Binding, nearest_within_limits, read_configuration
from ..properties.frame_rate import frame_seconds
from ..properties.overrides import takes_keys
from ..robokin import RobokinError, RobotModel
from ..robokin.arrays import Array
from ..solvers.motion.check import check_motion
from ..solvers.motion.motion import Motion
from ..solvers.progress import mapped, scaled
from ..solvers.tracking.starts import follow
from .animation.curves import pose_held
from .animation.frames import chosen_span, end_span
from .bake.plans import bake_plans
from .bake.report import MET
from .check.rows import time_needed
from .collisions import avoids_collisions
from .keyed_numbers import kept_to_its_end, narrowest
from .obstacles import obstacles_in
from .target_keys import ScaledRange, keys_within, moved_otherwise, movers, stretch_keys
from .tasks.solver_tasks import SolverTasks, enabled_tasks
from .tasks.targets import targets_over

_BESIDE = 2  # frames that the speed and the acceleration at one follow from, on either side
SPARE = 1.02  # times the time that is needed: a bake starts from rest
ROUNDING = 1e-6  # frames, and of their number
UNHURRIED = 1e4  # times as long as a frame: no limit on speed is felt


def requested_times(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    robot: Binding,
    frames: Sequence[int],
    q0: Array | None,
) -> Generator[float, None, float]:
    """Yield the share of the work done (0..1) now and then; return how many times as long the targets' motion must
    take for the joints that follow it from q0 (nq,) to be inside their limits on speed and
    acceleration; 1 when they are. Frames beside those that no pose meets do not count: there joints jump, however slow
    the targets are. Limits that are animated are the narrowest, as of a bake of all the frames that it then takes.
    q0: as of a bake; None: the pose that is nearest to rest. Nothing changes. Raises RobokinError."""
    tasks = enabled_tasks(obj, robot)
    if not tasks:
        raise RobokinError(f"{obj.name!r} has no task whose target could be slower")
    pose = read_configuration(obj, robot)
    start = nearest_within_limits(robot.model) if q0 is None else q0
    with pose_held(obj, start, robot):
        targets = yield from scaled(targets_over(scene, view_layer, obj, tasks, frames, robot=robot), 0.0, 0.5)
    dt = frame_seconds(scene) * int(frames[1] - frames[0]) if len(frames) > 1 else frame_seconds(scene)

    def needed(models: Sequence[RobotModel]) -> Generator[float, None, tuple[float, int]]:
        model = narrowest(models, robot).model_at(pose)
        forms = SolverTasks(obj, robot, tasks)
        plans = yield from scaled(bake_plans(forms, model, targets, UNHURRIED * dt), 0.0, 0.4)
        steps = follow([plan.segment for plan in plans], start)
        results = yield from scaled(mapped(steps, lambda done: sum(map(len, done)) / len(frames)), 0.4, 1.0)
        Q = np.concatenate([result.q for result in results])
        motion = Motion.of(model, dt * np.arange(len(Q)), Q)
        missed = np.array([status not in MET for result in results for status in result.status])
        fast = [each for each in check_motion(motion).violations if each.kind in ("velocity", "acceleration")]
        times = time_needed(v for v in fast if not missed[max(v.frame - _BESIDE, 0) : v.frame + _BESIDE].any())
        return times, end_of(frames, spared(times))

    times, _ = yield from scaled(kept_to_its_end(scene, obj, frames, robot, needed), 0.5, 1.0)
    return times


def spared(times: float) -> float:
    """The factor of targets that have to take so many times as long, with some to spare."""
    return math.ceil(100.0 * SPARE * times) / 100.0 if times > 1.0 else 1.0


def end_of(frames: Sequence[int], factor: float) -> int:
    """The last frame of what takes `factor` times as long. factor: perhaps in single precision."""
    span = factor * (frames[-1] - frames[0])
    return frames[0] + math.ceil(span - ROUNDING * max(span, 1.0))


def slow_targets(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    robot: Binding,
    frames: Sequence[int],
    factor: float,
    followed: Sequence[bpy.types.Object],
    avoid: bool | None = None,
) -> tuple[list[bpy.types.ID], list[str]]:
    """Move the keys of what is followed, of the robot itself, and of what it avoids, so that these frames take `factor`
    times as long; so does the range of the robot's settings, where it ends with them. avoid: as of a bake. Return those
    whose keys were moved, and the names of those that more than such keys move. Keys of the robot's joints stay: a bake
    makes them anew. Raises RobokinError, and then nothing is moved."""
    of = ScaledRange(frames[0], frames[-1], factor)
    avoided = obstacles_in(scene, obj) if avoids_collisions(obj, avoid) else []
    moving = movers([obj, *followed, *(owner for obstacle in avoided for owner in obstacle.owners)])
    curves, others = keys_within(obj, robot, moving, of), moved_otherwise(obj, moving, of)
    if not curves:
        linked = [owner.name for owner in moving if not takes_keys(owner)]
        if linked:
            raise RobokinError(f"the keys of {linked[0]!r} are linked from another file")
        raise RobokinError(f"no target of {obj.name!r} is keyed after frame {frames[0]}: there is nothing to slow down")
    stretch_keys(curves, of)
    settings, step = obj.robokin.solver, frames[1] - frames[0] if len(frames) > 1 else 1
    if frames[-1] <= chosen_span(scene, settings)[1] < frames[-1] + step:
        end_span(scene, settings, end_of(frames, factor))
    return list(dict.fromkeys(owner for owner, _ in curves)), others


def targets_line(moved: Sequence[bpy.types.ID], factor: float, last: int) -> str:
    """What was moved, in words. last: the frame in which that ends."""
    return f"{', '.join(each.name for each in moved)}: {factor:.4g} times as long, to frame {last}"


def others_line(others: Sequence[str]) -> str:
    return f"not all that moves {', '.join(others)} can be stretched: the rest keeps its time"
