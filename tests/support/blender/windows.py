"""Operators as from a window, where there is none: the real operator, with a stand-in for Blender's event loop."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import bpy
from robokin_addon.operators import modal


class Window:
    """Stands in for the context's window, its manager and its work space; writes down what is asked of them.

    events: types of events to send after each slice of work, "" for none; a timer's event starts every slice.
    A callable among them is called between two slices, as another add-on's timer would be; "CANCEL" is what Blender
    does where it ends the operator itself, "CLOSE" alone what it does where a file selector is closed.
    """

    def __init__(self, events=()):
        self.events = list(events)
        self.timers, self.texts, self.shares, self.slices = [], [], [], 0
        self.progress_is_shown = self.was_modal = self.is_drawn_anew = False
        self.windows, self.screen, self.areas = [self], self, [self]

    # -- window manager and work space -------------------------------------------------------------------------------

    def event_timer_add(self, step, window):
        assert window is self
        self.timers.append(object())
        return self.timers[-1]

    def event_timer_remove(self, timer):
        self.timers.remove(timer)

    def modal_handler_add(self, operator):
        self.was_modal = True

    def progress_begin(self, low, high):
        self.progress_is_shown = True

    def progress_update(self, value):
        self.shares.append(value)

    def progress_end(self):
        self.progress_is_shown = False

    def status_text_set(self, text):
        self.texts.append(text)

    def tag_redraw(self):
        self.is_drawn_anew = True

    def fileselect_add(self, operator):
        """A file selector whose button is pressed at once."""

    # -- event loop --------------------------------------------------------------------------------------------------

    def run(self, operator, context):
        """As Blender runs an operator that a person has called; what it says at its end."""
        here = Context(context, self)
        outcome = type(operator).invoke(operator, here, None)
        if outcome == {"RUNNING_MODAL"} and not self.was_modal:
            if self.events == ["CLOSE"]:
                operator.cancel(here)
                return {"CANCELLED"}
            outcome = _EXECUTE[type(operator)](operator, here)
        while outcome == {"RUNNING_MODAL"}:
            assert self.was_modal and self.timers and self.progress_is_shown
            self.slices += 1
            event = self.events.pop(0) if self.events else ""
            if callable(event):
                event()
            elif event == "CANCEL":
                operator.cancel(here)
                outcome = {"CANCELLED"}
                break
            elif event:
                outcome = operator.modal(here, SimpleNamespace(type=event, value="PRESS"))
                continue
            outcome = operator.modal(here, SimpleNamespace(type="TIMER", value="NOTHING"))
        if self.was_modal:
            assert not self.timers and not self.progress_is_shown and self.texts[-1] is None
            assert self.is_drawn_anew
        return outcome


class Context:
    """Blender's context but for the window."""

    def __init__(self, context, window):
        self._context = context
        self.window = self.window_manager = self.workspace = window

    def __getattr__(self, name):
        return getattr(self._context, name)


_EXECUTE = {}


@contextmanager
def window(monkeypatch, cls, *events):
    """Inside, calls of the operator class go through a window of its own, in the smallest slices."""
    proxy_empty = Window(events)
    _EXECUTE[cls] = cls.execute
    with monkeypatch.context() as patch:
        patch.setattr(modal, "_AT_ONCE", 0.0)
        patch.setattr(modal, "_SLICE", 0.0)
        patch.setattr(modal, "_LONGEST", 0.0)
        patch.setattr(modal, "has_events", lambda _: True)
        patch.setattr(cls, "execute", lambda operator, context: proxy_empty.run(operator, context))
        yield proxy_empty
    del _EXECUTE[cls]


def called(operator, robot, **options):
    """What the operator returns, or the words of its error."""
    with bpy.context.temp_override(object=robot):
        try:
            return operator("EXEC_DEFAULT", True, **options)
        except RuntimeError as error:
            return str(error)
