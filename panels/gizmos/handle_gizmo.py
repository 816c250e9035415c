"""The gizmo of one handle, whatever it drags, and what groups of such gizmos share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ...properties.handlers import going_on
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ..overlays.pieces import Pieces, vertices
from ..overlays.robot_view import RobotView
from ..prepared.marks import MARKS
from .on_screen import seen, under

NEAR = 9.0  # [pixels] of the mouse from what it takes hold of
WIDTH, THIN = 2.4, 1.2  # [pixels] of lines that are dragged, and of those that show something only
WIDER = 1.8  # [pixels] by which those under the mouse are
RIM = 2.4  # [pixels] by which the dark line below each is wider, which is seen on what is light
DARK = (0.0, 0.0, 0.0, 0.45)


class Grip(Protocol):
    """grip: (n, 3) points in a row of the world that the mouse takes hold of.   pieces: what it looks like.
    operates: the operator that a drag calls, with its settings; None of what is only seen, whose grip is empty."""

    grip: Array
    pieces: Pieces

    @property
    def operates(self) -> tuple[str, dict[str, Any]] | None: ...


class UnderMouse:
    """Which of some grips the mouse is over: found once for all gizmos that ask. grips: (n, 2) pixels of each."""

    def __init__(self, grips: list[Array]) -> None:
        self._grips = grips
        self._last: tuple[tuple[float, float], float, int | None] | None = None

    def at(self, place: tuple[float, float], near: float) -> int | None:
        if self._last is None or self._last[:2] != (place, near):
            self._last = place, near, under(self._grips, place, near)
        return self._last[2]


class Content:
    """What a gizmo shows. It is kept apart, since Blender is slow to set what a gizmo itself has. index: which of the
    grips is its own."""

    def __init__(self, index: int) -> None:
        self.handle: Grip | None = None
        self.index, self.under_mouse = index, UnderMouse([])
        self.batches: list[tuple[Any, Any, float, tuple[float, ...] | None]] = []
        self.operates: tuple[str, dict[str, Any]] | None = None


class ROBOKIN_GT_handle(bpy.types.Gizmo):
    bl_idname = "ROBOKIN_GT_handle"

    __slots__ = ("content",)

    def setup(self) -> None:
        self.use_draw_modal = self.hide = True

    def show(self, content: Content, handle: Grip | None, under_mouse: UnderMouse) -> None:
        """content: its own, at hand."""
        if (handle is None) != (content.handle is None):
            self.hide = handle is None
        content.handle, content.under_mouse, content.batches = handle, under_mouse, []
        operates = None if handle is None else handle.operates
        if operates is not None and content.operates != operates:
            content.operates = operates
            settings = self.target_set_operator(operates[0])
            for name, value in operates[1].items():
                setattr(settings, name, value)

    def test_select(self, context: bpy.types.Context, location: tuple[float, float]) -> int:
        content = self.content
        if content.handle is None:
            return -1
        near = NEAR * context.preferences.system.ui_scale
        return 0 if content.under_mouse.at(tuple(location), near) == content.index else -1

    def draw(self, context: bpy.types.Context) -> None:
        if self.content.handle is None:
            return
        with going_on("drawing a gizmo"):
            gpu.state.blend_set("ALPHA")
            gpu.state.depth_test_set("NONE")
            try:
                self._draw(context)
            finally:
                gpu.state.blend_set("NONE")

    def _draw(self, context: bpy.types.Context) -> None:
        content, is_highlight = self.content, self.is_highlight
        assert content.handle is not None
        if not content.batches:
            content.batches = _batches(content.handle.pieces)
        preferences = context.preferences
        width = (THIN if content.handle.operates is None else WIDTH) + (WIDER if is_highlight else 0.0)
        for shader, batch, wider, color in content.batches:
            shader.bind()
            if color is not None:
                bright = (*preferences.themes[0].user_interface.gizmo_hi, 1.0)
                shader.uniform_float("color", bright if is_highlight and not wider else color)
            if wider >= 0.0:
                shader.uniform_float("viewportSize", (context.region.width, context.region.height))
                shader.uniform_float("lineWidth", (width + wider) * preferences.system.ui_scale)
            batch.draw(shader)


def _batches(pieces: Pieces) -> list[tuple[Any, Any, float, tuple[float, ...] | None]]:
    """(shader, batch, by how much its lines are wider or -1 of what are none, one colour for all or None)."""
    found = []
    lines = vertices(pieces.lines)
    if lines is not None:
        shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
        content: Any = {"pos": lines[0]}
        found.append((shader, batch_for_shader(shader, "LINES", content), RIM, DARK))
    for kind, name, wider, own in (
        ("TRIS", "SMOOTH_COLOR", -1.0, vertices(pieces.triangles)),
        ("LINES", "POLYLINE_SMOOTH_COLOR", 0.0, lines),
    ):
        if own is not None:
            shader = gpu.shader.from_builtin(name)
            content = {"pos": own[0], "color": own[1]}
            found.append((shader, batch_for_shader(shader, kind, content), wider, None))
    return found


class HandleGroup:
    """Mixin of a group of gizmos of the robot that is the active object. most: how many gizmos there are."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options: ClassVar[set[str]] = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}
    most: ClassVar[int]

    if TYPE_CHECKING:
        gizmos: Any

        @classmethod
        def shown(cls, context: bpy.types.Context) -> tuple | None:
            """What handles are of, beside the scene; None where there are none. Asked for at every redraw."""

        def handles(self, context: bpy.types.Context, perspective: Array, width: float) -> list[Grip]:
            """perspective: (4, 4) of the view.   width: [pixels at a UI scale of 1] of the region. Raises
            RobokinError."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return cls.shown(context) is not None

    def setup(self, context: bpy.types.Context) -> None:
        self.view, self.key = RobotView(), None
        self.own = []
        for i in range(self.most):
            gizmo, content = self.gizmos.new(ROBOKIN_GT_handle.bl_idname), Content(i)
            gizmo.content = content
            self.own.append((gizmo, content))

    def draw_prepare(self, context: bpy.types.Context) -> None:
        with going_on("preparing a gizmo"):
            self._prepare(context)

    def _prepare(self, context: bpy.types.Context) -> None:
        shown, region = self.shown(context), context.region
        perspective = np.array(context.region_data.perspective_matrix, float)
        scale = context.preferences.system.ui_scale
        key = MARKS.scene, shown, region.width, region.height, scale, perspective.tobytes()
        if key == self.key:
            return
        self.key = key
        handles: list[Grip] = []
        if shown is not None:
            try:
                self.view.look(context.object)
                handles = self.handles(context, perspective, region.width / scale)
            except RobokinError:  # the panel says why it cannot be read
                handles = []
        grips = [seen(handle.grip, perspective, region.width, region.height) for handle in handles]
        under_mouse = UnderMouse(grips)
        for i, (gizmo, content) in enumerate(self.own):
            if i < len(handles) or content.handle is not None:
                gizmo.show(content, handles[i] if i < len(handles) else None, under_mouse)


CLASSES = (ROBOKIN_GT_handle,)
