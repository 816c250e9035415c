"""First example of the paper: two laser beams of one tool draw two circles on a wall.

Timing and size of the circles have nothing to do with each other. Each beam is a task of two rows: the spot stays on
its circle, by the feedback of its place, and goes round at its speed. Four of the robot's eight degrees of freedom
remain; the least kinetic energy chooses among them.
"""

from __future__ import annotations

import math

import bpy

from ...robokin.construction.solids import DARK, STEEL, rod
from ...robokin.model.geometry import Geometry, Material
from .stage import Stage

SECONDS = 16.0
WALL = 1.6  # [m] before the robot
TILT = math.radians(16.0)  # of each beam against the axis of the flange
MOUTH = 0.03  # [m] of each beam beside that axis
BEAM = Material("Laser", (1.0, 0.05, 0.02, 1.0))
# name; side of the tool; center on the wall and radius [m]; turns, and when they begin and end [s]; where they begin
CIRCLES = (
    ("Left Circle", 1.0, (0.3, 0.9), 0.2, -1.0, (0.0, 14.5), math.pi / 2.0),
    ("Right Circle", -1.0, (-0.3, 1.0), 0.12, 2.0, (1.0, SECONDS), 0.0),
)
START = {
    "shoulder_pan": math.pi,
    "shoulder_lift": -1.2,
    "elbow": 1.3,
    "wrist_1": -0.1 + math.pi,
    "wrist_2": -math.pi / 2.0,
    "wrist_3": 0.0,
}


def make_lasers(context: bpy.types.Context) -> bpy.types.Object:
    """The scene at the 3D cursor; the robot. Raises RobokinError."""
    stage = Stage(context, "Two Laser Circles", SECONDS)
    robot = stage.robot("mobile_arm", _lamps(), START, light=_beams())
    stage.box("Wall", None, (WALL + 0.026, 0.0, 0.9), (0.05, 2.0, 1.8), (0.75, 0.77, 0.8))
    for name, side, (y, z), radius, turns, (begin, end), phase in CIRCLES:
        # The circle's own XY plane is the wall; its Z axis points at the robot.
        center = stage.empty(name, None, (WALL, y, z), (0.0, -math.pi / 2.0, 0.0))
        wheel = stage.empty(f"{name} Turn", center, (0.0, 0.0, 0.0))
        spot = stage.empty(f"{name} Spot", wheel, (radius, 0.0, 0.0))
        stage.ring(f"{name} Line", center, radius)
        stage.eased(wheel, "rotation_euler", 2, ((begin, phase), (end, phase + turns * 2.0 * math.pi)))
        stage.task(
            robot,
            name,
            "LASER",
            "tool",
            spot,
            axis="Z",
            offset_location=(0.0, side * MOUTH * stage.unit, 0.02 * stage.unit),
            offset_rotation=(-side * TILT, 0.0, 0.0),
        )
    criterion = robot.robokin.criteria.add()
    criterion.name, criterion.kind = "Kinetic Energy", "KINETIC_ENERGY"
    return stage.choose(robot)


def _lamps() -> list[Geometry]:
    """The lamps on the flange: a bar, and on it the two lamps."""
    lamps = [rod(_along(side, -0.03), _along(side, 0.04), 0.012, DARK) for side in (1.0, -1.0)]
    return [rod((0.0, -MOUTH, 0.01), (0.0, MOUTH, 0.01), 0.012, STEEL), *lamps]


def _beams() -> list[Geometry]:
    return [rod(_along(side, 0.0), _along(side, 1.6), 0.003, BEAM) for side in (1.0, -1.0)]


def _along(side: float, length: float) -> tuple[float, float, float]:
    """The point of a beam so far from its mouth."""
    return 0.0, side * (MOUTH + length * math.sin(TILT)), 0.02 + length * math.cos(TILT)
