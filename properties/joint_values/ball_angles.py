"""A ball's rotation as three angles, which people read; its channel is a quaternion: `PoseBone.robokin_angles`."""

from __future__ import annotations

import math

import bpy
from mathutils import Euler

ANGLES = "robokin_angles"


def _get(bone: bpy.types.PoseBone) -> tuple[float, float, float]:
    return tuple(bone.rotation_quaternion.to_euler())


def _set(bone: bpy.types.PoseBone, angles: tuple[float, float, float]) -> None:
    turned = Euler(angles).to_quaternion()
    turned.make_compatible(bone.rotation_quaternion)
    bone.rotation_quaternion = turned


def angles_text(bone: bpy.types.PoseBone) -> str:
    """The three of a ball, as short as a row of a list is narrow."""
    return " ".join(f"{math.degrees(angle):z.0f}\u00b0" for angle in _get(bone))


def new_property() -> object:
    """A property for PoseBone; see `joint_range.new_property`."""
    return bpy.props.FloatVectorProperty(
        name="Angles",
        description="Rotation about X, Y and Z of the bone (XYZ Euler angles). Its keys are those of its quaternion",
        subtype="EULER",
        size=3,
        options=set(),
        get=_get,
        set=_set,
    )
