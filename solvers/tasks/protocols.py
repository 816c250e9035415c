"""What only some tasks state, one small protocol each. A class adds a protocol as a further base.

Velocities: `VelocityTask`. Targets counted from the start: `StartRelativeTask`. Tasks that depend on the frames before:
`HistoryTask`. Curves: `PiecewiseTask`. Faster answers: `DistanceBoundTask`, and for the kernel `KernelTipTask`,
`KernelRobotTask`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.robot import RobotModel
from ..kinematics.state import State
from .base import Rows, Task
from .robot_rows import task_jacobian_of
from .task_jacobian import TaskJacobian

if TYPE_CHECKING:
    from .tip_rows import TipForm

GAUSS = ((5.0 / 18.0, 0.5 - 0.15**0.5), (8.0 / 18.0, 0.5), (5.0 / 18.0, 0.5 + 0.15**0.5))


@dataclass(frozen=True, eq=False)
class Displacement:
    """A frame of a motion so far: from one state to another, by a displacement (nv,)."""

    start: State
    end: State
    by: Array

    @cached_property
    def between(self) -> list[tuple[float, State]]:
        """Weights and states of Gauss and Legendre's three points: means along the displacement, to its sixth power."""
        return [(weight, self.start.moved(share * self.by)) for weight, share in GAUSS]


class VelocityTask(Task):
    """A task that asks for a velocity: no single pose can meet it. Its target counts anew in each frame."""

    has_path: bool = False  # its rows have a path direction

    def rows_after(self, moved: Displacement, target: Any) -> Rows:
        """What is missing of the velocity at the end of `moved`. Here with the mean of J along the displacement: rows
        that are the velocity of something sum up to how far it went, so nothing drifts."""
        rows = self.rows(moved.start, target)
        J = np.sum([weight * self.rows(state, target).J for weight, state in moved.between], axis=0)
        return replace(rows, J=J).less(J @ moved.by)

    def start_jacobian(self, moved: Displacement, target: Any) -> Array | None:
        """(m, nv) J of `rows_after` along the displacement of where the frame begins; None: by differences."""
        return None

    def start_task(self, target: Any) -> Task | None:
        """A pose task for the best first pose of a motion; None where any pose will do."""
        return None


class StartRelativeTask(Task):
    """A task whose target is counted from where a solve or a motion starts."""

    # False: it counts from the first pose that is found; True: from where the robot stood before.
    is_counted_from_start: ClassVar[bool] = True

    @abstractmethod
    def resolve_target(self, state: State, target: Any) -> Any:
        """The checked target of a solve or a motion that starts at `state`."""


class HistoryTask(Task):
    """A task that depends on the frames before: its motions are followed frame by frame."""

    def advance_target(self, target: Any, last: Any) -> Any:
        """The checked target of a frame, given that of the frame before."""
        return target

    def reached(self, moved: Displacement, target: Any) -> Any:
        """The checked target after its frame, in the form that `advance_target` takes as `last`."""
        return target

    def anew(self, target: Any) -> Any:
        """The checked target without what the frames before made of it."""
        return target

    def is_left(self, before: State, after: State, target: Any) -> bool:
        """Whether a frame meets the task only by leaving the motion that it asks for; `failure_note` says why."""
        return False

    def failure_note(self, states: Sequence[State], target: Any) -> str:
        """Why a motion cannot go on from the last of `states`, its last frames; empty when another task is why."""
        return ""


class DistanceBoundTask(Task):
    """A task on one point with a lower bound on its distance, which certifies that it is out of reach."""

    @abstractmethod
    def distance_bound(self, target: Any, centre: Array, reach: float) -> float:
        """[m] lower bound of the miss, while the one point of `points` is never farther than `reach` from `centre`
        (3,) in the root frame; at most 0 where nothing is known. target: resolved."""


class Piece(NamedTuple):
    """A straight piece of a curve. J: (nv,) of the place along it [m].   before, after: [m] how far it goes on."""

    J: Array
    before: float
    after: float


class PiecewiseTask(Task):
    """A task on curves that have corners."""

    @abstractmethod
    def piece(self, state: State, target: Any) -> Piece | None:
        """The straight piece that a state is on; None where a gap leans along it."""

    @abstractmethod
    def piece_target(self, state: State, target: Any, beyond: float) -> Any:
        """The straight piece of `piece` alone as a checked target, longer by `beyond` [m] at both ends; or shorter, by
        a quarter at most."""


class KernelTipTask(Task):
    """A task on tips whose rows the kernel can make (`tip_rows.py`)."""

    @abstractmethod
    def tip_form(self) -> TipForm | None:
        """The task as the kernel takes it; None where the kernel does not know this one."""

    def tip_target(self, target: Any, out: Array) -> bool | None:
        """Write a checked target as the kernel's numbers (16,). Return whether it is counted from where the tip is;
        None for a target that the kernel does not know."""
        if target is None:
            return True
        out.reshape(4, 4)[...] = target
        return False


class KernelRobotTask(Task):
    """A task on the whole robot whose rows the kernel can make (`robot_rows.py`)."""

    @abstractmethod
    def robot_rows(self, model: RobotModel, target: Any) -> Array | None:
        """The rows towards a checked target as records; None where the kernel does not know them."""

    def sides(self, model: RobotModel, rows: Array, target: Any) -> Callable[[Any], tuple[Array, Array]] | None:
        """What takes another checked target and returns the lower and upper sides (m,) of `rows`, which `robot_rows`
        made towards `target`: several times faster. The other one names the same joints. None where more changes."""
        return None

    def rates(self, model: RobotModel) -> Array | None:
        """(k, nv) sums of velocities that rows of kind RATES refer to; None where they change with the configuration,
        so that the kernel does not know the rows."""
        return np.zeros((0, model.nv))

    def task_jacobian(self, state: State, target: Any) -> TaskJacobian | None:
        rows, rates = self.robot_rows(state.model, target), self.rates(state.model)
        return None if rows is None or rates is None else task_jacobian_of(state, rows, rates)


def has_path(task: Task) -> bool:
    return isinstance(task, VelocityTask) and task.has_path


def start_tasks(tasks: Sequence[Task], targets: Sequence[Any], shares: Sequence[float] | Array) -> list[Task]:
    """The pose tasks for the best first pose of a motion that tasks of these influences ask for."""
    asking = zip(tasks, targets, shares, strict=True)
    whole = ((task, target) for task, target, share in asking if share >= 1.0 and isinstance(task, VelocityTask))
    return [pose_task for task, target in whole if (pose_task := task.start_task(target)) is not None]


def is_counted_from_start(task: Task) -> bool:
    return isinstance(task, StartRelativeTask) and task.is_counted_from_start


def resolve_target(task: Task, start: State, target: Any) -> Any:
    """The checked target of any task, in a solve or a motion that starts at `start`."""
    return task.resolve_target(start, target) if isinstance(task, StartRelativeTask) else target


def advance_target(task: Task, target: Any, last: Any) -> Any:
    """The checked target of any task in a frame, given that of the frame before."""
    return task.advance_target(target, last) if isinstance(task, HistoryTask) else target
