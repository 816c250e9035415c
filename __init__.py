"""Robokin: a Blender armature becomes a robot. This file only registers; importing it imports nothing of Blender."""

from __future__ import annotations

import atexit
from importlib import import_module

# In the order in which they need each other; each has register() and unregister().
PARTS = ("properties", "operators", "panels", "cli.command")


def register() -> None:
    import bpy

    for part in PARTS:
        import_module(f".{part}", __package__).register()
    if bpy.app.module:
        # The application unregisters add-ons before it ends. The module does not, and that of Blender 4.5 then calls
        # Python, for classes that are left, when Python is gone.
        atexit.register(unregister)


def unregister() -> None:
    atexit.unregister(unregister)
    for part in reversed(PARTS):
        import_module(f".{part}", __package__).unregister()
