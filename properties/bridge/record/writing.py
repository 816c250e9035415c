"""Writing the records of bones (see `truth`)."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np

from ....robokin.model.geometry import Geometry
from ....robokin.model.robot import Joint, Link
from .reading import read_helper, read_record, read_robot
from .stored import JOINT_ARRAYS, JOINT_NUMBERS, SHAPES, VERSION, BoneRecord, HelperRecord, RobotRecord


def write_record(record: BoneRecord) -> str:
    """The text of a record. Raises BridgeError for one that could not be read again, before it lies on a bone."""
    text = json.dumps(
        {
            "version": VERSION,
            "bone": record.bone,
            "index": record.index,
            "joint": _joint_to_json(record.joint),
            "link": _link_to_json(record.link),
            "frame": record.frame.ravel().tolist(),
            "rest": record.rest.ravel().tolist(),
            "locked": record.locked,
        }
    )
    read_record(text, record.bone)
    return text


def write_helper(record: HelperRecord) -> str:
    """Write the record of a special bone, like `write_record`."""
    data = {"version": VERSION, "of": record.of, "count": record.count, "frame": record.frame.ravel().tolist()}
    text = json.dumps(data)
    read_helper(text, record.of)
    return text


def write_robot(record: RobotRecord) -> str:
    """Write the record of a special bone, like `write_record`."""
    text = json.dumps({"version": VERSION, **dataclasses.asdict(record)})
    read_robot(text, record.name)
    return text


def _number(value: float) -> float | None:
    """JSON has no infinity: an absent bound is null."""
    return float(value) if math.isfinite(value) else None


def _joint_to_json(joint: Joint) -> dict:
    data: dict = {"name": joint.name, "type": joint.type, "placement": joint.placement[:3].ravel().tolist()}
    data["axis"] = joint.axis.tolist()
    data |= {name: [_number(x) for x in getattr(joint, name)] for name in JOINT_ARRAYS}
    data |= {name: getattr(joint, name) for name in JOINT_NUMBERS}
    data["order"] = joint.order
    data["axes"] = None if joint.axes is None else joint.axes.tolist()
    data["drive"] = None if joint.drive is None else dataclasses.asdict(joint.drive)
    data["mimic"] = None if joint.mimic is None else dataclasses.asdict(joint.mimic)
    return data


def _link_to_json(link: Link) -> dict:
    return {
        "name": link.name,
        "mass": link.mass,
        "com": link.com.tolist(),
        "inertia": link.inertia.ravel().tolist(),
        "visuals": [_geometry_to_json(g) for g in link.visuals],
        "collisions": [_geometry_to_json(g) for g in link.collisions],
    }


def _plain(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _geometry_to_json(geometry: Geometry) -> dict:
    shape, material = geometry.shape, geometry.material
    kind = next(name for name, cls in SHAPES.items() if type(shape) is cls)
    # Where the description said it and where it was looked for serve the reader's messages only.
    values = {f.name: _plain(getattr(shape, f.name)) for f in dataclasses.fields(shape) if f.compare}
    return {
        "shape": {"type": kind, **values},
        "placement": geometry.placement[:3].ravel().tolist(),
        "material": None if material is None else dataclasses.asdict(material),
        "name": geometry.name,
    }
