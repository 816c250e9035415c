"""Reading the records of bones (see `truth`): the one place that says whether a text is a record.

What is returned was checked whole; everything else is a DamagedRecordError that names the owner, the place and what is
valid there, or, of a newer version, a BridgeError.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, wraps
from typing import Any

import bpy
import numpy as np

from ....robokin.arrays import Array, frozen_placement
from ....robokin.errors import ModelError
from ....robokin.model.drive import Drive
from ....robokin.model.geometry import Geometry, Material, Shape
from ....robokin.model.joint_types import JOINT_TYPES
from ....robokin.model.robot import Joint, Link, Mimic
from ..errors import BridgeError, DamagedRecordError
from .json_entry import JsonEntry, described, parsed
from .stored import (
    HELPER_KEY,
    JOINT_ARRAYS,
    JOINT_NUMBERS,
    KEY,
    MIGRATIONS,
    ROBOT_KEY,
    SHAPES,
    VERSION,
    BoneRecord,
    HelperRecord,
    RobotRecord,
)

_OWNERS = {KEY: "bone", HELPER_KEY: "helper bone", ROBOT_KEY: "armature"}
_LARGEST, _MOTIONS = 10**9, 9  # of places among joints, and of motions that a helper bone carries
_UNITS = 0.99e-9, 1.01e9  # metres in a Blender unit, of which Blender takes 1e-9 to 1e9 in single precision


def record_text(holder: bpy.types.ID | bpy.types.Bone | bpy.types.EditBone, key: str) -> str:
    """The record that lies on a bone or an armature. Raises BridgeError when something else lies there."""
    text = holder[key]
    return text if isinstance(text, str) else JsonEntry(_owner(key, holder.name), text).text()


def read_record(text: object, bone: str) -> BoneRecord:
    """Raises BridgeError naming the bone when the text is damaged or of a newer version."""
    return _read_record(JsonEntry(_owner(KEY, bone), text).text(), bone)


@lru_cache(maxsize=16384)
def _read_record(text: str, bone: str) -> BoneRecord:
    """Kept, since an edit of one bone reads those of all."""
    data = _current(text, KEY, bone).members("version", *_PARTS)
    return BoneRecord(**{name: read(data[name]) for name, read in _PARTS.items()})


def whole_parts(text: object, bone: str) -> dict[str, Any]:
    """The fields of a BoneRecord that are whole in a damaged one, as far as its text can be read."""
    found: dict[str, Any] = {}
    try:
        whole = _current(text, KEY, bone)
    except BridgeError:
        return found
    for name, read in _PARTS.items():
        with suppress(DamagedRecordError):
            found[name] = read(whole.member(name))
    return found


def read_helper(text: object, bone: str) -> HelperRecord:
    """Raises BridgeError naming the bone when the text is damaged or of a newer version."""
    data = _current(text, HELPER_KEY, bone).members("version", "of", "count", "frame")
    return HelperRecord(data["of"].text(), data["count"].whole(0, _MOTIONS), _frame(data["frame"]))


def read_robot(text: object, armature: str) -> RobotRecord:
    """Raises BridgeError naming the armature when the text is damaged or of a newer version."""
    data = _current(text, ROBOT_KEY, armature).members("version", "name", "metres_per_unit")
    unit = data["metres_per_unit"]
    if not _UNITS[0] <= unit.number() <= _UNITS[1]:
        unit.refuse("a number of 1e-9 to 1e9")
    return RobotRecord(data["name"].text(), unit.number())


def _owner(key: str, name: str) -> str:
    return f"{_OWNERS[key]} {name!r}: its record"


def _current(text: object, key: str, name: str) -> JsonEntry:
    """The text as one of the present version, not looked into yet."""
    whole = parsed(_owner(key, name), text)
    version = whole.member("version")
    if type(version.value) is int and version.value > VERSION:
        newer = f"version {described(version.value)}, this Robokin reads up to {VERSION}: update it"
        raise BridgeError(f"{whole.owner} has {newer}")
    data = whole.value
    for old in range(version.whole(1, VERSION), VERSION):
        data = MIGRATIONS[old](data)
    return JsonEntry(whole.owner, data)


def _modelled(read: Callable[[JsonEntry], Any]) -> Callable[[JsonEntry], Any]:
    """What the model refuses is damage as well."""

    @wraps(read)
    def modelled(entry: JsonEntry) -> Any:
        try:
            return read(entry)
        except ModelError as error:
            raise entry.damaged(str(error)) from None

    return modelled


@_modelled
def _joint(entry: JsonEntry) -> Joint:
    names = ("name", "type", "placement", "axis", "order", "axes", "drive", "mimic")
    data = entry.members(*names, *JOINT_ARRAYS, *JOINT_NUMBERS)
    kind = JOINT_TYPES[data["type"].choice(JOINT_TYPES)]
    axes, rest_position = data["axes"].present(), data["rest_position"].present()
    return Joint(
        name=data["name"].text(),
        type=kind.name,
        parent=None,
        child="",  # the model gives it the name of the link
        placement=_placement(data["placement"]),
        axis=data["axis"].numbers(3),
        mimic=_mimic(data["mimic"].present()),
        order=data["order"].text(),
        axes=axes and np.array([axis.numbers(3) for axis in axes.items(kind.nv)]),
        drive=_drive(data["drive"].present()),
        rest_position=rest_position and rest_position.number(),
        **{name: data[name].number() for name in JOINT_NUMBERS if name != "rest_position"},
        **{name: _bounds(data[name], kind.nv, -math.inf if name == "lower" else math.inf) for name in JOINT_ARRAYS},
    )


def _bounds(entry: JsonEntry, count: int, absent: float) -> list[float]:
    return [absent if bound.value is None else bound.limit() for bound in entry.items(count)]


def _mimic(entry: JsonEntry | None) -> Mimic | None:
    if entry is None:
        return None
    data = entry.members("joint", "multiplier", "offset")
    return Mimic(data["joint"].text(), data["multiplier"].number(), data["offset"].number())


def _drive(entry: JsonEntry | None) -> Drive | None:
    if entry is None:
        return None
    data = entry.members("left", "right", "radius", "separation")
    return Drive(data["left"].text(), data["right"].text(), data["radius"].number(), data["separation"].number())


@_modelled
def _link(entry: JsonEntry) -> Link:
    data = entry.members("name", "mass", "com", "inertia", "visuals", "collisions")
    return Link(
        name=data["name"].text(),
        mass=data["mass"].number(),
        com=data["com"].numbers(3),
        inertia=data["inertia"].numbers(3, 3),
        visuals=tuple(_geometry(item) for item in data["visuals"].items()),
        collisions=tuple(_geometry(item) for item in data["collisions"].items()),
    )


def _geometry(entry: JsonEntry) -> Geometry:
    data = entry.members("shape", "placement", "material", "name")
    shape, material = _shape(data["shape"]), _material(data["material"].present())
    placement = frozen_placement(_placement(data["placement"]), data["placement"].place)
    return Geometry(shape, placement, material, data["name"].text())


def _shape(entry: JsonEntry) -> Shape:
    made = SHAPES[entry.member("type").choice(SHAPES)]
    data = entry.members("type", *(field.name for field in dataclasses.fields(made) if field.compare))
    return made(**{name: _SHAPE_PARTS[name](part) for name, part in data.items() if name != "type"})


def _size(entry: JsonEntry) -> float:
    return entry.number(lowest=0.0)


def _points(entry: JsonEntry) -> Array:
    return np.array([point.numbers(3) for point in entry.items()] or entry.refuse("a list of points"))


def _scale(entry: JsonEntry) -> tuple[float, ...]:
    scale = tuple(entry.numbers(3).tolist())
    return scale if all(scale) else entry.refuse("three numbers other than 0")


def _optional_text(entry: JsonEntry) -> str | None:
    return None if entry.value is None else entry.text()


_SHAPE_PARTS: dict[str, Callable[[JsonEntry], Any]] = {
    "size": lambda entry: tuple(_size(item) for item in entry.items(3)),
    "radius": _size,
    "length": _size,
    "points": _points,
    "filename": JsonEntry.text,
    "scale": _scale,
    "path": _optional_text,
    "y_up": JsonEntry.switch,
}


def _material(entry: JsonEntry | None) -> Material | None:
    if entry is None:
        return None
    data = entry.members("name", "rgba", "texture", "texture_path")
    rgba = data["rgba"].present()
    color: Any = rgba and tuple(rgba.numbers(4).tolist())
    return Material(data["name"].text(), color, _optional_text(data["texture"]), _optional_text(data["texture_path"]))


def _placement(entry: JsonEntry) -> Array:
    return np.vstack((entry.numbers(3, 4), (0.0, 0.0, 0.0, 1.0)))


def _frame(entry: JsonEntry) -> Array:
    """(3, 3) a rotation."""
    frame = entry.numbers(3, 3)
    return frame if _is_rotation(frame, 1e-6) else entry.refuse("a rotation matrix")


def _rest(entry: JsonEntry) -> Array:
    """(4, 4) a placement in single precision."""
    rest = entry.numbers(4, 4)
    rigid = _is_rotation(rest[:3, :3], 1e-3) and abs(rest[3] - (0.0, 0.0, 0.0, 1.0)).max() <= 1e-6
    return rest if rigid else entry.refuse("a placement")


# What a BoneRecord is made of.
_PARTS: dict[str, Callable[[JsonEntry], Any]] = {
    "bone": JsonEntry.text,
    "index": lambda entry: entry.whole(0, _LARGEST),
    "link": _link,
    "joint": _joint,
    "frame": _frame,
    "rest": _rest,
    "locked": JsonEntry.switch,
}


def _is_rotation(matrix: Array, tolerance: float) -> bool:
    if abs(matrix).max() > 2.0:  # whose products may be beyond all numbers
        return False
    return bool(abs(matrix @ matrix.T - np.eye(3)).max() <= tolerance and np.linalg.det(matrix) > 0.0)
