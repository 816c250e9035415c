"""What the tips of a robot must do: `Object.robokin.tasks`, shown as a list in the Tasks panel.

Lengths are in Blender units and poses in world space, as everywhere in Blender's interface; the bridge converts.
A PropertyGroup on an object can be keyed and driven, so `robokin.tasks[i].influence` is an ordinary F-curve.
"""

from __future__ import annotations

import bpy

from ..robokin import RobokinError
from .bridge import bone_of_link, link_of_bone
from .overrides import VALUE

KINDS = (
    ("POSE", "Pose", "Hold position and orientation", "EMPTY_AXIS", 0),
    (
        "POSITION",
        "Position",
        "Hold the position, any orientation",
        "EMPTY_SINGLE_ARROW",
        1,
    ),
    (
        "ORIENTATION",
        "Orientation",
        "Hold the orientation, any position",
        "ORIENTATION_GIMBAL",
        2,
    ),
    (
        "AXIS",
        "Axis",
        "Point one axis of the tip along the target's Z axis",
        "ORIENTATION_NORMAL",
        3,
    ),
)
FRAMES = (
    ("WORLD", "Robot", "The axes of the robot's root"),
    ("TIP", "Tip", "The axes of the tip"),
)
AXES = (
    ("X", "X", "The tip's X axis"),
    ("Y", "Y", "The tip's Y axis"),
    ("Z", "Z", "The tip's Z axis"),
    ("-X", "-X", "Against the tip's X axis"),
    ("-Y", "-Y", "Against the tip's Y axis"),
    ("-Z", "-Z", "Against the tip's Z axis"),
)


def _is_other_object(task: RobokinTask, candidate: bpy.types.Object) -> bool:
    return candidate != task.id_data


def _remember_link(task: RobokinTask, context: bpy.types.Context) -> None:
    try:
        task.tip_link = link_of_bone(task.id_data).get(task.tip, "")
    except RobokinError:
        task.tip_link = ""


def follow_renamed_tip(task: RobokinTask) -> None:
    """Bones are renamed without telling; the link that moves with the bone keeps its name. Raises RobokinError."""
    if task.tip not in link_of_bone(task.id_data):
        task.tip = bone_of_link(task.id_data).get(task.tip_link, task.tip)


class RobokinTask(bpy.types.PropertyGroup):
    """One task. `name` (from PropertyGroup) labels it; the residuals are those of the last solve at one frame."""

    kind: bpy.props.EnumProperty(override=VALUE, name="Type", description="What the tip must do", items=KINDS)
    tip: bpy.props.StringProperty(
        override=VALUE, name="Tip", description="Bone that must reach the target", update=_remember_link
    )
    tip_link: bpy.props.StringProperty(
        override=VALUE, name="Tip Link", description="Link of the tip", options={"HIDDEN"}
    )
    use_target: bpy.props.BoolProperty(
        override=VALUE,
        name="Follow an Object",
        description="Follow an object; otherwise hold a fixed pose",
        default=True,
    )
    target: bpy.props.PointerProperty(
        override=VALUE,
        name="Target",
        description="Object that the tip follows",
        type=bpy.types.Object,
        poll=_is_other_object,
    )
    location: bpy.props.FloatVectorProperty(
        override=VALUE,
        name="Location",
        description="Where the tip is held, in world space",
        subtype="TRANSLATION",
        size=3,
    )
    rotation: bpy.props.FloatVectorProperty(
        override=VALUE,
        name="Rotation",
        description="How the tip is held, in world space (XYZ)",
        subtype="EULER",
        size=3,
    )
    enabled: bpy.props.BoolProperty(override=VALUE, name="Enabled", description="Take part in solving", default=True)
    priority: bpy.props.IntProperty(
        override=VALUE,
        name="Priority",
        description="Level of the task, 1 first: a task moves nothing that one of an earlier level asks for",
        default=1,
        min=1,
        soft_max=5,
    )
    influence: bpy.props.FloatProperty(
        override=VALUE,
        name="Influence",
        description="How much this task counts against the others; 0 removes it at that frame",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    use_location: bpy.props.BoolVectorProperty(
        override=VALUE,
        name="Position Axes",
        description="Which axes of the position count",
        size=3,
        default=(True,) * 3,
        subtype="XYZ",
    )
    use_rotation: bpy.props.BoolVectorProperty(
        override=VALUE,
        name="Rotation Axes",
        description="About which axes the orientation counts",
        size=3,
        default=(True,) * 3,
        subtype="XYZ",
    )
    frame: bpy.props.EnumProperty(override=VALUE, name="Axes Of", description="Whose axes are meant", items=FRAMES)
    axis: bpy.props.EnumProperty(
        override=VALUE, name="Axis", description="Axis of the tip that points", items=AXES, default="Z"
    )
    position_weight: bpy.props.FloatProperty(
        override=VALUE,
        name="Position Weight",
        description="How much the position counts",
        default=1.0,
        min=0.0,
        soft_max=10.0,
    )
    orientation_weight: bpy.props.FloatProperty(
        override=VALUE,
        name="Rotation Weight",
        description="How much the orientation counts",
        default=1.0,
        min=0.0,
        soft_max=10.0,
    )
    position_tolerance: bpy.props.FloatProperty(
        override=VALUE,
        name="Position Tolerance",
        description="Distance that counts as reached",
        default=1e-4,
        min=1e-9,
        precision=5,
        subtype="DISTANCE",
    )
    orientation_tolerance: bpy.props.FloatProperty(
        override=VALUE,
        name="Rotation Tolerance",
        description="Angle that counts as reached",
        default=1e-3,
        min=1e-9,
        precision=4,
        subtype="ANGLE",
    )
    position_residual: bpy.props.FloatProperty(
        override=VALUE,
        name="Position Off",
        description="Distance to the target after the last solve",
        subtype="DISTANCE",
        precision=5,
    )
    orientation_residual: bpy.props.FloatProperty(
        override=VALUE,
        name="Rotation Off",
        description="Angle to the target after the last solve",
        subtype="ANGLE",
        precision=4,
    )
    solved: bpy.props.BoolProperty(override=VALUE, name="Solved", description="Took part in the last solve")
    reached: bpy.props.BoolProperty(
        override=VALUE, name="Reached", description="Within its tolerances after the last solve"
    )


CLASSES = (RobokinTask,)
