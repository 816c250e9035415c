"""What a beam can fall on: a plane or a mesh of triangles."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ....robokin.arrays import Array
from ....robokin.errors import TaskError
from ..checks import direction, numbers, vector

FLAT = 1e-12  # twice the area of a triangle over the square of a side: below, it has none
PARALLEL = 1e-6  # sine of the angle between beam and surface: below, they do not meet
PACKED = 13  # numbers of a surface as the kernel takes it

# A triangle of a mesh, field by field `struct rk_triangle`.
TRIANGLE = np.dtype(
    [
        ("corner", np.float64, 3),
        ("sides", np.float64, (2, 3)),  # from the corner to the two others
        ("normal", np.float64, 3),  # of unit length; 0 where the triangle has no area
        ("is_last", np.int32),  # of its mesh
        ("reserved", np.int32),
    ],
    align=True,
)


class Surface(ABC):
    @abstractmethod
    def hit(self, origin: Array, along: Array) -> tuple[float, Array] | None:
        """How far (> 0) a ray from `origin` (3,) in the direction `along` (3,) meets the surface first, and the unit
        normal (3,) there; None when it misses. All in the root frame."""


class MovedSurface(Surface):
    """A surface that stands at T (4, 4) in the root frame."""

    def __init__(self, surface: Surface, T: Array) -> None:
        self.surface, self.T = surface, T

    def hit(self, origin: Array, along: Array) -> tuple[float, Array] | None:
        R = self.T[:3, :3]
        found = self.surface.hit(R.T @ (origin - self.T[:3, 3]), R.T @ along)
        return None if found is None else (found[0], R @ found[1])


class Plane(Surface):
    """Through a point (3,) with a normal (3,), without end on all sides. Planes with the same are equal, and none can
    be changed: a problem is compiled once for all of them. Raises TaskError."""

    def __init__(self, point: object, normal: object) -> None:
        through, across = vector(point, "point of the plane"), direction(normal, "normal of the plane")
        self._packed = np.concatenate((through, across))
        self._packed.setflags(write=False)
        self._numbers = tuple(self._packed.tolist())

    @property
    def packed(self) -> Array:
        """(6,) the point, and the normal."""
        return self._packed

    @property
    def point(self) -> Array:
        return self._packed[:3]

    @property
    def normal(self) -> Array:
        return self._packed[3:]

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    def hit(self, origin: Array, along: Array) -> tuple[float, Array] | None:
        slope = float(self.normal @ along)
        if abs(slope) < PARALLEL:
            return None
        t = float(self.normal @ (self.point - origin)) / slope
        return (t, self.normal) if t > 0.0 else None


class MeshSurface(Surface):
    """Triangles, of which both sides count. vertices: (n, 3) [m].   triangles: (m, 3) indices of vertices.

    Raises TaskError.
    """

    def __init__(self, vertices: object, triangles: object) -> None:
        points = numbers(vertices, "vertices of the mesh")
        if points.ndim != 2 or points.shape[1] != 3:
            raise TaskError(f"vertices of the mesh must be of shape (n, 3), not {points.shape}")
        corners = np.asarray(triangles)
        if corners.ndim != 2 or corners.shape[1] != 3 or corners.dtype.kind not in "iu" or not len(corners):
            raise TaskError("triangles of the mesh must be whole numbers of shape (m, 3)")
        if corners.min() < 0 or corners.max() >= len(points):
            raise TaskError(f"triangles of the mesh name vertices beyond the {len(points)} that there are")
        self.triangles = np.zeros(len(corners), TRIANGLE)
        self.triangles["corner"], self.triangles["is_last"][-1] = points[corners[:, 0]], 1
        sides = tuple(points[corners[:, k]] - points[corners[:, 0]] for k in (1, 2))
        normals = np.cross(*sides)
        area = np.linalg.norm(normals, axis=1)
        flat = area <= FLAT * np.maximum(*((side * side).sum(axis=1) for side in sides))
        self.triangles["sides"] = np.stack(sides, axis=1)
        self.triangles["normal"] = np.where(flat[:, None], 0.0, normals / np.where(flat, 1.0, area)[:, None])
        self.triangles.setflags(write=False)

    def hit(self, origin: Array, along: Array) -> tuple[float, Array] | None:
        """(Möller, Trumbore, "Fast, minimum storage ray-triangle intersection", J. Graphics Tools 2, 1997.)"""
        own = self.triangles
        first, second = own["sides"][:, 0], own["sides"][:, 1]
        p = np.cross(along, second)
        volume = (first * p).sum(axis=1)
        meets = abs(own["normal"] @ along) >= PARALLEL
        inverse = np.divide(1.0, volume, out=np.zeros_like(volume), where=meets)
        away = origin - own["corner"]
        u = (away * p).sum(axis=1) * inverse
        q = np.cross(away, first)
        v = q @ along * inverse
        t = (second * q).sum(axis=1) * inverse
        rim = 1e-12  # so that a beam does not slip through between two triangles
        meets &= (u >= -rim) & (v >= -rim) & (u + v <= 1.0 + rim) & (t > 0.0)
        if not meets.any():
            return None
        i = int(np.argmin(np.where(meets, t, np.inf)))
        return float(t[i]), own["normal"][i]


def packed(surface: Surface, out: Array) -> bool:
    """Write a surface as the kernel's numbers (13,); False for one that the kernel does not know."""
    still = np.eye(4)
    own, T = (surface.surface, surface.T) if type(surface) is MovedSurface else (surface, still)
    if type(own) is MeshSurface:
        out[0], out[1:10], out[10:13] = own.triangles.ctypes.data, T[:3, :3].ravel(), T[:3, 3]
        return True
    if type(own) is not Plane or T is not still:
        return False
    out[0], out[1:7] = 0.0, own.packed
    return True
