"""Second example of the paper: the platform drives straight through a door, which the arm turns about its hinge.

Two tasks: the platform follows an object that is keyed along a line, and the hand follows the handle of the door, whose
hinge is keyed. A rigid grasp asks for the handle's whole pose; one that may pivot for the place of its bar and for a
hand that stays level.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import bpy

from ...robokin.construction.solids import DARK, STEEL, box
from ...robokin.model.geometry import Geometry
from ...robokin.model.robot import JointValue
from .stage import Stage

SECONDS = 12.0
HINGE, LEAF, HEIGHT, THICK = 0.5, 0.96, 2.0, 0.04  # [m] the hinge beside the way; width, height, thickness of the leaf
GRASP = 0.75, 0.95, 0.15  # [m] of the flange: from the hinge, above the ground, before the leaf
BAR = 0.08  # [m] before the flange: the bar of the handle, between the fingers, which may turn about it
OPEN = math.radians(88.0), (0.5, 9.1)  # of the door, and when it begins and ends to turn [s]
PLATFORM_PATH = (-0.75, 0.8), (1.0, SECONDS)  # of the platform [m], and when [s]


class Door(NamedTuple):
    """What differs between the two doors: the tasks of the hand, and the values that the arm begins with."""

    name: str
    tasks: tuple[tuple[str, str, str], ...]
    start: dict[str, JointValue]


_START: dict[str, JointValue] = {
    "shoulder_pan": 2.43,
    "shoulder_lift": -1.23,
    "elbow": 1.26,
    "wrist_1": -3.17,
    "wrist_2": -0.85,
    "wrist_3": math.pi / 2.0,
    "root_joint": [PLATFORM_PATH[0][0], 0.0, 0.0],
}
RIGID_DOOR = Door("Door", (("Grasp", "POSE", "Z"),), _START)
PIVOTING_DOOR = Door(
    "Door, Pivoting Grasp", (("Grasp", "POSITION", "Z"), ("Hand Along the Handle", "AXIS", "X")), _START
)


def make_door(context: bpy.types.Context, door: Door) -> bpy.types.Object:
    """The scene at the 3D cursor; the robot. Raises RobokinError."""
    stage = Stage(context, door.name, SECONDS)
    robot = stage.robot("mobile_arm", _hand(), door.start)
    _frame(stage)
    hinge = stage.empty("Hinge", None, (0.0, HINGE, 0.0))
    _leaf(stage, hinge)
    angle, (begin, end) = OPEN
    stage.eased(hinge, "rotation_euler", 2, ((begin, 0.0), (end, angle)))
    platform_path = stage.empty("Way of the Platform", None, (PLATFORM_PATH[0][0], 0.0, 0.0))
    stage.eased(platform_path, "location", 0, [(t, x * stage.unit) for x, t in zip(*PLATFORM_PATH, strict=True)])
    stage.task(robot, "Platform", "POSE", "base_link", platform_path)
    distance, height, before = GRASP
    # The hand's Z axis points at the leaf, its X axis down.
    handle = stage.empty("Handle", hinge, (BAR - before, -distance, height), (0.0, math.pi / 2.0, 0.0))
    down = stage.empty("Down", None, (0.0, HINGE, HEIGHT), (math.pi, 0.0, 0.0))
    for name, kind, axis in door.tasks:
        grip = {} if kind == "AXIS" else {"offset_location": (0.0, 0.0, BAR * stage.unit)}
        stage.task(robot, name, kind, "tool", down if kind == "AXIS" else handle, axis=axis, **grip)
    return stage.choose(robot)


def _hand() -> list[Geometry]:
    """The hand on the flange: two fingers about an upright bar."""
    fingers = [box((0.0, side * 0.03, 0.07), (0.02, 0.012, 0.07), DARK) for side in (1.0, -1.0)]
    return [box((0.0, 0.0, 0.025), (0.05, 0.09, 0.05), STEEL), *fingers]


def _leaf(stage: Stage, hinge: bpy.types.Object) -> None:
    stage.box("Leaf", hinge, (0.0, -LEAF / 2.0, HEIGHT / 2.0), (THICK, LEAF, HEIGHT - 0.02), (0.45, 0.27, 0.13))
    distance, height, before = GRASP
    reach = before - BAR
    stage.box("Handle Bar", hinge, (-reach, -distance, height), (0.02, 0.02, 0.16), (0.5, 0.5, 0.52))
    for end in (-0.07, 0.07):
        size = reach, 0.02, 0.02
        stage.box("Handle Foot", hinge, (-size[0] / 2.0, -distance, height + end), size, (0.5, 0.5, 0.52))


def _frame(stage: Stage) -> None:
    for y in (HINGE + 0.08, HINGE - LEAF - 0.08):
        stage.box("Post", None, (0.0, y, HEIGHT / 2.0), (0.12, 0.1, HEIGHT), (0.8, 0.8, 0.78))
    middle = HINGE - LEAF / 2.0
    stage.box("Lintel", None, (0.0, middle, HEIGHT + 0.05), (0.12, LEAF + 0.26, 0.1), (0.8, 0.8, 0.78))
