"""Robots whose own numbers are animated: limits or masses with keys or drivers, which are others at each frame."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import groupby
from typing import TypeVar

import bpy

from ..properties.bridge import Binding, binding, read_configuration
from ..robokin import RobokinError, RobotModel
from ..robokin.collision import CollisionModel
from ..robokin.structure.narrow_limits import with_narrowest_limits
from ..solvers.motion.check import MotionCheck, check_motion
from ..solvers.motion.motion import Motion
from ..solvers.progress import finish
from .animation import frames as animation
from .animation.curves import pose_held

LEAD = 3  # frames before those judged, of which speeds, accelerations and jerks are differences
MOST_FRAMES = 5000  # of a motion that takes longer with each look at limits that it meets later
_CHUNK = 16  # frames of the scene visited between two reports of progress

Made = TypeVar("Made")


def numbers_change(obj: bpy.types.Object) -> bool:
    """Whether keys, drivers or strips may animate the numbers of a robot's joints and links."""
    data = obj.data.animation_data
    if data is None:
        return False
    paths = [path for path, _ in animation.fcurves(obj.data)] + [driver.data_path for driver in data.drivers]
    return bool(data.nla_tracks) or any("].robokin." in path for path in paths)


def models_over(
    scene: bpy.types.Scene, obj: bpy.types.Object, frames: Sequence[float], robot: Binding
) -> Generator[float, None, list[RobotModel]]:
    """Yield the share of the frames visited now and then; return the robot at each; `robot`'s own where the joints
    themselves are others."""
    if not numbers_change(obj):
        return [robot.model] * len(frames)
    found = []
    for index in animation.visit_frames(scene, frames):
        model = binding(obj).model
        is_alike = model.nq == robot.model.nq and model.link_names == robot.model.link_names
        found.append(model if is_alike else robot.model)
        if index % _CHUNK == 0:
            yield index / len(frames)
    return found


def narrowest_over(
    scene: bpy.types.Scene, obj: bpy.types.Object, frames: Sequence[float], robot: Binding
) -> Generator[float, None, Binding]:
    """Yield the share of the frames visited now and then; return the robot with its narrowest limits over the frames.
    Raises ModelError where they exclude one another."""
    return narrowest((yield from models_over(scene, obj, frames, robot)), robot)


def narrowest(models: Sequence[RobotModel], robot: Binding) -> Binding:
    """The robot with the narrowest of the limits that it has in models. Raises ModelError."""
    return robot.limited(with_narrowest_limits(robot.model, models))


def kept_to_its_end(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    frames: Sequence[int],
    robot: Binding,
    make: Callable[[Sequence[RobotModel]], Generator[float, None, tuple[Made, int]]],
) -> Generator[float, None, tuple[Made, Sequence[RobotModel]]]:
    """Yield shares of the work done, anew with each try; return a motion that keeps the limits of all frames that it
    takes, and the robot at each of these. make: yields shares, and returns a motion that keeps the limits of models,
    and its last frame. Raises RobokinError where limits get narrower as fast as the motion gets longer."""
    step = frames[1] - frames[0] if len(frames) > 1 else 1
    models = yield from _models_beside_pose(scene, obj, frames, robot)
    while True:
        made, last = yield from make(models)
        beyond = range(frames[0] + step * len(models), last + 1, step)
        most = max(MOST_FRAMES, 10 * len(frames))
        if len(models) > len(frames) and len(models) + len(beyond) > most:
            raise RobokinError(
                f"{obj.name!r}: limits are animated, and get narrower as the motion gets longer: "
                f"it would take more than {most} frames"
            )
        known, later = set(models), (yield from _models_beside_pose(scene, obj, beyond, robot))
        models += later
        if known.issuperset(later):
            return made, models


def _models_beside_pose(
    scene: bpy.types.Scene, obj: bpy.types.Object, frames: Sequence[float], robot: Binding
) -> Generator[float, None, list[RobotModel]]:
    """`models_over`, after which the robot stands as before, also where that has no keys."""
    with pose_held(obj, read_configuration(obj, robot), robot) if numbers_change(obj) else nullcontext():
        return (yield from models_over(scene, obj, frames, robot))


def checked_by_frame(
    found: MotionCheck, motion: Motion, models: Sequence[RobotModel], judge: Callable[[Motion, slice], MotionCheck]
) -> Generator[float, None, MotionCheck]:
    """Yield the share of the frames judged; return a check whose limits are those of each frame's own robot. found: the
    check by the limits of one frame.   judge: what checks the limits of a part of the motion, which it also takes as a
    slice of its frames."""
    kept = [each for each in found.violations if each.kind == "collision"]
    for model, run in groupby(range(len(motion)), key=models.__getitem__):
        own = [*run]
        span = slice(max(own[0] - LEAD, 0), own[-1] + 1)
        part = Motion(model, *(values[span] for values in (motion.times, motion.q, motion.v, motion.a)))
        limits = [replace(each, frame=each.frame + span.start) for each in judge(part, span).violations]
        kept += [each for each in limits if each.frame >= own[0]]
        yield own[-1] / len(motion)
    return replace(found, violations=tuple(sorted(kept, key=lambda each: each.frame)))


def written_check(
    motion: Motion, models: Sequence[RobotModel], collisions: CollisionModel | None = None
) -> MotionCheck:
    """`check_motion` of what is written, each frame by the limits of its own robot."""
    found = check_motion(motion, float32=True, collisions=collisions)
    if set(models) == {motion.model}:
        return found
    return finish(checked_by_frame(found, motion, models, lambda part, _: check_motion(part, float32=True)))
