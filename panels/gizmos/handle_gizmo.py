"""The gizmo of one handle, whatever it drags, and what groups of such gizmos share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import bpy
import gpu
import numpy as np
from mathutils import Matrix

from ...properties.handlers import going_on
from ...properties.results.change_marks import MARKS
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ..overlays.batches import batch_of
from ..overlays.pieces import Pieces, vertices
from ..overlays.robot_view import RobotView, robot_view
from ..shapes.on_screen import seen, under

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
    drawn first draws for all of them.   is_due: none of them has been drawn in this redraw.   size: [pixels] of the
    region.   scale: of the user interface."""

    def __init__(
        self,
        handles: Sequence[Grip] = (),
        parts: Sequence[Placed] = (),
        perspective: Array = IDENTITY,
        size: tuple[int, int] = (1, 1),
        scale: float = 1.0,
    ) -> None:
        self.handles, self.parts, self.is_due = handles, parts, True
        self.size, self.scale, self._perspective = size, scale, perspective
        self._grips: list[Array] | None = None
        self._batches: dict[int | None, list[Batches]] = {}
        self._last: tuple[tuple[float, float], float, int | None] | None = None

    def batches(self, index: int | None) -> list[Batches]:
        """Batches of one handle, or of all; made where they are first drawn."""
        if index not in self._batches:
            self._batches[index] = batches(self.parts if index is None else self.handles[index].parts)
        return self._batches[index]

    def under(self, place: tuple[float, float], near: float) -> int | None:
        """Index of the handle that the mouse is over: found once for all gizmos that ask, where one does."""
        if self._grips is None:
            self._grips = [seen(handle.grip, self._perspective, *self.size) for handle in self.handles]
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
                    _draw(content.shown, None)
                if is_highlight:
                    bright = (*context.preferences.themes[0].user_interface.gizmo_hi, 1.0)
                    _draw(content.shown, content.index, bright)
            finally:
                gpu.state.blend_set("NONE")


class Batches(NamedTuple):
    """Shapes in one frame, as a graphics card draws them. matrix: of the frame.   width: [pixels] of lines."""

    matrix: Matrix
    width: float
    lines: gpu.types.GPUBatch | None
    triangles: gpu.types.GPUBatch | None


@lru_cache(maxsize=64)
def batches_of(shapes: tuple[Pieces, ...]) -> tuple[gpu.types.GPUBatch | None, ...]:
    """(lines, triangles) of shapes in one frame, made once for the same ones: what moves is placed by a matrix."""
    whole = Pieces()
    for each in shapes:
        whole.add(each)
    found = vertices(whole.lines), vertices(whole.triangles)
    return tuple(own and batch_of(kind, *own) for kind, own in zip(("LINES", "TRIS"), found, strict=True))


def batches(parts: Sequence[Placed]) -> list[Batches]:
    """Parts in a row that have the same frame are drawn in one batch."""
    found = []
    for (_, width), own in groupby(parts, key=lambda part: (id(part.frame), part.width)):
        row = list(own)
        found.append(Batches(Matrix(row[0].frame.tolist()), width, *batches_of(tuple(part.pieces for part in row))))
    return found


def _draw(shown: Shown, index: int | None, color: tuple[float, ...] | None = None) -> None:
    """Dark lines below all others, triangles, lines, of one handle or of all. color: of all lines, which are wider with
    one."""
    drawn, wider = shown.batches(index), WIDER if color else 0.0
    for name, more, tint in (
        ("POLYLINE_UNIFORM_COLOR", wider + RIM, DARK),
        ("SMOOTH_COLOR", None, None),
        ("POLYLINE_UNIFORM_COLOR" if color else "POLYLINE_SMOOTH_COLOR", wider, color),
    ):
        shader = gpu.shader.from_builtin(name)
        shader.bind()
        if more is not None:
            shader.uniform_float("viewportSize", shown.size)
        if tint is not None:
            shader.uniform_float("color", tint)
        for each in drawn:
            batch = each.triangles if more is None else each.lines
            if batch is None:
                continue
            if more is not None:
                shader.uniform_float("lineWidth", (each.width + more) * shown.scale)
            with gpu.matrix.push_pop():
                gpu.matrix.multiply_matrix(each.matrix)
                batch.draw(shader)


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

        def handles(self, context: bpy.types.Context, view: RobotView, perspective: Array, width: float) -> list[Grip]:
            """perspective: (4, 4) of the view.   width: [pixels at a UI scale of 1] of the region. Raises
            RobokinError."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return cls.shown(context) is not None

    def parts(self, handles: Sequence[Grip]) -> Sequence[Placed]:
        return [part for handle in handles for part in handle.parts]

    def setup(self, context: bpy.types.Context) -> None:
        self.key, self.content = None, Shown()
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
        size, scale = (region.width, region.height), context.preferences.system.ui_scale
        matrix = context.region_data.perspective_matrix.copy()
        key = MARKS.scene, shown, size, scale, matrix
        self.content.is_due = True
        if key == self.key:
            return
        self.key, perspective = key, np.array(matrix, float)
        handles: Sequence[Grip] = []
        if shown is not None:
            try:
                handles = self.handles(context, robot_view(context.object), perspective, size[0] / scale)
            except RobokinError:  # the panel says why it cannot be read
                handles = []
        self.content = Shown(handles, self.parts(handles), perspective, size, scale)
        for i, (gizmo, content) in enumerate(self.own):
            if i < len(handles) or content.handle is not None:
                gizmo.show(content, self.content)


CLASSES = (ROBOKIN_GT_handle,)
