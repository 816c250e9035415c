"""What makes a robot right for posing by hand: locks, rotation modes, limits, followed joints.

The channels themselves are kept inside their limits by `clamp_pose`, which the add-on calls on every edit. The limit
constraints put here change nothing then: they hold the limits where a file is opened without Robokin. A range beyond
half a turn either way has none, since a constraint, which sees matrices, cannot tell it from the other way round.
"""

from __future__ import annotations

import math

import bpy
import numpy as np

from ...robokin import RobokinError
from .binding import Binding, binding
from .channels import DRIVEN, EULER, LOCATION, OWN, QUATERNION, Channel, channel_bounds, round_inward
from .content import OWN_CONSTRAINT, is_robot
from .widgets import redress

LIMIT_ROTATION = f"{OWN_CONSTRAINT} Rotation Limit"
LIMIT_LOCATION = f"{OWN_CONSTRAINT} Travel Limit"
_AXES = "xyz"
_SOURCE = "q"  # the variable of our drivers


def rig_pose(obj: bpy.types.Object) -> None:
    """Set locks, rotation modes, limits and drivers of every joint of the posed robot. Object or Pose Mode."""
    robot = binding(obj)
    for bone, modes in robot.modes.items():
        pose_bone = obj.pose.bones[bone]
        pose_bone.rotation_mode = modes[0]
        own = [c for c in robot.channels if c.bone == bone]
        _lock(pose_bone, own)
        _limit(pose_bone, own)
        _drive(obj, robot, pose_bone, own)


def refresh_rigs(armature: bpy.types.Armature) -> None:
    """`rig_pose` for every object that shows `armature`, and the shapes of its bones. An armature that is no robot for
    now is left as it is: the panel says why."""
    for obj in bpy.data.objects:
        if obj.data == armature and is_robot(obj) and obj.pose is not None and obj.is_editable:
            try:
                rig_pose(obj)
                redress(obj, binding(obj))
            except RobokinError:
                return


def _lock(bone: bpy.types.PoseBone, channels: list[Channel]) -> None:
    """Only the joint moves; whatever else had been posed is put back, as the model knows nothing of it."""
    moved = {(c.path, c.index) for c in channels}
    for i in range(3):
        if (LOCATION, i) not in moved:
            bone.location[i] = 0.0
        if (EULER, i) not in moved:
            bone.rotation_euler[i] = 0.0
    bone.scale = (1.0, 1.0, 1.0)
    free = {(c.path, c.index) for c in channels if c.role == OWN}
    bone.lock_location = [(LOCATION, i) not in free for i in range(3)]
    bone.lock_scale = [True] * 3
    if any(path == QUATERNION for path, _ in free):
        bone.lock_rotation, bone.lock_rotation_w = [False] * 3, False
        return
    bone.lock_rotation = [(EULER, i) not in free for i in range(3)]
    bone.lock_rotation_w = True


def _limit(bone: bpy.types.PoseBone, channels: list[Channel]) -> None:
    bounds = {c: channel_bounds(c) for c in channels if c.role == OWN and c.path != QUATERNION}
    turns = {c: b for c, b in bounds.items() if c.path == EULER and np.isfinite(b).any()}
    slides = {c: b for c, b in bounds.items() if c.path == LOCATION and np.isfinite(b).any()}
    if not _told_apart(bounds):
        turns = {}
    constraint = _constraint(bone, LIMIT_ROTATION, "LIMIT_ROTATION", bool(turns))
    for channel, (low, high) in turns.items():
        axis = _AXES[channel.index]
        low, high = round_inward(np.array([low, high]), low, high).tolist()
        setattr(constraint, f"use_limit_{axis}", True)
        setattr(constraint, f"min_{axis}", low)
        setattr(constraint, f"max_{axis}", high)
        # The plain comparison of Euler angles; the other one may take the shorter way round to the far limit.
        constraint.use_legacy_behavior = True
    constraint = _constraint(bone, LIMIT_LOCATION, "LIMIT_LOCATION", bool(slides))
    for channel, (low, high) in slides.items():
        axis = _AXES[channel.index]
        low_single, high_single = round_inward(np.array([low, high]), low, high).tolist()
        setattr(constraint, f"use_min_{axis}", math.isfinite(low))
        setattr(constraint, f"use_max_{axis}", math.isfinite(high))
        if math.isfinite(low):
            setattr(constraint, f"min_{axis}", low_single)
        if math.isfinite(high):
            setattr(constraint, f"max_{axis}", high_single)


def _told_apart(bounds: dict[Channel, tuple[float, float]]) -> bool:
    """Whether all angles within the bounds are those that Blender takes out of the bone's matrix: of the two triples
    of Euler angles that give a rotation, which differ by half turns, it takes the one of smaller sum of sizes."""
    turns = [b for channel, b in bounds.items() if channel.path == EULER]
    # Without bounds an angle is, in the matrix, one of at most half a turn.
    sizes = [max(abs(low), abs(high)) if np.isfinite((low, high)).any() else math.pi for low, high in turns]
    return max(sizes, default=0.0) <= math.pi and sum(sizes) < 1.5 * math.pi


def _constraint(bone: bpy.types.PoseBone, name: str, kind: str, wanted: bool) -> bpy.types.Constraint | None:
    existing = bone.constraints.get(name)
    if existing is not None:
        bone.constraints.remove(existing)
    if not wanted:
        return None
    constraint = bone.constraints.new(kind)
    constraint.name = name
    constraint.owner_space = "LOCAL"
    constraint.show_expanded = False
    return constraint


def _drive(obj: bpy.types.Object, robot: Binding, bone: bpy.types.PoseBone, channels: list[Channel]) -> None:
    start = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].'
    for path in (EULER, LOCATION):
        for index in range(3):
            found = _driver(obj, start + path, index)
            if found is not None and is_own_driver(found.driver):
                obj.animation_data.drivers.remove(found)
    for channel in channels:
        if channel.role != DRIVEN or _driver(obj, start + channel.path, channel.index) is not None:
            continue
        source = next(c for c in robot.own_channels if c.q == channel.q)
        # factor * value = scale * q + offset, and q = factor * value of the source.
        scale = channel.scale * source.factor / channel.factor
        offset = channel.offset / channel.factor
        driver = obj.driver_add(start + channel.path, channel.index).driver
        driver.type = "SCRIPTED"
        variable = driver.variables.new()
        variable.name = _SOURCE
        variable.targets[0].id = obj
        escaped = bpy.utils.escape_identifier(source.bone)
        variable.targets[0].data_path = f'pose.bones["{escaped}"].{source.path}[{source.index}]'
        # A simple expression: evaluated by Blender itself, also where scripts may not run.
        driver.expression = f"{scale:.17g} * {_SOURCE} + {offset:.17g}"


def _driver(obj: bpy.types.Object, path: str, index: int) -> bpy.types.FCurve | None:
    return obj.animation_data.drivers.find(path, index=index) if obj.animation_data is not None else None


def is_own_driver(driver: bpy.types.Driver) -> bool:
    """Whether it was put here; one that a user put in its place is left alone."""
    return [variable.name for variable in driver.variables] == [_SOURCE]
