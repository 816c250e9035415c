"""What the solvers of the families work on: one pose, and the candidates found for it. In solving order throughout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...robokin.arrays import Array
from ...robokin.spatial import so3
from .family import Branch, Family, side_of
from .subproblems import NOTHING, angle_of, subproblem1, subproblem2, subproblem3, turned


@dataclass
class Candidate:
    """x: (n,) joint values.   branch: its bits.   couplings: (first, last, sign) of turns whose axes lie on each other:
    what is added to the first is taken from the last, times sign."""

    x: Array
    branch: int
    couplings: list[tuple[int, int, float]] = field(default_factory=list)


@dataclass
class Pose:
    """R (3, 3), p (3,): T_target T_home^-1, or its inverse when the family is `reversed`: what the exponentials of the
    joints multiply to.
    tip, target: (3,) the tip at zero, and where it goes, in the order of the chain.
    fits: whether an angle of a joint, or one whole turns away, is inside its limits.
    wanted: (n,) q0, for turns that may be any.   is_free: one was taken.
    is_hidden: what may be any was taken from q0 where others may need another value."""

    family: Family
    R: Array
    p: Array
    tip: Array
    target: Array
    wanted: Array
    fits: Callable[[int, float], bool]
    is_free: bool = False
    is_hidden: bool = False

    @property
    def nothing(self) -> float:
        return NOTHING * self.family.chain.size

    def image(self, x: Array) -> Array:
        return self.R @ x + self.p

    def any(self, joint: int) -> float:
        """The value in q0 of a turn that may be any."""
        self.is_free = True
        return float(self.wanted[joint])


@dataclass
class ThreeTurns:
    """angles: (3,).   is_coupled: the outer two are on one axis; sign: as that of a coupling."""

    angles: tuple[float, float, float]
    branch: int
    is_coupled: bool = False
    sign: float = 1.0


def three_turns(h: Array, R: Array, wanted: float) -> list[ThreeTurns]:
    """Turns about the axes h (3, 3) whose product is R. wanted: of the first, where it may be any."""
    h0, h1, h2 = h
    goal = R @ h2
    pairs = subproblem2(h0, h1, h2, goal, NOTHING) or []
    found = []
    for i, (a0, a1) in enumerate(pairs):
        first = wanted if a0 is None else a0
        last = angle_of(h2, side_of(h2), so3.exp(-a1 * h1) @ so3.exp(-first * h0) @ R)
        sign = 1.0 if h0 @ goal > 0.0 else -1.0
        found.append(ThreeTurns((first, a1, last), Branch.WRIST if i else 0, a0 is None, sign))
    return found


def two_parallel(
    pose: Pose, joints: tuple[int, int], k: Array, k2: Array, fixed: Array, x: Array, v: Array
) -> list[tuple[float, float]]:
    """Turns about parallel axes k and k2 with R(k, a0)(fixed + R(k2, a1) x) = v, across k."""
    second = subproblem3(k2, fixed, x, v, pose.nothing)
    if second is None:
        second = [pose.any(joints[1])]
    found = []
    for a1 in second:
        a0 = subproblem1(k, fixed + turned(k2, a1, x), v, pose.nothing)
        if a0 is None:  # folded up: both are the same
            return [(pose.any(joints[0]), a1)]
        found.append((a0, a1))
    return found
