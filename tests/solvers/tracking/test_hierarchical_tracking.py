"""Tracking tasks of several kinds and priorities: met at every frame, inside all limits; what is not met is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import (
    Joint,
    Link,
    RobotModel,
    TaskError,
    clamp,
    forward_kinematics,
    library_robot,
    load_urdf,
    random_configuration,
)
from robokin_addon.solvers import (
    AdvanceTask,
    AimTask,
    AxisTask,
    DistanceTask,
    JointVelocityTask,
    LaserTask,
    OnPlaneTask,
    OrientationTask,
    PinTask,
    Plane,
    PoseTask,
    PositionTask,
    Status,
    TwistTask,
    check_motion,
    track,
)
from robokin_addon.solvers.criteria import JointSprings, KineticEnergy
from support.blender.every_task import every_task
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_trees import random_robot
from support.robots import robot

TIP = "panda_hand"
DT = 1.0 / 24.0


def _panda() -> tuple[RobotModel, np.ndarray, Oracle]:
    model = load_urdf(robot("panda"))
    q = np.zeros(model.nq)
    q[:7] = 0.2, -0.3, 0.1, -2.0, 0.1, 1.7, 0.7
    return model, q, Oracle.from_urdf(model, robot("panda"))


def test_two_levels_and_criteria() -> None:
    """A circle by the hand first, then its axis, then springs: the circle and the axis are met at every frame."""
    model, q, oracle = _panda()
    p = forward_kinematics(model, q)[TIP][:3, 3]
    angles = np.linspace(0.0, 2.0 * np.pi, 73)
    circle = p + 0.08 * np.column_stack((np.cos(angles) - 1.0, np.sin(angles), np.sin(angles)))
    down = forward_kinematics(model, q)[TIP][:3, 2]
    tasks = [PositionTask(TIP, p), AxisTask(TIP, (0, 0, 1), down, priority=2)]
    result = track(model, tasks, [[x, down] for x in circle], q, DT, criteria=[KineticEnergy(), JointSprings()])
    assert result.converged.all()
    assert check_motion(result.motion).violations == ()
    for frame in range(0, 73, 6):
        T = oracle.frames(result.q[frame])[TIP]
        assert np.linalg.norm(T[:3, 3] - circle[frame]) < 1e-5
        assert np.arccos(np.clip(T[:3, 2] @ down, -1, 1)) < 2e-5
    assert result.frame(5).residuals[0]["position"] < 1e-5


def test_a_laser_draws_while_the_robot_keeps_its_distance() -> None:
    model, q, oracle = _panda()
    angles = np.linspace(0.0, 2.0 * np.pi, 49)
    spots = np.column_stack((0.5 + 0.1 * np.cos(angles), 0.1 * np.sin(angles), 0.0 * angles))
    laser = LaserTask(TIP, (0, 0, 1), spots[0], Plane((0, 0, 0), (0, 0, 1)))
    away = DistanceTask(TIP, 0.3, other_point=(0.5, 0, 0), relation="outside", priority=2)
    result = track(model, [laser, away], [[spot, 0.3] for spot in spots], q, DT)
    assert result.converged.all()
    for frame in range(49):
        T = oracle.frames(result.q[frame])[TIP]
        np.testing.assert_allclose(T[:3, 3] - T[2, 3] / T[2, 2] * T[:3, 2], spots[frame], atol=2e-5)
        assert np.linalg.norm(T[:3, 3] - (0.5, 0, 0)) >= 0.3 - 2e-5


def test_velocities_are_prescribed_beside_poses() -> None:
    model, q, oracle = _panda()
    p = forward_kinematics(model, q)[TIP][:3, 3]
    tasks = [JointVelocityTask({"panda_joint1": 0.2}), OnPlaneTask(TIP, (p, (0, 0, 1)), priority=2)]
    result = track(model, tasks, [[{"panda_joint1": 0.2}, (p, (0, 0, 1))]] * 40, q, DT)
    assert result.converged[3:].all()  # from a stand; the Panda has no acceleration limit
    np.testing.assert_allclose(np.diff(result.q[:, 0]), 0.2 * DT, rtol=1e-6)
    heights = [oracle.frames(x)[TIP][2, 3] for x in result.q]
    np.testing.assert_allclose(heights, p[2], atol=2e-5)
    turn = TwistTask(TIP, TwistTask.about(p, (0, 0, 1), 0.3), frame="space")
    turning = track(model, [turn], [[turn.target]] * 40, q, DT)
    assert turning.converged.all()
    check = check_motion(result.motion, tasks, [[{"panda_joint1": 0.2}, (p, (0, 0, 1))]] * 40)
    np.testing.assert_allclose(check.residuals[3:], result.residuals[3:], atol=1e-6)
    assert check.statuses[-1] is Status.CONVERGED
    assert set(check.to_dict()["frames"][5]["residuals"][0]) == {"angular", "linear"}
    faster = check_motion(result.motion, tasks, [[{"panda_joint1": 0.3}, (p, (0, 0, 1))]] * 40)
    assert faster.statuses[-1] is Status.MAX_ITERATIONS
    assert faster.residuals[-1, 0, 0] == pytest.approx(0.1, abs=1e-6)
    np.testing.assert_allclose([oracle.frames(x)[TIP][:3, 3] for x in turning.q], np.tile(p, (40, 1)), atol=1e-5)


def test_what_is_counted_from_the_start() -> None:
    model, q, oracle = _panda()
    before = oracle.frames(q)[TIP]
    ahead = [[(0.0, 0.0, 0.002 * k)] for k in range(30)]
    result = track(model, [AdvanceTask(TIP, (0, 0, 0))], ahead, q, DT)
    assert result.converged.all()
    end = before[:3, 3] + 0.058 * before[:3, 2]
    np.testing.assert_allclose(oracle.frames(result.q[-1])[TIP][:3, 3], end, atol=2e-5)
    pinned = track(
        model,
        [PinTask(TIP, orientation_weights=0.0), AimTask("panda_link4", (1, 0, 0), (1, 1, 1), priority=2)],
        [[None, (1.0, 0.05 * k, 1.0)] for k in range(20)],
        q,
        DT,
    )
    for x in pinned.q:
        np.testing.assert_allclose(oracle.frames(x)[TIP][:3, 3], before[:3, 3], atol=2e-5)


def test_feet_stay_pinned_whatever_the_criteria() -> None:
    """Criteria of a humanoid settle slowly over the linearisations of a frame; what is curved is met all the same."""
    model = library_robot("humanoid", root="floating")
    bent = {"knee": 0.6, "hip_pitch": -0.3, "ankle_pitch": -0.3}
    q = model.configuration({f"{side}_{name}": x for side in ("left", "right") for name, x in bent.items()})
    q = clamp(model, q)
    feet = ("left_foot", "right_foot")
    tasks = [*map(PinTask, feet), PositionTask("right_hand", (0, 0, 0), priority=2)]
    hand = forward_kinematics(model, q)["right_hand"][:3, 3]
    angles = np.linspace(0.0, np.pi, 24)
    way = np.column_stack((0.25 * np.sin(angles), 0.1 * np.sin(2.0 * angles), 0.2 * np.sin(angles)))
    targets = [[None, None, hand + moved] for moved in way]
    result = track(model, tasks, targets, q, DT, criteria=[JointSprings(), KineticEnergy(weight=0.1)])
    assert result.converged.all()
    assert result.residuals.max() < 1e-6
    start, end = (forward_kinematics(model, result.q[frame]) for frame in (0, -1))
    assert max(abs(start[foot] - end[foot]).max() for foot in feet) < 1e-6


def test_conflicts_name_their_tasks() -> None:
    model, q, _ = _panda()
    T = forward_kinematics(model, q)[TIP]
    up = PositionTask(TIP, T[:3, 3], name="up")
    down = PositionTask(TIP, T[:3, 3], name="down", priority=2)
    targets = [[T[:3, 3] + np.array([0, 0, 0.01 * k]), T[:3, 3] - np.array([0, 0, 0.01 * k])] for k in range(10)]
    result = track(model, [up, down], targets, q, DT)
    assert result.status[0] is Status.CONVERGED
    assert result.status[-1] is Status.MAX_ITERATIONS
    found = result.diagnosis(9)
    assert found.status is Status.TASK_CONFLICT and set(found.tasks) == {"up", "down"}
    assert result.residuals[:, 0].max() < 1e-5
    assert result.residuals[9, 1, 0] == pytest.approx(0.18, abs=1e-3)


def test_too_fast_is_late_and_catches_up() -> None:
    model, q, _ = _panda()
    p = forward_kinematics(model, q)[TIP][:3, 3]
    jump = p + np.array([0.0, 0.4, 0.0])
    tasks = [PositionTask(TIP, p), OrientationTask(TIP, np.eye(3), band=3.0, priority=2)]
    targets = [[p, np.eye(3)]] * 3 + [[jump, np.eye(3)]] * 40
    result = track(model, tasks, targets, q, DT)
    assert result.status[3] is Status.LIMIT and result.frame(3).joints
    assert result.status[-1] is Status.CONVERGED
    assert check_motion(result.motion).violations == ()


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("seed", range(4))
def test_random_robots_stay_inside_all_limits(seed: int, backend: str) -> None:
    rng = np.random.default_rng(seed)
    model = random_robot(seed, 8, ("fixed", "floating", "planar")[seed % 3])
    joints = [replace(joint, acceleration=5.0) for joint in model.joints[1:]]
    model = RobotModel(model.name, model.links, joints, model.root)
    q = random_configuration(model, rng)
    tasks = [t for t in every_task(rng, model, q, random_configuration(model, rng)).values() if t.priority]
    tasks = [tasks[i] for i in rng.choice(len(tasks), 4, replace=False)]
    for task in tasks:
        task.priority = int(rng.integers(1, 4))
    targets = [[task.target for task in tasks]] * 15
    result = track(model, tasks, targets, q, DT, backend=backend, criteria=[JointSprings()])
    assert np.isfinite(result.q).all() and np.isfinite(result.residuals).all()
    assert check_motion(result.motion).violations == ()


def test_progress_and_bad_targets() -> None:
    model, q, _ = _panda()
    task = AimTask(TIP, (0, 0, 1), (1, 0, 0))
    seen: list[tuple[int, int]] = []
    stopped = track(model, [task], [[(1, 0, 0)]] * 400, q, DT, progress=lambda *x: seen.append(x) or len(seen) < 2)
    assert len(stopped) < 400 and seen
    with pytest.raises(TaskError, match="no targets"):
        track(model, [task], [], q)
    with pytest.raises(TaskError, match="1 tasks but 2 targets"):
        track(model, [task], [[(1, 0, 0), (1, 0, 0)]], q)
    plain = track(model, [PoseTask(TIP, np.eye(4))], np.tile(forward_kinematics(model, q)[TIP], (3, 1, 1)), q, DT)
    assert plain.converged.all()


def test_what_is_counted_from_the_start_is_so_in_a_diagnosis() -> None:
    """An arm of 1.5 m advances along itself by 1 m from 1.2 m on: 0.7 m are lacking at the end, not 1 m more."""
    joints, links = [], [Link("link0")]
    for i, (before, length) in enumerate(((0.0, 1.0), (1.0, 0.5)), 1):
        shift, end = np.eye(4), np.eye(4)
        shift[0, 3], end[0, 3] = before, length
        joints.append(Joint(f"joint{i}", "continuous", f"link{i - 1}", f"link{i}", shift))
        joints.append(Joint(f"fixed{i}", "fixed", f"link{i}", f"end{i}", end))
        links += [Link(f"link{i}"), Link(f"end{i}")]
    model = RobotModel("arm", links, joints)
    bent = np.arccos((1.2**2 - 1.0 - 0.25) / 1.0)
    q = np.array([-np.arctan2(0.5 * np.sin(bent), 1.0 + 0.5 * np.cos(bent)), bent])
    frames = [[(x, 0.0, 0.0)] for x in np.linspace(0.0, 1.0, 21)]
    result = track(model, [AdvanceTask("end2", (0.0, 0.0, 0.0), frame="world")], frames, q, DT)
    assert not result.converged[-1]
    assert result.residuals[-1, 0, 0] == pytest.approx(0.7, abs=1e-3)
    found = result.diagnosis(20)
    assert found.status is Status.OUT_OF_REACH and "at least 0.7 m" in found.reason


def test_a_pin_is_diagnosed_where_it_was_pinned() -> None:
    """The hand is led away from where it is pinned: a conflict at the last frame too, where the pin lacks most."""
    model, q, _ = _panda()
    p = forward_kinematics(model, q)[TIP][:3, 3]
    led = PositionTask(TIP, p, name="led")
    pinned = PinTask(TIP, orientation_weights=0.0, name="pinned", priority=2)
    frames = [[p - np.array([x, 0.0, 0.0]), None] for x in np.linspace(0.0, 0.05, 11)]
    result = track(model, [led, pinned], frames, q, DT)
    assert result.residuals[-1, 1, 0] == pytest.approx(0.05, abs=1e-4)
    found = result.diagnosis(10)
    assert found.status is Status.TASK_CONFLICT and set(found.tasks) == {"led", "pinned"}
