"""Why a solve failed: claims that were tried out, not guessed, by a bounded number of further solves.

In this order: the distance certificate (the solver's own), what no joint moves, limits (free them and see), conflict
(each task alone, or each part of one), singularity (stationary though not met, with a vanishing singular value). Else
MAX_ITERATIONS.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from copy import copy
from typing import Any, Protocol

import numpy as np

from ...robokin.arrays import Array, within_size
from ...robokin.model.limits import PositionLimits
from ...robokin.model.robot import RobotModel
from ..random_numbers import SplitMix64
from ..results import Diagnosis, Status
from ..tasks import Task
from ..tasks.clearance import ClearanceTask
from ..tasks.tips.frame import FrameTask
from .unmoved import out_of_all_poses

STATIONARY = 1e-4  # |J'e| <= this * |e|, both scaled as in the solve
SINGULAR_VALUE = 1e-3  # of the scaled Jacobian; smaller ones count as 0
AROUND, AROUND_POSES = 0.1, 8  # radians or L: as far around a pose, it is looked what rank the rows have
UNMOVED_BY = 1.01  # tolerances: what is missing in every pose, to be reported
NOT_MOVED, NOT_TURNED = "no joint moves it there", "no joint turns it so"
MISSED_INSIDE = "a pose inside the limits meets it, which the search missed: start from another pose"
LOST_MOTION = "the joints have lost a motion, as an arm that is stretched out"
BUDGET = 24  # further solves of a diagnosis, at most, and
LOOKS = 8  # more before it is claimed that limits or levels are why
_MOST_TRIMMED = 12  # names that are tried one by one for being unnecessary


class Search(Protocol):
    """How a problem is searched, as far as a diagnosis asks. targets: resolved ones."""

    def excess(self, targets: Any) -> Array:
        """(tasks,) metres by which each target is farther than can be reached; 0 where that is not known."""

    def depends(self) -> Array:
        """(nq,) bool, the coordinates that the tasks depend on."""

    def drawn(self, q: Array, generator: SplitMix64) -> Array:
        """(nq,) random in what the tasks depend on, as q in the rest."""

    def reached(self, targets: Any, q: Array, seed: int) -> Array | None:
        """(nq,) a pose that meets all tasks, found from q (nq,); None when none was."""

    def met(self, targets: Any, q: Array) -> Array:
        """(tasks,) bool, which tasks are known to be met at q (nq,), each as a whole."""

    def only_pose(self, targets: Any, q: Array) -> Array | None:
        """(nq,) q with the joint values that tasks ask for, where these leave no other pose; else None."""

    def linearised(self, targets: Any, q: Array) -> tuple[Array, Array, list[Array]]:
        """e (m,) and J (m, n) of the rows that count, in the scale of the solve, and their J around q (`around`); of
        levels, of the first one that is not met, in the motions that those above leave."""


class Problem(Protocol):
    """What can be diagnosed: a solver's problem that can be solved again with fewer limits or tasks."""

    model: RobotModel
    limits: PositionLimits

    @property
    def turn(self) -> AbstractContextManager[Any]: ...

    @property
    def search(self) -> Search: ...

    @property
    def tasks(self) -> Sequence[Task]: ...

    @property
    def tolerance(self) -> Array:
        """(tasks, 2) of each task's parts."""

    def limits_active(self, q: Array) -> tuple[str, ...]: ...

    def without_limits(self, coordinates: Sequence[int]) -> Problem: ...

    def some_tasks(self, indices: Sequence[int]) -> Problem: ...

    def of(self, tasks: Sequence[Task]) -> Problem: ...


class _Trials:
    """Further solves for one diagnosis, of a budget."""

    def __init__(self, seed: int) -> None:
        self.seed, self.remaining = seed, BUDGET

    def reached(self, problem: Problem, targets: Any, q: Array) -> Array | None:
        """A pose (nq,) that meets all tasks; None when none was found, or the budget is spent."""
        self.remaining -= 1
        return problem.search.reached(targets, within_size(q), self.seed) if self.remaining >= 0 else None


def describe(problem: Problem, status: Status, targets: Any, residuals: Array, attempts: int) -> Diagnosis:
    """What a solve that did not converge says without further solves."""
    if status is Status.OUT_OF_REACH:
        return _out_of_reach(problem, targets)
    worst = _worst(problem, residuals)
    return Diagnosis(Status.MAX_ITERATIONS, f"not met after {attempts} attempt{'s'[: attempts - 1]}; {worst}")


def explain(
    problem: Problem, status: Status, targets: Any, q: Array, residuals: Array, seed: int, attempts: int
) -> Diagnosis:
    """The diagnosis of a solve that did not converge; q: (nq,) its best configuration, of so many attempts."""
    with problem.turn:
        found = None if status is Status.OUT_OF_REACH else _found(problem, targets, q, residuals, seed)
        return found or describe(problem, status, targets, residuals, attempts)


def _found(problem: Problem, targets: Any, q: Array, residuals: Array, seed: int) -> Diagnosis | None:
    trials = _Trials(seed)
    found = (
        _unmoved(problem, targets)
        or _collision(problem, targets, q, trials)
        or _limits(problem, targets, q, trials)
        or _conflict(problem, targets, q, residuals, trials)
        or _singular(problem, targets, q, _worst(problem, residuals))
    )
    if found and found.status in (Status.LIMIT, Status.TASK_CONFLICT) and _is_met_inside(problem, targets, q, seed):
        return Diagnosis(Status.MAX_ITERATIONS, MISSED_INSIDE)
    return found


def _is_met_inside(problem: Problem, targets: Any, q: Array, seed: int) -> bool:
    """Whether another pose inside the limits meets all tasks after all. Asked of levels alone, whose search ends after
    few attempts that are alike: from narrow limits it misses one pose in a thousand."""
    search = problem.search
    if len({task.priority for task in problem.tasks}) < 2:
        return False
    if search.only_pose(targets, q) is not None:  # wherever it is searched from
        return search.reached(targets, q, seed) is not None
    generator = SplitMix64(seed)
    starts = (search.drawn(within_size(q), generator) for _ in range(LOOKS))
    return any(search.reached(targets, start, seed + number) is not None for number, start in enumerate(starts, 1))


def _worst(problem: Problem, residuals: Array) -> str:
    index = int(np.argmax((residuals / problem.tolerance).max(axis=1)))
    task = problem.tasks[index]
    parts = zip(residuals[index], task.parts, strict=False)
    off = " and ".join(f"{value:.3g} {part.unit}".rstrip() for value, part in parts)
    return f"{task.name} is off by {off}"


def _out_of_reach(problem: Problem, targets: Any) -> Diagnosis:
    excess = problem.search.excess(targets).tolist()
    names = tuple(task.name for task, own in zip(problem.tasks, excess, strict=True) if own > 0.0)
    reason = f"at least {max(excess):.3g} m farther than the links are long: {', '.join(names)}"
    return Diagnosis(Status.OUT_OF_REACH, reason, tasks=names)


def _unmoved(problem: Problem, targets: Any) -> Diagnosis | None:
    """OUT_OF_REACH, where what no joint moves of a task is farther off than its tolerance."""
    for task, target, tolerance in zip(problem.tasks, targets, problem.tolerance, strict=True):
        if not (isinstance(task, FrameTask) and task.is_in_kernel and task.influence):
            continue
        least = out_of_all_poses(problem.model, task, target)
        for own, most, what, unit in zip(least, tolerance, (NOT_MOVED, NOT_TURNED), ("m", "rad"), strict=True):
            if own > UNMOVED_BY * most:
                reason = f"{what}, {own:.3g} {unit} are missing in every pose: {task.name}"
                return Diagnosis(Status.OUT_OF_REACH, reason, tasks=(task.name,))
    return None


# -- collisions --------------------------------------------------------------------------------------------------------


def _collision(problem: Problem, targets: Any, q: Array, trials: _Trials) -> Diagnosis | None:
    """COLLISION when it converges without the clearance; named are the two that are nearest in the pose then found."""
    at, clearance = next(((i, t) for i, t in enumerate(problem.tasks) if isinstance(t, ClearanceTask)), (-1, None))
    if clearance is None:
        return None
    others, there = [i for i in range(len(problem.tasks)) if i != at], None if len(problem.tasks) > 1 else q
    if others:
        there = trials.reached(problem.some_tasks(others), [targets[i] for i in others], q)
    near = None if there is None else clearance.nearest(there, targets[at])
    if near is None:
        return None
    met = f"its tasks are met where {near.sentence()}" if others else near.sentence()
    return Diagnosis.collision(near, f"{met}: no pose was found that keeps the margin")


# -- limits ------------------------------------------------------------------------------------------------------------


def _limits(problem: Problem, targets: Any, q: Array, trials: _Trials) -> Diagnosis | None:
    """LIMIT when freeing bounds makes it converge; named are joints that a pose then found takes beyond them, as few as
    were found to suffice. MAX_ITERATIONS when from there, or so, a pose inside is found after all."""
    model, limits, depends = problem.model, problem.limits, problem.search.depends()

    def coordinates(name: str) -> list[int]:
        own = model.slot(name).q
        return list(range(own.start, own.stop))

    def beyond(q: Array) -> list[str]:
        outside = limits.beyond(q)
        return [joint.name for joint in model.moving_joints if outside[coordinates(joint.name)].any()]

    def without(names: Sequence[str], start: Array) -> Array | None:
        freed = problem.without_limits([i for name in names for i in coordinates(name)])
        return trials.reached(freed, targets, start)

    bounded = [
        joint.name
        for joint in model.moving_joints
        if limits.is_bounded([i for i in coordinates(joint.name) if depends[i]])
    ]
    there = without(bounded, q) if bounded else None
    if there is None:
        return None
    names = beyond(there)
    at_bound = [name for name in problem.limits_active(q) if name in bounded]
    if 0 < len(at_bound) < len(names):
        nearer = without(at_bound, q)
        if nearer is not None:
            there, names = nearer, beyond(nearer)
    for name in names[:_MOST_TRIMMED]:
        fewer = [other for other in names if other != name]
        if name not in names or not fewer:
            continue
        found = without(fewer, there)
        if found is not None:
            there, names = found, beyond(found)
    if not names or trials.reached(problem, targets, limits.clamp(there)) is not None:
        return Diagnosis(Status.MAX_ITERATIONS, MISSED_INSIDE)
    locked, own = ([name for name in names if (name in model.locked) is wanted] for wanted in (True, False))
    past = f" beyond the {'limit' if len(own) == 1 else 'limits'} of {', '.join(own)}" if own else ""
    moved = f" that moves {', '.join(locked)}, which {'is' if len(locked) == 1 else 'are'} locked," if locked else ""
    reason = f"a pose{past}{moved} meets it, none {'inside' if own else 'else'} was found"
    return Diagnosis(Status.LIMIT, reason, joints=tuple(names))


# -- tasks -------------------------------------------------------------------------------------------------------------


def _conflict(problem: Problem, targets: Any, q: Array, residuals: Array, trials: _Trials) -> Diagnosis | None:
    """TASK_CONFLICT when every task alone converges; as few tasks are named as were found to conflict."""
    met = problem.search.met(targets, q)

    def conflict(indices: list[int]) -> bool:
        if met[indices].all():
            return False
        own = [targets[index] for index in indices]
        return trials.reached(problem.some_tasks(indices), own, q) is None

    farthest = np.argsort(-(residuals / problem.tolerance).max(axis=1), kind="stable").tolist()
    counting = [index for index in farthest if problem.tasks[index].influence]
    alone = next((index for index in counting if len(counting) == 1 or conflict([index])), None)
    if alone is not None:
        return _conflict_of_parts(problem, targets, q, alone, trials)
    kept = sorted(counting)
    for index in counting[::-1][:_MOST_TRIMMED]:  # what is met is the least likely to be to blame
        fewer = [other for other in kept if other != index]
        if len(fewer) > 1 and conflict(fewer):
            kept = fewer
    names = tuple(problem.tasks[index].name for index in kept)
    reason = f"each alone can be met, no pose was found for all: {', '.join(names)}"
    return Diagnosis(Status.TASK_CONFLICT, reason, tasks=names)


def _conflict_of_parts(problem: Problem, targets: Any, q: Array, index: int, trials: _Trials) -> Diagnosis | None:
    """TASK_CONFLICT of a task with itself, when its position alone converges, and its orientation alone."""
    task = problem.tasks[index]
    if not (isinstance(task, FrameTask) and task.position_weights.any() and task.orientation_weights.any()):
        return None
    for weights in ("orientation_weights", "position_weights"):
        part = copy(task)
        setattr(part, weights, np.zeros(3))
        if trials.reached(problem.of([part]), [targets[index]], q) is None:
            return None
    reason = f"its position alone can be met, and its orientation alone, no pose was found for both: {task.name}"
    return Diagnosis(Status.TASK_CONFLICT, reason, tasks=(task.name,))


# -- singularity -------------------------------------------------------------------------------------------------------


def _singular(problem: Problem, targets: Any, q: Array, worst: str) -> Diagnosis | None:
    """Stationary, and J has lost rank against all poses around, or nothing moves the tasks anywhere. So rows that no
    motion of the robot changes say nothing, nor those that only some poses have, as past the end of a curve. Where the
    joints have too few motions everywhere, the reason says so."""
    e, J, others = problem.search.linearised(targets, q)
    if np.linalg.norm(J.T @ e) > STATIONARY * np.linalg.norm(e):
        return None
    own, ranks = rank(J), [rank(other) for other in others]
    if not own and not any(ranks):
        return Diagnosis(Status.SINGULAR, f"no joint moves it; {worst}")
    usual = min(ranks, default=0)
    if own >= usual:
        few = f"no small motion brings it nearer: it asks for {len(e)} motions, the joints have {own}; {worst}"
        return Diagnosis(Status.MAX_ITERATIONS, few) if own < len(e) else None
    values = np.linalg.svd(J, compute_uv=False)
    least = values[usual - 1] if usual <= len(values) else 0.0
    return Diagnosis(Status.SINGULAR, f"{LOST_MOTION} (least singular value {least:.2g}); {worst}")


def rank(J: Array) -> int:
    """How many singular values of J, in the scale of a solve, are not as good as 0."""
    return int((np.linalg.svd(J, compute_uv=False) > SINGULAR_VALUE).sum())


def around(nv: int) -> Array:
    """(poses, nv) displacements, dimensionless, to poses around one: of every coordinate, by a like amount."""
    rng = np.random.default_rng(0)
    return AROUND * rng.choice([-1.0, 1.0], (AROUND_POSES, nv)) * rng.uniform(0.5, 1.5, (AROUND_POSES, nv))
