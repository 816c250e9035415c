"""Potentials as the largest eigenvalue of a smooth symmetric matrix: what they are on and near their edges.

Where the largest eigenvalue is a multiple one, such a potential has no gradient but many: <W, dA> for every symmetric W
>= 0 of trace 1 in the space of that eigenvalue (Clarke's generalised gradient; Overton, "Large-scale optimization of
eigenvalues", SIAM J. Optimization 2, 1992). The pose is stationary when one of them is held by tasks and limits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array


@dataclass(frozen=True, eq=False)
class LargestEigenvalue:
    """A (r, r) at a configuration: V is its largest eigenvalue.   derivative: (r, r, nv) of it.   frames: (r, k),
    of A: columns of two configurations that are near each other are so too, up to a rotation."""

    A: Array
    derivative: Array
    frames: Array

    def top(self, count: int) -> LargestEigenvalue:
        """The largest eigenvalues alone, smooth for as long as they are apart from the rest. A must be diagonal,
        ascending."""
        return LargestEigenvalue(self.A[-count:, -count:], self.derivative[-count:, -count:], self.frames[-count:])

    def near(self, gap: float) -> int:
        """How many eigenvalues are no farther from the largest, relative to the largest of all sizes."""
        values = np.linalg.eigvalsh(self.A)
        return int((values >= values[-1] - gap * abs(values).max()).sum())

    def in_frames_of(self, other: LargestEigenvalue) -> LargestEigenvalue:
        """The matrix in the frames of another configuration nearby, so that A and its derivative are smooth."""
        U, _, Vt = np.linalg.svd(self.frames @ other.frames.T)
        Q = U @ Vt
        return LargestEigenvalue(
            Q.T @ self.A @ Q, np.einsum("ai,abk,bj->ijk", Q, self.derivative, Q), Q.T @ self.frames
        )

    def moved(self, x: Array) -> tuple[float, Array]:
        """The largest eigenvalue after a displacement x (nv,), to first order of A, and its vector (r,)."""
        values, vectors = np.linalg.eigh(self.A + self.derivative @ x)
        return float(values[-1]), vectors[:, -1]

    def gradient(self, W: Array) -> Array:
        """(nv,) of <W, A>."""
        return np.einsum("ij,ijk->k", W, self.derivative)
