"""The Franka Emika Panda: seven revolute joints.

Geometry (modified Denavit-Hartenberg table) and limits: Franka Control Interface documentation, "Robot and interface
specifications". Masses and inertias: C. Gaz et al., "Dynamic identification of the Franka Emika Panda robot with
retrieval of feasible parameters using penalty-based optimization", IEEE Robotics and Automation Letters 4(4), 2019, as
Franka's own robot description has them. Shapes are ours.
"""

from __future__ import annotations

import math

import numpy as np

from ..construction.denavit_hartenberg import DHRow, robot_from_dh
from ..construction.solids import DARK, LIGHT, STEEL, bar, box, drum, rod, with_links
from ..model.geometry import Geometry
from ..model.robot import Link, RobotModel
from ..spatial import se3

HALF = math.pi / 2.0

# a, alpha, d, lower, upper, velocity, acceleration, effort
TABLE = (
    (0.0, 0.0, 0.333, -2.8973, 2.8973, 2.1750, 15.0, 87.0),
    (0.0, -HALF, 0.0, -1.7628, 1.7628, 2.1750, 7.5, 87.0),
    (0.0, HALF, 0.316, -2.8973, 2.8973, 2.1750, 10.0, 87.0),
    (0.0825, HALF, 0.0, -3.0718, -0.0698, 2.1750, 12.5, 87.0),
    (-0.0825, -HALF, 0.384, -2.8973, 2.8973, 2.6100, 15.0, 12.0),
    (0.0, HALF, 0.0, -0.0175, 3.7525, 2.6100, 20.0, 12.0),
    (0.088, HALF, 0.0, -2.8973, 2.8973, 2.6100, 20.0, 12.0),
)
FLANGE = 0.107

# mass, com, ixx, ixy, ixz, iyy, iyz, izz of links 1 to 7
BODIES = (
    (4.970684, (0.003875, 0.002081, -0.04762), (0.70337, -0.000139, 0.006772, 0.70661, 0.019169, 0.009117)),
    (0.646926, (-0.003141, -0.02872, 0.003495), (0.007962, -0.003925, 0.010254, 0.02811, 0.000704, 0.025995)),
    (3.228604, (0.027518, 0.039252, -0.066502), (0.037242, -0.004761, -0.011396, 0.036155, -0.012805, 0.01083)),
    (3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.007796, -0.001332, 0.019552, 0.008641, 0.028323)),
    (1.225946, (-0.011953, 0.041065, -0.038437), (0.035549, -0.002117, -0.004037, 0.029474, 0.000229, 0.008627)),
    (1.666555, (0.060149, -0.014117, -0.010517), (0.001964, 0.000109, -0.001158, 0.004354, 0.000341, 0.005433)),
    (0.735522, (0.010517, -0.004252, 0.061597), (0.012516, -0.000428, -0.001196, 0.010027, -0.000741, 0.004815)),
)
BASE = (0.629769, (-0.041018, -0.00014, 0.049974), (0.00315, 8.2904e-07, 0.00015, 0.00388, 8.2299e-06, 0.004285))


def panda(root: str = "fixed") -> RobotModel:
    """`tool` is the flange."""
    rows = []
    for geometry, body, shapes in zip(TABLE, BODIES, _shapes(), strict=True):
        a, alpha, d, lower, upper, velocity, acceleration, effort = geometry
        rows.append(
            DHRow(
                a=a,
                alpha=alpha,
                d=d,
                lower=lower,
                upper=upper,
                velocity=velocity,
                acceleration=acceleration,
                effort=effort,
                mass=body[0],
                com=np.array(body[1]),
                inertia=_inertia(*body[2]),
                visuals=shapes,
            )
        )
    flange = se3.placement(np.eye(3), np.array([0.0, 0.0, FLANGE]))
    model = robot_from_dh(rows, "modified", tool=flange, name="Panda", root=root)
    foot = (box((-0.05, 0, 0.035), (0.2, 0.17, 0.07)), rod((0, 0, 0), (0, 0, 0.14), 0.075))
    return with_links(model, {"base_link": Link("base_link", BASE[0], np.array(BASE[1]), _inertia(*BASE[2]), foot)})


def _inertia(xx: float, xy: float, xz: float, yy: float, yz: float, zz: float) -> np.ndarray:
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _shapes() -> tuple[tuple[Geometry, ...], ...]:
    """Shapes of links 1 to 7: towards the next joint, and a dark drum about it."""
    y, z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    return (
        (
            rod((0, 0, -0.193), (0, 0, -0.04), 0.065),
            drum((0, 0, 0), y, 0.064, 0.15, LIGHT),
            drum((0, 0, -0.19), z, 0.067, 0.012),
        ),
        (drum((0, 0, 0), z, 0.058, 0.162), rod((0, -0.03, 0), (0, -0.175, 0), 0.062)),
        (
            drum((0, 0, -0.138), z, 0.064, 0.012),
            rod((0, 0, -0.138), (0, 0, -0.05), 0.06),
            bar((0.01, 0, -0.045), (0.0825, 0, 0), 0.056),
            drum((0.0825, 0, 0), y, 0.056, 0.13, LIGHT),
        ),
        (
            drum((0, 0, 0), z, 0.05, 0.142),
            bar((0, 0, 0), (-0.0825, 0.075, 0), 0.054),
            rod((-0.0825, 0.07, 0), (-0.0825, 0.13, 0), 0.055),
        ),
        (
            drum((0, 0, -0.252), z, 0.057, 0.012),
            rod((0, 0, -0.25), (0, 0.03, -0.06), 0.05),
            bar((0, 0.04, -0.09), (0, 0, 0), 0.045),
            drum((0, 0, 0), y, 0.05, 0.1, LIGHT),
        ),
        (
            drum((0, 0, 0), z, 0.045, 0.112),
            bar((0, 0, 0), (0.088, 0, 0), 0.047),
            drum((0.088, 0, 0), y, 0.05, 0.1, LIGHT),
        ),
        (rod((0, 0, 0.05), (0, 0, 0.095), 0.044, DARK), rod((0, 0, 0.095), (0, 0, 0.107), 0.032, STEEL)),
    )
