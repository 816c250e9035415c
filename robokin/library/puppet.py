"""A ball-jointed puppet: an artist's wooden lay figure, 0.3 m tall.

Ball joints at the waist, neck, shoulders, wrists, hips and ankles, hinges at the elbows and knees. Proportions and
shares of the mass are those of the humanoid (Drillis and Contini 1966; Winter). The cones are ours, as wide as the
shapes allow. It stands with the arms stretched out, so that every cone lies about the middle of what a limb can do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..construction.solids import Point, ball, bar, box, drum, rod, solid
from ..model.geometry import Geometry, Material
from ..model.robot import Joint, Link, RobotModel
from ..spatial.se3 import translation
from . import proportions as body

HEIGHT, MASS = 0.3, 0.25
VELOCITY = 10.0
WOOD = Material("Puppet Wood", (0.86, 0.66, 0.42, 1.0))
DARK_WOOD = Material("Puppet Dark Wood", (0.55, 0.34, 0.17, 1.0))

FOOT, SHANK, THIGH = body.FOOT * HEIGHT, body.SHANK * HEIGHT, body.THIGH * HEIGHT
UPPER_ARM, FOREARM, HAND = body.UPPER_ARM * HEIGHT, body.FOREARM * HEIGHT, body.HAND * HEIGHT
HIP, SHOULDER = 0.8 * body.HIP * HEIGHT, body.SHOULDER * HEIGHT
HIP_HEIGHT, SHOULDER_HEIGHT = body.HIP_HEIGHT * HEIGHT, body.SHOULDER_HEIGHT * HEIGHT
WAIST = HIP_HEIGHT + 0.1 * HEIGHT
NECK = SHOULDER_HEIGHT + 0.03 * HEIGHT
UP, DOWN = (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)


def puppet(root: str = "fixed") -> RobotModel:
    """The root frame lies on the ground between the feet, x forward; tips are left_hand, right_foot, head and so on."""
    figure = _Figure()
    figure.fixed("stand", "base_link", "pelvis", (0, 0, HIP_HEIGHT), 0.142, _pelvis())
    figure.ball("waist", "pelvis", "chest", (0, 0, WAIST - HIP_HEIGHT), UP, (30, 40, 50), 0.355, _chest())
    figure.ball("neck", "chest", "head", (0, 0, NECK - WAIST), UP, (40, 45, 80), 0.081, _head())
    for name, side in (("left", 1), ("right", -1)):
        _arm(figure, name, side)
        _leg(figure, name, side)
    return RobotModel("Puppet", figure.links, figure.joints, root)


def _arm(figure: _Figure, name: str, side: int) -> None:
    out = (0.0, float(side), 0.0)
    upper_arm, forearm, palm = f"{name}_upper_arm", f"{name}_forearm", f"{name}_palm"
    at = (0, side * SHOULDER, SHOULDER_HEIGHT - WAIST)
    figure.ball(f"{name}_shoulder", "chest", upper_arm, at, out, (95, 95, 80), 0.028, _limb(out, UPPER_ARM, 0.0095))
    bends = (0.0, 0.0, -float(side))  # forward
    at = (0, side * UPPER_ARM, 0)
    figure.hinge(f"{name}_elbow", upper_arm, forearm, at, bends, (0, 140), 0.016, _limb(out, FOREARM, 0.008, bends))
    at = (0, side * FOREARM, 0)
    figure.ball(f"{name}_wrist", forearm, palm, at, out, (75, 35, 80), 0.006, _hand(side))
    figure.fixed(f"{name}_grip", palm, f"{name}_hand", (0, side * HAND / 2.0, 0), 0.0, ())


def _leg(figure: _Figure, name: str, side: int) -> None:
    thigh, shank, foot = f"{name}_thigh", f"{name}_shank", f"{name}_ankle_body"
    at = (0, side * HIP, 0)
    figure.ball(f"{name}_hip", "pelvis", thigh, at, DOWN, (50, 100, 50), 0.1, _limb(DOWN, THIGH, 0.0125))
    bends = (0.0, 1.0, 0.0)  # backward
    figure.hinge(
        f"{name}_knee", thigh, shank, (0, 0, -THIGH), bends, (0, 140), 0.0465, _limb(DOWN, SHANK, 0.0105, bends)
    )
    figure.ball(f"{name}_ankle", shank, foot, (0, 0, -SHANK), DOWN, (25, 40, 30), 0.0145, _foot())
    figure.fixed(f"{name}_sole", foot, f"{name}_foot", (0, 0, -FOOT), 0.0, ())


class _Figure:
    """Collects links and joints; all link frames are parallel to the root frame at zero."""

    def __init__(self) -> None:
        self.links = [Link("base_link")]
        self.joints: list[Joint] = []

    def fixed(self, joint: str, parent: str, child: str, at: Point, share: float, shapes: Sequence[Geometry]) -> None:
        self._add(Joint(joint, "fixed", parent, child, translation(at)), share, shapes)

    def hinge(
        self,
        joint: str,
        parent: str,
        child: str,
        at: Point,
        axis: Point,
        limits: tuple[float, float],
        share: float,
        shapes: Sequence[Geometry],
    ) -> None:
        """limits: lower and upper [degrees]; share: of the whole mass."""
        lower, upper = (math.radians(x) for x in limits)
        made = Joint(joint, "revolute", parent, child, translation(at), np.array(axis), lower, upper, VELOCITY)
        self._add(made, share, shapes)

    def ball(
        self,
        joint: str,
        parent: str,
        child: str,
        at: Point,
        axis: Point,
        cone: tuple[float, float, float],
        share: float,
        shapes: Sequence[Geometry],
    ) -> None:
        """cone: how far it swings about the two directions across `axis` (the first is x) and twists about it
        [degrees, either way]."""
        wide = np.radians(cone)
        made = Joint(joint, "spherical", parent, child, translation(at), np.array(axis), -wide, wide, VELOCITY)
        self._add(made, share, shapes)

    def _add(self, joint: Joint, share: float, shapes: Sequence[Geometry]) -> None:
        self.joints.append(joint)
        self.links.append(solid(joint.child, share * MASS, shapes) if share else Link(joint.child))


def _limb(along: Point, length: float, radius: float, hinge: Point | None = None) -> list[Geometry]:
    """A turned piece of wood from one joint to the next, thickest in its upper half, with what it turns on."""
    d = np.array(along)
    knuckle = ball((0, 0, 0), 0.95 * radius, DARK_WOOD)
    if hinge is not None:
        knuckle = drum((0, 0, 0), np.array(hinge), 0.85 * radius, 1.9 * radius, DARK_WOOD)
    return [
        knuckle,
        bar(1.9 * radius * d, 0.55 * length * d, radius, WOOD),
        rod(0.5 * length * d, (length - 0.9 * radius) * d, 0.72 * radius, WOOD),
    ]


def _pelvis() -> list[Geometry]:
    return [bar((0, -0.011, 0.003), (0, 0.011, 0.003), 0.0155, WOOD), ball((0, 0, 0.018), 0.0105, DARK_WOOD)]


def _chest() -> list[Geometry]:
    top = SHOULDER_HEIGHT - WAIST
    return [
        ball((0, 0, 0), 0.0135, DARK_WOOD),
        bar((0, -0.007, 0.022), (0, 0.007, 0.022), 0.0175, WOOD),
        bar((0, -0.014, top - 0.012), (0, 0.014, top - 0.012), 0.021, WOOD),
        rod((0, -SHOULDER + 0.009, top), (0, SHOULDER - 0.009, top), 0.006, DARK_WOOD),
    ]


def _head() -> list[Geometry]:
    return [
        ball((0, 0, 0), 0.0075, DARK_WOOD),
        rod((0, 0, 0), (0, 0, 0.012), 0.0058, WOOD),
        bar((0.002, 0, 0.022), (0.003, 0, 0.034), 0.0145, WOOD),
    ]


def _hand(side: int) -> list[Geometry]:
    return [
        ball((0, 0, 0), 0.0058, DARK_WOOD),
        box((0, side * 0.0125, 0), (0.013, 0.015, 0.006), WOOD),
        box((0, side * 0.025, 0), (0.012, 0.012, 0.0045), WOOD),
        bar((0.008, side * 0.009, 0), (0.0105, side * 0.016, 0), 0.0022, WOOD),
    ]


def _foot() -> list[Geometry]:
    return [
        ball((0, 0, 0), 0.0075, DARK_WOOD),
        bar((-0.004, 0, 0.007 - FOOT), (0.024, 0, 0.007 - FOOT), 0.007, WOOD),
    ]
