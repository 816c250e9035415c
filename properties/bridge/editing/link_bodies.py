"""Mass properties into the records of links, in double precision, past the single precision fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import bpy

from ....robokin.inertia import Body
from ..record.reading import read_robot
from ..record.rescale import rescaled_link
from ..record.snapshot import metres_per_unit
from ..record.stored import ROBOT_KEY, BoneRecord
from .records import bone_record, edit_records


def write_bodies(context: bpy.types.Context, obj: bpy.types.Object, bodies: Mapping[str, Body]) -> None:
    """Give the links of bones these mass properties, in the links' frames. Raises BridgeError, ModelError, and then
    changes nothing."""
    ratio = read_robot(obj.data[ROBOT_KEY], obj.data.name).metres_per_unit / metres_per_unit(obj)
    records = {name: _with_body(bone_record(obj.data.bones[name]), body, ratio) for name, body in bodies.items()}
    edit_records(context, obj, records)


def _with_body(record: BoneRecord, body: Body, ratio: float) -> BoneRecord:
    """`ratio`: metres of the record in one of the scene."""
    bare = dataclasses.replace(record.link, visuals=(), collisions=())
    own = rescaled_link(dataclasses.replace(bare, mass=body.mass, com=body.com, inertia=body.inertia), ratio)
    return dataclasses.replace(
        record, link=dataclasses.replace(record.link, mass=own.mass, com=own.com, inertia=own.inertia)
    )
