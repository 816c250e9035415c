"""Inverse kinematics in one call: the kernel's solver where it knows the tasks, else the hierarchy."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from ..robokin.backend import get_backend
from ..robokin.model import RobotModel
from .criteria import Criterion, checked_criteria
from .criteria.base import costs
from .hierarchical_ik import HierarchicalIK, part_names
from .ik import IKProblem
from .influence import partial
from .progress import finish
from .recent_problems import RecentProblems, own_copies
from .results import SolveResult
from .task_levels import TaskLevels, checked_tasks
from .tasks import Task
from .tasks.frame import is_plain_task

Array = np.ndarray


def solve_ik(
    model: RobotModel,
    tasks: Sequence[Task],
    q0: Array | None = None,
    seed: int = 0,
    backend: str = "auto",
    attempts: int | None = None,
    criteria: Sequence[Criterion] = (),
    diagnose: bool = True,
) -> SolveResult:
    """Solve once. Tasks of any kind and priority, criteria for the freedom that they leave.

    Tasks on one tip, of one priority and without criteria, go to `IKProblem`, everything else to `HierarchicalIK`;
    arguments, result and errors are described there. `IKProblem`s whose tasks differ in their targets only are
    compiled once. Tasks of influence 0 and criteria of weight 0 change nothing; of the latter the costs are told.
    """
    return finish(solve_ik_steps(model, tasks, q0, seed, backend, attempts, criteria, diagnose))


def solve_ik_steps(
    model: RobotModel,
    tasks: Sequence[Task],
    q0: Array | None = None,
    seed: int = 0,
    backend: str = "auto",
    attempts: int | None = None,
    criteria: Sequence[Criterion] = (),
    diagnose: bool = True,
) -> Generator[float, None, SolveResult]:
    """`solve_ik` that yields the share of the work done (0..1) now and then, where it takes long."""
    given = checked_tasks(tasks)
    preferred = () if criteria is None else checked_criteria(criteria)
    engine = get_backend(backend).name, attempts
    recent = None if preferred else _recent.find(model, given, (), engine)
    if recent is not None:
        return recent.problem.solve(np.array(recent.targets).reshape(-1, 4, 4), q0, seed, diagnose)
    checked = tuple(task for task in given if task.influence) or given
    if len(checked) < len(given):
        found = yield from solve_ik_steps(model, checked, q0, seed, backend, attempts, criteria, diagnose)
        return found.among([bool(task.influence) for task in given], part_names(given))
    if preferred and not any(criterion.weight for criterion in preferred):
        found = yield from solve_ik_steps(model, checked, q0, seed, backend, attempts, (), diagnose)
        levels = TaskLevels(model, checked, backend)
        found.costs = costs(preferred, levels.state(found.q, levels.targets, 1.0), np.zeros(model.nv))
        return found
    if not preferred and is_plain(checked):
        recent = _recent.get(
            lambda own, _: IKProblem(model, own, backend=backend, attempts=attempts), model, checked, (), engine
        )
        return recent.problem.solve(np.array(recent.targets).reshape(-1, 4, 4), q0, seed, diagnose)
    problem = HierarchicalIK(model, own_copies(checked), own_copies(preferred), backend, attempts)
    return (yield from problem.solve_steps(q0=q0, seed=seed, diagnose=diagnose))


_recent: RecentProblems[IKProblem] = RecentProblems()


def is_plain(tasks: Sequence[Task]) -> bool:
    """Whether the kernel's solver and tracker know the tasks: whole, on one tip each, of one priority, no bands."""
    return all(map(is_plain_task, tasks)) and len({task.priority for task in tasks}) <= 1 and not partial(tasks)
