"""Seven turning joints whose first three axes meet in S and last three in W.

The distance of S and W says the turn of the fourth joint; then the arm may turn about the line from S to W. Of that
redundancy angle 0 is where the upper arm is turned least from where q0 has it. A joint is at a limit where
a cos + b sin = d in that angle: between those angles a branch is all inside the limits, or not at all (M. Shimizu et
al., "Analytical inverse kinematic computation for 7-DOF redundant manipulators with joint limits", IEEE Trans. Robotics
24(5), 2008).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from ...robokin.arrays import MOST, Array
from ...robokin.spatial import so3
from .candidates import Candidate, Pose, ThreeTurns, three_turns
from .family import Branch
from .subproblems import NOTHING, form, linear, turned

BilinearForms = Callable[[Array, Array], tuple[Array, Array]]

# [rad] from where a joint is at its limit, at least, and times the geometry is off the ideal one
INWARD, OFF = 1e-9, 100.0


@dataclass(frozen=True, eq=False)
class _Arc:
    """The upper arm turned by any angle `about` the line from S to W. B: (3, 3) its rotation at 0.   elbow: the turn of
    joint 4, R4: its rotation."""

    pose: Pose
    about: Array
    B: Array
    elbow: float
    R4: Array

    def turns(self, angle: float) -> tuple[list[ThreeTurns], list[ThreeTurns]]:
        """Turns of shoulder and wrist."""
        h, wanted = self.pose.family.h, self.pose.wanted
        R = so3.exp(angle * self.about) @ self.B
        shoulder = three_turns(h[:3], R, float(wanted[0]))
        return shoulder, three_turns(h[4:], (R @ self.R4).T @ self.pose.R, float(wanted[4]))

    def branch(self, angle: float, which: tuple[int, int]) -> tuple[ThreeTurns, ThreeTurns] | None:
        """The joint angles of a branch, where they are inside the limits."""
        both = self.turns(angle)
        for i, turns in zip(which, both, strict=True):
            # A single solution of axes that are not at right angles only comes nearest to the rotation.
            if i >= len(turns) or (len(turns) == 1 and not turns[0].is_coupled):
                return None
        shoulder, wrist = (turns[i] for i, turns in zip(which, both, strict=True))
        return (shoulder, wrist) if self._fit(0, shoulder) and self._fit(4, wrist) else None

    def _fit(self, first: int, turns: ThreeTurns) -> bool:
        own = [(i, angle) for i, angle in enumerate(turns.angles) if i == 1 or not turns.is_coupled]
        return all(self.pose.fits(first + i, angle) for i, angle in own)

    def edges(self) -> Array:
        """Angles, ascending, at which a joint is at a limit or a branch ends."""
        h, B, R = self.pose.family.h, self.B, self.pose.R
        A = B @ self.R4
        shoulder = self._edges(0, h[:3], lambda y, x: (y, B @ x))
        wrist = self._edges(4, h[4:], lambda y, x: (R @ x, A @ y))
        return np.sort(np.array([(a + np.pi) % (2.0 * np.pi) - np.pi for a in shoulder + wrist]))

    def _edges(self, first: int, h: Array, forms: BilinearForms) -> list[float]:
        """forms: (y, x) -> vectors with y'M x of the three turns M = their y'R(about, angle) x."""
        chain = self.pose.family.chain
        h0, h1, h2 = h
        f = form(h0, h1, h2)
        cases: list[tuple[Array, Array, float]] = []
        for i, side in product(range(3), (chain.lower, chain.upper)):
            limit = float(side[first + i])
            if not abs(limit) < MOST:
                continue
            if i == 0:
                cases.append((turned(h0, limit, h1), h2, float(h1 @ h2)))
            elif i == 1:
                cases.append((h0, h2, float(f @ (np.cos(limit), np.sin(limit), 1.0))))
            else:
                cases.append((h0, turned(h2, -limit, h1), float(h1 @ h0)))
        if abs(h0 @ h1) + abs(h1 @ h2) > NOTHING:  # else the three turns reach every rotation
            reach = float(np.hypot(f[0], f[1]))
            cases += [(h0, h2, f[2] + reach), (h0, h2, f[2] - reach)]
        found: list[float] = []
        for y, x, value in cases:
            left, right = forms(y, x)
            a, b, constant = form(left, self.about, right)
            found += linear(a, b, value - constant, NOTHING) or []
        return found

    def nearest(self, which: tuple[int, int], edges: Array) -> tuple[ThreeTurns, ThreeTurns] | None:
        """The turns of a branch whose angle is nearest to 0, among the stretches between the edges."""
        best, found = 4.0, None
        step = max(INWARD, OFF * self.pose.family.off)
        for start, end in zip(edges, [*edges[1:], *(edges[:1] + 2.0 * np.pi)], strict=True):
            middle, inward = 0.5 * (start + end), min(step, 0.5 * (end - start))
            own = self.branch(middle, which)
            if own is None:
                continue
            last = end - inward - 2.0 * np.pi if end - inward > np.pi else end - inward
            angle = min((middle, start + inward, last), key=abs)
            if abs(angle) < best:
                best, found = abs(angle), self.branch(angle, which) or own
        return found


def solve(pose: Pose) -> list[Candidate]:
    h, o = pose.family.h, pose.family.o
    goal, p, x = pose.image(o[4]) - o[0], o[3] - o[0], o[4] - o[3]
    f = form(p, h[3], x)
    d = 0.5 * (goal @ goal - p @ p - x @ x) - f[2]
    found = []
    elbows = linear(f[0], f[1], d, pose.nothing * (np.linalg.norm(p) + np.linalg.norm(x))) or []
    for k, elbow in enumerate(elbows):
        if not pose.fits(3, elbow):
            continue
        arc = _arc(pose, elbow, goal)
        edges = None
        for which in product((0, 1), (0, 1)):
            own = arc.branch(0.0, which)
            if own is None:
                edges = arc.edges() if edges is None else edges
                own = arc.nearest(which, edges)
            if own is None:
                continue
            shoulder, wrist = own
            branch = which[0] * Branch.SHOULDER | k * Branch.ELBOW | which[1] * Branch.WRIST
            couplings = [(0, 2, shoulder.sign)] if shoulder.is_coupled else []
            couplings += [(4, 6, wrist.sign)] if wrist.is_coupled else []
            found.append(Candidate(np.array([*shoulder.angles, elbow, *wrist.angles]), branch, couplings))
    return found


def _arc(pose: Pose, elbow: float, goal: Array) -> _Arc:
    h, o = pose.family.h, pose.family.o
    arm = so3.exp(pose.wanted[0] * h[0]) @ so3.exp(pose.wanted[1] * h[1]) @ so3.exp(pose.wanted[2] * h[2])
    u = arm @ (o[3] - o[0] + turned(h[3], elbow, o[4] - o[3]))
    R4 = so3.exp(elbow * h[3])
    if min(np.linalg.norm(u), np.linalg.norm(goal)) <= pose.nothing:  # W in S: the arm keeps q0's way
        return _Arc(pose, h[0], arm, elbow, R4)
    u, about = u / np.linalg.norm(u), goal / np.linalg.norm(goal)
    return _Arc(pose, about, _least_rotation(u, about) @ arm, elbow, R4)


def _least_rotation(u: Array, v: Array) -> Array:
    """(3, 3) from direction u to direction v, both unit."""
    w = np.cross(u, v)
    sine, cosine = float(np.linalg.norm(w)), float(u @ v)
    if sine <= NOTHING:  # any axis across u
        x = np.eye(3)[0 if abs(u[0]) < 0.7 else 1]
        w = x - (u @ x) * u
        sine, cosine = 0.0, 1.0 if cosine > 0.0 else -1.0
    return so3.exp(np.arctan2(sine, cosine) * w / np.linalg.norm(w))
