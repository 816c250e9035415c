"""Convex polygons in a plane."""

from __future__ import annotations

import numpy as np

from ..arrays import Array

Corner = tuple[float, float]


def convex_hull(points: Array) -> Array:
    """(m, 2) corners of the convex hull of points (n, 2), counter-clockwise; 2 or 1 when they are on a line.

    (Andrew, "Another efficient algorithm for convex hulls in two dimensions", Inf. Process. Lett. 9, 1979.)
    """
    ordered = sorted({(x, y) for x, y in points.tolist()})
    flat = 1e-12 * max((max(own) - min(own) for own in zip(*ordered, strict=True)), default=0.0) ** 2

    def half(sequence: list[Corner]) -> list[Corner]:
        chain: list[Corner] = []
        for p in sequence:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= flat:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]) if len(ordered) > 1 else ordered).reshape(-1, 2)


def _turn(a: Corner, b: Corner, c: Corner) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
