"""How fast two shapes of a robot can approach each other, at most, whatever the configuration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..model.joint_types import MotionPrimitive
from ..model.tree import ROOT, Tree, unpack_placement
from .model import CollisionModel

_TURNS = (MotionPrimitive.ROTATION, MotionPrimitive.HELICAL)


class Reaches:
    """How far each shape reaches from the origins of the motions that move it, but for what slides add: they do not
    depend on where the robot is."""

    def __init__(self, collisions: CollisionModel) -> None:
        self.model = collisions.model
        self.motions = _Motions(self.model.tree)
        tree, nodes = self.model.tree, self.model.tree.n_nodes
        self.lengths = np.linalg.norm(tree.placement[:, 9:], axis=1)  # of a node from the one before
        self.after = np.zeros((nodes, nodes), bool)  # [node, one that it moves]
        for node, parent in enumerate(tree.parent):  # parents first
            if parent != ROOT:
                self.after[:, node] = self.after[:, parent]
                self.after[parent, node] = True
        self.with_self = (self.after | np.eye(nodes, dtype=bool)).astype(float)
        balls = collisions.balls()
        self.own = np.zeros(len(balls))  # from the origin of the last node
        self.moved = np.zeros((len(balls), nodes), bool)  # [shape, a node that moves it]
        for shape, (link, centre, bound) in enumerate(balls):
            node = ROOT if link is None else int(tree.frame_node[link])
            if link is None or node == ROOT:
                continue
            frame = unpack_placement(tree.frame_placement[link])
            self.own[shape] = float(np.linalg.norm(frame[:3, :3] @ centre + frame[:3, 3])) + bound
            self.moved[shape] = self.after[:, node]
            self.moved[shape, node] = True
        self.a, self.b = collisions.pairs.T
        both = self.moved[self.a] & self.moved[self.b]
        last = nodes - 1 - both[:, ::-1].argmax(axis=1) if nodes else np.zeros(len(both), int)
        self.common = np.where(both.any(axis=1), last, nodes)  # the last node that moves both; `nodes` where none does

    def approach(self, low: Array, high: Array) -> Approach:
        """low, high: (nq,) what the configurations stay between; finite but for quaternions."""
        links = self.moved * (self.lengths + self.motions.travel(low, high))
        return Approach(self, np.where(self.moved, self.own[:, None] + links @ self.after.T, 0.0))


@dataclass(frozen=True, eq=False)
class Approach:
    """How fast each pair can approach. reach: (shapes, nodes) [m] from the origin of each motion that moves a shape, 0
    of others.

    A point that turns about an axis goes no farther than its distance from it, which is no longer than the links
    between, stretched out (Schwarzer, Saha, Latombe 2005). Motions that move both of a pair do not count.
    """

    of: Reaches
    reach: Array

    def rates(self, c: Array, h: float) -> Array:
        """(pairs,) [m] per unit of the parameter, at most, along a cubic c (4, nq) of powers of it, in 0 .. h."""
        length, angle = self.of.motions.speeds(c, h)
        speeds = self.reach * angle + self.of.moved * length  # that each motion gives each shape
        both = np.zeros((len(speeds), len(angle) + 1))  # up to each node
        both[:, :-1] = speeds @ self.of.with_self
        whole, a, b, common = speeds.sum(axis=1), self.of.a, self.of.b, self.of.common
        return np.maximum(whole[a] - both[a, common] + whole[b] - both[b, common], 0.0)

    def weights(self) -> Array:
        """(nq,) [m] per unit of each coordinate, at most, over all pairs; where no pair counts, a little."""
        model, a, b = self.of.model, self.of.a, self.of.b
        weights, tree = np.zeros(model.nq), model.tree
        between = self.of.moved[a] ^ self.of.moved[b]
        is_between = between.any(axis=0)
        most = np.where(between, self.reach[a] + self.reach[b], 0.0).max(axis=0, initial=0.0)
        for node, motion in enumerate(tree.motion):
            q, scale = int(tree.iq[node]), abs(float(tree.scale[node]))
            if motion == MotionPrimitive.TRANSLATION:
                weights[q] += scale * is_between[node]
            elif motion in _TURNS:
                weights[q] += scale * (most[node] + abs(tree.pitch[node]))
            else:
                is_free = motion == MotionPrimitive.FREE
                weights[q : q + 3 * is_free] = 1.0
                weights[q + 3 * is_free : q + 3 * is_free + 4] = 2.0 * most[node]
        return np.maximum(weights, 1e-3 * max(float(weights.max(initial=0.0)), 1.0))


class _Motions:
    """How far and how fast the elementary motions of a tree take what follows them."""

    def __init__(self, tree: Tree) -> None:
        motion = np.asarray(tree.motion)
        self.count, self.q = tree.n_nodes, np.asarray(tree.iq, int)
        self.scale, self.pitch, self.offset = abs(tree.scale), abs(tree.pitch), abs(tree.offset)
        self.slides = np.flatnonzero(motion == MotionPrimitive.TRANSLATION)
        self.turns = np.flatnonzero(np.isin(motion, _TURNS))
        self.screws = np.flatnonzero(motion == MotionPrimitive.HELICAL)
        self.free = np.flatnonzero(motion == MotionPrimitive.FREE)
        others = np.flatnonzero(~np.isin(motion, (MotionPrimitive.TRANSLATION, *_TURNS)))
        self.quaternions = [(node, self.q[node] + 3 * (node in self.free)) for node in others]

    def travel(self, low: Array, high: Array) -> Array:
        """(nodes,) [m] how far each motion takes what follows from where it is at 0, at most."""
        travel, most = np.zeros(self.count), np.maximum(abs(low), abs(high))
        for nodes, pitch in ((self.slides, 1.0), (self.screws, self.pitch[self.screws])):
            travel[nodes] = pitch * (self.scale[nodes] * most[self.q[nodes]] + self.offset[nodes])
        for node in self.free:
            travel[node] = np.linalg.norm(most[self.q[node] : self.q[node] + 3])
        return travel

    def speeds(self, c: Array, h: float) -> tuple[Array, Array]:
        """(nodes,) of length and of angle per unit of the parameter, at most: the derivative is inside the hull of its
        Bernstein coefficients (Farouki 2012)."""
        bernstein = np.stack((c[1], c[1] + h * c[2], c[1] + 2.0 * h * c[2] + 3.0 * h * h * c[3]))
        rate = self.scale * abs(bernstein).max(axis=0)[self.q]
        length, angle = np.zeros(self.count), np.zeros(self.count)
        length[self.slides], angle[self.turns] = rate[self.slides], rate[self.turns]
        length[self.screws] = self.pitch[self.screws] * rate[self.screws]
        for node in self.free:
            length[node] = np.linalg.norm(bernstein[:, self.q[node] : self.q[node] + 3], axis=1).max()
        for node, q in self.quaternions:
            turn = float(np.linalg.norm(bernstein[:, q : q + 4], axis=1).max())
            angle[node] = 2.0 * turn / _least_norm(c[:, q : q + 4], h)
        return length, angle


def _least_norm(c: Array, h: float) -> float:
    """How short the quaternion of a cubic gets in 0 .. h, at least: what its Bernstein coefficients reach along the
    mean of the ends."""
    ends = c[0], c[0] + h * (c[1] + h * (c[2] + h * c[3]))
    points = np.stack((c[0], c[0] + h * c[1] / 3.0, c[0] + h * (2.0 * c[1] + h * c[2]) / 3.0, ends[1]))
    middle = ends[0] + ends[1]
    return max(float((points @ (middle / np.linalg.norm(middle))).min()), 1e-3)
