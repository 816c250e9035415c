"""The handles of one joint: what they look like and where the mouse takes hold of them, in the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.tree import axis_to_z
from ..overlays.pieces import Pieces
from ..overlays.robot_view import RobotView, Structure
from ..shapes import colors
from ..shapes.joints import (
    KNOB_EDGES,
    KNOB_FACES,
    arc_fan,
    cone_border,
    limit_arc,
    nearness,
    radius_at,
    rail,
    swing_cone,
)
from ..shapes.lines import arrow, circle, on_circle, polyline

OUTSIDE = 1.6  # of the ring of its bone: how far out the handles are
LEAST = 55.0  # [pixels] radius of the smallest handle
KNOB = 0.085  # of the radius: half the size of a knob
TINTS = ((0.95, 0.36, 0.36, 0.95), (0.5, 0.82, 0.3, 0.95), (0.35, 0.6, 1.0, 0.95))  # of several freedoms
BEYOND = 0.3  # of the radius: from the end of a rail to the knob of its limit, so that the value is free at its limit
LOWER, VALUE, UPPER = "LOWER", "VALUE", "UPPER"


@dataclass(eq=False)
class Handle:
    """freedom: which of the joint's, from 1.   end: what is dragged.   grip: (n, 3) points in a row that the mouse
    takes hold of."""

    freedom: int
    end: str
    grip: Array
    pieces: Pieces

    @property
    def operates(self) -> tuple[str, dict[str, Any]]:
        return "robokin.drag_joint", {"freedom": self.freedom, "end": self.end}


def joint_handles(view: RobotView, joint: int, pixel: float) -> list[Handle]:
    """Handles at limits first, which lie on those of values. joint: of the model.   pixel: [Blender units] its size
    where the joint is."""
    structure = view.structure
    assert structure is not None
    nodes = np.flatnonzero(structure.joint == joint).tolist()
    motions = [MotionPrimitive(structure.robot.model.tree.motion[node]) for node in nodes]
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
    """T (4, 4) with axes of the length `size` of the world."""
    frame = np.array(T)
    frame[:3, :3] *= size / np.cbrt(np.linalg.det(T[:3, :3]))
    return frame


def _at(T: Array, shape: Array) -> Array:
    return shape @ T[:3, :3].T + T[:3, 3]


def _tint(structure: Structure, node: int, value: float, tint: tuple[float, ...]) -> tuple[float, ...]:
    near = nearness(np.array([value]), structure.lower[[node]], structure.upper[[node]], structure.slides[[node]])
    return tuple(colors.blend(tint, colors.BAD, near)[0].tolist())


def _knob(point: Array, frame: Array, tint: tuple[float, ...]) -> Pieces:
    """An octahedron about a point of the frame."""
    edges, faces = KNOB * KNOB_EDGES + point, KNOB * KNOB_FACES + point
    return Pieces([(_at(frame, edges), tint)], [(_at(frame, faces), colors.faded(tint, 0.8))])


def _turn(
    view: RobotView, structure: Structure, node: int, i: int, radius: float, tint: tuple[float, ...], has_limits: bool
) -> list[Handle]:
    lower, upper = float(structure.lower[node]), float(structure.upper[node])
    value = float(structure.values(view.q)[node])
    frame = _unit_frame(view.before[node], radius)
    tint = _tint(structure, node, value, tint)
    bow = limit_arc(lower, upper)
    own = Pieces([(_at(frame, bow), tint)])
    low, high = (lower, upper) if upper - lower <= 2.0 * np.pi else (value - np.pi, value + np.pi)
    own.triangles.append((_at(frame, arc_fan(low, high, 0.86)), colors.faded(tint, 0.22)))
    swept = (0.0, value) if value > 0.0 else (value, 0.0)
    if 1e-3 < swept[1] - swept[0] < 2.0 * np.pi:
        own.triangles.append((_at(frame, arc_fan(*swept)), colors.faded(tint, 0.12)))
    reach = float(radius_at(value, lower, upper))
    needle = on_circle(np.array([value, value]), np.array([0.0, reach]))
    outer = on_circle(np.array([value, value]), np.array([0.5 * reach, reach]))  # the link at the axis is left to tools
    own.lines.append((_at(frame, polyline(needle)), colors.NEEDLE))
    own.add(_knob(needle[1], frame, colors.NEEDLE))
    found = [Handle(i + 1, VALUE, _at(frame, np.concatenate((bow[:, 0], bow[-1:, 1], outer))), own)]
    for end, angle in ((LOWER, lower), (UPPER, upper)):
        if has_limits and np.isfinite(angle):
            at = on_circle(np.array([angle]), radius_at(angle, lower, upper))[0] * 1.12
            found.append(Handle(i + 1, end, _at(frame, at[None]), _knob(at, frame, tint)))
    return found


def _slide(
    view: RobotView, structure: Structure, node: int, i: int, radius: float, tint: tuple[float, ...], has_limits: bool
) -> list[Handle]:
    lower, upper = float(structure.lower[node]), float(structure.upper[node])
    value = float(structure.values(view.q)[node])
    tint = _tint(structure, node, value, tint)
    metre = view.scale()
    frame, size = view.before[node], radius / metre
    here = np.array([0.0, 0.0, value])
    knobs = _unit_frame(frame, radius)
    if not (np.isfinite(lower) and np.isfinite(upper)):
        ends = here + np.array([[0.0, 0.0, -size], [0.0, 0.0, size]])
        shape = np.concatenate((arrow(here, ends[1], 0.2), arrow(here, ends[0], 0.2)))
    else:
        ends = np.array([[0.0, 0.0, lower], [0.0, 0.0, upper]])
        shape = rail(lower, upper, 0.4 * size)
    own = Pieces([(_at(frame, shape), tint)])
    own.add(_knob(here / size, knobs, colors.NEEDLE))
    found = [Handle(i + 1, VALUE, _at(frame, np.array([ends[0], here, ends[1]])), own)]
    for end, at, beyond in ((LOWER, lower, -BEYOND), (UPPER, upper, BEYOND)):
        if has_limits and np.isfinite(at):
            point = np.array([0.0, 0.0, at / size + beyond])
            found.append(Handle(i + 1, end, _at(knobs, point[None]), _knob(point, knobs, tint)))
    return found


def _ball(view: RobotView, structure: Structure, node: int, radius: float) -> list[Handle]:
    """A ring about each axis that goes with the ball, and the cone that its axis stays in."""
    tree = structure.robot.model.tree
    cone = next((cone for cone in structure.robot.model.limits.cones if cone.q == tree.iq[node]), None)
    basis = structure.robot.model.limits.ball_axes(int(tree.iq[node]))
    fixed, moving = (_unit_frame(frame[node], radius) for frame in (view.before, view.nodes))
    found = []
    for i in range(3):
        turned = np.eye(4)
        turned[:3, :3] = axis_to_z(basis[:, i])
        frame = moving @ turned
        ring = (1.0 + 0.08 * i) * circle()
        own = Pieces([(_at(frame, ring), TINTS[i])])
        if i == 2 and cone is not None and min(cone.a, cone.b) < np.pi:
            own.lines.append((_at(fixed, 1.25 * swing_cone(cone.a, cone.b, basis)), colors.RANGE))
            border = _at(fixed, 1.25 * cone_border(cone.a, cone.b, basis))
            apex = np.repeat(fixed[None, :3, 3], len(border) - 1, axis=0)
            own.triangles.append((np.stack((apex, border[:-1], border[1:]), axis=1), colors.faded(colors.RANGE, 0.08)))
        if i == 2:
            pole = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.25]])
            own.lines.append((_at(frame, polyline(pole)), colors.NEEDLE))
            own.add(_knob(pole[1], frame, colors.NEEDLE))
        found.append(Handle(i + 1, VALUE, _at(frame, np.concatenate((ring[:, 0], ring[-1:, 1]))), own))
    return found
