"""What limits the speed along a path: joints, drives and tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array, float_array, shown
from ...robokin.configuration import check_vector
from ...robokin.errors import ConfigurationError, UnknownNameError
from ...robokin.kinematics import require_mass
from ...robokin.model.robot import RobotModel
from ..motion.dynamics import Drives
from ..trajectories.motion_limits import KINDS, MotionLimits, checked_limit

PATH_KINDS = (*KINDS, "power", "tools")
TOOL_KINDS = ("speed", "acceleration")


@dataclass(frozen=True)
class ToolLimit:
    """link: its name, `frame` its index.   speed [m/s] and acceleration [m/s²] of its origin, at most; infinite where
    there is no such limit."""

    link: str
    frame: int
    speed: float = np.inf
    acceleration: float = np.inf


@dataclass(frozen=True, eq=False)
class PathLimits:
    """motion: velocities, accelerations and jerks; jerks count where `has_jerk`.   power: (nv,) [W] of what each drive
    gives or takes, or None.   gravity: (3,) [m/s²], where efforts count, or None.   tools: of links.
    paces: (k,) which share of the speed that the joints' limits allow each interval of the path's knots has, or None.
    caps: (k, tools) [m/s] on the speeds of tools there, or None. Both only with limits on the jerk."""

    motion: MotionLimits
    has_jerk: bool = False
    power: Array | None = None
    gravity: Array | None = None
    tools: tuple[ToolLimit, ...] = ()
    paces: Array | None = None
    caps: Array | None = None

    @classmethod
    def of(cls, model: RobotModel, limits: object, gravity: object = None) -> PathLimits:
        """limits: as `MotionLimits.of` takes them; "power", one number or one for each degree of freedom; and "tools",
        {link: {"speed": m/s, "acceleration": m/s²}}. Jerks count where the limits have them.

        Raises ConfigurationError, UnknownNameError, ModelError for efforts of a robot without masses.
        """
        if isinstance(limits, PathLimits):
            return limits
        g = None if gravity is None else check_vector(gravity, 3, "gravity")
        if g is not None:
            require_mass(model)
        if not isinstance(limits, Mapping):
            return cls(MotionLimits.of(model, limits), False, None, g)
        for name in limits:
            if name not in PATH_KINDS:
                raise UnknownNameError("limit", name, PATH_KINDS)
        given = {name: value for name, value in limits.items() if value is not None}
        power = checked_limit(given["power"], model, "power") if "power" in given else None
        if power is not None and g is None:
            raise ConfigurationError("limits on power need gravity, as those on efforts do")
        bound = MotionLimits.of(model, {name: value for name, value in given.items() if name in KINDS})
        return cls(bound, "jerk" in given, power, g, _tools(model, given.get("tools", {})))

    @property
    def are_linear(self) -> bool:
        """Whether all are lines in the square of the speed along the path and the acceleration along it."""
        return not (self.has_jerk or self.power is not None or any(np.isfinite(t.acceleration) for t in self.tools))

    def still_effort(self, model: RobotModel) -> Array:
        """(nv,) [N m or N] what friction and damping take of the drives at full speed."""
        return abs(Drives.of(model).rates_effort(self.motion.velocity, np.zeros(model.nv)))

    def effort_room(self, model: RobotModel) -> Array:
        """(nv,) [N m or N] what the drives have for links and rotors; infinite where no effort is limited."""
        return np.where(np.isfinite(model.effort), model.effort - self.still_effort(model), np.inf)


def _tools(model: RobotModel, given: object) -> tuple[ToolLimit, ...]:
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"tools must be a mapping of links to their limits, not {shown(given)}")
    found = []
    for link, own in given.items():
        if link not in model.link_names:
            raise UnknownNameError("link", link, model.link_names)
        if not isinstance(own, Mapping):
            raise ConfigurationError(f"limits of the tool {link!r} must be a mapping, not {shown(own)}")
        for kind in own:
            if kind not in TOOL_KINDS:
                raise UnknownNameError("limit of a tool", kind, TOOL_KINDS)
        values = {kind: _positive(value, f"{kind} of the tool {link!r}") for kind, value in own.items()}
        found.append(ToolLimit(link, model.link_names.index(link), **values))
    return tuple(found)


def _positive(value: object, what: str) -> float:
    try:
        number = float_array(value)
    except ValueError:
        number = np.empty(0)
    if number.shape != () or not number > 0.0:
        raise ConfigurationError(f"{what} must be a positive number, not {shown(value)}")
    return float(number)
