"""What drives give at many frames at once, and how it changes: inverse dynamics, rotors and damping, without dry
friction, which jumps."""

from __future__ import annotations

import numpy as np

from ....robokin.arrays import Array
from ....robokin.dynamics import Drives
from ..discretization import Discretization

STEP = 1e-5  # [rad, L; rad/s, L/s] of central differences


class DriveEfforts:
    """gravity: (3,) [m/s^2] in the root frame."""

    def __init__(self, grid: Discretization, gravity: Array) -> None:
        self.grid, self.gravity, self.drives = grid, gravity, Drives.of(grid.model)

    def at(self, q: Array, v: Array, a: Array) -> Array:
        """(k, nv) [N m or N] at q (k, nq), v and a (k, nv)."""
        grid, drives = self.grid, self.drives
        of_links = grid.backend.inverse_dynamics(grid.model.tree, q, v, a, self.gravity)
        return of_links + drives.rotor_inertia * a + drives.damping * v

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
