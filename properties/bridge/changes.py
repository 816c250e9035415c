"""What an update of the scene has changed of robots: read once, by the one handler that Blender knows of."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

import bpy
from bpy.types import ID, Action, Armature, Object  # found once: each look into bpy.types takes microseconds

from ..handlers import AWAKE, CHANGE_HANDLERS
from .record.snapshot import is_robot


class Changes(NamedTuple):
    """robots: those that were touched themselves.   armatures: session_uids of armatures, and of these robots.
    actions: session_uids.   scene: whether the scene itself was changed.   kinds: of all that was changed.
    forms: session_uids of what has another geometry.   is_first: updates before it were not read."""

    robots: tuple[bpy.types.Object, ...]
    armatures: Set[int]
    actions: Set[int]
    scene: bool
    kinds: Set[type[ID]] = frozenset()
    forms: Set[int] = frozenset()
    is_first: bool = False


# All handlers of an update get one and the same graph. Nothing is read from one that is kept, it is only compared.
_last: list[tuple[bpy.types.Depsgraph | None, Changes]] = [(None, Changes((), frozenset(), frozenset(), False))]
_is_unread = [True]


def tell_changes(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Call the handlers of "change" with the scene, the graph and what has changed, after an update of the scene.
    Where there is no armature nothing is read, and nobody is called; where only other things moved, those awake."""
    if not bpy.data.armatures:
        _is_unread[0] = True
        return
    changes = changes_in(depsgraph)
    if _is_unread[0]:
        _is_unread[0], changes = False, changes._replace(is_first=True)
    is_far = not (changes.armatures or changes.scene or changes.forms or changes.is_first)
    for handler in [*AWAKE] if is_far else CHANGE_HANDLERS:
        handler(scene, depsgraph, changes)


def changes_in(depsgraph: bpy.types.Depsgraph) -> Changes:
    if _last[0][0] is not depsgraph:
        _last[0] = depsgraph, _read(depsgraph)
    return _last[0][1]


def _read(depsgraph: bpy.types.Depsgraph) -> Changes:
    robots: dict[int, bpy.types.Object] = {}
    armatures, actions, kinds, forms = set(), set(), set(), set()
    for update in depsgraph.updates:
        what = update.id
        kind = type(what)
        kinds.add(kind)
        if kind is Object:
            if what.pose is not None and is_robot(what):  # most have no pose, and are passed over at once
                robots[what.original.session_uid] = what.original
        elif kind is Armature:
            armatures.add(what.original.session_uid)
        elif kind is Action:
            actions.add(what.original.session_uid)
        if update.is_updated_geometry:
            forms.add(what.original.session_uid)
    is_scene = depsgraph.id_type_updated("SCENE")
    return Changes(tuple(robots.values()), armatures.union(robots), actions, is_scene, kinds, forms)
