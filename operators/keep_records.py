"""Before a file is saved, what was edited in the fields of bones goes into their records: Blender 4.5 loses the fields
of a file that Blender 5 has saved, and keeps the records."""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

from ..properties.bridge import is_robot, keep_edits


@persistent
def keep_records(*_: object) -> None:
    for obj in bpy.data.objects:
        if is_robot(obj) and obj.mode != "EDIT" and obj.data.is_editable:
            keep_edits(obj.data)


def register() -> None:
    bpy.app.handlers.save_pre.append(keep_records)


def unregister() -> None:
    bpy.app.handlers.save_pre.remove(keep_records)
