"""The robot as what is drawn shows it: to see whether it has changed takes longer than to draw it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import bpy

from ...properties.bridge import Binding, binding, binding_held, last_binding
from ...properties.overrides import takes_changes
from ...properties.results.change_marks import MARKS
from ...robokin import RobokinError

# Mark and scene at which each object was looked at, by whoever draws; and at which it was drawn last.
_looked: dict[int, tuple[int, int]] = {}
_drawn: dict[int, tuple[int, int]] = {}


def shown_binding(obj: bpy.types.Object) -> Binding:
    """The robot, looked at anew only where nobody else has: who keeps its limits looks at each one that was touched,
    but for those that cannot be changed. Raises RobokinError."""
    uid, scene = obj.session_uid, bpy.context.scene.session_uid
    drawn = MARKS.scene, scene
    if _drawn.get(uid) == drawn:
        return last_binding(obj)
    is_looked_after = takes_changes(obj) and not obj.data.is_editmode
    mark = MARKS.unlooked if is_looked_after else MARKS.scene, scene
    found = last_binding(obj) if _looked.get(uid) == mark else binding(obj)
    _looked[uid], _drawn[uid] = mark, drawn
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
    _drawn.clear()
