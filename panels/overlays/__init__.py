"""Overlays: what is drawn over the robots in the 3D view and in the timeline."""

from __future__ import annotations

from . import drawing, marks, popover, timeline

MODULES = (marks, drawing, timeline, popover)
CLASSES = popover.CLASSES


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
