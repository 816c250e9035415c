"""Inverse kinematics in one call."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.model.robot import RobotModel
from ..criteria import Criterion, checked_criteria
from ..criteria.base import costs
from ..progress import at_once
from ..results import SolveResult
from ..tasks import Task
from ..velocity.recent_problems import RecentProblems
from ..velocity.task_levels import TaskLevels, checked_tasks
from .problem import IKProblem, part_names
from .tip_ik import TipIK


def solve_ik_steps(
    model: RobotModel,
    tasks: Sequence[Task],
    q0: Array | None = None,
    seed: int = 0,
    backend: str = "auto",
    attempts: int | None = None,
    criteria: Sequence[Criterion] = (),
    diagnose: bool = True,
    without: Array | None = None,
) -> Generator[float, None, SolveResult]:
    """Solve once. Tasks of any kind and priority, criteria for the freedom that they leave.

    Arguments, result and errors are those of `IKProblem`; problems whose tasks differ in their targets only are
    compiled once. Tasks of influence 0 and criteria of weight 0 change nothing; the costs of the latter are reported.
    """
    given = checked_tasks(tasks)
    preferred = () if criteria is None else checked_criteria(criteria)
    engine = get_backend(backend).name, attempts
    recent = _recent.find(model, given, preferred, *engine)
    if recent is None:
        checked = tuple(task for task in given if task.influence) or given
        if len(checked) < len(given):
            found = yield from solve_ik_steps(model, checked, q0, seed, backend, attempts, criteria, diagnose, without)
            return found.among([bool(task.influence) for task in given], part_names(given))
        if preferred and not any(criterion.weight for criterion in preferred):
            found = yield from solve_ik_steps(model, checked, q0, seed, backend, attempts, (), diagnose, without)
            levels = TaskLevels(model, checked, backend)
            state = levels.state(found.q, levels.targets, 1.0)
            found.costs = costs([each for each in preferred if each.fits(state)], state, np.zeros(model.nv))
            return found

        recent = _recent.get(model, checked, preferred, *engine)
    targets: Any = recent.targets
    if isinstance(recent.problem.search, TipIK):
        targets = np.array(targets)  # checked once is enough: as an array they are left to the engine
    return (yield from recent.problem.solve_steps(targets, q0, seed, diagnose, None, without))


solve_ik = at_once(solve_ik_steps, SolveResult)
_recent = RecentProblems(IKProblem)
