"""Marks of what has changed since something was drawn. Handlers only count; whoever draws looks at the counts."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

import bpy
from bpy.types import Action, Armature

from ..bridge import Changes, changes_in, tell_changes
from ..handlers import register_cache_factory, stay_awake

T = TypeVar("T")


@dataclass
class Marks:
    """scene: raised by each update and frame.   armatures: when an armature's own data changed.   motions: when keys
    did.   updates: raised by each update.   curves: when a curve object's data changed.   unlooked: when a robot may be
    another one and no handler has looked at it."""

    scene: int = 0
    armatures: int = 0
    motions: int = 0
    updates: int = 0
    curves: int = 0
    unlooked: int = 0


MARKS = Marks()


def once_for_each_change(function: Callable[..., T]) -> Callable[..., T]:
    """function(obj, ...), of what is shown of a robot: worked out once for each change and not at each redraw. What
    Blender does not notice is looked at: that a script changes a list. Arguments are whatever else it depends on."""
    kept: dict[tuple, T] = {}
    of = [-1]

    @wraps(function)
    def shown(obj: bpy.types.Object, *arguments: Hashable) -> T:
        if of[0] != MARKS.scene:
            of[0] = MARKS.scene
            kept.clear()
        robot = obj.robokin
        lists = tuple(robot.tasks.keys()), tuple(robot.criteria.keys())
        key = obj.session_uid, bpy.context.scene.session_uid, lists, arguments
        if key not in kept:
            kept[key] = function(obj, *arguments)
        return kept[key]

    return shown


def mark_change(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, changes: Changes) -> None:
    kinds = changes.kinds
    MARKS.scene += 1
    MARKS.armatures += Armature in kinds
    MARKS.motions += Action in kinds
    MARKS.updates += 1
    MARKS.curves += depsgraph.id_type_updated("CURVE")


def mark_before_frame(scene: bpy.types.Scene, *_: object) -> None:
    """A script may change things and go to a frame at once: there Blender no longer tells of them."""
    depsgraph = bpy.context.view_layer.depsgraph
    if depsgraph is not None and len(depsgraph.updates):
        MARKS.motions += depsgraph.id_type_updated("ACTION")
        MARKS.updates += 1


def mark_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    MARKS.scene += 1
    if bpy.data.armatures and changes_in(depsgraph).armatures:
        MARKS.unlooked += 1


def mark_all(*_: object) -> None:
    """All data are others."""
    MARKS.scene += 1
    MARKS.armatures += 1
    MARKS.motions += 1
    MARKS.updates += 1
    MARKS.curves += 1
    MARKS.unlooked += 1


_add, unregister = register_cache_factory(
    mark_all,
    change=mark_change,
    depsgraph_update_post=tell_changes,
    frame_change_pre=mark_before_frame,
    frame_change_post=mark_frame,
    undo_post=mark_all,
    redo_post=mark_all,
)


def register() -> None:
    _add()
    stay_awake(mark_change, True)
