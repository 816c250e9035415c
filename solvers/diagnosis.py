"""Why a solve failed: claims that were tried out, not guessed. A bounded number of further solves.

Tried in this order: the distance certificate (the solver's own), limits (free them and see), conflict (each task
alone), singularity (stationary though not met, with a vanishing singular value). Else MAX_ITERATIONS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .ik_reference import linearise
from .results import Diagnosis, Status

if TYPE_CHECKING:
    from .ik import IKProblem

Array = np.ndarray

STATIONARY = 1e-6  # |J'e| <= this * |e|, both scaled as in the solve
SINGULAR_VALUE = 1e-3  # of the scaled Jacobian
_MOST_TRIMMED = 12  # joints tried one by one for being unnecessary


def diagnose(
    problem: IKProblem, status: Status, targets: Array, q: Array, residuals: Array, seed: int, find_reason: bool
) -> Diagnosis:
    """The diagnosis of a solve that did not converge; q: (nq,) its best configuration."""
    worst = _worst(problem, residuals)
    if status is Status.OUT_OF_REACH:
        return Diagnosis(status, f"a target is farther than the robot can reach; {worst}")
    if find_reason:
        return (
            _limits(problem, targets, q, seed)
            or _conflict(problem, targets, q, seed)
            or _singular(problem, targets, q, worst)
            or _unknown(problem, worst)
        )
    return _unknown(problem, worst)


def _unknown(problem: IKProblem, worst: str) -> Diagnosis:
    return Diagnosis(Status.MAX_ITERATIONS, f"not met after {problem.attempts} attempts; {worst}")


def _worst(problem: IKProblem, residuals: Array) -> str:
    index = int(np.argmax((residuals / problem.data.records["tolerance"]).max(axis=1)))
    position, orientation = residuals[index]
    return f"{problem.tasks[index].name} is off by {position:.3g} m and {orientation:.3g} rad"


def _limits(problem: IKProblem, targets: Array, q: Array, seed: int) -> Diagnosis | None:
    """LIMIT when freeing bounds makes it converge; the joints named are few, and were tried as named."""
    bounded = [
        joint.name
        for joint, slot in zip(problem.model.joints, problem.model.slots, strict=True)
        if joint.nq and joint.mimic is None and _is_bounded(problem, slot.q)
    ]
    if not bounded or not _converges_without(problem, bounded, targets, q, seed):
        return None
    names = bounded
    at_bound = problem.limits_active(q)
    if at_bound and _converges_without(problem, at_bound, targets, q, seed):
        names = list(at_bound)
    for name in list(names[:_MOST_TRIMMED]):
        fewer = [other for other in names if other != name]
        if fewer and _converges_without(problem, fewer, targets, q, seed):
            names = fewer
    plural = "the limits of" if len(names) > 1 else "the limit of"
    return Diagnosis(Status.LIMIT, f"{plural} {', '.join(names)} must be widened to meet it", joints=tuple(names))


def _is_bounded(problem: IKProblem, where: slice) -> bool:
    """Whether a joint is among those that the tasks depend on, and has bounds."""
    own = np.arange(where.start, where.stop)
    finite = np.isfinite(problem.lower[own]) | np.isfinite(problem.upper[own])
    return bool((finite & np.isin(own, problem.data.q_index)).any())


def _converges_without(problem: IKProblem, names: Sequence[str], targets: Array, q: Array, seed: int) -> bool:
    lower, upper = problem.lower.copy(), problem.upper.copy()
    for name in names:
        where = problem.model.slot(name).q
        lower[where], upper[where] = -np.inf, np.inf
    freed = type(problem)(
        problem.model, problem.tasks, problem.backend, problem.attempts, problem.iterations, (lower, upper)
    )
    return freed.solve(targets, q, seed, find_reason=False).converged


def _conflict(problem: IKProblem, targets: Array, q: Array, seed: int) -> Diagnosis | None:
    """TASK_CONFLICT when every task alone converges."""
    if len(problem.tasks) < 2:
        return None
    bounds = problem.lower, problem.upper
    for task, target in zip(problem.tasks, targets, strict=True):
        alone = type(problem)(problem.model, [task], problem.backend, problem.attempts, problem.iterations, bounds)
        if not alone.solve(target[None], q, seed, find_reason=False).converged:
            return None
    names = tuple(task.name for task in problem.tasks)
    return Diagnosis(Status.TASK_CONFLICT, f"each alone is met, but not together: {', '.join(names)}", tasks=names)


def _singular(problem: IKProblem, targets: Array, q: Array, worst: str) -> Diagnosis | None:
    data = problem.data
    e, J, _ = linearise(data, problem.tasks, targets, q[data.q_index])
    active = (data.records["weights"] != 0.0).ravel()
    e, J = e[active], J[active] / np.sqrt(data.damping)
    if J.shape[1] == 0 or np.linalg.norm(J.T @ e) > STATIONARY * np.linalg.norm(e):
        return None
    smallest = np.linalg.svd(J, compute_uv=False)[-1] if J.shape[0] <= J.shape[1] else 0.0
    if smallest > SINGULAR_VALUE:
        return None
    return Diagnosis(Status.SINGULAR, f"at a singular configuration (smallest singular value {smallest:.2g}); {worst}")
