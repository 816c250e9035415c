"""What a bone knows about its joint and link, as a JSON text in double precision.

It lies in a raw custom property of the bone (`KEY`), which both Blender 4.5 and 5.x files keep, and which travels
with the bone through rename, duplicate, symmetrize, append and join. Registered properties are single precision
and are lost on bones when a 5.x file is opened in 4.5: they edit this record (see `fields`) and are rebuilt from it.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...robokin.drive import Drive
from ...robokin.geometry import Box, Capsule, Cylinder, Geometry, Material, Mesh, Shape, Sphere
from ...robokin.model import Joint, Link, Mimic
from .errors import BridgeError

Array = np.ndarray

KEY = "robokin_joint"
HELPER_KEY = "robokin_helper"
ROBOT_KEY = "robokin_robot"
VERSION = 2


def _from_1(data: dict) -> dict:
    """Joints got axes of their own and drives; the first records had no order."""
    if "joint" not in data:
        return data
    return data | {"joint": {"order": "", "axes": None, "drive": None} | data["joint"]}


# version -> function that turns a record of that version into one of the next
MIGRATIONS: dict[int, Callable[[dict], dict]] = {1: _from_1}

_SHAPES: dict[str, type] = {"box": Box, "cylinder": Cylinder, "capsule": Capsule, "sphere": Sphere, "mesh": Mesh}
_JOINT_ARRAYS = ("lower", "upper", "velocity", "effort", "acceleration")
_JOINT_NUMBERS = ("pitch", "damping", "friction", "rotor_inertia", "stiffness", "rest_position")


@dataclass(frozen=True, eq=False)
class BoneRecord:
    """The record of one bone.

    bone: the bone's name when this was written (another name now means: renamed or duplicated).
    index: place among the joints of the robot.   joint, link: as in the model; `joint.parent` is not recorded, the
    bone's parent says it.   frame: (3, 3) R_link_bone, the bone's axes at rest in the axes of its link.
    rest: (4, 4) T_parentbone_bone at rest in Blender units when this was written, to notice that a bone was moved.
    """

    bone: str
    index: int
    joint: Joint
    link: Link
    frame: Array
    rest: Array

    @property
    def along(self) -> Array:
        """(3,) the bone's direction in the axes of its link: about it a ball twists, unless another axis is given."""
        return self.frame[:, 1]


@dataclass(frozen=True, eq=False)
class HelperRecord:
    """The record of a helper bone (see `carriers`): it belongs to the first joint below it.

    of: name of that joint's bone when this was written.   count: how many of the joint's motions it carries.
    frame: (3, 3) R_link_bone at rest.
    """

    of: str
    count: int
    frame: Array


@dataclass(frozen=True)
class RobotRecord:
    """What the armature knows about the whole robot. metres_per_unit: the length of a Blender unit in its records."""

    name: str
    metres_per_unit: float


def write_record(record: BoneRecord) -> str:
    return json.dumps(
        {
            "version": VERSION,
            "bone": record.bone,
            "index": record.index,
            "joint": _joint_to_json(record.joint),
            "link": _link_to_json(record.link),
            "frame": record.frame.ravel().tolist(),
            "rest": record.rest.ravel().tolist(),
        },
        allow_nan=False,
    )


def recorded_name(text: str, bone: str) -> str:
    """The bone's name when its record was written. Raises BridgeError as `read_record` does."""
    return str(_parse(text, f"bone {bone!r}").get("bone"))


def read_record(text: str, bone: str) -> BoneRecord:
    """Raises BridgeError naming the bone when the text is damaged or of a newer version."""
    data = _parse(text, f"bone {bone!r}")
    try:
        link = _link_from_json(data["link"])
        return BoneRecord(
            bone=data["bone"],
            index=int(data["index"]),
            joint=_joint_from_json(data["joint"], link.name),
            link=link,
            frame=np.array(data["frame"], float).reshape(3, 3),
            rest=np.array(data["rest"], float).reshape(4, 4),
        )
    except (KeyError, TypeError, ValueError) as fault:
        raise BridgeError(f"bone {bone!r}: its property {KEY!r} is damaged ({fault!r})") from None


def write_helper(record: HelperRecord) -> str:
    return json.dumps(
        {"version": VERSION, "of": record.of, "count": record.count, "frame": record.frame.ravel().tolist()}
    )


def read_helper(text: str, bone: str) -> HelperRecord:
    """Raises BridgeError naming the bone when the text is damaged or of a newer version."""
    data = _parse(text, f"helper bone {bone!r}")
    try:
        return HelperRecord(str(data["of"]), int(data["count"]), np.array(data["frame"], float).reshape(3, 3))
    except (KeyError, TypeError, ValueError) as fault:
        raise BridgeError(f"helper bone {bone!r}: its property {HELPER_KEY!r} is damaged ({fault!r})") from None


def write_robot(record: RobotRecord) -> str:
    return json.dumps({"version": VERSION, **dataclasses.asdict(record)})


def read_robot(text: str, armature: str) -> RobotRecord:
    """Raises BridgeError naming the armature when the text is damaged or of a newer version."""
    data = _parse(text, f"armature {armature!r}")
    try:
        return RobotRecord(str(data["name"]), float(data["metres_per_unit"]))
    except (KeyError, TypeError, ValueError) as fault:
        raise BridgeError(f"armature {armature!r}: its property {ROBOT_KEY!r} is damaged ({fault!r})") from None


def _parse(text: str, who: str) -> dict:
    try:
        data = json.loads(text)
        version = int(data["version"])
    except (KeyError, TypeError, ValueError):
        raise BridgeError(f"{who}: its robot data is not readable") from None
    if version > VERSION:
        raise BridgeError(f"{who}: its robot data has version {version}, this Robokin reads up to {VERSION}: update it")
    while version < VERSION:
        data = MIGRATIONS[version](data)
        version += 1
    return data


def _number(value: float) -> float | None:
    """JSON has no infinity: an absent bound is null."""
    return float(value) if math.isfinite(value) else None


def _bounds(values: list[float | None], absent: float) -> list[float]:
    return [absent if value is None else value for value in values]


def _joint_to_json(joint: Joint) -> dict:
    data: dict = {"name": joint.name, "type": joint.type, "placement": joint.placement[:3].ravel().tolist()}
    data["axis"] = joint.axis.tolist()
    data |= {name: [_number(x) for x in getattr(joint, name)] for name in _JOINT_ARRAYS}
    data |= {name: getattr(joint, name) for name in _JOINT_NUMBERS}
    data["order"] = joint.order
    data["axes"] = None if joint.axes is None else joint.axes.tolist()
    data["drive"] = None if joint.drive is None else dataclasses.asdict(joint.drive)
    data["mimic"] = None if joint.mimic is None else dataclasses.asdict(joint.mimic)
    return data


def _joint_from_json(data: dict, child: str) -> Joint:
    bounds = {name: _bounds(data[name], -math.inf if name == "lower" else math.inf) for name in _JOINT_ARRAYS}
    return Joint(
        name=data["name"],
        type=data["type"],
        parent=None,
        child=child,
        placement=_placement(data["placement"]),
        axis=np.array(data["axis"], float),
        mimic=None if data["mimic"] is None else Mimic(**data["mimic"]),
        order=data["order"],
        axes=None if data["axes"] is None else np.array(data["axes"], float),
        drive=None if data["drive"] is None else Drive(**data["drive"]),
        **{name: data[name] for name in _JOINT_NUMBERS},
        **bounds,
    )


def _link_to_json(link: Link) -> dict:
    return {
        "name": link.name,
        "mass": link.mass,
        "com": link.com.tolist(),
        "inertia": link.inertia.ravel().tolist(),
        "visuals": [_geometry_to_json(g) for g in link.visuals],
        "collisions": [_geometry_to_json(g) for g in link.collisions],
    }


def _link_from_json(data: dict) -> Link:
    return Link(
        name=data["name"],
        mass=data["mass"],
        com=np.array(data["com"], float),
        inertia=np.array(data["inertia"], float).reshape(3, 3),
        visuals=tuple(_geometry_from_json(g) for g in data["visuals"]),
        collisions=tuple(_geometry_from_json(g) for g in data["collisions"]),
    )


def _geometry_to_json(geometry: Geometry) -> dict:
    shape, material = geometry.shape, geometry.material
    kind = next(name for name, cls in _SHAPES.items() if type(shape) is cls)
    # Where the description said it and where it was looked for serve the reader's messages only.
    values = {f.name: getattr(shape, f.name) for f in dataclasses.fields(shape) if f.compare}
    return {
        "shape": {"type": kind, **values},
        "placement": geometry.placement[:3].ravel().tolist(),
        "material": None if material is None else dataclasses.asdict(material),
        "name": geometry.name,
    }


def _geometry_from_json(data: dict) -> Geometry:
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in data["shape"].items()}
    shape: Shape = _SHAPES[values.pop("type")](**values)
    material = data["material"]
    if material is not None:
        material = Material(**(material | {"rgba": material["rgba"] and tuple(material["rgba"])}))
    return Geometry(shape, _placement(data["placement"]), material, data["name"])


def _placement(values: list[float]) -> Array:
    return np.vstack((np.array(values, float).reshape(3, 4), (0.0, 0.0, 0.0, 1.0)))
