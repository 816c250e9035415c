"""Overlays of joints: their axes, names and limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...robokin.arrays import Array
from ..shapes import colors
from ..shapes.joints import KNOB_EDGES, TURN, limit_arc, nearness, radius_at, rail, swing_cone
from ..shapes.lines import arrow
from .pieces import Label, Pieces
from .robot_view import RobotView, Structure

SLIDER = 0.2 * KNOB_EDGES  # what moves on a rail; 1 is the size of the joint
OUTSIDE = 1.18  # of its ring: how far out the range of a joint is drawn


class Carried:
    """Segments that go with nodes. shapes: (m, 2, 3) in the frame of each node."""

    def __init__(self, shapes: dict[int, Array]) -> None:
        self._shapes = shapes
        self._shown: bytes | None = None

    def at(self, frames: Array, shown: Array) -> tuple[Array, Array]:
        """(segments (m, 2, 3), the node of each (m,)), of the nodes that are shown, where the nodes' frames (n, 4, 4)
        are."""
        if shown.tobytes() != self._shown:
            self._choose(shown)
        ends = self._ends @ frames[self._nodes, :3].swapaxes(1, 2)
        return ends.reshape(-1, 2, 3)[self._places], self._owners

    def _choose(self, shown: Array) -> None:
        """Each node gets as many places as the one with most segments, so that one product carries all."""
        own = {node: shape for node, shape in self._shapes.items() if shown[node]}
        counts = np.array([len(shape) for shape in own.values()], int)
        most = counts.max(initial=0)
        is_one = np.arange(most) < counts[:, None]
        ends = np.ones((len(own), most, 2, 4))
        ends[is_one, :, :3] = np.concatenate([np.zeros((0, 2, 3)), *own.values()])
        self._nodes, self._places = np.array(list(own), int), np.flatnonzero(is_one)
        self._ends, self._owners = ends.reshape(len(own), 2 * most, 4), np.repeat(self._nodes, counts)
        self._shown = shown.tobytes()


class JointOverlays:
    """What is drawn at the joints of one structure; what does not change with the pose is made once."""

    def __init__(self, structure: Structure) -> None:
        self._structure = structure
        self._axes = Carried(self._each(_axis))
        count, turns = len(structure.joint), structure.turns
        needles = {count + i: _needle(structure, i) for i in np.flatnonzero(turns).tolist()}
        sliders = {count + i: structure.sizes[i] * SLIDER for i in np.flatnonzero(structure.slides).tolist()}
        self._limits = Carried(self._each(_range) | self._cones() | needles | sliders)
        self._tints = np.repeat(np.array([colors.RANGE, colors.NEEDLE]), count, axis=0)
        self._growth = (radius_at(np.where(turns, TURN, 0.0), structure.lower, structure.upper) - 1.0) / TURN
        first = {int(joint): node for node, joint in reversed(list(enumerate(structure.joint)))}
        self._named = np.array(list(first.values()), int)

    def _each(self, shape: Callable[[Structure, int], Array]) -> dict[int, Array]:
        nodes = np.flatnonzero(self._structure.turns | self._structure.slides).tolist()
        return {node: shape(self._structure, node) for node in nodes}

    def _cones(self) -> dict[int, Array]:
        found, tree = {}, self._structure.robot.model.tree
        for cone in self._structure.robot.model.limits.cones:
            for node in np.flatnonzero(tree.iq == cone.q).tolist():
                size = 2.0 * self._structure.sizes[node]
                found[node] = size * swing_cone(cone.a, cone.b, cone.basis)
        return found

    def axes(self, view: RobotView, shown: Array) -> Pieces:
        segments, _ = self._axes.at(view.before, shown)
        return Pieces([(segments, colors.AXIS)])

    def names(self, view: RobotView, shown: Array) -> Pieces:
        nodes = self._named[shown[self._named]]
        at = self._structure
        names = [at.names[joint] for joint in at.joint[nodes].tolist()]
        places = view.before[nodes, :3, 3].tolist()
        return Pieces(labels=[Label(name, place, colors.NEEDLE) for name, place in zip(names, places, strict=True)])

    def limits(self, view: RobotView, shown: Array) -> Pieces:
        """Ranges are where the nodes were before they moved, needles and sliders where they are."""
        at = self._structure
        values = at.values(view.q)
        near = nearness(values, at.lower, at.upper, at.margin)
        after = view.nodes.copy()
        after[:, :3, 0] *= 1.0 + (self._growth * values)[:, None]
        after[at.turns, :3, 3] = view.before[at.turns, :3, 3]
        segments, owner = self._limits.at(np.concatenate((view.before, after)), np.concatenate((shown, shown)))
        return Pieces([(segments, colors.blend(self._tints, colors.BAD, np.concatenate((near, near)))[owner])])


def _axis(structure: Structure, node: int) -> Array:
    size = structure.sizes[node]
    return arrow(np.array([0.0, 0.0, -0.6 * size]), np.array([0.0, 0.0, 2.0 * size]), 0.15)


def _needle(structure: Structure, node: int) -> Array:
    """From the middle to the range, along the X of a node, which turns with the joint."""
    return OUTSIDE * structure.sizes[node] * np.array([[[0.35, 0.0, 0.0], [1.08, 0.0, 0.0]]])


def _range(structure: Structure, node: int) -> Array:
    lower, upper, size = structure.lower[node], structure.upper[node], structure.sizes[node]
    if structure.slides[node]:
        return rail(lower, upper, size)
    return OUTSIDE * size * limit_arc(lower, upper)
