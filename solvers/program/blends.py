"""Moves that go over into each other without rest: their paths as one path.

Within the radius of a corner the robot goes on along the path that ends, more and more slowly, and already along the
next one, faster and faster: the two displacements add up. So the joined path leaves and meets them smoothly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.errors import ConfigurationError
from ...robokin.model.robot import RobotModel
from ...robokin.structure.tool_links import tool_links
from ..motion.motion import Motion
from ..retiming.path import Path
from .moves import Move, called

FEWEST = 8  # places of a blend
MOST = 0.45  # of a path is taken, at most, by the blend at its end, and by that at its start
SHRINKS = 40
SHORTER = 0.9


@dataclass(frozen=True, eq=False)
class JoinedPath:
    """q: (n, nq).   owner: (n,) index of the move that each place belongs to.
    halfway: (n,) bool, one place of each move, which no blend takes."""

    q: Array
    owner: Array
    halfway: Array


def joined(model: RobotModel, moves: Sequence[Move], paths: Sequence[Array]) -> JoinedPath:
    """The paths of moves, each but the last with a blend, as one. In a blend the tip stays within its radius of the
    corner: a path that is too short for it has a shorter blend."""
    rows, owners = [paths[0]], [np.zeros(len(paths[0]), int)]
    halves = [np.arange(len(path)) == len(path) // 2 for path in paths]
    halfway = [halves[0]]
    start = 0.0  # place of the present path where the blend before has ended
    for i, (move, before, after) in enumerate(zip(moves[:-1], paths[:-1], paths[1:], strict=True)):
        tips = [move.tip, moves[i + 1].tip, *tool_links(model)]
        tip = next((each for each in tips if each), "")
        if not tip:
            raise ConfigurationError(f"{model.name!r} has no tool: {called(move.name)} cannot blend")
        frame = model.link_index(tip)
        leave, arrive, blend = _blend(
            model, frame, move.blend, before, after, max(start, (1.0 - MOST) * (len(before) - 1))
        )
        kept = np.arange(len(before)) < leave
        for each in (rows, owners, halfway):  # the last of them is what the blend before has left of this path
            each[-1] = each[-1][kept[len(kept) - len(each[-1]) :]]
        half = np.repeat([i, i + 1], [len(blend) // 2, len(blend) - len(blend) // 2])
        rest = np.arange(len(after)) > arrive
        rows += [blend, after[rest]]
        owners += [half, np.full(rest.sum(), i + 1)]
        halfway += [np.zeros(len(blend), bool), halves[i + 1][rest]]
        start = arrive
    return JoinedPath(*map(np.concatenate, (rows, owners, halfway)))


def _blend(
    model: RobotModel, frame: int, radius: float, before: Array, after: Array, earliest: float
) -> tuple[float, float, Array]:
    """Where the blend begins on the path before, where it ends on the next one, and its configurations."""
    corner = _tips(model, frame, before[-1:])[0]
    last = len(before) - 1
    back = last - _inside(_tips(model, frame, before[::-1]), corner, radius)
    leave = max(back, earliest)
    arrive = min(_inside(_tips(model, frame, after), corner, radius), MOST * (len(after) - 1))
    for _ in range(SHRINKS):
        q = _added(model, before, after, leave, arrive)
        if np.linalg.norm(_tips(model, frame, q) - corner, axis=1).max() <= radius:
            break
        leave, arrive = last - SHORTER * (last - leave), SHORTER * arrive
    return leave, arrive, q


def _added(model: RobotModel, before: Array, after: Array, leave: float, arrive: float) -> Array:
    """(p, nq) both displacements from the corner together, as close together as the places of the paths."""
    t = np.linspace(0.0, 1.0, max(FEWEST, int(len(before) - 1 - leave + arrive)) + 1)
    gone = t * (2.0 + t * t * (t - 2.0))  # 0 to 1, from speed 2 to rest, its second derivative 0 at both ends
    last, backend = len(before) - 1, get_backend()
    here = _at(model, before, leave + gone * (last - leave))
    there = _at(model, after, arrive * (1.0 - gone[::-1]))
    return backend.integrate(model.tree, here, backend.difference(model.tree, np.tile(after[:1], (len(t), 1)), there))


def _at(model: RobotModel, points: Array, place: Array) -> Array:
    """(p, nq) between the places of a path, smoothly."""
    knots = np.arange(float(len(points)))
    smooth = Path.through(model, np.array(Motion.of(model, knots, points).unwrapped().q), knots)
    return smooth.at(np.clip(np.floor(place).astype(int), 0, len(points) - 2), place)[0]


def _tips(model: RobotModel, frame: int, q: Array) -> Array:
    return get_backend().frame_placements(model.tree, np.ascontiguousarray(q))[:, frame, :3, 3]


def _inside(tips: Array, corner: Array, radius: float) -> float:
    """How many places, counted from the corner on, have the tip within the radius of it."""
    away = np.linalg.norm(tips - corner, axis=1)
    out = np.flatnonzero(away > radius)
    if not len(out):
        return float(len(tips) - 1)
    k = int(out[0])
    return k - 1 + (radius - away[k - 1]) / (away[k] - away[k - 1])
