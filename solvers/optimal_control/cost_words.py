"""Costs of a motion by the words that Python, the command line and Blender have for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import STANDARD_GRAVITY
from ...robokin.errors import TaskError, UnknownNameError, shown
from ..criteria import Criterion
from ..tasks.checks import positive
from .costs import Acceleration, Animation, Duration, Jerk, KineticEnergy, MotionCost, Torque, Weighted
from .path_costs import CriterionIntegral, PathLength
from .rows.segments import TaskSegment

Integrated = Sequence[tuple[TaskSegment, Sequence[Criterion]]]

WORDS: dict[str, Callable[[Array, Integrated, Array], MotionCost]] = {
    "acceleration": lambda *_: Acceleration(),
    "jerk": lambda *_: Jerk(),
    "kinetic_energy": lambda *_: KineticEnergy(),
    "torque": lambda _, __, gravity: Torque(gravity),
    "animation": lambda near, *_: Animation(near),
    "duration": lambda *_: Duration(),
    "path_length": lambda *_: PathLength(),
    "criteria": lambda _, parts, __: CriterionIntegral(parts),
}
SMOOTH = {"animation": 1.0, "acceleration": 1e-4}  # near the animation, without the shaking that no limit forbids


def motion_cost(
    cost: object, animation: Array | None, start: Array, criteria: Integrated = (), gravity: Array | None = None
) -> MotionCost:
    """The cost that a word, a `MotionCost` or {word: weight} says. animation: (F, nq) what "animation" keeps near to,
    `start` (F, nq) unless given.   criteria: of each segment, what "criteria" integrates.   gravity: (3,) of "torque",
    the Earth's along -z unless given. Raises TaskError, UnknownNameError."""
    if isinstance(cost, MotionCost):
        return cost
    given = {cost: 1.0} if isinstance(cost, str) else cost
    if not isinstance(given, Mapping) or not given:
        raise TaskError(f"a cost is a word ({', '.join(WORDS)}), or {{word: weight}}, not {shown(cost)}")
    down = np.array(STANDARD_GRAVITY) if gravity is None else gravity
    parts = []
    for word, weight in given.items():
        if word not in WORDS:
            raise UnknownNameError("motion cost", word, WORDS)
        near = start if animation is None else animation
        parts.append((positive(weight, f"weight of {word}"), WORDS[word](near, criteria, down)))
    return parts[0][1] if len(parts) == 1 else Weighted(parts)
