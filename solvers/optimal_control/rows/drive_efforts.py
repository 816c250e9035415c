"""What drives give at many frames at once, and how it changes: inverse dynamics, rotors, damping and springs, without
dry friction, which jumps."""

from __future__ import annotations

import numpy as np

from ....robokin.arrays import Array
from ....robokin.dynamics import Drives
from ..blocks import MOST_BENT, products, second_derivatives, symmetric_products
from ..discretization import DiscreteMotion, Discretization

STEP = 1e-5  # [rad, L; rad/s, L/s] of central differences


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
        grid, nv, dt = self.grid, self.grid.model.nv, self.grid.dt
        by_q, by_v = np.empty((2, len(q), nv, nv))
        for j, size in enumerate(grid.scale):
            along = np.zeros(nv)
            along[j] = STEP * size
            ends = [grid.backend.integrate(grid.model.tree, q, sign * along) for sign in (1.0, -1.0)]
            up, down = (self.at(end, v, a) for end in ends)
            by_q[:, :, j] = (up - down) / (2.0 * STEP)
            up, down = self.at(q, v + along, a), self.at(q, v - along, a)
            by_v[:, :, j] = (up - down) / (2.0 * STEP)
        by_a = grid.backend.mass_matrix(grid.model.tree, q) + np.diag(self.drives.rotor_inertia)
        return by_q, by_v / dt, by_a * (grid.scale / dt**2)

    def bend(self, here: DiscreteMotion, H: Array, z: Array, half: bool = False) -> None:
        """Add to H (F, p + 1, n, n) the second derivative of the sum over frames of z'tau, z (F, nv); at half frames,
        with the velocity and acceleration of the frame after. Nothing for many degrees of freedom."""
        n = here.steps.shape[1]
        used = np.flatnonzero(z.any(axis=1))
        if not len(used) or n > MOST_BENT:
            return
        grid, z = self.grid, z[used]
        q, v, a = (here.halves[used - 1] if half else here.q[used]), here.v[used], here.a[used]

        def pushed(y: Array) -> Array:
            moved = grid.backend.integrate(grid.model.tree, q, np.broadcast_to(y[:n] * grid.scale, v.shape))
            return (z * self.at(moved, v + y[n:] * (grid.scale / grid.dt), a)).sum(axis=1)

        second = second_derivatives(pushed, 2 * n)
        still, by_a = np.zeros(v.shape), np.empty((len(used), n, n))
        for j, size in enumerate(grid.scale):
            along = np.zeros(n)
            along[j] = STEP * size
            ends = [grid.backend.integrate(grid.model.tree, q, sign * along) for sign in (1.0, -1.0)]
            up, down = (grid.backend.inverse_dynamics(grid.model.tree, end, still, z, np.zeros(3)) for end in ends)
            by_a[:, :, j] = (up - down) / (2.0 * STEP) * (grid.scale / grid.dt**2)  # a along, q across
        places = np.zeros((len(here), 3, n, n))
        places[used, :2] = here.half_blocks[used] if half else np.stack((np.eye(n), np.zeros((n, n))))
        steps = np.zeros(places.shape)
        steps[used, :2] = here.step_blocks[used]
        changes = np.zeros(places.shape)
        changes[used] = here.change_blocks[used]
        parts = np.zeros((3, len(here), n, n))
        parts[0, used], parts[1, used], parts[2, used] = second[:, :n, :n], second[:, :n, n:], second[:, n:, n:]
        mixed = np.zeros((len(here), n, n))
        mixed[used] = by_a
        H[:, :3] += products(places, parts[0][:, None] @ places) + products(steps, parts[2][:, None] @ steps)
        H[:, :3] += symmetric_products(places, parts[1][:, None] @ steps)
        H[:, :3] += symmetric_products(changes, mixed[:, None] @ places)
