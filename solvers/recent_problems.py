"""Velocity problems of the last calls, so that a call with the same arguments compiles nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .velocity_step import VelocityProblem

KEPT = 8  # of each thread, since a problem has buffers of its own


class _Entry:
    """A problem, and what it was made of: the same objects, none of which was given another attribute since."""

    def __init__(self, objects: tuple[object, ...], settings: Hashable, problem: VelocityProblem) -> None:
        self.objects, self.settings, self.problem = objects, settings, problem
        self.attributes = [tuple(vars(each).values()) for each in objects[1:]]

    def fits(self, objects: tuple[object, ...], settings: Hashable) -> bool:
        if self.objects != objects or self.settings != settings:
            return False
        try:
            return [tuple(vars(each).values()) for each in objects[1:]] == self.attributes
        except ValueError:  # another array: arrays that are the same object are equal without being looked at
            return False


class RecentProblems(threading.local):
    """Of this thread."""

    def __init__(self) -> None:
        self.entries: list[_Entry] = []

    def get(
        self, model: object, parts: Sequence[object], settings: Hashable, make: Callable[[], VelocityProblem]
    ) -> VelocityProblem:
        """The problem that was made of the same model and parts (tasks and criteria) with equal settings, or a new one.

        A part counts as another one when any of its attributes was replaced.
        """
        objects = (model, *parts)
        for entry in self.entries:
            if entry.fits(objects, settings):
                return entry.problem
        problem = make()
        self.entries = [_Entry(objects, settings, problem), *self.entries[: KEPT - 1]]
        return problem
