"""How much a cost bends: what steps are weighed by, and what small gradients and costs are compared with. Twin of
kernel/src/optimum/optimum_curvature.c."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array

ACROSS = 10.0  # times the usual curvature, across what holds the pose: little moves that way
LEAST = 1e-10  # times the largest curvature, which differences are known to: any counts as at least that


class Curvatures:
    """largest, usual: where it was looked at last."""

    def __init__(self) -> None:
        self.largest = self.usual = 1.0

    def note(self, values: Array) -> None:
        sizes = np.sort(abs(values[values != 0.0]))
        if len(sizes):
            self.largest, self.usual = float(sizes[-1]), float(sizes[len(sizes) // 2])

    def hessian(self, descent: Array, values: Array, E: Array, stride: float) -> Array:
        """(nv, nv) positive definite: with these principal curvatures (d,) along E (nv, d), but so large that no step
        goes farther along one than `stride`, and large across what holds the pose. descent: (nv,) the steepest."""
        least = LEAST * self.largest
        values = np.maximum(np.maximum(abs(values), abs(E.T @ descent) / stride), least)
        return E * values @ E.T + max(ACROSS * self.usual, least) * (np.eye(len(E)) - E @ E.T)
