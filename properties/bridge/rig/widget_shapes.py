"""Shapes of unit size that bones are drawn as, made of lines: vertices and edges."""

from __future__ import annotations

import math

import numpy as np

Wire = tuple[list[tuple[float, float, float]], list[tuple[int, int]]]


def _circle(radius: float, plane: str, count: int = 48) -> Wire:
    turn = [2.0 * math.pi * i / count for i in range(count)]
    points = [(radius * math.cos(a), radius * math.sin(a)) for a in turn]
    vertices = [(x, 0.0, y) if plane == "xz" else (x, y, 0.0) if plane == "xy" else (0.0, x, y) for x, y in points]
    return vertices, [(i, (i + 1) % count) for i in range(count)]


def _lines(*lines: list[tuple[float, float, float]]) -> Wire:
    vertices: list[tuple[float, float, float]] = []
    edges: list[tuple[int, int]] = []
    for line in lines:
        edges += [(len(vertices) + i, len(vertices) + i + 1) for i in range(len(line) - 1)]
        vertices += line
    return vertices, edges


def _joined(*parts: Wire) -> Wire:
    vertices: list[tuple[float, float, float]] = []
    edges: list[tuple[int, int]] = []
    for more, links in parts:
        edges += [(a + len(vertices), b + len(vertices)) for a, b in links]
        vertices += more
    return vertices, edges


def _ring() -> Wire:
    """About Y, with a pointer that shows where the joint stands and the axis as a short line."""
    pointer = [(0.0, 0.0, 1.0), (0.12, 0.0, 1.22), (-0.12, 0.0, 1.22), (0.0, 0.0, 1.0)]
    return _joined(_circle(1.0, "xz"), _lines(pointer, [(0.0, -0.3, 0.0), (0.0, 0.3, 0.0)]))


def _rail() -> Wire:
    """Along Y, an arrow at both ends."""
    return _lines(
        [(0.0, -1.2, 0.0), (0.0, 1.2, 0.0)],
        [(0.25, 0.9, 0.0), (0.0, 1.2, 0.0), (-0.25, 0.9, 0.0)],
        [(0.25, -0.9, 0.0), (0.0, -1.2, 0.0), (-0.25, -0.9, 0.0)],
        [(0.25, -0.3, 0.0), (0.25, 0.3, 0.0), (-0.25, 0.3, 0.0), (-0.25, -0.3, 0.0), (0.25, -0.3, 0.0)],
    )


def _cylindrical() -> Wire:
    """A ring to turn, on a rail to slide."""
    return _joined(_ring(), _rail())


def _screw() -> Wire:
    """A ring on a thread about Y."""
    turn = [6.0 * math.pi * i / 72 for i in range(73)]
    thread = [(0.35 * math.cos(a), -1.2 + 2.4 * a / turn[-1], 0.35 * math.sin(a)) for a in turn]
    return _joined(_ring(), _lines(thread))


def _universal() -> Wire:
    """Two rings, the outer one about Y, the inner one about Z, and the cross of their axes."""
    cross = _lines([(0.0, -1.25, 0.0), (0.0, 1.25, 0.0)], [(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)])
    return _joined(_circle(1.25, "xz"), _circle(1.0, "xy"), cross)


def _gimbal() -> Wire:
    """Three rings, one inside the other: about Y, Z and X."""
    return _joined(_circle(1.5, "xz"), _circle(1.25, "xy"), _circle(1.0, "yz"))


def _ball() -> Wire:
    return _joined(_circle(1.0, "xz"), _circle(1.0, "xy"), _circle(1.0, "yz"))


def _socket() -> Wire:
    """A ball on a pin along Y, the axis of twist, with a flag that shows the twist."""
    pin = [(0.0, 1.0, 0.0), (0.0, 2.2, 0.0)]
    flag = [(0.0, 2.2, 0.0), (0.0, 2.0, 0.45), (0.0, 1.8, 0.0)]
    return _joined(_ball(), _lines(pin, flag))


def _plane() -> Wire:
    """A ring about Y inside a square with arrows along the two ways in its plane."""
    square = [(1.0, 0.0, 1.0), (-1.0, 0.0, 1.0), (-1.0, 0.0, -1.0), (1.0, 0.0, -1.0), (1.0, 0.0, 1.0)]
    arrows = [
        [(0.2, 0.0, 1.1), (0.0, 0.0, 1.4), (-0.2, 0.0, 1.1)],
        [(1.1, 0.0, 0.2), (1.4, 0.0, 0.0), (1.1, 0.0, -0.2)],
    ]
    return _joined(_circle(0.8, "xz"), _lines(square, *arrows))


def _free() -> Wire:
    """A ball with its three axes."""
    return _joined(_ball(), _lines(*([tuple(-1.5 * x for x in a), tuple(1.5 * x for x in a)] for a in np.eye(3))))


def _base() -> Wire:
    """A square on the ground with an arrow to the front (X)."""
    square = [(1.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0)]
    return _lines(square, [(1.0, 0.25, 0.0), (1.4, 0.0, 0.0), (1.0, -0.25, 0.0)])


def _wheels() -> Wire:
    """A base on two wheels at its sides."""
    sides = [
        [(0.5, y, 0.0), (-0.5, y, 0.0), (-0.5, 1.2 * y, 0.0), (0.5, 1.2 * y, 0.0), (0.5, y, 0.0)] for y in (1.05, -1.05)
    ]
    return _joined(_base(), _lines(*sides))


def _fixed() -> Wire:
    return _lines(*([tuple(-0.4 * x for x in axis), tuple(0.4 * x for x in axis)] for axis in np.eye(3)))


SHAPES = {
    "Ring": _ring,
    "Rail": _rail,
    "Cylindrical": _cylindrical,
    "Screw": _screw,
    "Universal": _universal,
    "Gimbal": _gimbal,
    "Ball": _socket,
    "Plane": _plane,
    "Free": _free,
    "Base": _base,
    "Wheels": _wheels,
    "Fixed": _fixed,
}
