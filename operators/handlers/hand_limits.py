"""Joints stop at their limits while they are posed by hand, whatever moves them: a drag, a typed value, a script;
and what bones were made into (renamed, duplicated, mirrored, joined) has limits, locks and drivers of its own, and
tasks follow bones that were renamed.

It acts on edits only: changing the frame does not call the handler. While a transform is running, angles go on from
where they were: Blender computes the pose of a drag from its start and by matrix, so that an angle more than half a
turn from the start would come back from the other side, and past a limit a joint would jump to its other one.
"""

from __future__ import annotations

import math
from contextlib import suppress
from weakref import WeakValueDictionary

import bpy
import numpy as np

from ...properties.bridge import (
    Binding,
    Changes,
    Channel,
    binding,
    clamp_pose,
    last_binding,
    mend_drivers,
    settle_records,
)
from ...properties.bridge.model.channels import COUPLED
from ...properties.bridge.pose.spherical import unit
from ...properties.handlers import add_handler, going_on, remove_handler, stay_awake
from ...properties.overrides import takes_changes
from ...properties.task_kinds.tip_links import follow_renamed_bones
from ...robokin import RobokinError
from ...robokin.spatial.swing_twist import from_swing_and_twist, swing_and_twist
from ...scene.animation.auto_keys import auto_keying, keyed_by_itself
from ...scene.animation.curves import channel_key, own_keys
from ...scene.animation.frames import fcurves
from ...scene.animation.screw_keys import follow_keys

_TURN = 2.0 * math.pi
_TWIST = -1  # in place of the index of an angle
# Of the running transform, (armature object, bone, index) -> radians: angles at its first and its last step, before
# any limit.
_first: dict[tuple[int, str, int], float] = {}
_last: dict[tuple[int, str, int], float] = {}
# The robot that an object was when it was last touched.
_known: WeakValueDictionary[int, Binding] = WeakValueDictionary()


def stop_at_limits(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, changes: Changes) -> None:
    """Clamp the robots that were touched. What is written here is evaluated within the same update."""
    touched = changes.robots
    if not touched and not _last:
        return
    dragging = transform_running()
    for obj in touched:
        if obj.pose is not None and not obj.data.is_editmode and takes_changes(obj):
            # A robot that is none for now, or a channel that is not a number: the panel says why.
            with going_on("keeping limits"), suppress(RobokinError):
                _look_after(obj, dragging, auto_keying(bpy.context, obj))
    if not dragging:
        _first.clear()
        _last.clear()
    stay_awake(stop_at_limits, bool(_last))


def _look_after(obj: bpy.types.Object, dragging: bool, auto_key: bool) -> None:
    """Raises RobokinError."""
    robot = last_binding(obj) if dragging and _last else binding(obj)  # a running transform changes no record
    if _known.get(obj.session_uid) is not robot:
        if settle_records(obj):
            robot = binding(obj)
        _known[obj.session_uid] = robot
        mend_drivers(obj)
        follow_renamed_bones(obj, robot)
    if dragging or _last:
        _continue_turns(obj, robot)
        _continue_twists(obj, robot)
    clamped = clamp_pose(obj, robot)
    if not dragging and auto_key:
        _key(obj, clamped, robot)
    if not dragging:
        follow_keys(obj, robot)


def _key(obj: bpy.types.Object, changed: list[Channel], robot: Binding) -> None:
    """The end of a transform has keyed what it left before this was changed; what it did not key stays so, but that
    the slide of a screw is keyed where its angle is."""
    found, wanted = fcurves(obj), keyed_by_itself(bpy.context, obj, robot) if changed else set()
    keyed = {(channel.bone, channel.q) for key, channel in own_keys(robot).items() if key in found}
    for channel in changed:
        along = channel.role == COUPLED and (channel.bone, channel.q) in keyed
        if along or channel_key(channel) in found.keys() & wanted:
            obj.pose.bones[channel.bone].keyframe_insert(channel.path, index=channel.index)


def transform_running() -> bool:
    """Whether somebody drags something."""
    window = bpy.context.window
    return window is not None and any(o.bl_idname.startswith("TRANSFORM_OT") for o in window.modal_operators)


def _continue_turns(obj: bpy.types.Object, robot: Binding) -> None:
    """Let angles go on from those of the last step, before any limit. Back at the first is a transform cancelled."""
    for key, angle in _angles(obj, robot).items():
        _, bone, index = key
        turns = 0 if angle == _first.setdefault(key, angle) else round((_last.get(key, angle) - angle) / _TURN)
        _last[key] = angle + turns * _TURN
        if turns:
            obj.pose.bones[bone].rotation_euler[index] = _last[key]


def _continue_twists(obj: bpy.types.Object, robot: Binding) -> None:
    """Continue the twist of balls: past a limit it stays there, however far the drag goes on."""
    for cone in robot.model.limits.cones:
        channels = robot.own_channels[cone.q : cone.q + 4]
        bone = obj.pose.bones[channels[0].bone]
        if not cone.has_twist or bone.rotation_mode not in channels[0].modes:
            continue
        q = unit(np.array([channel.factor * bone.rotation_quaternion[channel.index] for channel in channels]))
        swing, angle = swing_and_twist(q, cone.basis)
        key, twist = (obj.session_uid, bone.name, _TWIST), float(angle)
        turns = 0 if twist == _first.setdefault(key, twist) else round((_last.get(key, twist) - twist) / _TURN)
        _last[key] = twist + turns * _TURN
        bounded = min(max(_last[key], cone.lower), cone.upper)
        if bounded != twist:
            for channel, value in zip(channels, from_swing_and_twist(swing, bounded, cone.basis), strict=True):
                bone.rotation_quaternion[channel.index] = value / channel.factor


def _angles(obj: bpy.types.Object, robot: Binding) -> dict[tuple[int, str, int], float]:
    """(armature, bone, channel): its angle, where it is a number; a script may have written others."""
    angles = {
        (obj.session_uid, c.bone, c.index): obj.pose.bones[c.bone].rotation_euler[c.index]
        for c in robot.own_channels
        if c.path == "rotation_euler"
    }
    return {key: angle for key, angle in angles.items() if math.isfinite(angle)}


def register() -> None:
    add_handler("change", stop_at_limits)


def unregister() -> None:
    remove_handler("change", stop_at_limits)
    _first.clear()
    _last.clear()
    _known.clear()
