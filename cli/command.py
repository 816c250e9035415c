"""The command line inside Blender: `blender [FILE] --command robokin SUB ...`."""

from __future__ import annotations

from functools import partial

from .main import main

NAME = "robokin"
_handle: object | None = None


def register() -> None:
    global _handle
    import bpy

    _handle = bpy.utils.register_cli_command(NAME, partial(main, in_blender=True))


def unregister() -> None:
    global _handle
    import bpy

    bpy.utils.unregister_cli_command(_handle)
    _handle = None
