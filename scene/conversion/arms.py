"""Arms of a captured motion as long as the robot's.

People's arms are longer than most robots', beside the legs that the motion is scaled by. So the way from the shoulder
to the hand is scaled once more, in the frame of the bone that both arms are on, and begins at the robot's shoulder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...robokin import random_configuration
from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.structure.body_parts import limb
from ..tasks.root_frames import metres_per_world_unit

POSES = 1000  # random ones, of which the farthest shows how far an arm reaches
SHORT = 0.6  # of the longest bone of an arm: what is shorter, above the others, is a collarbone


def arm_frames(
    obj: bpy.types.Object,
    robot: Binding,
    source: bpy.types.Object,
    poses: Mapping[str, Array],
    rests: Mapping[str, Array],
    base: Array,
    pairs: Sequence[bpy.types.PropertyGroup],
) -> dict[str, tuple[str, Array]]:
    """{tip of a hand: (bone of the source that both arms are on, (4, 4))}: what lays the source's arm on the robot's,
    in the frame of that bone. For a left and a right hand that go to a position; nothing where a body has no arms.
    poses, rests: (4, 4) in the world, of the robot's bones and of the source's at rest.   base: (4, 4) from the world
    of the source to that of the robot."""
    hands = [item for item in pairs if item.name.lower().endswith("hand") and item.kind in ("POSITION", "HAND")]
    metres, found = metres_per_world_unit(obj, robot), {}
    for item, other in zip(hands, reversed(hands), strict=True) if len(hands) == 2 else ():
        theirs, chest = limb(item.source, other.source, {b.name: b.parent and b.parent.name for b in source.data.bones})
        own, body = limb(item.tip, other.tip, {b.name: b.parent and b.parent.name for b in obj.data.bones})
        if chest is None or body is None or not (theirs and own):
            return {}
        moved = {robot.bone_of_link[joint.child] for joint in robot.model.moving_joints}
        own = own[:1] + [bone for bone in own[1:] if bone in moved]
        heads, shoulder = _arm([rests[name] for name in theirs]), own[len(_arm([poses[bone] for bone in own]))]
        length, reach = heads.sum(), _reach(robot, item.tip, shoulder) / metres
        if not min(length, reach) > 1e-9:
            return {}
        T = np.diag([*[reach / (length * float(np.linalg.norm(base[:3, 0])))] * 3, 1.0])
        T[:3, 3] = (np.linalg.inv(base @ rests[chest]) @ poses[shoulder])[:3, 3]
        T[:3, 3] -= T[0, 0] * (np.linalg.inv(rests[chest]) @ rests[theirs[len(heads)]])[:3, 3]
        found[item.tip] = chest, T
    return found


def _arm(poses: Sequence[Array]) -> Array:
    """Lengths from joint to joint, by poses (4, 4) from the hand up, as far as the shoulder."""
    lengths = np.linalg.norm(np.diff(np.array(poses)[:, :3, 3], axis=0), axis=1)
    while len(lengths) > 1 and lengths[-1] < SHORT * lengths.max():
        lengths = lengths[:-1]
    return lengths


def _reach(robot: Binding, hand: str, shoulder: str) -> float:
    """[m] inside the robot's limits."""
    model, rng = robot.model, np.random.default_rng(0)
    q = np.array([random_configuration(model, rng) for _ in range(POSES)])
    ends = [model.link_index(robot.link_of_bone[bone]) for bone in (hand, shoulder)]
    first, last = get_backend().frame_placements(model.tree, q)[:, ends].swapaxes(0, 1)[..., :3, 3]
    return float(np.linalg.norm(last - first, axis=1).max())
