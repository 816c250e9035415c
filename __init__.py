"""Robokin: a Blender armature becomes a robot. This file only registers; it imports nothing of Blender itself."""

from __future__ import annotations

from importlib import import_module

# In the order in which they need each other; each has register() and unregister().
PARTS = ("properties", "operators", "panels", "cli.command")


def register() -> None:
    for part in PARTS:
        import_module(f".{part}", __package__).register()


def unregister() -> None:
    for part in reversed(PARTS):
        import_module(f".{part}", __package__).unregister()
