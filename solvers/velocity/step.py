"""The differential step: the velocity that meets tasks of strict priorities inside all limits, and with the freedom
that is left serves the criteria."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...robokin.backend import get_backend
from ...robokin.model.robot import RobotModel
from ..criteria import Criterion, checked_criteria
from ..tasks import Task
from .constraint import VelocityConstraint
from .problem import StepLevel, VelocityProblem, VelocityStep
from .recent_problems import RecentProblems
from .task_levels import checked_tasks


def velocity_step(
    model: RobotModel,
    q: object,
    tasks: Sequence[Task],
    criteria: Sequence[Criterion] = (),
    dt: float = 1.0 / 24.0,
    previous: object | None = None,
    constraints: Sequence[VelocityConstraint] = (),
    damping: float = 0.0,
    backend: str = "auto",
) -> VelocityStep:
    """The velocity v (nv,) of the next `dt` seconds from q (nq,); q moves on to integrate(model, q, v * dt).

    tasks: met in the order of their `priority`; a lower one moves nothing that a higher one asks for.
    criteria: what to prefer in the freedom that is left; the least velocity when there are none.
    previous: (nv,) velocity of the last step, for acceleration limits; 0 unless given. These give way where a floating
    joint stops at its position bounds, and where a joint that is outside its limits comes back.
    damping: (dimensionless) added to the squared singular values of every level of tasks. With 0 tasks are met exactly
    where they can be, at any speed that the limits allow, but for directions that move a level by less than 1e-6 of
    what its rows can, which are held still; 1e-4 or more keeps slow what is nearly singular.
    Tasks of influence 0 and criteria of weight 0 change nothing.
    Calls with tasks and criteria that are alike, but for the tasks' targets, are compiled once.
    Raises TaskError, ConfigurationError, UnknownNameError, ModelError, BackendError.
    """
    try:
        parts = tuple(tasks), tuple(criteria)
    except TypeError:
        parts = checked_tasks(tasks), checked_criteria(criteria)  # say what is wrong
    key = model, *parts, dt, damping, get_backend(backend).name
    recent = _recent.find(*key)
    if recent is None:
        counting = [bool(getattr(task, "influence", True)) for task in parts[0]]
        weighted = tuple(criterion for criterion in parts[1] if getattr(criterion, "weight", True))
        if any(counting) and (not all(counting) or len(weighted) < len(parts[1])):
            kept = [task for task in checked_tasks(parts[0]) if task.influence]
            found = velocity_step(model, q, kept, weighted, dt, previous, constraints, damping, backend)
            return _among(found, counting)
        recent = _recent.get(*key)
    return recent.problem.step_towards(recent.targets, q, previous, constraints)


def _among(step: VelocityStep, counting: Sequence[bool]) -> VelocityStep:
    """The step for the tasks that count, as one for all: the others have no residual."""
    for name in ("residuals", "errors"):
        every = np.zeros((len(counting), 2))
        every[np.array(counting, bool)] = getattr(step, name)
        setattr(step, name, every)
    return step


_recent = RecentProblems(VelocityProblem)


__all__ = ["StepLevel", "VelocityConstraint", "VelocityProblem", "VelocityStep", "velocity_step"]
