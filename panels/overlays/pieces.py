"""What an overlay prepares: coloured segments and triangles, and labels."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...robokin.arrays import Array

Color = tuple[float, ...]


class Label(NamedTuple):
    """Beside a point. tail: the other end of the arrow that ends there; the label lies beyond it, never on it."""

    text: str
    point: Sequence[float]
    color: Color
    tail: Sequence[float] | None = None


@dataclass(eq=False)
class Pieces:
    """lines, triangles: (points (n, 2 or 3, 3) in the world, colour (4,) or (n, 4)).   labels: beside their points."""

    lines: list[tuple[Array, Array | Color]] = field(default_factory=list)
    triangles: list[tuple[Array, Array | Color]] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)

    def label(self, text: str, point: Array, color: Color, tail: Array | None = None) -> None:
        self.labels.append(Label(text, point.tolist(), color, None if tail is None else tail.tolist()))

    def add(self, other: Pieces) -> None:
        self.lines += other.lines
        self.triangles += other.triangles
        self.labels += other.labels

    def are_those_of(self, other: Pieces) -> bool:
        """Whether the segments and triangles are the same ones, made once, as the other's."""
        own, others = [*self.lines, None, *self.triangles], [*other.lines, None, *other.triangles]
        return len(own) == len(others) and all(map(operator.is_, own, others))


def vertices(pieces: list[tuple[Array, Array | Color]]) -> tuple[Array, Array] | None:
    """(points (v, 3), colours (v, 4)) in single precision, as the graphics card takes them; None without any."""
    count = sum(shape.shape[0] * shape.shape[1] for shape, _ in pieces)
    if not count:
        return None
    points, colors, first = np.empty((count, 3), np.float32), np.empty((count, 4), np.float32), 0
    for shape, color in pieces:
        size, last = shape.shape[1], first + shape.shape[0] * shape.shape[1]
        points[first:last] = shape.reshape(-1, 3)
        colors[first:last] = np.repeat(color, size, axis=0) if isinstance(color, np.ndarray) else color
        first = last
    return points, colors
