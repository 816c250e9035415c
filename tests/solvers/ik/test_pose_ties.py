"""Of poses that lack as much, the one nearest to the start is the answer, whatever the rounding."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics, load_urdf, random_configuration
from robokin_addon.solvers import DistanceTask, IKProblem, PoseTask, PositionTask, Status
from support.problems.levels import in_levels
from support.robots import robot

BACKENDS = ("native", "numpy")
UPPER, FORE = 0.7, 0.5


def along(x: float) -> np.ndarray:
    placement = np.eye(4)
    placement[0, 3] = x
    return placement


def planar_arm(*lengths: float, bound: float = 3.1) -> RobotModel:
    """Links along x, joints about z inside -bound, bound."""
    joints = [
        Joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", along(before), axis=(0, 0, 1), lower=-bound, upper=bound)
        for i, before in enumerate((0.0, *lengths[:-1]))
    ]
    tip = Joint("tip", "fixed", f"l{len(lengths)}", "tip", along(lengths[-1]))
    links = [Link(f"l{i}") for i in range(len(lengths) + 1)] + [Link("tip")]
    return RobotModel("planar", links, [*joints, tip])


def elbows(x: float, y: float) -> np.ndarray:
    """(2, 2) the poses of a 2R arm: elbow positive, elbow negative."""
    cosine = (x * x + y * y - UPPER**2 - FORE**2) / (2.0 * UPPER * FORE)
    found = []
    for elbow in (np.arccos(cosine), -np.arccos(cosine)):
        shoulder = np.arctan2(y, x) - np.arctan2(FORE * np.sin(elbow), UPPER + FORE * np.cos(elbow))
        found.append((shoulder, elbow))
    return np.array(found)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_elbow_stays_as_posed_where_a_lower_level_cannot_be_met(backend: str) -> None:
    arm, rng = planar_arm(UPPER, FORE), np.random.default_rng(0)
    for seed in range(12 if backend == "native" else 2):
        angle, far = rng.uniform(-1.0, 1.0), rng.uniform(0.4, 1.1)
        x, y = far * np.cos(angle), far * np.sin(angle)
        wanted = elbows(x, y)[seed % 2]
        above = PositionTask("tip", (x, y, 0.0), name="above")
        beyond = 1.15 / far  # where either elbow lacks as much
        below = PositionTask("tip", (beyond * x, beyond * y, 0.0), name="below", priority=2)
        found = IKProblem(arm, [above, below], backend=backend).solve(
            q0=wanted + rng.uniform(-0.1, 0.1, 2), seed=seed, diagnose=False
        )
        assert found.status is not Status.CONVERGED
        np.testing.assert_allclose(found.q, wanted, atol=1e-3)
        assert found.residuals[1]["position"] == pytest.approx(1.15 - far, abs=1e-4)


@pytest.mark.parametrize("backend", BACKENDS)
def test_elbows_as_near_to_the_start_are_reported_apart_alike(backend: str) -> None:
    arm, bound, rng = planar_arm(UPPER, FORE, bound=1.0), 1.0, np.random.default_rng(1)
    shoulder = np.arctan2(FORE * np.sin(bound), UPPER + FORE * np.cos(bound))  # the tip on the x axis, nearest to 0
    problem = IKProblem(arm, [DistanceTask("tip", 0.3), PositionTask("tip", (1, 0, 0), priority=2)], (), backend)
    for seed in range(6 if backend == "native" else 4):
        q0 = 1e-13 * rng.normal(size=2)  # straight at the targets, up to rounding
        found = problem.solve(q0=q0, seed=seed, diagnose=False)
        # The first level decides: of its equal poses, straight ahead, the one with the larger elbow angle.
        np.testing.assert_allclose(found.q, [-shoulder, bound], atol=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_better_pose_is_taken_though_it_is_farther(backend: str) -> None:
    arm = planar_arm(UPPER, FORE)
    up, down = elbows(0.8, 0.0)
    elbow = UPPER * np.cos(up[0]), UPPER * np.sin(up[0])
    tasks = [PositionTask("tip", (0.8, 0, 0)), PositionTask("l2", (*elbow, 0.1), priority=2)]
    found = in_levels(arm, tasks, backend=backend).solve(q0=down, diagnose=False)
    np.testing.assert_allclose(found.q, up, atol=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_posed_panda_stays_where_it_is(backend: str) -> None:
    panda, tip, rng = load_urdf(robot("panda")), "panda_hand", np.random.default_rng(5)
    for _ in range(12 if backend == "native" else 2):
        q0 = random_configuration(panda, rng)
        T = forward_kinematics(panda, q0)[tip]
        tasks = [PoseTask(tip, T), PositionTask(tip, T[:3, 3] + 0.15 * rng.normal(size=3), priority=2)]
        found = in_levels(panda, tasks, backend=backend).solve(q0=q0, diagnose=False)
        np.testing.assert_allclose(found.q, q0, atol=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_elbow_stays_as_posed_between_two_targets(backend: str) -> None:
    """Two targets of one level on a ray from the shoulder: the best is half way, with either elbow."""
    arm, rng = planar_arm(UPPER, FORE), np.random.default_rng(2)
    for seed in range(20 if backend == "native" else 4):
        angle, far = rng.uniform(-1.0, 1.0), rng.uniform(0.4, 1.1)
        ray = np.array([np.cos(angle), np.sin(angle), 0.0])
        wanted = elbows(*(far * ray[:2]))[seed % 2]
        tasks = [PositionTask("tip", (far + apart) * ray, name=f"{apart}") for apart in (-0.05, 0.05)]
        q0 = wanted + rng.uniform(-0.1, 0.1, 2)
        found = IKProblem(arm, tasks, (), backend).solve(None, q0, seed, diagnose=False)
        np.testing.assert_allclose(found.q, wanted, atol=1e-4)


def test_backends_take_the_same_of_equal_poses() -> None:
    panda, tip, rng = load_urdf(robot("panda")), "panda_hand", np.random.default_rng(3)
    kept = 0
    for seed in range(3):
        q0 = random_configuration(panda, rng)
        T = forward_kinematics(panda, q0)[tip]
        tasks = [PoseTask(tip, T, name="here"), PositionTask(tip, T[:3, 3] + 0.1 * rng.normal(size=3), name="there")]
        native, other = (IKProblem(panda, tasks, (), each).solve(None, q0, seed, diagnose=False) for each in BACKENDS)
        np.testing.assert_allclose(native.q, other.q, atol=1e-6)
        near = IKProblem(panda, tasks, attempts=1).solve(None, q0, seed, diagnose=False)
        if np.allclose(near.residual_array, native.residual_array, rtol=1e-6, atol=1e-9):
            kept += 1
            np.testing.assert_allclose(native.q, near.q, atol=1e-6)
    assert kept >= 2
