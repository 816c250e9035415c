"""What drives give at many frames at once, and how it changes: inverse dynamics, rotors, damping and springs, without
dry friction, which jumps."""

from __future__ import annotations

import numpy as np

from ....robokin.arrays import Array
from ....robokin.dynamics import Drives
from ..blocks import products, symmetric_products
from ..discretization import DiscreteMotion, Discretization


class DriveEfforts:
    """gravity: (3,) [m/s^2] in the root frame."""

    def __init__(self, grid: Discretization, gravity: Array) -> None:
        self.grid, self.gravity, self.drives = grid, gravity, Drives.of(grid.model)

    def at(self, q: Array, v: Array, a: Array) -> Array:
        """(k, nv) [N m or N] at q (k, nq), v and a (k, nv)."""
        grid, drives = self.grid, self.drives
        of_links = grid.backend.inverse_dynamics(grid.model.tree, q, v, a, self.gravity)
        return of_links + drives.rotor_inertia * a + drives.damping * v + drives.spring_effort(q)

    def derivatives(self, q: Array, v: Array, a: Array, z: Array) -> tuple[Array, Array]:
        """(3, k, nv, n) of the efforts along displacements y of q, of steps v dt and of their changes a dt^2; (4, k, n,
        n) second derivatives of z'tau, z (k, nv): along q q, v q, a q, v v. All dimensionless."""
        grid, drives, tree = self.grid, self.drives, self.grid.model.tree
        found = np.moveaxis(grid.backend.effort_derivatives(tree, q, v, a, z, self.gravity), 1, 0)
        first = np.concatenate((found[:2], grid.backend.mass_matrix(tree, q)[None]))
        diagonal = np.arange(v.shape[1])
        first[:, :, diagonal, diagonal] += np.stack((drives.spring, drives.damping, drives.rotor_inertia))[:, None]
        units = np.stack([grid.scale / grid.dt**k for k in range(3)])
        second = found[2:] * units[[0, 1, 2, 1], None, :, None] * units[[0, 0, 0, 1], None, None]
        second[0] = 0.5 * (second[0] + np.swapaxes(second[0], -1, -2))
        return first * units[:, None, None], second

    def bend(
        self,
        here: DiscreteMotion,
        H: Array,
        z: Array,
        half: bool = False,
        known: tuple[Array, Array] | None = None,
    ) -> None:
        """Add to H (F, p + 1, n, n) the second derivative of the sum over frames of z'tau, z (F, nv); at half frames,
        with the velocity and acceleration of the frame after. known: the `derivatives` of all frames."""
        n = here.steps.shape[1]
        used = np.flatnonzero(z.any(axis=1))
        if not len(used):
            return
        q = here.halves[used - 1] if half else here.q[used]
        if known is None:
            first, own = self.derivatives(q, here.v[used], here.a[used], z[used])
        else:
            first, own = (each[:, used] for each in known)
        second = np.zeros((4, len(here), n, n))
        second[:, used] = own
        places, steps, changes = np.zeros((3, len(here), 3, n, n))
        places[used, :2] = here.half_blocks[used] if half else np.stack((np.eye(n), np.zeros((n, n))))
        steps[used, :2] = here.step_blocks[used]
        changes[used] = here.change_blocks[used]
        H[:, :3] += products(places, second[0][:, None] @ places) + products(steps, second[3][:, None] @ steps)
        H[:, :3] += symmetric_products(steps, second[1][:, None] @ places)
        H[:, :3] += symmetric_products(changes, second[2][:, None] @ places)
        if self.grid.joined:
            forces = np.zeros((3, *here.steps.shape))
            forces[:, used] = np.einsum("wkij,ki->wkj", first, z[used])
            if half:
                here.bend_halves(H, forces[0])
            here.bend_steps(H, forces[1])
            here.bend_changes(H, forces[2])
