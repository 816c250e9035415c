"""Robots whose own numbers are animated: limits or masses with keys or drivers, which are others at each frame."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from itertools import groupby

import bpy

from ..properties.bridge import Binding, binding
from ..robokin import RobotModel
from ..robokin.structure.narrow_limits import with_narrowest_limits, with_narrowest_rates
from ..solvers.motion.check import MotionCheck
from ..solvers.motion.motion import Motion
from .animation import frames as animation

LEAD = 3  # frames before those judged, of which speeds, accelerations and jerks are differences
_CHUNK = 16  # frames of the scene visited between two reports of progress


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
) -> Generator[float, None, RobotModel]:
    """Yield the share of the frames visited now and then; return the robot with its narrowest limits over the frames.
    Raises ModelError where they exclude one another."""
    if not numbers_change(obj):
        return robot.model
    return with_narrowest_limits(robot.model, (yield from models_over(scene, obj, frames, robot)))


def narrowest_rates_over(
    scene: bpy.types.Scene, obj: bpy.types.Object, frames: Sequence[float], robot: Binding
) -> Generator[float, None, RobotModel]:
    """Yield the share of the frames visited now and then; return the robot with its narrowest limits on velocity,
    acceleration and effort over the frames. Its position limits are those of the present frame, as a motion that is
    there already may be legal outside the narrowest of these."""
    if not numbers_change(obj):
        return robot.model
    return with_narrowest_rates(robot.model, (yield from models_over(scene, obj, frames, robot)))


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
