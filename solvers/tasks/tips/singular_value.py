"""A tip that stays away from singularities."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from ....robokin.configuration import random_configuration
from ....robokin.model.robot import RobotModel
from ...fixed_arrays import Checks
from ...kinematics.state import State
from ..base import Part, Rows
from ..checks import not_negative, positive
from ..tip import TipTask

WATCHED = 2  # smallest singular values: another one may take the place of the smallest within a step
STRUCTURAL = 1e-6  # of the largest: what is smaller at every pose is what no pose can do
SAMPLES = 5  # poses that show the rank


class SingularValueTask(TipTask):
    """The singular values of the tip's Jacobian, lengths in L, are at least as large as the target. Part: singular
    value [1], which a step counts as an angle.

    target: least singular value.   orientation: whether the tip's angular velocity counts, or its velocity alone.
    A motion x changes a singular value s with singular vectors u and w by u'dJ(x) w (Stewart and Sun, "Matrix
    perturbation theory", 1990).   e = target - s, where that is positive.
    """

    kind: ClassVar[str] = "singular_value"
    checks: ClassVar[Checks] = {**TipTask.checks, "weight": positive, "tolerance": positive}
    weight: float
    tolerance: float
    orientation: bool

    def __init__(
        self,
        link: str,
        target: float = 0.05,
        weight: float = 1.0,
        offset: object | None = None,
        orientation: bool = True,
        tolerance: float = 1e-3,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(link, offset, name, priority, influence)
        self.weight, self.tolerance, self.orientation = weight, tolerance, bool(orientation)
        self._set_target(target)

    @property
    def parts(self) -> tuple[Part, ...]:  # type: ignore[override]
        return (Part("singular value", "", self.tolerance),)

    def checked_target(self, target: object) -> float:
        return not_negative(target, f"{self.name}: target singular value")

    def rows(self, state: State, target: float) -> Rows:
        rows = 6 if self.orientation else 3
        size = np.where(np.arange(rows) < 3, 1.0 / state.length, 1.0)[:, None] * state.scale
        J = size * self.tip_jacobian(state)[:rows]
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        last = _rank(state.model, self.link, self.offset.tobytes(), rows)
        watched = np.arange(max(last - WATCHED, 0), last)
        jacobian_change = size[:, :, None] * state.jacobian_derivative(self.link, self.tip(state)[:3, 3])[:rows]
        gradients = np.einsum("rk,rjx,kj->kx", U[:, watched], jacobian_change, Vt[watched])
        weights = np.full(len(watched), self.weight * self.influence)
        lower, upper = target - s[watched], np.full(len(watched), np.inf)
        used = weights > 0.0
        return Rows(gradients[used], lower[used], upper[used], weights[used], np.zeros(int(used.sum()), int))


@lru_cache(maxsize=64)
def _rank(model: RobotModel, link: str, offset: bytes, rows: int) -> int:
    """How many singular values of a tip's first rows are not 0 at all poses."""
    rng, T = np.random.default_rng(0), np.frombuffer(offset).reshape(4, 4)
    most = 0
    for _ in range(SAMPLES):
        state = State(model, random_configuration(model, rng))
        s = np.linalg.svd(state.jacobian(link, (state.placement(link) @ T)[:3, 3])[:rows], compute_uv=False)
        most = max(most, int((s > STRUCTURAL * s.max(initial=1e-300)).sum()))
    return most
