"""A link that is pulled: the other joints follow, and what is held stays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...robokin.arrays import Array
from ...robokin.configuration import clamp
from ...robokin.generalized_inverses import null_space
from ...robokin.model.robot import RobotModel
from ...robokin.spatial.se3 import inverse
from ..ik.problem import IKProblem
from ..kinematics.state import State
from ..limits.viability import dof_coordinates
from ..tasks.base import Task
from ..tasks.tips.pose import OrientationTask, PoseTask, PositionTask

ATTEMPTS, ITERATIONS = 1, 30  # one descent from where the robot stands
HELD, PULLED, TURNED = 1, 2, 3  # priorities
EXACT = 1e-7  # [m, rad] what is held may be off
RANK = 1e-6  # singular values below this share of the largest are no freedom


def hold(model: RobotModel, q: Array, link: str, rotation: bool = True) -> Task:
    """The task that keeps a link where it is at q (nq,); not rotation: only its origin. Raises UnknownNameError."""
    T, name = State(model, q).placement(link), f"hold {link}"
    if not rotation:
        return PositionTask(link, T[:3, 3], tolerance=EXACT, name=name, priority=HELD)
    return PoseTask(link, T, position_tolerance=EXACT, orientation_tolerance=EXACT, name=name, priority=HELD)


class Pull:
    """A link that is pulled at a point, while what is held stays exactly and joints keep their limits.

    The point has its way before the link's rotation, which keeps its own only where `rotation` says so.
    grip: (4, 4) T_root_grip where the pull begins: at the point, with the link's axes.   q: (nq,) the present pose.
    is_met: it does all that was asked.
    """

    def __init__(
        self,
        model: RobotModel,
        q: Array,
        link: str,
        point: Array | None = None,
        anchors: Sequence[Task] = (),
        rotation: bool = True,
    ) -> None:
        """q: (nq,) where it begins, moved inside the limits.   point: (3,) [m] in the root frame at q; the link's
        origin when None. Raises UnknownNameError, ConfigurationError."""
        self.model, self.anchors, self.q = model, tuple(anchors), clamp(model, q)
        self.is_met = True
        self._start = self._met = self.q  # met: the last pose that did all that was asked
        T_root_link = State(model, self.q).placement(link)
        self.grip = T_root_link.copy()
        if point is not None:
            self.grip[:3, 3] = point
        self._link, self._offset = link, inverse(T_root_link) @ self.grip
        own = {"offset": self._offset}
        self._pulled: list[Task] = [PositionTask(link, self.grip[:3, 3], name="pull", priority=PULLED, **own)]
        if rotation:
            self._pulled.append(OrientationTask(link, self.grip[:3, :3], name="turn", priority=TURNED, **own))
        self._rotation, self._anchor_targets = rotation, [task.target for task in anchors]
        self._problem = IKProblem(model, [*anchors, *self._pulled], attempts=ATTEMPTS, iterations=ITERATIONS)

    @property
    def freedom(self) -> int:
        """In how many ways the link can move while what is held stays, joints without a range left out."""
        pulled = self._rows(self._pulled)
        free = np.linalg.svd(pulled @ null_space(self._rows(self.anchors), RANK), compute_uv=False)
        return int((free > RANK * np.linalg.norm(pulled)).sum())

    @property
    def now(self) -> Array:
        """(4, 4) T_root_grip where the last pose has it."""
        return State(self.model, self.q).placement(self._link) @ self._offset

    def to(self, T: Array) -> Array:
        """(nq,) the pose, near the last one, that brings the grip to T (4, 4) T_root_grip, or as near as can be."""
        targets = [*self._anchor_targets, T[:3, 3]]
        if self._rotation:
            targets.append(T[:3, :3])
        found = self._problem.solve(targets, self.q, 0, False)
        for start in self._met, self._start:  # an arm that is stretched out does not know which way to bend
            if not found.converged:
                again = self._problem.solve(targets, start, 0, False)
                found = again if again.converged else found
        self.q, self.is_met = found.q, found.converged
        if found.converged:
            self._met = found.q
        return self.q

    def _rows(self, tasks: Sequence[Task]) -> Array:
        """(m, free) equations of tasks, of the degrees of freedom that have a range."""
        limits, at = self.model.limits, dof_coordinates(self.model)
        is_free = np.where(at >= 0, limits.lower[at] < limits.upper[at], True)
        for cone in limits.cones:
            if cone.a == cone.b == 0.0 and cone.lower == cone.upper:
                is_free[cone.v : cone.v + 3] = False
        return State(self.model, self.q, tasks).task_rows[:, is_free]
