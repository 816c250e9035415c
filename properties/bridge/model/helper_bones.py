"""Helper bones as an armature has them: which bones carry each joint (see `Binding.joint_bones`)."""

from __future__ import annotations

import numpy as np

from ....robokin.model.robot import RobotModel
from ..errors import BridgeError
from ..record.current import MOVED, Records
from ..record.reading import read_helper
from ..record.snapshot import ArmatureContent, BoneContent
from ..record.stored import HelperRecord
from .joint_bones import JointBone

MEND = "Update Helper Bones (robokin.helper_bones)"


def find_joint_bones(
    content: ArmatureContent, found: Records, model: RobotModel, names: tuple[str, ...]
) -> tuple[tuple[JointBone, ...], ...]:
    """The bones of each joint, its own bone (one of `names`) last.

    Raises BridgeError for a helper bone of two joints, or one that stands elsewhere than its joint.
    """
    bones = {bone.name: bone for bone in content.bones}
    owners = helper_owners(content)
    result: list[tuple[JointBone, ...]] = []
    for joint, name in zip(model.joints, names, strict=True):
        joint_bones: list[JointBone] = []
        for helper in bones[name].helpers:
            if owners[helper.name] != name:
                other = owners[helper.name]
                raise BridgeError(f"bone {name!r} hangs on {helper.name!r}, a helper bone of {other!r}: {MEND}")
            record = read_helper(helper.record, helper.name)
            if not stands_right(bones[name], helper.place, record, found):
                raise BridgeError(f"helper bone {helper.name!r} was moved against {name!r}: {MEND}")
            joint_bones.append(JointBone(helper.name, record.frame, record.count))
        remaining = max(0, len(joint.kind.motions) - sum(joint_bone.count for joint_bone in joint_bones))
        result.append((*joint_bones, JointBone(name, found.records[name].frame, remaining)))
    return tuple(result)


def helper_owners(content: ArmatureContent) -> dict[str, str]:
    """{helper bone: the joint's bone that it serves}. Of several that hang on it, that is the one it was made for."""
    owners: dict[str, str] = {}
    for bone in content.bones:
        for helper in bone.helpers:
            made_for = read_helper(helper.record, helper.name).of
            if helper.name not in owners or bone.name == made_for:
                owners[helper.name] = bone.name
    return owners


def stands_right(bone: BoneContent, place: int, record: HelperRecord, found: Records) -> bool:
    """Whether the helper bone at `place` is where its joint's bone is, turned against it as recorded."""
    rest, rest_helper = found.rests[bone.place], found.rests[place]
    turned = rest_helper[:3, :3].T @ rest[:3, :3] - record.frame.T @ found.records[bone.name].frame
    reach = 3e-7 / MOVED * float(np.linalg.norm(rest[:3, 3]))
    parent = found.parents[bone.name]
    if parent is not None:
        reach = max(reach, float(np.linalg.norm(found.records[bone.name].rest[:3, 3])))
    apart = abs(rest[:3, 3] - rest_helper[:3, 3]).max()
    return bool(abs(turned).max() <= MOVED and apart <= MOVED * max(reach, 1e-6 / MOVED))
