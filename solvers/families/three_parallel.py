"""Six turning joints of which three neighbours have parallel axes k: joints 2, 3, 4, or 1, 2, 3. The joint at the other
side of two more, a and b, than the parallel ones is the outer one: joint 1, or joint 6. Without it the chain is
E_k R_a R_b; what k sees of it does not depend on E_k, and says where the outer joint and joint a are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.spatial import so3
from .candidates import Candidate, Pose, ThreeTurns, three_turns, two_parallel
from .family import Branch, Family, side_of
from .spherical_wrist import of_squares
from .subproblems import NOTHING, across, angle_of, circle_roots, form, linear, subproblem1, turned


@dataclass(frozen=True)
class _Order:
    """Numbers of joints: of the first parallel one, of a (b comes next), of the outer one."""

    family: Family
    first: int
    a: int
    outer: int


def solve(pose: Pose) -> list[Candidate]:
    family = pose.family
    h, o = family.h, family.o
    c = _Order(family, 0, 3, 5) if family.outer_last else _Order(family, 1, 4, 0)
    k, axis_a, axis_b, oa, ob, outer = h[c.first], h[c.a], h[c.a + 1], o[c.a], o[c.a + 1], o[c.outer]
    # k'(at - o_first) and k'R b, as y'R(h, outer) x + a constant.
    if family.outer_last:
        x, y_position, y_direction, start = pose.R.T @ k, ob - outer, axis_b, pose.image(outer)
    else:
        x, y_position, y_direction, start = k, pose.image(ob) - outer, pose.R @ axis_b, outer
    P, D = form(y_position, h[c.outer], x), form(y_direction, h[c.outer], x)
    # The same of joint a: k'(oa - o_first) + k'Ra(ob - oa), and k'Ra b.
    N, M = form(k, axis_a, ob - oa), form(k, axis_a, axis_b)
    N[2] += k @ (oa - start)
    if family.meets:  # the position sees the outer joint alone
        angles = linear(P[0], P[1], N[2] - P[2], pose.nothing)
        if angles is None:  # what the others can do depends on it
            angles, pose.is_hidden = [pose.any(c.outer)], True
        return _with_wrist(pose, c, angles)
    if np.hypot(M[0], M[1]) <= NOTHING:  # a and b are parallel: the direction sees the outer joint alone
        turns = linear(D[0], D[1], M[2] - D[2], NOTHING)
        if turns is None:
            turns, pose.is_hidden = [pose.any(c.outer)], True
        pairs = []
        for angle in turns:
            reach = P[0] * np.cos(angle) + P[1] * np.sin(angle) + P[2] - N[2]
            pairs += [(angle, a) for a in linear(N[0], N[1], reach, pose.nothing) or []]
        return _of_pairs(pose, c, pairs)
    # The cosine and sine of joint a are linear in those of the outer one.
    last = np.array([0.0, 0.0, 1.0])
    n, m = P - N[2] * last, D - M[2] * last
    det = N[0] * M[1] - N[1] * M[0]
    cosine, sine = (n * M[1] - m * N[1]) / det, (N[0] * m - M[0] * n) / det
    polynomial = of_squares(np.outer(cosine, cosine) + np.outer(sine, sine) - np.outer(last, last))
    pairs = []
    for angle in circle_roots(polynomial):
        turn = np.array([np.cos(angle), np.sin(angle), 1.0])
        pairs.append((angle, float(np.arctan2(sine @ turn, cosine @ turn))))
    return _of_pairs(pose, c, pairs)


def _of_pairs(pose: Pose, c: _Order, pairs: list[tuple[float, float]]) -> list[Candidate]:
    """pairs: the turns of the outer joint and of a."""
    h, found = c.family.h, []
    k, axis_a, axis_b = h[c.first], h[c.a], h[c.a + 1]
    for i, (angle, a) in enumerate(pairs):
        R, at = _without_outer(pose, c, angle)
        parallel = subproblem1(k, turned(axis_a, a, axis_b), R @ axis_b, NOTHING)
        total = pose.any(c.first) if parallel is None else parallel
        pose.is_hidden |= parallel is None
        b = angle_of(axis_b, side_of(axis_b), so3.exp(-a * axis_a) @ so3.exp(-total * k) @ R)
        found += _with_elbow(pose, c, angle, ThreeTurns((total, a, b), 0), at, i * Branch.ROOT)
    return found


def _with_wrist(pose: Pose, c: _Order, angles: list[float]) -> list[Candidate]:
    h = c.family.h
    k, axis_a, axis_b = h[c.first], h[c.a], h[c.a + 1]
    found = []
    for i, angle in enumerate(angles):
        R, at = _without_outer(pose, c, angle)
        for hand in three_turns(np.array((k, axis_a, axis_b)), R, 0.0):
            if hand.is_coupled:  # b keeps its turn, the parallel ones follow
                b, a = pose.any(c.a + 1), hand.angles[1]
                total = angle_of(k, side_of(k), R @ so3.exp(-b * axis_b) @ so3.exp(-a * axis_a))
                total = _within_reach(c, at, a, total)
                b = angle_of(axis_b, side_of(axis_b), so3.exp(-a * axis_a) @ so3.exp(-total * k) @ R)
                hand = ThreeTurns((total, a, b), hand.branch)
            found += _with_elbow(pose, c, angle, hand, at, i * Branch.SHOULDER | hand.branch)
    return found


def _without_outer(pose: Pose, c: _Order, angle: float) -> tuple[Array, Array]:
    """The pose without the outer joint: the rotation, and the image of a point of axis b."""
    h, o = c.family.h[c.outer], c.family.o[c.outer]
    b = c.family.o[c.a + 1]
    back = so3.exp(-angle * h)
    if c.family.outer_last:  # G R6^-1
        return pose.R @ back, pose.image(o + back @ (b - o))
    return back @ pose.R, o + back @ (pose.image(b) - o)  # R1^-1 G


def _within_reach(c: _Order, at: Array, a: float, total: float) -> float:
    """The parallel turns' sum for which the elbow reaches, nearest to `total`: it reaches where p - E t, across k, is
    no longer and no shorter than both links together, of which both ends are a cos + b sin = d."""
    h, o = c.family.h, c.family.o
    k, axis_a = h[c.first], h[c.a]
    one, other = (float(np.linalg.norm(across(k, o[c.first + i + 1] - o[c.first + i]))) for i in (0, 1))
    t = across(k, o[c.a] + turned(axis_a, a, o[c.a + 1] - o[c.a]) - o[c.first + 2])
    p = across(k, at - o[c.first])
    f, squares = form(p, k, t), p @ p + t @ t
    here = squares - 2.0 * (f[0] * np.cos(total) + f[1] * np.sin(total))
    if (one - other) ** 2 <= here <= (one + other) ** 2:
        return total
    end = one + other if here > (one + other) ** 2 else one - other
    least = NOTHING * c.family.chain.size
    edges = linear(f[0], f[1], 0.5 * (squares - end**2), least**2) or []
    return max(edges, key=lambda edge: np.cos(edge - total), default=total)


def _with_elbow(pose: Pose, c: _Order, outer: float, hand: ThreeTurns, at: Array, branch: int) -> list[Candidate]:
    """hand: the sum of the parallel turns, and the turns of a and b.
    at = o1 + E1(p12 + E2 p23) + E (oa - o3 + Ra(ob - oa)) across k, E = E1 E2 E3."""
    h, o = c.family.h, c.family.o
    i = c.first
    total, a, b = hand.angles
    k, k2, k3 = h[i : i + 3]
    v = at - turned(k, total, o[c.a] + turned(h[c.a], a, o[c.a + 1] - o[c.a]) - o[i + 2]) - o[i]
    found = []
    for j, (a1, a2) in enumerate(two_parallel(pose, (i, i + 1), k, k2, o[i + 1] - o[i], o[i + 2] - o[i + 1], v)):
        x = np.empty(6)
        x[i : i + 3] = a1, a2, (k @ k3) * (total - a1 - (k @ k2) * a2)
        x[c.a], x[c.a + 1], x[c.outer] = a, b, outer
        found.append(Candidate(x, branch | j * Branch.ELBOW))
    return found
