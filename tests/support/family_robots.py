"""Arms of the families as their makers publish them (Denavit-Hartenberg tables), and random ones."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import RobotModel
from robokin_addon.robokin.construction import DHRow, robot_from_dh
from robokin_addon.robokin.library import library_robot

HALF = np.pi / 2.0

# a, alpha, d, lower and upper [degrees]
TABLES = {
    # Universal Robots, "DH parameters for calculations of kinematics and dynamics"
    "ur5": (
        (0.0, HALF, 0.089159, -360, 360),
        (-0.425, 0.0, 0.0, -360, 360),
        (-0.39225, 0.0, 0.0, -360, 360),
        (0.0, HALF, 0.10915, -360, 360),
        (0.0, -HALF, 0.09465, -360, 360),
        (0.0, 0.0, 0.0823, -360, 360),
    ),
    # KUKA KR 6 R900 sixx, data sheet
    "kr6": (
        (0.025, -HALF, 0.4, -170, 170),
        (0.455, 0.0, 0.0, -190, 45),
        (0.035, -HALF, 0.0, -210, 66),
        (0.0, HALF, 0.42, -185, 185),
        (0.0, -HALF, 0.0, -120, 120),
        (0.0, 0.0, 0.08, -350, 350),
    ),
    # ABB IRB 140, product specification
    "irb140": (
        (0.07, -HALF, 0.352, -180, 180),
        (0.36, 0.0, 0.0, -180, 20),
        (0.0, -HALF, 0.0, -230, 50),
        (0.0, HALF, 0.38, -200, 200),
        (0.0, -HALF, 0.0, -115, 115),
        (0.0, 0.0, 0.065, -400, 400),
    ),
    # KUKA LBR iiwa 7 R800, data sheet
    "iiwa": (
        (0.0, -HALF, 0.34, -170, 170),
        (0.0, HALF, 0.0, -120, 120),
        (0.0, HALF, 0.4, -170, 170),
        (0.0, -HALF, 0.0, -120, 120),
        (0.0, -HALF, 0.4, -170, 170),
        (0.0, HALF, 0.0, -120, 120),
        (0.0, 0.0, 0.126, -175, 175),
    ),
}
LIBRARY = ("puma560", "scara", "gantry", "planar_3r")


def family_robot(name: str) -> RobotModel:
    """One of TABLES, or of the library."""
    if name not in TABLES:
        return library_robot(name)
    return robot_from_dh(
        [
            DHRow(a=a, alpha=alpha, d=d, lower=np.radians(lower), upper=np.radians(upper))
            for a, alpha, d, lower, upper in TABLES[name]
        ],
        name=name,
    )
