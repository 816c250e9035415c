"""Joints and their limits, about and along the Z axis of a joint's own frame; 1 is the size of the joint."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...robokin.arrays import Array
from ...robokin.spatial import quaternion
from ...robokin.spatial.swing_twist import from_swing_and_twist
from .lines import arc, circle, joined, on_circle, polyline

TURN = 2.0 * np.pi
GAP = 0.15  # between the turns of a spiral: its marks and the knob of its needle are on one of them
TICK = 0.1  # half the length of the mark at a limit
WIDEST = 4.0 * TURN  # of a range that is drawn whole; wider ones count as free
NEAR = 0.05  # of its range: a joint that is nearer to its limit is shown red
_ENDS = np.array([[1.0, 0, 0], [0, 1.0, 0], [-1.0, 0, 0], [0, -1.0, 0], [0, 0, 1.0], [0, 0, -1.0]])
_AROUND = [(0, 1), (1, 2), (2, 3), (3, 0)]
KNOB_FACES = _ENDS[[[a, b, c] for a, b in _AROUND for c in (4, 5)]]  # (8, 3, 3) an octahedron about the origin
KNOB_EDGES = _ENDS[[*_AROUND, *((a, c) for a in range(4) for c in (4, 5))]]  # (12, 2, 3)
KNOB_FACES.flags.writeable = KNOB_EDGES.flags.writeable = False
NEAREST = np.radians(10.0)  # of wide ranges, at most


def has_spiral(lower: float, upper: float) -> bool:
    return bool(upper - lower > TURN and upper - lower <= WIDEST)


def radius_at(angles: Array | float, lower: Array | float, upper: Array | float) -> Array:
    """Where the needle ends, 1 at angle 0: on a spiral where the range is more than a turn."""
    wide = np.subtract(upper, lower)
    return 1.0 + np.where((wide > TURN) & (wide <= WIDEST), GAP, 0.0) * np.asarray(angles) / TURN


@lru_cache(maxsize=64)
def limit_arc(lower: float, upper: float) -> Array:
    """The range of a turning joint with a mark at each limit; a circle without limits, a spiral of several turns. It
    is kept, since handles are made anew at each redraw of a robot that moves: not to be written to."""
    if not upper - lower <= WIDEST:
        marks = [_tick(angle) for angle in (lower, upper) if np.isfinite(angle)]
        return joined(circle(), *marks)
    pitch = GAP if has_spiral(lower, upper) else 0.0
    return joined(arc(lower, upper, 1.0, pitch), _tick(lower, pitch), _tick(upper, pitch))


def _tick(angle: float, pitch: float = 0.0) -> Array:
    radius = 1.0 + pitch * angle / TURN
    return polyline(on_circle(np.array([angle, angle]), radius + TICK * np.array([-1.0, 1.0])))


@lru_cache(maxsize=64)
def arc_fan(lower: float, upper: float, inner: float = 0.0) -> Array:
    """(n, 3, 3) triangles of the sector between two angles, from the inner radius to 1; at most a turn of it."""
    span = min(upper - lower, TURN)
    count = max(int(np.ceil(span / TURN * 64)), 1)
    angles = lower + span * np.linspace(0.0, 1.0, count + 1)
    outer, near = on_circle(angles, 1.0), on_circle(angles, inner)
    first = np.stack((near[:-1], outer[:-1], outer[1:]), axis=1)
    return first if inner == 0.0 else np.concatenate((first, np.stack((near[:-1], outer[1:], near[1:]), axis=1)))


def rail(lower: float, upper: float, size: float) -> Array:
    """The stroke of a sliding joint [m] with a mark at each limit; without limits, `size` to both sides. size: of the
    joint [m]."""
    low, high = (end if np.isfinite(end) else sign * size for end, sign in ((lower, -1.0), (upper, 1.0)))
    shapes = [np.array([[[0.0, 0.0, low], [0.0, 0.0, high]]])]
    for end, at in ((lower, low), (upper, high)):
        if np.isfinite(end):
            bar = 0.35 * size * np.array([[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]]])
            shapes.append(bar + np.array([0.0, 0.0, at]))
        else:
            tip = np.array([0.0, 0.0, at])
            back = 0.15 * size * np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]) - [0.0, 0.0, np.sign(at) * 0.3 * size]
            shapes.append(np.array([[tip, tip + side] for side in back]))
    return joined(*shapes)


def cone_border(a: float, b: float, basis: Array, count: int = 64) -> Array:
    """(n, 3) points at distance 1 where the axis of a ball's swing cone can point at most. a, b: half-angles [rad],
    infinite where free.   basis: (3, 3) columns u, w, axis."""
    a, b = min(a, np.pi), min(b, np.pi)
    turn = np.linspace(0.0, TURN, count + 1)
    swing = np.stack((a * np.cos(turn), b * np.sin(turn)), axis=-1)
    turns = from_swing_and_twist(swing, np.zeros(len(turn)), basis)
    return np.array([quaternion.to_matrix(q) @ basis[:, 2] for q in turns])


def swing_cone(a: float, b: float, basis: Array) -> Array:
    """The border of the cone, with eight lines to its apex; nothing where the swing is free."""
    if not min(a, b) < np.pi:
        return np.zeros((0, 2, 3))
    border = cone_border(a, b, basis)
    return joined(polyline(border), np.stack((np.zeros((8, 3)), border[:-1:8]), axis=1))


def margins(lower: Array, upper: Array, lengths: Array) -> Array:
    """(n,) how far from its limits a joint comes near them. lengths: (n,) bool, whether the range is one of lengths."""
    wide = upper - lower
    bounded = np.isfinite(wide)
    near = np.where(bounded, NEAR * np.where(bounded, wide, 1.0), NEAREST)
    return np.maximum(np.where(lengths, near, np.minimum(near, NEAREST)), 1e-9)


def nearness(values: Array | float, lower: Array | float, upper: Array | float, margin: Array | float) -> Array:
    """(n,) 0 where a joint is free of its limits, 1 at them, between where it is nearer than its margin."""
    room = np.minimum(values - lower, upper - values)
    return np.minimum(np.maximum(1.0 - room / margin, 0.0), 1.0)
