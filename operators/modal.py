"""Work that may take long: from the window it is done in slices, with its progress in the status bar, until Esc."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import suppress
from typing import TYPE_CHECKING

import bpy

from ..properties.results.redraw import redraw
from ..properties.results.result_text import in_scene_units
from ..properties.selected.active_robot import active_robot
from ..robokin import RobokinError
from ..solvers.progress import finish
from .common import RobotOperator

_AT_ONCE = 0.2  # seconds of work before it goes modal
_SLICE = 0.05  # seconds of work between two looks at the keyboard, or ...
_LONGEST = 0.5  # ... at most so many, where Blender takes as long to draw


class ModalOperator(RobotOperator):
    """Mixin: `steps(context, obj)` does the work and yields the share done (0..1) now and then. What is to stay it
    writes after its last yield, so that stopping it, which closes it, leaves everything as it was.

    A script's call runs it to its end. A person sees how far it is and stops it with Esc. Work that `keeps_best` ends
    with the best so far when a person presses Enter: `is_enough` then.
    """

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        finish(self.steps(context, obj))
        return {"FINISHED"}

    keeps_best = False
    _has_enough = False
    _steps: Generator[float, None, None] | None = None  # of work that has begun
    _timer: bpy.types.Timer | None = None

    if TYPE_CHECKING:

        def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
            """What the operator does; each has its own."""

    def is_enough(self) -> bool:
        return self._has_enough

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return self.begin(context) if has_events(context) else self.execute(context)

    def begin(self, context: bpy.types.Context) -> set[str]:
        """Begin the work, which goes on by itself when it is not done at once."""
        self._robot = active_robot(context)
        self._identity = entry_identity(self._robot)
        self._steps = self.steps(context, self._robot)
        outcome = self._work(context, _AT_ONCE)
        if outcome == {"RUNNING_MODAL"}:
            context.window_manager.progress_begin(0, 100)
            self._timer = context.window_manager.event_timer_add(0.01, window=context.window)
            context.window_manager.modal_handler_add(self)
        return outcome

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.report({"INFO"}, f"{self.bl_label} cancelled: nothing was written")
            return {"CANCELLED"}
        if self.keeps_best and event.type in {"RET", "NUMPAD_ENTER"} and event.value == "PRESS":
            self._has_enough = True
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        outcome = {"CANCELLED"}
        try:
            outcome = self._work(context, min(max(_SLICE, time.perf_counter() - self._paused_at), _LONGEST))
        finally:
            if outcome != {"RUNNING_MODAL"}:
                self._end(context)
        return outcome

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender calls it where it ends the operator: a file is loaded, the window or a file selector is closed."""
        try:
            self._close()
        finally:
            self._end(context)

    def _work(self, context: bpy.types.Context, seconds: float) -> set[str]:
        """Go on for some time."""
        until = time.perf_counter() + seconds
        try:
            if entry_identity(self._robot) != self._identity:
                raise RobokinError(f"{self.bl_label}: the robot's tasks or criteria were changed meanwhile")
            for share in self._steps:
                if time.perf_counter() > until:
                    context.window_manager.progress_update(100 * share)
                    keys = "Esc: stop, write nothing" + ("   Enter: keep the best so far" if self.keeps_best else "")
                    context.workspace.status_text_set(f"{self.bl_label}: {share:.0%}   {keys}")
                    self._paused_at = time.perf_counter()
                    return {"RUNNING_MODAL"}
        except RobokinError as error:
            self._close()
            self.report({"ERROR"}, in_scene_units(context.scene, str(error)))
            return {"CANCELLED"}
        except ReferenceError:
            self._close()
            self.report({"ERROR"}, f"{self.bl_label}: an object that it needs was removed meanwhile")
            return {"CANCELLED"}
        return {"FINISHED"}

    def _close(self) -> None:
        with suppress(ReferenceError):  # what is gone need not be put back
            if self._steps is not None:
                self._steps.close()

    def _end(self, context: bpy.types.Context) -> None:
        if self._timer is None:
            return
        context.window_manager.event_timer_remove(self._timer)
        self._timer = None
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        redraw(context.window_manager)  # results are shown in panels, also where no object was changed


def has_events(context: bpy.types.Context) -> bool:
    """Whether Blender runs an event loop, without which no operator can go on by itself."""
    return not bpy.app.background and context.window is not None


def entry_identity(obj: bpy.types.Object | None) -> list[object]:
    """Where a robot's tasks and criteria lie, of what kind they and what objects they are about, and the bones' names.
    Another script or add-on may act between two slices: an entry that it adds or removes moves them all, and the steps
    hold some. Nothing of no robot."""
    if obj is None:
        return []
    tasks, criteria = obj.robokin.tasks, obj.robokin.criteria
    objects = [found for task in tasks for found in (task.target, task.surface) if found is not None]
    pointers = [entry.as_pointer() for entry in (*tasks, *criteria, *objects)]
    names = [(entry.kind, entry.name) for entry in (*tasks, *criteria)]
    return [*pointers, *names, *obj.data.bones.keys()]
