"""Numbers of an animation as curves of the robot's object: a custom property that holds one for each column."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...properties.selected.selection import selected_bones
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...solvers.motion.dynamics import MotionDynamics
from ...solvers.motion.motion import Motion
from ..criteria.solver_criteria import root_gravity
from . import frames as animation
from .curves import write_numbers

DYNAMICS = "robokin_dynamics", "Dynamics"
PATH = "robokin_path", "Path"
SINGULARITIES = "robokin_singularities", "Singularities"


def dynamics_columns(
    obj: bpy.types.Object, robot: Binding, motion: Motion, groups: Collection[str]
) -> dict[str, tuple[str, Array]]:
    """`MotionDynamics.columns` of the robot's `dynamics_curves` that are given, under the scene's gravity; links: the
    tools, and in Pose Mode those of selected bones. Raises RobokinError without a group."""
    if not groups:
        raise RobokinError("no quantity is chosen")
    found = MotionDynamics.of(motion, root_gravity(obj, robot))
    selected = selected_bones(obj) if obj.mode == "POSE" else ()
    chosen = [robot.link_of_bone[bone] for bone in selected if bone in robot.link_of_bone]
    return found.columns({each.lower() for each in groups}, [*dict.fromkeys((*found.tools, *chosen))])


def key_columns(
    obj: bpy.types.Object, of: tuple[str, str], frames: Sequence[int], columns: Mapping[str, tuple[str, Array]]
) -> int:
    """A curve for each column (its unit, and values (F,)), in place of those that were keyed before; how many they are.

    of: the property, such as `DYNAMICS`, and the group of its curves. What has no value in a frame, as the zero-moment
    point of a robot in the air, has no key there.
    """
    clear_columns(obj, of)
    name, group = of
    obj[name] = dict.fromkeys(columns, 0.0)
    for column, (_, values) in columns.items():
        there = np.isfinite(values)
        if there.any():
            path = f'["{name}"]["{bpy.utils.escape_identifier(column)}"]'
            write_numbers(obj, path, np.asarray(frames)[there].tolist(), values[there], group)
    return len(columns)


def clear_columns(obj: bpy.types.Object, of: tuple[str, str]) -> bool:
    """Whether there were some."""
    bag = animation.channelbag(obj)
    for curve in list(bag.fcurves) if bag is not None else ():
        if curve.data_path.startswith(f'["{of[0]}"]'):
            bag.fcurves.remove(curve)
    return obj.pop(of[0], None) is not None
