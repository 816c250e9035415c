"""Where a bone's joint stands within its limits: `PoseBone.robokin_range`, what the slider of the joint panel moves.

Blender's own channels hold the value, and are keyed; a property of theirs has the same range for all bones, so that
what a slider shows is the share of the joint's own range.
"""

from __future__ import annotations

import bpy

from ...robokin import RobokinError
from ..bridge import binding, last_binding, read_configuration, write_configuration
from ..overrides import key_if_wanted

RANGE = "robokin_range"


def share_of_range(bone: bpy.types.PoseBone) -> float:
    """0 at the lower limit of its joint, 1 at the upper one; 0 without limits."""
    try:
        channel = last_binding(bone.id_data).ranged_channels.get(bone.name)
    except RobokinError:
        return 0.0
    if channel is None:
        return 0.0
    lower, upper = channel.lower, channel.upper
    return (channel.factor * getattr(bone, channel.path)[channel.index] - lower) / (upper - lower)


def _get(bone: bpy.types.PoseBone) -> float:
    return round(100.0 * share_of_range(bone), 2)  # Blender shows a hair from 0 with six digits


def _set(bone: bpy.types.PoseBone, share: float) -> None:
    obj = bone.id_data
    try:
        robot = binding(obj)
    except RobokinError:
        return  # no robot for now: the panel says why
    channel = robot.ranged_channels.get(bone.name)
    if channel is None:
        return
    q = read_configuration(obj, robot)
    q[channel.q] = channel.lower + share / 100.0 * (channel.upper - channel.lower)
    write_configuration(obj, q, robot)
    for moved in robot.written_channels:
        if moved.q == channel.q:
            key_if_wanted(obj, obj.pose.bones[moved.bone], moved.path, moved.index, moved.bone)


def new_property() -> object:
    """A property for PoseBone. Not one of a group: a group does not know its pose bone."""
    return bpy.props.FloatProperty(
        name="Position in Range",
        description="Place of the joint between its lower limit (0 %) and its upper one (100 %). Drag to move it. "
        "To type or key its value, click its name: the field is below the list",
        subtype="PERCENTAGE",
        min=0.0,
        max=100.0,
        precision=0,
        options=set(),
        get=_get,
        set=_set,
    )
