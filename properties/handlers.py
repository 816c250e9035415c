"""Handlers of Blender's events (a change, a save, a load, a frame). All of them are added here, behind one guard.

What a handler raises Blender prints at every event, and the rest of the handler is left out: one robot with something
wrong about it would keep all others from being looked after. The guard reports a fault once and lets all go on. It
is for faults of the program; bad input is a RobokinError, with which each handler knows what to do.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps

import bpy
from bpy.app.handlers import persistent

Handler = Callable[..., None]

CHANGE_HANDLERS: list[Handler] = []  # of "change", an event of our own: see `bridge.changes`
AWAKE: list[Handler] = []  # those of them that are also called where nothing of robots, the scene or a form changed
_guarded: dict[tuple[str, Handler], Handler] = {}
_reported: set[tuple] = set()
_pauses: list[object] = []


def add_handler(event: str, handler: Handler) -> None:
    """Call `handler` at an event of `bpy.app.handlers`, or at "change", in every file, until it is removed."""

    @persistent
    @wraps(handler)
    def guarded(*arguments: object) -> None:
        try:  # not `going_on`, which takes longer: most handlers have nothing to do at most events
            handler(*arguments)
        except Exception as fault:
            _report(handler.__name__, fault)

    _guarded[event, handler] = guarded
    _handlers_of(event).append(guarded)


def remove_handler(event: str, handler: Handler) -> None:
    if event == "change":
        stay_awake(handler, False)
    _handlers_of(event).remove(_guarded.pop((event, handler)))


def stay_awake(handler: Handler, is_awake: bool) -> None:
    """Whether a handler of "change" is also called where nothing of robots, the scene or a form changed."""
    guarded = _guarded["change", handler]
    if (guarded in AWAKE) != is_awake:
        awake = {*AWAKE} ^ {guarded}
        AWAKE[:] = [each for each in CHANGE_HANDLERS if each in awake]


def _handlers_of(event: str) -> list[Handler]:
    return CHANGE_HANDLERS if event == "change" else getattr(bpy.app.handlers, event)


def register_cache_factory(forget: Handler, **handlers: Handler) -> tuple[Callable[[], None], Callable[[], None]]:
    """`register` and `unregister` of a module that keeps what it has read: `forget` is called when a file is loaded and
    at the end, and each of the handlers at the event that it is named by."""
    events = {"load_post": forget, **handlers}

    def register() -> None:
        for event, handler in events.items():
            add_handler(event, handler)

    def unregister() -> None:
        for event, handler in reversed(events.items()):
            remove_handler(event, handler)
        forget()

    return register, unregister


def others_handle(event: str) -> bool:
    """Whether anybody else's handler is called at an event."""
    own = {id(guarded) for (name, _), guarded in _guarded.items() if name == event}
    return any(id(handler) not in own for handler in getattr(bpy.app.handlers, event))


@contextmanager
def posing_paused() -> Iterator[None]:
    """Inside, no handler poses a robot: what visits frames, or holds a robot, reads the scene as its curves have it.
    Pauses may overlap in any order, as those of work in slices do."""
    pause = object()
    _pauses.append(pause)
    try:
        yield
    finally:
        _pauses.remove(pause)


def is_posing_paused() -> bool:
    return bool(_pauses)


@contextmanager
def going_on(what: str) -> Iterator[None]:
    """Inside, a fault ends the work on one robot only; it is reported once for each place in the code."""
    try:
        yield
    except Exception as fault:
        _report(what, fault)


def _report(what: str, fault: Exception) -> None:
    place = traceback.extract_tb(fault.__traceback__)[-1]
    cause = what, type(fault), place.filename, place.lineno
    if cause not in _reported:
        _reported.add(cause)
        print(f"Robokin: {what} could not do all of its work, and goes on. Please report this:", file=sys.stderr)
        traceback.print_exception(fault)


def reported_faults() -> list[str]:
    """The faults that were reported since the last call. From then on they are reported anew."""
    faults = [f"{what}: {kind.__name__} at {file}:{line}" for what, kind, file, line in _reported]
    _reported.clear()
    return faults
