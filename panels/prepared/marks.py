"""Marks of what has changed since something was drawn. Handlers only count; whoever draws looks at the counts."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from ...properties.bridge import changes_in
from ...properties.handlers import register_cache_factory


@dataclass
class Marks:
    """scene: raised by each update and frame.   armatures: when an armature's own data changed.   motions: when keys
    did.   unlooked: when a robot may be another one and no handler has looked at it."""

    scene: int = 0
    armatures: int = 0
    motions: int = 0
    unlooked: int = 0


MARKS = Marks()


def mark_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    MARKS.scene += 1
    if depsgraph.id_type_updated("ARMATURE"):
        MARKS.armatures += 1
    if depsgraph.id_type_updated("ACTION"):
        MARKS.motions += 1


def mark_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    MARKS.scene += 1
    if changes_in(depsgraph).armatures:
        MARKS.unlooked += 1


def mark_all(*_: object) -> None:
    """All data are others."""
    MARKS.scene += 1
    MARKS.armatures += 1
    MARKS.motions += 1
    MARKS.unlooked += 1


register, unregister = register_cache_factory(
    mark_all, depsgraph_update_post=mark_update, frame_change_post=mark_frame, undo_post=mark_all, redo_post=mark_all
)
