"""Areas are drawn anew: Blender does not look at what changes from a timer."""

from __future__ import annotations

import bpy


def redraw(manager: bpy.types.WindowManager, *kinds: str) -> None:
    """Draw all areas of these kinds anew in all windows; without kinds, all areas."""
    for window in manager.windows:
        for area in window.screen.areas:
            if not kinds or area.type in kinds:
                area.tag_redraw()
