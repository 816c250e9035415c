"""How fast two shapes of a robot can approach each other, at most, whatever the configuration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..model.joint_types import MotionPrimitive
from ..model.robot import RobotModel
from ..model.tree import ROOT, Tree, unpack_placement
from .model import CollisionModel

_TURNS = (MotionPrimitive.ROTATION, MotionPrimitive.HELICAL)


class Reaches:
    """How far each shape reaches from the origins of the motions that move it, but for what slides add: they do not
    depend on where the robot is."""

    def __init__(self, collisions: CollisionModel) -> None:
        self.model = collisions.model
        tree, nodes = self.model.tree, self.model.tree.n_nodes
        self.lengths = np.linalg.norm(tree.placement[:, 9:], axis=1)  # of a node from the one before
        self.after = np.zeros((nodes, nodes), bool)  # [node, one that it moves]
        for node, parent in enumerate(tree.parent):  # parents first
            if parent != ROOT:
                self.after[:, node] = self.after[:, parent]
                self.after[parent, node] = True
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
        self.between = self.moved[self.a] ^ self.moved[self.b]

    def approach(self, low: Array, high: Array) -> Approach:
        """low, high: (nq,) what the configurations stay between; finite but for quaternions."""
        links = self.moved * (self.lengths + _travel(self.model.tree, low, high))
        reach = np.where(self.moved, self.own[:, None] + links @ self.after.T, 0.0)
        longest = np.maximum(reach[self.a], reach[self.b])
        return Approach(self.model, self.between.astype(float), np.where(self.between, longest, 0.0))


@dataclass(frozen=True, eq=False)
class Approach:
    """How fast each pair can approach: for a length, and for an angle, of each elementary motion between the two,
    (pairs, nodes).

    A point that turns about an axis goes no farther than its distance from it, which is no longer than the links
    between, stretched out (Schwarzer, Saha, Latombe 2005).
    """

    model: RobotModel
    per_length: Array
    per_angle: Array

    def rates(self, c: Array, h: float) -> Array:
        """(pairs,) [m] per unit of the parameter, at most, along a cubic c (4, nq) of powers of it, in 0 .. h."""
        length, angle = _speeds(self.model, c, h)
        return self.per_length @ length + self.per_angle @ angle

    def weights(self) -> Array:
        """(nq,) [m] per unit of each coordinate, at most, over all pairs; where no pair counts, a little."""
        weights = np.zeros(self.model.nq)
        tree, most = self.model.tree, self.per_angle.max(axis=0, initial=0.0)
        for node, motion in enumerate(tree.motion):
            q, scale = int(tree.iq[node]), abs(float(tree.scale[node]))
            if motion == MotionPrimitive.TRANSLATION:
                weights[q] += scale * self.per_length[:, node].max(initial=0.0)
            elif motion in _TURNS:
                weights[q] += scale * (most[node] + abs(tree.pitch[node]))
            else:
                is_free = motion == MotionPrimitive.FREE
                weights[q : q + 3 * is_free] = 1.0
                weights[q + 3 * is_free : q + 3 * is_free + 4] = 2.0 * most[node]
        return np.maximum(weights, 1e-3 * max(float(weights.max(initial=0.0)), 1.0))


def _travel(tree: Tree, low: Array, high: Array) -> Array:
    """(nodes,) [m] how far each motion takes what follows from where it is at 0, at most."""
    travel = np.zeros(tree.n_nodes)
    for node, motion in enumerate(tree.motion):
        q = int(tree.iq[node])
        most = np.maximum(abs(low[q : q + 3]), abs(high[q : q + 3]))
        one = abs(tree.scale[node]) * most[0] + abs(tree.offset[node])
        if motion == MotionPrimitive.TRANSLATION:
            travel[node] = one
        elif motion == MotionPrimitive.HELICAL:
            travel[node] = abs(tree.pitch[node]) * one
        elif motion == MotionPrimitive.FREE:
            travel[node] = float(np.linalg.norm(most))
    return travel


def _speeds(model: RobotModel, c: Array, h: float) -> tuple[Array, Array]:
    """(nodes,) of length and of angle per unit of the parameter, at most: the derivative is inside the hull of its
    Bernstein coefficients (Farouki 2012)."""
    tree = model.tree
    bernstein = np.stack((c[1], c[1] + h * c[2], c[1] + 2.0 * h * c[2] + 3.0 * h * h * c[3]))
    most = abs(bernstein).max(axis=0)
    length, angle = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    for node, motion in enumerate(tree.motion):
        q = int(tree.iq[node])
        rate = abs(tree.scale[node]) * most[q]
        if motion == MotionPrimitive.TRANSLATION:
            length[node] = rate
        elif motion in _TURNS:
            angle[node], length[node] = rate, abs(tree.pitch[node]) * rate
        else:
            if motion == MotionPrimitive.FREE:
                length[node], q = np.linalg.norm(bernstein[:, q : q + 3], axis=1).max(), q + 3
            turn = float(np.linalg.norm(bernstein[:, q : q + 4], axis=1).max())
            least = _least_norm(c[:, q : q + 4], h)
            angle[node] = 2.0 * turn / least
    return length, angle


def _least_norm(c: Array, h: float) -> float:
    """How short the quaternion of a cubic gets in 0 .. h, at least: what its Bernstein coefficients reach along the
    mean of the ends."""
    ends = c[0], c[0] + h * (c[1] + h * (c[2] + h * c[3]))
    points = np.stack((c[0], c[0] + h * c[1] / 3.0, c[0] + h * (2.0 * c[1] + h * c[2]) / 3.0, ends[1]))
    middle = ends[0] + ends[1]
    return max(float((points @ (middle / np.linalg.norm(middle))).min()), 1e-3)
