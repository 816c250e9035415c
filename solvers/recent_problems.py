"""Problems of the last calls, so that a call with tasks and criteria like those of one of them compiles nothing."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..robokin.model import RobotModel
from .criteria import Criterion
from .fixed_arrays import is_own
from .tasks import Part, Plane, Task

KEPT = 8  # of each thread, since a problem has buffers of its own
PLAIN = frozenset((float, int, str, bool, type(None), Part))

Problem = TypeVar("Problem")
AnyPart = TypeVar("AnyPart", Task, Criterion)


class _Same:
    """Equal to the same object only, which it keeps alive."""

    __slots__ = ("what",)

    def __init__(self, what: object) -> None:
        self.what = what

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.what is other.what

    __hash__ = None  # type: ignore[assignment]


def _content(value: object) -> object:
    """Something that is equal for equal numbers and words, and for the same object of any other kind."""
    if isinstance(value, np.generic):
        value = value.item()
    kind = type(value)
    if kind in PLAIN:
        return value
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.shape, value.dtype, value.tobytes()
    if kind in (tuple, list):
        return kind, [_content(each) for each in value]  # type: ignore[attr-defined]
    if kind in (dict, MappingProxyType):
        return kind, [(_content(key), _content(each)) for key, each in value.items()]  # type: ignore[attr-defined]
    if kind is Plane:
        return kind, [_content(each) for each in vars(value).values()]
    return _Same(value)


def _told(part: Task | Criterion) -> list[str]:
    """The attributes that a problem is compiled from: all of a part of our own but a task's target. Of classes of other
    makers nothing is known."""
    return [name for name in vars(part) if not is_own(type(part)) or (name != "target" and name[0] != "_")]


class _Likeness:
    """What parts must be like."""

    def __init__(self, part: Task | Criterion) -> None:
        self.kind, self.names, self.told = type(part), frozenset(vars(part)), _told(part)
        self.same = None if is_own(self.kind) else part
        content = _content if self.same is None else _Same
        self.values = [(name, value, content(value)) for name, value in vars(part).items() if name in self.told]

    def fits(self, part: Task | Criterion) -> bool:
        if type(part) is not self.kind or (self.same is not None and self.same is not part):
            return False
        given = vars(part)
        if given.keys() != self.names and _told(part) != self.told:
            return False
        for name, known, content in self.values:
            value = given[name]
            if value is not known and (value if type(value) in PLAIN else _content(value)) != content:
                return False
        return True


def own_copies(parts: Sequence[AnyPart]) -> list[AnyPart]:
    """What a problem is made of, so that what the caller has can be given other attributes; of classes of other makers
    the very objects."""
    return [copy.copy(part) if is_own(type(part)) else part for part in parts]


class Recent(NamedTuple, Generic[Problem]):
    """A problem, and the checked targets of the tasks that were asked for: the same list for the same tasks."""

    problem: Problem
    targets: list[Any]


class _Entry(Generic[Problem]):
    """A problem, what it was made of, and the objects that asked for it last, none of which was given another attribute
    since."""

    def __init__(
        self, problem: Problem, parts: tuple[Any, ...], model: RobotModel, settings: tuple[object, ...]
    ) -> None:
        self.problem, self.model, self.settings = problem, model, settings
        self.likenesses = [_Likeness(part) for part in parts]

    def adopt(self, parts: tuple[Any, ...], tasks: Sequence[Task]) -> Recent[Problem]:
        self.parts, self.attributes = parts, _attributes(parts)
        self.found = Recent(self.problem, [task.target for task in tasks])
        return self.found

    def is_of(self, parts: tuple[Any, ...], model: RobotModel, settings: tuple[object, ...]) -> bool:
        try:
            return (
                self.parts == parts
                and self.model is model
                and self.settings == settings
                and self.attributes == _attributes(parts)
            )
        except ValueError:  # another array: one that is the same object is equal without being looked at
            return False

    def fits(self, parts: tuple[Any, ...], model: RobotModel, settings: tuple[object, ...]) -> bool:
        if self.model is not model or len(parts) != len(self.likenesses) or self.settings != settings:
            return False
        return all(each.fits(part) for each, part in zip(self.likenesses, parts, strict=True))


def _attributes(parts: tuple[Any, ...]) -> list[tuple[object, ...]]:
    return [tuple(vars(part).values()) for part in parts]


class RecentProblems(threading.local, Generic[Problem]):
    """Of this thread. Tasks and criteria that are equal but for the tasks' targets have the same problem."""

    def __init__(self) -> None:
        self.entries: list[_Entry[Problem]] = []

    def get(
        self,
        make: Callable[[Sequence[Task], Sequence[Criterion]], Problem],
        model: RobotModel,
        tasks: tuple[Task, ...],
        criteria: tuple[Criterion, ...],
        settings: tuple[object, ...],
    ) -> Recent[Problem]:
        """The problem of these, made when there is none. settings: what else counts, words and floats.
        Raises what `make` raises; targets that the robot cannot have are found when they are met."""
        parts, settings = (*tasks, *criteria), tuple(map(_content, settings))
        for entry in self.entries:
            if entry.is_of(parts, model, settings):
                return entry.found
        for entry in self.entries:
            if entry.fits(parts, model, settings):
                return entry.adopt(parts, tasks)
        # Of copies: the problem is others' too when these are given other attributes.
        problem = make(own_copies(tasks), own_copies(criteria))
        entry = _Entry(problem, parts, model, settings)
        self.entries = [entry, *self.entries[: KEPT - 1]]
        return entry.adopt(parts, tasks)
