"""Robots from Denavit-Hartenberg tables, classic and modified.

classic ("distal", Denavit and Hartenberg 1955; Spong, Hutchinson, Vidyasagar, "Robot modeling and control", Eq. 3.10):
    T_(i-1)_i = Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i), joint i turns about z of frame i-1;
modified ("proximal", Craig, "Introduction to robotics", Eq. 3.6):
    T_(i-1)_i = Rx(alpha_(i-1)) Tx(a_(i-1)) Rz(theta_i) Tz(d_i), joint i turns about z of frame i;
    row i holds a_(i-1) and alpha_(i-1), as the tables are printed.
A classic table is the modified one with a and alpha a row later. So links have the same frames in both: origin on
their own joint's axis, z along it. In modified tables these are the frames i of the text; in classic ones frame i is
link i's frame moved by Tx(a_i) Rx(alpha_i).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from ..arrays import Array
from ..errors import ModelError, UnknownNameError
from ..model.robot import RobotModel
from ..spatial import se3, so3
from .chain import TOOL_LINK, ChainRow, ChainStep, assemble, concerning, each_row, finite, rigid

CONVENTIONS = ("classic", "modified")
TYPES = {"r": "revolute", "revolute": "revolute", "p": "prismatic", "prismatic": "prismatic"}
Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, kw_only=True, eq=False)
class DHRow(ChainRow):
    """One row of a table: a, d [m]; alpha, theta [rad]; type "R" or "P" (or the whole words).

    The joint value is added to `theta` of an R row and to `d` of a P row, and so is `offset`.
    com and inertia are given in the text's frame i, about whose origin tables of dynamics are printed.
    """

    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    type: str = "R"
    offset: float = 0.0


def robot_from_dh(
    rows: Sequence[DHRow | Mapping[str, object]],
    convention: str = "classic",
    *,
    name: str = "robot",
    base: Array | None = None,
    tool: Array | None = None,
    tool_link: str = TOOL_LINK,
    root: str = "fixed",
) -> RobotModel:
    """The serial robot of a table; its last link, `tool_link`, is frame n moved by `tool`.

    rows: DHRow, or mappings with the names of its fields. convention: "classic" or "modified".
    base: (4, 4) frame 0 in the root frame. tool: (4, 4) the tool in frame n.
    root: "fixed", "floating", "planar", "wheeled".
    FK of `tool_link` at q is base @ T_0_1(q_1) @ ... @ T_(n-1)_n(q_n) @ tool.
    Raises ModelError naming row and joint, UnknownNameError for an unknown convention or column.
    """
    if not isinstance(convention, str) or convention not in CONVENTIONS:
        raise UnknownNameError("convention", convention, CONVENTIONS)
    checked = [_row(row) for row in each_row(rows)]
    if not checked:
        raise ModelError("a Denavit-Hartenberg table needs at least one row")
    steps = []
    T_last_next = rigid(base, "base")
    for number, row in enumerate(checked, start=1):
        with concerning(row):
            kind, T_x, T_z = _factors(row, f"row {number}")
        if convention == "modified":
            steps.append(ChainStep(kind, T_last_next @ T_x @ T_z, Z, np.eye(4)))
            T_last_next = np.eye(4)
        else:
            steps.append(ChainStep(kind, T_last_next @ T_z, Z, T_x))
            T_last_next = T_x
    return assemble(name, checked, steps, T_last_next @ rigid(tool, "tool"), tool_link, root)


def _factors(row: DHRow, who: str) -> tuple[str, Array, Array]:
    """(joint type, Tx(a) Rx(alpha), Rz(theta) Tz(d)) of a row at joint value 0."""
    kind = TYPES.get(str(row.type).lower())
    if kind is None:
        raise ModelError(f"{who}: no joint type {row.type!r} (valid: R, P)")
    a, alpha, d, theta, offset = (
        finite(getattr(row, what), 1, f"{who}: {what}")[0] for what in ("a", "alpha", "d", "theta", "offset")
    )
    theta, d = (theta + offset, d) if kind == "revolute" else (theta, d + offset)
    T_x = se3.placement(so3.from_rpy((alpha, 0.0, 0.0)), np.array([a, 0.0, 0.0]))
    T_z = se3.placement(so3.from_rpy((0.0, 0.0, theta)), np.array([0.0, 0.0, d]))
    return kind, T_x, T_z


def _row(row: DHRow | Mapping[str, object]) -> DHRow:
    if isinstance(row, DHRow):
        return row
    if not isinstance(row, Mapping):
        raise ModelError(f"a row must be a DHRow or a mapping by column names, not {type(row).__name__}")
    names = [f.name for f in fields(DHRow)]
    for column in row:
        if column not in names:
            raise UnknownNameError("column", column, names)
    return DHRow(**row)  # type: ignore[arg-type]
