"""Joint values as text, to copy and paste: written as one line per joint or as JSON, read from what else there is.

Texts carry their units where a person reads them (degrees, metres); a number without a unit is SI or radians.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from .arrays import Array
from .configuration import clamp
from .errors import ConfigurationError, UnknownNameError, shown
from .model.joint import Joint
from .model.robot import JointValue, RobotModel
from .units import coordinate_units, counted

ANGLE, LENGTH, NUMBER = "angle", "length", "number"
_KINDS = {"rad": ANGLE, "m": LENGTH, "": NUMBER}
_UNITS = {
    "rad": (ANGLE, 1.0),
    "deg": (ANGLE, math.pi / 180.0),
    "°": (ANGLE, math.pi / 180.0),
    "m": (LENGTH, 1.0),
    "cm": (LENGTH, 0.01),
    "mm": (LENGTH, 0.001),
    "in": (LENGTH, 0.0254),
}
_WRITTEN = {ANGLE: ("deg", 180.0 / math.pi), LENGTH: ("m", 1.0), NUMBER: ("", 1.0)}
_VALUE = re.compile(r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z°]*)")
# The two lists of a joint state, and the names that ROS's messages give them.
_NAMES, _POSITIONS = ("name", "joint_names"), ("position", "positions")
_SIZE = 1_000_000
_SLACK = 1e-9  # [rad or m] beyond a limit that rounding of a text may put a value


@dataclass(frozen=True)
class JointText:
    """`values` of joints of the robot, by name, as the text has them; `unknown`: names that the robot does not have."""

    values: dict[str, JointValue]
    unknown: tuple[str, ...] = ()


def coordinate_kinds(joint: Joint) -> tuple[str, ...]:
    """(nq,) words: whether each coordinate of the joint is an "angle", a "length" or a plain "number"."""
    return tuple(_KINDS[unit] for unit in coordinate_units(joint))


def format_joint_values(model: RobotModel, values: Mapping[str, JointValue], style: str = "lines") -> str:
    """The values as text. style: "lines", `name: -28.65 deg`, to twelve digits; "json", {name: value}, SI and exact.

    Raises ConfigurationError for values that are no mapping.
    """
    if not isinstance(values, Mapping):
        raise ConfigurationError(f"joint values must be a mapping by joint names, not {shown(values)}")
    if style == "json":
        return json.dumps(dict(values), indent=1, ensure_ascii=False, allow_nan=False)
    lines = []
    for name, value in values.items():
        kinds = coordinate_kinds(model.joint(name))
        words = []
        for kind, x in zip(kinds, np.atleast_1d(value), strict=True):
            unit, factor = _WRITTEN[kind]
            words.append(f"{factor * float(x) + 0.0:.12g} {unit}".rstrip())
        lines.append(f"{name}: {', '.join(words)}")
    return "\n".join([*lines, ""])


def parse_joint_values(model: RobotModel, text: str, degrees: bool = False) -> JointText:
    """Joint values out of a text: JSON {joint: value}, lines `name: value` or `name = value`, a CSV of one row with or
    without a line of names, a ROS joint state (YAML or JSON: `name` and `position` lists).

    degrees: angles without a unit are in degrees. Raises ConfigurationError, naming line or joint, for what is no such
    text; names that the robot does not have are no error, unless there are no others.
    """
    if not isinstance(text, str):
        raise ConfigurationError(f"joint values must be a text, not {shown(text)}")
    if len(text) > _SIZE:
        raise ConfigurationError(f"joint values: the text is longer than {_SIZE} characters")
    text = text.strip().removeprefix("\ufeff")
    if not text:
        raise ConfigurationError("joint values: the text is empty")
    pairs = _read(model, text)
    known = {joint.name for joint in model.joints if joint.nq}
    unknown = tuple(dict.fromkeys(name for name, _ in pairs if name not in known))
    values: dict[str, JointValue] = {}
    for name, words in pairs:
        if name in known:
            if name in values:
                raise ConfigurationError(f"joint {name!r} is given twice")
            values[name] = _joint_value(model.joint(name), words, degrees)
    if not values:
        raise UnknownNameError("joint", unknown[0], sorted(known)) if unknown else ConfigurationError("no joint values")
    return JointText(values, unknown)


def within_limits(model: RobotModel, q: Array) -> tuple[Array, list[str]]:
    """(q moved inside the limits, one line for each joint that was outside). Raises ConfigurationError for a bad q."""
    q = model.check_configuration(q)
    inside = clamp(model, q)
    notes = []
    for joint in model.moving_joints:
        own = model.slot(joint.name).q
        if abs(q[own] - inside[own]).max(initial=0.0) > _SLACK:
            given, taken = _shown(joint, q[own]), _shown(joint, inside[own])
            notes.append(f"joint {joint.name!r}: {given} is outside its limits, {taken} taken")
    return inside, notes


def _shown(joint: Joint, own: Array) -> str:
    words = []
    for kind, x in zip(coordinate_kinds(joint), own, strict=True):
        unit, factor = _WRITTEN[kind]
        words.append(f"{factor * x:.6g} {unit}".rstrip())
    return ", ".join(words)


# Words of a value: what stood in the text for each coordinate, a number or a number with its unit.
_Pairs = list[tuple[str, list[object]]]


def _read(model: RobotModel, text: str) -> _Pairs:
    names, positions = _section(text, _NAMES), _section(text, _POSITIONS)
    if text[0] in "{[" and (names is None or positions is None or '"' in text):
        return _from_json(model, text)
    if names is not None and positions is not None:
        return _from_lists(_words(names), _words(positions))
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise ConfigurationError("joint values: the text is empty")
    if not any(mark in line for line in lines for mark in ":=") or _is_head(model, lines[0]):
        return _from_table(model, lines)
    return [_from_line(line) for line in lines if line.strip() not in ("---", "...")]


def _from_json(model: RobotModel, text: str) -> _Pairs:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"joint values: not JSON: {error}") from None
    if isinstance(data, list):
        return _in_order(model, data)
    names, positions = (next((data[key] for key in keys if key in data), None) for keys in (_NAMES, _POSITIONS))
    if isinstance(names, list) and isinstance(positions, list):
        return _from_lists([str(name) for name in names], positions)
    return [(name, value if isinstance(value, list) else [value]) for name, value in data.items()]


def _from_lists(names: list[str], positions: list) -> _Pairs:
    if len(names) != len(positions):
        raise ConfigurationError(f"joint values: {len(names)} names, but {len(positions)} positions")
    return [(name, value if isinstance(value, list) else [value]) for name, value in zip(names, positions, strict=True)]


def _section(text: str, keys: Iterable[str]) -> str | None:
    """What a YAML text has below one of these keys, if it is a list."""
    for key in keys:
        # No part may begin where the one before could go on: a text of a megabyte would take minutes.
        entries = r"(\[[^\[\]]*\]|(?:\n[ \t]*-[ \t]+[^\n]*)+)"
        match = re.search(rf"(?:^|[{{,])[ \t]*(?:-[ \t]*)?{key}:[ \t]*{entries}", text, re.MULTILINE)
        if match:
            return match[1]
    return None


def _words(section: str) -> list[str]:
    """The entries of a YAML list, in brackets or one to a line."""
    text = section.strip()
    entries = text[1:-1].split(",") if text.startswith("[") else re.findall(r"^[ \t]*-[ \t]+(.*)$", text, re.MULTILINE)
    return [entry.strip().strip("'\"") for entry in entries if entry.strip()]


def _cells(line: str) -> list[str]:
    mark = next((m for m in ("\t", ";", ",") if m in line), None)
    try:
        row = line.split() if mark is None else next(csv.reader([line], delimiter=mark))
    except csv.Error as error:  # a cell of more than 131,072 characters
        raise ConfigurationError(f"joint values: not a table: {error}") from None
    return [cell.strip() for cell in row]


def _is_head(model: RobotModel, line: str) -> bool:
    """Whether it is a line of names, in which there may be colons."""
    cells = set(_cells(line))
    return any(joint.name in cells for joint in model.joints if joint.nq)


def _from_table(model: RobotModel, lines: list[str]) -> _Pairs:
    rows = [_cells(line) for line in lines]
    head = None if _VALUE.fullmatch(rows[0][0]) else rows.pop(0)
    if len(rows) != 1:
        raise ConfigurationError(f"joint values: one row of values is needed, not {len(rows)}")
    if head is None:
        return _in_order(model, [cell for cell in rows[0] if cell])
    if len(head) != len(rows[0]):
        raise ConfigurationError(f"joint values: {len(head)} columns, but {len(rows[0])} values")
    grouped: dict[str, list[object]] = {}
    known = {joint.name for joint in model.joints}
    for name, cell in zip(head, rows[0], strict=True):
        # Motions have a column joint/x for each coordinate of a joint with several, and one of times.
        joint = name if name in known else name.rpartition("/")[0] or name
        if joint != "time":
            grouped.setdefault(joint, []).append(cell)
    return list(grouped.items())


def _in_order(model: RobotModel, cells: list) -> _Pairs:
    """Numbers without names: of all moving joints, in the order of q."""
    if len(cells) != model.nq:
        raise ConfigurationError(f"joint values: {model.nq} numbers without names are needed, not {len(cells)}")
    return [(joint.name, cells[model.slot(joint.name).q]) for joint in model.moving_joints]


def _from_line(line: str) -> tuple[str, list[object]]:
    text = line.partition(" #")[0]
    at = max(text.rfind(":"), text.rfind("="))  # a name may hold one too
    if not text[: max(at, 0)].strip():
        raise ConfigurationError(f"joint values: {line.strip()[:60]!r} is not `name: value`")
    name, values = text[:at].strip().strip("'\""), text[at + 1 :].strip().rstrip(",")
    found = _VALUE.findall(values)
    rest = _VALUE.sub("", values).strip("[]() ,\t")
    if rest or not found:
        raise ConfigurationError(f"joint {name!r}: {values[:60]!r} is not a joint value")
    return name, [f"{number} {unit}" for number, unit in found]


def _joint_value(joint: Joint, words: list, degrees: bool) -> JointValue:
    kinds = coordinate_kinds(joint)
    if len(words) != len(kinds):
        values = counted(len(kinds), "value")
        raise ConfigurationError(f"joint {joint.name!r} ({joint.type}) takes {values}, not {len(words)}")
    own = joint.coordinates([_number(joint, word, kind, degrees) for word, kind in zip(words, kinds, strict=True)])
    return float(own[0]) if joint.nq == 1 else [float(x) for x in own]


def _number(joint: Joint, word: object, kind: str, degrees: bool) -> float:
    match = _VALUE.fullmatch(str(word).strip()) if not isinstance(word, bool) else None
    if match is None:
        raise ConfigurationError(f"joint {joint.name!r}: {str(word)[:60]!r} is not a joint value")
    value, unit = float(match[1]), match[2]
    if not unit:
        return value * (math.pi / 180.0) if degrees and kind == ANGLE else value
    if unit not in _UNITS or _UNITS[unit][0] != kind:
        valid = ", ".join(name for name, (of, _) in _UNITS.items() if of == kind) or "none"
        raise ConfigurationError(f"joint {joint.name!r}: {unit!r} is no unit of {_article(kind)} (valid: {valid})")
    return value * _UNITS[unit][1]


def _article(kind: str) -> str:
    return f"an {kind}" if kind == ANGLE else f"a {kind}"
