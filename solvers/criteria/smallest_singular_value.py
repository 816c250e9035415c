"""Stay away from the nearest singular configuration."""

from __future__ import annotations

import numpy as np

from ..state import State
from .base import CriterionKind, CriterionRecord, Potential
from .edge import Edge
from .manipulability import record_of_rows, task_jacobian, task_rows

Array = np.ndarray

STRUCTURAL = 1e-9  # relative to the largest: below, the robot can never move that way


class SmallestSingularValue(Potential):
    """V = -the smallest singular value of the rows of `Manipulability`, those left out that are always 0.

    Not smooth where the two smallest are equal; there `gradient` is that of one of them, `edge` tells all.
    """

    def __init__(self, weight: float = 1.0, gain: float = 1.0, name: str = "") -> None:
        super().__init__(weight, gain, name)

    def record(self, state: State) -> CriterionRecord | None:
        return record_of_rows(CriterionKind.SMALLEST_SINGULAR_VALUE, self, state)

    def potential(self, state: State) -> float:
        s = np.linalg.svd(task_rows(state), compute_uv=False)
        return -float(s[_count(s) - 1]) if len(s) else 0.0

    def gradient(self, state: State) -> Array:
        J, change = task_jacobian(state)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        if not len(s):
            return np.zeros(state.model.nv)
        at = _count(s) - 1
        return -np.einsum("r,rjk,j->k", U[:, at], change, Vt[at])

    def edge(self, state: State) -> Edge | None:
        """With singular vectors U and V, U'JV = S is diagonal, and symmetric nearby if they turn together: -S is the
        matrix, its derivative the symmetric part of -U' dJ V."""
        J, change = task_jacobian(state)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        if not len(s):
            return None
        used = _count(s)
        U, Vt = U[:, :used], Vt[:used]
        slopes = -np.einsum("ra,rjk,bj->abk", U, change, Vt, optimize=True)
        return Edge(-np.diag(s[:used]), 0.5 * (slopes + slopes.swapaxes(0, 1)), np.hstack((U.T, Vt)))


def _count(s: Array) -> int:
    """Those that are not always 0; at least one."""
    return max(int((s > STRUCTURAL * s[0]).sum()), 1)
