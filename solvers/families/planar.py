"""Turning joints with parallel axes, and a slide along them anywhere between (SCARA) or none. Two turns bring the tip's
point somewhere in the plane; three bring the third axis somewhere, and turn."""

from __future__ import annotations

import numpy as np

from .candidates import Candidate, Pose, two_parallel
from .family import Branch, side_of
from .subproblems import angle_of


def solve(pose: Pose) -> list[Candidate]:
    family = pose.family
    h, o = family.h, family.o
    turns, slides = np.flatnonzero(~family.slides).tolist(), np.flatnonzero(family.slides)
    k, k2 = h[turns[0]], h[turns[1]]
    end = o[turns[2]] if len(turns) == 3 else pose.tip
    at = pose.image(end) if len(turns) == 3 else pose.target
    p12, p23 = o[turns[1]] - o[turns[0]], end - o[turns[1]]
    found = []
    pairs = two_parallel(pose, (turns[0], turns[1]), k, k2, p12, p23, at - o[turns[0]])
    for i, (a1, a2) in enumerate(pairs):
        x = np.zeros(len(h))
        x[turns[:2]] = a1, a2
        if len(turns) == 3:
            total = angle_of(k, side_of(k), pose.R)
            x[turns[2]] = (k @ h[turns[2]]) * (total - a1 - (k @ k2) * a2)
        x[slides] = h[slides] @ (at - end)
        found.append(Candidate(x, i * Branch.ELBOW))
    return found
