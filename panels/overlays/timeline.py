"""Bands below the frames of timeline, dope sheet and Graph Editor: red where frames have problems, above it the limits
that hold back what was retimed. In the Graph Editor the whole height is tinted there, too."""

from __future__ import annotations

from typing import Any

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ...properties.handlers import going_on
from ...properties.selected.active_robot import active_robot
from ..shapes import colors
from .motion import limit_spans, problem_spans

HEIGHT = 5.0  # [pixels] of the band
TINT = 0.12  # opacity of problems over the height of the Graph Editor

_handles: list[Any] = []


def bands(spans: list[tuple[int, int]], height: float) -> np.ndarray:
    """(n, 3, 2) triangles in pixels: a rectangle for each pair (left, right), at least as wide as it is high."""
    found = []
    for left, right in spans:
        right = max(right, left + height)
        a, b, c, d = (left, 0.0), (right, 0.0), (right, height), (left, height)
        found += [(a, b, c), (a, c, d)]
    return np.array(found, float).reshape(-1, 3, 2)


def tinted_frames(obj: bpy.types.Object) -> list[tuple[int, int, tuple[float, ...], float]]:
    """(first, last) frames, color and row, counted from below: problems, and above them limits that hold back."""
    tinted = [(first, last, colors.BAD, 0.0) for first, last in problem_spans(obj)]
    return tinted + [(first, last, colors.of_limit(kind), 1.0) for first, last, kind in limit_spans(obj)]


def _draw() -> None:
    context = bpy.context
    if not len(bpy.data.armatures):
        return
    settings = context.scene.robokin.overlays
    if not (settings.show and settings.problem_frames):
        return
    with going_on("drawing problem frames"):
        obj = active_robot(context)
        if obj is None:
            return
        tinted = tinted_frames(obj)
        if not tinted:
            return
        view, height = context.region.view2d, HEIGHT * context.preferences.system.ui_scale
        gpu.state.blend_set("ALPHA")
        try:
            shader = gpu.shader.from_builtin("UNIFORM_COLOR")
            is_graph = context.area.type == "GRAPH_EDITOR"
            for first, last, color, row in tinted:
                ends = (view.view_to_region(frame, 0, clip=False)[0] for frame in (first - 0.5, last + 0.5))
                points: Any = bands([tuple(ends)], height).reshape(-1, 2).astype(np.float32)
                points[:, 1] += row * height
                shader.uniform_float("color", color)
                batch_for_shader(shader, "TRIS", {"pos": points}).draw(shader)
                if is_graph and row == 0.0:
                    points[:, 1] *= context.region.height / height
                    shader.uniform_float("color", colors.faded(color, TINT))
                    batch_for_shader(shader, "TRIS", {"pos": points}).draw(shader)
        finally:
            gpu.state.blend_set("NONE")


def register() -> None:
    if not bpy.app.background:
        for space in (bpy.types.SpaceDopeSheetEditor, bpy.types.SpaceGraphEditor):
            _handles.append((space, space.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL")))


def unregister() -> None:
    while _handles:
        space, handle = _handles.pop()
        space.draw_handler_remove(handle, "WINDOW")
