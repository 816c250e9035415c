"""The joints that move a tip, as axes in space: all that families are recognised from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.limits import PositionLimits
from ...robokin.model.robot import RobotModel
from ...robokin.model.tree import ROOT
from ...robokin.spatial import so3
from ...robokin.spatial.se3 import unpack


@dataclass(frozen=True, eq=False)
class Chain:
    """n joints from the root to a tip, of one coordinate each. In root axes, with all joints at zero.

    axis: (n, 3) unit, of a turn or a slide.   point: (n, 3) [m] of the axis, counted from `centre`.
    slides: (n,) bool.   home: (4, 4) of the tip, counted from `centre`.   centre: (3,) [m] in the root frame.
    size: [m] the length of the chain.   q_index: (n,) of the coordinates in q.   lower, upper: (n,).
    """

    axis: Array
    point: Array
    slides: Array
    home: Array
    centre: Array
    size: float
    q_index: Array
    lower: Array
    upper: Array

    @property
    def joints(self) -> int:
        return len(self.axis)


def chain_of(model: RobotModel, link: str, offset: Array, limits: PositionLimits) -> Chain | None:
    """The chain to the tip at `offset` (4, 4) in a link. None when it has a joint of another kind (screw, ball,
    floating), one that follows another or is followed in it, or none at all."""
    tree = model.tree
    frame = model.link_index(link)
    nodes, node = [], int(tree.frame_node[frame])
    while node != ROOT:
        nodes.append(node)
        node = int(tree.parent[node])
    nodes.reverse()
    motions = tree.motion[nodes]
    is_plain = (tree.scale[nodes] == 1.0) & (tree.offset[nodes] == 0.0)
    is_plain &= (motions == MotionPrimitive.ROTATION) | (motions == MotionPrimitive.TRANSLATION)
    q_index = tree.iq[nodes]
    if not nodes or not is_plain.all() or len(set(q_index.tolist())) < len(nodes):
        return None
    T, placements = np.eye(4), []
    for node in nodes:
        T = T @ unpack(tree.placement[node])
        placements.append(T)
    home = T @ unpack(tree.frame_placement[frame]) @ offset
    points = np.array([each[:3, 3] for each in placements])
    centre = points[0].copy()
    size = float(np.linalg.norm(np.diff([*points, home[:3, 3]], axis=0), axis=1).sum())
    home[:3, 3] -= centre
    return Chain(
        axis=np.array([each[:3, 2] for each in placements]),
        point=points - centre,
        slides=motions == MotionPrimitive.TRANSLATION,
        home=home,
        centre=centre,
        size=size or 1.0,
        q_index=q_index,
        lower=limits.lower[q_index],
        upper=limits.upper[q_index],
    )


def placement(chain: Chain, x: Array) -> Array:
    """(4, 4) of the tip, counted from `centre`, for joint values x (n,)."""
    T = chain.home.copy()
    for axis, point, slides, value in reversed(list(zip(chain.axis, chain.point, chain.slides, x, strict=True))):
        if slides:
            T[:3, 3] += value * axis
        else:
            R = so3.exp(value * axis)
            T[:3, :3], T[:3, 3] = R @ T[:3, :3], R @ (T[:3, 3] - point) + point
    return T


def placed(chain: Chain, x: Array) -> tuple[Array, Array, Array]:
    """axis (n, 3), point (n, 3) of the joints and the tip (3,) at joint values x (n,), as in the chain."""
    R, p = np.eye(3), np.zeros(3)
    axes, points = [], []
    for axis, point, slides, value in zip(chain.axis, chain.point, chain.slides, x, strict=True):
        axes.append(R @ axis)
        points.append(R @ point + p)
        if slides:
            p = p + value * axes[-1]
        else:
            R = R @ so3.exp(value * axis)
            p = points[-1] - R @ point
    return np.array(axes), np.array(points), R @ chain.home[:3, 3] + p


def jacobian(chain: Chain, x: Array) -> Array:
    """(6, n) velocity of the tip's origin over `size`, and its angular velocity, in root axes."""
    axes, points, tip = placed(chain, x)
    J = np.zeros((6, chain.joints))
    for i, (axis, point, slides) in enumerate(zip(axes, points, chain.slides, strict=True)):
        J[:3, i] = (axis if slides else np.cross(axis, tip - point)) / chain.size
        J[3:, i] = 0.0 if slides else axis
    return J
