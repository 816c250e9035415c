"""The joint types, each a sequence of elementary motions. Adding a joint type is adding one entry to `JOINT_TYPES`.

A joint moves its child link relative to its joint frame (fixed in the parent link) by elementary motions applied
in order. Kernel and solvers know only the elementary motions; names, coordinates and Blender channels of a joint
follow from the sequence. Velocities of angle and length coordinates are their time derivatives.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ..arrays import Array
from ..spatial import so3


class MotionPrimitive(enum.IntEnum):
    """Elementary motions; the values are those of `enum rk_motion` in the kernel."""

    ROTATION = 0  # about the axis: 1 angle [rad]
    TRANSLATION = 1  # along the axis: 1 length [m]
    HELICAL = 2  # about and along the axis, `pitch` metres per radian: 1 angle [rad]
    BALL = 3  # unit quaternion (w, x, y, z); v is the angular velocity in the child frame [rad/s]
    FREE = 4  # position (x, y, z), quaternion (w, x, y, z); v is the twist in the child frame, linear first

    @property
    def nq(self) -> int:
        return {MotionPrimitive.BALL: 4, MotionPrimitive.FREE: 7}.get(self, 1)

    @property
    def nv(self) -> int:
        return {MotionPrimitive.BALL: 3, MotionPrimitive.FREE: 6}.get(self, 1)

    @property
    def has_axis(self) -> bool:
        return self.nv == 1


@dataclass(frozen=True)
class Elementary:
    """One elementary motion of a joint. `axis`: (3,) unit vector in the joint frame; `pitch` in m/rad."""

    motion: MotionPrimitive
    axis: Array
    pitch: float = 0.0


class JointAxes(Protocol):
    """What elementary motions need to know of a joint: fields of `Joint`."""

    @property
    def axis(self) -> Array: ...
    @property
    def axes(self) -> Array | None: ...
    @property
    def order(self) -> str: ...
    @property
    def pitch(self) -> float: ...


@dataclass(frozen=True)
class JointType:
    """A joint type: its name, what it is made of, and what URDF calls it.

    `decompose(joint)` returns the elementary motions of a joint of this type, in order from parent to child.
    `motions` is their kinds (the same for every joint of the type), so that nq and nv are known without a joint.
    `bounded`: position limits are meaningful. `urdf`: URDF's word, None where URDF cannot say it.
    `orders`: values of `Joint.order` that the type takes, the first one when none is given.
    `mimicable`: has one degree of freedom that may follow another joint.
    """

    name: str
    label: str
    motions: tuple[MotionPrimitive, ...]
    decompose: Callable[[JointAxes], tuple[Elementary, ...]]
    urdf: str | None = None
    bounded: bool = True
    orders: tuple[str, ...] = ()

    @cached_property
    def nq(self) -> int:
        return sum(m.nq for m in self.motions)

    @cached_property
    def nv(self) -> int:
        return sum(m.nv for m in self.motions)

    @property
    def lengths(self) -> tuple[bool, ...]:
        """(nv,) whether each degree of freedom is a length, not an angle."""
        own = {MotionPrimitive.TRANSLATION: (True,), MotionPrimitive.FREE: (True, True, True, False, False, False)}
        return tuple(each for motion in self.motions for each in own.get(motion, (False,) * motion.nv))

    @property
    def has_axis(self) -> bool:
        """`Joint.axis` says what the joint does, or what its limits are about."""
        return not self.orders and any(m.has_axis or m is MotionPrimitive.BALL for m in self.motions)

    @property
    def has_pitch(self) -> bool:
        """`Joint.pitch` says what the joint does."""
        return MotionPrimitive.HELICAL in self.motions

    @property
    def has_cone(self) -> bool:
        """lower and upper are [swing about u, swing about w, twist], see `swing_twist.Cone`."""
        return self.motions == (MotionPrimitive.BALL,)

    @property
    def mimicable(self) -> bool:
        return self.nv == 1


def plane_basis(normal: Array) -> tuple[Array, Array]:
    """Two unit vectors (u, w) with (u, w, normal) right-handed; x and y when the normal is z."""
    reference = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    u = reference - normal * (reference @ normal)
    u /= np.linalg.norm(u)
    return u, so3.cross(normal, u)


def _along_axis(*motions: MotionPrimitive) -> Callable[[JointAxes], tuple[Elementary, ...]]:
    return lambda joint: tuple(Elementary(motion, joint.axis) for motion in motions)


def _screw(joint: JointAxes) -> tuple[Elementary, ...]:
    return (Elementary(MotionPrimitive.HELICAL, joint.axis, joint.pitch),)


def _in_order(joint: JointAxes) -> tuple[Elementary, ...]:
    """Rotations about axes of the joint frame: order "ZYX" is R_joint_child = Rz(q0) Ry(q1) Rx(q2)."""
    axes = np.eye(3)[["XYZ".index(letter) for letter in joint.order]] if joint.axes is None else joint.axes
    return tuple(Elementary(MotionPrimitive.ROTATION, axis) for axis in axes)


def _planar(joint: JointAxes) -> tuple[Elementary, ...]:
    u, w = plane_basis(joint.axis)
    return (
        Elementary(MotionPrimitive.TRANSLATION, u),
        Elementary(MotionPrimitive.TRANSLATION, w),
        Elementary(MotionPrimitive.ROTATION, joint.axis),
    )


def _whole(motion: MotionPrimitive) -> Callable[[JointAxes], tuple[Elementary, ...]]:
    return lambda joint: (Elementary(motion, joint.axis),)


_R, _T, _H, _B, _F = (
    MotionPrimitive.ROTATION,
    MotionPrimitive.TRANSLATION,
    MotionPrimitive.HELICAL,
    MotionPrimitive.BALL,
    MotionPrimitive.FREE,
)

_TAIT_BRYAN = ("ZYX", "ZXY", "YXZ", "YZX", "XYZ", "XZY")
_PROPER_EULER = ("ZXZ", "ZYZ", "XYX", "XZX", "YXY", "YZY")

JOINT_TYPES: dict[str, JointType] = {
    t.name: t
    for t in (
        JointType("fixed", "Fixed", (), lambda joint: (), "fixed", bounded=False),
        JointType("revolute", "Revolute", (_R,), _along_axis(_R), "revolute"),
        JointType("continuous", "Continuous", (_R,), _along_axis(_R), "continuous", bounded=False),
        JointType("prismatic", "Prismatic", (_T,), _along_axis(_T), "prismatic"),
        JointType("planar", "Planar", (_T, _T, _R), _planar, "planar"),
        JointType("floating", "Floating", (_F,), _whole(_F), "floating", bounded=False),
        JointType("screw", "Screw", (_H,), _screw),
        JointType("cylindrical", "Cylindrical", (_R, _T), _along_axis(_R, _T)),
        JointType("universal", "Universal", (_R, _R), _in_order, orders=("XZ", "XY", "YX", "YZ", "ZX", "ZY")),
        JointType("gimbal", "Gimbal", (_R,) * 3, _in_order, orders=_TAIT_BRYAN + _PROPER_EULER),
        JointType("spherical", "Spherical", (_B,), _whole(_B)),
        JointType("wheeled", "Wheeled Base", (_T, _T, _R), _planar),
    )
}
