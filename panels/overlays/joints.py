"""Overlays of joints: their axes, names and limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...robokin.arrays import Array
from ..shapes import colors
from ..shapes.joints import KNOB_EDGES, limit_arc, nearness, radius_at, rail, swing_cone
from ..shapes.lines import arrow
from .pieces import Pieces
from .robot_view import RobotView, Structure

SLIDER = 0.2 * KNOB_EDGES  # what moves on a rail; 1 is the size of the joint
_NEEDLE = np.array([[0.35], [1.08]])  # from where to where it goes, of the radius
OUTSIDE = 1.18  # of its ring: how far out the range of a joint is drawn


class Carried:
    """Segments that go with nodes. owner: (m,) the node of each segment."""

    def __init__(self, shapes: dict[int, Array]) -> None:
        self.segments = np.concatenate(list(shapes.values())) if shapes else np.zeros((0, 2, 3))
        counts = [len(shape) for shape in shapes.values()]
        self.owner = np.repeat(np.array(list(shapes), int), counts)

    def at(self, frames: Array, shown: Array) -> tuple[Array, Array]:
        """(segments (m', 2, 3), their owners), of the nodes that are shown, where the nodes' frames (n, 4, 4) are."""
        chosen = shown[self.owner]
        owner = self.owner[chosen]
        at = frames[owner]
        return self.segments[chosen] @ at[:, :3, :3].swapaxes(1, 2) + at[:, None, :3, 3], owner


class JointOverlays:
    """What is drawn at the joints of one structure; what does not change with the pose is made once."""

    def __init__(self, structure: Structure) -> None:
        self._structure = structure
        self._axes = Carried(self._each(_axis))
        self._ranges = Carried(self._each(_range) | self._cones())
        tree = structure.robot.model.tree
        single = structure.turns | structure.slides
        self._needles = np.flatnonzero(structure.turns)
        self._sliders = np.flatnonzero(structure.slides)
        first = {int(joint): node for node, joint in reversed(list(enumerate(structure.joint)))}
        self._named = [(joint, node) for joint, node in first.items() if tree.n_nodes]
        self._single = single

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
        found, names = Pieces(), self._structure.names
        for joint, node in self._named:
            if shown[node]:
                found.label(names[joint], view.before[node, :3, 3], colors.NEEDLE)
        return found

    def limits(self, view: RobotView, shown: Array) -> Pieces:
        at = self._structure
        values = at.values(view.q)
        near = np.where(self._single, nearness(values, at.lower, at.upper, at.margin), 0.0)
        tints = colors.blend(colors.RANGE, colors.BAD, near)
        segments, owner = self._ranges.at(view.before, shown)
        found = Pieces([(segments, tints[owner])])
        turning = self._needles[shown[self._needles]]
        if len(turning):
            found.lines.append(
                (self._needle(view, turning, values), np.array(colors.blend(colors.NEEDLE, colors.BAD, near[turning])))
            )
        sliding = self._sliders[shown[self._sliders]]
        if len(sliding):
            frames = view.nodes[sliding]
            local = at.sizes[sliding, None, None, None] * SLIDER
            own = local @ frames[:, None, :3, :3].swapaxes(2, 3) + frames[:, None, None, :3, 3]
            tint = np.repeat(colors.blend(colors.NEEDLE, colors.BAD, near[sliding]), len(SLIDER), axis=0)
            found.lines.append((own.reshape(-1, 2, 3), tint))
        return found

    def _needle(self, view: RobotView, nodes: Array, values: Array) -> Array:
        """(n, 2, 3) from the middle to the range, where each joint stands."""
        at, own = self._structure, values[nodes]
        radius = OUTSIDE * at.sizes[nodes] * radius_at(own, at.lower[nodes], at.upper[nodes])
        frames = view.before[nodes, :3]
        needle = frames[..., 0] * (radius * np.cos(own))[:, None] + frames[..., 1] * (radius * np.sin(own))[:, None]
        return _NEEDLE * needle[:, None] + frames[:, None, :, 3]


def _axis(structure: Structure, node: int) -> Array:
    size = structure.sizes[node]
    return arrow(np.array([0.0, 0.0, -0.6 * size]), np.array([0.0, 0.0, 2.0 * size]), 0.15)


def _range(structure: Structure, node: int) -> Array:
    lower, upper, size = structure.lower[node], structure.upper[node], structure.sizes[node]
    if structure.slides[node]:
        return rail(lower, upper, size)
    return OUTSIDE * size * limit_arc(lower, upper)
