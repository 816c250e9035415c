"""What drives give at many frames at once, and how it changes: inverse dynamics, rotors, damping and springs, without
dry friction, which jumps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....robokin.arrays import Array
from ....robokin.dynamics import Drives
from ..blocks import products, symmetric_products
from ..discretization import DiscreteMotion, Discretization

STEP = 1e-5  # [rad, L] of central differences


class DriveEfforts:
    """gravity: (3,) [m/s^2] in the root frame."""

    def __init__(self, grid: Discretization, gravity: Array) -> None:
        self.grid, self.gravity, self.drives = grid, gravity, Drives.of(grid.model)

    def at(self, q: Array, v: Array, a: Array) -> Array:
        """(k, nv) [N m or N] at q (k, nq), v and a (k, nv)."""
        grid, drives = self.grid, self.drives
        of_links = grid.backend.inverse_dynamics(grid.model.tree, q, v, a, self.gravity)
        return of_links + drives.rotor_inertia * a + drives.damping * v + drives.spring_effort(q)

    def derivatives(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """(k, nv, n) three times: along displacements y of q, of steps v dt and of their changes a dt^2, all
        dimensionless."""
        drives, unit = self.drives, np.eye(v.shape[1])
        rows = np.stack([self._gradient(q, v, a, np.broadcast_to(each, v.shape)) for each in unit], axis=2)
        own = np.stack((drives.spring, drives.damping, drives.rotor_inertia))
        by_q, by_v, by_a = np.moveaxis((rows + own[:, :, None] * unit) * self._units[:, None], 1, 0)
        return by_q, by_v, by_a

    def bend(self, here: DiscreteMotion, H: Array, z: Array, half: bool = False) -> None:
        """Add to H (F, p + 1, n, n) the second derivative of the sum over frames of z'tau, z (F, nv); at half frames,
        with the velocity and acceleration of the frame after."""
        n = here.steps.shape[1]
        used = np.flatnonzero(z.any(axis=1))
        if not len(used):
            return
        z = z[used]
        q, v, a = (here.halves[used - 1] if half else here.q[used]), here.v[used], here.a[used]
        by_q = placement_changes(self.grid, q, lambda moved: self._gradient(moved, v, a, z))
        along_v = [self._gradient(q, np.broadcast_to(each, v.shape), 0.0 * a, z)[:, 1] for each in np.eye(n)]
        second = np.zeros((4, len(here), n, n))  # along q q, v q, a q, v v
        second[:3, used] = np.moveaxis(by_q, 1, 0) * self._units[:, None, :, None]
        second[3, used] = np.stack(along_v, axis=2) * self._units[1][:, None] * self._units[1]
        second[0] = 0.5 * (second[0] + np.swapaxes(second[0], -1, -2))
        places, steps, changes = np.zeros((3, len(here), 3, n, n))
        places[used, :2] = here.half_blocks[used] if half else np.stack((np.eye(n), np.zeros((n, n))))
        steps[used, :2] = here.step_blocks[used]
        changes[used] = here.change_blocks[used]
        H[:, :3] += products(places, second[0][:, None] @ places) + products(steps, second[3][:, None] @ steps)
        H[:, :3] += symmetric_products(steps, second[1][:, None] @ places)
        H[:, :3] += symmetric_products(changes, second[2][:, None] @ places)
        if self.grid.joined:
            forces = np.zeros((3, *here.steps.shape))
            own = np.stack((self.drives.spring, self.drives.damping, self.drives.rotor_inertia))
            forces[:, used] = np.moveaxis(self._gradient(q, v, a, z) + own * z[:, None], 1, 0) * self._units[:, None]
            if half:
                here.bend_halves(H, forces[0])
            here.bend_steps(H, forces[1])
            here.bend_changes(H, forces[2])

    @property
    def _units(self) -> Array:
        """(3, n) what a unit of y is in q, v and a."""
        return np.stack([self.grid.scale / self.grid.dt**k for k in range(3)])

    def _gradient(self, q: Array, v: Array, a: Array, z: Array) -> Array:
        """(k, 3, nv) of what z'tau of the links is."""
        return self.grid.backend.effort_gradient(self.grid.model.tree, q, v, a, z, self.gravity)


def placement_changes(grid: Discretization, q: Array, of: Callable[[Array], Array]) -> Array:
    """(k, ..., n) how a function (k, ...) of q (k, nq) changes along y, by differences."""
    found = []
    for j, size in enumerate(grid.scale):
        along = np.zeros(len(grid.scale))
        along[j] = STEP * size
        up, down = (of(grid.backend.integrate(grid.model.tree, q, sign * along)) for sign in (1.0, -1.0))
        found.append((up - down) / (2.0 * STEP))
    return np.stack(found, axis=-1)
