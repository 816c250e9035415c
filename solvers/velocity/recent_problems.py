"""Problems of the last calls, so that a call with tasks and criteria like those of one of them compiles nothing."""

from __future__ import annotations

import copy
import operator
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from ...robokin.model.robot import RobotModel
from ..alike import content, is_own
from ..criteria import Criterion
from ..fixed_arrays import settings
from ..tasks import Task

KEPT = 8  # of each thread, since a problem has buffers of its own

Problem = TypeVar("Problem")
AnyPart = TypeVar("AnyPart", Task, Criterion)


def own_copies(parts: Sequence[AnyPart]) -> list[AnyPart]:
    """What a problem is made of, so that what the caller has can be given other attributes; of classes of other makers
    the very objects."""
    return [copy.copy(part) if is_own(type(part)) else part for part in parts]


class Recent(Generic[Problem]):
    """A problem, and what it was made of. wanted: the settings of its tasks and criteria, and what else counts.
    targets: checked, of the tasks that were asked for last; the same list for the same ones."""

    def __init__(self, problem: Problem, model: RobotModel, wanted: list[object]) -> None:
        self.problem, self.model, self.wanted = problem, model, wanted
        self.targets: list[Any] = []

    def towards(self, targets: list[Any]) -> Recent[Problem]:
        last = self.targets
        if len(targets) != len(last) or any(map(operator.is_not, targets, last)):
            self.targets = targets
        return self


class RecentProblems(threading.local, Generic[Problem]):
    """The recent problems of this thread. Tasks and criteria that are equal but for the tasks' targets have the same
    problem. make: one from a model, tasks, criteria and what else counts (`others`: words and floats)."""

    def __init__(self, make: Callable[..., Problem]) -> None:
        self._make = make
        self.entries: list[Recent[Problem]] = []

    def find(
        self, model: RobotModel, tasks: Sequence[Task], criteria: Sequence[Criterion], *others: object
    ) -> Recent[Problem] | None:
        """The problem of these when there is one."""
        wanted = _wanted(tasks, criteria, others)
        for entry in self.entries:
            if entry.model is model and entry.wanted == wanted:
                return entry.towards([task.target for task in tasks])
        return None

    def get(
        self, model: RobotModel, tasks: Sequence[Task], criteria: Sequence[Criterion], *others: object
    ) -> Recent[Problem]:
        """The problem of these, made when there is none. Raises what `make` raises; targets that the robot cannot have
        are found when they are met."""
        found = self.take(model, tasks, criteria, *others)
        self.give_back(found)
        return found

    def take(
        self, model: RobotModel, tasks: Sequence[Task], criteria: Sequence[Criterion], *others: object
    ) -> Recent[Problem]:
        """The problem of these, which no other call finds until it is given back: for what has a state while it is
        used."""
        found = self.find(model, tasks, criteria, *others)
        if found is not None:
            self.entries = [entry for entry in self.entries if entry is not found]
            return found
        # Of copies: the problem is others' too when these are given other attributes.
        problem = self._make(model, own_copies(tasks), own_copies(criteria), *others)
        return Recent(problem, model, _wanted(tasks, criteria, others)).towards([task.target for task in tasks])

    def give_back(self, entry: Recent[Problem]) -> None:
        self.entries = [entry, *self.entries[: KEPT - 1]]


def _wanted(tasks: Sequence[Task], criteria: Sequence[Criterion], others: tuple[object, ...]) -> list[object]:
    return [*map(settings, tasks), None, *map(settings, criteria), None, *map(content, others)]
