"""A motion as the angles of hobby servos: 0 to 180 degrees for each channel (Sukesh 2025, section 2.4.1)."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import ConfigurationError
from ...robokin.model.robot import RobotModel

RANGE = 180.0  # degrees that a servo turns
_SAME = 1e-6


def servo_angles(model: RobotModel, q: Array) -> tuple[list[str], Array]:
    """Names of the joints that move on their own, and their servos' angles (F, joints) at configurations q (F, nq)
    [degrees]: 90 in the middle of a joint's limits.

    Raises ConfigurationError for a joint that no servo can drive: one without an angle, without limits, or with more
    than 180 degrees between them.
    """
    names, columns = [], []
    for joint in model.moving_joints:
        at = model.slot(joint.name).q
        lower, upper = model.limits.lower[at], model.limits.upper[at]
        if joint.type not in ("revolute", "continuous"):
            raise ConfigurationError(f"joint {joint.name!r} is {joint.type}: a servo drives a revolute one")
        span = float(np.degrees(upper - lower)[0])
        if not span <= RANGE + _SAME:
            raise ConfigurationError(f"joint {joint.name!r} turns {_turn(span)}: a servo has {RANGE:.0f}")
        middle = 0.5 * (lower + upper)
        names.append(joint.name)
        columns.append(np.clip(0.5 * RANGE + np.degrees(q[:, at] - middle)[:, 0], 0.0, RANGE))
    if not names:
        raise ConfigurationError(f"{model.name!r} has no joint that a servo could drive")
    return names, np.column_stack(columns)


def _turn(span: float) -> str:
    return f"{span:.6g} degrees" if np.isfinite(span) else "without limits"
