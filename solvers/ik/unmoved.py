"""What no joint of a robot moves: a height that all joints keep, an axis about which all of them turn.

Such a distance or angle is the same at every configuration, so its residual is the same at all of them: a
certificate, like that of the links' lengths. It is read from the Jacobians at random configurations; what all of these
keep, all configurations keep, since Jacobians are analytic in q. Limits do not count: a joint without play would hide
what it moves, or what the others do when it has turned.
"""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.robot import RobotModel
from ...robokin.spatial import so3
from ..kinematics.state import State
from ..tasks.tips.frame import FrameKind, FrameTask

CONFIGURATIONS = 4
UNMOVED = 1e-12  # relative, of singular values


def out_of_all_poses(model: RobotModel, task: FrameTask, target: Array) -> tuple[float, float]:
    """Lower bounds of the position [m] and the orientation [rad] that a task on one tip has at every configuration, 0
    where nothing is known. target: (4, 4)."""
    neutral, rng = State(model, model.neutral()), np.random.default_rng(0)
    states = [neutral.moved(rng.uniform(-1.0, 1.0, model.nv)) for _ in range(CONFIGURATIONS)]
    J = np.concatenate([task.tip_jacobian(state) for state in states], axis=1)
    T, used = task.tip(states[0]), task.weights > 0.0
    position = orientation = 0.0
    if used[:3].all() or (task.frame == "world" and used[:3].any()):
        rows = np.eye(3)[used[:3]]
        kept = _kept(rows @ J[:3])
        away = kept @ rows @ (target[:3, 3] - T[:3, 3])
        position = float(np.linalg.norm(away) - np.linalg.norm(task.position_band))
    if used[3:].all() and task.record_kind is FrameKind.POSE and not task.orientation_band.any():
        kept = _kept(J[3:])
        turn = target[:3, :3] @ T[:3, :3].T
        if len(kept) == 3:
            orientation = float(np.linalg.norm(so3.log(turn)))
        elif len(kept) == 2:  # about one axis n: the target turns what should stay n
            n = np.cross(*kept)
            orientation = float(np.arctan2(np.linalg.norm(np.cross(n, turn @ n)), n @ turn @ n))
    return position, orientation


def _kept(J: Array) -> Array:
    """(k, m) orthonormal directions along which no column of J (m, n) moves."""
    U, s, _ = np.linalg.svd(np.linalg.qr(J.T, mode="r").T)  # of J itself V would be large
    return U.T[int((s > UNMOVED * s.max(initial=0.0)).sum()) :]
