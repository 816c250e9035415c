"""A lost motion in words."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.robot import RobotModel

SMALL = 0.1  # of a direction: what is less is left out
ALONG = 0.995  # cosine to an axis that is that axis, to 6 degrees
PART = 0.25  # of what the largest joint has in a motion: joints that move less are not named


def lost_motion(twist: Array, frame: str) -> str:
    """A sentence, as "it cannot move along z"; twist: (6,) unit, linear first, lengths in L.   frame: of the axes."""
    own = "the tool's " if frame == "tip" else ""
    parts = []
    for words, part in (("move along", twist[:3]), ("turn about", twist[3:])):
        if np.linalg.norm(part) > SMALL:
            parts.append(f"{words} {own}{_direction(part)}")
    joined = " and ".join(parts)
    return f"it cannot {joined} at once" if len(parts) > 1 else f"it cannot {joined}"


def _direction(part: Array) -> str:
    unit = part / np.linalg.norm(part)
    nearest = int(np.argmax(abs(unit)))
    if abs(unit[nearest]) > ALONG:
        return "xyz"[nearest]
    unit = unit * np.sign(unit[nearest])
    return f"({', '.join(f'{round(x, 2) + 0.0:g}' for x in unit.tolist())})"


def moving_joints(model: RobotModel, sizes: Array) -> tuple[str, ...]:
    """Names of the joints with the most of sizes (nv,), in the robot's order."""
    own = {joint.name: float(abs(sizes[model.slot(joint.name).v]).max()) for joint in model.moving_joints}
    most = max(own.values(), default=0.0)
    return tuple(name for name, size in own.items() if most > 0.0 and size > PART * most)
