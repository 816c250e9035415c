"""A robot whose scene has got another unit scale.

Everything in a scene keeps its size in Blender units then, and so does the robot: it becomes as much larger or smaller
in metres as the meshes on it do. `binding` sees that at once; here the numbers on the bones follow.
"""

from __future__ import annotations

import dataclasses

import bpy

from ..record.current import rescaled
from ..record.reading import read_robot
from ..record.snapshot import metres_per_unit
from ..record.stored import KEY, ROBOT_KEY
from ..record.writing import write_robot
from .records import bone_record, put_records


def adopt_unit(obj: bpy.types.Object) -> float:
    """Put the records and fields of a robot into the metres of its scene; by how much its lengths grew (1: not at all).

    Raises BridgeError, ModelError.
    """
    armature = obj.data
    robot, unit = read_robot(armature[ROBOT_KEY], armature.name), metres_per_unit(obj)
    ratio = unit / robot.metres_per_unit
    if abs(ratio - 1.0) <= 1e-6:
        return 1.0
    records = {bone.name: bone_record(bone) for bone in armature.bones if KEY in bone}
    put_records(armature, rescaled(records, ratio))
    armature[ROBOT_KEY] = write_robot(dataclasses.replace(robot, metres_per_unit=unit))
    return ratio
