"""Ctrl, which snaps while it is held."""

from __future__ import annotations

import bpy
import numpy as np

CTRL = ("LEFT_CTRL", "RIGHT_CTRL")
SHAKE = 6.0  # pixels by which a hand moves the mouse while it lets go of Ctrl and the button


class SnapKey:
    """Who lets go of Ctrl just before the mouse button keeps what was snapped: it ends as the mouse goes on."""

    def __init__(self, event: bpy.types.Event) -> None:
        self.is_held, self._at = bool(event.ctrl), _mouse(event)

    def look(self, event: bpy.types.Event) -> None:
        """To be called when the mouse moves, and for Ctrl itself."""
        if event.ctrl or (event.type in CTRL and event.value == "PRESS"):
            self.is_held, self._at = True, _mouse(event)
        elif np.linalg.norm(_mouse(event) - self._at) > SHAKE:
            self.is_held = False


def _mouse(event: bpy.types.Event) -> np.ndarray:
    return np.array((event.mouse_region_x, event.mouse_region_y), float)
