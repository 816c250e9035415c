"""Where a robot would be without tasks of partial influence, which leave a part of what they miss there.

Without one of several it is where the others lead it, each a part of the way from where it is without all of them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Protocol

from ...robokin.arrays import Array
from ..progress import finish
from ..results import SolveResult
from ..tasks import Task
from ..tasks.influence import checked_shares, is_partial

Apart = dict[int | None, Array]


class LevelProblem(Protocol):
    """What is asked of an `IKProblem`."""

    tasks: tuple[Task, ...]

    def inside(self, q0: object) -> Array: ...

    def solve_levels(
        self, targets: object, origin: Array, start: Array, seed: int, diagnose: bool, shares: Any, without: Any
    ) -> Generator[float, None, SolveResult]: ...


def poses_without(
    problem: LevelProblem, targets: object, q0: object, seed: int, influence: object, known: Array | None
) -> Apart:
    """(nq,) where the robot is without each task of partial influence, by its index, and without all of them (None):
    `known`, else solved from q0. Empty where there is no such task. Arguments as in `IKProblem.solve`."""
    shares = checked_shares(problem.tasks, influence)
    return finish(without_steps(problem, targets, problem.inside(q0), seed, shares, known))


def without_steps(
    problem: LevelProblem, targets: object, start: Array, seed: int, shares: Sequence[float], known: Array | None
) -> Generator[float, None, Apart]:
    fading = [i for i, share in enumerate(shares) if is_partial(share)]
    if not fading:
        return {}
    if known is None:
        whole = [0.0 if is_partial(share) else share for share in shares]
        known = (yield from problem.solve_levels(targets, start, start, seed, False, whole, {})).q
    base: Apart = dict.fromkeys([None, *fading], problem.inside(known))
    found = dict(base)
    for i in fading if len(fading) > 1 else ():
        fewer = [0.0 if k == i else share for k, share in enumerate(shares)]
        found[i] = (yield from problem.solve_levels(targets, start, base[i], seed, False, fewer, base)).q
    return found
