"""A robot's own Denavit-Hartenberg parameters and screws.

Frames of a table are laid along the common normals of successive axes (J. Denavit and R. Hartenberg, 1955; the rules of
Spong, Hutchinson, Vidyasagar, "Robot modeling and control", section 3.2.2). Where they leave a choice: a normal of
parallel axes starts at the next joint's own origin; x axes are turned so that |theta| <= 90 degrees; frame 0 has its
origin on the first axis, nearest to that of the root link. The tool's z axis takes the place of an axis n + 1, so
that the tool's own placement says as little as it can.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import ModelError, UnknownNameError
from ..model.robot import RobotModel
from ..spatial import se3, so3
from .denavit_hartenberg import CONVENTIONS, DHRow, robot_from_dh
from .product_of_exponentials import ScrewRow, robot_from_screws
from .serial_axes import Axis, serial_axes

PARALLEL = 1e-8  # sine of the angle between two axes below which double precision does not know their normal
MEETING = 1e-9  # of the size of the robot: axes nearer to each other meet
RIGHT_ANGLE = 1e-9  # cosine below which theta is +-90 degrees, and either sign of x will do


@dataclass(frozen=True, eq=False)
class DHTable:
    """What `robot_from_dh` takes: rows, convention, base (4, 4), tool (4, 4), name."""

    name: str
    convention: str
    rows: tuple[DHRow, ...]
    base: Array
    tool: Array

    def robot(self, root: str = "fixed") -> RobotModel:
        return robot_from_dh(self.rows, self.convention, name=self.name, base=self.base, tool=self.tool, root=root)


@dataclass(frozen=True, eq=False)
class ScrewTable:
    """What `robot_from_screws` takes: rows, home (4, 4), name."""

    name: str
    rows: tuple[ScrewRow, ...]
    home: Array

    def robot(self, root: str = "fixed") -> RobotModel:
        return robot_from_screws(self.rows, self.home, name=self.name, root=root)


def screw_table(model: RobotModel, tip: str = "") -> ScrewTable:
    """The screws of the chain from the root link to the link `tip` (empty: the robot's only one), in the frame of the
    root link, the robot at zero: the columns of `space_jacobian` there for a fixed base.

    Raises UnknownNameError for a wrong tip, ModelError naming the joint that makes it impossible (see `serial_axes`).
    """
    axes, home, _ = serial_axes(model, tip)
    rows = tuple(_screw_row(axis) for axis in axes)
    return ScrewTable(model.name, rows, home)


def dh_table(model: RobotModel, tip: str = "", convention: str = "classic") -> DHTable:
    """The Denavit-Hartenberg table of the chain from the root link to the link `tip` (empty: the robot's only one).

    convention: "classic" or "modified". Joint values are those of the robot; a table made from a table may differ from
    it where signs are free. Masses are those that move with each joint, fixed links included.
    Axes that are nearly but not quite parallel have their normal far away, and rows with a large d.
    Raises UnknownNameError for a wrong tip or convention, ModelError naming the joint that a table cannot hold: screw,
    spherical, floating, and those that follow another joint.
    """
    if convention not in CONVENTIONS:
        raise UnknownNameError("convention", convention, CONVENTIONS)
    axes, T_root_tool, tip = serial_axes(model, tip)
    for axis in axes:
        if axis.type == "screw":
            raise ModelError(
                f"joint {axis.common['joint']!r} is a screw: no Denavit-Hartenberg row is one; a table of screws is"
            )
    base = frame = _first_frame(axes[0])
    size = _size(axes, T_root_tool)
    lines = [*((axis.direction, axis.point) for axis in axes[1:]), (T_root_tool[:3, 2], T_root_tool[:3, 3])]
    rows: list[DHRow] = []
    a_before = alpha_before = 0.0
    for number, (axis, line) in enumerate(zip(axes, lines, strict=True), start=1):
        fallback = T_root_tool[:3, 0] if number == len(axes) else frame[:3, 0]
        a, alpha, d, theta = _row(frame, *line, fallback, MEETING * size)
        turned = frame @ _z_screw(theta, d)
        frame = turned @ _x_screw(alpha, a)
        modified = convention == "modified"
        shown = (a_before, alpha_before) if modified else (a, alpha)
        rows.append(_dh_row(axis, turned if modified else frame, *shown, d, theta))
        a_before, alpha_before = a, alpha
    last = turned if modified else frame
    return DHTable(model.name, convention, tuple(rows), base, se3.inverse(last) @ T_root_tool)


def _first_frame(axis: Axis) -> Array:
    """(4, 4) frame 0 in the root link: z along the first axis, x as near to the root link's as can be."""
    z = axis.direction
    for x in np.eye(3):
        across = x - z * (z @ x)
        if np.linalg.norm(across) > 0.1:
            across /= np.linalg.norm(across)
            break
    origin = axis.point - z * (z @ axis.point)
    return se3.placement(np.column_stack((across, np.cross(z, across), z)), origin)


def _row(
    frame: Array, z_next: Array, p_next: Array, x_alike: Array, meeting: float
) -> tuple[float, float, float, float]:
    """(a, alpha, d, theta) from a frame to the normal's foot on the next line, z along it. `x_alike`: (3,) what the x
    axis shall be where the line is the same."""
    x, z, origin = frame[:3, 0], frame[:3, 2], frame[:3, 3]
    offset = p_next - origin
    normal = np.cross(z, z_next)
    sine = float(np.linalg.norm(normal))
    if sine > PARALLEL:
        normal /= sine
        a = float(offset @ normal)
        # The foot on this axis: what is left of the way once the part along the next line is taken away.
        d = float(np.cross(offset, z_next) @ normal) / sine
    else:
        d = float(offset @ z)
        across = offset - z * d
        a = float(np.linalg.norm(across))
        normal = across / a if a > meeting else x_alike - z * (z @ x_alike)
        normal /= np.linalg.norm(normal)
    a = a if abs(a) > meeting else 0.0
    side = float(normal @ x)
    flips = side < -RIGHT_ANGLE if abs(side) > RIGHT_ANGLE else (a < 0.0 if a else np.cross(x, normal) @ z < 0.0)
    if flips and (sine > PARALLEL or a):
        normal, a = -normal, -a
    theta = math.atan2(np.cross(x, normal) @ z, normal @ x)
    alpha = math.atan2(np.cross(z, z_next) @ normal, z @ z_next)
    return a, alpha, d, theta


def _x_screw(angle: float, length: float) -> Array:
    return se3.placement(so3.from_rpy((angle, 0.0, 0.0)), np.array([length, 0.0, 0.0]))


def _z_screw(angle: float, length: float) -> Array:
    return se3.placement(so3.from_rpy((0.0, 0.0, angle)), np.array([0.0, 0.0, length]))


def _size(axes: Sequence[Axis], T_root_tool: Array) -> float:
    """How far from the root link anything is [m], at least a millimetre."""
    points = [axis.point for axis in axes] + [T_root_tool[:3, 3]]
    return max(1e-3, *(float(np.linalg.norm(p)) for p in points))


def _dh_row(axis: Axis, T_root_frame: Array, a: float, alpha: float, d: float, theta: float) -> DHRow:
    R, p = T_root_frame[:3, :3], T_root_frame[:3, 3]
    inertia = R.T @ axis.body.inertia @ R
    return DHRow(
        a=a,
        alpha=alpha,
        d=d,
        theta=theta,
        type="R" if axis.type == "revolute" else "P",
        mass=axis.body.mass,
        com=R.T @ (axis.body.com - p) if axis.body.mass else np.zeros(3),
        inertia=(inertia + inertia.T) / 2.0,
        **axis.common,  # type: ignore[arg-type]
    )


def _screw_row(axis: Axis) -> ScrewRow:
    body = {"mass": axis.body.mass, "com": axis.body.com, "inertia": axis.body.inertia}
    if axis.type == "prismatic":
        return ScrewRow.along(axis.direction, point=axis.point, **body, **axis.common)
    return ScrewRow.about(axis.direction, axis.point, axis.pitch, **body, **axis.common)
