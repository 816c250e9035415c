"""A copy of a rig that goes on as the rig was: targets where no task and no empty can say what constraints do."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import ExitStack

import bpy

from ...properties.bridge.record.snapshot import OWN_CONSTRAINT
from ...properties.bridge.record.stored import HELPER_KEY, KEY, ROBOT_KEY
from ...properties.bridge.visuals.new_data import collections_for
from ...robokin import RobokinError
from ..animation import frames as animation

_POSE = "pose.bones["
_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
_TARGETS = (("target", "subtarget"), ("pole_target", "pole_subtarget"), ("space_object", "space_subtarget"))


def copy_rig(obj: bpy.types.Object, members: Collection[str], undo: ExitStack) -> bpy.types.Object:
    """A new armature object that stands where `obj` does, with nothing to be seen of it. members: bones that become the
    robot's; the copy's own show what their constraints, keys and drivers do, steered by the other bones of `obj`
    itself. Called before anything of the rig is changed. Raises RobokinError."""
    if obj.animation_data and obj.animation_data.use_tweak_mode:
        raise RobokinError(f"{obj.name!r} is in the NLA's tweak mode: leave it before converting its constraints")
    copy = obj.copy()
    copy.data = obj.data.copy()
    copy.data.pose_position = "POSE"
    undo.callback(remove_rig, copy)
    copy.name = copy.data.name = f"{obj.name} as it was"
    for collection in collections_for(obj):
        collection.objects.link(copy)
    copy.select_set(False)
    _forget_robot(copy)
    copy.constraints.new("COPY_TRANSFORMS").target = obj
    _own_animation(obj, copy, members)
    for bone in copy.pose.bones:
        (bone if hasattr(bone, "hide") else bone.bone).hide = True
        for constraint in list(bone.constraints):
            # Limits of a robot's joints hold back what is asked of it, not what the rig asks.
            if bone.name in members and not constraint.name.startswith(OWN_CONSTRAINT):
                _turn_to_copy(constraint, obj, copy, members)
            else:
                bone.constraints.remove(constraint)
    return copy


def remove_rig(copy: bpy.types.Object) -> None:
    """All that `copy_rig` has made."""
    data, action = copy.data, copy.animation_data and copy.animation_data.action
    bpy.data.objects.remove(copy)
    bpy.data.armatures.remove(data)
    if action and not action.users:
        bpy.data.actions.remove(action)


def _forget_robot(copy: bpy.types.Object) -> None:
    for owner in (copy.data, *copy.data.bones):
        for key in (ROBOT_KEY, KEY, HELPER_KEY):
            if key in owner:
                del owner[key]
    for entries in (copy.robokin.tasks, copy.robokin.criteria, copy.robokin.postures, copy.robokin.moves):
        entries.clear()


def _turn_to_copy(
    constraint: bpy.types.Constraint, obj: bpy.types.Object, copy: bpy.types.Object, members: Collection[str]
) -> None:
    """What aims at bones of the robot aims at those of the copy."""
    for holder in (constraint, *getattr(constraint, "targets", ())):
        for target, bone in _TARGETS:
            if getattr(holder, target, None) == obj and getattr(holder, bone, "") in members:
                setattr(holder, target, copy)


def _own_animation(obj: bpy.types.Object, copy: bpy.types.Object, members: Collection[str]) -> None:
    """Keys and drivers of its bones, which go on when those of the robot are replaced."""
    data = copy.animation_data
    if data is None:
        return
    if data.action is not None:
        slot = data.action_slot
        data.action = data.action.copy()
        if slot is not None:
            data.action_slot = data.action.slots[slot.identifier]
        bag = animation.channelbag(copy)
        for curve in list(bag.fcurves) if bag is not None else ():
            if not curve.data_path.startswith(_POSE):
                bag.fcurves.remove(curve)
    for driver in list(data.drivers):
        if not driver.data_path.startswith(_POSE):
            data.drivers.remove(driver)
            continue
        for target in _driver_targets(driver):
            named = _BONE.search(target.data_path)
            bone = target.bone_target or (bpy.utils.unescape_identifier(named[1]) if named else "")
            if target.id == obj and bone in members:
                target.id = copy


def _driver_targets(driver: bpy.types.FCurve) -> Iterator[bpy.types.DriverTarget]:
    for variable in driver.driver.variables:
        yield from variable.targets
