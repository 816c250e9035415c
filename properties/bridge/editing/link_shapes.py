"""The collision shapes of links in the records of their bones, read and written."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import bpy

from ....robokin.model.geometry import Geometry
from ....robokin.model.link import Link
from ..model.binding import binding
from ..record.reading import read_robot
from ..record.rescale import rescaled_link
from ..record.snapshot import metres_per_unit, refuse_linked_bones
from ..record.stored import KEY, ROBOT_KEY
from ..record.writing import write_record
from .records import bone_record


def link_shapes(obj: bpy.types.Object, bone: str) -> tuple[Geometry, ...]:
    """Collision shapes of the link that moves with a bone [m]; none of a bone without a joint. Raises BridgeError,
    ModelError."""
    robot = binding(obj)
    if bone not in robot.joint_of_bone:
        return ()
    return robot.model.links[robot.bones.index(robot.own_bone(bone))].collisions


def put_link_shapes(obj: bpy.types.Object, shapes: Mapping[str, Sequence[Geometry]]) -> None:
    """Give the links of some bones these shapes [m], in place of those that they have. Raises BridgeError, ModelError,
    and then writes nothing."""
    refuse_linked_bones(obj)
    ratio = read_robot(obj.data[ROBOT_KEY], obj.data.name).metres_per_unit / metres_per_unit(obj)
    texts = {}
    for bone, own in shapes.items():
        record = bone_record(obj.data.bones[bone])
        scaled = rescaled_link(Link("shapes", collisions=tuple(own)), ratio).collisions
        link = dataclasses.replace(record.link, collisions=scaled)
        texts[bone] = write_record(dataclasses.replace(record, link=link))
    for bone, text in texts.items():
        obj.data.bones[bone][KEY] = text
    obj.data.update_tag()
