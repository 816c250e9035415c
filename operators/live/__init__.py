"""Live: a robot follows its targets at once, whenever they, its tasks or the frame change."""

from __future__ import annotations

from . import events, rendering


def register() -> None:
    rendering.register()
    events.register()


def unregister() -> None:
    events.unregister()
    rendering.unregister()
