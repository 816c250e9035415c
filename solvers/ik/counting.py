"""What counts of a problem: tasks with influence 0, and criteria of which none has a weight, change nothing."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Sequence
from typing import Any, Protocol

import numpy as np

from ...robokin.arrays import Array
from ..criteria import Criterion
from ..criteria.base import costs
from ..results import SolveResult, part_names
from ..tasks import Task
from ..tasks.influence import checked_shares
from ..velocity.task_levels import TaskLevels


class Solved(Protocol):
    """What is asked of an `IKProblem`."""

    tasks: tuple[Task, ...]
    criteria: tuple[Criterion, ...]

    def solve_steps(
        self, targets: object, q0: object, seed: int, diagnose: bool, influence: Any, without: Array | None
    ) -> Generator[float, None, SolveResult]: ...


def what_counts(
    tasks: Sequence[Task], criteria: Sequence[Criterion], counts: Sequence[bool]
) -> tuple[Sequence[Task], Sequence[Criterion]] | None:
    """The tasks and criteria that change anything; None where it is all of them, or no task has an influence.
    counts: which tasks have one."""
    own = list(itertools.compress(tasks, counts)) or tasks
    preferred = criteria if any(criterion.weight for criterion in criteria) else ()
    return None if len(own) == len(tasks) and len(preferred) == len(criteria) else (own, preferred)


def counting_steps(
    whole: Solved,
    levels: TaskLevels,
    counting: Solved,
    counts: Sequence[bool],
    targets: object,
    q0: object,
    seed: int,
    diagnose: bool,
    influence: object,
    without: Array | None,
) -> Generator[float, None, SolveResult]:
    """Solve the problem of what counts, with the result of the whole one. Arguments as in `IKProblem.solve`."""
    is_own = counts if len(counting.tasks) < len(whole.tasks) else [True] * len(counts)
    given = levels.checked_targets(targets), checked_shares(whole.tasks, influence)
    aims, shares = (list(itertools.compress(each, is_own)) for each in given)
    found = yield from counting.solve_steps(aims, q0, seed, diagnose, shares, without)
    if len(counting.criteria) < len(whole.criteria):
        state = levels.state(found.q, given[0], 1.0)
        found.costs = costs(whole.criteria, state, np.zeros(levels.model.nv))
    return found.among(is_own, part_names(whole.tasks))
