"""Where a robot would be without tasks of partial influence, which leave a part of what they miss there.

Without one of several it is where the others lead it, each a part of the way from where it is without all of them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from ...robokin.arrays import Array
from ..descent.work import Work
from ..progress import finish
from ..tasks.influence import Remaining, checked_shares, is_partial
from .best_pose import LevelProblem, best_pose, potentials_of

Apart = dict[int | None, Array]


def poses_without(
    problem: LevelProblem, targets: object, q0: object, seed: int, influence: object, known: Array | None
) -> Apart:
    """(nq,) where the robot is without each task of partial influence, by its index, and without all of them (None):
    `known`, else solved from q0. Empty where there is no such task. Arguments as in `IKProblem.solve`."""
    shares = checked_shares(problem.tasks, influence)
    work = work_of(problem, shares, known)
    return finish(without_steps(problem, targets, problem.inside(q0), seed, shares, known, work))


def work_of(problem: LevelProblem, shares: Sequence[float], known: Array | None) -> Work:
    """What a solve may do, with its searches for the poses without tasks of partial influence."""
    fading = sum(map(is_partial, shares))
    searches = 1 + (fading > 0 and known is None) + (fading if fading > 1 else 0)
    return problem.level_search.work(searches, bool(potentials_of(problem)))


def without_steps(
    problem: LevelProblem,
    targets: object,
    start: Array,
    seed: int,
    shares: Sequence[float],
    known: Array | None,
    work: Work,
) -> Generator[float, None, Apart]:
    fading = [i for i, share in enumerate(shares) if is_partial(share)]
    if not fading:
        return {}
    if known is None:
        whole = [0.0 if is_partial(share) else share for share in shares]
        known = (yield from best_pose(problem, targets, start, start, seed, whole, {}, work)).point.q
    base: Apart = dict.fromkeys([None, *fading], problem.inside(known))
    found, several = dict(base), fading if len(fading) > 1 else []
    rest = what_remains(problem, targets, start, shares, base) if several else {}
    for i in several:
        fewer = [0.0 if k == i else share for k, share in enumerate(shares)]
        others = {k: own for k, own in rest.items() if k != i}
        found[i] = (yield from best_pose(problem, targets, start, base[i], seed, fewer, others, work)).point.q
    return found


def what_remains(
    problem: LevelProblem, targets: object, start: Array, shares: Sequence[float], without: Apart
) -> dict[int, Remaining]:
    """What tasks of partial influence do not ask for, of targets that are counted from `start` (nq,)."""
    search = problem.level_search
    return search.remaining(search.levels.checked_targets(targets), start, shares, without)
