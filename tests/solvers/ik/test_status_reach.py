"""OUT_OF_REACH is a certificate: of distances, and of what no joint moves."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, Mimic, RobotModel, library_robot
from robokin_addon.robokin.configuration import random_configuration
from robokin_addon.robokin.kinematics import forward_kinematics
from robokin_addon.robokin.spatial import so3
from robokin_addon.solvers import (
    AdvanceTask,
    DistanceTask,
    IKProblem,
    JointTask,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    OrientationTask,
    PinTask,
    PoseTask,
    PositionTask,
    Status,
    Task,
    solve_ik,
)
from support.blender.every_task import every_task
from support.oracles.task_oracle import TaskOracle
from support.problems.levels import in_levels
from support.problems.planar_arms import planar_arm
from support.random_problems.random_tasks import random_task
from support.random_problems.random_trees import random_robot

TIP = "panda_link8"


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_out_of_reach_has_a_certificate_and_stretches(panda: RobotModel, backend: str) -> None:
    rng = np.random.default_rng(0)
    target = np.array([0.0, 2.0, 0.5])
    tips = [forward_kinematics(panda, random_configuration(panda, rng))[TIP][:3, 3] for _ in range(1000)]
    result = solve_ik(panda, [PositionTask(TIP, target)], backend=backend)
    assert result.status is Status.OUT_OF_REACH
    assert result.tasks == (f"PositionTask of {TIP}",)
    assert "farther" in result.reason
    assert result.residuals[0]["position"] < np.linalg.norm(tips - target, axis=1).min()


def test_out_of_reach_is_never_said_of_what_is_met() -> None:
    """The certificate bounds every configuration: random trees with strokes, screws, offsets and free axes."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        types = ("revolute", "prismatic", "continuous", "planar", "fixed")
        model = random_robot(seed, int(rng.integers(2, 10)), str(rng.choice(["fixed", "planar"])), types)
        q = random_configuration(model, rng)
        tasks = [random_task(rng, model, q) for _ in range(2)]
        result = IKProblem(model, tasks, attempts=1).solve(q0=q, diagnose=False)
        assert result.converged and result.iterations == 0


def _far() -> dict[str, Task]:
    """Tasks of points that the Panda's hand cannot come to, with room of 0.1 m or more."""
    x = np.array([1.0, 0.0, 0.0])
    return {
        "plane": OnPlaneTask(TIP, (1.5 * x, x)),
        "above": OnPlaneTask(TIP, (1.5 * x, x), "above"),
        "below": OnPlaneTask(TIP, (-1.5 * x, x), "below", band=0.1),
        "line": OnLineTask(TIP, (1.5 * x, (0.0, 1.0, 1.0)), band=0.1),
        "curve": OnCurveTask(TIP, [(1.5, 0.0, 0.0), (2.0, 1.0, 0.0)]),
        "equal": DistanceTask(TIP, 0.4, other_point=2.0 * x),
        "inside": DistanceTask(TIP, 0.4, other_point=2.0 * x, relation="inside"),
        "outside": DistanceTask(TIP, 4.0, other_point=x, relation="outside"),
        "advance": AdvanceTask(TIP, (2.5, 0.0, 0.0), frame="world"),
        "pin": PinTask(TIP, _moved(2.0 * x)),
        "band": PositionTask(TIP, 2.0 * x, band=0.2),
    }


def _moved(p: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = p
    return T


@pytest.mark.parametrize("kind", _far())
def test_points_that_are_too_far_have_a_certificate(panda: RobotModel, kind: str) -> None:
    task = _far()[kind]
    result = in_levels(panda, [task]).solve()
    assert result.status is Status.OUT_OF_REACH and result.tasks == (task.name,)
    gap = float(result.reason.split("at least ")[1].split(" m")[0])
    rng = np.random.default_rng(0)
    start = IKProblem(panda, [PositionTask(TIP, (0, 0, 0))]).limits.middle(panda.neutral())
    oracle = TaskOracle(panda, start)
    least = min(oracle.residuals(task, random_configuration(panda, rng))[0] for _ in range(300))
    assert gap > 0.0 and gap <= min(least, oracle.residuals(task, result.q)[0]) + 1e-9


@pytest.mark.slow
def test_no_certificate_against_what_a_pose_meets() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        model = random_robot(seed, int(rng.integers(2, 10)), ("fixed", "planar", "floating")[seed % 3])
        q, away = random_configuration(model, rng), random_configuration(model, rng)
        oracle = TaskOracle(model, q)
        for name, task in every_task(rng, model, q, away).items():
            problem = in_levels(model, [task])
            if oracle.is_met(task, away):
                assert not problem.search.excess([task.target]).any(), f"{name} of seed {seed}"


def test_a_link_that_cannot_move_is_out_of_reach(panda: RobotModel) -> None:
    assert solve_ik(panda, [PositionTask("panda_link0", [0.0, 0.0, 0.1])]).status is Status.OUT_OF_REACH
    assert solve_ik(panda, [PositionTask("panda_link0", [0.0, 0.0, 0.0])]).converged
    turned = np.diag([1.0, -1.0, -1.0])
    result = solve_ik(panda, [OrientationTask("panda_link0", turned)])
    assert result.status is Status.OUT_OF_REACH and "3.14 rad are missing in every pose" in result.reason


SCARA, GANTRY = library_robot("scara"), library_robot("gantry")


@pytest.mark.parametrize("model", [SCARA, GANTRY], ids=["scara", "gantry"])
def test_what_no_joint_moves_is_out_of_reach(model: RobotModel) -> None:
    """All axes of a SCARA are upright, a gantry does not turn: how far a tilt is from all that they do is exact."""
    here = forward_kinematics(model, random_configuration(model, np.random.default_rng(2)))["tool"]
    tilt, spin = (so3.exp(np.array(axis) * 0.4) for axis in ((0.6, 0.8, 0.0), (0.0, 0.0, 1.0)))
    for turn in (tilt, spin, tilt @ spin):
        target = here.copy()
        target[:3, :3] = turn @ here[:3, :3]
        result, is_met = solve_ik(model, [PoseTask("tool", target)]), turn is spin and model is SCARA
        assert result.status is (Status.CONVERGED if is_met else Status.OUT_OF_REACH)
        alone = solve_ik(model, [OrientationTask("tool", target[:3, :3])])
        assert alone.status is result.status
        least = 0.0 if is_met else 0.4 if model is SCARA else np.linalg.norm(so3.log(turn))
        assert alone.residuals[0]["orientation"] == pytest.approx(least, abs=1e-5)
        assert is_met or f"{least:.3g} rad are missing in every pose" in alone.reason
        assert (
            solve_ik(model, [OrientationTask("tool", target[:3, :3], weights=(1, 1, 0))]).status
            is not Status.OUT_OF_REACH
        )
    high = PositionTask("tool", here[:3, 3] + [0, 0, 0.01])
    assert solve_ik(model, [high]).status is not Status.OUT_OF_REACH


def test_least_squares_of_an_unreachable_height_is_no_singularity() -> None:
    result = solve_ik(planar_arm((-np.inf, np.inf), (-np.inf, np.inf)), [PositionTask("tip", [0.9, 0.3, 0.2])])
    assert result.status is Status.OUT_OF_REACH
    assert result.residuals[0]["position"] == pytest.approx(0.2, abs=1e-9)
    assert result.reason == "no joint moves it there, 0.2 m are missing in every pose: PositionTask of tip"


def test_a_fine_thread_moves_far() -> None:
    """A screw of many turns beside a slide: 1 mm takes it 10^6 rad, but it gets there."""
    slide = Joint("slide", "prismatic", "base", "cart", axis=(1, 0, 0))
    screw = Joint("screw", "screw", "cart", "nut", axis=(0, 0, 1), pitch=1e-9)
    model = RobotModel("vice", [Link("base"), Link("cart"), Link("nut")], [slide, screw])
    result = solve_ik(model, [PositionTask("nut", (0.3, 0.0, 1e-3))])
    assert not result.converged and "missing in every pose" not in result.reason


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_follower_that_stands_still_has_a_reach(backend: str) -> None:
    """Its leader turns without bounds."""
    ahead = np.eye(4)
    ahead[0, 3] = 0.5
    joints = [
        Joint("lead", "continuous", "a", "b"),
        Joint("slide", "prismatic", "b", "c", mimic=Mimic("lead", 0.0, 0.1)),
        Joint("tip", "revolute", "c", "d", ahead, lower=-3.0, upper=3.0),
    ]
    model = RobotModel("still", [Link(name) for name in "abcd"], joints)
    near = PositionTask("d", [0.7, 0.1, 0.1], offset=ahead)
    assert solve_ik(model, [near, JointTask("tip", 0.3, priority=2)], backend=backend).status is not Status.OUT_OF_REACH
    assert solve_ik(model, [near], backend=backend).converged
    far = solve_ik(model, [PositionTask("d", [2.9, 0.1, 0.1], offset=ahead)], backend=backend)
    assert far.status is Status.OUT_OF_REACH and "nan" not in far.reason
