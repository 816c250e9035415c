"""What the tips of a robot must do: `Object.robokin.tasks`, shown as a list in the Tasks panel.

Lengths are in Blender units and poses in world space, as everywhere in Blender's interface; the bridge converts.
A PropertyGroup on an object can be keyed and driven, so `robokin.tasks[i].influence` is an ordinary F-curve.
"""

from __future__ import annotations

import bpy
from bpy.props import (
    BoolProperty,
    BoolVectorProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .overrides import STATIC, field, readout, static_field
from .task_kinds import ITEMS
from .task_kinds.choices import AXES, FRAMES, RELATIONS, SIDES
from .task_kinds.tip_links import remember_link


def _is_other_mesh(task: RobokinTask, candidate: bpy.types.Object) -> bool:
    return candidate.type == "MESH" and candidate != task.id_data


class RobokinTask(bpy.types.PropertyGroup):
    """One task. `name` (from PropertyGroup) labels it; the residuals are those of the last solve at one frame."""

    kind: static_field(EnumProperty, "Type", "What the tip must do", items=ITEMS, default="POSE")
    tip: static_field(StringProperty, "Tip", "Bone that must reach the target", update=remember_link("tip"))
    tip_link: readout(StringProperty, "Tip Link", "Link of the tip", options={"HIDDEN"})
    other: static_field(
        StringProperty, "Other Bone", "Bone against which the tip is measured", update=remember_link("other")
    )
    other_link: readout(StringProperty, "Other Link", "Link of the other bone", options={"HIDDEN"})
    use_target: static_field(
        BoolProperty, "Follow an Object", "Follow an object; otherwise hold a fixed pose", default=True
    )
    target: field(PointerProperty, "Target", "Object that the tip follows", type=bpy.types.Object)
    subtarget: static_field(
        StringProperty, "Target Bone", "Bone of the target armature that the tip follows; empty: the armature itself"
    )
    location: field(
        FloatVectorProperty,
        "Location",
        "Where the tip is held, in world space; of a relative pose in the frame of the other bone, of an "
        "advance the way to go, of a joint the lengths of its value",
        subtype="TRANSLATION",
        size=3,
    )
    rotation: field(
        FloatVectorProperty,
        "Rotation",
        "How the tip is held, in world space (XYZ); of a relative pose in the frame of the other bone, "
        "of a joint the angles of its value",
        subtype="EULER",
        size=3,
    )
    offset_location: static_field(
        FloatVectorProperty,
        "Offset",
        "Where the tip is in the frame of the bone's link: a point of the tool, the mouth of a beam",
        subtype="TRANSLATION",
        size=3,
    )
    offset_rotation: static_field(
        FloatVectorProperty,
        "Offset Rotation",
        "How the tip is turned in the frame of the bone's link (XYZ)",
        subtype="EULER",
        size=3,
    )
    use_spot: static_field(
        BoolProperty,
        "Spot of a Beam",
        "The tip is the spot where a beam along an axis of the offset tip falls on the target's XY plane",
    )
    surface: field(
        PointerProperty,
        "Surface",
        "Mesh that the beam falls on; without one the target's XY plane",
        type=bpy.types.Object,
        poll=_is_other_mesh,
    )
    relation: static_field(EnumProperty, "Distance Is", "How the distance is meant", items=RELATIONS)
    side: static_field(EnumProperty, "Side", "Side of the plane", items=SIDES)
    distance: field(
        FloatProperty,
        "Distance",
        "Distance to the target or the other bone",
        default=0.5,
        min=0.0,
        precision=4,
        subtype="DISTANCE",
    )
    margin: field(
        FloatProperty,
        "Margin",
        "How far inside the edges the center of mass stays",
        min=0.0,
        precision=4,
        subtype="DISTANCE",
    )
    singular_value: field(
        FloatProperty,
        "Least Singular Value",
        "The smallest singular value that the tip's Jacobian may have, lengths counted in that of the arm",
        default=0.05,
        min=0.0,
        soft_max=0.2,
        precision=3,
        step=0.1,
    )
    posture: static_field(StringProperty, "Posture", "Name of the stored posture that the joints take")
    speed: field(FloatProperty, "Speed", "Speed along the curve; negative: backwards", unit="VELOCITY")
    linear_velocity: field(
        FloatVectorProperty,
        "Velocity",
        "Velocity of the tip, or of the lengths of a joint, per second",
        subtype="VELOCITY",
        size=3,
    )
    angular_velocity: field(
        FloatVectorProperty,
        "Rotation /s",
        "How fast the tip turns about each axis, or the angles of a joint, per second",
        subtype="EULER",
        size=3,
    )
    coefficients: static_field(
        StringProperty,
        "Factors",
        'What each joint\'s velocity (rad/s, m/s) is multiplied by, as JSON: {"joint": 1, "other": "2 * cos(joint)"}; '
        "a list for a joint with several degrees of freedom",
    )
    rate: field(FloatProperty, "Sum", "What the velocities times their factors add up to", precision=4)
    enabled: static_field(BoolProperty, "Enabled", "Take part in solving", default=True)
    priority: static_field(
        IntProperty,
        "Priority",
        "Level of the task, 1 first: a task moves nothing that one of an earlier level asks for",
        default=1,
        min=1,
        soft_max=5,
    )
    influence: field(
        FloatProperty,
        "Influence",
        "How far the task is met: 0 is as if it were not there at that frame, 0.5 is half the way "
        "from where the tip would be to its target",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    soft_weight: static_field(
        FloatProperty,
        "Soft Weight",
        "What it costs a whole motion to miss the task, per second and squared radian (lengths count in the robot's "
        "length): it holds nothing then. 0: the task is hard, and comes before the cost",
        min=0.0,
        soft_max=1e4,
    )
    use_location: static_field(
        BoolVectorProperty,
        "Position Axes",
        "Which axes of the position count",
        size=3,
        default=(True,) * 3,
        subtype="XYZ",
    )
    use_rotation: static_field(
        BoolVectorProperty,
        "Rotation Axes",
        "About which axes the orientation counts",
        size=3,
        default=(True,) * 3,
        subtype="XYZ",
    )
    location_weights: static_field(
        FloatVectorProperty,
        "Position Axis Weights",
        "How much each axis of the position counts against the others",
        size=3,
        default=(1.0,) * 3,
        min=0.0,
        soft_max=10.0,
        subtype="XYZ",
    )
    rotation_weights: static_field(
        FloatVectorProperty,
        "Rotation Axis Weights",
        "How much the rotation about each axis counts against the others",
        size=3,
        default=(1.0,) * 3,
        min=0.0,
        soft_max=10.0,
        subtype="XYZ",
    )
    frame: static_field(EnumProperty, "Axes Of", "Whose axes are meant", items=FRAMES)
    axis: static_field(EnumProperty, "Axis", "Axis of the tip that points", items=AXES, default="Z")
    position_weight: static_field(
        FloatProperty, "Position Weight", "How much the position counts", default=1.0, min=0.0, soft_max=10.0
    )
    orientation_weight: static_field(
        FloatProperty, "Rotation Weight", "How much the orientation counts", default=1.0, min=0.0, soft_max=10.0
    )
    position_tolerance: static_field(
        FloatProperty,
        "Position Tolerance",
        "Distance that counts as reached",
        default=1e-4,
        min=1e-9,
        precision=5,
        subtype="DISTANCE",
    )
    orientation_tolerance: static_field(
        FloatProperty,
        "Rotation Tolerance",
        "Angle that counts as reached",
        default=1e-3,
        min=1e-9,
        precision=4,
        subtype="ANGLE",
    )
    position_band: static_field(
        FloatProperty,
        "Position Band",
        "Distance that does not count: inside it nothing is asked for",
        min=0.0,
        precision=4,
        subtype="DISTANCE",
    )
    orientation_band: static_field(
        FloatProperty,
        "Rotation Band",
        "Angle that does not count: inside it nothing is asked for",
        min=0.0,
        precision=4,
        subtype="ANGLE",
    )
    position_residual: readout(
        FloatProperty,
        "Position Off",
        "Length by which the task is missed after the last solve",
        options=STATIC,
        subtype="DISTANCE",
        precision=5,
    )
    orientation_residual: readout(
        FloatProperty,
        "Rotation Off",
        "Angle by which the task is missed after the last solve",
        options=STATIC,
        subtype="ANGLE",
        precision=4,
    )
    solved: readout(BoolProperty, "Solved", "Took part in the last solve", options=STATIC)
    reached: readout(BoolProperty, "Reached", "Within its tolerances after the last solve", options=STATIC)


CLASSES = (RobokinTask,)
