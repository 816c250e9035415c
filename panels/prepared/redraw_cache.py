"""One look at the robot for all panels of a redraw: to see whether it has changed takes as long as drawing it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ...properties.bridge import Binding, binding, binding_held
from ...robokin import RobokinError

_bindings: dict[int, Binding] = {}  # by object


@contextmanager
def redraw_cache(obj: bpy.types.Object | None) -> Iterator[None]:
    """Inside, which draws, the robot is as the first panel of this redraw found it."""
    if obj is None or bpy.app.background:
        yield
        return
    try:
        known = _bindings.get(obj.session_uid) or binding(obj)
    except RobokinError:  # which each panel tells in its own way
        yield
        return
    _bindings[obj.session_uid] = known
    if not bpy.app.timers.is_registered(_forget):
        bpy.app.timers.register(_forget)
    with binding_held(obj, known):
        yield


def _forget() -> None:
    """Blender runs timers before it handles anything else after a redraw."""
    _bindings.clear()


def unregister() -> None:
    _bindings.clear()
    if bpy.app.timers.is_registered(_forget):
        bpy.app.timers.unregister(_forget)
