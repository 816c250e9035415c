"""The robot's centre of mass: at a place, or above a support polygon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ....robokin.arrays import Array
from ....robokin.errors import TaskError
from ....robokin.kinematics import require_mass
from ....robokin.model.robot import RobotModel
from ....robokin.spatial.polygon import convex_hull
from ...fixed_arrays import Checks, cached_settings, fixed_new
from ...kinematics.state import State
from ..base import Forms, Part, Rows
from ..checks import axis_weights, direction, not_negative, numbers, own_name, per_axis, positive, vector
from ..places.on_line import across
from ..protocols import KernelRobotTask
from ..robot_rows import center_rows, sides_around


class CenterOfMassTask(KernelRobotTask):
    """The centre of mass takes a place. Part: position [m]. Raises ModelError without masses.

    target: (3,) in the root frame.   weights: (3,) per root axis, 0 leaves it free.   band: (3,) or one for all [m],
    errors that do not count.   e = c_d - c.
    """

    kind: ClassVar[str] = "center of mass"
    forms: ClassVar[Forms] = {"target": "vector"}

    @cached_settings
    def __init__(
        self,
        target: object,
        weights: object = 1.0,
        tolerance: float = 1e-5,
        band: object = 0.0,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(own_name(name, type(self).__name__), priority, influence)
        self.weights = axis_weights(weights, f"{self.name}: weights")
        self.band = per_axis(band, f"{self.name}: band")
        self.parts = (Part("position", "m", positive(tolerance, f"{self.name}: tolerance")),)
        self._set_target(target)

    def checked_target(self, target: object) -> Array:
        return vector(target, f"{self.name}: target position")

    def rows(self, state: State, target: Array) -> Rows:
        weights = self.influence * self.weights
        return Rows.wanted(state.center_of_mass_jacobian, target - state.center_of_mass, weights, 0, self.band)

    def robot_rows(self, model: RobotModel, target: Array) -> Array:
        used = self.weights > 0.0
        lower, upper = (target - self.band)[used], (target + self.band)[used]
        return center_rows(np.eye(3)[used], lower, upper, self.influence * self.weights[used])

    def sides(self, model: RobotModel, rows: Array, target: Array) -> Callable[[Any], tuple[Array, Array]]:
        used = self.weights > 0.0
        return sides_around(lambda other: other[used], self.band[used])

    def check(self, model: RobotModel) -> None:
        require_mass(model)


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges of a support polygon. normals: (m, 3) outward, across `up`.   reach: (m,) how far along them the edges are,
    the margin taken off."""

    normals: Array
    reach: Array

    def __post_init__(self) -> None:
        self.normals.flags.writeable = self.reach.flags.writeable = False


class SupportTask(KernelRobotTask):
    """The centre of mass is above a support polygon: the robot can stand still. Part: distance [m] outside of it.

    target: points (n, 3) of the contacts in the root frame, or (n, 2) with z = 0, of which the convex hull counts, seen
    along `up` (3,).   margin: [m] by which it is kept inside the edges.
    Inequalities n_i . (c - p_i) <= -margin, n_i the outward normal of edge i. Raises ModelError without masses.
    """

    kind: ClassVar[str] = "support"
    forms: ClassVar[Forms] = {"target": "points"}
    checks: ClassVar[Checks] = {**KernelRobotTask.checks, "margin": not_negative, "weight": positive}

    @cached_settings
    def __init__(
        self,
        target: object,
        margin: float = 0.0,
        up: object = (0.0, 0.0, 1.0),
        weight: float = 1.0,
        tolerance: float = 1e-5,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(own_name(name, type(self).__name__), priority, influence)
        self.margin, self.weight = margin, weight
        self.basis = across(direction(up, f"{self.name}: up"))
        self.parts = (Part("distance", "m", positive(tolerance, f"{self.name}: tolerance")),)
        self._set_target(target)

    def checked_target(self, target: object) -> Edges:
        if isinstance(target, Edges):
            return target
        points = numbers(target, f"{self.name}: target polygon")
        if points.ndim != 2 or points.shape[1] not in (2, 3):
            raise TaskError(
                f"{self.name}: target polygon must be points of 2 or 3 numbers, not of shape {points.shape}"
            )
        if points.shape[1] == 2:
            points = np.column_stack((points, np.zeros(len(points))))
        corners = convex_hull(points @ self.basis.T)
        if len(corners) < 3:
            raise TaskError(f"{self.name}: the points of the target polygon are all on one line")
        edges = np.concatenate((corners[1:], corners[:1])) - corners
        normals = np.column_stack((edges[:, 1], -edges[:, 0])) / np.linalg.norm(edges, axis=1)[:, None]
        reach = (normals * corners).sum(axis=1) - self.margin
        return Edges(*fixed_new((normals @ self.basis, reach)))

    def rows(self, state: State, target: Edges) -> Rows:
        normals = target.normals
        upper = target.reach - normals @ state.center_of_mass
        weight = np.full(len(upper), self.weight * self.influence)
        J = normals @ state.center_of_mass_jacobian
        return Rows(J, np.full(len(upper), -np.inf), upper, weight, np.zeros(len(upper), int))

    def robot_rows(self, model: RobotModel, target: Edges) -> Array:
        weight = np.full(len(target.reach), self.weight * self.influence)
        return center_rows(target.normals, np.full(len(weight), -np.inf), target.reach, weight)

    def check(self, model: RobotModel) -> None:
        require_mass(model)
