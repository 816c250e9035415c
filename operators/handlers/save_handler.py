"""Before a file is saved, what was edited in the fields of bones goes into their records: Blender 4.5 loses the fields
of a file that Blender 5 has saved, and keeps the records."""

from __future__ import annotations

import bpy

from ...properties.bridge import is_robot, keep_edits
from ...properties.handlers import add_handler, going_on, remove_handler


def save_records(*_: object) -> None:
    for armature in {obj.data for obj in bpy.data.objects if is_robot(obj) and obj.data.is_editable}:
        with going_on("keeping records"):
            keep_edits(armature)


def register() -> None:
    add_handler("save_pre", save_records)


def unregister() -> None:
    remove_handler("save_pre", save_records)
