"""The five-servo desk arm of P. Sukesh, "Exploring the implementation of a 3D rendering engine and robotic arm
kinematic software", 2025, section 2.4: joints S0, S1, S2, S3, S5 and rest positions as there, y up, from its screws.

The text is garbled at S3, the wrist's pitch: (0, 185, 80) mm about x is assumed. Limits are the servos' +-90 degrees
(0 to 180 with the rest position in the middle). Masses are those of common servos of that size, not the paper's.
"""

from __future__ import annotations

import math

from ..arcs import arc_limits
from ..construction.product_of_exponentials import ScrewRow, robot_from_screws
from ..construction.solids import BLUE, DARK, STEEL, box, drum, rod, with_solids
from ..model.robot import RobotModel
from ..spatial.se3 import translation

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
# "Whichever arc of the unit circle the joint's starting angle lies in" (section 2.2.1): the front half.
LOWER, UPPER = arc_limits(math.pi / 2, -math.pi / 2, start=0.0)
SERVO = {"lower": LOWER, "upper": UPPER, "velocity": math.radians(60.0) / 0.17, "effort": 0.9}


def desk_arm(root: str = "fixed") -> RobotModel:
    """Reach 0.24 m; at rest the forearm is level and points along z."""
    model = robot_from_screws(
        [
            ScrewRow.about(Y, (0, 0, 0), joint="S0", link="turret", **SERVO),
            ScrewRow.about(X, (0, 0.080, 0), joint="S1", link="upper_arm", **SERVO),
            ScrewRow.about(X, (0, 0.185, 0), joint="S2", link="forearm", **SERVO),
            ScrewRow.about(X, (0, 0.185, 0.080), joint="S3", link="wrist", **SERVO),
            ScrewRow.about(Z, (0, 0.185, 0.105), joint="S5", link="gripper", **SERVO),
        ],
        translation((0.0, 0.185, 0.160)),
        name="Desk Arm",
        root=root,
    )
    return with_solids(
        model,
        {
            "base_link": (0.4, [box((0, -0.022, 0), (0.11, 0.012, 0.11), DARK), drum((0, -0.008, 0), Y, 0.035, 0.016)]),
            "turret": (
                0.15,
                [
                    drum((0, 0.006, 0), Y, 0.045, 0.012, BLUE),
                    *_cheeks(0.045, 0.075),
                    box((0, 0.03, 0), (0.036, 0.036, 0.03), DARK),
                ],
            ),
            "upper_arm": (
                0.12,
                [
                    drum((0, 0, 0), X, 0.013, 0.05),
                    box((0, 0.0525, 0), (0.03, 0.085, 0.022), BLUE),
                    drum((0, 0.105, 0), X, 0.011, 0.05),
                ],
            ),
            "forearm": (0.09, [box((0, 0, 0.036), (0.026, 0.022, 0.062), BLUE), drum((0, 0, 0.08), X, 0.01, 0.044)]),
            "wrist": (0.06, [box((0, 0, 0.01), (0.024, 0.03, 0.022), DARK)]),
            "gripper": (
                0.05,
                [
                    drum((0, 0, 0.004), Z, 0.014, 0.008, STEEL),
                    box((0, 0, 0.014), (0.05, 0.014, 0.012), BLUE),
                    *(box((side * 0.02, 0, 0.036), (0.006, 0.012, 0.036), STEEL) for side in (-1, 1)),
                ],
            ),
            "tool": (0.005, [rod((-0.017, 0, -0.004), (0.017, 0, -0.004), 0.003, STEEL)]),
        },
    )


def _cheeks(low: float, high: float) -> list:
    """Two plates that hold the shoulder's axis."""
    size = (0.005, high - low + 0.065, 0.034)
    return [box((side * 0.0285, (low + high - 0.03) / 2.0, 0), size, BLUE) for side in (-1, 1)]
