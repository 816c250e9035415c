"""The error of a level that cannot be met is its least where criteria are at their optimum, by its own gradient."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, frame_jacobian, load_urdf
from robokin_addon.solvers import IKProblem, OnPlaneTask, PositionTask, SolveResult
from robokin_addon.solvers.criteria import JointSprings
from robokin_addon.solvers.optimum.constraint_manifold import ConstraintManifold
from support.robots import robot

# Gauss-Newton steps lead away from there: how the tool turns bends the error more than its Jacobian does.
LEAST = 1e-6  # of the residual
TRIES = 6


def _solved(seed: int, backend: str) -> tuple[SolveResult, float]:
    """The tool is far away while the forearm stays on a plane; and the gradient of its distance along that plane."""
    model, forearm, tool = load_urdf(robot("ur5_robot")), "forearm_link", "tool0"
    rng = np.random.default_rng(seed)
    q = model.limits.clamp(0.6 * rng.normal(size=model.nq))
    poses = forward_kinematics(model, q)
    far = poses[tool][:3, 3] + 1.5 * rng.normal(size=3)
    tasks = [OnPlaneTask(forearm, (poses[forearm][:3, 3], (0, 0, 1))), PositionTask(tool, far, priority=2)]
    result = IKProblem(model, tasks, [JointSprings()], backend).solve(q0=q, diagnose=False)
    assert not result.converged
    e = forward_kinematics(model, result.q)[tool][:3, 3] - far
    gradient = frame_jacobian(model, result.q, tool)[:3].T @ e / np.linalg.norm(e)
    across = frame_jacobian(model, result.q, forearm)[2]
    return result, float(np.linalg.norm(gradient - across * (across @ gradient) / (across @ across)))


@pytest.mark.parametrize("seed", range(TRIES))
@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_what_cannot_be_met_is_as_near_as_it_can_be(seed: int, backend: str) -> None:
    result, gradient = _solved(seed, backend)
    assert result.is_optimal
    assert gradient <= LEAST


def test_what_could_be_nearer_is_no_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ConstraintManifold, "_met_exactly", lambda self, start, steps: start)
    result, gradient = _solved(0, "numpy")
    assert gradient > LEAST
    assert not result.is_optimal
