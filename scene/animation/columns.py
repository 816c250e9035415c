"""Numbers of an animation as curves of the robot's object: a custom property that holds one for each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy
import numpy as np

from ...robokin.arrays import Array
from . import frames as animation
from .curves import write_numbers

DYNAMICS = "robokin_dynamics", "Dynamics"
PATH = "robokin_path", "Path"
SINGULARITIES = "robokin_singularities", "Singularities"


def key_columns(
    obj: bpy.types.Object, of: tuple[str, str], frames: Sequence[int], columns: Mapping[str, tuple[str, Array]]
) -> int:
    """A curve for each column (its unit, and values (F,)), in place of those that were keyed before; how many they are.

    of: the property, such as `DYNAMICS`, and the group of its curves, to which each unit adds its own. What has no
    value in a frame, as the zero-moment point of a robot in the air, has no key there.
    """
    clear_columns(obj, of)
    name, group = of
    obj[name] = dict.fromkeys(columns, 0.0)
    for column, (unit, values) in columns.items():
        there = np.isfinite(values)
        if there.any():
            path = f'["{name}"]["{bpy.utils.escape_identifier(column)}"]'
            write_numbers(
                obj, path, np.asarray(frames)[there].tolist(), values[there], f"{group} [{unit}]" if unit else group
            )
    return len(columns)


def clear_columns(obj: bpy.types.Object, of: tuple[str, str]) -> bool:
    """Whether there were some."""
    bag = animation.channelbag(obj)
    for curve in list(bag.fcurves) if bag is not None else ():
        if curve.data_path.startswith(f'["{of[0]}"]'):
            bag.fcurves.remove(curve)
    return obj.pop(of[0], None) is not None
