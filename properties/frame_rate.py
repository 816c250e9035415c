"""How long a frame of a scene is."""

from __future__ import annotations

import math

import bpy

from ..robokin.errors import RobokinError


def frame_seconds(scene: bpy.types.Scene) -> float:
    """[s] from a frame to the next. Raises RobokinError for a frame rate that only a damaged file has."""
    fps, base = scene.render.fps, scene.render.fps_base
    if fps < 1 or not (math.isfinite(base) and base > 0.0):
        raise RobokinError(f"scene {scene.name!r}: the frame rate is {fps} / {base:g}: set it in Output Properties")
    return base / fps
