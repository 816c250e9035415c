"""Why a solve failed: claims that were tried out, not guessed, by a bounded number of further solves.

In this order: the distance certificate (the solver's own), limits (free them and see), conflict (each task alone),
singularity (stationary though not met, with a vanishing singular value). Else MAX_ITERATIONS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .ik_reference import linearise, out_of_reach
from .results import Diagnosis, Status

if TYPE_CHECKING:
    from .ik import IKProblem

Array = np.ndarray

STATIONARY = 1e-4  # |J'e| <= this * |e|, both scaled as in the solve
SINGULAR_VALUE = 1e-3  # of the scaled Jacobian
_MOST_TRIMMED = 12  # names that are tried one by one for being unnecessary


def diagnose(
    problem: IKProblem, status: Status, targets: Array, q: Array, residuals: Array, seed: int, find_reason: bool
) -> Diagnosis:
    """The diagnosis of a solve that did not converge; q: (nq,) its best configuration."""
    worst = _worst(problem, residuals)
    if status is Status.OUT_OF_REACH:
        return _out_of_reach(problem, targets)
    found = None
    if find_reason:
        found = (
            _limits(problem, targets, q, seed)
            or _conflict(problem, targets, q, seed)
            or _singular(problem, targets, q, worst)
        )
    return found or Diagnosis(Status.MAX_ITERATIONS, f"not met after {problem.attempts} attempts; {worst}")


def _worst(problem: IKProblem, residuals: Array) -> str:
    index = int(np.argmax((residuals / problem.data.records["tolerance"]).max(axis=1)))
    position, orientation = residuals[index]
    return f"{problem.tasks[index].name} is off by {position:.3g} m and {orientation:.3g} rad"


def _out_of_reach(problem: IKProblem, targets: Array) -> Diagnosis:
    excess = out_of_reach(problem.data, targets)
    names = tuple(problem.tasks[i].name for i in np.flatnonzero(excess > 0.0))
    reason = f"at least {excess.max():.3g} m farther than the links are long: {', '.join(names)}"
    return Diagnosis(Status.OUT_OF_REACH, reason, tasks=names)


# -- limits ------------------------------------------------------------------------------------------------------------


def _limits(problem: IKProblem, targets: Array, q: Array, seed: int) -> Diagnosis | None:
    """LIMIT when freeing bounds makes it converge; as few joints are named as were found to suffice."""

    def suffices(names: Sequence[str]) -> bool:
        return _without_limits(problem, names).solve(targets, q, seed, find_reason=False).converged

    names = [
        joint.name
        for joint, slot in zip(problem.model.joints, problem.model.slots, strict=True)
        if joint.nq and joint.mimic is None and _is_bounded(problem, slot.q)
    ]
    if not names or not suffices(names):
        return None
    at_bound = problem.limits_active(q)
    if at_bound and suffices(at_bound):
        names = list(at_bound)
    names = _trimmed(names, 1, suffices)
    them = "the limit of" if len(names) == 1 else "the limits of"
    return Diagnosis(Status.LIMIT, f"{them} {', '.join(names)} must be wider to meet it", joints=tuple(names))


def _is_bounded(problem: IKProblem, where: slice) -> bool:
    """Whether a joint is among those that the tasks depend on, and has a bound."""
    own = np.arange(where.start, where.stop)
    return problem.limits.is_bounded(own[np.isin(own, problem.data.q_index)])


def _without_limits(problem: IKProblem, names: Sequence[str]) -> IKProblem:
    slots = [problem.model.slot(name).q for name in names]
    limits = problem.limits.without([i for slot in slots for i in range(slot.start, slot.stop)])
    return type(problem)(problem.model, problem.tasks, problem.backend, problem.attempts, problem.iterations, limits)


# -- tasks -------------------------------------------------------------------------------------------------------------


def _conflict(problem: IKProblem, targets: Array, q: Array, seed: int) -> Diagnosis | None:
    """TASK_CONFLICT when every task alone converges; as few tasks are named as were found to conflict."""

    def conflict(indices: Sequence[int]) -> bool:
        return not _some_tasks(problem, indices).solve(targets[list(indices)], q, seed, find_reason=False).converged

    indices = list(range(len(problem.tasks)))
    if len(indices) < 2 or any(conflict([index]) for index in indices):
        return None
    names = tuple(problem.tasks[index].name for index in _trimmed(indices, 2, conflict))
    return Diagnosis(Status.TASK_CONFLICT, f"each alone can be met, not together: {', '.join(names)}", tasks=names)


def _some_tasks(problem: IKProblem, indices: Sequence[int]) -> IKProblem:
    tasks = [problem.tasks[index] for index in indices]
    return type(problem)(problem.model, tasks, problem.backend, problem.attempts, problem.iterations, problem.limits)


def _trimmed(items: Sequence, fewest: int, holds) -> list:
    """`items` without those that `holds` does not need, down to `fewest`."""
    kept = list(items)
    for item in kept[:_MOST_TRIMMED]:
        fewer = [other for other in kept if other != item]
        if len(fewer) >= fewest and holds(fewer):
            kept = fewer
    return kept


# -- singularity -------------------------------------------------------------------------------------------------------


def _singular(problem: IKProblem, targets: Array, q: Array, worst: str) -> Diagnosis | None:
    data = problem.data
    e, J, _ = linearise(data, problem.tasks, targets, q[data.q_index])
    active = (data.records["weights"] != 0.0).ravel()
    e, J = e[active], J[active] / np.sqrt(data.damping)
    smallest = np.linalg.svd(J, compute_uv=False).min(initial=np.inf) if J.shape[1] else 0.0
    if np.linalg.norm(J.T @ e) > STATIONARY * np.linalg.norm(e) or smallest > SINGULAR_VALUE:
        return None
    return Diagnosis(Status.SINGULAR, f"in a singular configuration (least singular value {smallest:.2g}); {worst}")
