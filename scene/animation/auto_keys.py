"""Keys for what is posed, as Blender's own tools set them: where the user wants them, and only those."""

from __future__ import annotations

from collections.abc import Set
from functools import partial
from typing import Any

import bpy

from ...properties.bridge import Binding, binding
from ...properties.bridge.model.channels import COUPLED, QUATERNION
from ...properties.overrides import takes_keys
from .curves import Key, key_channels, own_keys
from .frames import fcurves

NEAR = 0.01  # frames: a key that is nearer is at the frame, as Blender has it
SAME = 1e-6  # a value that is no farther from the curve needs no key


def auto_keying(context: bpy.types.Context, obj: bpy.types.Object) -> bool:
    """Whether the user has what is posed keyed, where it can be."""
    return context.scene.tool_settings.use_keyframe_insert_auto and takes_keys(obj)


def auto_key(context: bpy.types.Context, obj: bpy.types.Object, robot: Binding | None = None) -> None:
    """Key the robot's channels at the present frame, where the user has what is posed keyed."""
    if auto_keying(context, obj):
        robot, tool = robot or binding(obj), context.scene.tool_settings
        options = {"INSERTKEY_CYCLE_AWARE"} if tool.use_keyframe_cycle_aware else set()
        chosen = keyed_by_itself(context, obj, robot)
        frame, kind = context.scene.frame_current_final, tool.keyframe_type
        key_channels(obj, frame, robot, chosen, keytype=kind, options=options)


def keyed_by_itself(context: bpy.types.Context, obj: bpy.types.Object, robot: Binding) -> set[Key]:
    """The robot's channels that auto-keying keys at the present frame: a quaternion as a whole, the slide of a screw
    with its angle. Blender leaves out the same ones, but warns of each in the console."""
    edit, tool, frame = context.preferences.edit, context.scene.tool_settings, context.scene.frame_current_final
    replaces, found, own = tool.auto_keying_mode == "REPLACE_KEYS", fcurves(obj), own_keys(robot)
    chosen = _in_keying_set(context, obj, robot) if tool.use_keyframe_insert_keyingset else own.keys()

    def is_wanted(key: Key) -> bool:
        curve = found.get(key)
        if curve is None:
            return not (edit.use_keyframe_insert_available or replaces)
        if replaces and not any(abs(point.co.x - frame) < NEAR for point in curve.keyframe_points):
            return False
        is_needed = abs(curve.evaluate(frame) - obj.path_resolve(key[0])[key[1]]) > SAME
        return is_needed or not edit.use_auto_keyframe_insert_needed

    def together(key: Key) -> tuple[str, int]:
        return own[key].bone, -1 if own[key].path == QUATERNION else own[key].q

    wanted = {together(key) for key in chosen if own[key].role != COUPLED and is_wanted(key)}
    return {key for key in own if together(key) in wanted}


def _in_keying_set(context: bpy.types.Context, obj: bpy.types.Object, robot: Binding) -> Set[Key]:
    """The robot's channels that the active keying set has; all without one."""
    keying_set, own = context.scene.keying_sets_all.active, own_keys(robot)
    if keying_set is None:
        return own.keys()
    found, rule = _Paths(keying_set), _rule(keying_set)
    for bone in robot.modes if rule else ():
        rule.generate(context, found, obj.pose.bones[bone])
    return {key for key in own if not found.added.isdisjoint({(obj, *key), (obj, key[0], -1)})}


def keyed_axes(context: bpy.types.Context, owner: bpy.types.Object, path: str) -> list[int]:
    """Indices of an object's channel that auto-keying may key: all, as -1, but for an active keying set that has not
    all of them. What it has is what Blender inserts with this object selected, in an area of a window."""
    keying_set = context.scene.keying_sets_all.active
    if keying_set is None or not context.scene.tool_settings.use_keyframe_insert_keyingset:
        return [-1]
    found, rule = _Paths(keying_set), _rule(keying_set)
    with context.temp_override(object=owner, active_object=owner, selected_objects=[owner]):
        if rule and context.area and rule.poll(context):
            rule.generate(context, found, owner)
    indices = sorted(index for who, what, index in found.added if (who, what) == (owner, path))
    return indices if -1 not in indices else [-1]


class _Paths:
    """Stands in for a keying set while a rule of Blender's adds paths to it. added: (ID, data path, index or -1 for
    all), at first those that it names itself."""

    def __init__(self, keying_set: bpy.types.KeyingSet) -> None:
        own = keying_set.paths if keying_set.is_path_absolute else ()
        self.added: set[tuple[bpy.types.ID, str, int]] = {
            (each.id, each.data_path, -1 if each.use_entire_array else each.array_index) for each in own
        }
        self.paths = self

    def add(self, owner: bpy.types.ID, path: str, index: int = -1, **_: object) -> None:
        self.added.add((owner, path, index))


def _rule(keying_set: bpy.types.KeyingSet) -> Any:
    """What says which paths a relative set has; None of an absolute one."""
    if keying_set.is_path_absolute:
        return None
    return _Rule(bpy.types.KeyingSetInfo.bl_rna_get_subclass_py(keying_set.bl_idname))


class _Rule:
    """Stands in for what Blender makes of the class of a rule, which scripts cannot make."""

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def __getattr__(self, name: str) -> object:
        return partial(getattr(self._cls, name), self)
