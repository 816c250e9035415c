"""What an animation takes, as curves of the robot's object: efforts, power, energy, momentum, the load on its base."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ...solvers.motion.dynamics import MotionDynamics
from . import frames as animation
from .curves import write_numbers

PROPERTY = "robokin_dynamics"


def key_dynamics(obj: bpy.types.Object, frames: Sequence[int], found: MotionDynamics) -> int:
    """A curve for each of `MotionDynamics.columns`, in place of those that were keyed before; how many they are.

    They are numbers in the object's custom property `robokin_dynamics`, SI. What has no value in a frame, as the
    zero-moment point of a robot in the air, has no key there.
    """
    clear_dynamics(obj)
    columns = found.columns()
    obj[PROPERTY] = dict.fromkeys(columns, 0.0)
    for name, (_, values) in columns.items():
        there = np.isfinite(values)
        if there.any():
            write_numbers(obj, _path(name), np.asarray(frames)[there].tolist(), values[there], "Dynamics")
    return len(columns)


def clear_dynamics(obj: bpy.types.Object) -> bool:
    """Whether there were some."""
    bag = animation.channelbag(obj)
    for curve in list(bag.fcurves) if bag is not None else ():
        if curve.data_path.startswith(f'["{PROPERTY}"]'):
            bag.fcurves.remove(curve)
    return obj.pop(PROPERTY, None) is not None


def _path(name: str) -> str:
    return f'["{PROPERTY}"]["{bpy.utils.escape_identifier(name)}"]'
