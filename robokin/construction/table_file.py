"""Reading a robot from a text file: a table of Denavit-Hartenberg rows, of screws or of joint axes.

The form is comma-separated values (semicolons or tabs will do): lines of settings, `word,value ...`, then a line of
column names, then one line per joint. `#` starts a comment, empty lines are skipped. docs/robots.md describes it.
"""

from __future__ import annotations

import csv
import math
import os
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ..arcs import arc_limits
from ..arrays import Array, shown
from ..errors import FileFormatError, ModelError, UnknownNameError
from ..files.text_file import number as number_of
from ..files.text_file import read_text
from ..model.robot import RobotModel
from ..spatial import se3, so3
from .chain import ChainRow
from .denavit_hartenberg import CONVENTIONS, TYPES, DHRow, robot_from_dh
from .product_of_exponentials import ScrewRow, robot_from_screws
from .stick_figure import with_stick_figure

MAX_BYTES = 1 << 20
MAX_ROWS = 1000
MAX_CELL = 100  # characters; messages repeat them
LARGEST = 1e12  # no quantity of a robot is larger, and products of some stay finite
ANGLES = {"degrees": math.pi / 180.0, "radians": 1.0}
LENGTHS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254}
SETTINGS = ("robot", "convention", "angles", "lengths", "base", "tool", "home")

INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
COM = ("comx", "comy", "comz")
ARC = ("arc_1", "arc_2", "start")  # limits as two angles on the circle, and the joint value that says which arc
COMMON = tuple(f.name for f in fields(ChainRow) if f.name not in ("com", "inertia", "visuals"))
DH = ("a", "alpha", "d", "theta")
SCREW = ("vx", "vy", "vz", "wx", "wy", "wz")
AXIS = ("axis_x", "axis_y", "axis_z", "point_x", "point_y", "point_z")
# The columns by which a kind of table differs from the others, and those that it may have besides.
KINDS = {DH: ("type", "offset"), SCREW: (), AXIS: ("type", "pitch")}
WORDS = ("joint", "link", "type")

# In what unit a column is: the table's angle or length, or that of the joint (angle or length, per second ...).
ANGULAR, LINEAR = ("alpha", "theta"), ("a", "d", "vx", "vy", "vz", "point_x", "point_y", "point_z", "pitch", *COM)
OF_JOINT = ("lower", "upper", "velocity", "acceleration", "offset", *ARC)

FULL_TURNS = 4.0 * math.pi  # no table in radians has larger constants; tables in degrees have


@dataclass
class _Table:
    """What was read: settings by word, column names, rows of cells, and the line of each."""

    path: str
    settings: dict[str, tuple[int, list[str]]] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    header: int = 0
    rows: list[tuple[int, dict[str, str]]] = field(default_factory=list)

    def error(self, line: int | None, problem: str) -> FileFormatError:
        return FileFormatError(self.path, line, problem)

    def choice(self, word: str, choices: tuple[str, ...] | dict[str, float], default: str) -> str:
        line, cells = self.settings.get(word, (0, [default]))
        if len(cells) != 1 or cells[0] not in choices:
            raise self.error(line, str(UnknownNameError(word, " ".join(cells), choices)))
        return cells[0]

    def number(self, line: int, column: str, text: str) -> float:
        try:
            value = number_of(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.error(line, f"{column} must be a number, not {shown(text)}")
        if abs(value) > LARGEST:
            raise self.error(line, f"{column} is too large: {text}")
        return value

    def placement(self, word: str, length: float, angle: float) -> Array:
        """(4, 4) of a setting x, y, z, roll, pitch, yaw; the identity when it is not there."""
        if word not in self.settings:
            return np.eye(4)
        line, cells = self.settings[word]
        if len(cells) != 6:
            raise self.error(line, f"{word} must be 6 numbers (x, y, z, roll, pitch, yaw), not {len(cells)}")
        numbers = np.array([self.number(line, word, cell) for cell in cells])
        return se3.placement(so3.from_rpy(angle * numbers[3:]), length * numbers[:3])


def load_robot_table(path: str | os.PathLike, root: str = "fixed") -> RobotModel:
    """The robot of a table file. root: "fixed", "floating", "planar", "wheeled".

    Raises FileFormatError naming file and line.
    """
    return read_robot_table(read_text(path, "a robot table", MAX_BYTES), path, root)


def read_robot_table(text: str, path: str | os.PathLike = "robot.csv", root: str = "fixed") -> RobotModel:
    """The robot of a table's text, drawn as a stick figure. `path`: the file it came from, for messages and the robot's
    name."""
    table = _split(text, os.fspath(path))
    kind = _kind(table)
    angle = ANGLES[table.choice("angles", ANGLES, "radians")]
    length = LENGTHS[table.choice("lengths", LENGTHS, "m")]
    stem = os.path.splitext(os.path.basename(table.path))[0]
    name = " ".join(table.settings["robot"][1]) if "robot" in table.settings else stem
    rows = []
    for line, cells in table.rows:
        try:
            rows.append(_row(kind, _values(table, kind, line, cells, angle, length)))
        except ModelError as error:
            raise table.error(line, str(error)) from None
    base, tool, home = (table.placement(word, length, angle) for word in ("base", "tool", "home"))
    try:
        if kind == DH:
            convention = table.choice("convention", CONVENTIONS, "classic")
            return with_stick_figure(robot_from_dh(rows, convention, name=name, base=base, tool=tool, root=root))
        return with_stick_figure(robot_from_screws(rows, home, name=name, root=root))
    except ModelError as error:
        lines = {id(row): line for row, (line, _) in zip(rows, table.rows, strict=True)}
        raise table.error(lines.get(id(error.about)), str(error)) from None


def _split(text: str, path: str) -> _Table:
    table = _Table(path)
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    said = "\n".join(lines)
    delimiter = next((mark for mark in (";", "\t", ",") if mark in said), ",")
    try:
        split = [next(csv.reader([line], delimiter=delimiter, strict=True), []) for line in lines]
    except csv.Error as error:
        raise table.error(None, f"not comma-separated values: {error}") from None
    for line, raw in enumerate(split, start=1):
        cells = [cell.strip() for cell in raw]
        while cells and not cells[-1]:  # spreadsheets fill short lines up
            cells.pop()
        if not cells:
            continue
        if any(len(cell) > MAX_CELL for cell in cells):
            raise table.error(line, f"a value of more than {MAX_CELL} characters")
        if len(table.rows) == MAX_ROWS:
            raise table.error(line, f"more than {MAX_ROWS} rows")
        if table.columns:
            if len(cells) > len(table.columns):
                raise table.error(line, f"{len(cells)} values for {len(table.columns)} columns")
            table.rows.append((line, dict(zip(table.columns, cells, strict=False))))
        elif cells[0] in SETTINGS:
            if cells[0] in table.settings:
                raise table.error(line, f"{cells[0]} is stated twice")
            table.settings[cells[0]] = line, cells[1:]
        else:
            table.columns, table.header = cells, line
    return table


def _kind(table: _Table) -> tuple[str, ...]:
    """Which table it is, by its columns; they, the settings and the rows are there and make sense."""
    if not table.columns:
        raise table.error(None, f"no line of column names (such as: {', '.join(DH)})")
    known = [kind for kind in KINDS if set(kind) <= set(table.columns)]
    if len(known) != 1:
        groups = "; or ".join(", ".join(kind) for kind in KINDS)
        problem = "the columns are of several kinds of table" if known else "columns are missing"
        raise table.error(table.header, f"{problem} (one group is needed: {groups})")
    valid = (*known[0], *KINDS[known[0]], *COMMON, *ARC, *COM, *INERTIA)
    for column in table.columns:
        if column not in valid:
            raise table.error(table.header, str(UnknownNameError("column", column, valid)))
        if table.columns.count(column) > 1:
            raise table.error(table.header, f"column {column!r} is there twice")
    pointless = ("home",) if known[0] == DH else ("convention", "base", "tool")
    for word in pointless:
        if word in table.settings:
            raise table.error(table.settings[word][0], f"{word} does not belong to a table with these columns")
    if known[0] != DH and "home" not in table.settings:
        raise table.error(None, "no line `home,x,y,z,roll,pitch,yaw`: where the tool is when every joint is at 0")
    if not table.rows:
        raise table.error(table.header, "no rows: one line per joint is needed below the column names")
    return known[0]


def _values(
    table: _Table, kind: tuple[str, ...], line: int, cells: dict[str, str], angle: float, length: float
) -> dict[str, Any]:
    """The cells of a row in SI and radians; an empty cell is left out."""
    values: dict[str, Any] = {name: text for name, text in cells.items() if text and name in WORDS}
    numbers = {name: table.number(line, name, text) for name, text in cells.items() if text and name not in WORDS}
    word = values.get("type", "R").lower()
    if word not in TYPES:
        raise table.error(line, f"no joint type {values['type']!r} (valid: R, P)")
    slides = TYPES[word] == "prismatic"
    if kind == SCREW:
        slides = not any(numbers.get(name) for name in SCREW[3:])
    for name, number in numbers.items():
        if name in ANGULAR and angle == 1.0 and abs(number) > FULL_TURNS:
            raise table.error(line, f"{name} is {number:g} radians: is a line `angles,degrees` missing?")
        if name in ARC and slides:
            raise table.error(line, f"{name} is for joints that turn: give a sliding joint lower and upper")
        if name in OF_JOINT:
            values[name] = number * (length if slides else angle)
        else:
            values[name] = number * (angle if name in ANGULAR else length if name in LINEAR else 1.0)
    return values


def _row(kind: tuple[str, ...], values: dict[str, Any]) -> Any:
    """The DHRow or ScrewRow of a row's values."""
    xx, xy, xz, yy, yz, zz = (values.pop(name, 0.0) for name in INERTIA)
    values["inertia"] = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    values["com"] = _vector(values, COM)
    _take_arc(values)
    if kind == DH:
        return DHRow(**values)
    if kind == SCREW:
        return ScrewRow(screw=_vector(values, SCREW), **values)
    axis, point = _vector(values, AXIS[:3]), _vector(values, AXIS[3:])
    if TYPES[values.pop("type", "R").lower()] == "prismatic":
        return ScrewRow.along(axis, point=point, **values)
    return ScrewRow.about(axis, point, **values)


def _take_arc(values: dict[str, Any]) -> None:
    """Turn arc_1, arc_2 and start into lower and upper. Raises ModelError."""
    first, second, start = (values.pop(name, None) for name in ARC)
    if first is None and second is None:
        return
    if first is None or second is None:
        raise ModelError("arc_1 and arc_2 are the two ends of one arc: one of them is missing")
    if "lower" in values or "upper" in values:
        raise ModelError("limits are given twice: as lower and upper, and as arc_1 and arc_2")
    values["lower"], values["upper"] = arc_limits(first, second, start or 0.0)


def _vector(values: dict[str, Any], names: tuple[str, ...]) -> Array:
    return np.array([values.pop(name, 0.0) for name in names])
