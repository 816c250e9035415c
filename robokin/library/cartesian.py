"""Robots that move parallel to the axes: a SCARA and a gantry.

SCARA: the Adept Cobra 600, Denavit-Hartenberg table and ranges as in P. I. Corke's Robotics Toolbox for Python
(models/DH/Cobra600); masses and speeds are ours. Gantry: no maker's, strokes and speeds are usual ones of toothed-belt
axes.
"""

from __future__ import annotations

import math

import numpy as np

from ..construction.denavit_hartenberg import DHRow, robot_from_dh
from ..construction.product_of_exponentials import ScrewRow, robot_from_screws
from ..construction.solids import DARK, LIGHT, ORANGE, STEEL, YELLOW, bar, box, drum, rod, with_solids
from ..model.robot import RobotModel

Z = (0.0, 0.0, 1.0)
HEIGHT = 0.387


def scara(root: str = "fixed") -> RobotModel:
    """Four axes: two in the plane, the quill down (z of the tool points down) and its turn."""
    turn = math.radians
    rows = [
        DHRow(a=0.325, d=HEIGHT, lower=-turn(50), upper=turn(50), velocity=6.0),
        DHRow(a=0.275, alpha=math.pi, lower=-turn(88), upper=turn(88), velocity=9.0),
        DHRow(type="P", joint="quill", lower=0.0, upper=0.21, velocity=1.0),
        DHRow(velocity=18.0),
    ]
    model = robot_from_dh(rows, name="SCARA", root=root)
    return with_solids(
        model,
        {
            "base_link": (
                20.0,
                [
                    box((-0.02, 0, 0.02), (0.22, 0.2, 0.04), DARK),
                    box((-0.03, 0, 0.16), (0.17, 0.17, 0.26)),
                    drum((0, 0, 0.3), Z, 0.085, 0.05),
                ],
            ),
            "link_1": (8.0, [bar((0, 0, 0), (0.325, 0, 0), 0.065, YELLOW), drum((0, 0, -0.03), Z, 0.08, 0.05, DARK)]),
            "link_2": (
                11.0,
                [
                    drum((0, 0, 0.075), Z, 0.07, 0.03, DARK),
                    box((0.1375, 0, 0.135), (0.275, 0.13, 0.1)),
                    drum((0.275, 0, 0.135), Z, 0.065, 0.096, LIGHT),
                    drum((0, 0, 0.135), Z, 0.065, 0.096, LIGHT),
                ],
            ),
            "link_3": (1.5, [rod((0, 0, -0.34), (0, 0, -0.01), 0.012, STEEL)]),
            "link_4": (0.5, [drum((0, 0, -0.005), Z, 0.022, 0.01, ORANGE)]),
        },
    )


def gantry(root: str = "fixed") -> RobotModel:
    """Three slides: x 0.8 m along two rails, y 0.6 m along the bridge, z 0.4 m down. Zero is at the back, left, top."""
    top, length, width = 0.9, 0.8, 0.6
    home = np.diag([1.0, -1.0, -1.0, 1.0])
    home[:3, 3] = 0.0, 0.0, 0.55
    model = robot_from_screws(
        [
            ScrewRow.along(
                (1, 0, 0),
                joint="x",
                link="bridge",
                point=(0, 0, top),
                lower=0.0,
                upper=length,
                velocity=1.5,
                acceleration=5.0,
                effort=400.0,
            ),
            ScrewRow.along(
                (0, 1, 0),
                joint="y",
                link="carriage",
                point=(0, 0, top),
                lower=0.0,
                upper=width,
                velocity=1.5,
                acceleration=5.0,
                effort=300.0,
            ),
            ScrewRow.along(
                (0, 0, 1),
                joint="z",
                link="ram",
                point=(0, 0, top),
                lower=-0.4,
                upper=0.0,
                velocity=0.8,
                acceleration=5.0,
                effort=300.0,
            ),
        ],
        home,
        name="Gantry",
        root=root,
    )
    near, far = -0.12, width + 0.12
    posts = [rod((x, y, 0), (x, y, top - 0.06), 0.03, DARK) for x in (-0.12, length + 0.12) for y in (near, far)]
    rails = [box((length / 2, y, top - 0.06), (length + 0.3, 0.06, 0.06), STEEL) for y in (near, far)]
    ends = [box((length + 0.12, width / 2, top - 0.06), (0.05, width + 0.24, 0.05), DARK)]
    return with_solids(
        model,
        {
            "base_link": (60.0, [*posts, *rails, *ends]),
            "bridge": (
                12.0,
                [
                    box((0, width / 2, 0.02), (0.08, width + 0.3, 0.09), YELLOW),
                    *(box((0, y, -0.01), (0.14, 0.08, 0.04), DARK) for y in (near, far)),
                ],
            ),
            "carriage": (5.0, [box((0, 0, 0.02), (0.15, 0.12, 0.14), LIGHT)]),
            "ram": (
                4.0,
                [box((0.09, 0, 0.02), (0.05, 0.05, 0.6), STEEL), box((0.05, 0, -0.3), (0.13, 0.05, 0.03), DARK)],
            ),
            "tool": (
                0.5,
                [rod((0, 0, -0.06), (0, 0, -0.012), 0.018, DARK), rod((0, 0, -0.012), (0, 0, 0), 0.006, ORANGE)],
            ),
        },
    )
