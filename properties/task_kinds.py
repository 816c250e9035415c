"""The kinds of tasks as Blender's users meet them: names, what each needs of the scene, and which fields say it."""

from __future__ import annotations

from dataclasses import dataclass

LENGTH, ANGLE = "LENGTH", "ROTATION"
POSITION = ("Position", LENGTH)
ORIENTATION = ("Rotation", ANGLE)
DISTANCE = ("Distance", LENGTH)


@dataclass(frozen=True)
class TaskKind:
    """One kind.

    parts: (label, quantity) of its residuals; the length is kept in `position_residual`, the angle in
    `orientation_residual`.
    tip, other: what its bones are called; "" when it has none.   needs_other: the other one must be given.
    target: "" no target; "POSE" an object or a fixed pose; else the type of object that it must be.
    pose: which of location and rotation say the fixed pose, or else what is taken from the present one.
    fields: what the panel draws between the bones and the influence.
    animated: what is read anew at each frame, beside the influence.
    axes: which of `use_location`, `use_rotation` count.   weighted: its parts have weights.   banded: and bands.
    is_velocity: only for a bake, since no single pose can meet it.   is_hard: before all levels, without influence.
    """

    label: str
    description: str
    icon: str
    number: int
    parts: tuple[tuple[str, str], ...]
    tip: str = "Tip"
    other: str = ""
    needs_other: bool = False
    target: str = ""
    pose: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    animated: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    has_frame: bool = False
    weighted: bool = True
    banded: bool = True
    is_velocity: bool = False
    is_hard: bool = False

    @property
    def has_length(self) -> bool:
        return any(quantity == LENGTH for _, quantity in self.parts)

    @property
    def has_angle(self) -> bool:
        return any(quantity == ANGLE for _, quantity in self.parts)


_BOTH = ("location", "rotation")
_AXES = ("use_location", "use_rotation")
_VELOCITIES = ("linear_velocity", "angular_velocity")

KINDS: dict[str, TaskKind] = {
    "POSE": TaskKind(
        "Pose",
        "Hold position and orientation",
        "EMPTY_AXIS",
        0,
        (POSITION, ORIENTATION),
        target="POSE",
        pose=_BOTH,
        axes=_AXES,
        has_frame=True,
    ),
    "POSITION": TaskKind(
        "Position",
        "Hold the position, any orientation",
        "EMPTY_SINGLE_ARROW",
        1,
        (POSITION,),
        target="POSE",
        pose=("location",),
        axes=("use_location",),
        has_frame=True,
    ),
    "ORIENTATION": TaskKind(
        "Orientation",
        "Hold the orientation, any position",
        "ORIENTATION_GIMBAL",
        2,
        (ORIENTATION,),
        target="POSE",
        pose=("rotation",),
        axes=("use_rotation",),
        has_frame=True,
    ),
    "AXIS": TaskKind(
        "Axis",
        "Point one axis of the tip along the target's Z axis",
        "ORIENTATION_NORMAL",
        3,
        (ORIENTATION,),
        target="POSE",
        pose=("rotation",),
        fields=("axis",),
    ),
    "AIM": TaskKind(
        "Aim",
        "Point one axis of the tip at the target",
        "TRACKER",
        4,
        (("Direction", ANGLE),),
        target="POSE",
        pose=("location",),
        fields=("axis",),
    ),
    "LASER": TaskKind(
        "Laser",
        "A beam along an axis of the tip falls on a surface at the target",
        "LIGHT_SPOT",
        9,
        (("Spot", LENGTH), ("Beam", ANGLE)),
        target="POSE",
        pose=_BOTH,
        fields=("axis", "surface"),
        banded=False,
    ),
    "PLANE": TaskKind(
        "On Plane",
        "The tip is on the target's XY plane, or on one side of it",
        "MESH_PLANE",
        5,
        (DISTANCE,),
        target="POSE",
        pose=_BOTH,
        fields=("side",),
    ),
    "LINE": TaskKind(
        "On Line", "The tip is on the target's Z axis", "IPO_LINEAR", 6, (DISTANCE,), target="POSE", pose=_BOTH
    ),
    "CURVE": TaskKind(
        "On Curve", "The tip is anywhere on a curve object", "CURVE_DATA", 7, (DISTANCE,), target="CURVE"
    ),
    "DISTANCE": TaskKind(
        "Distance",
        "The tip is so far from the target or from another bone",
        "DRIVER_DISTANCE",
        8,
        (DISTANCE,),
        other="From",
        target="POSE",
        pose=("location",),
        fields=("relation", "distance"),
        animated=("distance",),
    ),
    "RELATIVE": TaskKind(
        "Relative Pose",
        "The tip takes a pose in the frame of another bone",
        "LINKED",
        10,
        (POSITION, ORIENTATION),
        other="To",
        needs_other=True,
        pose=_BOTH,
        fields=_BOTH,
        animated=_BOTH,
        axes=_AXES,
    ),
    "PIN": TaskKind(
        "Pin",
        "The tip stays as it is where a solve or a motion starts",
        "PINNED",
        11,
        (POSITION, ORIENTATION),
        axes=_AXES,
        banded=False,
    ),
    "ADVANCE": TaskKind(
        "Advance",
        "The tip moves by a vector from where it stands",
        "FORWARD",
        20,
        (POSITION,),
        fields=("location",),
        animated=("location",),
        axes=("use_location",),
        has_frame=True,
        banded=False,
    ),
    "LOOP": TaskKind(
        "Loop Closure",
        "Two bones are joined where they begin, before all other tasks",
        "MESH_CIRCLE",
        12,
        (POSITION, ORIENTATION),
        other="With",
        needs_other=True,
        axes=_AXES,
        weighted=False,
        banded=False,
        is_hard=True,
    ),
    "CENTER_OF_MASS": TaskKind(
        "Center of Mass",
        "The robot's center of mass is at the target",
        "PIVOT_MEDIAN",
        13,
        (POSITION,),
        tip="",
        target="POSE",
        pose=("location",),
        axes=("use_location",),
    ),
    "SUPPORT": TaskKind(
        "Support",
        "The center of mass stays above the polygon around a mesh object, so that the robot can stand",
        "MOD_PHYSICS",
        14,
        (DISTANCE,),
        tip="",
        target="MESH",
        fields=("margin",),
        animated=("margin",),
        banded=False,
    ),
    "POSTURE": TaskKind(
        "Posture",
        "The joints take the values of a stored posture",
        "ARMATURE_DATA",
        15,
        (("Angle", ANGLE), ("Length", LENGTH)),
        tip="",
        fields=("posture",),
    ),
    "JOINT": TaskKind(
        "Joint Value",
        "The joint of a bone takes a value",
        "CON_ROTLIMIT",
        16,
        (("Angle", ANGLE), ("Length", LENGTH)),
        tip="Bone",
        pose=_BOTH,
        fields=_BOTH,
        animated=_BOTH,
    ),
    "ALONG_CURVE": TaskKind(
        "Along Curve",
        "The tip goes along a curve object at a speed; only in a bake",
        "CURVE_PATH",
        17,
        (POSITION,),
        target="CURVE",
        fields=("speed",),
        animated=("speed",),
        banded=False,
        is_velocity=True,
    ),
    "TWIST": TaskKind(
        "Twist",
        "The tip moves at a velocity, or turns about the target as about a hinge; only in a bake",
        "FORCE_VORTEX",
        18,
        (("Linear", LENGTH), ("Angular", ANGLE)),
        target="POSE",
        pose=(),
        fields=_VELOCITIES,
        animated=_VELOCITIES,
        axes=_AXES,
        has_frame=True,
        is_velocity=True,
    ),
    "JOINT_VELOCITY": TaskKind(
        "Joint Velocity",
        "The joint of a bone moves at a velocity; only in a bake",
        "FORCE_MAGNETIC",
        19,
        (("Angular", ANGLE), ("Linear", LENGTH)),
        tip="Bone",
        fields=_VELOCITIES,
        animated=_VELOCITIES,
        is_velocity=True,
    ),
    "LINEAR_VELOCITY": TaskKind(
        "Velocity Sum",
        "Velocities of joints, each times a factor, add up to a value; only in a bake",
        "CON_TRANSFORM_CACHE",
        21,
        (("Rate", ANGLE),),
        tip="",
        fields=("coefficients", "rate"),
        animated=("rate",),
        is_velocity=True,
    ),
}

ITEMS = tuple((name, kind.label, kind.description, kind.icon, kind.number) for name, kind in KINDS.items())
