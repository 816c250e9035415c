"""Readers of the fields of tasks on the command line: text to the arguments that tasks take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...robokin.errors import TaskError
from ...robokin.files.text_file import number as plain_number
from ...robokin.spatial import quaternion, se3
from ...solvers.tasks import Curve, Curves, Plane, TwistTask
from ..report import read_joint_values
from .fields import Fields, number, numbers

Reader = Callable[[Fields, str], Any]


def word(fields: Fields, name: str) -> str:
    return fields[name]


def one(fields: Fields, name: str) -> float:
    return numbers(fields, name, 1)[0]


def vector(fields: Fields, name: str) -> list[float]:
    return numbers(fields, name, 3)


def points(fields: Fields, name: str) -> np.ndarray:
    return np.array(_triples(name, fields[name])).reshape(-1, 3)


def lines(fields: Fields, name: str) -> Curve | Curves:
    """A line of points, or several lines: `x:y:z:x:y:z/x:y:z:x:y:z`."""
    closed = switch(fields, "closed") if "closed" in fields else False
    parts = [np.array(_triples(name, part)).reshape(-1, 3) for part in fields[name].split("/")]
    curves = [Curve(part, closed, name) for part in parts]
    return curves[0] if len(curves) == 1 else Curves(curves)


def _triples(name: str, text: str) -> list[float]:
    count = text.count(":") + 1
    return numbers({name: text}, name, max(3, count - count % 3))


def pair(fields: Fields, name: str) -> tuple[list[float], list[float]]:
    values = numbers(fields, name, 6)
    return values[:3], values[3:]


def plane(fields: Fields, name: str) -> Plane:
    return Plane(*pair(fields, name))


def whole(fields: Fields, name: str) -> int:
    try:
        plain_number(fields[name])
        return int(fields[name])
    except ValueError:
        raise TaskError(f"{name}: {fields[name]!r} is not a whole number") from None


def switch(fields: Fields, name: str) -> bool:
    if fields[name] not in ("yes", "no"):
        raise TaskError(f"{name}: {fields[name]!r} is neither yes nor no")
    return fields[name] == "yes"


def joints(fields: Fields, name: str) -> dict:
    return read_joint_values(fields[name], f"{name} of a task")


def joint_value(fields: Fields, name: str) -> float | list[float]:
    values = [number(name, part) for part in fields[name].split(":")]
    return values[0] if len(values) == 1 else values


def rotation(values: list[float], name: str) -> np.ndarray:
    length = np.linalg.norm(values)
    if length < 1e-9:
        raise TaskError(f"{name}: the quaternion (w:x:y:z) is zero")
    return quaternion.to_matrix(np.array(values) / length)


def orientation(fields: Fields, name: str) -> np.ndarray:
    return rotation(numbers(fields, name, 4), name)


def pose(fields: Fields, name: str) -> np.ndarray:
    values = numbers(fields, name, 7)
    return se3.placement(rotation(values[3:], name), values[:3])


def per_axis(fields: Fields, name: str) -> list[float]:
    values = numbers(fields, name, 1, 3)
    return list(np.repeat(values, 3 // len(values)))


def tolerances(first: str, second: str) -> Reader:
    """Tolerances of two parts: one number for both, or two."""

    def read(fields: Fields, name: str) -> dict:
        values = numbers(fields, name, 1, 2)
        return {first: values[0], second: values[-1]}

    return read


def sixes(position: str, orientation: str) -> Reader:
    """One number for all, one for each part, or one for each axis; the first three are of the position."""

    def read(fields: Fields, name: str) -> dict:
        values = six(fields, name)
        return {position: values[:3], orientation: values[3:]}

    return read


def six(fields: Fields, name: str) -> list[float]:
    """One number for all, one for each part, or one for each axis."""
    values = numbers(fields, name, 1, 2, 6)
    return list(np.repeat(values, 6 // len(values)))


def pair_or_one(fields: Fields, name: str) -> list[float]:
    values = numbers(fields, name, 1, 2)
    return [values[0], values[-1]]


def twist(fields: Fields, name: str) -> dict:
    """Six numbers, or one about a hinge that another field names."""
    if "about" not in fields:
        if "pitch" in fields:
            raise TaskError("pitch is given without about, its axis")
        return {"target": numbers(fields, name, 6)}
    if "frame" in fields:
        raise TaskError("about and frame both say in which axes the velocity is: give one")
    pitch = one(fields, "pitch") if "pitch" in fields else 0.0
    return {"target": TwistTask.about(*pair(fields, "about"), one(fields, name), pitch), "frame": "space"}


def with_target(fields: Fields, name: str) -> dict:
    """Read beside the target."""
    return {}


def offset(fields: Fields, name: str) -> np.ndarray:
    values = numbers(fields, name, 3, 7)
    return se3.placement(rotation(values[3:], name) if len(values) == 7 else np.eye(3), values[:3])


# Readers by what a task calls the form of an argument (`Task.forms`).
FORMS: dict[str, Reader] = {
    "number": one,
    "vector": vector,
    "points": points,
    "curve": lines,
    "pose": pose,
    "orientation": orientation,
    "point and direction": pair,
    "joints": joints,
    "joint value": joint_value,
    "pair": pair_or_one,
    "six": six,
    "twist": twist,
}
# Readers by the name of an argument, and by its type.
BY_NAME: dict[str, Reader] = {
    "axis": vector,
    "direction": vector,
    "point": vector,
    "other_point": vector,
    "up": vector,
    "offset": offset,
    "other_offset": offset,
    "other": word,
    "curve": lines,
    "surface": plane,
    "weights": per_axis,
}
BY_TYPE: dict[object, Reader] = {float: one, int: whole, bool: switch, str: word, object: per_axis}
