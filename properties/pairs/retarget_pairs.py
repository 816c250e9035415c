"""What of a robot follows what of another armature: `Object.robokin.retarget_pairs`, made into tasks by Retarget."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty

from ..overrides import field, static_field

RETARGET_KINDS = (
    ("POSE", "Pose", "The tip moves and turns as the bone does, from how both stand now", "EMPTY_ARROWS", 0),
    ("POSITION", "Position", "The tip goes to where the bone's head is", "EMPTY_AXIS", 1),
    ("ORIENTATION", "Orientation", "The tip turns as the bone does, from how both stand now", "ORIENTATION_GIMBAL", 2),
)


class RobokinRetargetPair(bpy.types.PropertyGroup):
    """A bone of the robot and one of the source."""

    name: field(StringProperty, "Name", "Part of the body; name of the task")
    tip: field(StringProperty, "Tip", "Bone of the robot that follows")
    source: field(StringProperty, "Source Bone", "Bone of the source; without one the pair is left out")
    kind: static_field(EnumProperty, "Type", "What the tip follows", items=RETARGET_KINDS)
    priority: static_field(IntProperty, "Priority", "Level of the task, 1 first", default=1, min=1, soft_max=5)


CLASSES = (RobokinRetargetPair,)
