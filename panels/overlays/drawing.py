"""Drawing in the 3D view: batches of what is prepared, made anew only where that is another."""

from __future__ import annotations

import math
from bisect import bisect, insort
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import blf
import bpy
import gpu
import numpy as np
from mathutils import Vector

from ...properties.handlers import going_on
from ..shapes.on_screen import seen
from .batches import batch_of
from .pieces import Label
from .scene_view import SceneOverlays

WIDTH = 1.8  # of lines, in pixels of a screen of usual resolution
SIZE = 11  # of letters
PLATE = 0.6  # opacity of the plate below a label
LIGHT, DARKER = 0.6, 0.4  # background from which on colors are drawn darker, and by how much
NAVIGATION = 50  # pixels that the buttons of navigation take at the right
NOWHERE = math.inf, -math.inf
_OVER = ("HEADER", "TOOL_HEADER", "TOOLS", "UI")  # regions that lie over the view
_TWO_TRIANGLES = [[0, 2], [1, 2], [1, 3], [0, 2], [1, 3], [0, 3]]  # corners, of left, right, low, high

_handles: list[Any] = []
_shown = SceneOverlays()
_batches: dict[str, Any] = {"version": -1, "is_light": False}
_begun: dict[str, bool] = {}  # is_light: of the view whose shapes were drawn, and whose labels are to come


def overlays() -> SceneOverlays:
    """What is prepared."""
    return _shown


def _draw_shapes() -> None:
    context = bpy.context
    if not bpy.data.armatures:
        if _batches["version"] >= 0:  # the last robot is gone
            _forget()
        return
    if not context.space_data.overlay.show_overlays:
        return
    with going_on("drawing overlays"):
        _shown.look(context)
        if not _shown.is_any:
            _forget_batches()
            return
        is_light = _begun["is_light"] = _is_light(context)
        if _batches["version"] != _shown.version or _batches["is_light"] != is_light:
            _make_batches(is_light)
        gpu.state.blend_set("ALPHA")
        gpu.state.depth_test_set("NONE" if context.scene.robokin.overlays.xray else "LESS_EQUAL")
        try:
            _draw_batches(context)
        finally:
            gpu.state.depth_test_set("NONE")
            gpu.state.blend_set("NONE")


def _is_light(context: bpy.types.Context) -> bool:
    """Whether the view's background is so light that bright colors are lost on it."""
    shading, space = context.space_data.shading, context.preferences.themes[0].view_3d.space
    color = space.gradients.high_gradient
    if shading.type in ("SOLID", "WIREFRAME") and shading.background_type == "VIEWPORT":
        color = shading.background_color
    return sum(color[:3]) / 3.0 > LIGHT


def _forget_batches() -> None:
    _batches.clear()
    _batches.update(version=-1, is_light=False)


def _forget() -> None:
    _forget_batches()
    _shown.forget()


def _make_batches(is_light: bool) -> None:
    _batches.clear()
    _batches.update(version=_shown.version, is_light=is_light)
    tint = np.array((DARKER, DARKER, DARKER, 1.0), np.float32)
    for name, shader, kind, prepared in (
        ("triangles", "SMOOTH_COLOR", "TRIS", _shown.triangles),
        ("lines", "POLYLINE_SMOOTH_COLOR", "LINES", _shown.lines),
    ):
        if prepared is not None:
            points, colors = prepared
            _batches[name] = (
                gpu.shader.from_builtin(shader),
                batch_of(kind, points, colors * tint if is_light else colors),
            )


def _draw_batches(context: bpy.types.Context) -> None:
    if "triangles" in _batches:
        program, batch = _batches["triangles"]
        program.bind()
        batch.draw(program)
    if "lines" in _batches:
        program, batch = _batches["lines"]
        program.bind()
        program.uniform_float("viewportSize", (context.region.width, context.region.height))
        program.uniform_float("lineWidth", WIDTH * context.preferences.system.ui_scale)
        batch.draw(program)


def _draw_plates(placed: list[tuple[Label, float, float, float]], scale: float, shade: float) -> None:
    """Below labels, which are read on what is as light as their color too."""
    gap, high = 4.0 * scale, SIZE * scale
    sides = np.array([(x - gap, x + width + gap, y - gap, y + high) for _, x, y, width in placed])
    corners = np.zeros((6 * len(placed), 3), np.float32)
    corners[:, :2] = sides[:, _TWO_TRIANGLES].reshape(-1, 2)
    tints = np.full((len(corners), 4), (shade, shade, shade, PLATE), np.float32)
    program = gpu.shader.from_builtin("SMOOTH_COLOR")
    gpu.state.blend_set("ALPHA")
    program.bind()
    batch_of("TRIS", corners, tints).draw(program)


def _draw_labels() -> None:
    is_light = _begun.pop("is_light", None)
    if is_light is None or not _shown.labels:
        return
    context = bpy.context
    with going_on("drawing labels"):
        scale = context.preferences.system.ui_scale
        blf.size(0, SIZE * scale)
        darker, shade = (DARKER, 1.0) if is_light else (1.0, 0.0)
        placed = _placed(context, scale)
        if placed:  # not where all are behind the view
            _draw_plates(placed, scale, shade)
        _draw_texts(placed, darker)


def _draw_texts(placed: list[tuple[Label, float, float, float]], darker: float) -> None:
    for label, x, y, _ in placed:
        red, green, blue, opacity = label.color
        blf.color(0, darker * red, darker * green, darker * blue, opacity)
        blf.position(0, x, y, 0.0)
        blf.draw(0, label.text)


def _placed(context: bpy.types.Context, scale: float) -> list[tuple[Label, float, float, float]]:
    """(label, x, y, width) [pixels] of those that are seen."""
    found: list[tuple[Label, float, float, float]] = []
    taken: list[tuple[float, float, float]] = []
    low, high = _uncovered(context)
    region, perspective = context.region, np.array(context.region_data.perspective_matrix, float)
    size, gap = SIZE * scale, 8.0 * scale
    points = np.array([end for label in _shown.labels for end in (label.point, label.tail or label.point)])
    places = seen(points, perspective, region.width, region.height).tolist()
    for label, *ends in zip(_shown.labels, places[::2], places[1::2], strict=True):
        width = blf.dimensions(0, label.text)[0]
        before = [end for end in (ends if label.tail else ends[:1]) if end[0] == end[0]]  # the view
        place = label_place(before, (width, size), low, high, gap)
        if place is not None:
            found.append((label, *_free(*place, width, 1.3 * size, high[1], taken), width))
    return found


def label_place(
    ends: Sequence[Sequence[float]],
    size: tuple[float, float],
    low: Sequence[float],
    high: Sequence[float],
    gap: float,
) -> tuple[float, float] | None:
    """Left and lower edge [pixels] of a label of a size, inside of a rectangle. ends: where it belongs, and the tail of
    the arrow that ends there, where there is one: it lies beyond the end, or beside the arrow where that has no room.
    None where nothing is seen inside, or too little."""
    if not ends:
        return None
    wide, tall = size[0] + 2.0 * gap, 0.5 * size[1] + gap
    if len(ends) == 1 and low[0] <= ends[0][0] <= high[0] - wide and low[1] + tall <= ends[0][1] <= high[1] - tall:
        return ends[0][0] + gap, ends[0][1] - 0.5 * size[1]  # as most of them; what follows finds the same
    at, low, high = Vector(ends[0]), Vector(low), Vector(high)
    step = at - Vector(ends[-1])
    first, last = _inside(at, -step, low, high)
    if max(first, 0.0) > min(last, 1.0):
        return None
    end, along = at - max(first, 0.0) * step, step.normalized() if any(step) else Vector((1.0, 0.0))
    room = Vector((0.5 * wide, tall))
    beyond, k = end.copy(), int(abs(along.x) < abs(along.y))
    beyond[k] += math.copysign(room[k], along[k])
    found = [] if _inside(beyond, Vector((0.0, 0.0)), low + room, high - room) == NOWHERE else [(0.0, beyond)]
    for normal in (along.orthogonal(), -along.orthogonal()) if not found else ():
        middle = end + (abs(normal.x) * room.x + abs(normal.y) * room.y) * normal
        first, last = _inside(middle, along, low + room, high - room)
        if first <= last:
            slide = min(max(first, 0.0), last)
            found.append((abs(slide), middle + slide * along))
    if not found:
        return None
    middle = min(found, key=itemgetter(0))[1]
    return middle.x - 0.5 * size[0], middle.y - 0.5 * size[1]


def _inside(start: Vector, step: Vector, low: Vector, high: Vector) -> tuple[float, float]:
    """From which share of a step to which it leads through a rectangle."""
    first, last = -math.inf, math.inf
    for k in range(2):
        if step[k]:
            near, far = sorted(((low[k] - start[k]) / step[k], (high[k] - start[k]) / step[k]))
            first, last = max(first, near), min(last, far)
        elif not low[k] <= start[k] <= high[k]:
            return NOWHERE
    return first, last


def _uncovered(context: bpy.types.Context) -> tuple[tuple[float, float], tuple[float, float]]:
    """The corners [pixels] of what neither headers, toolbar, sidebar nor the buttons of navigation cover."""
    own = context.region
    left, low, right, high = 0.0, 0.0, float(own.width), float(own.height)
    for other in context.area.regions:
        x, y = float(other.x - own.x), float(other.y - own.y)
        if other.type not in _OVER or min(other.width, other.height) <= 1 or not (0 <= x < right and 0 <= y < high):
            continue  # is none, is hidden, or stands beside it
        if other.alignment == "LEFT":
            left = max(left, x + other.width)
        elif other.alignment == "RIGHT":
            right = min(right, x)
        elif other.alignment == "TOP":
            high = min(high, y)
        elif other.alignment == "BOTTOM":
            low = max(low, y + other.height)
    if context.preferences.view.show_navigate_ui and context.space_data.show_gizmo_navigate:
        right -= NAVIGATION * context.preferences.system.ui_scale
    return (left, low), (max(right, left), max(high, low))


def _free(
    x: float, y: float, width: float, height: float, top: float, taken: list[tuple[float, float, float]]
) -> tuple[float, float]:
    """The place of a label, moved up past labels that are placed already, or down where the top is too near.
    taken: (y, left, right) of these, sorted."""
    free = y
    for at, left, right in taken[bisect(taken, (y - 1.1 * height,)) :]:  # those before are too low
        if at - free >= height:
            break
        if left < x + width and x < right and free - at < height:
            free = at + height
    if free + height > top:
        free = y
        for at, left, right in reversed(taken[: bisect(taken, (y + 1.1 * height,))]):
            if left < x + width and x < right and abs(at - free) < height:
                free = at - height
    insort(taken, (free, x, x + width))
    return x, free


def register() -> None:
    if not bpy.app.background:
        for draw, when in ((_draw_shapes, "POST_VIEW"), (_draw_labels, "POST_PIXEL")):
            _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", when))


def unregister() -> None:
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    _forget()
