"""Influence: a task is whole at 1 and not there at 0. Between, its residual is between 0 and the one
that it would have without it.

With w the influence, t the target and e the residual of the task's rows, a solve or a frame of a motion leaves it

    r = (1 - w) e(p, t),

with p the pose, or the motion from where the task was last whole or out, without it: a tip is at (1 - w) of where it
would be and w of its target. There is no jump at 0, where r asks for nothing, nor at 1. A velocity step, which has no
past, closes the share w of the residual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.errors import TaskError
from . import Part, Rows, Task
from .checks import share


@dataclass(frozen=True, eq=False)
class Remaining:
    """What is not asked for of a task's rows. e: (m,).   part: (m,) index of the part that each belongs to."""

    e: Array
    part: Array

    def lengths(self, parts: Sequence[Part]) -> Array:
        """(parts,) of what is left of each part; 0 where that is within its tolerance."""
        found = [float(np.linalg.norm(self.e[self.part == number])) for number in range(len(parts))]
        return np.array([each if each > part.tolerance else 0.0 for each, part in zip(found, parts, strict=True)])


def is_partial(influence: float) -> bool:
    return 0.0 < influence < 1.0


def checked_shares(tasks: Sequence[Task], influence: object = None) -> list[float]:
    """The influence of each task, given in place of its own or None. Raises TaskError."""
    if influence is None:
        return [task.influence for task in tasks]
    try:
        given = list(influence)  # type: ignore[call-overload]
    except TypeError:
        raise TaskError(f"influence must be one number per task, not {shown(influence)}") from None
    if len(given) != len(tasks):
        raise TaskError(f"there are {len(tasks)} tasks but {len(given)} influences")
    shares = [share(own, f"{task.name}: influence") for task, own in zip(tasks, given, strict=True)]
    for task, own in zip(tasks, shares, strict=True):
        if own and not task.influence:
            raise TaskError(f"{task.name} was made with influence 0 and cannot be given {own:g}: make it with 1")
    return shares


def partial(tasks: Sequence[Task]) -> bool:
    """Whether any of the tasks has a partial influence."""
    return any(is_partial(task.influence) for task in tasks)


def remaining_of(influence: float, without: Rows) -> Remaining:
    """What a task leaves; `without`: its rows where the robot would be without it."""
    return Remaining((1.0 - influence) * without.e, without.part)


def blended(task: Task, rows: Rows, remaining: Remaining) -> Rows:
    """The rows of a task with that not asked for. What cannot be compared between two poses as vectors, is by the
    length of each part: of a beam in one row along it, since motions across leave it as it is."""
    if task.is_comparable and remaining.part.shape == rows.part.shape:
        return rows.less(remaining.e)
    J, lower, upper = rows.J.copy(), rows.lower.copy(), rows.upper.copy()
    for part, allowed in enumerate(remaining.lengths(task.parts)):
        own = np.flatnonzero(rows.part == part)
        e = rows.e[own]
        if task.has_length_alone and allowed > 0.0:
            along = Rows.within(J[own], e, 1.0, part, allowed)
            J[own], lower[own], upper[own] = 0.0, 0.0, 0.0
            J[own[0]], lower[own[0]], upper[own[0]] = along.J[0], along.lower[0], along.upper[0]
        elif length := float(np.linalg.norm(e)):
            share = min(1.0, allowed / length)
            lower[own], upper[own] = lower[own] - share * e, upper[own] - share * e
    return replace(rows, J=J, lower=lower, upper=upper)


def closing_share(rows: Rows, influence: float) -> Rows:
    """The rows of a step that closes the share `influence` of the residual."""
    return rows.less((1.0 - influence) * rows.e) if is_partial(influence) else rows
