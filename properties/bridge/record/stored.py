"""What a bone knows about its joint and link, as a JSON text in double precision.

It lies in a raw custom property of the bone (`KEY`), which both Blender 4.5 and 5.x files keep, and which travels
with the bone through rename, duplicate, symmetrize, append and join. Registered properties are single precision
and are lost on bones when a 5.x file is opened in 4.5: they edit this record (see `fields`) and are rebuilt from it.
`writing.py` and `reading.py` are the two ways between a record and its text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ....robokin.arrays import Array
from ....robokin.model.geometry import Box, Capsule, Cylinder, Hull, Mesh, RoundedBox, Sphere
from ....robokin.model.robot import Joint, Link

KEY = "robokin_joint"
HELPER_KEY = "robokin_helper"
ROBOT_KEY = "robokin_robot"
VERSION = 4


def _from_1(data: dict) -> dict:
    """Joints got axes of their own and drives; the first records had no order."""
    joint = data.get("joint")
    if not isinstance(joint, dict):
        return data
    return data | {"joint": {"order": "", "axes": None, "drive": None} | joint}


def _from_2(data: dict) -> dict:
    """Bones got padlocks."""
    if not isinstance(data.get("joint"), dict):
        return data
    return {"locked": False} | data


def _from_3(data: dict) -> dict:
    """Meshes got an axis that points up: in glTF files it was Y."""
    link = data.get("link")
    if not isinstance(link, dict):
        return data
    return data | {"link": link | {name: _with_up(link[name]) for name in ("visuals", "collisions") if name in link}}


def _with_up(shapes: object) -> object:
    if not isinstance(shapes, list):
        return shapes
    return [
        each | {"shape": {"y_up": True} | each["shape"]}
        if isinstance(each, dict) and isinstance(each.get("shape"), dict) and each["shape"].get("type") == "mesh"
        else each
        for each in shapes
    ]


# version -> function that turns an unchecked record of that version into one of the next
MIGRATIONS: dict[int, Callable[[dict], dict]] = {1: _from_1, 2: _from_2, 3: _from_3}

SHAPES: dict[str, type] = {
    "box": Box,
    "rounded_box": RoundedBox,
    "cylinder": Cylinder,
    "capsule": Capsule,
    "sphere": Sphere,
    "hull": Hull,
    "mesh": Mesh,
}
JOINT_ARRAYS = ("lower", "upper", "velocity", "effort", "acceleration")
JOINT_NUMBERS = ("pitch", "damping", "friction", "rotor_inertia", "stiffness", "rest_position")


@dataclass(frozen=True, eq=False)
class BoneRecord:
    """The record of one bone.

    bone: the bone's name when this was written (another name now means: renamed or duplicated).
    index: place among the joints of the robot.   joint, link: as in the model; `joint.parent` and `joint.child` do not
    count, the bone's parent and the link say them.   frame: (3, 3) R_link_bone, the bone's axes at rest in the axes of
    its link.   rest: (4, 4) T_parentbone_bone at rest in Blender units when this was written, to notice that a bone was
    moved.   locked: solvers hold the joint where it is.
    """

    bone: str
    index: int
    joint: Joint
    link: Link
    frame: Array
    rest: Array
    locked: bool = False

    @property
    def along(self) -> Array:
        """(3,) the bone's direction in the axes of its link: about it a ball twists, unless another axis is given."""
        return self.frame[:, 1]


@dataclass(frozen=True, eq=False)
class HelperRecord:
    """The record of a helper bone (see `Binding.joint_bones`): it belongs to the first joint below it.

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
