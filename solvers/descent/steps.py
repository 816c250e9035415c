"""The iteration that the static solver and tracking share, in NumPy: errors, rows, the damped step. Twin of
kernel/src/ik/damped_step.c.

Levenberg-Marquardt with the damping proportional to the squared error (Sugihara, "Solvability-unconcerned inverse
kinematics by the Levenberg-Marquardt method", IEEE T-RO 27(5), 2011), hard limits in every step (bounded_step.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import Reference, reference
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.rolling import RollingBase
from ...robokin.model.tree import Tree
from ...robokin.spatial import quaternion, swing_twist
from ..qp.bounded_step import bounded_step
from ..random_numbers import SplitMix64
from ..tasks import FrameTask
from ..tasks.tips.frame import to_tip_axes
from ..velocity.curved_step import LARGEST_STEP
from .data import IKData

DAMPING, DAMPING_CAP, DAMPING_FLOOR = 0.1, 3.0, 1e-9
NUDGE, ASIDE = 0.03, 0.8  # radians or L
LITTLE = 0.5  # of the room below: where there is less above, a limb bends down


def linearise(
    data: IKData, tasks: Sequence[FrameTask], targets: Array, q: Array, is_exact: bool = False
) -> tuple[Array, Array, Array]:
    """Weighted errors e (6 tasks,), their Jacobian J (6 tasks, nv) with de = -J x, residuals (tasks, 2).

    is_exact: with the derivatives of all errors, as tasks in levels have them; else simpler ones of as good a descent.
    """
    tips = reference.frame_placements(data.tree, q)
    e, J = np.zeros(6 * len(tasks)), np.zeros((6 * len(tasks), data.tree.nv))
    residuals = np.zeros((len(tasks), 2))
    for i, (record, task, target) in enumerate(zip(data.records, tasks, targets, strict=True)):
        error, A = task.tip_rows(tips[i], target)
        for part, rows in enumerate((slice(0, 3), slice(3, 6))):
            if not record["parts" if is_exact else "exact"] >> part & 1:
                A[rows] = np.eye(6)[rows]
            elif record["tip_axes"]:
                error[rows], A[rows] = to_tip_axes(error[rows], A[rows], tips[i][:3, :3])
        error = error * record["used"]
        residuals[i] = math.sqrt(error[:3] @ error[:3]), math.sqrt(error[3:] @ error[3:])
        rows = slice(6 * i, 6 * i + 6)
        e[rows] = record["weights"] * error
        J[rows] = record["weights"][:, None] * (A @ _tip_jacobian(data, q, i))
    return e, J, residuals


def _tip_jacobian(data: IKData, q: Array, task: int) -> Array:
    """(6, nv) velocity of a tip per unit of the step x, root axes.

    x differs from the robot's v for a free node: its lengths move along fixed axes, so that their bounds stay a box.
    """
    return along_fixed_axes(data.tree, q, reference.frame_jacobian(data.tree, q, task, Reference.LOCAL_WORLD_ALIGNED))


def along_fixed_axes(tree: Tree, q: Array, J: Array) -> Array:
    """J (m, nv), changed: columns of the lengths of free joints, which move along fixed axes in a step."""
    for motion, iq, iv in zip(tree.motion, tree.iq, tree.iv, strict=True):
        if motion == MotionPrimitive.FREE:
            J[:, iv : iv + 3] = J[:, iv : iv + 3] @ quaternion.to_matrix(q[iq + 3 : iq + 7]).T
    return J


def damping_for(error: float) -> float:
    return DAMPING * min(error, DAMPING_CAP) + DAMPING_FLOOR


def damped_step(data: IKData, q: Array, e: Array, J: Array, damping: float, is_exact: bool = False) -> Array:
    """q after one bounded damped step; e, J as in `linearise`."""
    B, lower, upper = local_bounds(data, q)
    if is_exact:
        largest = LARGEST_STEP / np.sqrt(data.damping)
        lower, upper = np.maximum(lower, -largest), np.minimum(upper, largest)
    J = J @ B
    g = J.T @ e
    H = J.T @ J + np.diag(damping * data.damping)
    x, _ = bounded_step(H, g, lower, upper)
    return integrate(data, q, B @ x)


def local_bounds(data: IKData, q: Array) -> tuple[Array, Array, Array]:
    """(B, lo, hi): steps x = B c with lo <= c <= hi keep the position limits, to first order those of balls.

    The columns of a limited ball are such that its limits bound single ones (`swing_twist.local_coordinates`). Those of
    the wheels carry their base along where it rolls.
    """
    coordinate = data.coordinate
    plain = coordinate >= 0
    lo, hi = np.full(data.tree.nv, -np.inf), np.full(data.tree.nv, np.inf)
    lo[plain] = data.lower[coordinate[plain]] - q[coordinate[plain]]
    hi[plain] = data.upper[coordinate[plain]] - q[coordinate[plain]]
    B = np.eye(data.tree.nv)
    for cone in data.cones:
        at = slice(cone.v, cone.v + 3)
        B[at, at], lo[at], hi[at] = swing_twist.local_coordinates(cone, q[cone.q : cone.q + 4])
    if data.rolled_from is not None:
        for base in data.bases:
            at, wheels = slice(base.v, base.v + 3), list(base.wheel_q)
            start = data.rolled_from[base.q : base.q + 3]
            B[at, at], lo[at], hi[at] = 0.0, 0.0, 0.0
            B[at, list(base.wheel_v)] = base.rolled_jacobian(start, q[wheels] - data.rolled_from[wheels])
    return B, lo, hi


def integrate(data: IKData, q: Array, x: Array) -> Array:
    """q moved by x, inside the limits: plain coordinates are added, quaternions turned in their own axes."""
    tree, q = data.tree, q.copy()
    coordinate = data.coordinate
    plain = coordinate >= 0
    q[coordinate[plain]] += x[plain]
    q = np.minimum(np.maximum(q, data.lower), data.upper)
    for motion, iq, iv in zip(tree.motion, tree.iq, tree.iv, strict=True):
        if motion in (MotionPrimitive.BALL, MotionPrimitive.FREE):
            lengths = 3 if motion == MotionPrimitive.FREE else 0
            at = slice(iq + lengths, iq + lengths + 4)
            q[at] = quaternion.turned(q[at], x[iv + lengths : iv + lengths + 3])
    for cone in data.cones:
        q[cone.q : cone.q + 4] = swing_twist.project(cone, q[cone.q : cone.q + 4])
    if data.rolled_from is not None:
        roll(data.bases, data.rolled_from, q)
    return q


def nudged(data: IKData, q: Array) -> Array:
    """(nq,) beside q: limbs that stand straight at their target bend to one side, whatever rounding says; an elbow to
    the side to which it can."""
    there = q.copy()
    for k, i in enumerate(data.coordinate.tolist()):
        if i >= 0:
            aside = NUDGE / math.sqrt(data.damping[k])
            above, below = data.upper[i] - q[i], q[i] - data.lower[i]
            there[i] += -aside if above < aside or above < LITTLE * below else aside
    for motion, iq in zip(data.tree.motion, data.tree.iq, strict=True):
        if motion == MotionPrimitive.BALL:
            there[iq : iq + 4] = quaternion.turned(there[iq : iq + 4], np.full(3, NUDGE))
    return _inside(data, there)


def _inside(data: IKData, q: Array) -> Array:
    """q with balls in their cones, plain coordinates in their bounds."""
    for cone in data.cones:
        q[cone.q : cone.q + 4] = swing_twist.project(cone, q[cone.q : cone.q + 4])
    return np.minimum(np.maximum(q, data.lower), data.upper)


def aside(data: IKData, q: Array, number: int) -> Array:
    """(nq,) away from q: every coordinate by as much, this way or that as is drawn, each time for another number. What
    is drawn for a coordinate of the robot is the same whatever others are in `data`."""
    there, first = q.copy(), number * len(data.robot_lower)
    sides = [-ASIDE if SplitMix64(first + int(i)).uniform() < 0.5 else ASIDE for i in data.q_index]
    for k, i in enumerate(data.coordinate.tolist()):
        if i >= 0:
            there[i] += sides[i] / math.sqrt(data.damping[k])
    for motion, iq in zip(data.tree.motion, data.tree.iq, strict=True):
        if motion == MotionPrimitive.BALL:
            there[iq : iq + 4] = quaternion.turned(there[iq : iq + 4], np.array(sides[iq : iq + 3]))
    return _inside(data, there)


def roll(bases: Sequence[RollingBase], start: Array, q: Array) -> None:
    """Put bases where their wheels in q have moved them since `start`, both (nq,)."""
    for base in bases:
        wheels = list(base.wheel_q)
        q[base.q : base.q + 3] = base.roll(start[base.q : base.q + 3], q[wheels] - start[wheels])


def on_shorter_arcs(data: IKData, start: Array, q: Array) -> Array:
    """(nq,) a base that would turn by more than half a circle since `start` gets to the same place by the rest of the
    circle, backwards, where limits let it. start, q: (nq,)"""
    other = q.copy()
    for base in data.bases:
        turn, wheels = q[base.q + 2] - start[base.q + 2], list(base.wheel_q)
        if abs(turn) > math.pi:
            other[wheels] = start[wheels] + (turn - math.copysign(math.tau, turn)) / turn * (q - start)[wheels]
            roll([base], start, other)
        limited = [base.q + 2, *wheels]
        if (other[limited] < data.lower[limited]).any() or (other[limited] > data.upper[limited]).any():
            return q
    return other


def on_first_arcs(data: IKData, start: Array, q: Array) -> Array | None:
    """(nq,) q with wheels on the first of the arcs that lead bases from `start` (nq,) to where they are in q, turned by
    half a circle at most where limits let them; None where limits do not let them."""
    there = q.copy()
    for base in data.bases:
        wheels, angle = list(base.wheel_q), base.q + 2
        near = there[angle] - math.tau * round((there[angle] - start[angle]) / math.tau)
        there[angle] = near if data.lower[angle] <= near <= data.upper[angle] else there[angle]
        found = base.drive(start, there, data.lower, data.upper)
        if found is None:
            return None
        there[wheels] = start[wheels] + found[0]
    return there


def reachable(data: IKData, targets: Array) -> bool:
    """False when a distance certificate shows that some task cannot be met."""
    return not out_of_reach(data, targets).any()


def out_of_reach(data: IKData, targets: Array) -> Array:
    """(tasks,) metres by which each target is farther than its tip, or the wrist behind it, can ever get; 0 where it is
    not."""
    excess = np.zeros(len(targets))
    for i, (own, target) in enumerate(zip(data.certificates, targets.tolist(), strict=True)):
        away = [row[3] - c for row, c in zip(target, own.centre, strict=False)]
        used = [a for a, is_used in zip(away, own.used, strict=True) if is_used]
        x, y, z = own.wrist
        behind = [a + row[0] * x + row[1] * y + row[2] * z for a, row in zip(away, target, strict=False)]
        excess[i] = max(math.hypot(*used) - own.reach, math.hypot(*behind) - own.wrist_reach, 0.0)
    return excess
