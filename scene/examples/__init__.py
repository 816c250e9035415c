"""Ready scenes, to be baked, changed and learned from: the two examples of the main paper (Bruyninckx, "Blender for
robotics and robotics for Blender", section 4), and the task of Sukesh's robot arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import bpy

from .door import PIVOTING_DOOR, RIGID_DOOR, make_door
from .lasers import make_lasers
from .nut import make_nut


@dataclass(frozen=True)
class Example:
    """One scene. make(context) -> the robot's armature, selected; raises RobokinError."""

    name: str
    label: str
    description: str
    make: Callable[[bpy.types.Context], bpy.types.Object]


EXAMPLES: dict[str, Example] = {
    each.name: each
    for each in (
        Example(
            "laser",
            "Two Laser Circles",
            "Two beams of one tool draw two circles on a wall, of other sizes and times, while the platform may drive",
            make_lasers,
        ),
        Example(
            "door",
            "Door",
            "The platform drives straight through a door, which the arm opens with a rigid grasp",
            lambda context: make_door(context, RIGID_DOOR),
        ),
        Example(
            "door-pivoting",
            "Door, Pivoting Grasp",
            "The same, with a hand that may turn about the handle",
            lambda context: make_door(context, PIVOTING_DOOR),
        ),
        Example(
            "nut",
            "Nut and Bolts",
            "A desk arm of five servos takes a nut off one bolt and screws it on another",
            make_nut,
        ),
    )
}

__all__ = ["EXAMPLES", "Example"]
