"""What a bone is as a joint and a link: `Bone.robokin`, also on `EditBone` (the storage is one).

The fields are SI and radians, single precision; the exact numbers lie in the bone's record (bridge/record/stored.py).
`lower_angle`, `lower_length` ... are views of `lower` ... that Blender shows, and takes, in the units of the scene:
angles in degrees or radians, lengths, speeds and masses in Blender units.
`lower_2`, `lower_3` ... are the bounds of a joint's second and third degree of freedom.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import bpy

from ..robokin import RobokinError
from ..robokin.model.joint_types import JOINT_TYPES, JointType
from .bridge.record.fields import FREEDOMS, ORDERED, bound_field, order_field, twist_along_bone
from .bridge.record.reading import read_record, read_robot
from .bridge.record.snapshot import metres_per_unit
from .bridge.record.stored import KEY, ROBOT_KEY
from .bridge.rig.hand_posing import refresh_rigs

_DOES = {
    "fixed": "Does not move",
    "revolute": "Turns about one axis, between two limits: elbows, most axes of arms",
    "continuous": "Turns about one axis without end: wheels",
    "prismatic": "Slides along one axis, between two limits: rails, fingers of grippers",
    "planar": "Moves on a plane: along two axes, and turns about the third",
    "floating": "Moves and turns freely: the base of what walks, flies or swims",
    "screw": "Turns, and slides along its axis in a fixed ratio: nuts on bolts",
    "cylindrical": "Turns about one axis, and slides along it",
    "universal": "Turns about two axes, one after the other: cardan shafts",
    "gimbal": "Turns about three axes, one after the other",
    "spherical": "Turns any way inside a cone, as a ball in a socket: shoulders, hips",
    "wheeled": "Drives on two wheels: forward, back and around, never sideways",
}
TYPES = tuple((t.name, t.label, _DOES[t.name], i) for i, t in enumerate(JOINT_TYPES.values()))


_BOUNDS = (
    ("lower", "Lower", "Least value: neither a hand nor a solver takes the joint below", "rad or m", {"precision": 4}),
    (
        "upper",
        "Upper",
        "Greatest value: neither a hand nor a solver takes the joint above",
        "rad or m",
        {"precision": 4},
    ),
    ("velocity", "Velocity", "Highest speed: no bake is faster", "rad/s or m/s", {"min": 0.0}),
    (
        "effort",
        "Effort",
        "Highest torque or force of the drive: it holds where Efforts is on",
        "N m or N",
        {"min": 0.0},
    ),
    ("acceleration", "Acceleration", "Highest acceleration, also of braking", "rad/s² or m/s²", {"min": 0.0}),
)


# What Blender calls the unit of a bound of what slides.
_LENGTH_UNITS = {"lower": "LENGTH", "upper": "LENGTH", "velocity": "VELOCITY", "acceleration": "ACCELERATION"}


def _edited(settings: RobokinJoint, context: bpy.types.Context) -> None:
    """Limits, locks and drivers of the posed bones follow an edit at once."""
    if settings.version:  # 0 while the fields are being rebuilt from the record
        refresh_rigs(settings.id_data)


def _retyped(settings: RobokinJoint, context: bpy.types.Context) -> None:
    if settings.version:
        armature = settings.id_data
        for bone in armature.edit_bones if armature.is_editmode else armature.bones:
            if bone.robokin == settings and KEY in bone:
                with suppress(RobokinError):  # of a damaged record, which the panel shows
                    twist_along_bone(settings, read_record(bone[KEY], bone.name))
    _edited(settings, context)


def _metres(settings: RobokinJoint) -> float:
    """Metres in a Blender unit of the robot's numbers: those of the scene but for a moment after a change of that."""
    try:
        return read_robot(settings.id_data[ROBOT_KEY], "").metres_per_unit
    except (KeyError, RobokinError):
        return metres_per_unit()


def _one(settings: RobokinJoint) -> float:
    return 1.0


def _kilograms(settings: RobokinJoint) -> float:
    """Blender shows a mass times the cube of the unit scale."""
    return metres_per_unit() ** 3


def _view(name: str, unit: Callable[[RobokinJoint], float], size: int = 1) -> dict[str, Callable]:
    """`get` and `set` of a property that shows the field `name` in a unit."""

    def get(settings: RobokinJoint) -> float:
        return getattr(settings, name) / unit(settings)

    def put(settings: RobokinJoint, value: float) -> None:
        setattr(settings, name, value * unit(settings))

    def get_vector(settings: RobokinJoint) -> list[float]:
        return [x / unit(settings) for x in getattr(settings, name)]

    def put_vector(settings: RobokinJoint, value: Sequence[float]) -> None:
        setattr(settings, name, [x * unit(settings) for x in value])

    return {"get": get, "set": put} if size == 1 else {"get": get_vector, "set": put_vector}


def _number(name: str, description: str, **options: object) -> object:
    return bpy.props.FloatProperty(name=name, description=description, update=_edited, **options)


def _switch(name: str, description: str) -> object:
    return bpy.props.BoolProperty(name=name, description=description, update=_edited)


def _angle(name: str, description: str, field: str) -> object:
    return bpy.props.FloatProperty(name=name, description=description, subtype="ANGLE", **_view(field, _one))


def _length(name: str, description: str, field: str, unit: str = "LENGTH") -> object:
    return bpy.props.FloatProperty(name=name, description=description, unit=unit, precision=4, **_view(field, _metres))


def _bounds(freedom: int) -> dict[str, object]:
    """The fields of the bounds of a degree of freedom, and the views of its position limits."""
    which = f" (degree of freedom {freedom + 1})" if freedom else ""
    fields: dict[str, object] = {}
    for name, label, what, unit, options in _BOUNDS:
        field = bound_field(name, freedom)
        fields[f"use_{field}"] = _switch(f"{label} Limit", f"There is such a limit. {what}{which}")
        fields[field] = _number(label, f"{what}{which} [{unit}]", **options)
        if name in _LENGTH_UNITS:
            fields[f"{field}_angle"] = _angle(label, f"{what}{which}", field)
            fields[f"{field}_length"] = _length(label, f"{what}{which}", field, _LENGTH_UNITS[name])
    return fields


def _order(kind: JointType) -> object:
    items = [(o, ", ".join(o), f"Turns about {' then '.join(o)} of the link's frame") for o in kind.orders]
    return bpy.props.EnumProperty(
        name="Axes", description="Axes about which the joint turns, from parent to child", items=items, update=_edited
    )


def _axis(name: str, default: tuple[float, float, float]) -> object:
    description = (
        f"{name.capitalize()} about which the joint turns, from parent to child, in the frame of its link at rest"
    )
    return bpy.props.FloatVectorProperty(
        name=name, description=description, size=3, default=default, precision=4, update=_edited
    )


def _wheel(name: str) -> object:
    description = f"Joint of the {name.lower()} of a wheeled base; empty: the wheels are looked for"
    return bpy.props.StringProperty(name=name, description=description, update=_edited)


class RobokinJoint(bpy.types.PropertyGroup):
    """The joint that a bone is, and the link that moves with it."""

    version: bpy.props.IntProperty(
        name="Version", description="Version of the record these fields show; 0: not a joint", options={"HIDDEN"}
    )
    joint_type: bpy.props.EnumProperty(name="Type", description="What the joint can do", items=TYPES, update=_retyped)
    axis: bpy.props.FloatVectorProperty(
        name="Axis",
        description="Axis of the joint in the frame of its link; of a spherical joint the axis of twist",
        size=3,
        default=(0.0, 0.0, 1.0),
        precision=4,
        update=_edited,
    )
    use_axes: _switch("Own Axes", "A universal or gimbal joint turns about axes of its own, at any angle to each other")
    axis_1: _axis("First Axis", (1.0, 0.0, 0.0))
    axis_2: _axis("Second Axis", (0.0, 1.0, 0.0))
    axis_3: _axis("Third Axis", (0.0, 0.0, 1.0))
    wheel_left: _wheel("Left Wheel")
    wheel_right: _wheel("Right Wheel")
    wheel_radius: _number("Wheel Radius", "Radius of the two wheels [m]", min=0.0, precision=5)
    wheel_radius_length: _length("Wheel Radius", "Radius of the two wheels", "wheel_radius")
    wheel_separation: _number("Track Width", "Distance between the two wheels [m]", min=0.0, precision=5)
    wheel_separation_length: _length("Track Width", "Distance between the two wheels", "wheel_separation")
    pitch: _number("Pitch", "Advance of a screw per angle [m/rad]", precision=5)
    pitch_length: _length("Pitch", "Advance of a screw per radian", "pitch")
    damping: _number("Damping", "Viscous friction [N m s/rad or N s/m]", min=0.0)
    friction: _number("Friction", "Dry friction [N m or N]", min=0.0)
    rotor_inertia: _number("Rotor Inertia", "Reflected inertia of the drive [kg m² or kg]", min=0.0)
    stiffness: _number(
        "Stiffness",
        "How strongly the joint prefers its rest position; with one, also its spring [N m/rad or N/m]",
        default=1.0,
        min=0.0,
    )
    use_rest_position: _switch("Rest Position", "The joint prefers a position other than mid-range")
    rest_position: _number("Rest Position", "Preferred position [rad or m]")
    mimic_joint: bpy.props.StringProperty(
        name="Follows", description="Joint that this one follows; empty: none", update=_edited
    )
    mimic_multiplier: _number("Multiplier", "Position = multiplier * followed joint + offset", default=1.0)
    mimic_offset: _number("Offset", "Position = multiplier * followed joint + offset [rad or m]")
    mimic_offset_angle: _angle("Offset", "Position = multiplier * followed joint + offset", "mimic_offset")
    mimic_offset_length: _length("Offset", "Position = multiplier * followed joint + offset", "mimic_offset")
    locked: _switch("Lock", "Solve, Live and Bake leave the joint where it is; by hand it can still be moved")
    link: bpy.props.StringProperty(
        name="Link", description="Name of the rigid body that moves with the bone", update=_edited
    )
    mass: _number("Mass", "Mass of the link [kg]", min=0.0, precision=4)
    mass_shown: bpy.props.FloatProperty(
        name="Mass", description="Mass of the link", unit="MASS", min=0.0, precision=4, **_view("mass", _kilograms)
    )
    com: bpy.props.FloatVectorProperty(
        name="Center of Mass", description="In the frame of the link [m]", size=3, precision=4, update=_edited
    )
    com_length: bpy.props.FloatVectorProperty(
        name="Center of Mass",
        description="In the frame of the link",
        size=3,
        subtype="XYZ_LENGTH",
        precision=4,
        **_view("com", _metres, size=3),
    )
    inertia: bpy.props.FloatVectorProperty(
        name="Inertia",
        description="Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the center of mass, along the link's axes [kg m²]",
        size=6,
        precision=6,
        update=_edited,
    )


# The fields that there are several of: bounds of each degree of freedom, the order of each joint type that has one.
for _freedom in range(FREEDOMS):
    RobokinJoint.__annotations__ |= _bounds(_freedom)
RobokinJoint.__annotations__ |= {order_field(_kind): _order(_kind) for _kind in ORDERED}

CLASSES = (RobokinJoint,)
