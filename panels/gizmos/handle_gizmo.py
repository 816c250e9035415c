"""The gizmo of one handle, whatever it drags, and what groups of such gizmos share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from ...properties.handlers import going_on
from ...properties.results.marks import MARKS
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ..overlays.pieces import Pieces, vertices
from ..overlays.robot_view import RobotView
from .on_screen import seen, under

NEAR = 9.0  # [pixels] of the mouse from what it takes hold of
WIDTH, THIN = 2.4, 1.2  # [pixels] of lines that are dragged, and of those that show something only
WIDER = 1.8  # [pixels] by which those under the mouse are
RIM = 2.4  # [pixels] by which the dark line below each is wider, which is seen on what is light
IDENTITY = np.eye(4)
DARK = (0.0, 0.0, 0.0, 0.45)


class Placed(NamedTuple):
    """frame: (4, 4) from where the pieces are to the world.   width: [pixels] of lines."""

    frame: Array
    pieces: Pieces
    width: float = WIDTH


class Grip(Protocol):
    """grip: (n, 3) points in a row of the world that the mouse takes hold of.   parts: what it looks like.
    operates: the operator that a drag calls, with its settings; None of what is only seen, whose grip is empty."""

    @property
    def grip(self) -> Array: ...

    @property
    def parts(self) -> Sequence[Placed]: ...

    @property
    def operates(self) -> tuple[str, dict[str, Any]] | None: ...


class Shown:
    """What a group shows of its handles, of which each gizmo is one. parts: of all handles, which the gizmo that is
    drawn first draws for all of them.   is_due: none of them has been drawn in this redraw."""

    def __init__(
        self,
        handles: Sequence[Grip] = (),
        parts: Sequence[Placed] = (),
        perspective: Array = IDENTITY,
        size: tuple[int, int] = (1, 1),
    ) -> None:
        self.handles, self.parts, self.is_due = handles, parts, True
        self._perspective, self._size = perspective, size
        self._grips: list[Array] | None = None
        self._last: tuple[tuple[float, float], float, int | None] | None = None

    def under(self, place: tuple[float, float], near: float) -> int | None:
        """Index of the handle that the mouse is over: found once for all gizmos that ask, where one does."""
        if self._grips is None:
            self._grips = [seen(handle.grip, self._perspective, *self._size) for handle in self.handles]
        if self._last is None or self._last[:2] != (place, near):
            self._last = place, near, under(self._grips, place, near)
        return self._last[2]


class Content:
    """What a gizmo shows. It is kept apart, since Blender is slow to set what a gizmo itself has. index: which of the
    handles is its own."""

    def __init__(self, index: int) -> None:
        self.index, self.shown = index, Shown()
        self.handle: Grip | None = None
        self.operates: tuple[str, dict[str, Any]] | None = None


class ROBOKIN_GT_handle(bpy.types.Gizmo):
    bl_idname = "ROBOKIN_GT_handle"

    __slots__ = ("content",)

    def setup(self) -> None:
        self.use_draw_modal = self.hide = True

    def show(self, content: Content, shown: Shown) -> None:
        """content: its own, at hand."""
        handle = shown.handles[content.index] if content.index < len(shown.handles) else None
        if (handle is None) != (content.handle is None):
            self.hide = handle is None
        content.handle, content.shown = handle, shown
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
        return 0 if content.shown.under(tuple(location), near) == content.index else -1

    def draw(self, context: bpy.types.Context) -> None:
        content, is_highlight = self.content, self.is_highlight
        if content.handle is None or not (content.shown.is_due or is_highlight):
            return
        with going_on("drawing a gizmo"):
            gpu.state.blend_set("ALPHA")
            gpu.state.depth_test_set("NONE")
            try:
                if content.shown.is_due:
                    content.shown.is_due = False
                    _draw(context, content.shown.parts)
                if is_highlight:
                    bright = (*context.preferences.themes[0].user_interface.gizmo_hi, 1.0)
                    _draw(context, content.handle.parts, bright)
            finally:
                gpu.state.blend_set("NONE")


@dataclass(frozen=True)
class Batches:
    """lines, triangles: coloured, as a graphics card draws them; None without any."""

    lines: gpu.types.GPUBatch | None
    triangles: gpu.types.GPUBatch | None


@lru_cache(maxsize=128)
def batches_of(pieces: Pieces) -> Batches:
    """Made once for the same pieces."""
    made = []
    for kind, shader, own in (
        ("LINES", "POLYLINE_SMOOTH_COLOR", vertices(pieces.lines)),
        ("TRIS", "SMOOTH_COLOR", vertices(pieces.triangles)),
    ):
        content: Any = {} if own is None else {"pos": own[0], "color": own[1]}
        made.append(batch_for_shader(gpu.shader.from_builtin(shader), kind, content) if content else None)
    return Batches(*made)


def _draw(context: bpy.types.Context, parts: Sequence[Placed], color: tuple[float, ...] | None = None) -> None:
    """Dark lines below all others, triangles, lines. color: of all lines, which are wider with one."""
    own = [(Matrix(part.frame.tolist()), batches_of(part.pieces), part.width) for part in parts]
    lines = [(frame, each.lines, width + (WIDER if color else 0.0)) for frame, each, width in own if each.lines]
    triangles = [(frame, each.triangles, 0.0) for frame, each, _ in own if each.triangles]
    scale, size = context.preferences.system.ui_scale, (context.region.width, context.region.height)
    view = gpu.matrix.get_model_view_matrix()
    try:
        for name, placed, rim, tint in (
            ("POLYLINE_UNIFORM_COLOR", lines, RIM, DARK),
            ("SMOOTH_COLOR", triangles, 0.0, None),
            ("POLYLINE_UNIFORM_COLOR" if color else "POLYLINE_SMOOTH_COLOR", lines, 0.0, color),
        ):
            shader = gpu.shader.from_builtin(name)
            shader.bind()
            if placed is lines:
                shader.uniform_float("viewportSize", size)
            if tint is not None:
                shader.uniform_float("color", tint)
            for frame, batch, width in placed:
                if width:
                    shader.uniform_float("lineWidth", (width + rim) * scale)
                gpu.matrix.load_matrix(view @ frame)
                batch.draw(shader)
    finally:
        gpu.matrix.load_matrix(view)


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

    def parts(self, handles: Sequence[Grip]) -> Sequence[Placed]:
        return [part for handle in handles for part in handle.parts]

    def setup(self, context: bpy.types.Context) -> None:
        self.view, self.key, self.content = RobotView(), None, Shown()
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
        self.content.is_due = True
        if key == self.key:
            return
        self.key = key
        handles: Sequence[Grip] = []
        if shown is not None:
            try:
                self.view.look(context.object)
                handles = self.handles(context, perspective, region.width / scale)
            except RobokinError:  # the panel says why it cannot be read
                handles = []
        self.content = Shown(handles, self.parts(handles), perspective, (region.width, region.height))
        for i, (gizmo, content) in enumerate(self.own):
            if i < len(handles) or content.handle is not None:
                gizmo.show(content, self.content)


CLASSES = (ROBOKIN_GT_handle,)
