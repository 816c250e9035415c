"""What a whole motion is to have little of: integrals over its time, each with gradient and Hessian over all frames."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import STANDARD_GRAVITY
from ...robokin.configuration import check_vector
from ...robokin.dynamics import Drives
from ...robokin.errors import TaskError
from ...robokin.kinematics import require_mass
from . import turning
from .blocks import gauss_newton, products, symmetric_products, transposed
from .discretization import DiscreteMotion, Discretization, after, differenced
from .rows.drive_efforts import DriveEfforts

SHORT = 0.1  # [1/rad^2] share of a duration that a step is taken to cost


class MotionCost(ABC):
    """order: how many frames before its own the cost of a frame reaches to.   frees_time: whether the time between
    frames is an unknown too."""

    order = 0
    frees_time = False

    def check(self, grid: Discretization) -> None:  # noqa: B027 - most need nothing
        """Raises a RobokinError when the robot has not what the cost needs."""

    @abstractmethod
    def value(self, at: DiscreteMotion) -> float: ...

    @abstractmethod
    def quadratic(self, at: DiscreteMotion) -> tuple[Array, Array]:
        """Gradient (F, n) and Hessian (F, order + 1, n, n), as in `solve_banded_qp`; or a convex guess at it."""

    def bend(self, at: DiscreteMotion, H: Array) -> None:  # noqa: B027 - of squares the guess will do
        """Add to H (F, p + 1, n, n), p at least the order, what the guess leaves out of the Hessian."""


class Acceleration(MotionCost):
    """1/2 of the integral of |a - a_near|^2, lengths in L [rad^2/s^3].

    near: (F, n) changes of displacements d_k - d_{k-1}, times dt^2 a_near; 0 unless given.
    """

    order = 2

    def __init__(self, near: Array | float = 0.0) -> None:
        self.near = near

    def value(self, at: DiscreteMotion) -> float:
        return _half_square(self._residual(at))

    def quadratic(self, at: DiscreteMotion) -> tuple[Array, Array]:
        return gauss_newton(self._residual(at), at.change_blocks * at.grid.dt**-1.5)

    def bend(self, at: DiscreteMotion, H: Array) -> None:
        at.bend_changes(H, self._residual(at) * at.grid.dt**-1.5)

    def _residual(self, at: DiscreteMotion) -> Array:
        return (at.changes - self.near) * at.grid.dt**-1.5


class Jerk(MotionCost):
    """1/2 of the integral of |da/dt|^2, lengths in L [rad^2/s^5]; before the first frame a = 0."""

    order = 3

    def value(self, at: DiscreteMotion) -> float:
        return _half_square(self._residual(at))

    def quadratic(self, at: DiscreteMotion) -> tuple[Array, Array]:
        return gauss_newton(self._residual(at), differenced(at.change_blocks) * at.grid.dt**-2.5)

    def bend(self, at: DiscreteMotion, H: Array) -> None:
        force = self._residual(at) * at.grid.dt**-2.5
        at.bend_changes(H, force - after(force))

    def _residual(self, at: DiscreteMotion) -> Array:
        return np.diff(at.changes, axis=0, prepend=0.0) * at.grid.dt**-2.5


class Animation(MotionCost):
    """1/2 of the integral of the squared distance from given frames q (F, nq), lengths in L [rad^2 s]."""

    def __init__(self, q: Array) -> None:
        self.q = q

    def value(self, at: DiscreteMotion) -> float:
        return _half_square(self._residual(at))

    def quadratic(self, at: DiscreteMotion) -> tuple[Array, Array]:
        blocks = np.zeros((len(at), 2, *[at.steps.shape[1]] * 2))
        blocks[:, 0] = np.eye(at.steps.shape[1])
        turning.set_blocks(at.grid, self.q, at.q, at.grid.difference, blocks)
        return gauss_newton(self._residual(at), blocks[:, :1] * np.sqrt(at.grid.dt))

    def bend(self, at: DiscreteMotion, H: Array) -> None:
        if at.grid.joined:
            force = self._residual(at) * np.sqrt(at.grid.dt)
            H[:, 0] += turning.second(at.grid, self.q, at.q, at.grid.difference, force)[0]

    def _residual(self, at: DiscreteMotion) -> Array:
        return at.grid.difference(self.q, at.q) * np.sqrt(at.grid.dt)


class KineticEnergy(MotionCost):
    """The integral of 1/2 v'M(q)v [J s], rotors included: what no choice of velocities frame by frame can minimise, as
    it is no function of q that is integrated along the path (Bruyninckx, "Blender for robotics", section 2.2)."""

    order = 1

    def check(self, grid: Discretization) -> None:
        require_mass(grid.model)

    def value(self, at: DiscreteMotion) -> float:
        return 0.5 * at.grid.dt * float((at.v * self._momentum(at)).sum())

    def quadratic(self, at: DiscreteMotion) -> tuple[Array, Array]:
        grid, dt = at.grid, at.grid.dt
        M = grid.backend.mass_matrix(grid.model.tree, at.q)
        M += np.diag(Drives.of(grid.model).rotor_inertia)
        blocks = self._velocity_blocks(at)
        H = products(blocks, np.einsum("kij,ksjl->ksil", dt * M, blocks))
        gradient = transposed(blocks, dt * np.einsum("kij,kj->ki", M, at.v))
        gradient += 0.5 * dt * np.einsum("ki,kij->kj", at.v, self._changes(at)[0])
        return gradient, H

    def bend(self, at: DiscreteMotion, H: Array) -> None:
        dt, blocks, (changes, second) = at.grid.dt, self._velocity_blocks(at), self._changes(at)
        own = np.zeros(blocks.shape)
        own[:, 0] = np.eye(at.steps.shape[1])
        H[:, :2] += symmetric_products(blocks, dt * (changes[:, None] @ own))
        H[:, 0] += 0.5 * dt * second
        at.bend_steps(H, at.grid.scale * self._momentum(at))

    def _velocity_blocks(self, at: DiscreteMotion) -> Array:
        """(F, 2, n, n) of v along y."""
        return at.step_blocks * (at.grid.scale[:, None] / at.grid.dt)

    def _changes(self, at: DiscreteMotion) -> tuple[Array, Array]:
        """(F, n, n) of M v along displacements, at the same v, and the second derivative of v'Mv."""
        if self not in at.known:
            grid, still = at.grid, np.zeros(at.v.shape)
            own = grid.backend.effort_derivatives(grid.model.tree, at.q, still, at.v, at.v, np.zeros(3)) * grid.scale
            second = grid.scale[:, None] * own[:, 2]
            at.known[self] = own[:, 0], 0.5 * (second + np.swapaxes(second, -1, -2))
        return at.known[self]

    @staticmethod
    def _momentum(at: DiscreteMotion) -> Array:
        grid, still = at.grid, np.zeros(at.v.shape)
        of_links = grid.backend.inverse_dynamics(grid.model.tree, at.q, still, at.v, np.zeros(3))
        return of_links + Drives.of(grid.model).rotor_inertia * at.v


class Torque(MotionCost):
    """1/2 of the integral of |tau|^2 of what the drives give, forces times L [N^2 m^2 s]: inverse dynamics, rotors and
    damping; without dry friction, which jumps. A floating joint has no drive, and no contact carries the robot: legs
    give what they would hanging from their base."""

    order = 2

    def __init__(self, gravity: object = STANDARD_GRAVITY) -> None:
        self.gravity = check_vector(gravity, 3, "gravity")

    def check(self, grid: Discretization) -> None:
        require_mass(grid.model)

    def value(self, at: DiscreteMotion) -> float:
        return _half_square(self._efforts(at)) * at.grid.dt

    def quadratic(self, at: DiscreteMotion) -> tuple[Array, Array]:
        root, scale = np.sqrt(at.grid.dt), self._scale(at.grid)[:, None]
        (by_q, by_v, by_a), _ = self._derivatives(at)
        blocks = (scale * by_a)[:, None] @ at.change_blocks
        blocks[:, :2] += (scale * by_v)[:, None] @ at.step_blocks
        blocks[:, 0] += scale * by_q
        return gauss_newton(root * self._efforts(at), root * blocks)

    def bend(self, at: DiscreteMotion, H: Array) -> None:
        DriveEfforts(at.grid, self.gravity).bend(at, H, self._pull(at), known=self._derivatives(at))

    def _efforts(self, at: DiscreteMotion) -> Array:
        """(F, nv) of drives, forces times L."""
        return self._scale(at.grid) * DriveEfforts(at.grid, self.gravity).at(at.q, at.v, at.a)

    def _pull(self, at: DiscreteMotion) -> Array:
        """(F, nv) how the cost changes with the efforts."""
        return at.grid.dt * self._scale(at.grid) * self._efforts(at)

    def _derivatives(self, at: DiscreteMotion) -> tuple[Array, Array]:
        """See `DriveEfforts`; second ones of the cost's own pull."""
        if self not in at.known:
            efforts = DriveEfforts(at.grid, self.gravity)
            at.known[self] = efforts.derivatives(at.q, at.v, at.a, self._pull(at))
        return at.known[self]

    @staticmethod
    def _scale(grid: Discretization) -> Array:
        """(nv,) by what an effort is multiplied, 0 where there is no drive."""
        found = grid.scale.copy()
        for _, iv in grid.free:
            found[iv : iv + 6] = 0.0
        return found


class Duration(MotionCost):
    """How long the motion takes [s]. The time between frames is free then, the same between all."""

    frees_time = True

    def check(self, grid: Discretization) -> None:
        if not (np.isfinite(grid.model.velocity).any() or np.isfinite(grid.model.acceleration).any()):
            raise TaskError(f"duration: {grid.model.name!r} has no limit on velocities or accelerations that bounds it")

    def value(self, at: DiscreteMotion) -> float:
        return at.grid.dt * (len(at) - 1)

    def quadratic(self, at: DiscreteMotion) -> tuple[Array, Array]:
        """No gradient along the frames; a Hessian that keeps steps short, as that of other costs does."""
        frames, n = at.steps.shape
        H = np.zeros((frames, 1, n, n))
        H[:, 0] = self._short(at) * np.eye(n)
        return np.zeros((frames, n)), H

    def bend(self, at: DiscreteMotion, H: Array) -> None:
        H[:, 0] -= self._short(at) * np.eye(H.shape[-1])

    def _short(self, at: DiscreteMotion) -> float:
        return SHORT * self.value(at) / len(at)


class Weighted(MotionCost):
    """A sum of costs with weights."""

    def __init__(self, parts: list[tuple[float, MotionCost]]) -> None:
        self.parts = parts
        self.order = max(cost.order for _, cost in parts)
        self.frees_time = any(cost.frees_time for _, cost in parts)

    def check(self, grid: Discretization) -> None:
        for _, cost in self.parts:
            if not isinstance(cost, Duration):  # the others bound it
                cost.check(grid)

    def value(self, at: DiscreteMotion) -> float:
        return sum(weight * cost.value(at) for weight, cost in self.parts)

    def quadratic(self, at: DiscreteMotion) -> tuple[Array, Array]:
        frames, n = at.steps.shape
        gradient, H = np.zeros((frames, n)), np.zeros((frames, self.order + 1, n, n))
        for weight, cost in self.parts:
            g, own = cost.quadratic(at)
            gradient += weight * g
            H[:, : own.shape[1]] += weight * own
        return gradient, H

    def bend(self, at: DiscreteMotion, H: Array) -> None:
        for weight, cost in self.parts:
            own = np.zeros(H.shape)
            cost.bend(at, own)
            H += weight * own


def _half_square(residual: Array) -> float:
    return 0.5 * float((residual * residual).sum())
