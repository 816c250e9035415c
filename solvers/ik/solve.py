"""Inverse kinematics in one call."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.model.robot import RobotModel
from ..criteria import Criterion, checked_criteria
from ..progress import at_once
from ..results import SolveResult
from ..tasks import Task
from ..velocity.recent_problems import RecentProblems
from ..velocity.task_levels import checked_tasks
from .problem import IKProblem
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
    preferred = () if criteria is None else checked_criteria(criteria)
    given = checked_tasks(tasks), preferred, get_backend(backend).name, attempts
    recent = _recent.find(model, *given) or _recent.get(model, *given)
    targets: Any = recent.targets
    if isinstance(recent.problem.search, TipIK):
        targets = np.array(targets)  # checked once is enough: as an array they are left to the engine
    return (yield from recent.problem.solve_steps(targets, q0, seed, diagnose, None, without))


solve_ik = at_once(solve_ik_steps, SolveResult)
_recent = RecentProblems(IKProblem)
