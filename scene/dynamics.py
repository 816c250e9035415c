"""What the animation of a robot takes, as its numbers are at each frame."""

from __future__ import annotations

from collections.abc import Collection, Generator
from functools import partial
from itertools import groupby
from pathlib import Path

import bpy

from ..properties.bridge import Binding
from ..properties.frame_rate import frame_seconds
from ..properties.selected.selection import selected_bones
from ..robokin import RobokinError, RobotModel
from ..robokin.arrays import Array
from ..solvers.motion.check import check_motion
from ..solvers.motion.dynamics import MotionDynamics
from ..solvers.motion.motion import Motion
from ..solvers.motion.violation import Violation
from .criteria.solver_criteria import root_gravity
from .keyed_numbers import checked_by_frame, models_over, numbers_change


def dynamics_steps(
    scene: bpy.types.Scene, obj: bpy.types.Object, robot: Binding, motion: Motion, first: int
) -> Generator[float, None, MotionDynamics]:
    """Yield the share done now and then; return the dynamics of a motion that begins at frame `first`, under the
    scene's gravity. Masses, damping and other numbers that are animated are those of each sample."""
    gravity = root_gravity(obj, robot)
    if not numbers_change(obj):
        return MotionDynamics.of(motion, gravity)
    models, parts = (yield from _models(scene, obj, robot, motion, first)), []
    for model, run in groupby(range(len(motion)), key=models.__getitem__):
        own = [*run]
        part = slice(own[0], own[-1] + 1)
        values = (motion.times[part], motion.q[part], motion.v[part], motion.a[part])
        parts.append(MotionDynamics.of(Motion(model, *values), gravity))
    return MotionDynamics.joined(motion, parts)


def effort_violations_steps(
    scene: bpy.types.Scene, obj: bpy.types.Object, robot: Binding, motion: Motion, first: int
) -> Generator[float, None, list[Violation]]:
    """Yield the share done now and then; return where a motion that begins at frame `first` breaks effort limits, by
    the numbers of each sample."""
    judge = partial(check_motion, gravity=root_gravity(obj, robot))
    found = judge(motion)
    if numbers_change(obj):
        models = yield from _models(scene, obj, robot, motion, first)
        found = yield from checked_by_frame(found, motion, models, lambda part, _: judge(part))
    return [each for each in found.violations if each.kind == "effort"]


def _models(
    scene: bpy.types.Scene, obj: bpy.types.Object, robot: Binding, motion: Motion, first: int
) -> Generator[float, None, list[RobotModel]]:
    """Yield the share done now and then; return the robot at each sample."""
    frames = (first + (motion.times - motion.times[0]) / frame_seconds(scene)).tolist()
    return (yield from models_over(scene, obj, frames, robot))


def chosen_columns(
    obj: bpy.types.Object, robot: Binding, found: MotionDynamics, groups: Collection[str]
) -> Generator[float, None, dict[str, tuple[str, Array]]]:
    """Yield the share of the work done now and then; return `MotionDynamics.columns` of groups of `dynamics_curves`;
    links: the tools, and in Pose Mode those of selected bones. Raises RobokinError without a group."""
    if not groups:
        raise RobokinError("no quantity is chosen")
    selected = selected_bones(obj) if obj.mode == "POSE" else ()
    chosen = [robot.link_of_bone[bone] for bone in selected if bone in robot.link_of_bone]
    links = [*dict.fromkeys((*found.tools, *chosen))]
    return (yield from found.columns_steps({each.lower() for each in groups}, links))


def file_columns(
    obj: bpy.types.Object, robot: Binding, found: MotionDynamics, path: Path
) -> Generator[float, None, dict[str, tuple[str, Array]]]:
    """`chosen_columns` of the panel's groups; of a ROS trajectory, which holds efforts alone, always these."""
    is_trajectory = path.suffix.lower() in (".yaml", ".yml")
    return chosen_columns(obj, robot, found, {"DRIVES"} if is_trajectory else obj.robokin.solver.dynamics_curves)
