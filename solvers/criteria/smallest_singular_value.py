"""Stay away from the nearest singular configuration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.configuration import random_configuration
from ..fixed_arrays import cached_settings
from ..kinematics.state import State
from .base import CriterionKind, CriterionRecord, Potential
from .largest_eigenvalue import LargestEigenvalue
from .manipulability import record_of_rows, task_jacobian, task_rows

STRUCTURAL = 1e-9  # relative to the largest: where they are below it everywhere, the robot can never move that way
SAMPLES = 3  # configurations that show where
NONE = 4e-16  # relative to the largest: below, there is no way to go


class SmallestSingularValue(Potential):
    """V = -the smallest singular value of the rows of `Manipulability`, those left out that are 0 wherever it is.

    Not smooth where the two smallest are equal; there `gradient` is that of one of them, `largest_eigenvalue` has all.
    """

    @cached_settings
    def __init__(self, weight: float = 1.0, gain: float = 1.0, name: str = "") -> None:
        super().__init__(weight, gain, name)
        self._known: tuple[Any, int] = (None, 0)

    def record(self, state: State) -> CriterionRecord | None:
        record = record_of_rows(CriterionKind.SMALLEST_SINGULAR_VALUE, self, state)
        return None if record is None else replace(record, rank=self._rank(state))

    def potential(self, state: State) -> float:
        s = np.linalg.svd(task_rows(state), compute_uv=False)
        return -float(s[self._count(state, s) - 1]) if len(s) else 0.0

    def gradient(self, state: State) -> Array:
        J, change = task_jacobian(state)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        at = self._count(state, s) - 1
        if at < 0 or not s[at] > NONE * s[0]:
            return np.zeros(state.model.nv)
        return -np.einsum("r,rjk,j->k", U[:, at], change, Vt[at])

    def largest_eigenvalue(self, state: State) -> LargestEigenvalue | None:
        """The largest eigenvalue of -S. With singular vectors U and V, U'JV = S is diagonal, and symmetric nearby if
        they turn together: -S is the matrix, its derivative the symmetric part of -U' dJ V."""
        J, change = task_jacobian(state)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        if not len(s):
            return None
        used = self._count(state, s)
        U, Vt = U[:, :used], Vt[:used]
        derivative = -np.einsum("ra,rjk,bj->abk", U, change, Vt, optimize=True)
        return LargestEigenvalue(
            -np.diag(s[:used]), 0.5 * (derivative + derivative.swapaxes(0, 1)), np.hstack((U.T, Vt))
        )

    def _count(self, state: State, s: Array) -> int:
        """How many of the singular values here count: at least one, if there is any."""
        return min(max(self._rank(state), _moving(s), 1), len(s))

    def _rank(self, state: State) -> int:
        """How many are not 0 at once, at most; kept for as long as robot and tasks are the same."""
        of = state.model, state.tasks
        if self._known[0] != of:
            rng = np.random.default_rng(0)
            poses = [state.at(random_configuration(state.model, rng)) for _ in range(SAMPLES)]
            self._known = of, max(_moving(np.linalg.svd(task_rows(pose), compute_uv=False)) for pose in poses)
        return self._known[1]


def _moving(s: Array) -> int:
    return int((s > STRUCTURAL * s.max(initial=0.0)).sum())
