"""Ghosts of a robot in the viewports: lines of all, the chosen one stronger."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...robokin.arrays import Array

FAINT, STRONG = 0.25, 1.0  # opacity
WIDTHS = 1.0, 2.0  # [pixels of the interface]
SAMPLES = 300  # points of a ghost by which the mouse finds it
NEAR = 40.0  # [pixels of the interface] as far from a ghost the mouse still means it
ALIKE = 3.0  # of ghosts that are as near the chosen one stays
CLEAR = 10000  # lines of all ghosts together that an eye still tells apart


class Ghosts:
    """Ghosts of lines (n, m, 2, 3) in Blender's world, the first `joints` of each from joint to joint: where all lines
    are too many, only these of all but the chosen one are drawn. index: the chosen one. It holds numbers alone, none of
    Blender's data. They are drawn from `show` to `hide`."""

    def __init__(self, lines: Array, joints: int) -> None:
        self.points, self.index = lines.reshape(len(lines), -1, 3).astype(np.float32), 0
        self.faint = self.points if lines[..., 0, 0].size <= CLEAR else self.points[:, : 2 * joints]
        self._batches: dict[int, Any] = {}
        self._handle: Any = None

    def show(self) -> None:
        self._handle = bpy.types.SpaceView3D.draw_handler_add(self._draw, (), "WINDOW", "POST_VIEW")

    def hide(self) -> None:
        if self._handle is not None:
            bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
            self._handle = None

    def nearest(self, perspective: Array, size: tuple[int, int], mouse: tuple[int, int], scale: float) -> int:
        """The ghost at the mouse, the chosen one when there is none. perspective: (4, 4) of the view.   size, mouse:
        [pixels] of the region, in it.   scale: pixels of a pixel of the interface."""
        every = max(1, self.points.shape[1] // SAMPLES)
        some = self.points[:, ::every]
        clip = some @ perspective[:3, :3].T + perspective[:3, 3]
        w = some @ perspective[3, :3] + perspective[3, 3]
        with np.errstate(divide="ignore", invalid="ignore"):
            at = 0.5 * (clip[:, :, :2] / w[:, :, None] + 1.0) * size
        away = np.where(w > 0.0, np.linalg.norm(at - mouse, axis=2), np.inf).min(axis=1, initial=np.inf)
        best = int(away.argmin())
        if away[best] > NEAR * scale or away[self.index] <= away[best] + ALIKE * scale:
            return self.index
        return best

    # -- drawing -------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        import gpu

        preferences = bpy.context.preferences
        theme, scale = preferences.themes[0].view_3d, preferences.system.pixel_size
        shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
        shader.bind()
        shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
        gpu.state.blend_set("ALPHA")
        for number, color, alpha, width in (
            (-1, theme.bone_pose, FAINT, WIDTHS[0]),
            (self.index, theme.bone_pose_active, STRONG, WIDTHS[1]),
        ):
            shader.uniform_float("lineWidth", width * scale)
            shader.uniform_float("color", (*color, alpha))
            self._batch(shader, number).draw(shader)
        gpu.state.blend_set("NONE")

    def _batch(self, shader: Any, number: int) -> Any:
        """The batch of one ghost; -1: of all."""
        from gpu_extras.batch import batch_for_shader

        if number not in self._batches:
            points: Any = self.faint.reshape(-1, 3) if number < 0 else self.points[number]
            self._batches[number] = batch_for_shader(shader, "LINES", {"pos": points})
        return self._batches[number]
