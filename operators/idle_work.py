"""Work for what is drawn, done in slices while Blender is idle, never while it draws."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Hashable
from typing import Generic, TypeVar

import bpy
import numpy as np

from ..properties.handlers import add_handler, going_on, remove_handler
from ..properties.results.redraw import redraw
from ..robokin import RobokinError
from .modal import entry_identity

SLICE = 0.008  # [s] of one piece of work
SOON = 0.1  # [s] before work begins
PAUSE = 0.01  # [s] between two slices
_SHOWING = ("VIEW_3D", "DOPESHEET_EDITOR", "GRAPH_EDITOR")
_EVENTS = ("load_pre", "undo_pre", "redo_pre")  # what work in progress holds is gone after them

Result = TypeVar("Result")
Work = Generator[float, None, Result]


class IdleWork(Generic[Result]):
    """Work for when Blender is idle. It keeps results by robot and name, each with the mark of what it was made of."""

    def __init__(self, what: str, is_finished_first: bool = False) -> None:
        """what: the work, as a report of a fault calls it.   is_finished_first: work on what has changed since goes on
        to its end before it is done anew, so that something is shown while a person drags."""
        self.count = 0  # of results: another number when anything was done anew
        self._what, self._is_finished_first = what, is_finished_first
        self._done: dict[tuple[int, str], tuple[Hashable, Result | None]] = {}
        self._work: dict[tuple[int, str], tuple[Hashable, Work, list[object]]] = {}
        self._timer = self._go_on  # Blender knows it by its identity

    def result(self, obj: bpy.types.Object, name: str, mark: Hashable, make: Callable[[], Work]) -> Result | None:
        """What was found last; where that was at another mark, the work that `make` gives is soon done."""
        key = obj.session_uid, name
        at, found = self._done.get(key, (None, None))
        begun = key in self._work and (self._is_finished_first or self._work[key][0] == mark)
        if at != mark and not begun:
            self._work[key] = mark, make(), entry_identity(obj)
            if not bpy.app.background and not bpy.app.timers.is_registered(self._timer):
                bpy.app.timers.register(self._timer, first_interval=SOON)
        return found

    def last(self, obj: bpy.types.Object, name: str) -> Result | None:
        """What was found last, at whatever mark."""
        return self._done.get((obj.session_uid, name), (None, None))[1]

    def finish(self) -> None:
        """Do all that waits, at once."""
        while self._work:
            self._slice(np.inf)

    def _go_on(self) -> float | None:
        if self._work:  # undo takes it away
            self._slice(SLICE)
        return PAUSE if self._work else None

    def _slice(self, seconds: float) -> None:
        key, (mark, work, identity) = next(iter(self._work.items()))
        until = time.perf_counter() + seconds
        found, is_done = None, True
        with going_on(self._what):
            try:
                obj = next((each for each in bpy.data.objects if each.session_uid == key[0]), None)
                if obj is None or entry_identity(obj) != identity:  # what the work holds may be gone
                    raise ReferenceError
                while time.perf_counter() < until:
                    next(work)
                is_done = False
            except StopIteration as end:
                found = end.value
            except (RobokinError, ReferenceError):  # a robot that cannot be read, or that is gone
                pass
        if is_done:
            del self._work[key]
            self._done[key] = mark, found
            self.count += 1
            redraw(bpy.context.window_manager, *_SHOWING)

    def _forget(self, *_: object) -> None:
        self._work.clear()
        self._done.clear()

    def register(self) -> None:
        for event in _EVENTS:
            add_handler(event, self._forget)

    def unregister(self) -> None:
        for event in _EVENTS:
            remove_handler(event, self._forget)
        if bpy.app.timers.is_registered(self._timer):
            bpy.app.timers.unregister(self._timer)
        self._forget()
