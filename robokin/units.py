"""Numbers of joints with their units, and of things, for what is written for people. Inside all is SI and radians."""

from __future__ import annotations

from .model.joint import Joint
from .model.joint_types import MotionPrimitive

_COORDINATES = {
    MotionPrimitive.TRANSLATION: ("m",),
    MotionPrimitive.BALL: ("",) * 4,
    MotionPrimitive.FREE: ("m",) * 3 + ("",) * 4,
}
_FREEDOMS = {
    MotionPrimitive.TRANSLATION: ("m",),
    MotionPrimitive.BALL: ("rad",) * 3,
    MotionPrimitive.FREE: ("m",) * 3 + ("rad",) * 3,
}
FORCES = {"m": "N", "rad": "N m"}


def coordinate_units(joint: Joint) -> list[str]:
    """(nq) "rad", "m", or "" for the parts of a quaternion."""
    return [unit for motion in joint.kind.motions for unit in _COORDINATES.get(motion, ("rad",))]


def freedom_units(joint: Joint) -> list[str]:
    """(nv) "rad" or "m": velocities are in these per second, efforts in `FORCES` of them."""
    return [unit for motion in joint.kind.motions for unit in _FREEDOMS.get(motion, ("rad",))]


def small_length(length: float) -> str:
    """A length [m] for people: in mm below a metre."""
    return f"{1e3 * length:.3g} mm" if length < 1.0 else f"{length:.3g} m"


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things for people: "1 frame", "2 frames"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def with_unit(number: float, unit: str) -> str:
    return f"{number:.6g} {unit}".rstrip()
