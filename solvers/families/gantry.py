"""Three slides, and up to three turning joints, in any order: slides do not turn, so that the rotation is the turns'
own; then the position is linear in the slides."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.spatial import so3
from .candidates import Candidate, Pose, three_turns
from .family import side_of
from .subproblems import NOTHING, angle_of, subproblem1

FLAT = 1e-9  # a smaller determinant of three directions: they lie in a plane


def solve(pose: Pose) -> list[Candidate]:
    family = pose.family
    turns, slides = (np.flatnonzero(each).tolist() for each in (~family.slides, family.slides))
    found = []
    for angles, branch, couplings in _turns(pose, turns):
        x = np.zeros(len(family.h))
        x[turns] = angles
        tip, directions = _at(pose, x)
        if abs(np.linalg.det(directions)) <= FLAT:
            pose.is_hidden = True
            continue
        x[slides] = np.linalg.solve(directions.T, pose.target - tip)
        found.append(Candidate(x, branch, couplings))
    return found


def _turns(pose: Pose, turns: list[int]) -> list[tuple[list[float], int, list[tuple[int, int, float]]]]:
    h = pose.family.h[turns]
    if len(h) == 0:
        return [([], 0, [])]
    if len(h) == 1:
        return [([angle_of(h[0], side_of(h[0]), pose.R)], 0, [])]
    if len(h) == 2:
        first = subproblem1(h[0], h[1], pose.R @ h[1], NOTHING)
        if first is None:
            return []
        return [([first, angle_of(h[1], side_of(h[1]), so3.exp(-first * h[0]) @ pose.R)], 0, [])]
    found = []
    for each in three_turns(h, pose.R, float(pose.wanted[turns[0]])):
        couplings = [(turns[0], turns[2], each.sign)] if each.is_coupled else []
        found.append((list(each.angles), each.branch, couplings))
    return found


def _at(pose: Pose, x: Array) -> tuple[Array, Array]:
    """The tip with all slides at 0, and the directions (3, 3) of the slides, one a row, in the order of the chain."""
    family = pose.family
    tip, directions = pose.tip, np.zeros((0, 3))
    for i in reversed(range(len(family.h))):
        if family.slides[i]:
            directions = np.vstack((family.h[i], directions))
        else:
            R = so3.exp(x[i] * family.h[i])
            tip, directions = family.o[i] + R @ (tip - family.o[i]), directions @ R.T
    return tip, directions
