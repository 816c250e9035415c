"""Make Robot: an ordinary armature, or the selected bones of one, becomes a robot."""

from __future__ import annotations

import bpy

from ...properties.bridge import binding, make_robot, robot_bones, robot_model
from ...properties.selected.selection import selected_bones
from ...robokin.units import counted
from ...scene.animation.curves import own_keys
from ...scene.animation.frames import fcurves
from ..common import ReportingOperator

BASES = (
    ("AUTO", "Automatic", "Floating where limbs branch from a root bone without locks; fixed where it has no locks "
     "otherwise; a joint on a new base where its locks say how it moves"),
    ("FIXED", "Fixed", "The root bone does not move"),
    ("FLOATING", "Floating", "The root bone moves freely"),
    ("PLANAR", "Planar", "The root bone drives on the ground: two lengths and a heading"),
    ("NEW", "New Bone", "A new fixed bone is the base, and the root bone a joint on it"),
)  # fmt: skip
UNLOCKED = (
    ("GUESS", "Guess", "Hinges in a chain without branches, and of elbows and knees by their names; balls elsewhere"),
    ("HINGE", "Hinge", "Turns about one axis, that of the bend in the rest pose"),
    ("BALL", "Ball", "Turns freely"),
    ("FIXED", "Fixed", "Does not move"),
)


_CHANNELS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


class ArmatureOperator(ReportingOperator):
    """Mixin: an operator on the active armature, robot or not."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.object
        problem = ""
        if obj is None or obj.type != "ARMATURE":
            problem = "Select an armature"
        elif not obj.is_editable or not obj.data.is_editable or obj.data.override_library is not None:
            problem = f"{obj.name!r} is linked from another file: make it a robot there"
        elif obj.data.is_editmode:
            problem = "Leave Edit Mode first: the bones are being edited"
        if problem:
            cls.poll_message_set(problem)
        return not problem


def animation_notes(obj: bpy.types.Object) -> list[str]:
    """One line for each bone of the robot with keys that are none of its joint's: they are kept, but either
    do not act any more (another rotation mode) or move the bone where its joint cannot."""
    robot = binding(obj)
    keys = own_keys(robot)
    starts = {f'pose.bones["{bpy.utils.escape_identifier(name)}"].': name for name in robot.joint_of_bone}
    found: dict[str, list[str]] = {}
    for (path, index), curve in fcurves(obj).items():
        start, _, channel = path.rpartition(".")
        name = starts.get(f"{start}.")
        rest = 1.0 if channel == "scale" or (channel == "rotation_quaternion" and index == 0) else 0.0
        moves = any(abs(key.co[1] - rest) > 1e-6 for key in curve.keyframe_points)
        if name is not None and channel in _CHANNELS and (path, index) not in keys and moves:
            found.setdefault(name, []).append(channel)
    return [
        f"bone {name!r} has keys on {', '.join(dict.fromkeys(channels))} that are not of its joint: convert them"
        for name, channels in found.items()
    ]


class ROBOKIN_OT_make_robot(ArmatureOperator, bpy.types.Operator):
    """Give every bone of the armature a joint: type, axis and limits are guessed from locks, limits and rest pose"""

    bl_idname = "robokin.make_robot"
    bl_label = "Make Robot"

    selected: bpy.props.BoolProperty(
        name="Selected Bones Only",
        description="Only selected bones become joints; bones above them are fixed, all others stay ordinary bones",
        options={"SKIP_SAVE"},
    )
    base: bpy.props.EnumProperty(name="Base", description="What carries the robot", items=BASES)
    unlocked: bpy.props.EnumProperty(
        name="Without Locks", description="What bones without any locks or limits become", items=UNLOCKED
    )

    def work(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        selection = selected_bones(obj)
        if not self.properties.is_property_set("selected"):
            self.selected = obj.mode == "POSE" and 0 < len(selection) < len(obj.data.bones)
        chosen = selection if self.selected else robot_bones(obj)
        notes = make_robot(context, obj, chosen, base=self.base, unlocked=self.unlocked)
        model = robot_model(obj)
        for note in (*notes, *animation_notes(obj)):
            self.report({"WARNING"}, note)
        self.report({"INFO"}, f"robot {model.name!r} with {counted(len(model.moving_joints), 'moving joint')}")
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_make_robot,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
