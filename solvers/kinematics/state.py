"""Where a step starts: what tasks and criteria look at, each computed when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import Reference, get_backend
from ...robokin.model.robot import RobotModel
from ...robokin.spatial.so3 import hat
from .unit_twists import UnitTwists

# A task (`tasks.base.Task`) states rows at a state: it imports this file, so this file cannot name its type.
AnyTask = Any


class State:
    """A robot at q (nq,), with the tasks whose rows count (those of the first level) and their checked targets.

    previous: (nv,) velocity of the last step, 0 unless given.   dt: seconds of a step.
    kept: what others compiled of the tasks, for other states of them.
    length: L [m].   is_length: (nv,) bool, degrees of freedom that are lengths.
    scale: (nv,) L for those, 1 for angles.
    """

    def __init__(
        self,
        model: RobotModel,
        q: Array,
        tasks: Sequence[AnyTask] = (),
        length: float = 1.0,
        backend: str = "auto",
        previous: Array | None = None,
        dt: float = 1.0 / 24.0,
        targets: Sequence[Any] | None = None,
        kept: dict[Any, Any] | None = None,
    ) -> None:
        self.model, self.q, self.tasks, self.length = model, q, tuple(tasks), length
        self.previous = np.zeros(model.nv) if previous is None else previous
        self.dt = dt
        self.targets = tuple(task.target for task in self.tasks) if targets is None else tuple(targets)
        self.is_length = model.is_length
        self.scale = np.where(self.is_length, length, 1.0)
        self.backend = backend
        self._backend = get_backend(backend)
        self.kept = {} if kept is None else kept
        self._jacobians: dict[int, Array] = {}

    def at(self, q: Array) -> State:
        """The state at another configuration."""
        known = self.previous, self.dt, self.targets, self.kept
        return State(self.model, q, self.tasks, self.length, self.backend, *known)

    def moved(self, by: Array) -> State:
        """The state after a displacement (nv,)."""
        return self.at(self._backend.integrate(self.model.tree, self.q, by))

    @cached_property
    def placements(self) -> Array:
        """(links, 4, 4) T_root_link."""
        return self._backend.frame_placements(self.model.tree, self.q)

    def placement(self, link: str) -> Array:
        """(4, 4) T_root_link. Raises UnknownNameError."""
        return self.placements[self.model.link_index(link)]

    def jacobian(self, link: str, point: Array | None = None) -> Array:
        """(6, nv) velocity of the link's point that is at `point` (3,) (its origin unless given), and its angular
        velocity, per unit of v; all in the axes of the root frame. Raises UnknownNameError."""
        index = self.model.link_index(link)
        if index not in self._jacobians:
            J = self._backend.frame_jacobian(self.model.tree, self.q, index, Reference.LOCAL_WORLD_ALIGNED)
            self._jacobians[index] = J
        J = self._jacobians[index]
        if point is None:
            return J
        J = J.copy()
        J[:3] -= hat(point - self.placements[index, :3, 3]) @ J[3:]
        return J

    def jacobian_derivative(self, link: str, point: Array) -> Array:
        """(6, nv, nv) derivative of `jacobian` of a point (3,) that moves with the link, [row, column, along]. Raises
        UnknownNameError."""
        moving = self.unit_twists.moving(int(self.model.tree.frame_node[self.model.link_index(link)]))
        turning = np.where(moving.above.T[:, :, None], moving.turned(moving.angular), 0.0)
        change = np.concatenate((moving.derivative(moving.point_velocity(point)), turning), axis=2)
        return moving.G.T @ change.transpose(2, 0, 1) @ moving.G

    @cached_property
    def task_rows(self) -> Array:
        """(m, nv) of the tasks' equations, dimensionless, without weights."""
        own = [self.equations(t, target) for t, target in zip(self.tasks, self.targets, strict=True) if t.influence]
        return np.vstack([np.zeros((0, self.model.nv)), *own])

    @cached_property
    def task_errors(self) -> Array:
        """(m,) the residual of the tasks' equations, dimensionless, without weights."""
        own = [self._equations(t, target)[1] for t, target in zip(self.tasks, self.targets, strict=True) if t.influence]
        return np.concatenate([np.zeros(0), *own])

    def equations(self, task: AnyTask, target: Any) -> Array:
        """(m, nv) of one task, dimensionless, without weights."""
        return self._equations(task, target)[0]

    def _equations(self, task: AnyTask, target: Any) -> tuple[Array, Array]:
        rows = task.rows(self, target)
        size = np.array([1.0 / self.length if part.is_length else 1.0 for part in task.parts])[rows.part]
        # A part that no motion changes asks for nothing, as the angle of a beam that meets its surface.
        is_moved = np.array([rows.J[rows.part == part].any() for part in range(len(task.parts))])
        equal = (rows.lower == rows.upper) & is_moved[rows.part]
        return (size[:, None] * rows.J * self.scale)[equal], (size * rows.lower)[equal]

    @cached_property
    def center_of_mass(self) -> Array:
        """(3,) [m] in the root frame; NaN without masses."""
        return self._backend.center_of_mass(self.model.tree, self.q)

    @cached_property
    def center_of_mass_jacobian(self) -> Array:
        """(3, nv) velocity of the centre of mass per unit of v."""
        return self._backend.center_of_mass_jacobian(self.model.tree, self.q)

    def center_of_mass_derivative(self) -> Array:
        """(3, nv, nv) derivative of its Jacobian, [row, column, along]."""
        G = self.unit_twists.G
        return G.T @ np.moveaxis(self.momenta_derivative, 2, 0) @ G / self.model.total_mass

    @cached_property
    def momenta(self) -> Array:
        """(m, 3) momentum [kg m/s] that each elementary degree of freedom (`unit_twists`) gives all that it moves."""
        tree, columns = self.model.tree, self.unit_twists
        R, origin = self._nodes[:, :9].reshape(-1, 3, 3), self._nodes[:, 9:]
        mass = tree.inertia[:, 0]
        first = (R @ tree.inertia[:, 1:4, None])[..., 0] + mass[:, None] * origin
        behind = columns.behind
        moved = (behind @ mass)[:, None]
        return moved * columns.linear + np.cross(columns.angular, behind @ first - moved * columns.origin)

    @property
    def momenta_derivative(self) -> Array:
        """(m, m, 3) [j, k] their derivative along k."""
        related = (
            self.unit_twists.above | self.unit_twists.above.T
        )  # on one chain; on different branches nothing changes
        return np.where(related[:, :, None], self.unit_twists.derivative(self.momenta), 0.0)

    @cached_property
    def mass_matrix(self) -> Array:
        """(nv, nv) M(q)."""
        return self._backend.mass_matrix(self.model.tree, self.q)

    def bias(self, gravity: Array) -> Array:
        """(nv,) torque at the velocity of the last step without acceleration; gravity (3,) in the root frame."""
        return self._backend.inverse_dynamics(self.model.tree, self.q, self.previous, np.zeros(self.model.nv), gravity)

    @cached_property
    def typical_inertia(self) -> float:
        """[kg m^2] mean of M's diagonal in the neutral configuration, lengths in L; does not change with q."""
        M = self._backend.mass_matrix(self.model.tree, self.model.neutral())
        return float((np.diag(M) * self.scale**2).mean()) if len(M) else 0.0

    @cached_property
    def unit_twists(self) -> UnitTwists:
        return UnitTwists.at(self.model.tree, self._nodes)

    @cached_property
    def _nodes(self) -> Array:
        """(n, 12) T_root_node."""
        return self._backend.node_placements(self.model.tree, self.q)
