"""What every task has, and the one form in which solvers see it: rows lower <= J v dt <= upper.

A task has one or two parts, named residuals with a unit and a tolerance each ("position" [m] and "orientation" [rad]
of a pose); results report a number for each. Rows of lengths are divided by the robot's length L where they meet rows
of angles; a task states them in its own units.
To add a kind of task: one class with `kind`, `parts`, `checked_target` and `rows`, its file in this folder. What only
velocities, targets counted from the start, tasks with a history or the kernel need is in `protocols.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel
from ..alike import is_own
from ..fixed_arrays import FREE, Checks, FixedArrays, fixed_new, fixed_value
from ..kinematics.state import State
from .checks import level, share
from .task_jacobian import TaskJacobian

Forms = Mapping[str, str]


@dataclass(frozen=True)
class Part:
    """A residual of a task. unit: "m", "rad", "m/s", "rad/s", or "" of a number.
    tolerance: in that unit; met when within it."""

    name: str
    unit: str
    tolerance: float

    @property
    def is_length(self) -> bool:
        return self.unit.startswith("m")

    @property
    def is_rate(self) -> bool:
        return self.unit.endswith("/s")


@dataclass(frozen=True, eq=False)
class Rows:
    """What a task asks of the motion v dt (nv,) of a step: lower <= J v dt <= upper, equal sides for equations.

    J: (m, nv).   lower, upper: (m,) in metres and radians, one of them finite.   weight: (m,) positive.
    part: (m,) index of the part that each row belongs to.
    path_direction: (m,) of the path that a velocity goes along, in the units of the rows. The residual along it comes
    after all else that its level asks for, so that limits slow down a motion, and do not lead it off its path. None:
    there is no path.
    """

    J: Array
    lower: Array
    upper: Array
    weight: Array
    part: Array
    path_direction: Array | None = None

    @classmethod
    def wanted(cls, J: Array, e: Array, weight: Array, part: object, band: object = 0.0) -> Rows:
        """J v dt = e up to `band` (m,) or (): inside it nothing is asked for. Rows of weight 0 are left out."""
        used = weight > 0.0
        e, band = e[used], np.full(e.shape, band, float)[used]
        return cls(J[used], e - band, e + band, weight[used], np.full(used.shape, part, int)[used])

    @classmethod
    def within(cls, J: Array, e: Array, weight: float, part: int, radius: float) -> Rows:
        """|e| at most `radius` where J v dt reduces e (k,): one row, along e."""
        size = np.linalg.norm(e)
        # In the middle, the way out may be any.
        n = e / size if size > 0.0 else np.eye(len(e))[np.argmax((J * J).sum(axis=1))]
        return cls.wanted((n @ J)[None], np.array([size]), np.array([weight]), part, radius)

    @classmethod
    def none(cls, nv: int) -> Rows:
        return cls(np.zeros((0, nv)), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, int))

    @property
    def e(self) -> Array:
        """(m,) the residual before the step: 0 inside a band."""
        return self.residual(np.zeros(len(self.J)))

    def less(self, remaining: Array) -> Rows:
        """Rows that do not ask for `remaining` (m,)."""
        return replace(self, lower=self.lower - remaining, upper=self.upper - remaining)

    def weighted(self, factor: float) -> Rows:
        return replace(self, weight=factor * self.weight)

    def residual(self, moved: Array) -> Array:
        """(m,) the residual of J v dt = `moved`: positive where it should be larger."""
        return np.clip(moved, self.lower, self.upper) - moved


class Task(FixedArrays, ABC):
    """Base of all tasks. Another target, in the task's own terms, can be set at any time, any other attribute until a
    problem is made of the task (`fixed_arrays.py`).

    kind: its word in files and on the command line.   forms: {argument: how it is written there} where the types of
    `__init__` do not say it (`cli/text/task_fields.py` has the forms).   parts: its residuals.
    target: checked, see `checked_target`.   name: how reports call it.
    priority: its level, 1 first; a level is met as nearly as those before it allow.
    influence: 0 to 1: with 1 it is whole, with 0 as if it were not there, between them partly so (`influence.py`); the
    weights of its rows are multiplied by it.   Raises TaskError.
    """

    kind: ClassVar[str]
    forms: ClassVar[Forms] = {}
    checks: ClassVar[Checks] = {"priority": level, "influence": share}
    is_comparable: ClassVar[bool] = True  # its residuals in two poses have the same axes
    has_length_alone: ClassVar[bool] = False  # where they have not: only the length of each part says something
    parts: tuple[Part, ...]
    priority: int
    influence: float
    target: Any

    def __init__(self, name: str, priority: int, influence: float) -> None:
        self._keep(
            name=name,
            priority=level(priority, f"{name}: priority"),
            influence=share(influence, f"{name}: influence"),
        )

    def __setattr__(self, name: str, value: object) -> None:
        if name == FREE and FREE in vars(self):
            self._set_target(value)
        else:
            super().__setattr__(name, value)

    def _set_target(self, target: object) -> None:
        """In its checked form."""
        checked = self.checked_target(target)
        self.__dict__[FREE] = fixed_new(checked) if is_own(type(self)) else fixed_value(checked, False)

    @abstractmethod
    def checked_target(self, target: object) -> Any:
        """The form that `rows` takes of a target given in the task's own terms. Raises TaskError."""

    @abstractmethod
    def rows(self, state: State, target: Any) -> Rows:
        """The rows at a state, towards a checked target."""

    def task_jacobian(self, state: State, target: Any) -> TaskJacobian | None:
        """What its equations see of the velocity, without residuals and weights; None: no more is known than
        `rows` says at a state."""
        return None

    def check(self, model: RobotModel) -> None:
        """Raises a RobokinError when the robot has not what the task needs."""

    def points(self, model: RobotModel) -> Sequence[tuple[str, Array]]:
        """(link, point (3,) in it) whose motions the task's lengths are: how the length L is found."""
        return ()

    def __repr__(self) -> str:
        return f"<{self.name}>"


def states_rows_of(kind: type[Task], method: str) -> bool:
    """Whether `method`, which tells the rows otherwise, is of the class that states them: of a class of other makers,
    which may have changed them, only when it tells so itself."""
    return is_own(kind) or method in vars(kind)


def residuals(task: Task, rows: Rows, residual: Array, dt: float) -> Array:
    """(2,) the norm of the residual of each part, in its unit; the second is 0 for a task of one part.

    residual: (m,) of its rows.   dt: of the step, for rates.
    """
    found = np.zeros(2)
    for i, part in enumerate(task.parts):
        found[i] = np.linalg.norm(residual[rows.part == i]) / (dt if part.is_rate else 1.0)
    return found


def checked_targets(tasks: Sequence[Task], targets: object) -> list[Any]:
    """One per task, each in its task's own terms. Raises TaskError."""
    try:
        given = list(targets)  # type: ignore[call-overload]
    except TypeError:
        raise TaskError(f"targets must be one per task, not {shown(targets)}") from None
    if len(given) != len(tasks):
        raise TaskError(f"there are {len(tasks)} tasks but {len(given)} targets")
    return [task.checked_target(target) for task, target in zip(tasks, given, strict=True)]
