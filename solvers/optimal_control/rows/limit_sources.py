"""What a whole motion keeps besides the limits on positions, velocities and accelerations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ....robokin.arrays import Array
from ....robokin.configuration import check_vector
from ....robokin.errors import ConfigurationError, UnknownNameError
from ....robokin.kinematics import require_mass
from ....robokin.model.robot import RobotModel
from ...trajectories.motion_limits import checked_limit
from ..discretization import DiscreteMotion, Discretization
from .drive_rows import EffortRows, JerkRows
from .rolling_rows import RollingRows
from .row_blocks import RowSource

KINDS = ("jerk", "power")


@dataclass(frozen=True, eq=False)
class MotionBounds:
    """jerk: (nv,) [SI per s^3], power: (nv,) [W], or None.   gravity: (3,) [m/s^2], where efforts count, or None."""

    jerk: Array | None = None
    power: Array | None = None
    gravity: Array | None = None

    @classmethod
    def of(cls, model: RobotModel, limits: object = None, gravity: object = None) -> MotionBounds:
        """limits: {"jerk", "power"}, each one number or (nv,).

        Raises ConfigurationError, UnknownNameError, ModelError for efforts of a robot without masses.
        """
        g = None if gravity is None else check_vector(gravity, 3, "gravity")
        if g is not None:
            require_mass(model)
        if not isinstance(limits, Mapping | None):
            raise ConfigurationError(f"limits must be a mapping of {', '.join(KINDS)}")
        given = {name: value for name, value in (limits or {}).items() if value is not None}
        for name in given:
            if name not in KINDS:
                raise UnknownNameError("limit", name, KINDS)
        if "power" in given and g is None:
            raise ConfigurationError("limits on power need gravity, as those on efforts do")
        jerk, power = (np.array(checked_limit(given[k], model, k)) if k in given else None for k in KINDS)
        return cls(jerk, power, g)


def limit_sources(grid: Discretization, bounds: MotionBounds) -> list[RowSource]:
    """Raises ModelError."""
    found: list[RowSource] = [RollingRows(base) for base in grid.model.rolling_bases]
    if bounds.jerk is not None:
        found.append(JerkRows(bounds.jerk))
    if bounds.gravity is not None and np.isfinite(grid.model.effort).any():
        found.append(EffortRows(grid, bounds.gravity))
    if bounds.gravity is not None and bounds.power is not None:
        found.append(EffortRows(grid, bounds.gravity, bounds.power))
    return found


def rolled(here: DiscreteMotion) -> DiscreteMotion:
    """The trajectory with wheeled bases exactly where their wheels carry them."""
    q = here.q
    for base in here.grid.model.rolling_bases:
        q = RollingRows(base).rolled(q)
    return here if q is here.q else DiscreteMotion(here.grid, q)
