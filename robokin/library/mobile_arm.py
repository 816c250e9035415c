"""An arm of six axes on a platform with two driven wheels: a UR5e on a PMB-2, eight degrees of freedom.

Arm: Universal Robots, "DH parameters for calculations of kinematics and dynamics" (classic table, masses, centres of
mass; its text calls the inertias negligible: they are those of our shapes here), speeds, torques and ranges of the
UR5e's data sheet. Platform: PAL Robotics' description of its PMB-2 (radius 98.5 mm and separation 404.4 mm of the
wheels; masses, inertia, speed, torque). Where the arm stands, the accelerations of the wheels and the shapes are ours.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..construction.denavit_hartenberg import DHRow, robot_from_dh
from ..construction.solids import BLUE, DARK, LIGHT, STEEL, ball, drum, rod, solid
from ..model.drive import Drive
from ..model.geometry import Geometry
from ..model.robot import Joint, Link, RobotModel
from ..spatial.se3 import translation

HALF = math.pi / 2.0
Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

# d, a, alpha; mass, centre of mass in frame i of the table; torque
ARM = (
    (0.1625, 0.0, HALF, 3.761, (0.0, -0.02561, 0.00193), 150.0),
    (0.0, -0.425, 0.0, 8.058, (0.2125, 0.0, 0.11336), 150.0),
    (0.0, -0.3922, 0.0, 2.846, (0.15, 0.0, 0.0265), 150.0),
    (0.1333, 0.0, HALF, 1.37, (0.0, -0.0018, 0.01634), 28.0),
    (0.0997, 0.0, -HALF, 1.3, (0.0, 0.0018, 0.01634), 28.0),
    (0.0996, 0.0, 0.0, 0.365, (0.0, 0.0, -0.001159), 28.0),
)
NAMES = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
MOUNT = (0.1, 0.0, 0.3)

RADIUS, SEPARATION = 0.0985, 0.4044
PLATFORM = 28.26649, np.diag([0.465408937, 0.483193291, 0.550939703])
WHEEL = 1.82362


def mobile_arm(root: str = "wheeled") -> RobotModel:
    """The root frame lies on the ground in the middle of the axle, x forward. `tool` is the arm's flange."""
    arm = robot_from_dh(_rows(), base=translation(MOUNT), name="Mobile Arm")
    links = [_platform(), *arm.links[1:]]
    joints = list(arm.joints[1:])
    for name, side in (("left_wheel", 1.0), ("right_wheel", -1.0)):
        links.append(solid(f"{name}_link", WHEEL, _wheel(side)))
        joints.append(
            Joint(
                name,
                "continuous",
                "base_link",
                f"{name}_link",
                translation((0.0, side * SEPARATION / 2.0, RADIUS)),
                np.array(Y),
                velocity=1.0 / RADIUS,
                acceleration=10.0,
                effort=6.0,
            )
        )
    drive = Drive("left_wheel", "right_wheel", RADIUS, SEPARATION) if root == "wheeled" else None
    return RobotModel("Mobile Arm", links, joints, root, drive)


def _rows() -> list[DHRow]:
    rows = []
    for name, (d, a, alpha, mass, com, effort), shapes in zip(NAMES, ARM, _arm_shapes(), strict=True):
        reach = math.pi if name == "elbow" else 2.0 * math.pi
        body = solid("", mass, shapes)
        # The shapes are in the link's own frame, on its axis; a table's bodies are in frame i, turned by alpha.
        c, s = math.cos(alpha), math.sin(alpha)
        R_frame_link = np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])
        inertia = R_frame_link @ body.inertia @ R_frame_link.T
        rows.append(
            DHRow(
                joint=name,
                d=d,
                a=a,
                alpha=alpha,
                lower=-reach,
                upper=reach,
                velocity=math.pi,
                effort=effort,
                mass=mass,
                com=np.array(com),
                inertia=(inertia + inertia.T) / 2.0,
                visuals=shapes,
            )
        )
    return rows


def _platform() -> Link:
    mass, inertia = PLATFORM
    x, _, top = MOUNT
    shapes = (
        rod((0, 0, 0.05), (0, 0, 0.11), 0.17, DARK),
        rod((0, 0, 0.11), (0, 0, 0.235), 0.268, LIGHT),
        rod((0, 0, 0.235), (0, 0, 0.25), 0.262, DARK),
        rod((0, 0, 0.25), (0, 0, 0.275), 0.22, LIGHT),
        rod((x, 0, 0.275), (x, 0, top), 0.095, DARK),
        rod((x, 0, top), (x, 0, top + 0.1), 0.062, LIGHT),
        drum((0.24, 0, 0.16), Z, 0.045, 0.06, DARK),
        *(rod((side * 0.2, 0, 0.04), (side * 0.2, 0, 0.12), 0.02, STEEL) for side in (-1, 1)),
        *(ball((side * 0.2, 0, 0.035), 0.035, DARK) for side in (-1, 1)),
    )
    return replace(Link("base_link", mass, np.array([0.0, 0.0, RADIUS]), inertia), visuals=shapes)


def _wheel(side: float) -> tuple[Geometry, ...]:
    return (drum((0, 0, 0), Y, RADIUS, 0.04, DARK), drum((0, side * 0.021, 0), Y, 0.055, 0.006, STEEL))


def _arm_shapes() -> tuple[tuple[Geometry, ...], ...]:
    """Shapes of each link, in frames on the joints' axes: bodies of light alloy, blue caps on the joints."""
    upper, fore = 0.138, 0.02  # how far beside the shoulder's middle plane upper arm and forearm run
    return (
        (rod((0, 0, -0.06), (0, 0, 0.06), 0.06), drum((0, -0.035, 0), Y, 0.058, 0.085, LIGHT)),
        (
            drum((0, 0, upper), Z, 0.06, 0.12, LIGHT),
            drum((0, 0, upper + 0.065), Z, 0.058, 0.012, BLUE),
            rod((-0.04, 0, upper), (-0.39, 0, upper), 0.046),
            drum((-0.425, 0, upper), Z, 0.054, 0.11, LIGHT),
            drum((-0.425, 0, upper + 0.06), Z, 0.052, 0.012, BLUE),
        ),
        (
            drum((0, 0, fore + 0.01), Z, 0.052, 0.105, LIGHT),
            rod((-0.03, 0, fore), (-0.36, 0, fore), 0.038),
            drum((-0.3922, 0, fore), Z, 0.042, 0.09, LIGHT),
            drum((-0.3922, 0, fore - 0.05), Z, 0.04, 0.01, BLUE),
        ),
        (drum((0, 0, -0.015), Z, 0.04, 0.105, LIGHT), drum((0, 0.0, 0), Y, 0.04, 0.09, LIGHT), _cap((0, 0, 0.042), Z)),
        (drum((0, 0, -0.01), Z, 0.04, 0.09, LIGHT), drum((0, 0.005, 0), Y, 0.04, 0.09, LIGHT), _cap((0, 0, 0.04), Z)),
        (rod((0, 0, -0.05), (0, 0, -0.012), 0.038, LIGHT), rod((0, 0, -0.012), (0, 0, 0), 0.0315, STEEL)),
    )


def _cap(center: tuple[float, float, float], axis: tuple[float, float, float]) -> Geometry:
    return drum(center, axis, 0.037, 0.01, BLUE)
