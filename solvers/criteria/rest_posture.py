"""Stay near a posture."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.spatial import quaternion
from ..fixed_arrays import cached_settings
from ..kinematics.state import State
from ..tasks.checks import numbers
from .base import CriterionKind, CriterionRecord, Potential


class RestPosture(Potential):
    """V = 1/2 |q - posture|^2, lengths counted in L, rotations of ball and floating joints by their angle.

    posture: (nq,), or {joint name: value} with the others neutral, as all are when None.
    Raises ConfigurationError, UnknownNameError, TaskError when the criterion is first used.
    """

    @cached_settings
    def __init__(self, posture: object | None = None, weight: float = 1.0, gain: float = 1.0, name: str = "") -> None:
        super().__init__(weight, gain, name)
        self.posture = dict(posture) if isinstance(posture, Mapping) else posture

    def check(self, state: State) -> None:
        numbers(self._posture(state), f"{self.name}: posture")

    def record(self, state: State) -> CriterionRecord:
        metric = self.metric(state)
        return CriterionRecord(CriterionKind.SPRINGS, self.gain, metric, metric, self._posture(state))

    def potential(self, state: State) -> float:
        away = self._away(state)[0]
        return 0.5 * float(away @ away)

    def gradient(self, state: State) -> Array:
        _, turned = self._away(state)
        return turned / state.scale

    def _posture(self, state: State) -> Array:
        if self.posture is None or isinstance(self.posture, Mapping):
            return state.model.configuration(self.posture)
        return state.model.check_configuration(self.posture)

    def _away(self, state: State) -> tuple[Array, Array]:
        """(nv,) dimensionless distances, and the same with those of floating joints in the child frame, that of v.

        A rotation vector phi is its own gradient: the logarithm's Jacobian leaves its argument alone.
        """
        model, q, rest = state.model, state.q, self._posture(state)
        away = np.zeros(model.nv)
        for motion, iq, iv in zip(map(MotionPrimitive, model.tree.motion), model.tree.iq, model.tree.iv, strict=True):
            if motion.has_axis:
                away[iv] = q[iq] - rest[iq]
                continue
            lengths = motion.nv - 3
            away[iv : iv + lengths] = q[iq : iq + lengths] - rest[iq : iq + lengths]
            at = slice(iq + lengths, iq + motion.nq)
            turn = quaternion.multiply(quaternion.conjugate(rest[at]), q[at])
            away[iv + lengths : iv + motion.nv] = quaternion.log(turn)
        away = away / state.scale
        turned = away.copy()
        for motion, iq, iv in zip(map(MotionPrimitive, model.tree.motion), model.tree.iq, model.tree.iv, strict=True):
            if motion is MotionPrimitive.FREE:
                turned[iv : iv + 3] = quaternion.to_matrix(q[iq + 3 : iq + 7]).T @ away[iv : iv + 3]
        return away, turned
