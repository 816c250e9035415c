"""Velocities that no motion has: whom limits on speed hold back is named while that is why, then what else is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics, frame_jacobian, library_robot, load_urdf
from robokin_addon.solvers import (
    AlongCurveTask,
    Diagnosis,
    DistanceTask,
    JointVelocityTask,
    LoopClosureTask,
    PoseTask,
    PositionTask,
    Status,
    Task,
    TrackResult,
    TwistTask,
    track,
)
from robokin_addon.solvers.limits.viability import StepLimits
from robokin_addon.solvers.tasks.places.curve import Curve
from support.few import rest_slow
from support.problems.obstructed import at, planar_arm
from support.problems.wheeled import platform
from support.robots import robot

DT = 1.0 / 24.0
READY = np.array([0.2, -0.5, 0.1, -2.0, 0.1, 1.7, 0.7, 0.02])
ANGLES = np.linspace(0.0, 2.0 * np.pi, 201)[:-1]
RING = np.column_stack((np.sin(ANGLES), 1.0 - np.cos(ANGLES), 0.0 * ANGLES))


def assert_named_are_fastest(result: TrackResult, frames: range) -> None:
    """Who is named moves as fast as its limit allows, or would have to farther in one frame than that."""
    model = result.problem.model
    for frame in frames:
        found = result.diagnosis(frame)
        assert found.status is Status.LIMIT and found.joints
        columns = [model.slot(name).v.start for name in found.joints]
        fastest = StepLimits.of(model, DT).max_step[columns] / DT
        assert (abs(result.motion.v[frame, columns]) >= 0.998 * fastest).any()


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("speed", [2.0, 200.0])
def test_a_twist_far_too_fast_names_the_joints_until_the_arm_is_stretched(speed: float, backend: str) -> None:
    """200 m/s would end 8 m away, in one frame. When no joint moves the hand on, the pose is singular there."""
    model = load_urdf(robot("panda"))
    frames = 24 if backend == "native" else 6
    task = TwistTask("panda_hand", (speed, 0, 0, 0, 0, 0))
    result = track(model, [task], [[task.target]] * frames, READY, DT, backend=backend)
    assert_named_are_fastest(result, range(1, min(frames, 15)))
    if backend == "native" and speed < 10.0:  # else it still creeps
        assert result.diagnosis(23).status is Status.SINGULAR
        J = frame_jacobian(model, result.q[23], "panda_hand")
        others = np.linalg.svd(J[1:])[2][5:]
        assert np.linalg.norm(others @ J[0]) < 1e-3  # of the motions that keep the rest, none leads on


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_straight_wrist_is_left_by_turning_within_it(backend: str) -> None:
    """Two axes of the wrist are one line: a line across it needs them turned against each other by a quarter turn
    first, for which they are too slow. To first order no motion of the robot helps."""
    model = load_urdf(robot("ur5_robot"))
    for q in ([-1.36, -2.19, 1.63, -0.34, 0.0, 1.34], [2.22, -1.86, 0.77, -1.32, 0.0, 0.0]):
        here = forward_kinematics(model, q)["tool0"]
        targets = np.array([here] * 12)
        targets[:, :3, 3] += np.linspace(0.0, 0.04, 12)[:, None] * np.array([0.05, -0.13, 0.06]) / 0.15
        task = PoseTask("tool0", here)
        result = track(model, [task], targets, np.array(q), DT, backend=backend)
        assert set(result.status) == {Status.CONVERGED, Status.LIMIT} and result.converged[-1]
        late = [frame for frame, status in enumerate(result.status) if status is Status.LIMIT]
        assert late[0] == 1 and len(late) < 9


@pytest.mark.parametrize("way", ["ring", "line", "twist"])
def test_wheels_far_too_slow_are_named(way: str) -> None:
    model = platform(rates={"velocity": 3.0, "acceleration": math.inf})
    q0 = model.configuration({"lift": -0.6, "elbow": 1.0})
    here = forward_kinematics(model, q0)["platform"][:3, 3]
    curve = Curve(here + RING, True) if way == "ring" else Curve([here, here + 5.0 * np.eye(3)[0]])
    task = AlongCurveTask("platform", curve, 200.0)
    if way == "twist":
        task = TwistTask("platform", (200.0, 0, 0, 0, 0, 0), weights=(1, 1, 0, 0, 0, 1))
    result = track(model, [task], [[task.target]] * 10, q0, DT)
    assert_named_are_fastest(result, range(1, 10))
    assert {name for frame in range(1, 10) for name in result.diagnosis(frame).joints} <= {"left", "right"}


def test_what_no_wheel_moves_is_singular_and_a_joint_at_its_end_is_named() -> None:
    """A place beside the axle cannot stay where it is while the base turns."""
    model = platform(rates={"velocity": 3.0})
    turn = TwistTask("platform", (0, 0, 0, 0, 0, 2.0), weights=(1, 1, 0, 0, 0, 1))
    found = track(model, [turn], [[turn.target]] * 3, model.neutral(), DT).diagnosis(2)
    assert found.status is Status.SINGULAR and "no joint moves it" in found.reason
    panda = load_urdf(robot("panda"))
    ahead = JointVelocityTask({"panda_joint1": 1.0})
    found = track(panda, [ahead], [[ahead.target]] * 90, READY, DT).diagnosis(89)
    assert found.status is Status.LIMIT and found.joints == ("panda_joint1",) and "beyond the limit" in found.reason
    found = track(
        library_robot("gantry"),
        [turn := TwistTask("tool", (0.1, 0.2, 0.03, 0.1, 0.2, 0.3))],
        [[turn.target]] * 3,
        dt=DT,
    )
    assert found.diagnosis(2).status is Status.SINGULAR and "no joint moves it" in found.diagnosis(2).reason


def test_joints_that_the_frame_would_take_beyond_their_ends_are_named() -> None:
    """Of a path that is slowed down no joint comes quite there."""
    panda = load_urdf(robot("panda"))
    ahead = TwistTask("panda_rightfinger", (0.2, 0.1, 0, 0, 0, 0))
    result = track(panda, [ahead], [[ahead.target]] * 90, READY, DT)
    found = [result.diagnosis(frame) for frame in np.flatnonzero(result.missed).tolist()]
    assert len(found) > 50 and {each.status for each in found} == {Status.LIMIT}
    assert "panda_finger_joint1" in found[-1].joints and "limits on position" in found[-1].reason


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_of_all_that_is_asked_only_the_joint_at_its_end_is_named(sign: float) -> None:
    """Though a level above leaves it free, and a level below, and another joint, go on."""
    panda = load_urdf(robot("panda"))
    tasks = [
        DistanceTask("panda_hand", 2.0, relation="inside"),
        JointVelocityTask({"panda_joint1": sign}, priority=2),
        JointVelocityTask({"panda_joint2": 0.01, "panda_joint3": -0.01}, priority=3),
    ]
    found = track(panda, tasks, [[task.target for task in tasks]] * 90, READY, DT).diagnosis(89)
    assert found.status is Status.LIMIT and found.joints == ("panda_joint1",)


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_joint_at_its_end_is_not_too_slow(sign: float, backend: str) -> None:
    """The shoulder turns as fast as it can; the elbow, which stands at its end, has no speed left that it could use."""
    joints = []
    for i, (name, back, ahead, speed) in enumerate((("shoulder", -0.3, 0.1, 0.12), ("elbow", -0.4, 0.13, 0.9))):
        low, high = sorted((sign * back, sign * ahead))
        place = at(0.5 * i)
        joints.append(Joint(name, "revolute", f"l{i}", f"l{i + 1}", place, lower=low, upper=high, velocity=speed))
    arm = RobotModel("arm", [Link("l0"), Link("l1"), Link("l2")], joints)
    go = TwistTask("l2", (0.98, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0), offset=at(0.5))
    result = track(arm, [go], [[go.target]] * 8, sign * np.array([-0.19, -0.05]), 0.1, backend=backend)
    is_still = (abs(np.diff(result.q[:, 1])) < 1e-9) & (abs(result.q[1:, 1]) > 0.13 - 1e-9)
    late = [result.diagnosis(int(frame) + 1) for frame in np.flatnonzero(is_still)]
    assert late and {(each.status, each.joints) for each in late} == {(Status.LIMIT, ("shoulder",))}


@pytest.mark.parametrize("backend", rest_slow(["native", "numpy"]))
def test_a_frame_beyond_what_one_may_start_from_is_diagnosed(backend: str) -> None:
    """Configurations are given up to 1e30; a search may lead on."""
    slide = Joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0))
    rail = RobotModel("rail", [Link("rail"), Link("cart")], [slide])
    far = PositionTask("cart", (1e30, 1, 0), offset=at(-1e29))
    along_too = TwistTask("cart", (0, 0, 1, 0, 0, 0), priority=2)
    for tasks in ([far], [far, along_too]):
        result = track(rail, tasks, [[task.target for task in tasks]] * 2, backend=backend)
        assert result.q[1, 0] > 1e30
        found = result.diagnosis(1)
        assert found.status is Status.OUT_OF_REACH and "no joint moves it there" in found.reason


def no_motion(model: RobotModel, q: list[float], *tasks: Task) -> Diagnosis:
    found = track(model, tasks, [[task.target for task in tasks]] * 3, np.array(q), DT)
    assert not found.converged[2]
    return found.diagnosis(2)


def along(link: str, *speed: float, name: str = "") -> TwistTask:
    """The end of a planar link, in the directions that are given a speed."""
    twist = np.append(speed, np.zeros(6 - len(speed)))
    return TwistTask(link, twist, offset=at(1.0), weights=twist != 0.0, name=name)


def test_a_pose_alone_is_called_singular_and_what_contradicts_itself_is_not() -> None:
    """An arm that is stretched out moves no farther; one end does not go both ways; a parallelogram moves its coupler
    across, where the same three joints without it would do otherwise."""
    arm = planar_arm(2)
    found = no_motion(arm, [0.0, 0.0], along("l1", 0.5))
    assert found.status is Status.SINGULAR and "as an arm that is stretched out" in found.reason
    still = JointVelocityTask({"j0": 0.01}, name="still", priority=3)
    found = no_motion(arm, [0.3, 0.5], along("l1", 0.5, name="first"), along("l1", -0.5, name="second"), still)
    assert found.status is Status.TASK_CONFLICT and found.tasks == ("first", "second")
    closed = LoopClosureTask("l2", "base", at(1.0), at(1.0), orientation_weights=0.0)
    square = [np.pi / 2.0, -np.pi / 2.0, -np.pi / 2.0]
    found = no_motion(planar_arm(3), square, closed, along("l1", 0.0, 0.5))
    assert found.status is Status.SINGULAR and "as an arm that is stretched out" in found.reason
    ahead = track(planar_arm(3), [closed, along("l1", 0.5)], [[None, (0.5, 0, 0, 0, 0, 0)]] * 3, np.array(square), DT)
    assert ahead.converged.all()


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_joint_as_fast_as_may_be_is_not_why_another_level_is_impossible(backend: str) -> None:
    """A planar arm does not leave its plane, at whatever speed."""
    arm = library_robot("planar_2r")
    turn = JointVelocityTask({"joint_1": float(arm.velocity[0])})
    up = TwistTask("tool", (0, 0, 0.5, 0, 0, 0), (0, 0, 1, 0, 0, 0), priority=2)
    result = track(arm, [turn, up], [[turn.target, up.target]] * 4, np.array([-1.0, 0.5]), DT, backend=backend)
    assert set(result.status[1:]) == {Status.MAX_ITERATIONS} and not result.behind.any()
    assert result.diagnosis(3).status is Status.SINGULAR


def test_the_status_of_a_frame_is_what_its_diagnosis_has_found() -> None:
    """Wheels do not roll sideways: nobody has looked why, then at one frame, then at all."""
    model = platform(rates={"velocity": 3.0, "acceleration": 6.0})
    task = TwistTask("platform", (0, 0.3, 0, 0, 0, 0), weights=(1, 1, 0, 0, 0, 1))
    found = track(model, [task], [[task.target]] * 6, model.neutral(), DT)
    assert found.status == [Status.CONVERGED] + [Status.MAX_ITERATIONS] * 5
    assert found.diagnosis(-1).status is Status.SINGULAR
    assert found.status == [Status.CONVERGED] + [Status.MAX_ITERATIONS] * 4 + [Status.SINGULAR]
    reasons = found.diagnose()
    assert found.status == [each.status for each in reasons] == [Status.CONVERGED] + [Status.SINGULAR] * 5


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("speed", [20.0, 50.0])
def test_no_limit_is_named_where_there_is_none(speed: float, backend: str) -> None:
    """A base whose wheels have no limits on speed, faster than one frame's search goes."""
    model = load_urdf(robot("z1"), root="wheeled")
    task = TwistTask(model.link_names[0], (speed, 0.0, 0.0, 0.0, 0.0, 0.0))
    found = track(model, [task], [[task.target]] * 3, model.limits.middle(model.neutral()), DT, backend=backend)
    for frame in range(3):
        told = found.diagnosis(frame)
        assert told.status is found.status[frame]
        assert bool(told.joints) == (told.status is Status.LIMIT), told.reason
