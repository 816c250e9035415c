"""Links stay away from one another and from obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import ClassVar

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.collision import CollisionModel
from ...robokin.collision.model import Near
from ...robokin.collision.reference.distances import FAR
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel
from ..kinematics.state import State
from .base import Part, Rows, Task
from .checks import not_negative, numbers

MARGIN = 0.005  # [m] unless another one is given
ROWS = 16  # the nearest pairs that a step looks at
ZONE = 0.25  # of the length L: pairs that are farther apart than this and the margin ask for nothing
TOLERANCE = 1e-5  # [m]
A_LITTLE = 0.02  # [rad or L] of the joints, that leads to what rows spare


class ClearanceTask(Task):
    """No two of the pairs of a CollisionModel are nearer than `margin` [m], but for those of which no joint moves one.
    Part: clearance [m], by which it is too small.

    It comes before all other tasks. Inequalities n . (J_b - J_a) v dt >= margin - d of the nearest pairs, with the
    distance d, its points' Jacobians and the unit normal n from the first to the second: the next step may use up the
    distance that is left, no more (Faverjon and Tournassoud 1987).
    target: None, obstacles are where the model has them; or (obstacles, 4, 4) where they are in a frame.
    """

    kind: ClassVar[str] = "clearance"
    is_comparable: ClassVar[bool] = False
    collisions: CollisionModel
    margin: float
    spare = 0.0  # [m]

    def __init__(self, collisions: CollisionModel, margin: float = MARGIN, target: object = None) -> None:
        super().__init__("clearance", 1, 1.0)
        own = avoidable(collisions, self.name)
        self._keep(priority=0, collisions=own, margin=not_negative(margin, f"{self.name}: margin"))
        self.parts = (Part("clearance", "m", TOLERANCE),)
        self._set_target(target)

    def with_spare(self, spare: float) -> ClearanceTask:
        """Another one, whose rows ask for so much more [m], as far as a little motion leads a pair apart: neighbours
        that are nearer to one another by nature are as far apart as they can be."""
        other = copy(self)
        other._keep(spare=spare)
        return other

    def checked_target(self, target: object) -> Array | None:
        if target is None:
            return None
        placements, count = numbers(target, f"{self.name}: target"), len(self.collisions.obstacles)
        if placements.shape != (count, 4, 4):
            raise TaskError(f"{self.name}: target must have shape ({count}, 4, 4), not {placements.shape}")
        return placements

    def nearest(self, q: Array, target: Array | None) -> Near | None:
        """The nearest pair at q (nq,), where it is nearer than the margin."""
        return self.collisions.nearest(q, self.margin, obstacles=target)

    def check(self, model: RobotModel) -> None:
        check_robot(self.collisions, model, self.name)

    @property
    def wanted(self) -> float:
        """[m] what its rows ask for."""
        return self.margin + 2.0 * TOLERANCE

    def within(self, length: float) -> float:
        """[m] distance beyond which a pair has no row. length: L."""
        return self.wanted + ZONE * length

    def rows(self, state: State, target: Array | None) -> Rows:
        wanted, within = self.wanted, self.within(state.length)
        J, lower = np.zeros((ROWS, state.model.nv)), np.full(ROWS, -1.0)
        found, status = self.collisions.checked_distances(state.q[None], within, state.backend, target)
        values = np.where((status[0] == FAR) | (found[0, :, 0] > within), np.inf, found[0, :, 0])
        nearest = np.argsort(values, kind="stable")[:ROWS]
        nearest = nearest[np.isfinite(values[nearest])]
        J[: len(nearest)] = approach(self.collisions, state, nearest, found[0])
        lower[: len(nearest)] = wanted - values[nearest]
        lower += np.minimum(self.spare, A_LITTLE * np.linalg.norm(J * state.scale, axis=1))
        return Rows(J, lower, np.full(ROWS, np.inf), np.ones(ROWS), np.zeros(ROWS, int))


def avoidable(collisions: CollisionModel, name: str) -> CollisionModel:
    """`CollisionModel.avoidable` for a task or a criterion. Raises TaskError for what is none."""
    if not isinstance(collisions, CollisionModel):
        raise TaskError(f"{name}: collisions must be a CollisionModel, not {shown(collisions)}")
    return collisions.avoidable()


def check_robot(collisions: CollisionModel, model: RobotModel, name: str) -> None:
    """Raises TaskError for collisions of another robot."""
    if collisions.model.link_names != model.link_names:
        raise TaskError(f"{name}: its collisions are of {collisions.model.name!r}, not of {model.name!r}")


def clearances_of(tasks: Sequence[Task]) -> list[int]:
    """Which of some tasks keep links apart, by their numbers: they are the first level."""
    return [i for i, task in enumerate(tasks) if isinstance(task, ClearanceTask)]


def approach(collisions: CollisionModel, state: State, pairs: Array, found: Array) -> Array:
    """(n, nv) how the distances of some pairs (n,), by their numbers, change with the velocity. found: (all pairs, 10)
    of `CollisionModel.distances`."""
    J = np.zeros((len(pairs), state.model.nv))
    normals = found[pairs, 7:]
    for side, sign in ((0, -1.0), (1, 1.0)):
        links = [collisions.links_of(pair)[side] for pair in pairs]
        origins = np.array([np.zeros(3) if link is None else state.placement(link)[:3, 3] for link in links])
        arms = found[pairs, 1 + 3 * side : 4 + 3 * side] - origins.reshape(-1, 3)
        unit_forces = sign * np.hstack((normals, np.cross(arms, normals)))  # their powers are the rates
        for row, link in enumerate(links):
            if link is not None:
                J[row] += unit_forces[row] @ state.jacobian(link)
    return J
