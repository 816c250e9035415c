"""How the elementary degrees of freedom of a robot move what is behind them, and how that changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.tree import ROOT, Tree


@dataclass(frozen=True, eq=False)
class _Layout:
    """What does not change of m elementary degrees of freedom. node, axis: (m,), of the node's frame.   slides, turns:
    (m,) per unit of the coordinate.   G: (m, nv).   supports: (n + 1, n), [i, k] whether node k moves node i; of the
    last row, the root, none does."""

    node: Array
    axis: Array
    slides: Array
    turns: Array
    G: Array
    supports: Array


@dataclass(frozen=True, eq=False)
class UnitTwists:
    """Each of m elementary degrees of freedom, in the axes of the root frame.

    angular: (m, 3), and linear: (m, 3) at origin: (m, 3), per unit of its coordinate.
    G: (m, nv), coordinates = G v (mimic joints share a column of v).   above: (m, m), [k, j] whether k moves j's axis.
    behind: (m, n), whether a node moves with it, as 1 or 0.
    """

    layout: _Layout
    linear: Array
    angular: Array
    origin: Array
    G: Array
    above: Array
    behind: Array

    @classmethod
    def at(cls, tree: Tree, placements: Array) -> UnitTwists:
        """placements: (n, 12) T_root_node."""
        own = _layout(tree)
        axes = placements[:, :9].reshape(-1, 3, 3)[own.node, :, own.axis]
        behind = own.supports[:-1].T[own.node]
        linear, angular = own.slides[:, None] * axes, own.turns[:, None] * axes
        return cls(own, linear, angular, placements[own.node, 9:], own.G, behind[:, own.node], behind.astype(float))

    def moving(self, node: int) -> UnitTwists:
        """Degrees of freedom that move a node (or the root: none)."""
        at = np.flatnonzero(self.layout.supports[node][self.layout.node])
        above = self.above[np.ix_(at, at)]
        parts = self.linear[at], self.angular[at], self.origin[at], self.G[at], above, self.behind[at]
        return UnitTwists(self.layout, *parts)

    def point_velocity(self, point: Array) -> Array:
        """(m, 3) velocity that each gives a point, if it moves it."""
        return self.linear + np.cross(self.angular, point - self.origin)

    def turned(self, vectors: Array) -> Array:
        """(m, m, 3) [j, k] w_k x v_j of vectors (m, 3)."""
        return np.cross(self.angular[None, :, :], vectors[:, None, :])

    def derivative(self, vectors: Array) -> Array:
        """(m, m, 3) [j, k] the derivative along k of vectors (m, 3), one per degree of freedom, that belong to a point
        behind all of them: along its own axis and those before it a vector turns, w_k x v_j; along those after it,
        it changes as theirs does along it, w_j x v_k (a velocity is the derivative of one point)."""
        turned = self.turned(vectors)
        return np.where(self.above.T[:, :, None], turned, np.swapaxes(turned, 0, 1))


@lru_cache(maxsize=8)
def _layout(tree: Tree) -> _Layout:
    node, axis, slides, turns, column, factor = [], [], [], [], [], []
    for i, motion in enumerate(map(MotionPrimitive, tree.motion)):
        match motion:
            case MotionPrimitive.ROTATION | MotionPrimitive.HELICAL:
                own = [(2, tree.pitch[i] if motion is MotionPrimitive.HELICAL else 0.0, 1.0)]
            case MotionPrimitive.TRANSLATION:
                own = [(2, 1.0, 0.0)]
            case MotionPrimitive.BALL:
                own = [(k, 0.0, 1.0) for k in range(3)]
            case MotionPrimitive.FREE:
                own = [(k, 1.0, 0.0) for k in range(3)] + [(k, 0.0, 1.0) for k in range(3)]
        for k, (at, slide, turn) in enumerate(own):
            node.append(i)
            axis.append(at)
            slides.append(slide)
            turns.append(turn)
            column.append(int(tree.iv[i]) + k)
            factor.append(float(tree.scale[i]) if motion.has_axis else 1.0)
    G = np.zeros((len(node), tree.nv))
    G[np.arange(len(node)), column] = factor
    supports = np.zeros((tree.n_nodes + 1, tree.n_nodes), bool)
    for i, parent in enumerate(tree.parent):
        supports[i] = supports[parent]
        supports[i, i] = True
    supports[ROOT] = False
    return _Layout(np.array(node, int), np.array(axis, int), np.array(slides), np.array(turns), G, supports)
