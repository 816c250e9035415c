"""Velocity problems of the last calls, so that a call with the same arguments compiles nothing."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .velocity_step import VelocityProblem

KEPT = 8  # of each thread, since a problem has buffers of its own


class _Entry:
    """A problem, and what it was made of: the same objects, none of which was given another attribute since."""

    def __init__(self, parts: tuple[object, ...], settings: tuple[object, ...], problem: VelocityProblem) -> None:
        self.parts, self.settings, self.problem = parts, settings, problem
        self.attributes = [tuple(vars(part).values()) for part in parts[1:]]

    def fits(self, parts: tuple[object, ...], settings: tuple[object, ...]) -> bool:
        try:
            return (
                self.parts == parts
                and self.settings == settings
                and self.attributes == [tuple(vars(part).values()) for part in parts[1:]]
            )
        except ValueError:  # another array: one that is the same object is equal without being looked at
            return False


class RecentProblems(threading.local):
    """Of this thread. parts: the model, then tasks and criteria; one counts as another when any of its attributes was
    replaced."""

    def __init__(self) -> None:
        self.entries: list[_Entry] = []

    def get(self, parts: tuple[object, ...], settings: tuple[object, ...]) -> VelocityProblem | None:
        for entry in self.entries:
            if entry.fits(parts, settings):
                return entry.problem
        return None

    def keep(self, parts: tuple[object, ...], settings: tuple[object, ...], problem: VelocityProblem) -> None:
        self.entries = [_Entry(parts, settings, problem), *self.entries[: KEPT - 1]]
