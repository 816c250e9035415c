"""The part of a robot's tree that links depend on, as a tree of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.rolling import RollingBase
from ...robokin.model.tree import ROOT, Tree
from ...robokin.spatial.se3 import pack


@dataclass(frozen=True, eq=False)
class Support:
    """tree: its frames are the tips.   q_index: (nq,) where its coordinates lie in the robot's q.   bases: in it."""

    tree: Tree
    q_index: Array
    bases: tuple[RollingBase, ...]

    def at(self, q: int, v: int) -> tuple[int, int] | None:
        """Where a joint whose coordinates start at q and v of the robot has them in the support; None: not there."""
        found = np.flatnonzero(self.q_index == q)
        if len(found) == 0:
            return None
        node = int(np.flatnonzero(self.tree.iq == found[0])[0])
        return int(found[0]), int(self.tree.iv[node])


def support_tree(
    tree: Tree,
    tip_nodes: Sequence[int],
    tips: Sequence[Array],
    lower: Array,
    upper: Array,
    bases: Sequence[RollingBase] = (),
) -> Support:
    """The tree that tips (4, 4) on the nodes `tip_nodes`, inside bounds (nq,) on the robot's q: the nodes between the
    root and them, and wheels of a base among them, renumbered; coordinates keep their order."""
    needed = with_ancestors(tree, tip_nodes)
    for base in bases:
        if np.isin(base.q, tree.iq[sorted(needed)]):
            needed |= with_ancestors(tree, np.flatnonzero(np.isin(tree.iq, base.wheel_q)).tolist())
    nodes = np.array(sorted(needed), np.int64)
    number = {int(node): i for i, node in enumerate(nodes)} | {ROOT: ROOT}
    first_q: dict[int, int] = {}
    first_v: dict[int, int] = {}
    q_index: list[int] = []
    columns = 0
    for node in sorted(nodes, key=lambda node: tree.iq[node]):
        motion, iq = MotionPrimitive(tree.motion[node]), int(tree.iq[node])
        if iq not in first_q:
            first_q[iq], first_v[iq] = len(q_index), columns
            q_index.extend(range(iq, iq + motion.nq))
            columns += motion.nv
    kept = np.array(q_index, np.int64)
    arrays = {
        "parent": np.array([number[int(tree.parent[node])] for node in nodes], np.int32),
        "motion": tree.motion[nodes],
        "iq": np.array([first_q[int(tree.iq[node])] for node in nodes], np.int32),
        "iv": np.array([first_v[int(tree.iq[node])] for node in nodes], np.int32),
        "placement": tree.placement[nodes],
        "pitch": tree.pitch[nodes],
        "scale": tree.scale[nodes],
        "offset": tree.offset[nodes],
        "inertia": tree.inertia[nodes],
        "frame_node": np.array([number[node] for node in tip_nodes], np.int32),
        "frame_placement": np.array([pack(tip) for tip in tips]).reshape(-1, 12),
        "root_inertia": tree.root_inertia,
        "lower": np.ascontiguousarray(lower[kept]),
        "upper": np.ascontiguousarray(upper[kept]),
        "node_joint": tree.node_joint[nodes],
    }
    quaternions = tuple(i for i, q in enumerate(q_index) if q in tree.quaternions)
    support = Tree(nq=len(q_index), nv=columns, quaternions=quaternions, **arrays)
    here = tuple(
        replace(
            base,
            q=first_q[base.q],
            v=first_v[base.q],
            wheel_q=(first_q[base.wheel_q[0]], first_q[base.wheel_q[1]]),
            wheel_v=(first_v[base.wheel_q[0]], first_v[base.wheel_q[1]]),
        )
        for base in bases
        if base.q in first_q
    )
    return Support(support, kept, here)


def with_ancestors(tree: Tree, nodes: Iterable[int]) -> set[int]:
    """The nodes and all between them and the root."""
    found: set[int] = set()
    for node in nodes:
        while node != ROOT:
            found.add(node)
            node = int(tree.parent[node])
    return found


def chain_to(tree: Tree, frame: int) -> tuple[list[int], list[Array]]:
    """Nodes from the root to a frame, and behind each the step (3,) to the next one's fixed frame or the tip."""
    chain = []
    node = int(tree.frame_node[frame])
    while node != ROOT:
        chain.append(node)
        node = int(tree.parent[node])
    chain.reverse()
    return chain, [*(tree.placement[node][9:] for node in chain[1:]), tree.frame_placement[frame][9:]]
