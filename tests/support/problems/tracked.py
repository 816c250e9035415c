"""Robots that follow circles, and what must hold of any tracked motion."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robokin_addon.robokin import RobotModel, forward_kinematics, load_urdf
from robokin_addon.solvers import OrientationTask, PoseTask, PositionTask
from robokin_addon.solvers.motion.check import check_motion
from robokin_addon.solvers.tracking.result import TrackResult

from support.oracles.pinocchio_oracle import Oracle
from support.robots import robot

BACKENDS = ("numpy", "native")
PANDA_Q = {f"panda_joint{i + 1}": x for i, x in enumerate([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.5])}
UR5_Q = [0.3, -1.2, 1.5, -1.0, -1.5, 0.2]


def panda() -> tuple[RobotModel, np.ndarray, list]:
    model = load_urdf(robot("panda"))
    return model, model.configuration(PANDA_Q), [PoseTask("panda_hand", np.eye(4))]


def ur5() -> tuple[RobotModel, np.ndarray, list]:
    return load_urdf(robot("ur5_robot")), np.array(UR5_Q), [PoseTask("tool0", np.eye(4))]


def circle(model: RobotModel, link: str, q: np.ndarray, frames: int, turns: float = 1.0, radius: float = 0.1):
    T = np.tile(forward_kinematics(model, q)[link], (frames, 1, 1, 1))
    angle = 2 * np.pi * turns * np.arange(frames) / frames
    T[:, 0, 0, 3] += radius * (np.cos(angle) - 1.0)
    T[:, 0, 1, 3] += radius * np.sin(angle)
    return T


def assert_inside(result: TrackResult) -> None:
    """Every limit at every frame, by the definitions and without any allowance for rounding."""
    model, motion = result.problem.model, result.motion
    assert check_motion(motion).violations == ()
    assert (result.q >= model.lower).all() and (result.q <= model.upper).all()
    assert (abs(motion.v[1:]) <= model.velocity).all()
    assert (abs(motion.a[1:]) <= model.acceleration).all()


def assert_residuals_are_true(result: TrackResult) -> None:
    """As Pinocchio places the tips: metres, and radians of the rotation that is left."""
    oracle = Oracle.from_model(result.problem.model)
    again = np.zeros_like(result.residuals)
    for frame, (q, targets) in enumerate(zip(result.q, result.targets, strict=True)):
        links = oracle.frames(q)
        for i, (task, target) in enumerate(zip(result.problem.tasks, targets, strict=True)):
            tip = links[task.link] @ task.offset
            if not isinstance(task, OrientationTask):
                again[frame, i, 0] = np.linalg.norm(tip[:3, 3] - target[:3, 3])
            if not isinstance(task, PositionTask):
                again[frame, i, 1] = np.linalg.norm(pin.log3(tip[:3, :3].T @ target[:3, :3]))
    np.testing.assert_allclose(result.residuals, again, atol=1e-9)
    met = (again <= 1e-5).all(axis=(1, 2))
    assert (result.converged == met).all()
