"""Criteria by the words that files, the command line and Blender have for them."""

from __future__ import annotations

import inspect
from typing import Any

from ...robokin.errors import TaskError, UnknownNameError
from .base import Criterion
from .dynamic_torque import DynamicTorque
from .far_from_obstacles import FarFromObstacles
from .gravity_torque import GravityTorque
from .joint_springs import JointSprings
from .kinetic_energy import KineticEnergy
from .manipulability import Manipulability
from .minimum_velocity import MinimumVelocity
from .rest_posture import RestPosture
from .smallest_singular_value import SmallestSingularValue
from .smooth import Smooth

KINDS: dict[str, type[Criterion]] = {
    "minimum_velocity": MinimumVelocity,
    "kinetic_energy": KineticEnergy,
    "smooth": Smooth,
    "joint_springs": JointSprings,
    "rest_posture": RestPosture,
    "manipulability": Manipulability,
    "smallest_singular_value": SmallestSingularValue,
    "gravity_torque": GravityTorque,
    "dynamic_torque": DynamicTorque,
    "far_from_obstacles": FarFromObstacles,
}


def options_of(kind: str) -> tuple[str, ...]:
    """Names of the arguments that a kind of criterion takes. Raises UnknownNameError."""
    if kind not in KINDS:
        raise UnknownNameError("criterion kind", kind, KINDS)
    return tuple(inspect.signature(KINDS[kind]).parameters)


def criterion(kind: str, **options: Any) -> Criterion:
    """The criterion that a word names, with options by their names; `KINDS[kind]` says which, and what they mean.

    Raises UnknownNameError for a word or option that there is not, TaskError for a bad value.
    """
    valid = options_of(kind)
    for name in options:
        if name not in valid:
            raise UnknownNameError(f"option of criterion {kind}", name, valid)
    try:
        return KINDS[kind](**options)
    except TypeError as error:
        raise TaskError(f"criterion {kind}: {error}") from None
