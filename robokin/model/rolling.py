"""How a wheeled base moves when its wheels roll without slipping.

A base on two wheels of one axle (differential drive). In the plane of its joint the middle of the axle can only go
forward, across the axle, by the mean of what the wheels roll, and the base turns by their difference over the
separation: v = (r_l dl + r_r dr) / 2, turn = (r_r dr - r_l dl) / separation, r being the radius with the sign of the
wheel's axis. Constant wheel speeds move it on an arc, exactly (the exponential map of SE(2)).
Source: Siegwart, Nourbakhsh, Scaramuzza, "Introduction to autonomous mobile robots", 2011, sections 3.2 and 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from .drive import ALIGNED, WHEEL_TYPES
from .joint import Joint
from .joint_types import plane_basis
from .model_limits import JointSlot

BESIDE = 1e-9  # [m, rad] nearer than that a base is at its place, and inside its limits
BACKWARDS = 1e-6  # [rad] by how much less a base turns that drives backwards


@dataclass(frozen=True, eq=False)
class RollingBase:
    """A wheeled base with its wheels found in the model. Plane vectors are along u and w of `plane_basis(axis)`.

    joint: name of the base.   q, v: where its x, y, angle start.   wheel_q, wheel_v: of the left and the right wheel.
    centre: (2,) [m] the middle of the axle in the base.   forward: (2,) unit vector across the axle, such that the
    left wheel is to its left.   rolled: (2,) [m/rad] distance of each wheel forward per unit of its angle.
    separation: [m].
    """

    joint: str
    q: int
    v: int
    wheel_q: tuple[int, int]
    wheel_v: tuple[int, int]
    centre: Array
    forward: Array
    rolled: Array
    separation: float

    def roll(self, base: Array, turned: Array) -> Array:
        """(..., 3) x, y, angle reached from `base` (..., 3) when the wheels turn by `turned` (..., 2) [rad]."""
        base = np.asarray(base, float)
        distance, turn = self._distance_and_turn(np.asarray(turned, float))
        half = 0.5 * turn
        chord = distance * np.sinc(half / math.pi)
        before, after = base[..., 2], base[..., 2] + turn
        moved = chord[..., None] * self.heading(before + half)
        moved = moved + _turned(self.centre, before) - _turned(self.centre, after)
        return np.concatenate((base[..., :2] + moved, after[..., None]), axis=-1)

    def turned(self, before: Array, after: Array) -> Array:
        """(..., 2) [rad] by how much the wheels turn from `before` to `after` (..., 3) x, y, angle: the inverse of
        `roll`, of bases that do not slip aside."""
        turn = after[..., 2] - before[..., 2]
        along = (self.heading(before[..., 2] + 0.5 * turn) * (self.axle(after) - self.axle(before))).sum(axis=-1)
        distance = along / np.sinc(0.5 * turn / math.pi)
        half = 0.5 * self.separation * turn
        return np.stack((distance - half, distance + half), axis=-1) / self.rolled

    def turned_by(self, distance: float, turn: float) -> Array:
        """(2,) [rad] of the wheels, on an arc of that length [m] and turn [rad]."""
        across = 0.5 * self.separation * turn
        return np.array([distance - across, distance + across]) / self.rolled

    def drive(self, last: Array, q: Array, lower: Array, upper: Array) -> tuple[Array, Array] | None:
        """(2,) [rad] by how much the wheels turn on the first of the arcs that lead the base from `last` to `q`, and
        (2,) on all of them: it turns in place, drives straight, forwards or backwards, whichever turns it less, and
        turns in place. None where an arc does not end in the position limits. All (nq,)"""
        at, wheels = slice(self.q, self.q + 3), list(self.wheel_q)
        start, goal = last[at], q[at]
        (x, y), away, whole = self.heading(start[2]), self.axle(goal) - self.axle(start), float(goal[2] - start[2])
        far, towards = math.sqrt(away @ away), math.atan2(x * away[1] - y * away[0], x * away[0] + y * away[1])
        found, least = None, math.inf
        for k in range(-2, 3):  # half circles: forwards, and backwards where it is odd
            turn, distance = (towards + k * math.pi, -far if k % 2 else far) if far > BESIDE else (whole, 0.0)
            cost = abs(turn) + abs(whole - turn) + (BACKWARDS if k % 2 else 0.0)
            has_turned = far > BESIDE and abs(turn) * far <= 0.5 * BESIDE
            arcs = [self.turned_by(*arc) for arc in ((0.0, turn), (distance, 0.0), (0.0, whole - turn))]
            if cost < least and self._are_inside(start, last[wheels], arcs, lower, upper):
                found, least = (arcs[has_turned], np.abs(arcs).sum(axis=0)), cost
        return found

    def _are_inside(self, place: Array, wheels: Array, arcs: Sequence[Array], lower: Array, upper: Array) -> bool:
        """Whether each of some arcs (2,), one after another, ends in the position limits (nq,)."""
        own = [*range(self.q, self.q + 3), *self.wheel_q]
        for turned in arcs:
            place, wheels = self.roll(place, turned), wheels + turned
            there = np.append(place, wheels)
            if (there < lower[own] - BESIDE).any() or (there > upper[own] + BESIDE).any():
                return False
        return True

    def calmed(self, turned: Array, most: float) -> Array:
        """(2,) [rad] of the wheels, with which the base drives as far as with `turned` (2,), and turns by `most` [rad]
        at most."""
        distance, turn = self._distance_and_turn(turned)
        return self.turned_by(float(distance), min(max(float(turn), -most), most))

    def axle(self, base: Array) -> Array:
        """(..., 2) the middle of the axle in the plane for x, y, angle `base` (..., 3)."""
        return base[..., :2] + _turned(self.centre, base[..., 2])

    def heading(self, angle: Array) -> Array:
        """(..., 2) unit vectors in the plane across the axle, forward, for angles (...) [rad]."""
        return _turned(self.forward, angle)

    def rates(self, angle: Array, first: Array, second: Array) -> tuple[Array, Array]:
        """(..., 3) velocity and acceleration of x, y, angle at `angle` (...) where the wheels' are `first` and `second`
        (..., 2) [rad/s, rad/s2] and nothing slips."""
        (speed, turning), (faster, bending) = self._distance_and_turn(first), self._distance_and_turn(second)
        heading, centre = self.heading(angle), _turned(self.centre, angle)
        aside, arm = (np.stack((-each[..., 1], each[..., 0]), axis=-1) for each in (heading, centre))
        s, w, t, b = (each[..., None] for each in (speed, turning, faster, bending))
        v = s * heading - w * arm
        a = t * heading + s * w * aside - b * arm + w * w * centre
        return np.concatenate((v, w), axis=-1), np.concatenate((a, b), axis=-1)

    def rolled_jacobian(self, base: Array, turned: Array) -> Array:
        """(3, 2) derivative of `roll` by `turned`."""
        distance, turn = (float(x) for x in self._distance_and_turn(np.asarray(turned, float)))
        half, before = 0.5 * turn, float(base[2])
        s, slope = _sinc(half), _sinc_slope(half)
        heading = self.heading(np.array(before + half))
        aside = np.array([-heading[1], heading[0]])
        centre = _turned(self.centre, np.array(before + turn))
        by_distance = s * heading
        by_turn = 0.5 * distance * (slope * heading + s * aside) - np.array([-centre[1], centre[0]])
        left, right = self.rolled
        distances = np.array([0.5 * left, 0.5 * right])
        turns = np.array([-left, right]) / self.separation
        return np.vstack((np.outer(by_distance, distances) + np.outer(by_turn, turns), turns))

    def rows(self, angle: float) -> Array:
        """(3, 5) A with A (x', y', angle', left', right') = 0 when nothing slips: no motion along the axle, and each
        wheel's distance what it rolls; all in m/s."""
        heading = self.heading(np.array(angle))
        aside = np.array([-heading[1], heading[0]])
        centre = _turned(self.centre, np.array(angle))
        arm = np.array([-centre[1], centre[0]])
        half = 0.5 * self.separation
        left, right = self.rolled
        return np.array(
            [
                [*aside, aside @ arm, 0.0, 0.0],
                [*heading, heading @ arm - half, -left, 0.0],
                [*heading, heading @ arm + half, 0.0, -right],
            ]
        )

    @property
    def columns(self) -> Array:
        """(5,) where x, y, angle, left, right lie in v."""
        return np.array([self.v, self.v + 1, self.v + 2, *self.wheel_v])

    def _distance_and_turn(self, turned: Array) -> tuple[Array, Array]:
        left, right = self.rolled[0] * turned[..., 0], self.rolled[1] * turned[..., 1]
        return 0.5 * (left + right), (right - left) / self.separation


def rolling_base(joint: Joint, joints: Mapping[str, Joint], slots: Mapping[str, JointSlot]) -> RollingBase:
    """A wheeled joint with its drive. joints, slots: all of the robot, by name. Raises ModelError when its wheels are
    not two on one axle below it."""
    drive = joint.drive
    assert drive is not None
    u, w = plane_basis(joint.axis)
    plane = np.array([u, w])
    placements = [_below(joint, name, joints) for name in (drive.left, drive.right)]
    wheels = [joints[name] for name in (drive.left, drive.right)]
    axes = [T[:3, :3] @ wheel.axis for T, wheel in zip(placements, wheels, strict=True)]
    left, right = (plane @ T[:3, 3] for T in placements)
    who = f"wheeled joint {joint.name!r}: its wheels {drive.left!r} and {drive.right!r}"
    if any(abs(axis @ joint.axis) > ALIGNED for axis in axes):
        raise ModelError(f"{who} must turn about axes in the plane of the ground", joint)
    across, between = plane @ axes[0], left - right
    across = across / np.linalg.norm(across)
    across = -across if across @ between < 0.0 else across
    heading = np.array([across[1], -across[0]])
    signs = [float(across @ (plane @ axis)) for axis in axes]
    if any(abs(sign) < 1.0 - ALIGNED for sign in signs):
        raise ModelError(f"{who} must turn about parallel axes", joint)
    if not across @ between > 0.0 or abs(heading @ between) > ALIGNED * (across @ between):
        raise ModelError(f"{who} must sit on one axle", joint)
    own, left_slot, right_slot = (slots[each.name] for each in (joint, *wheels))
    return RollingBase(
        joint.name,
        own.q.start,
        own.v.start,
        (left_slot.q.start, right_slot.q.start),
        (left_slot.v.start, right_slot.v.start),
        0.5 * (left + right),
        heading,
        drive.radius * np.sign(signs),
        float(drive.separation),
    )


def _below(base: Joint, name: str, joints: Mapping[str, Joint]) -> Array:
    """(4, 4) T_base_wheel at q = 0 of the joint frame of a wheel. Raises ModelError for what is no wheel of it."""
    if name not in joints:
        raise ModelError(f"wheeled joint {base.name!r}: its wheel {name!r} is not a joint of the robot", base)
    wheel = joints[name]
    if wheel.type not in WHEEL_TYPES or wheel.mimic is not None:
        kind = "mimic" if wheel.mimic is not None else wheel.type
        raise ModelError(
            f"wheeled joint {base.name!r}: its wheel {name!r} is a {kind} joint (valid: {', '.join(WHEEL_TYPES)})", base
        )
    above = {joint.child: joint for joint in joints.values()}
    T, joint = wheel.placement, wheel
    while joint.parent != base.child:
        if joint.parent is None:
            raise ModelError(f"wheeled joint {base.name!r}: its wheel {name!r} is not below it", base)
        joint = above[joint.parent]
        T = joint.placement @ T
    return T


def _turned(vector: Array, angle: Array) -> Array:
    """(..., 2) a plane vector (2,) turned by angles (...)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack((c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]), axis=-1)


def _sinc(x: float) -> float:
    return math.sin(x) / x if x != 0.0 else 1.0


def _sinc_slope(x: float) -> float:
    """d/dx sin(x) / x. Below 0.5 eight terms of its series are exact, above nothing cancels."""
    if abs(x) >= 0.5:
        return (math.cos(x) - math.sin(x) / x) / x
    z, total = x * x, 0.0
    for k in reversed(range(1, 9)):
        total = total * z + (-1) ** k * 2 * k / math.factorial(2 * k + 1)
    return x * total
