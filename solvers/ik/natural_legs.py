"""How a robot stands on its legs when it has just been made: knees bent, feet level under the hips, soles flat.

The knee of a leg is the joint in its middle: of those with a parallel axis above them, the hip, the one that is far
from both the hip and what is below, the axis of an ankle or the tip of the foot. It is bent, away from its limits. Then
inverse kinematics put each foot where it is at q = 0, but higher, all by the same length.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin import Joint, RobotModel, clamp, forward_kinematics, frame_jacobian
from ...robokin.arrays import Array
from ...robokin.structure.bodies import rigid_bodies
from ...robokin.structure.natural_root import legs, up_axis
from ..results import Status
from ..tasks import PoseTask, PositionTask
from .solve import solve_ik

UPRIGHT = math.radians(25.0)  # how far a knee is bent over an ankle: the leg is nearly straight
CROUCHED = math.radians(75.0)  # how far one is that nothing is below but the shank
MARGIN = 0.15  # of a knee's range from its ends, which are avoided
SPRAWL = 3.0  # how much it counts that a straight leg points outward, against that it is in front or behind
MIDDLE = 0.25  # of the longer of thigh and shank: how long the other is at least
LOW = 0.1  # of a shank's height: corners that are no higher are its foot
PARALLEL = 0.9  # the cosine of the angle between parallel axes is larger


def standing_configuration(model: RobotModel, corners: Mapping[str, Array]) -> Array:
    """(nq,) inside the limits. All but the legs is in the neutral pose, and these too if a leg has no knee or cannot
    place its foot. corners: (n, 3) of links, in their frames [m]: where a foot ends that has no frame at its tip."""
    q = clamp(model, model.neutral())
    found = [_leg(model, bodies, corners) for bodies in legs(model)]
    bent = [leg for leg in found if leg is not None]
    if not bent or len(bent) < len(found):
        return q
    up = np.eye(3)[up_axis(model)]
    tips = np.array([leg.T[:3, 3] for leg in bent])
    behind = tips[:, 0] < tips[:, 0].mean() - 0.1 * np.ptp(tips[:, 0])
    start, raised = q.copy(), []
    for leg, is_behind in zip(bent, behind, strict=True):
        bend = leg.bend(q, up, forward=leg.is_ankled or is_behind)  # knees of four legs bend towards the middle
        start[leg.knee] = leg.straight + bend
        raised.append(leg.raised(bend, up))
    level = max(tips @ up)
    tasks: list[PoseTask | PositionTask] = [PoseTask(model.root_link.name, np.eye(4))]
    for leg in bent:
        T = leg.T.copy()
        T[:3, 3] += max(raised) * up
        if leg.is_ankled:
            tasks.append(PoseTask(leg.link, T, offset=leg.tip))
        else:
            tasks.append(PositionTask(leg.link, T[:3, 3] + (level - leg.T[:3, 3] @ up) * up, offset=leg.tip))
    solved = solve_ik(model, tasks, start, attempts=1, diagnose=False)
    if solved.status is not Status.CONVERGED:
        return q
    base = model.slots[0].q
    solved.q[base] = q[base]  # to the last bit
    return solved.q


@dataclass(frozen=True)
class _BentLeg:
    """link, tip: the lowest frame of the foot, and (4, 4) T_link_tip.   T: (4, 4) T_root_tip.   knee: its index in q.
    straight: its value where the leg is straight.   limits: of the knee.   axis: (3,) of the knee.   thigh, shank: (3,)
    at right angles to it.   is_ankled: whether joints move the foot against the shank. T and vectors are at q = 0."""

    link: str
    tip: Array
    T: Array
    knee: int
    straight: float
    limits: tuple[float, float]
    axis: Array
    thigh: Array
    shank: Array
    is_ankled: bool

    def bend(self, q: Array, up: Array, forward: bool) -> float:
        """[rad] How far its knee is bent: as at q if that is enough and away from limits; else outward where the leg
        sprawls, forward or back where it does not, if limits leave the choice."""
        enough = UPRIGHT if self.is_ankled else CROUCHED
        lower, upper = self.limits
        margin = MARGIN * (upper - lower) if np.isfinite(upper - lower) else 0.0
        low, high = lower + margin - self.straight, upper - margin - self.straight
        now = float(np.clip(q[self.knee] - self.straight, low, high))
        if abs(now) >= enough:
            return now
        down = self.thigh + self.shank
        outward = (down - (down @ up) * up) / np.linalg.norm(down)
        towards = SPRAWL * outward + np.array((1.0 if forward else -1.0, 0.0, 0.0))
        first = 1.0 if np.cross(self.axis, self.shank) @ towards < 0.0 else -1.0  # a foot goes where its knee does not
        one, other = (float(np.clip(side * enough, low, high)) for side in (first, -first))
        return one if abs(one) > abs(other) - 1e-6 else other

    def raised(self, bend: float, up: Array) -> float:
        """[m] How much nearer to the hip, straight up, the foot is with its knee bent so than at q = 0."""
        a, b = np.linalg.norm(self.thigh), np.linalg.norm(self.shank)
        down = self.thigh + self.shank
        high = -float(down @ up)
        beside = float(down @ down) - high**2
        return high - math.sqrt(max(float(a * a + b * b + 2.0 * a * b * math.cos(bend)) - beside, 0.0))


def _leg(model: RobotModel, bodies: Sequence[str], corners: Mapping[str, Array]) -> _BentLeg | None:
    """bodies: of the leg, from the foot up."""
    zero = model.neutral()
    placed = forward_kinematics(model, zero)
    up = up_axis(model)
    link = min(rigid_bodies(model).frames[bodies[0]], key=lambda name: round(float(placed[name][up, 3]), 6))
    tip = np.eye(4)
    if link == bodies[0] and link in corners:
        tip[:3, 3] = _lowest(corners[link], placed[link][up, :3])
    J = frame_jacobian(model, zero, link)
    axes = J[3:].T
    places = np.cross(axes, J[:3].T) - placed[link][:3, :3] @ tip[:3, 3]  # (nv, 3) from the tip to each axis
    above = {joint.child: joint for joint in model.joints[1:]}
    joints = [above[body] for body in reversed(bodies) if above[body].mimic is None]
    turns = [(joint, i) for joint in joints for i in _turns(model, joint)]
    found, best = None, 0.0
    for at, (joint, k) in enumerate(turns):
        if joint.nv > 1 or abs(axes[k, up]) > PARALLEL:
            continue
        hips = [i for _, i in turns[:at] if abs(axes[i] @ axes[k]) > PARALLEL]
        below = [(other, i) for other, i in turns[at + 1 :] if other.type != "continuous"]  # that is a wheel
        ankles = [i for _, i in below if abs(axes[i] @ axes[k]) > PARALLEL]
        if not hips:
            continue
        across = np.eye(3) - np.outer(axes[k], axes[k])
        thigh = across @ (places[k] - places[hips[0]])
        shank = across @ ((places[ankles[-1]] if ankles else np.zeros(3)) - places[k])
        short, long = sorted((float(np.linalg.norm(thigh)), float(np.linalg.norm(shank))))
        if short > max(best + 1e-6, MIDDLE * long):
            coordinate = model.slot(joint.name).q.start
            bend = math.atan2(axes[k] @ np.cross(thigh, shank), thigh @ shank)
            limits = float(model.lower[coordinate]), float(model.upper[coordinate])
            straight = float(zero[coordinate]) - bend
            found = _BentLeg(
                link, tip, placed[link] @ tip, coordinate, straight, limits, axes[k], thigh, shank, bool(below)
            )
            best = short
    return found


def _lowest(points: Array, up: Array) -> Array:
    """(3,) The middle of the lowest ones."""
    heights = points @ up
    low = points[heights < heights.min() + LOW * np.ptp(heights)]
    return (low.min(axis=0) + low.max(axis=0)) / 2.0


def _turns(model: RobotModel, joint: Joint) -> list[int]:
    """The degrees of freedom of a joint that turn, and can."""
    slot = model.slot(joint.name)
    can = model.upper[slot.q.start] > model.lower[slot.q.start]
    return [i for i in range(slot.v.start, slot.v.stop) if can and not model.is_length[i]]
