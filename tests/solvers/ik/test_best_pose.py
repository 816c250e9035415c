"""The best pose for a target out of reach is as near as an independent optimiser comes from many starts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, frame_jacobian, library_robot, load_urdf
from robokin_addon.solvers import PositionTask, Status, solve_ik
from scipy.optimize import minimize
from support.problems.planar_arms import free_arm
from support.robots import robot

STARTS = 12
ROBOTS: dict[str, tuple[Callable[[], RobotModel], str]] = {
    "so101": (lambda: load_urdf(robot("so101")), "gripper_frame_link"),
    "humanoid": (lambda: load_urdf(robot("simple_humanoid")), "r_wrist"),
    "planar 4R": (lambda: library_robot("planar_4r"), "end_effector"),
}


def least_distance(model: RobotModel, tip: str, point: np.ndarray, rng: np.random.Generator) -> float:
    """How near the tip comes to a point, of descents from random poses."""
    q = model.neutral()
    moves = np.flatnonzero(frame_jacobian(model, model.limits.middle(q) + 0.1, tip).any(axis=0))
    bounds = np.clip(np.stack((model.lower, model.upper), axis=1)[moves], -7.0, 7.0)

    def cost(x: np.ndarray) -> tuple[float, np.ndarray]:
        q[moves] = x
        e = forward_kinematics(model, q)[tip][:3, 3] - point
        return 0.5 * e @ e, e @ frame_jacobian(model, q, tip, reference="local_world_aligned")[:3, moves]

    starts = rng.uniform(*bounds.T, (STARTS, len(moves)))
    costs = [minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds).fun for start in starts]
    return float(np.sqrt(2.0 * min(costs)))


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("name", ROBOTS)
def test_no_pose_is_nearer_whichever_straight_limb_it_starts_from(name: str, backend: str) -> None:
    make, tip = ROBOTS[name]
    model, rng = make(), np.random.default_rng(0)
    start = model.limits.clamp(model.neutral())
    for _ in range(8 if backend == "native" else 1):
        point = rng.normal(size=3)
        point *= 3.0 / np.linalg.norm(point)
        result = solve_ik(model, [PositionTask(tip, point)], start, backend=backend)
        assert result.status is Status.OUT_OF_REACH
        own, least = result.residuals[0]["position"], least_distance(model, tip, point, rng)
        assert own <= least + max(1e-3, 0.01 * least), f"{own:.3f} m, {least:.3f} m can be had, of {point}"


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_an_arm_that_points_away_turns_round(backend: str) -> None:
    """Straight on the line to the target, where no joint brings it nearer to first order."""
    lengths = (1.0, 0.7, 0.4)
    model = free_arm(*lengths)
    point = (-2.0 * sum(lengths), 0.0, 0.0)
    result = solve_ik(model, [PositionTask("end3", point)], model.neutral(), backend=backend)
    assert result.residuals[0]["position"] == pytest.approx(sum(lengths), rel=1e-4)
