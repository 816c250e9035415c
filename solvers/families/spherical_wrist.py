"""Six turning joints of which the last three axes meet: the first three place that point, the others turn.

The arm: R1(p12 + R2(p23 + R3 x)) = v. Closed forms: D. L. Pieper, "The kinematics of manipulators under computer
control", Stanford 1968, by the subproblems of IK-Geo (`subproblems.py`).
"""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.spatial import so3
from .candidates import Candidate, Pose, three_turns, two_parallel
from .family import Arm, Branch
from .subproblems import circle_roots, form, linear, subproblem1, subproblem2, turned

Turns = tuple[float, float, float, int]
"""Angles of the three joints of an arm, and the branch."""


def solve(pose: Pose) -> list[Candidate]:
    h, o = pose.family.h, pose.family.o
    found = []
    for *arm, branch in _arm_turns(pose, pose.image(o[3]) - o[0]):
        R = pose.R
        for k, angle in zip(h, arm, strict=False):
            R = so3.exp(-angle * k) @ R
        for wrist in three_turns(h[3:], R, float(pose.wanted[3])):
            couplings = [(3, 5, wrist.sign)] if wrist.is_coupled else []
            found.append(Candidate(np.array([*arm, *wrist.angles]), branch | wrist.branch, couplings))
    return found


def _arm_turns(pose: Pose, to: Array) -> list[Turns]:
    family = pose.family
    h, o = family.h[:3], family.o
    joints, x, v = (0, 1, 2), o[3] - o[2], to
    p12, p23 = o[1] - o[0], o[2] - o[1]
    if family.mirrored:  # x = R3'(-p23 + R2'(-p12 + R1' v))
        h, joints, x, v, p12, p23 = -h[::-1], (2, 1, 0), v, x, -p23, -p12
    solver = {Arm.PARALLEL: _parallel, Arm.INTERSECTING: _intersecting, Arm.GENERAL: _general}[family.arm]
    found = solver(pose, joints, h, p12, p23, x, v)
    return [(a3, a2, a1, branch) for a1, a2, a3, branch in found] if family.mirrored else found


def _parallel(
    pose: Pose, joints: tuple[int, int, int], h: Array, p12: Array, p23: Array, x: Array, v: Array
) -> list[Turns]:
    """Axes 2 and 3 are parallel: h2 sees the first turn alone."""
    a, b, constant = form(v, h[0], h[1])
    first = linear(a, b, h[1] @ (p12 + p23 + x) - constant, pose.nothing)
    if first is None:
        first = [pose.any(joints[0])]
    found = []
    for i, a1 in enumerate(first):
        rest = turned(h[0], -a1, v) - p12
        for j, (a2, a3) in enumerate(two_parallel(pose, joints[1:], h[1], h[2], p23, x, rest)):
            found.append((a1, a2, a3, i * Branch.SHOULDER | j * Branch.ELBOW))
    return found


def _intersecting(
    pose: Pose, joints: tuple[int, int, int], h: Array, p12: Array, p23: Array, x: Array, v: Array
) -> list[Turns]:
    """Axes 1 and 2 meet: the distance from there sees the third turn alone."""
    a, b, constant = form(p23, h[2], x)
    d = 0.5 * (v @ v - p23 @ p23 - x @ x) - constant
    third = linear(a, b, d, pose.nothing * (np.linalg.norm(p23) + np.linalg.norm(x)))
    if third is None:
        third = [pose.any(joints[2])]
    found = []
    for i, a3 in enumerate(third):
        u = p23 + turned(h[2], a3, x)
        pairs = subproblem2(h[0], h[1], u, v, pose.nothing)
        if pairs is None:
            pairs = [(subproblem1(h[0], u, v, pose.nothing), pose.any(joints[1]))]
        for j, (a1, a2) in enumerate(pairs):
            first = pose.any(joints[0]) if a1 is None else a1
            found.append((first, a2, a3, j * Branch.SHOULDER | i * Branch.ELBOW))
    return found


def _general(
    pose: Pose, joints: tuple[int, int, int], h: Array, p12: Array, p23: Array, x: Array, v: Array
) -> list[Turns]:
    """Any axes. With u = p23 + R3 x and p12 the common normal of axes 1 and 2, the distance to axis 1's foot and the
    height along it say where the part of R2 u across axis 2 is, of which the length is known: a polynomial of degree
    two in the third turn."""
    normal = np.linalg.norm(p12)
    e1 = p12 / normal
    e2 = np.cross(h[1], e1)
    h1_e2 = h[0] @ e2
    last = np.array([0.0, 0.0, 1.0])
    # In the third turn: coefficients of its cosine and sine, constants.
    length = 2.0 * form(p23, h[2], x) + (p23 @ p23 + x @ x) * last
    along = form(h[1], h[2], x) + (h[1] @ p23) * last
    X = -0.5 * length + 0.5 * (v @ v - normal**2) * last  # e1'R2 u, times normal
    Y = -(h[0] @ h[1]) * along + h[0] @ (v - p12) * last  # e2'R2 u, times h1_e2
    x2, y2 = h1_e2**2, normal**2
    u2 = x2 * y2
    g = x2 * np.outer(X, X) + y2 * np.outer(Y, Y) + u2 * np.outer(along, along)
    found = []
    for k, a3 in enumerate(circle_roots(of_squares(g) - u2 * np.array([length[2], length[0], length[1], 0.0, 0.0]))):
        turn = np.array([np.cos(a3), np.sin(a3), 1.0])
        u = p23 + turned(h[2], a3, x)
        at = (X @ turn / normal) * e1 + (Y @ turn / h1_e2) * e2 + (along @ turn) * h[1]
        a2 = subproblem1(h[1], u, at, pose.nothing)
        second = pose.any(joints[1]) if a2 is None else a2
        a1 = subproblem1(h[0], p12 + turned(h[1], second, u), v, pose.nothing)
        found.append((pose.any(joints[0]) if a1 is None else a1, second, a3, k * Branch.ROOT))
    return found


def of_squares(g: Array) -> Array:
    """(5,) for `circle_roots` of t'g t, t = (cosine, sine, 1)."""
    return np.array(
        [
            g[2, 2] + 0.5 * (g[0, 0] + g[1, 1]),
            2.0 * g[0, 2],
            2.0 * g[1, 2],
            0.5 * (g[0, 0] - g[1, 1]),
            g[0, 1],
        ]
    )
