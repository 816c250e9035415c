"""The lecture's method: place and roll, pitch, yaw as the state, its analytic Jacobian, pseudo-inverses (Eq. 3.36)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin import TaskError
from ...robokin.arrays import Array
from ...robokin.jacobians import rpy_rates
from ...robokin.spatial import so3
from .arm import ArmTip
from .result import MethodRun

STATE = ("x", "y", "z", "roll", "pitch", "yaw")  # R = Rz(yaw) Ry(pitch) Rx(roll)
SINGULAR = 1e-12  # of the pseudo-inverse's product, against its largest singular value


@dataclass(frozen=True)
class RollPitchYaw:
    """q - J^+ (s - s_target), with J = ds/dq and as many entries of the state s as `rows` names.

    More rows than joints: J^+ = (J'J)^-1 J'. Fewer: J^+ = J' (JJ')^-1. A joint stops at its limit.
    Met within `tolerance` [m, rad].
    """

    rows: Sequence[str] = STATE
    tolerance: float = 1e-6
    max_iterations: int = 60

    def __post_init__(self) -> None:
        for row in self.rows:
            if row not in STATE:
                raise TaskError(f"roll_pitch_yaw: no row named {row!r} (valid: {', '.join(STATE)})")
        if not self.rows:
            raise TaskError(f"roll_pitch_yaw: no rows (valid: {', '.join(STATE)})")

    def descend(self, arm: ArmTip, q: Array, T_target: Array) -> MethodRun:
        picked, path = [STATE.index(row) for row in self.rows], [q]
        goal = _state(T_target)
        for _ in range(self.max_iterations + 1):
            missing = _state(arm.pose(q)) - goal
            missing[3:] = np.remainder(missing[3:] + np.pi, 2.0 * np.pi) - np.pi
            missing = missing[picked]
            if np.linalg.norm(missing) < self.tolerance:
                return MethodRun(path, T_target, True, "")
            J = arm.jacobian(q)
            if max(picked) > 2:
                rates = rpy_rates(arm.pose(q)[:3, :3], J)
                if rates is None:
                    return MethodRun(path, T_target, False, "the pitch is 90 degrees: roll and yaw have no rates there")
                J = rates
            inverse = pseudo_inverse(J[picked])
            if inverse is None:
                return MethodRun(path, T_target, False, "the Jacobian is singular: the pseudo-inverse is not there")
            there = arm.clamped(q - inverse @ missing)
            if (there == q).all():
                break
            q = there
            path.append(q)
        ending = f"{np.linalg.norm(missing):.3g} (m, rad) are missing"
        return MethodRun(path, T_target, False, f"{ending} after {len(path) - 1} iterations")


def _state(T: Array) -> Array:
    """(6,) x, y, z, roll, pitch, yaw."""
    return np.concatenate((T[:3, 3], so3.to_rpy(T[:3, :3])))


def pseudo_inverse(J: Array) -> Array | None:
    """(n, m) of J (m, n) as the lecture has it, for more rows than columns or fewer; None where J has not full rank."""
    product = J.T @ J if len(J) > J.shape[1] else J @ J.T
    values = np.linalg.svd(product, compute_uv=False)
    if values[-1] <= SINGULAR * values[0]:
        return None
    return np.linalg.solve(product, J.T) if len(J) > J.shape[1] else np.linalg.solve(product, J).T
