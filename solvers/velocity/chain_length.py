"""How far the tip of a chain of nodes can come: certificates that a target is out of reach, and the length scale L."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.robot import RobotModel
from ...robokin.model.tree import ROOT, Tree
from ...robokin.spatial.se3 import unpack
from ..kinematics.support_tree import chain_to
from ..tasks import FrameTask

STROKES = 10.0  # times the length of the links (or 1 m, if that is more) that strokes count in L, at most


def _stretch(tree: Tree, node: int, step: Array) -> float:
    """Longest distance from the origin of `node`'s fixed frame to a point `step` behind its motion."""
    motion, iq = MotionPrimitive(tree.motion[node]), int(tree.iq[node])
    if motion is MotionPrimitive.FREE:
        return float(np.linalg.norm(step) + np.linalg.norm(_farthest(tree.lower[iq : iq + 3], tree.upper[iq : iq + 3])))
    slope = {MotionPrimitive.TRANSLATION: 1.0, MotionPrimitive.HELICAL: float(tree.pitch[node])}.get(motion, 0.0)
    if slope == 0.0:
        return float(np.linalg.norm(step))
    scale = float(tree.scale[node])  # of a mimic joint it may be 0, of a followed one without bounds
    ends = tree.offset[node] + (scale * np.array([tree.lower[iq], tree.upper[iq]]) if scale else np.zeros(1))
    return float(max(np.hypot(np.hypot(step[0], step[1]), step[2] + slope * end) for end in ends))


def _farthest(lower: Array, upper: Array) -> Array:
    return np.maximum(abs(lower), abs(upper))


def certify(record: np.void, task: FrameTask, index: int, tree: Tree) -> None:
    """Fill in a record of `descent.data.TASK_RECORD`: distances that no configuration can exceed, for tasks on
    positions (all three axes of them in tip axes). tree: its frame `index` is the task's tip."""
    record["reach"] = record["wrist_reach"] = np.inf
    chain, steps = chain_to(tree, index)
    position, orientation = np.split(task.weights, 2)
    whole_position = bool(position.all())
    if not position.any() or (task.frame == "tip" and not whole_position):
        return
    if not chain:
        record["reach_centre"], record["reach"] = tree.frame_placement[index][9:], 0.0
        return
    record["reach_centre"] = tree.placement[chain[0]][9:]
    lengths = [_stretch(tree, node, step) for node, step in zip(chain, steps, strict=True)]
    record["reach"] = sum(lengths)
    turns = tree.motion[chain[-1]] in (MotionPrimitive.ROTATION, MotionPrimitive.BALL)
    if whole_position and orientation.all() and task.record_kind == 0 and turns and len(chain) > 1:
        T_node_tip = unpack(tree.frame_placement[index])
        record["wrist"] = -T_node_tip[:3, :3].T @ T_node_tip[:3, 3]
        record["wrist_reach"] = sum(lengths[:-1])


def length_scale(tree: Tree, records: Array) -> float:
    """L [m]: the longest chain of a position task, see `_longest`; 1 m when there is none."""
    positions = [index for index, record in enumerate(records) if record["parts"] & 1]
    return _longest(tree, [(int(tree.frame_node[index]), tree.frame_placement[index][9:]) for index in positions])


def _longest(tree: Tree, ends: Iterable[tuple[int, Array]]) -> float:
    """The longest chain to a node and on by a step (3,) behind its motion. Unbounded strokes are left out; what others
    exceed STROKES by does not count: else an arm on a long rail would weigh metres as if they were nothing, and not be
    solved."""
    known: dict[int, tuple[float, float]] = {}  # of the links to a node, and with their strokes

    def with_link(node: int, step: Array) -> tuple[float, float]:
        links, total = known[node]
        stretch, own = _stretch(tree, node, step), float(np.linalg.norm(step))
        return links + own, total + (stretch if np.isfinite(stretch) else own)

    longest = 0.0
    for node, step in ends:
        chain = [node]
        while chain[-1] != ROOT:
            chain.append(int(tree.parent[chain[-1]]))
        for parent, child in zip(chain[:0:-1], chain[-2::-1], strict=True):
            if child not in known:
                known[child] = with_link(parent, tree.placement[child][9:]) if parent != ROOT else (0.0, 0.0)
        links, total = with_link(node, step) if node != ROOT else (0.0, 0.0)
        longest = max(longest, min(total, links + STROKES * max(links, 1.0)))
    return longest if longest > 0.0 else 1.0


def chain_length(model: RobotModel, points: Sequence[tuple[str, Array]]) -> float:
    """L [m]: the longest chain to points (3,) in links, see `_longest`; 1 when all have length 0.

    Raises UnknownNameError.
    """
    tree, ends = model.tree, list[tuple[int, Array]]()
    for link, point in points:
        frame = model.link_index(link)
        T = unpack(tree.frame_placement[frame])
        ends.append((int(tree.frame_node[frame]), T[:3, 3] + T[:3, :3] @ point))
    return _longest(tree, ends)
