"""Robots from screws: T_root_tool(q) = exp(hat(S_1) q_1) ... exp(hat(S_n) q_n) T_home.

Source: Brockett 1984; Lynch and Park, "Modern robotics", 2017, Eq. 4.14. Screws are twists of the joints in the root
frame with the robot at zero, linear part first as everywhere here: S = [v; w], v = -w x p + h w for a turn about the
axis w through the point p that advances by the pitch h [m/rad]. Texts that put the angular part first mean
numpy.roll(S, 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from ..model.robot import RobotModel
from ..spatial import se3
from .chain import TOOL_LINK, ChainRow, ChainStep, assemble, concerning, each_row, finite, rigid

UNIT = 2e-3  # how far from 1 a printed direction's length may be (0.707 for the square root of a half)
ROUNDING = 1e-6  # of the size of the screw: a smaller pitch is none


@dataclass(frozen=True, kw_only=True, eq=False)
class ScrewRow(ChainRow):
    """One joint: `screw` (6,) = [v; w] in the root frame at zero, w of length 1, or w = 0 and v of length 1.

    point: (3,) [m] where on the axis the link's frame has its origin (parallel to the root frame at zero); None: for
    an axis the point of it that is nearest to the root frame's origin, for a slide where the previous link has its own.
    com [m] and inertia [kg m^2, about it] are given in the root frame, the robot at zero.
    """

    screw: Array
    point: Array | None = None

    @classmethod
    def about(cls, axis: object, point: object, pitch: float = 0.0, **row: object) -> ScrewRow:
        """A turn about `axis` (3,), of any length, through `point` (3,) [m], advancing by `pitch` [m/rad]. `row`: the
        other fields."""
        w, p = _direction(axis), finite(point, 3, "point")
        return cls(screw=np.concatenate((np.cross(p, w) + pitch * w, w)), point=p, **row)  # type: ignore[arg-type]

    @classmethod
    def along(cls, axis: object, **row: object) -> ScrewRow:
        """A slide along `axis` (3,), of any length. `row`: the other fields."""
        return cls(screw=np.concatenate((_direction(axis), np.zeros(3))), **row)  # type: ignore[arg-type]


def robot_from_screws(
    screws: Sequence[ScrewRow | Array],
    home: Array,
    *,
    name: str = "robot",
    tool_link: str = TOOL_LINK,
    root: str = "fixed",
) -> RobotModel:
    """The serial robot of space screws at zero and `home` (4, 4), the tool in the root frame at zero.

    screws: ScrewRow, or (6,) linear part first. root: "fixed", "floating", "planar", "wheeled".
    `space_jacobian` of the result at q = 0 has the screws as columns.
    Raises ModelError naming the screw that is not one, UnknownNameError for a wrong root.
    """
    rows = [row if isinstance(row, ScrewRow) else ScrewRow(screw=row) for row in each_row(screws)]
    if not rows:
        raise ModelError("a product of exponentials needs at least one screw")
    origin, steps = np.zeros(3), []
    for number, row in enumerate(rows, start=1):
        with concerning(row):
            kind, axis, point, pitch = _axis(row, f"screw {number}", origin)
        steps.append(ChainStep(kind, se3.translation(point - origin), axis, se3.translation(-point), pitch))
        origin = point
    return assemble(name, rows, steps, se3.translation(-origin) @ rigid(home, "home"), tool_link, root)


def _axis(row: ScrewRow, who: str, last: Array) -> tuple[str, Array, Array, float]:
    """(type, unit axis, origin of the link's frame at zero, pitch); `last`: the previous link's origin. Raises
    ModelError."""
    S = finite(row.screw, 6, f"{who} (linear part first)")
    v, w = S[:3], S[3:]
    turns = np.linalg.norm(w) > UNIT
    length = float(np.linalg.norm(w if turns else v))
    if abs(length - 1.0) > UNIT:
        part = "angular" if turns else "linear"
        raise ModelError(f"{who}: the {part} part must have length 1, not {length:g}: {S.tolist()}")
    point = None if row.point is None else finite(row.point, 3, f"{who}: point")
    if not turns:
        return "prismatic", v / length, last if point is None else point, 0.0
    v, w = v / length, w / length
    size = 1.0 + float(np.linalg.norm(v))
    nearest = np.cross(w, v)
    if point is not None and np.linalg.norm(np.cross(w, point - nearest)) > ROUNDING * size:
        raise ModelError(f"{who}: point {point.tolist()} is not on its axis")
    origin, pitch = nearest if point is None else point, float(v @ w)
    return ("screw", w, origin, pitch) if abs(pitch) > ROUNDING * size else ("revolute", w, origin, 0.0)


def _direction(axis: object) -> Array:
    direction = finite(axis, 3, "axis")
    length = np.linalg.norm(direction)
    if length < 1e-9:
        raise ModelError(f"axis {direction.tolist()} has no direction")
    return direction / length
