"""What an update of the scene has changed of robots: read once for all handlers that ask."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

import bpy

from .record.snapshot import is_robot


class Changes(NamedTuple):
    """robots: those that were touched themselves.   armatures: session_uids of armatures, and of these robots.
    actions: session_uids.   scene: whether the scene itself was changed."""

    robots: tuple[bpy.types.Object, ...]
    armatures: Set[int]
    actions: Set[int]
    scene: bool


# All handlers of an update get one and the same graph. Nothing is read from one that is kept, it is only compared.
_last: list[tuple[bpy.types.Depsgraph | None, Changes]] = [(None, Changes((), frozenset(), frozenset(), False))]


def changes_in(depsgraph: bpy.types.Depsgraph) -> Changes:
    if _last[0][0] is not depsgraph:
        _last[0] = depsgraph, _read(depsgraph)
    return _last[0][1]


def _read(depsgraph: bpy.types.Depsgraph) -> Changes:
    robots: dict[int, bpy.types.Object] = {}
    armatures, actions = set(), set()
    for update in depsgraph.updates:
        what = update.id
        kind = what.id_type
        if kind == "OBJECT":
            if is_robot(what):
                robots[what.original.session_uid] = what.original
        elif kind == "ARMATURE":
            armatures.add(what.original.session_uid)
        elif kind == "ACTION":
            actions.add(what.original.session_uid)
    return Changes(tuple(robots.values()), armatures.union(robots), actions, depsgraph.id_type_updated("SCENE"))
