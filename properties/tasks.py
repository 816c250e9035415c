"""What the tips of a robot must do: `Object.robokin.tasks`, shown as a list in the Tasks panel.

Lengths are in Blender units and poses in world space, as everywhere in Blender's interface; the bridge converts.
A PropertyGroup on an object can be keyed and driven, so `robokin.tasks[i].influence` is an ordinary F-curve.
"""

from __future__ import annotations

import bpy

from .overrides import STATIC, VALUE
from .task_kinds import ITEMS
from .task_kinds.choices import AXES, FRAMES, RELATIONS, SIDES
from .task_kinds.tip_links import remember_link


def _is_other_mesh(task: RobokinTask, candidate: bpy.types.Object) -> bool:
    return candidate.type == "MESH" and candidate != task.id_data


class RobokinTask(bpy.types.PropertyGroup):
    """One task. `name` (from PropertyGroup) labels it; the residuals are those of the last solve at one frame."""

    kind: bpy.props.EnumProperty(
        override=VALUE, options=STATIC, name="Type", description="What the tip must do", items=ITEMS, default="POSE"
    )
    tip: bpy.props.StringProperty(
        override=VALUE,
        options=STATIC,
        name="Tip",
        description="Bone that must reach the target",
        update=remember_link("tip"),
    )
    tip_link: bpy.props.StringProperty(
        override=VALUE, name="Tip Link", description="Link of the tip", options={"HIDDEN"}
    )
    other: bpy.props.StringProperty(
        override=VALUE,
        options=STATIC,
        name="Other Bone",
        description="Bone against which the tip is measured",
        update=remember_link("other"),
    )
    other_link: bpy.props.StringProperty(
        override=VALUE, name="Other Link", description="Link of the other bone", options={"HIDDEN"}
    )
    use_target: bpy.props.BoolProperty(
        override=VALUE,
        options=STATIC,
        name="Follow an Object",
        description="Follow an object; otherwise hold a fixed pose",
        default=True,
    )
    target: bpy.props.PointerProperty(
        override=VALUE,
        name="Target",
        description="Object that the tip follows",
        type=bpy.types.Object,
    )
    subtarget: bpy.props.StringProperty(
        override=VALUE,
        name="Target Bone",
        description="Bone of the target armature that the tip follows; empty: the armature itself",
        options=STATIC,
    )
    location: bpy.props.FloatVectorProperty(
        override=VALUE,
        name="Location",
        description="Where the tip is held, in world space; of a relative pose in the frame of the other bone, of an "
        "advance the way to go, of a joint the lengths of its value",
        subtype="TRANSLATION",
        size=3,
    )
    rotation: bpy.props.FloatVectorProperty(
        override=VALUE,
        name="Rotation",
        description="How the tip is held, in world space (XYZ); of a relative pose in the frame of the other bone, "
        "of a joint the angles of its value",
        subtype="EULER",
        size=3,
    )
    offset_location: bpy.props.FloatVectorProperty(
        override=VALUE,
        options=STATIC,
        name="Offset",
        description="Where the tip is in the frame of the bone's link: a point of the tool, the mouth of a beam",
        subtype="TRANSLATION",
        size=3,
    )
    offset_rotation: bpy.props.FloatVectorProperty(
        override=VALUE,
        options=STATIC,
        name="Offset Rotation",
        description="How the tip is turned in the frame of the bone's link (XYZ)",
        subtype="EULER",
        size=3,
    )
    surface: bpy.props.PointerProperty(
        override=VALUE,
        name="Surface",
        description="Mesh that the beam falls on; without one the target's XY plane",
        type=bpy.types.Object,
        poll=_is_other_mesh,
    )
    relation: bpy.props.EnumProperty(
        override=VALUE, options=STATIC, name="Distance Is", description="How the distance is meant", items=RELATIONS
    )
    side: bpy.props.EnumProperty(
        override=VALUE, options=STATIC, name="Side", description="Side of the plane", items=SIDES
    )
    distance: bpy.props.FloatProperty(
        override=VALUE,
        name="Distance",
        description="Distance to the target or the other bone",
        default=0.5,
        min=0.0,
        precision=4,
        subtype="DISTANCE",
    )
    margin: bpy.props.FloatProperty(
        override=VALUE,
        name="Margin",
        description="How far inside the edges the center of mass stays",
        min=0.0,
        precision=4,
        subtype="DISTANCE",
    )
    singular_value: bpy.props.FloatProperty(
        override=VALUE,
        name="Least Singular Value",
        description="The smallest singular value that the tip's Jacobian may have, lengths counted in that of the arm",
        default=0.05,
        min=0.0,
        soft_max=0.2,
        precision=3,
        step=0.1,
    )
    posture: bpy.props.StringProperty(
        override=VALUE, options=STATIC, name="Posture", description="Name of the stored posture that the joints take"
    )
    speed: bpy.props.FloatProperty(
        override=VALUE, name="Speed", description="Speed along the curve; negative: backwards", unit="VELOCITY"
    )
    linear_velocity: bpy.props.FloatVectorProperty(
        override=VALUE,
        name="Velocity",
        description="Velocity of the tip, or of the lengths of a joint, per second",
        subtype="VELOCITY",
        size=3,
    )
    angular_velocity: bpy.props.FloatVectorProperty(
        override=VALUE,
        name="Rotation /s",
        description="How fast the tip turns about each axis, or the angles of a joint, per second",
        subtype="EULER",
        size=3,
    )
    coefficients: bpy.props.StringProperty(
        override=VALUE,
        name="Factors",
        description='What each joint\'s velocity (rad/s, m/s) is multiplied by, as JSON: {"joint": 1, "other": -2}; '
        "a list for a joint with several degrees of freedom",
        options=STATIC,
    )
    rate: bpy.props.FloatProperty(
        override=VALUE, name="Sum", description="What the velocities times their factors add up to", precision=4
    )
    enabled: bpy.props.BoolProperty(
        override=VALUE, options=STATIC, name="Enabled", description="Take part in solving", default=True
    )
    priority: bpy.props.IntProperty(
        override=VALUE,
        options=STATIC,
        name="Priority",
        description="Level of the task, 1 first: a task moves nothing that one of an earlier level asks for",
        default=1,
        min=1,
        soft_max=5,
    )
    influence: bpy.props.FloatProperty(
        override=VALUE,
        name="Influence",
        description="How far the task is met: 0 is as if it were not there at that frame, 0.5 is half the way "
        "from where the tip would be to its target",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    use_location: bpy.props.BoolVectorProperty(
        override=VALUE,
        options=STATIC,
        name="Position Axes",
        description="Which axes of the position count",
        size=3,
        default=(True,) * 3,
        subtype="XYZ",
    )
    use_rotation: bpy.props.BoolVectorProperty(
        override=VALUE,
        options=STATIC,
        name="Rotation Axes",
        description="About which axes the orientation counts",
        size=3,
        default=(True,) * 3,
        subtype="XYZ",
    )
    location_weights: bpy.props.FloatVectorProperty(
        override=VALUE,
        name="Position Axis Weights",
        description="How much each axis of the position counts against the others",
        size=3,
        default=(1.0,) * 3,
        min=0.0,
        soft_max=10.0,
        options=STATIC,
        subtype="XYZ",
    )
    rotation_weights: bpy.props.FloatVectorProperty(
        override=VALUE,
        name="Rotation Axis Weights",
        description="How much the rotation about each axis counts against the others",
        size=3,
        default=(1.0,) * 3,
        min=0.0,
        soft_max=10.0,
        options=STATIC,
        subtype="XYZ",
    )
    frame: bpy.props.EnumProperty(
        override=VALUE, options=STATIC, name="Axes Of", description="Whose axes are meant", items=FRAMES
    )
    axis: bpy.props.EnumProperty(
        override=VALUE, options=STATIC, name="Axis", description="Axis of the tip that points", items=AXES, default="Z"
    )
    position_weight: bpy.props.FloatProperty(
        override=VALUE,
        options=STATIC,
        name="Position Weight",
        description="How much the position counts",
        default=1.0,
        min=0.0,
        soft_max=10.0,
    )
    orientation_weight: bpy.props.FloatProperty(
        override=VALUE,
        options=STATIC,
        name="Rotation Weight",
        description="How much the orientation counts",
        default=1.0,
        min=0.0,
        soft_max=10.0,
    )
    position_tolerance: bpy.props.FloatProperty(
        override=VALUE,
        options=STATIC,
        name="Position Tolerance",
        description="Distance that counts as reached",
        default=1e-4,
        min=1e-9,
        precision=5,
        subtype="DISTANCE",
    )
    orientation_tolerance: bpy.props.FloatProperty(
        override=VALUE,
        options=STATIC,
        name="Rotation Tolerance",
        description="Angle that counts as reached",
        default=1e-3,
        min=1e-9,
        precision=4,
        subtype="ANGLE",
    )
    position_band: bpy.props.FloatProperty(
        override=VALUE,
        options=STATIC,
        name="Position Band",
        description="Distance that does not count: inside it nothing is asked for",
        min=0.0,
        precision=4,
        subtype="DISTANCE",
    )
    orientation_band: bpy.props.FloatProperty(
        override=VALUE,
        options=STATIC,
        name="Rotation Band",
        description="Angle that does not count: inside it nothing is asked for",
        min=0.0,
        precision=4,
        subtype="ANGLE",
    )
    position_residual: bpy.props.FloatProperty(
        override=VALUE,
        options=STATIC,
        name="Position Off",
        description="Length by which the task is missed after the last solve",
        subtype="DISTANCE",
        precision=5,
    )
    orientation_residual: bpy.props.FloatProperty(
        override=VALUE,
        options=STATIC,
        name="Rotation Off",
        description="Angle by which the task is missed after the last solve",
        subtype="ANGLE",
        precision=4,
    )
    solved: bpy.props.BoolProperty(
        override=VALUE, options=STATIC, name="Solved", description="Took part in the last solve"
    )
    reached: bpy.props.BoolProperty(
        override=VALUE, options=STATIC, name="Reached", description="Within its tolerances after the last solve"
    )


CLASSES = (RobokinTask,)
