"""The Unimation Puma 560: six revolute joints, the last three meeting in one point.

Geometry, masses, inertias, motors and friction: P. I. Corke and B. Armstrong-Helouvry, "A search for consensus among
model parameters reported for the PUMA 560 robot", ICRA 1994, pages 1608-1613 (classic Denavit-Hartenberg table; what
lies at a motor is brought to the joint by its gear ratio). Limits: L.-C. T. Wang and C. C. Chen, IEEE Trans. Robotics
and Automation 7(4), 1991. Both as in P. I. Corke's Robotics Toolbox for Python (models/DH/Puma560). The inertia of the
waist about its axis is all that is known of link 1; the inertias of link 3 are as published, though no solid body has
them. Speeds are not stated. The pedestal of 26.45 inches is the base. Shapes are ours.
"""

from __future__ import annotations

import math

import numpy as np

from ..construction.denavit_hartenberg import DHRow, robot_from_dh
from ..construction.solids import DARK, LIGHT, ORANGE, STEEL, ball, box, drum, rod, solid, with_links
from ..model.geometry import Geometry
from ..model.robot import RobotModel

SHOULDER = 26.45 * 0.0254
HALF = math.pi / 2.0

# d, a, alpha, lower and upper [degrees]
GEOMETRY = (
    (SHOULDER, 0.0, HALF, -160, 160),
    (0.0, 0.4318, 0.0, -45, 225),
    (0.15005, 0.0203, -HALF, -225, 45),
    (0.4318, 0.0, HALF, -110, 170),
    (0.0, 0.0, -HALF, -100, 100),
    (0.0, 0.0, 0.0, -266, 266),
)
# mass, com, principal inertias
BODIES = (
    (0.0, (0.0, 0.0, 0.0), (0.0, 0.35, 0.0)),
    (17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
    (0.82, (0.0, 0.019, 0.0), (1.8e-3, 1.3e-3, 1.8e-3)),
    (0.34, (0.0, 0.0, 0.0), (0.3e-3, 0.4e-3, 0.3e-3)),
    (0.09, (0.0, 0.0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
)
# gear ratio; of the motor: inertia, viscous friction, Coulomb friction (the mean of both directions)
MOTORS = (
    (62.6111, 200e-6, 1.48e-3, 0.415),
    (107.815, 200e-6, 0.817e-3, 0.0985),
    (53.7063, 200e-6, 1.38e-3, 0.1185),
    (76.0364, 33e-6, 71.2e-6, 0.01405),
    (71.923, 33e-6, 82.6e-6, 0.01188),
    (76.686, 33e-6, 36.7e-6, 0.00723),
)


def puma560(root: str = "fixed") -> RobotModel:
    """The arm. At zero the upper arm is level along x and the forearm points up; `tool` is the wrist's centre."""
    rows = []
    for geometry, body, motor, shapes in zip(GEOMETRY, BODIES, MOTORS, _shapes(), strict=True):
        (d, a, alpha, lower, upper), (gear, inertia, viscous, coulomb) = geometry, motor
        rows.append(
            DHRow(
                d=d,
                a=a,
                alpha=alpha,
                lower=math.radians(lower),
                upper=math.radians(upper),
                mass=body[0],
                com=np.array(body[1]),
                inertia=np.diag(body[2]),
                rotor_inertia=inertia * gear**2,
                damping=viscous * gear**2,
                friction=coulomb * gear,
                visuals=shapes,
            )
        )
    model = robot_from_dh(rows, name="Puma 560", root=root)
    pedestal = [rod((0, 0, 0), (0, 0, 0.03), 0.16, DARK), rod((0, 0, 0.03), (0, 0, SHOULDER - 0.14), 0.085, LIGHT)]
    return with_links(model, {"base_link": solid("base_link", 30.0, pedestal)})


def _shapes() -> tuple[tuple[Geometry, ...], ...]:
    """Shapes of each link, in frames on the joints' axes. The upper arm runs beside the shoulder, the forearm inside of
    it."""
    z = (0.0, 0.0, 1.0)
    return (
        (rod((0, 0, -0.13), (0, 0, 0.02), 0.1, DARK), drum((0, -0.035, 0), (0, 1, 0), 0.1, 0.29, LIGHT)),
        (
            box((0.19, 0, 0.235), (0.44, 0.17, 0.08), LIGHT),
            drum((0, 0, 0.235), z, 0.1, 0.1, LIGHT),
            drum((0.41, 0, 0.235), z, 0.085, 0.076, LIGHT),
            drum((0, 0, 0.29), z, 0.06, 0.02, ORANGE),
        ),
        (drum((0, 0, 0), z, 0.075, 0.1, DARK), box((0.0203, 0.11, 0), (0.11, 0.34, 0.09), LIGHT)),
        (
            rod((0, 0, -0.16), (0, 0, -0.05), 0.045, DARK),
            box((0, 0.034, -0.015), (0.06, 0.014, 0.09), LIGHT),
            box((0, -0.034, -0.015), (0.06, 0.014, 0.09), LIGHT),
        ),
        (ball((0, 0, 0), 0.03, DARK), drum((0, 0, 0), z, 0.018, 0.085, STEEL)),
        (rod((0, 0, 0.02), (0, 0, 0.05), 0.02, DARK), rod((0, 0, 0.05), (0, 0, 0.058), 0.033, ORANGE)),
    )
