"""The task of Sukesh's text (section 2.4.2): a five-servo arm takes a 1/4-20 nut off one bolt and screws it on another.

The hand follows one object, keyed: it moves in one plane and spins about its own axis, which is all that five axes can.
At the bolts it turns the nut by 160 degrees and draws back along the thread, lets go, turns back, and takes hold again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import bpy

from ...robokin.construction.solids import STEEL, box
from ...robokin.model.geometry import Geometry
from .stage import Stage

PITCH = 0.0254 / 20.0  # [m] of the thread a turn
FLATS = 0.0111  # [m] across the flats of the nut
SPIN = math.radians(80.0)  # the hand turns from minus to plus this about its axis
TURNS = 3  # times that it does so at a bolt
FRONT, BOLT = 0.145, 0.170  # [m] of the hand before the robot: in front of the bolts, at the nut
HEIGHTS = 0.215, 0.130  # [m] of the bolts above the table
ADVANCE = PITCH * 2.0 * SPIN / (2.0 * math.pi)  # of the nut in one turn of the hand
START = {"S0": 0.0, "S1": 0.35, "S2": -0.35, "S3": 0.0, "S5": -SPIN}


class Hold(NamedTuple):
    """Where hand and nut are at a time: height and distance [m], spin [rad] of each."""

    seconds: float
    height: float
    hand: float
    spin: float
    nut_height: float
    nut: float
    nut_spin: float


def make_nut(context: bpy.types.Context) -> bpy.types.Object:
    """The scene at the 3D cursor; the robot. Raises RobokinError."""
    course = _course()
    stage = Stage(context, "Nut and Bolts", course[-1].seconds)
    robot = stage.robot("desk_arm", _pads(), START)
    wall = BOLT + 0.02
    stage.box("Wall", robot, (0.0, 0.15, wall + 0.005), (0.16, 0.3, 0.01), (0.75, 0.77, 0.8))
    for height, name in zip(HEIGHTS, ("Upper Bolt", "Lower Bolt"), strict=True):
        stage.prism(name, robot, (0.0, height, wall - 0.0125), 24, (0.0032, 0.025), (0.35, 0.36, 0.4))
    hand = stage.empty("Hand", robot, (0.0, HEIGHTS[0], FRONT))
    hand.empty_display_size *= 0.3
    nut = stage.prism("Nut", robot, (0.0, 0.0, 0.0), 6, (FLATS / math.sqrt(3.0), 0.0055), (0.8, 0.55, 0.2))
    unit = stage.unit
    for obj, height, along, spin in ((hand, 1, 2, 3), (nut, 4, 5, 6)):
        stage.eased(obj, "location", 1, [(each[0], each[height] * unit) for each in course])
        stage.eased(obj, "location", 2, [(each[0], each[along] * unit) for each in course])
        stage.eased(obj, "rotation_euler", 2, [(each[0], each[spin]) for each in course])
    stage.task(robot, "Hand", "POSE", "tool", hand)
    return stage.choose(robot)


def _course() -> list[Hold]:
    upper, lower = HEIGHTS
    now = Hold(0.0, upper, FRONT, -SPIN, upper, BOLT, -SPIN)
    course = [now]

    def go(seconds: float, **changed: float) -> None:
        last = course[-1]
        course.append(last._replace(seconds=last.seconds + seconds, **changed))

    def rest() -> None:
        go(0.25)

    rest()
    go(1.0, hand=BOLT)
    rest()
    for turn in range(TURNS):
        last = course[-1]
        go(1.0, hand=last.hand - ADVANCE, spin=SPIN, nut=last.nut - ADVANCE, nut_spin=last.nut_spin + 2.0 * SPIN)
        rest()
        if turn + 1 < TURNS:
            go(1.0, spin=-SPIN)
            rest()
    off = course[-1].hand
    go(1.0, hand=FRONT, nut=FRONT)
    rest()
    go(2.0, height=lower, nut_height=lower)
    rest()
    go(1.0, hand=off, nut=off)
    rest()
    for turn in range(TURNS):
        last = course[-1]
        go(1.0, hand=last.hand + ADVANCE, spin=-SPIN, nut=last.nut + ADVANCE, nut_spin=last.nut_spin - 2.0 * SPIN)
        rest()
        if turn + 1 < TURNS:
            go(1.0, spin=SPIN)
            rest()
    go(1.0, hand=FRONT)
    rest()
    return course


def _pads() -> list[Geometry]:
    """Between the fingers, as wide apart as the nut."""
    width = 0.017 - FLATS / 2.0
    x = FLATS / 2.0 + width / 2.0
    return [box((side * x, 0.0, 0.0), (width, 0.01, 0.008), STEEL) for side in (-1.0, 1.0)]
