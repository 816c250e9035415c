"""The robot as what is drawn shows it: to see whether it has changed takes longer than to draw it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import bpy

from ...properties.bridge import Binding, binding, binding_held, last_binding
from ...properties.overrides import takes_changes
from ...properties.results.marks import MARKS
from ...robokin import RobokinError

_looked: dict[int, tuple[int, int]] = {}  # mark and scene at which each object was looked at, by whoever draws


def shown_binding(obj: bpy.types.Object) -> Binding:
    """The robot, looked at anew only where nobody else has: who keeps its limits looks at each one that was touched,
    but for those that cannot be changed. Raises RobokinError."""
    is_looked_after = takes_changes(obj) and not obj.data.is_editmode
    mark = MARKS.unlooked if is_looked_after else MARKS.scene, bpy.context.scene.session_uid
    if _looked.get(obj.session_uid) == mark:
        return last_binding(obj)
    found = binding(obj)
    _looked[obj.session_uid] = mark
    return found


def redraw_cache(obj: bpy.types.Object | None) -> AbstractContextManager:
    """Inside, which draws, the robot is that one."""
    if obj is None or bpy.app.background:
        return nullcontext()
    try:
        return binding_held(obj, shown_binding(obj))
    except RobokinError:  # which each panel tells in its own way
        return nullcontext()


def unregister() -> None:
    _looked.clear()
