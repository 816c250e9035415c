"""Writing a table as the text that `read_robot_table` reads (docs/robots.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from ..arrays import Array
from ..errors import UnknownNameError
from ..model.topology import free_name
from ..spatial import so3
from .chain import ChainRow
from .denavit_hartenberg import DHRow
from .parameters import DHTable, ScrewTable
from .table_file import ANGLES, COM, DH, INERTIA, LENGTHS, MAX_CELL, SCREW

NOTHING = 1e-14  # SI: what is smaller is a rounding error of one that is 0
PLAIN = 9  # decimals of a number that a person would have written
_TRIANGLE = np.triu_indices(3)
_WORDS = re.compile(r"[^\S ]|[,;#\"]")  # what would end a cell


def robot_table_text(table: DHTable | ScrewTable, angles: str = "degrees", lengths: str = "m") -> str:
    """The text of a table. angles: "degrees" or "radians"; lengths: "m", "cm", "mm" or "inch".

    `read_robot_table` of it gives the same robot, to the last digits. Columns that say nothing are left out, and from
    names the characters that separate cells. Raises UnknownNameError for a wrong unit.
    """
    for word, unit, choices in (("angles", angles, ANGLES), ("lengths", lengths, LENGTHS)):
        if unit not in choices:
            raise UnknownNameError(word, unit, choices)
    angle, length = ANGLES[angles], LENGTHS[lengths]
    lines = [["robot", _word(table.name) or "robot"], ["angles", angles], ["lengths", lengths]]
    if isinstance(table, DHTable):
        lines.append(["convention", table.convention])
        lines += [
            [word, *_place(T, angle, length)]
            for word, T in (("base", table.base), ("tool", table.tool))
            if abs(T - np.eye(4)).max() > NOTHING
        ]
    else:
        lines.append(["home", *_place(table.home, angle, length)])
    cells = {word: _names([getattr(row, word) for row in table.rows], word) for word in ("joint", "link")}
    columns = _columns(table, angle, length)
    cells |= {name: [write(row) for row in table.rows] for name, write in columns.items()}
    geometry = DH if isinstance(table, DHTable) else SCREW
    cells = {name: column for name, column in cells.items() if name in geometry or any(column)}
    lines += [list(cells), *map(list, zip(*cells.values(), strict=True))]
    return "".join(f"{','.join(line)}\n" for line in lines)


def _columns(table: DHTable | ScrewTable, angle: float, length: float) -> dict[str, Callable]:
    """What each column holds of a row, as text; "" for nothing."""

    def slides(row: ChainRow) -> bool:
        return row.type != "R" if isinstance(row, DHRow) else not np.any(row.screw[3:])  # type: ignore[attr-defined]

    def of_joint(name: str) -> Callable:
        return lambda row: _bound(getattr(row, name) / (length if slides(row) else angle))

    def plain(name: str) -> Callable:
        return lambda row: _said(getattr(row, name))

    found: dict[str, Callable] = {}
    if isinstance(table, DHTable):
        found["type"] = lambda row: row.type
        units = dict(zip(DH, (length, angle, length, angle), strict=True))
        found |= {name: lambda row, n=name: _number(getattr(row, n), units[n]) for name in DH}
    else:
        found |= {
            name: lambda row, i=i: _number(row.screw[i], length if i < 3 else 1.0) for i, name in enumerate(SCREW)
        }
    found |= {name: of_joint(name) for name in ("lower", "upper", "velocity", "acceleration")}
    found |= {name: plain(name) for name in ("effort", "damping", "friction", "rotor_inertia", "mass")}
    found["effort"] = lambda row: _bound(row.effort)
    found |= {name: lambda row, i=i: _said(row.com[i] / length) for i, name in enumerate(COM)}
    found |= {name: lambda row, i=i: _said(row.inertia[_TRIANGLE][i]) for i, name in enumerate(INERTIA)}
    return found


def _place(T: Array, angle: float, length: float) -> list[str]:
    return [_number(x, length) for x in T[:3, 3]] + [_number(x, angle) for x in so3.to_rpy(T[:3, :3])]


def _number(value: float, unit: float = 1.0) -> str:
    return _digits(value / unit) if abs(value) > NOTHING else "0"


def _said(value: float) -> str:
    return _digits(value, NOTHING) if abs(value) > NOTHING else ""


def _bound(value: float) -> str:
    return _digits(value) if np.isfinite(value) else ""


def _digits(value: float, slack: float = 0.0) -> str:
    """All digits, but the plain number where only rounding, or `slack`, keeps the value from it."""
    plain = round(value, PLAIN)
    return repr(float(plain if abs(plain - value) <= max(slack, 4.0 * np.spacing(abs(value))) else value)).removesuffix(
        ".0"
    )


def _names(names: Sequence[str], otherwise: str) -> list[str]:
    """Names as cells, each of them once."""
    found: list[str] = []
    for name in names:
        found.append(free_name(_word(name) or otherwise, found))
    return found


def _word(name: str) -> str:
    return " ".join(_WORDS.sub(" ", name).split())[: MAX_CELL // 2].strip()
