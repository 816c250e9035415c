"""The handles of one joint: what they look like and where the mouse takes hold of them, in the world."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.tree import axis_to_z
from ..overlays.pieces import Color, Pieces
from ..overlays.robot_view import RobotView, Structure
from ..shapes import colors
from ..shapes.joints import (
    KNOB_EDGES,
    KNOB_FACES,
    TURN,
    arc_fan,
    cone_border,
    limit_arc,
    nearness,
    radius_at,
    rail,
    swing_cone,
)
from ..shapes.lines import arrow, circle, moved, on_circle
from .handle_gizmo import Placed

OUTSIDE = 1.6  # of the ring of its bone: how far out the handles are
LEAST = 55.0  # [pixels] radius of the smallest handle
KNOB = 0.085  # of the radius: half the size of a knob
TINTS = ((0.95, 0.36, 0.36, 0.95), (0.5, 0.82, 0.3, 0.95), (0.35, 0.6, 1.0, 0.95))  # of several freedoms
BEYOND = 0.3  # of the radius: from the end of a rail to the knob of its limit, so that the value is free at its limit
REDDER = 32  # steps in which what is near its limit turns red, so that few shapes are made while it does
SECTORS = 256  # of a turn, in which what a joint has swept is shown: shapes are kept, and only placed at each redraw
LOWER, VALUE, UPPER = "LOWER", "VALUE", "UPPER"
_X_TO_Z = np.array([[0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


@dataclass(eq=False)
class Handle:
    """freedom: which of the joint's, from 1.   end: what is dragged.   parts: what it looks like.
    rows: (frame (4, 4), points (n, 3) in a row there) that the mouse takes hold of."""

    freedom: int
    end: str
    parts: Sequence[Placed]
    rows: Sequence[tuple[Array, Array]]

    @property
    def grip(self) -> Array:
        return np.concatenate([moved(frame, points) for frame, points in self.rows])

    @property
    def operates(self) -> tuple[str, dict[str, Any]]:
        return _drag(self.freedom, self.end)


@cache
def _drag(freedom: int, end: str) -> tuple[str, dict[str, Any]]:
    return "robokin.drag_joint", {"freedom": freedom, "end": end}


def joint_handles(view: RobotView, joint: int, pixel: float) -> list[Handle]:
    """Handles at limits first, which lie on those of values. joint: of the model.   pixel: [Blender units] its size
    where the joint is."""
    structure = view.structure
    assert structure is not None
    nodes, motions = structure.motions[joint]
    found: list[Handle] = []
    has_limits = structure.robot.model.joints[joint].mimic is None
    for i, (node, motion) in enumerate(zip(nodes, motions, strict=True)):
        radius = _radius(view, structure, node, pixel)
        tint = colors.RANGE if len(nodes) == 1 else TINTS[i]
        if motion is MotionPrimitive.BALL:
            found += _ball(view, structure, node, radius)
        elif motion is MotionPrimitive.TRANSLATION:
            found += _slide(view, structure, node, i, radius, tint, has_limits)
        elif motion is not MotionPrimitive.FREE:
            # One ring inside the other, as those of a gimbal.
            scale = 1.0 + 0.22 * (sum(each is not MotionPrimitive.TRANSLATION for each in motions[i:]) - 1)
            found += _turn(view, structure, node, i, scale * radius, tint, has_limits)
    return sorted(found, key=lambda handle: handle.end == VALUE)


def _radius(view: RobotView, structure: Structure, node: int, pixel: float) -> float:
    """[Blender units] as large as the joint is shown, and never too small to take hold of."""
    return max(OUTSIDE * float(structure.sizes[node]) * view.scale(), LEAST * pixel)


def _unit_frame(T: Array, size: float) -> Array:
    """T (4, 4) with axes that are so much longer."""
    frame = np.array(T)
    frame[:3, :3] *= size
    return frame


def _value(view: RobotView, structure: Structure, node: int) -> float:
    tree = structure.robot.model.tree
    return float(tree.scale[node] * view.q[tree.iq[node]] + tree.offset[node])


def _tint(structure: Structure, node: int, value: float, tint: Color) -> Color:
    lower, upper, margin = (float(each[node]) for each in (structure.lower, structure.upper, structure.margin))
    if min(value - lower, upper - value) >= margin:
        return tint
    share = np.round(REDDER * nearness(value, lower, upper, margin)) / REDDER
    return tuple(colors.blend(tint, colors.BAD, share).tolist())


@lru_cache(maxsize=64)
def _knob(tint: Color, point: tuple[float, ...] = (0.0, 0.0, 0.0)) -> Pieces:
    """An octahedron about a point."""
    return Pieces([(KNOB * KNOB_EDGES + point, tint)], [(KNOB * KNOB_FACES + point, colors.faded(tint, 0.8))])


@lru_cache(maxsize=64)
def _ends(lower: float, upper: float) -> tuple[tuple[float, ...] | None, ...]:
    """Where the knobs of both limits of a turn are; None without one."""
    return tuple(
        tuple((1.12 * on_circle(np.array([angle]), radius_at(angle, lower, upper))[0]).tolist())
        if np.isfinite(angle)
        else None
        for angle in (lower, upper)
    )


def _limit_knobs(i: int, frame: Array, ends: Sequence[tuple[float, ...] | None], tint: Color) -> list[Handle]:
    """ends: places of both limits in the frame, None without one."""
    return [
        Handle(i + 1, end, (Placed(frame, _knob(tint, point)),), ((frame, np.array([point])),))
        for end, point in zip((LOWER, UPPER), ends, strict=True)
        if point is not None
    ]


@lru_cache(maxsize=64)
def _range(lower: float, upper: float, tint: Color) -> Pieces:
    low, high = (lower, upper) if upper - lower <= TURN else (-np.pi, np.pi)
    fan = arc_fan(low, high, 0.86), colors.faded(tint, 0.22)
    return Pieces([(limit_arc(lower, upper), tint)], [fan])


@lru_cache(maxsize=64)
def _bow(lower: float, upper: float) -> Array:
    """(n, 3) points in a row along the range."""
    bow = limit_arc(lower, upper)
    return np.concatenate((bow[:, 0], bow[-1:, 1]))


@lru_cache(maxsize=64)
def _needle(reach: float = 1.0) -> Pieces:
    """Along X."""
    own = Pieces([(np.array([[[0.0, 0.0, 0.0], [reach, 0.0, 0.0]]]), colors.NEEDLE)])
    own.add(_knob(colors.NEEDLE, (reach, 0.0, 0.0)))
    return own


@lru_cache(maxsize=2 * SECTORS)
def _swept(sectors: int, tint: Color) -> Pieces:
    """From 0 to where the joint is."""
    ends = sorted((0.0, sectors * TURN / SECTORS))
    return Pieces([], [(arc_fan(*ends), colors.faded(tint, 0.12))])


def _turn(
    view: RobotView, structure: Structure, node: int, i: int, radius: float, tint: Color, has_limits: bool
) -> list[Handle]:
    lower, upper = float(structure.lower[node]), float(structure.upper[node])
    value = _value(view, structure, node)
    frame = _unit_frame(view.before[node], radius / view.scale())
    tint = _tint(structure, node, value, tint)
    turned = _unit_frame(frame @ _about_z(value), float(radius_at(value, lower, upper)))
    parts = [Placed(frame, _range(lower, upper, tint)), Placed(turned, _needle())]
    sectors = round(value * SECTORS / TURN)
    if 0 < abs(sectors) < SECTORS:
        parts.append(Placed(frame, _swept(sectors, tint)))
    outer = np.array([[0.5, 0.0, 0.0], [1.0, 0.0, 0.0]])  # the link at the axis is left to tools
    rows = (frame, _bow(lower, upper)), (turned, outer)
    found = [Handle(i + 1, VALUE, parts, rows)]
    return found + _limit_knobs(i, frame, _ends(lower, upper), tint) if has_limits else found


@lru_cache(maxsize=64)
def _arrows(tint: Color) -> Pieces:
    """To both sides along Z."""
    start, end = np.zeros(3), np.array([0.0, 0.0, 1.0])
    return Pieces([(np.concatenate((arrow(start, end, 0.2), arrow(start, -end, 0.2))), tint)])


@lru_cache(maxsize=64)
def _rail(tint: Color) -> tuple[Pieces, Pieces]:
    """The stroke of a slide, along Z from 0 to 1, and the mark of one of its limits."""
    stroke, *bars = rail(0.0, 1.0, 0.4)
    mark = np.array(bars[:2])
    return Pieces([(stroke[None], tint)]), Pieces([(mark, tint)])


def _along_z(frame: Array, z: float) -> Array:
    """(4, 4) frame moved by z of its own."""
    moved = frame.copy()
    moved[:3, 3] += z * frame[:3, 2]
    return moved


def _slide(
    view: RobotView, structure: Structure, node: int, i: int, radius: float, tint: Color, has_limits: bool
) -> list[Handle]:
    """Shapes of size 1, each in a frame of its own, are the same ones at every place and size."""
    lower, upper = float(structure.lower[node]), float(structure.upper[node])
    value = _value(view, structure, node)
    tint = _tint(structure, node, value, tint)
    frame, size = view.before[node], radius / view.scale()
    knobs = _unit_frame(frame, size)
    at = _along_z(knobs, value / size)
    if not (np.isfinite(lower) and np.isfinite(upper)):
        ends = value - size, value + size
        shown = [Placed(at, _arrows(tint))]
    else:
        ends = lower, upper
        stroke, mark = _rail(tint)
        whole = _along_z(frame, lower)
        whole[:3, 2] *= upper - lower
        shown = [Placed(whole, stroke), *(Placed(_along_z(knobs, end / size), mark) for end in ends)]
    row = np.array([[0.0, 0.0, z] for z in (ends[0], value, ends[1])])
    found = [Handle(i + 1, VALUE, (*shown, Placed(at, _knob(colors.NEEDLE))), ((frame, row),))]
    if has_limits:
        for end, limit in (LOWER, lower / size - BEYOND), (UPPER, upper / size + BEYOND):
            if np.isfinite(limit):
                beyond = _along_z(knobs, limit)
                found.append(Handle(i + 1, end, (Placed(beyond, _knob(tint)),), ((beyond, np.zeros((1, 3))),)))
    return found


def _about_z(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0, 0.0], [s, c, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


@lru_cache(maxsize=8)
def _ring(i: int) -> Pieces:
    return Pieces([((1.0 + 0.08 * i) * circle(), TINTS[i])])


@lru_cache(maxsize=8)
def _cone(a: float, b: float, basis: tuple[tuple[float, ...], ...]) -> Pieces:
    border = 1.25 * cone_border(a, b, np.array(basis))
    apex = np.zeros((len(border) - 1, 3))
    sides = np.stack((apex, border[:-1], border[1:]), axis=1)
    edges = 1.25 * swing_cone(a, b, np.array(basis))
    return Pieces([(edges, colors.RANGE)], [(sides, colors.faded(colors.RANGE, 0.08))])


def _ball(view: RobotView, structure: Structure, node: int, radius: float) -> list[Handle]:
    """A ring about each axis that goes with the ball, and the cone that its axis stays in."""
    tree = structure.robot.model.tree
    cone = next((cone for cone in structure.robot.model.limits.cones if cone.q == tree.iq[node]), None)
    basis = structure.robot.model.limits.ball_axes(int(tree.iq[node]))
    fixed, moving = (_unit_frame(frame[node], radius / view.scale()) for frame in (view.before, view.nodes))
    found = []
    for i in range(3):
        turned = np.eye(4)
        turned[:3, :3] = axis_to_z(basis[:, i])
        frame = moving @ turned
        parts, points = [Placed(frame, _ring(i))], _ring(i).lines[0][0]
        if i == 2 and cone is not None and min(cone.a, cone.b) < np.pi:
            parts.append(Placed(fixed, _cone(float(cone.a), float(cone.b), tuple(map(tuple, basis.tolist())))))
        if i == 2:
            parts.append(Placed(frame @ _X_TO_Z, _needle(1.25)))
        found.append(Handle(i + 1, VALUE, parts, ((frame, np.concatenate((points[:, 0], points[-1:, 1]))),)))
    return found
