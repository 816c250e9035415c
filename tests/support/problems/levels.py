"""Problems of tasks on tips, solved as those of levels are."""

from __future__ import annotations

from collections.abc import Sequence

from robokin_addon.robokin import RobotModel
from robokin_addon.solvers import IKProblem, Task


def in_levels(model: RobotModel, tasks: Sequence[Task], **options) -> IKProblem:
    """The problem without its fast case."""
    problem = IKProblem(model, tasks, **options)
    problem.search = problem.level_search
    return problem
