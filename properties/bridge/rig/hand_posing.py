"""What makes a robot right for posing by hand: locks, rotation modes, limits, followed joints.

The channels themselves are kept inside their limits by `clamp_pose`, which the add-on calls on every edit. The limit
constraints put here change nothing then: they hold the limits where a file is opened without Robokin. A range beyond
half a turn either way has none, since a constraint, which sees matrices, cannot tell it from the other way round.
"""

from __future__ import annotations

import math

import bpy
import numpy as np

from ....robokin import RobokinError
from ..model.binding import Binding, binding, binding_held
from ..model.channels import DRIVEN, EULER, LOCATION, OWN, QUATERNION, Channel, channel_bounds, round_inward
from ..record.snapshot import OWN_CONSTRAINT, is_robot
from .widgets import update_shapes

LIMIT_ROTATION = f"{OWN_CONSTRAINT} Rotation Limit"
LIMIT_LOCATION = f"{OWN_CONSTRAINT} Travel Limit"
_AXES = "xyz"
_SOURCE = "q"  # the variable of our drivers


def rig_pose(obj: bpy.types.Object) -> None:
    """Set locks, rotation modes, limits and drivers of every joint of the posed robot. Object or Pose Mode.

    Only what differs is written: what is written again makes Blender evaluate the robot anew, and what is removed and
    made again the relations of the whole scene."""
    robot = binding(obj)
    for bone, modes in robot.modes.items():
        pose_bone = obj.pose.bones[bone]
        _put(pose_bone, "rotation_mode", modes[0])
        own = [c for c in robot.channels if c.bone == bone]
        _lock(pose_bone, own)
        _limit(pose_bone, own)
        _drive(obj, robot, pose_bone, own)


def _put(owner: bpy.types.bpy_struct, name: str, value: object) -> None:
    present = getattr(owner, name)
    if (tuple(present) if isinstance(value, tuple) else present) != value:
        setattr(owner, name, value)


def refresh_rigs(armature: bpy.types.Armature) -> None:
    """`rig_pose` for every object that shows `armature`, and the shapes of its bones. An armature that is no robot for
    now is left as it is: the panel says why."""
    for obj in bpy.data.objects:
        if obj.data == armature and is_robot(obj) and obj.pose is not None and obj.is_editable:
            try:
                with binding_held(obj) as robot:
                    rig_pose(obj)
                    update_shapes(obj, robot)
            except RobokinError:
                return


def _lock(bone: bpy.types.PoseBone, channels: list[Channel]) -> None:
    """Only the joint moves; whatever else had been posed is put back, as the model knows nothing of it."""
    moved = {(c.path, c.index) for c in channels}
    for path in (LOCATION, EULER):
        present = getattr(bone, path)
        _put(bone, path, tuple(present[i] if (path, i) in moved else 0.0 for i in range(3)))
    _put(bone, "scale", (1.0, 1.0, 1.0))
    free = {(c.path, c.index) for c in channels if c.role == OWN}
    _put(bone, "lock_location", tuple((LOCATION, i) not in free for i in range(3)))
    _put(bone, "lock_scale", (True,) * 3)
    turns_freely = any(path == QUATERNION for path, _ in free)
    _put(bone, "lock_rotation", tuple(not turns_freely and (EULER, i) not in free for i in range(3)))
    _put(bone, "lock_rotation_w", not turns_freely)


def _limit(bone: bpy.types.PoseBone, channels: list[Channel]) -> None:
    bounds = {c: channel_bounds(c) for c in channels if c.role == OWN and c.path != QUATERNION}
    turns = {c: b for c, b in bounds.items() if c.path == EULER and np.isfinite(b).any()}
    slides = {c: b for c, b in bounds.items() if c.path == LOCATION and np.isfinite(b).any()}
    if not _are_unambiguous(bounds):
        turns = {}
    # The plain comparison of Euler angles; the other one may take the shorter way round to the far limit.
    wanted: dict[str, object] = {f"use_limit_{axis}": False for axis in _AXES} | {"use_legacy_behavior": True}
    for channel, (low, high) in turns.items():
        axis = _AXES[channel.index]
        low, high = round_inward(np.array([low, high]), low, high).tolist()
        wanted |= {f"use_limit_{axis}": True, f"min_{axis}": low, f"max_{axis}": high}
    _constrain(bone, LIMIT_ROTATION, "LIMIT_ROTATION", wanted if turns else None)
    wanted = {f"use_{end}_{axis}": False for end in ("min", "max") for axis in _AXES}
    for channel, (low, high) in slides.items():
        axis = _AXES[channel.index]
        ends = {"min": low, "max": high}
        inside = dict(zip(ends, round_inward(np.array([low, high]), low, high).tolist(), strict=True))
        for end in (end for end, bound in ends.items() if math.isfinite(bound)):
            wanted |= {f"use_{end}_{axis}": True, f"{end}_{axis}": inside[end]}
    _constrain(bone, LIMIT_LOCATION, "LIMIT_LOCATION", wanted if slides else None)


def _are_unambiguous(bounds: dict[Channel, tuple[float, float]]) -> bool:
    """Whether all angles within the bounds are those that Blender takes out of the bone's matrix: of the two triples
    of Euler angles that give a rotation, which differ by half turns, it takes the one of smaller sum of sizes."""
    turns = [b for channel, b in bounds.items() if channel.path == EULER]
    # Without bounds an angle is, in the matrix, one of at most half a turn.
    sizes = [max(abs(low), abs(high)) if np.isfinite((low, high)).any() else math.pi for low, high in turns]
    return max(sizes, default=0.0) <= math.pi and sum(sizes) < 1.5 * math.pi


def _constrain(bone: bpy.types.PoseBone, name: str, kind: str, wanted: dict[str, object] | None) -> None:
    """Let the bone have our constraint of that name with these settings; None: let it have none."""
    constraint = bone.constraints.get(name)
    if constraint is not None and (wanted is None or constraint.type != kind):
        bone.constraints.remove(constraint)
        constraint = None
    if wanted is None:
        return
    if constraint is None:
        constraint = bone.constraints.new(kind)
        constraint.name, constraint.show_expanded = name, False
    for setting, value in (wanted | {"owner_space": "LOCAL", "enabled": True, "influence": 1.0}).items():
        _put(constraint, setting, value)


def _drive(obj: bpy.types.Object, robot: Binding, bone: bpy.types.PoseBone, channels: list[Channel]) -> None:
    start = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].'
    driven = {(start + c.path, c.index): c for c in channels if c.role == DRIVEN}
    for path in (EULER, LOCATION):
        for index in range(3):
            key = (start + path, index)
            found = _driver(obj, *key)
            if found is not None and is_own_driver(found.driver) and key not in driven:
                obj.animation_data.drivers.remove(found)
    for key, channel in driven.items():
        found = _driver(obj, *key)
        if found is not None and not is_own_driver(found.driver):
            continue
        source = next(c for c in robot.own_channels if c.q == channel.q)
        # factor * value = scale * q + offset, and q = factor * value of the source.
        scale = channel.scale * source.factor / channel.factor
        offset = channel.offset / channel.factor
        driver = found.driver if found is not None else obj.driver_add(*key).driver
        _put(driver, "type", "SCRIPTED")
        variable = driver.variables[0] if driver.variables else driver.variables.new()
        _put(variable, "name", _SOURCE)
        _put(variable.targets[0], "id", obj)
        escaped = bpy.utils.escape_identifier(source.bone)
        _put(variable.targets[0], "data_path", f'pose.bones["{escaped}"].{source.path}[{source.index}]')
        # A simple expression: evaluated by Blender itself, also where scripts may not run.
        _put(driver, "expression", f"{scale:.17g} * {_SOURCE} + {offset:.17g}")


def _driver(obj: bpy.types.Object, path: str, index: int) -> bpy.types.FCurve | None:
    return obj.animation_data.drivers.find(path, index=index) if obj.animation_data is not None else None


def is_own_driver(driver: bpy.types.Driver) -> bool:
    """Whether it was put here; one that a user put in its place is left alone."""
    return [variable.name for variable in driver.variables] == [_SOURCE]
