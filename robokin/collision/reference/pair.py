"""Two shapes beside each other, without their balls, and their Minkowski difference M = A - B: A and B touch where M
has the origin."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...spatial import so3
from ..core import Core

CHUNK = 4096  # directions looked at together: what the cache holds
LEAST = 1e-150  # length of a vector that has a direction
TOUCHING = 1e-11  # of the size: nearer, the way from point to point does not say which way is out


@dataclass(frozen=True, eq=False)
class Pair:
    """Ra, Rb: (3, 3) rotations to the world. shift: (3,) from the origin of A to that of B, in the axes of the world.
    size: of both together, without balls: what tolerances are counted in.

    A point of M comes as (3, 3): the points of A and of B that it is the difference of, each from the origin of its
    shape, so that two that are near are distinguished as well as in small shapes; and itself, from the origin."""

    a: Core
    b: Core
    Ra: Array
    Rb: Array
    shift: Array
    size: float

    @classmethod
    def of(cls, a: Core, Ta: Array, b: Core, Tb: Array) -> Pair:
        """Ta, Tb: (12,) placements."""
        shift = Tb[9:] - Ta[9:]
        size = float(sum(np.linalg.norm(x) for x in (shift, a.centre, b.centre)))
        size += (a.bound - a.radius) + (b.bound - b.radius)
        return cls(a, b, Ta[:9].reshape(3, 3), Tb[:9].reshape(3, 3), shift, size)

    def moved(self, shift: Array) -> Pair:
        """B moved."""
        return replace(self, shift=self.shift + shift)

    def support(self, n: Array) -> Array:
        """(3, 3) the point of M that is farthest along n."""
        return self.corner(n) + self.rim(n)

    def corner(self, n: Array) -> Array:
        """`support` without the discs."""
        far_a = self.Ra @ self.a.points[np.argmax(self.a.points @ (self.Ra.T @ n))]
        far_b = self.Rb @ self.b.points[np.argmax(self.b.points @ (self.Rb.T @ -n))]
        return np.stack((far_a, far_b, far_a - far_b - self.shift))

    def rim(self, n: Array) -> Array:
        """What the discs add to `corner`."""
        far_a, far_b = self.Ra @ _rim(self.a, self.Ra.T @ n), self.Rb @ _rim(self.b, self.Rb.T @ -n)
        return np.stack((far_a, far_b, far_a - far_b))

    def reach(self, n: Array) -> float:
        """How far M reaches along the unit vector n: by that much B is to go along n to be free."""
        return float(self.support(n)[2] @ n)

    def reaches(self, directions: Array) -> Array:
        """(n,) the same of many unit vectors (n, 3)."""
        out = np.empty(len(directions))
        for start in range(0, len(out), CHUNK):
            n = directions[start : start + CHUNK]
            out[start : start + CHUNK] = _extents(self.a, n @ self.Ra) + _extents(self.b, n @ -self.Rb) - n @ self.shift
        return out


def across(x: Array) -> Array:
    """(3,) unit vector across x, or any where x is 0."""
    axis = np.eye(3)[np.argmin(abs(x))]
    n = so3.cross(x, axis)
    length = np.linalg.norm(n)
    return n / length if length > LEAST else axis


def _extents(core: Core, n: Array) -> Array:
    return (n @ core.points.T).max(axis=1) + core.disc * np.hypot(n[:, 0], n[:, 1])


def _rim(core: Core, n: Array) -> Array:
    across = np.hypot(n[0], n[1])
    return core.disc * np.array([n[0], n[1], 0.0]) / across if across > 0.0 else np.zeros(3)
