"""Velocities beyond what the limits allow: the path is kept, at a lower speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, TaskError, forward_kinematics, frame_jacobian
from robokin_addon.robokin.spatial import se3
from robokin_addon.solvers import (
    AlongCurveTask,
    OnCurveTask,
    OrientationTask,
    PositionTask,
    Status,
    Task,
    TrackResult,
    TwistTask,
    VelocityProblem,
    check_motion,
    track,
    velocity_step,
)
from robokin_addon.solvers.tasks.places.curve import Curve
from support.few import rest_slow
from support.oracles.pinocchio_oracle import Oracle
from support.robots import robot

TIP = "panda_hand"
Q = np.array([0.2, -0.5, 0.1, -2.0, 0.1, 1.7, 0.7, 0.02])
DT = 1.0 / 24.0
ANGLES = np.linspace(0.0, 2.0 * np.pi, 201)[:-1]
ROUND = np.column_stack((np.cos(ANGLES) - 1.0, np.sin(ANGLES), 0.0 * ANGLES))
EIGHT = np.column_stack((0.7 * np.sin(2.0 * ANGLES), np.cos(ANGLES) - 1.0, 0.0 * ANGLES))
SQUARE = np.array([[0, 0, 0], [0, 1, 0], [-1, 1, 0], [-1, 0, 0]], float)


@pytest.fixture(scope="module")
def oracle(panda: RobotModel) -> Oracle:
    return Oracle.from_urdf(panda, robot("panda"))


def _followed(model: RobotModel, tasks: list[Task], frames: int) -> TrackResult:
    result = track(model, tasks, [[task.target for task in tasks]] * frames, Q, DT)
    assert check_motion(result.motion).violations == ()
    return result


def _lengths(curve: Curve, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Arc lengths, counted on round the curve, and distances from it."""
    s = np.array([curve.nearest(p) for p in places])
    away = np.array([np.linalg.norm(curve.at(own)[0] - p) for own, p in zip(s, places, strict=True)])
    return np.unwrap(s, period=curve.length), away


@pytest.mark.parametrize("speed", rest_slow([-2.0, 8.0, 3.0], 2))
@pytest.mark.parametrize("shape", [ROUND, SQUARE], ids=["circle", "square"])
def test_a_point_that_is_too_fast_stays_on_its_curve(panda, oracle, shape: np.ndarray, speed: float) -> None:
    points = oracle.frames(Q)[TIP][:3, 3] + 0.1 * shape
    result = _followed(panda, [AlongCurveTask(TIP, points, speed, closed=True)], 25)
    s, away = _lengths(Curve(points, True), np.array([oracle.frames(q)[TIP][:3, 3] for q in result.q]))
    assert away.max() < 1e-5
    ahead = np.sign(speed) * np.diff(s)
    assert (ahead > 0.3 * DT).all() and ahead.max() < abs(speed) * DT + 1e-6
    slowed = ahead < abs(speed) * DT - 1e-6
    assert [status is Status.LIMIT for status in result.status[1:]] == slowed.tolist() and slowed.sum() > 15
    assert all(result.frame(frame).joints for frame in np.flatnonzero(slowed) + 1)
    fastest = (abs(result.motion.v) / panda.velocity)[1:].max(axis=1)
    assert np.median(fastest) > 0.999 and fastest.min() > 0.6


@pytest.mark.parametrize(
    "make", [lambda c: OnCurveTask(TIP, c, closed=True), lambda c: AlongCurveTask(TIP, c, 1.0, True)]
)
def test_an_open_curve_is_not_taken_for_a_closed_one(make: Callable[[Curve], Task]) -> None:
    with pytest.raises(TaskError, match=r"is an open curve: make it by Curve\(points, closed=True\)"):
        make(Curve(ROUND))
    make(Curve(ROUND, closed=True))


def test_where_a_curve_crosses_itself_the_way_goes_straight_on(panda, oracle) -> None:
    """24 frames for half of it: one of them is where it crosses, to the last bit that a solver has."""
    points = oracle.frames(Q)[TIP][:3, 3] + 0.1 * EIGHT
    curve = Curve(points, True)
    result = _followed(panda, [AlongCurveTask(TIP, points, 0.5 * curve.length, closed=True)], 49)
    places = np.array([oracle.frames(q)[TIP][:3, 3] for q in result.q])
    wanted = np.array([curve.at(0.5 * curve.length * DT * frame)[0] for frame in range(49)])
    np.testing.assert_allclose(places, wanted, atol=2e-5)


@pytest.mark.parametrize("frame", ["space", "tip", "world"])
def test_a_twist_that_is_too_fast_keeps_its_screw(panda, oracle, frame: str) -> None:
    start = oracle.frames(Q)[TIP]
    hinge = TwistTask.about(start[:3, 3] + (0.0, 0.3, 0.0), (0.1, 0.0, 1.0), 4.0)
    twist = {"space": hinge, "tip": np.array([0.0, 3.0, 0.0, 2.0, 0.0, 1.0]), "world": np.array([0, 2.0, 0, 0, 0, 0])}
    result = _followed(panda, [TwistTask(TIP, twist[frame], frame=frame)], 10)
    assert result.status[1:] == [Status.LIMIT] * 9
    gone = 0.0
    for q in result.q[1:]:
        T = oracle.frames(q)[TIP]
        if frame == "world":
            found = np.concatenate((T[:3, 3] - start[:3, 3], se3.log(se3.inverse(start) @ T)[3:]))
        else:
            found = se3.log(T @ se3.inverse(start) if frame == "space" else se3.inverse(start) @ T)
        share = found @ twist[frame] / (twist[frame] @ twist[frame])
        np.testing.assert_allclose(found, share * twist[frame], atol=1e-5)
        assert 0.05 * DT < share - gone < DT
        gone = share


def test_a_twist_in_tip_axes_is_a_screw(panda, oracle) -> None:
    """At a speed that the robot has: where the tip ends is exp of the twist, not the sum of its frames."""
    start, twist = oracle.frames(Q)[TIP], np.array([0.05, 0.02, 0.0, 0.1, 0.2, 0.5])
    result = _followed(panda, [TwistTask(TIP, twist, frame="tip")], 25)
    assert result.converged.all()
    for frame, q in enumerate(result.q):
        np.testing.assert_allclose(oracle.frames(q)[TIP], start @ se3.exp(frame * DT * twist), atol=1e-6)


def test_others_of_its_level_come_before_its_speed_and_those_below_after(panda, oracle) -> None:
    start = oracle.frames(Q)[TIP]
    points = start[:3, 3] + 0.1 * ROUND
    went = []
    for priority in (1, 2):
        upright = OrientationTask(TIP, start[:3, :3], priority=priority)
        result = _followed(panda, [AlongCurveTask(TIP, points, 2.0, closed=True), upright], 15)
        places = np.array([oracle.frames(q)[TIP][:3, 3] for q in result.q])
        s, away = _lengths(Curve(points, True), places)
        assert away.max() < 1e-5
        assert (result.residuals[:, 1].max() < 1e-5) == (priority == 1)
        went.append(s[-1] - s[0])
    assert went[1] > 1.1 * went[0]


def test_a_joint_limit_on_the_way_ends_it_there(panda, oracle) -> None:
    """An arm that may only turn by a little goes so far along its curve, and stays."""
    joints = [joint for joint in panda.joints if joint.parent]
    narrow = [replace(j, lower=Q[i] - 0.05, upper=Q[i] + 0.05) if i < 7 else j for i, j in enumerate(joints)]
    model = RobotModel("narrow", panda.links, narrow, panda.root)
    points = oracle.frames(Q)[TIP][:3, 3] + 0.3 * ROUND
    result = _followed(model, [AlongCurveTask(TIP, points, 0.2, closed=True)], 40)
    s, away = _lengths(Curve(points, True), np.array([oracle.frames(q)[TIP][:3, 3] for q in result.q]))
    assert away.max() < 1e-5 and 0.01 < s[-1] - s[0] < 0.15
    assert abs(s[-1] - s[-5]) < 1e-6
    found = result.diagnosis(39)
    assert found.status is Status.LIMIT and "panda_joint" in found.reason
    assert found.joints and set(found.joints) <= set(result.frame(39).limits_active)
    freed = [replace(j, lower=-3.0, upper=3.0) if j.name in found.joints else j for j in narrow]
    wider = RobotModel("wider", panda.links, freed, panda.root)
    on = track(wider, [AlongCurveTask(TIP, points, 0.2, closed=True)], [[0.2]] * 3, result.q[39])
    assert on.converged.all()


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_step_is_shortened_along_its_way(panda, oracle, backend: str) -> None:
    twist = np.array([1.0, 3.0, -2.0, 1.0, 2.0, 0.5])
    task, below = TwistTask(TIP, twist), PositionTask("panda_link4", (0.3, 0.3, 0.3), priority=2)
    J = oracle.frame_jacobian(Q, TIP, "local_world_aligned")
    step = velocity_step(panda, Q, [task], dt=DT, backend=backend)
    share = (J @ step.v) @ twist / (twist @ twist)
    assert 0.1 < share < 0.9 and step.limits_active
    np.testing.assert_allclose(J @ step.v, share * twist, atol=1e-9)
    both = velocity_step(panda, Q, [task, below], dt=DT, backend=backend)
    np.testing.assert_allclose(J @ both.v, J @ step.v, rtol=0, atol=1e-9)
    assert [level.priority for level in both.levels] == [1, 2] and len(both.levels[0].residual) == 6
    assert both.levels[0].freedom == step.levels[0].freedom <= panda.nv - 6
    banded = TwistTask(TIP, twist, band=0.1)
    assert np.isfinite(velocity_step(panda, Q, [banded], dt=DT, backend=backend).v).all()


def test_backends_agree_on_steps_along_ways(panda) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        p = forward_kinematics(panda, Q)[TIP][:3, 3]
        tasks = [
            AlongCurveTask(TIP, p + np.cumsum(rng.normal(size=(4, 3)), axis=0), float(rng.normal(scale=3.0))),
            TwistTask("panda_link5", rng.normal(size=6) * 2.0, (0, 0, 0, 1, 1, 0), priority=int(rng.integers(1, 3))),
            PositionTask("panda_link4", rng.normal(size=3), priority=2),
        ]
        v = [VelocityProblem(panda, tasks, dt=DT, backend=each).step(Q).v for each in ("native", "numpy")]
        np.testing.assert_allclose(*v, rtol=0, atol=1e-6)


def test_a_way_that_ends_or_stands_still(panda, oracle) -> None:
    p = oracle.frames(Q)[TIP][:3, 3]
    J = frame_jacobian(panda, Q, TIP)
    for task in (TwistTask(TIP, np.zeros(6)), AlongCurveTask(TIP, [p - (0.1, 0.0, 0.0), p], 0.0)):
        np.testing.assert_allclose(J[:3] @ velocity_step(panda, Q, [task], dt=DT).v, 0.0, atol=1e-12)
    end = p + np.array([0.0, 0.1, 0.0])
    line = AlongCurveTask(TIP, [p, end], 1.5)
    result = _followed(panda, [line], 12)
    np.testing.assert_allclose(oracle.frames(result.q[-1])[TIP][:3, 3], end, atol=1e-5)
    assert result.status[-1] is Status.CONVERGED


def test_a_motion_begins_on_the_curve_where_it_can(panda, oracle) -> None:
    """From a pose beside it, on the nearer of two lines, and with another task. One of lower priority that is in the
    way stands aside."""
    p = oracle.frames(Q)[TIP][:3, 3]
    near, far = (p + np.array([(x, -0.2, 0.05), (x, 0.2, 0.05)]) for x in (0.06, -0.3))
    along = AlongCurveTask(TIP, [Curve(far), Curve(near)], 0.1)
    down = OrientationTask(TIP, oracle.frames(Q)[TIP][:3, :3])
    for tasks in ([along], [along, down], [along, down, PositionTask(TIP, p, (0, 0, 1), priority=2)]):
        result = _followed(panda, tasks, 12)
        places = np.array([oracle.frames(q)[TIP][:3, 3] for q in result.q])
        assert set(result.status) == {Status.CONVERGED} or len(tasks) == 3
        assert result.aside[:, 2:].any() == (len(tasks) == 3) and not result.aside[:, :2].any()
        np.testing.assert_allclose(places[:, 0], p[0] + 0.06, atol=1e-5)
        np.testing.assert_allclose(np.diff(places[:, 1]), 0.1 * DT, atol=1e-5)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_velocity_whose_square_is_no_number_has_no_way(panda: RobotModel, backend: str) -> None:
    tasks = [TwistTask(TIP, (1e-310, 0, 0, 0, 0, 0)), PositionTask(TIP, (0.4, 0.0, 0.4), priority=2)]
    still = [TwistTask(TIP, np.zeros(6)), tasks[1]]
    steps = [velocity_step(panda, Q, each, dt=DT, backend=backend) for each in (tasks, still)]
    np.testing.assert_allclose(steps[0].v, steps[1].v, atol=1e-9)


def test_of_several_curves_each_is_open_or_closed_by_itself():
    ring = Curve([[0, 0, 0], [1, 0, 0], [1, 1, 0]], closed=True)
    line = Curve([[0, 0, 1], [1, 0, 1]])
    for curves in ([ring, line], [line, ring]):
        task = AlongCurveTask("link", curves, 0.1)
        assert [each.closed for each in task.checked_target((0.2, curves)).curve.lines] == [
            each.closed for each in curves
        ]
    closed = AlongCurveTask("link", ring, 0.1)
    assert closed.checked_target((0.2, [[0, 0, 0], [2, 0, 0], [2, 2, 0]])).curve.closed
