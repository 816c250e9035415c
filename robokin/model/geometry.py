"""What a link looks like: shapes with a placement and a material. No mesh is opened here."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array, check_size, float_array, not_negative, shown
from ..errors import ModelError


@dataclass(frozen=True)
class Box:
    """Centred box; `size`: (x, y, z) edge lengths [m]."""

    size: tuple[float, float, float]


@dataclass(frozen=True)
class RoundedBox(Box):
    """Every point within `radius` [m] of the box of `size`."""

    radius: float = 0.0


@dataclass(frozen=True)
class Cylinder:
    """Centred cylinder along z; [m]."""

    radius: float
    length: float


@dataclass(frozen=True)
class Capsule:
    """Centred capsule along z; `length` without the caps; [m]."""

    radius: float
    length: float


@dataclass(frozen=True)
class Sphere:
    """Centred sphere; [m]."""

    radius: float


@dataclass(frozen=True, eq=False)
class Hull:
    """Every point within `radius` [m] of the convex hull of `points`: (n, 3) [m], at least one.

    Raises ModelError for what is not such.
    """

    points: Array
    radius: float = 0.0

    def __post_init__(self) -> None:
        try:
            points = float_array(self.points)
        except ValueError:
            points = np.empty(0)
        if points.ndim != 2 or points.shape[1:] != (3,) or not len(points):
            raise ModelError(f"the points of a hull must be numbers of shape (n, 3), not {shown(self.points)}")
        check_size(points, "the points of a hull")
        points.flags.writeable = False
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "radius", not_negative(self.radius, "the radius of a hull"))


@dataclass(frozen=True)
class Source:
    """Where a description says something, for messages about it."""

    path: str
    line: int


@dataclass(frozen=True)
class Mesh:
    """A mesh file. `filename` as written in the description; `path`: where it was found, None when it was not.

    `source`, `searched` (the folders looked into when nothing was found) and `refused` (why the name may not be looked
    for at all) serve messages and are not compared. y_up: of a glTF file whose Y is up, as glTF says, and not Z; else
    its axes are those of the link, as RViz and others take them.
    """

    filename: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    path: str | None = None
    y_up: bool = False
    source: Source | None = field(default=None, compare=False)
    searched: tuple[str, ...] = field(default=(), compare=False)
    refused: str = field(default="", compare=False)


Shape = Box | Cylinder | Capsule | Sphere | Hull | Mesh


@dataclass(frozen=True)
class Material:
    """`rgba` in 0..1, None when not stated; `texture` as written; `texture_path`: where it was found."""

    name: str
    rgba: tuple[float, float, float, float] | None = None
    texture: str | None = None
    texture_path: str | None = None


@dataclass(frozen=True, eq=False)
class Geometry:
    """One visual or collision shape. `placement`: (4, 4) T_link_shape, metres."""

    shape: Shape
    placement: np.ndarray = field(default_factory=lambda: np.eye(4))
    material: Material | None = None
    name: str = ""
