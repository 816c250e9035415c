"""Where a step starts: what tasks and criteria look at, each computed when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..robokin.backend import Reference, get_backend
from ..robokin.joint_types import Motion
from ..robokin.model import RobotModel
from ..robokin.so3 import hat
from ..robokin.tree import ROOT
from .tasks import Task

Array = np.ndarray


class State:
    """A robot at q (nq,), with the tasks whose rows count (those of the first level) and their checked targets.

    previous: (nv,) velocity of the last step, 0 unless given.   dt: seconds of a step.
    length: L [m].   is_length: (nv,) bool, degrees of freedom that are lengths.
    scale: (nv,) L for those, 1 for angles.
    """

    def __init__(
        self,
        model: RobotModel,
        q: Array,
        tasks: Sequence[Task] = (),
        length: float = 1.0,
        backend: str = "auto",
        previous: Array | None = None,
        dt: float = 1.0 / 24.0,
        targets: Sequence[Any] | None = None,
    ) -> None:
        self.model, self.q, self.tasks, self.length = model, q, tuple(tasks), length
        self.previous = np.zeros(model.nv) if previous is None else previous
        self.dt = dt
        self.targets = tuple(task.target for task in self.tasks) if targets is None else tuple(targets)
        self.is_length = model.is_length
        self.scale = np.where(self.is_length, length, 1.0)
        self.backend = backend
        self._backend = get_backend(backend)
        self._jacobians: dict[int, Array] = {}

    def at(self, q: Array) -> State:
        """The same at another configuration."""
        return State(self.model, q, self.tasks, self.length, self.backend, self.previous, self.dt, self.targets)

    def moved(self, by: Array) -> State:
        """The same after a displacement (nv,)."""
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

    def jacobian_change(self, link: str, point: Array) -> Array:
        """(6, nv, nv) derivative of `jacobian` of a point (3,) that moves with the link, [row, column, along]. Raises
        UnknownNameError."""
        columns = self.columns
        moving = columns.moving(int(self.model.tree.frame_node[self.model.link_index(link)]))
        angular = columns.angular
        turned = np.cross(angular[None, :, :], angular[:, None, :])
        parts = columns.change(columns.point_velocity(point)), np.where(columns.above.T[:, :, None], turned, 0.0)
        both = (moving[:, None] & moving)[:, :, None]
        change = np.where(both, np.concatenate(parts, axis=2), 0.0)
        return columns.G.T @ np.moveaxis(change, 2, 0) @ columns.G

    @cached_property
    def task_rows(self) -> Array:
        """(m, nv) of the tasks' equations, dimensionless, without weights."""
        own = [self.equations(t, target) for t, target in zip(self.tasks, self.targets, strict=True) if t.influence]
        return np.vstack([np.zeros((0, self.model.nv)), *own])

    @cached_property
    def task_errors(self) -> Array:
        """(m,) what is lacking of the tasks' equations, dimensionless, without weights."""
        own = [self._equations(t, target)[1] for t, target in zip(self.tasks, self.targets, strict=True) if t.influence]
        return np.concatenate([np.zeros(0), *own])

    def equations(self, task: Task, target: Any) -> Array:
        """(m, nv) of one task, dimensionless, without weights."""
        return self._equations(task, target)[0]

    def _equations(self, task: Task, target: Any) -> tuple[Array, Array]:
        rows = task.rows(self, target)
        size = np.array([1.0 / self.length if part.is_length else 1.0 for part in task.parts])[rows.part]
        equal = rows.lower == rows.upper
        return (size[:, None] * rows.J * self.scale)[equal], (size * rows.lower)[equal]

    @cached_property
    def center_of_mass(self) -> Array:
        """(3,) [m] in the root frame; NaN without masses."""
        return self._backend.center_of_mass(self.model.tree, self.q)

    @cached_property
    def center_of_mass_jacobian(self) -> Array:
        """(3, nv) velocity of the centre of mass per unit of v."""
        return self._backend.center_of_mass_jacobian(self.model.tree, self.q)

    def center_of_mass_change(self) -> Array:
        """(3, nv, nv) derivative of its Jacobian, [row, column, along]."""
        G = self.columns.G
        return G.T @ np.moveaxis(self.momenta_change, 2, 0) @ G / self.model.total_mass

    @cached_property
    def momenta(self) -> Array:
        """(m, 3) momentum [kg m/s] that each elementary degree of freedom (`columns`) gives all that it moves."""
        tree, columns = self.model.tree, self.columns
        R, origin = columns.placements[:, :9].reshape(-1, 3, 3), columns.placements[:, 9:]
        mass = tree.inertia[:, 0]
        first = (R @ tree.inertia[:, 1:4, None])[..., 0] + mass[:, None] * origin
        behind = columns.supports[:-1].T[columns.node].astype(float)
        moved = (behind @ mass)[:, None]
        return moved * columns.linear + np.cross(columns.angular, behind @ first - moved * columns.origin)

    @property
    def momenta_change(self) -> Array:
        """(m, m, 3) [j, k] their derivative along k."""
        related = self.columns.above | self.columns.above.T  # on one chain; on different branches nothing changes
        return np.where(related[:, :, None], self.columns.change(self.momenta), 0.0)

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
    def columns(self) -> Columns:
        return Columns(self.model, self._backend.node_placements(self.model.tree, self.q))


class Columns:
    """How each of m elementary degrees of freedom moves what is behind it, in the axes of the root frame.

    node: (m,).   angular: (m, 3), and linear: (m, 3) at origin: (m, 3), per unit of its coordinate.
    G: (m, nv), coordinates = G v (mimic joints share a column of v).   above: (m, m), [k, j] whether k moves j's axis.
    """

    def __init__(self, model: RobotModel, placements: Array) -> None:
        """placements: (n, 12) T_root_node."""
        tree = model.tree
        self.placements = placements
        node, linear, angular, index, factor = [], [], [], [], []
        for i, motion in enumerate(map(Motion, tree.motion)):
            R = placements[i, :9].reshape(3, 3)
            z = R[:, 2]
            match motion:
                case Motion.ROTATION | Motion.HELICAL:
                    own = [(tree.pitch[i] * z if motion is Motion.HELICAL else 0.0 * z, z)]
                case Motion.TRANSLATION:
                    own = [(z, 0.0 * z)]
                case Motion.BALL:
                    own = [(0.0 * z, axis) for axis in R.T]
                case Motion.FREE:
                    own = [(axis, 0.0 * z) for axis in R.T] + [(0.0 * z, axis) for axis in R.T]
            for k, (slides, turns) in enumerate(own):
                node.append(i)
                linear.append(slides)
                angular.append(turns)
                index.append(int(tree.iv[i]) + k)
                factor.append(float(tree.scale[i]) if motion.has_axis else 1.0)
        m = len(node)
        self.node = np.array(node, int)
        self.linear, self.angular = np.array(linear).reshape(m, 3), np.array(angular).reshape(m, 3)
        self.origin = placements[self.node, 9:].reshape(m, 3)
        self.G = np.zeros((m, model.nv))
        self.G[np.arange(m), index] = factor
        self.supports = np.zeros((tree.n_nodes + 1, tree.n_nodes), bool)  # [i, k]: node k moves node i
        for i, parent in enumerate(tree.parent):
            self.supports[i] = self.supports[parent]
            self.supports[i, i] = True
        self.above = self.supports[self.node][:, self.node].T if m else np.zeros((0, 0), bool)

    def moving(self, node: int) -> Array:
        """(m,) bool: the degrees of freedom that move a node (or the root, none)."""
        return self.supports[node][self.node] if node != ROOT else np.zeros(len(self.node), bool)

    def point_velocity(self, point: Array) -> Array:
        """(m, 3) velocity that each gives a point, if it moves it."""
        return self.linear + np.cross(self.angular, point - self.origin)

    def change(self, vectors: Array) -> Array:
        """(m, m, 3) [j, k] the derivative along k of vectors (m, 3), one per degree of freedom, that belong to a point
        behind all of them: along its own axis and those before it a vector turns, w_k x v_j; along those after it,
        it changes as theirs does along it, w_j x v_k (a velocity is the derivative of one point)."""
        turned = np.cross(self.angular[None, :, :], vectors[:, None, :])
        return np.where(self.above.T[:, :, None], turned, np.swapaxes(turned, 0, 1))
