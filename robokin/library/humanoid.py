"""A humanoid of 32 joints with the proportions and mass distribution of the human body, 1.7 m and 65 kg.

Lengths: R. Drillis and R. Contini, "Body segment parameters", 1966; masses: D. A. Winter, "Biomechanics and motor
control of human movement", table 4.1 (both as fractions of height and mass). Limits: ranges of motion of the American
Academy of Orthopaedic Surgeons, "Joint motion", 1965, rounded. x points forward, y left, z up; at zero it stands, arms
down. Hips, shoulders, ankles, wrists, waist and neck are chains of revolute joints that meet in a point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..construction.solids import BLUE, DARK, LIGHT, ORANGE, Point, ball, bar, box, drum, rod, solid
from ..model.geometry import Geometry, Material
from ..model.robot import Joint, Link, RobotModel
from ..spatial.se3 import translation
from . import proportions as body

HEIGHT, MASS = 1.7, 65.0
AXES = {"roll": (1.0, 0.0, 0.0), "pitch": (0.0, 1.0, 0.0), "yaw": (0.0, 0.0, 1.0)}
VELOCITY = 8.0

FOOT, SHANK, THIGH = body.FOOT * HEIGHT, body.SHANK * HEIGHT, body.THIGH * HEIGHT
UPPER_ARM, FOREARM, HAND = body.UPPER_ARM * HEIGHT, body.FOREARM * HEIGHT, body.HAND * HEIGHT
HIP, SHOULDER = body.HIP * HEIGHT, body.SHOULDER * HEIGHT
HIP_HEIGHT, SHOULDER_HEIGHT = body.HIP_HEIGHT * HEIGHT, body.SHOULDER_HEIGHT * HEIGHT
WAIST, NECK = 0.1, SHOULDER_HEIGHT + 0.05  # above the hips; above the ground


def humanoid(root: str = "fixed") -> RobotModel:
    """The root frame lies on the ground between the feet; tips are left_hand, right_foot and so on."""
    robot = _Body()
    robot.fixed("pelvis_mount", "base_link", "pelvis", (0, 0, HIP_HEIGHT), 0.142, _pelvis())
    robot.chain(
        "pelvis",
        "waist",
        (0, 0, WAIST),
        (("yaw", -45, 45), ("roll", -35, 35), ("pitch", -25, 80)),
        "chest",
        0.355,
        _chest(),
    )
    neck = NECK - HIP_HEIGHT - WAIST
    robot.chain(
        "chest", "neck", (0, 0, neck), (("yaw", -80, 80), ("roll", -45, 45), ("pitch", -45, 45)), "head", 0.081, _head()
    )
    for name, side in (("left", 1), ("right", -1)):
        _leg(robot, name, side)
        _arm(robot, name, side)
    return RobotModel("Humanoid", robot.links, robot.joints, root)


def _leg(robot: _Body, name: str, side: int) -> None:
    hip = (_out(side, "yaw", -45, 45), _out(side, "roll", -30, 45), ("pitch", -120, 30))
    robot.chain("pelvis", f"{name}_hip", (0, side * HIP, 0), hip, f"{name}_thigh", 0.100, _limb(THIGH, 0.068, 0.055))
    robot.chain(
        f"{name}_thigh",
        f"{name}_knee",
        (0, 0, -THIGH),
        (("pitch", 0, 135),),
        f"{name}_shank",
        0.0465,
        _limb(SHANK, 0.052, 0.04, BLUE),
    )
    ankle = (("pitch", -20, 50), _out(side, "roll", -35, 15))
    sole = [box((0.045, 0, 0.012 - FOOT), (0.152 * HEIGHT, 0.09, 0.024), DARK), box((0, 0, -0.02), (0.07, 0.06, 0.05))]
    robot.chain(f"{name}_shank", f"{name}_ankle", (0, 0, -SHANK), ankle, f"{name}_ankle_body", 0.0145, sole)
    robot.fixed(f"{name}_sole", f"{name}_ankle_body", f"{name}_foot", (0, 0, -FOOT), 0.0, ())


def _arm(robot: _Body, name: str, side: int) -> None:
    height = SHOULDER_HEIGHT - HIP_HEIGHT - WAIST
    shoulder = (("pitch", -180, 60), _out(side, "roll", -30, 150), _out(side, "yaw", -90, 70))
    robot.chain(
        "chest",
        f"{name}_shoulder",
        (0, side * SHOULDER, height),
        shoulder,
        f"{name}_upper_arm",
        0.028,
        _limb(UPPER_ARM, 0.042, 0.034),
    )
    robot.chain(
        f"{name}_upper_arm",
        f"{name}_elbow",
        (0, 0, -UPPER_ARM),
        (("pitch", -150, 0),),
        f"{name}_forearm",
        0.016,
        _limb(FOREARM, 0.034, 0.026, BLUE),
    )
    wrist = (_out(side, "yaw", -80, 80), ("pitch", -70, 80), _out(side, "roll", -30, 20))
    palm = [
        box((0, 0, -0.045), (0.075, 0.026, 0.075), DARK),
        box((0, 0, -0.125), (0.065, 0.02, 0.085), LIGHT),
        bar((0.038, 0, -0.045), (0.06, 0, -0.085), 0.011, LIGHT),
    ]
    robot.chain(f"{name}_forearm", f"{name}_wrist", (0, 0, -FOREARM), wrist, f"{name}_palm", 0.006, palm)
    robot.fixed(f"{name}_grip", f"{name}_palm", f"{name}_hand", (0, 0, -HAND / 2.0), 0.0, ())


class _Body:
    """Collects links and joints."""

    def __init__(self) -> None:
        self.links = [Link("base_link")]
        self.joints: list[Joint] = []

    def fixed(self, joint: str, parent: str, child: str, at: Point, share: float, shapes: Sequence[Geometry]) -> None:
        """A link held where it is; `share` of the whole mass."""
        self.links.append(_link(child, share, shapes))
        self.joints.append(Joint(joint, "fixed", parent, child, translation(at)))

    def chain(
        self,
        parent: str,
        name: str,
        at: Point,
        turns: Sequence[tuple[str, float, float]],
        child: str,
        share: float,
        shapes: Sequence[Geometry],
    ) -> None:
        """Revolute joints `name`_yaw and so on (axis, lower, upper [degrees]) that meet at `at`, the last moves
        `child`."""
        for number, (axis, lower, upper) in enumerate(turns, start=1):
            last = number == len(turns)
            link = _link(child, share, shapes) if last else Link(f"{name}_{number}")
            self.joints.append(
                Joint(
                    f"{name}_{axis}" if len(turns) > 1 else name,
                    "revolute",
                    parent,
                    link.name,
                    translation(at if number == 1 else (0, 0, 0)),
                    np.array(AXES[axis]),
                    math.radians(lower),
                    math.radians(upper),
                    VELOCITY,
                )
            )
            self.links.append(link)
            parent = link.name


def _out(side: int, axis: str, lower: float, upper: float) -> tuple[str, float, float]:
    """Limits given for the left side, where turning out is positive about x and z; mirrored on the right."""
    return (axis, lower, upper) if side > 0 else (axis, -upper, -lower)


def _link(name: str, share: float, shapes: Sequence[Geometry]) -> Link:
    return solid(name, share * MASS, shapes) if share else Link(name)


def _limb(length: float, thick: float, thin: float, paint: Material = LIGHT) -> list[Geometry]:
    """A limb that hangs down from its joint, with a dark knuckle there."""
    knuckle = drum((0, 0, 0), (0, 1, 0), 0.9 * thick, 2.1 * thick)
    return [
        knuckle,
        bar((0, 0, -1.1 * thick), (0, 0, -0.55 * length), thick, paint),
        rod((0, 0, -0.5 * length), (0, 0, -length + thin), thin, paint),
    ]


def _pelvis() -> list[Geometry]:
    return [bar((0, -0.09, 0.03), (0, 0.09, 0.03), 0.085), drum((0, 0, 0.1), (0, 0, 1), 0.075, 0.06)]


def _chest() -> list[Geometry]:
    top = SHOULDER_HEIGHT - HIP_HEIGHT - WAIST
    return [
        ball((0, 0, 0.05), 0.095, DARK),
        bar((0, -0.055, 0.15), (0, 0.055, 0.15), 0.105, LIGHT),
        bar((0, -0.09, top - 0.075), (0, 0.09, top - 0.075), 0.115, LIGHT),
        bar((0, -SHOULDER + 0.02, top), (0, SHOULDER - 0.02, top), 0.045, DARK),
        drum((0.105, 0, top - 0.08), (1, 0, 0), 0.035, 0.03, ORANGE),
    ]


def _head() -> list[Geometry]:
    return [
        rod((0, 0, -0.06), (0, 0, 0.05), 0.045, DARK),
        bar((0.01, 0, 0.1), (0.01, 0, 0.15), 0.095, LIGHT),
        bar((0.075, -0.05, 0.13), (0.075, 0.05, 0.13), 0.035, DARK),
    ]
