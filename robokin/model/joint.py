"""A joint: what its child link can do relative to its parent link."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from ..arrays import Array, finite_number, float_array, frozen_array, frozen_placement, not_negative, shown, text
from ..errors import ConfigurationError, ModelError
from .drive import Drive
from .joint_types import JOINT_TYPES, JointType

Limit = Any  # a number or (nv,) numbers when a joint is made, an array (nv,) ever after

SHORTEST = 1e-9  # length of a quaternion that still says a rotation
PARALLEL = 1e-6  # sine of the angle between two axes
FULL_TWIST = math.pi * (1.0 + 1e-6)  # half a turn, also in single precision

_LIMITS = ("lower", "upper", "velocity", "effort", "acceleration")


@dataclass(frozen=True)
class Mimic:
    """q = multiplier * q_joint + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        text(self.joint, "the name of a joint to mimic")
        for name in ("multiplier", "offset"):
            object.__setattr__(self, name, finite_number(getattr(self, name), f"mimic of {self.joint!r}: {name}"))


@dataclass(frozen=True, eq=False)
class Joint:
    """What the child link can do relative to the parent link. SI and radians; absent limits are infinite.

    lower, upper, velocity, effort, acceleration: (nv,) per degree of freedom (a scalar is spread).
    placement: (4, 4) T_parent_joint. axis: (3,) unit vector in the joint frame. pitch: m/rad of a screw.
    order: axes of the joint frame about which a universal or gimbal joint turns, from parent to child: "ZYX" is
    Rz(q0) Ry(q1) Rx(q2); empty for the type's usual one. Types that have no order have "".
    axes: (nv, 3) unit vectors in the joint frame about which a universal or gimbal joint turns instead, at any angle
    to each other, those that follow each other not parallel; None: those of `order`. With axes, `order` is "".
    A spherical joint's limits are [swing about u, swing about w, twist] with (u, w) = plane_basis(axis): its swing
    stays in the elliptic cone with the half-angles upper[:2] (lower[:2] are the same, negative; 0 locks), its twist
    about `axis` between lower[2] and upper[2], within [-pi, pi] (see `swing_twist`).
    drive: the wheels of a wheeled joint; None: they are looked for when the model is made (`wheels.find_drive`).
    damping [N m s/rad or N s/m], friction [N m or N], rotor_inertia [kg m^2 or kg] at the joint.
    stiffness and rest_position: how strongly a position is preferred, mid-range where rest_position is None; with a
    rest position a joint with one degree of freedom has a spring, too, of this stiffness [N m/rad or N/m].
    """

    name: str
    type: str
    parent: str | None
    child: str
    placement: Array = field(default_factory=lambda: np.eye(4))
    axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    lower: Limit = -np.inf
    upper: Limit = np.inf
    velocity: Limit = np.inf
    effort: Limit = np.inf
    acceleration: Limit = np.inf
    pitch: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    rotor_inertia: float = 0.0
    stiffness: float = 1.0
    rest_position: float | None = None
    mimic: Mimic | None = None
    order: str = ""
    axes: Array | None = None
    drive: Drive | None = None

    def __post_init__(self) -> None:
        who = f"joint {shown(self.name)}"
        text(self.name, "the name of a joint")
        for role in ("parent", "child"):
            if role != "parent" or self.parent is not None:  # the root joint's is the root frame
                text(getattr(self, role), f"{who}: its {role} link")
        if not isinstance(self.type, str) or self.type not in JOINT_TYPES:
            raise ModelError(f"{who}: unknown type {shown(self.type)} (valid: {', '.join(JOINT_TYPES)})")
        put = object.__setattr__
        text(self.order, f"{who}: order")
        orders = self.kind.orders or ("",)
        put(self, "order", (self.order or orders[0]) if self.kind.orders else "")
        if self.order not in orders:
            raise ModelError(f"{who}: a {self.type} joint has no order {self.order!r} (valid: {', '.join(orders)})")
        if self.axes is not None:
            self._take_axes(who)
        if self.drive is not None and self.type != "wheeled":
            raise ModelError(f"{who}: a {self.type} joint has no drive")
        put(self, "placement", frozen_placement(self.placement, f"{who}: placement"))
        axis = frozen_array(self.axis, (3,), f"{who}: axis")
        length = np.linalg.norm(axis)
        if not np.isfinite(length) or (length < 1e-9 and self.kind.nv):
            raise ModelError(f"{who}: axis {axis.tolist()} has no direction")
        # An axis that is a unit vector up to rounding stays bit-equal, so that writing and reading it back does too.
        if length >= 1e-9 and abs(length - 1.0) > 1e-12:
            put(self, "axis", frozen_array(axis / length, (3,), f"{who}: axis"))
        else:
            put(self, "axis", axis)
        for name in _LIMITS:
            value = getattr(self, name)
            values = [value] * self.nv if isinstance(value, Real) or getattr(value, "shape", None) == () else value
            put(self, name, frozen_array(values, (self.nv,), f"{who}: {name}"))
            if name not in ("lower", "upper") and (getattr(self, name) <= 0).any():
                raise ModelError(f"{who}: {name} limit must be positive, not {getattr(self, name).tolist()}")
        if (self.lower > self.upper).any():
            raise ModelError(f"{who}: lower limit {self.lower.tolist()} is above upper limit {self.upper.tolist()}")
        if self.kind.has_cone:
            self._check_cone(who)
        if self.type == "wheeled" and np.isfinite(self.acceleration).any():
            raise ModelError(f"{who}: acceleration limits of a wheeled base are those of its wheels")
        put(self, "pitch", finite_number(self.pitch, f"{who}: pitch"))
        for name in ("damping", "friction", "rotor_inertia", "stiffness"):
            put(self, name, not_negative(getattr(self, name), f"{who}: {name}"))
        if self.rest_position is not None:
            put(self, "rest_position", finite_number(self.rest_position, f"{who}: rest position"))
        if self.mimic is not None:
            if not isinstance(self.mimic, Mimic):
                raise ModelError(f"{who}: mimic must be a Mimic, not {shown(self.mimic)}")
            if not self.kind.mimicable:
                raise ModelError(f"{who}: a {self.type} joint cannot mimic (only joints of one degree of freedom can)")

    def _take_axes(self, who: str) -> None:
        if not self.kind.orders:
            raise ModelError(f"{who}: a {self.type} joint has one axis, not several axes")
        axes = frozen_array(self.axes, (self.nv, 3), f"{who}: axes")
        lengths = np.linalg.norm(axes, axis=1)
        if not np.isfinite(lengths).all() or (lengths < SHORTEST).any():
            raise ModelError(f"{who}: one of its axes {axes.tolist()} has no direction")
        if (abs(lengths - 1.0) > 1e-12).any():
            axes = frozen_array(axes / lengths[:, None], (self.nv, 3), f"{who}: axes")
        if (np.linalg.norm(np.cross(axes[:-1], axes[1:]), axis=1) < PARALLEL).any():
            raise ModelError(f"{who}: axes {axes.tolist()} that follow each other are parallel")
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "order", "")

    def _check_cone(self, who: str) -> None:
        if (self.lower[:2] != -self.upper[:2]).any():
            raise ModelError(
                f"{who}: the lower swing limits {self.lower[:2].tolist()} must be the upper ones "
                f"{self.upper[:2].tolist()} with the other sign"
            )
        twist = [end for end in (self.lower[2], self.upper[2]) if np.isfinite(end)]
        if any(abs(end) > FULL_TWIST for end in twist):
            raise ModelError(f"{who}: twist limits {twist} must lie within -pi .. pi")

    @property
    def kind(self) -> JointType:
        return JOINT_TYPES[self.type]

    @property
    def nq(self) -> int:
        """Coordinates of the joint alone (a mimic joint has them, but none of its own in the model's q)."""
        return self.kind.nq

    @property
    def nv(self) -> int:
        """Degrees of freedom of the joint alone."""
        return self.kind.nv

    def coordinates(self, value: object) -> Array:
        """(nq,) coordinates from a number, or a list where the joint has several. Raises ConfigurationError."""
        if type(value) is float and math.isfinite(value) and self.nq == 1:
            return np.array([value])
        try:
            array = np.atleast_1d(float_array(value))
        except ValueError:
            raise ConfigurationError(f"joint {self.name!r}: {shown(value)} is not a joint value") from None
        if self.nq == 0:
            raise ConfigurationError(f"joint {self.name!r} is fixed and has no value")
        if array.shape != (self.nq,):
            problem = f"takes {self.nq} {'value' if self.nq == 1 else 'values'}, not an array of shape {array.shape}"
            raise ConfigurationError(f"joint {self.name!r} ({self.type}) {problem}")
        if not np.isfinite(array).all():
            raise ConfigurationError(f"joint {self.name!r}: value {shown(value)} is not finite")
        if self.nq != self.nv:
            length = math.hypot(*array[-4:])
            if not SHORTEST <= length < math.inf:
                raise ConfigurationError(f"joint {self.name!r}: the quaternion {array[-4:].tolist()} has no direction")
            array[-4:] /= length
        return array
