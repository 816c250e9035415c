"""Velocities and fades through the tracker: wheels that are too slow are named, the backends agree, levels are kept."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, frame_jacobian, load_urdf
from robokin_addon.solvers import (
    AlongCurveTask,
    JointVelocityTask,
    LinearVelocityTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    Status,
    Task,
    Tracker,
    TrackResult,
    TwistTask,
    check_motion,
    track,
)
from robokin_addon.solvers.criteria import Criterion, JointSprings
from robokin_addon.solvers.motion.motion import Motion
from robokin_addon.solvers.tasks.places.curve import Curve
from robokin_addon.solvers.tasks.protocols import HistoryTask
from robokin_addon.solvers.tracking.starts import Segment, follow
from support.few import rest_slow, these_slow
from support.problems.wheeled import platform, slip
from support.robots import robot

DT = 1.0 / 24.0
BACKENDS = ("native", "numpy")
HAND, ELBOW = "panda_hand", "panda_link4"
READY = np.array([0.2, -0.5, 0.1, -2.0, 0.1, 1.7, 0.7, 0.02])
ANGLES = np.linspace(0.0, 2.0 * np.pi, 201)[:-1]
RING = np.column_stack((np.sin(ANGLES), 1.0 - np.cos(ANGLES), 0.0 * ANGLES))


@pytest.mark.parametrize("backend", ["native", pytest.param("numpy", marks=pytest.mark.slow)])
@pytest.mark.parametrize("acceleration", rest_slow([math.inf, 1.0, 6.0], 2))
@pytest.mark.parametrize("way", ["line", "ring", "twist"])
def test_wheels_that_are_too_slow_are_named(way: str, acceleration: float, backend: str) -> None:
    """2 m/s are asked for of wheels of 0.1 m that turn at 3 rad/s: 0.3 m/s. The platform stays on its way."""
    model = platform(rates={"velocity": 3.0, "acceleration": acceleration})
    q0 = model.configuration({"lift": -0.6, "elbow": 1.0})
    here = forward_kinematics(model, q0)["platform"][:3, 3]
    curve = Curve(here + RING, True) if way == "ring" else Curve([here, here + 5.0 * np.eye(3)[0]])
    task: Task = AlongCurveTask("platform", curve, 2.0)
    if way == "twist":
        task = TwistTask("platform", (2.0, 0, 0, 0, 0, 0), weights=(1, 1, 0, 0, 0, 1))
    result = track(model, [task], [[task.target]] * 30, q0, DT, backend=backend)
    assert result.status[1:] == [Status.LIMIT] * 29
    named = [set(result.diagnosis(frame).joints) for frame in range(1, 30)]
    assert all({"left", "right"} & each for each in named)
    assert set().union(*named) == {"left", "right"}
    assert check_motion(result.motion).violations == () and slip(model, result.q) < 1e-9
    places = np.array([forward_kinematics(model, q)["platform"][:3, 3] for q in result.q])
    allowed = 1e-3 if way == "ring" and acceleration < math.inf else 1e-5  # corners, that nothing looks ahead to
    assert max(np.linalg.norm(curve.at(curve.nearest(p))[0] - p) for p in places) < allowed
    fastest = abs(result.motion.v[-1, model.rolling_bases[0].wheel_v[0] :][:2]).max()
    assert fastest == pytest.approx(min(3.0, 29 * DT * acceleration), rel=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("askew", rest_slow([1e-9, 0.0, 1e-4]))
def test_the_middle_of_an_axle_goes_along_a_line(askew: float, backend: str) -> None:
    """No motion of a base that stands leads across the line that its wheels point along: a base that is the least bit
    askew to its way is not kept from going."""
    model = platform(centre=(0.0, 0.0), rates={"velocity": 3.0})
    q0 = model.neutral()
    q0[model.rolling_bases[0].q + 2] = askew
    curve = Curve([np.zeros(3), 5.0 * np.eye(3)[0]])
    for speed, status in ((0.2, Status.CONVERGED), (2.0, Status.LIMIT)):
        task = AlongCurveTask("platform", curve, speed)
        tracker = Tracker(model, [task], DT, backend)
        tracker.stand(q0)
        result = tracker.run([[task.target]] * 10)
        assert result.status == [status] * 10
        places = np.array([forward_kinematics(model, q)["platform"][:3, 3] for q in result.q])
        assert max(np.linalg.norm(curve.at(curve.nearest(p))[0] - p) for p in places) < 1e-5
        gone = np.linalg.norm(np.diff(places, axis=0), axis=1).sum()
        assert gone > 0.99 * 9 * DT * min(speed, 0.3)


def _stacks(model: RobotModel, fastest: float = 3.0) -> dict[str, tuple[list[Task], list[list[object]]]]:
    """Tasks, and targets of some frames. fastest: [m/s] along curves."""
    T = forward_kinematics(model, READY)
    hand, elbow = T[HAND], T[ELBOW][:3, 3]
    poses = np.tile(hand, (24, 1, 1))
    poses[:, 1, 3] += 0.002 * np.arange(24)
    hinge = TwistTask.about(hand[:3, 3] + (0.0, 0.3, 0.0), (0.1, 0.0, 1.0), 0.4)
    screw = np.array([0.05, 0.02, 0.0, 0.1, 0.2, 0.5])
    ring, speeds = hand[:3, 3] + 0.1 * RING, np.linspace(0.0, fastest, 24)
    slow, swing = {"panda_joint1": 0.1, "panda_joint3": [0.05]}, 0.5 * np.sin(np.arange(24))
    beside = TwistTask(ELBOW, (0, 0.02, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0), priority=2)
    total = LinearVelocityTask({"panda_joint1": 1, "panda_joint3": -2}, 0.1)
    return {
        "hinge": ([TwistTask(HAND, hinge, frame="space")], [[share * hinge] for share in np.linspace(-1, 8, 24)]),
        "screw": ([TwistTask(HAND, screw, frame="tip")], [[share * screw] for share in np.linspace(0, 4, 24)]),
        "starts and stops": ([TwistTask(HAND, hinge, frame="space")], [[hinge * (k // 4 % 2)] for k in range(24)]),
        "pose, twist": ([PoseTask(HAND, hand), beside], [[pose, beside.target] for pose in poses]),
        "curve": ([AlongCurveTask(HAND, ring, 0.0, closed=True)], [[speed] for speed in speeds]),
        "curve, turn": (
            [AlongCurveTask(HAND, ring, 0.0, closed=True), OrientationTask(HAND, hand[:3, :3], priority=2)],
            [[speed, hand[:3, :3]] for speed in speeds],
        ),
        "joints, pose": ([JointVelocityTask(slow), PoseTask(HAND, hand, priority=2)], [[slow, pose] for pose in poses]),
        "sum, place": (
            [total, PositionTask(HAND, hand[:3, 3], priority=2)],
            [[sign, pose[:3, 3]] for sign, pose in zip(swing, poses, strict=True)],
        ),
        "late place, joints": (
            [PositionTask(HAND, hand[:3, 3]), JointVelocityTask({"panda_joint7": 0.3}, priority=2)],
            [[hand[:3, 3] + (0.0, 0.5 * (k > 3), 0.0), {"panda_joint7": 0.3}] for k in range(12)],
        ),
        "elbow, velocity": (
            [PositionTask(ELBOW, elbow), TwistTask(HAND, (0, 0, 0.1, 0, 0, 0), (0, 0, 1, 0, 0, 0), priority=2)],
            [[elbow, (0, 0, 0.1, 0, 0, 0)]] * 24,
        ),
    }


@pytest.mark.parametrize(
    ("acceleration", "criteria"), rest_slow([(8.0, []), (math.inf, []), (math.inf, [JointSprings()])])
)
@pytest.mark.parametrize("name", these_slow(_stacks(load_urdf(robot("panda"))), "late place, joints", "curve, turn"))
def test_backends_agree_on_velocities(
    panda: RobotModel, name: str, acceleration: float, criteria: list[Criterion]
) -> None:
    joints = [replace(joint, acceleration=acceleration) for joint in panda.joints if joint.parent]
    model = RobotModel("panda", panda.links, joints, panda.root)
    # Faster, arms with such accelerations leave the curve, and where they do is for rounding to say.
    tasks, targets = _stacks(model, 3.0 if acceleration == math.inf else 1.0)[name]
    found = [track(model, tasks, targets, READY, DT, backend=backend, criteria=criteria) for backend in BACKENDS]
    np.testing.assert_allclose(found[0].q, found[1].q, atol=1e-6)
    np.testing.assert_array_equal(found[0].codes, found[1].codes)
    np.testing.assert_array_equal(found[0].behind, found[1].behind)
    np.testing.assert_allclose(found[0].residuals, found[1].residuals, atol=1e-6)
    assert check_motion(found[0].motion).violations == ()


def test_backends_agree_on_fades(panda: RobotModel) -> None:
    T = forward_kinematics(panda, READY)
    elbow, ramp = T[ELBOW][:3, 3] + (0.0, 0.1, -0.02), np.linspace(0.0, 1.0, 20)
    twist = TwistTask(HAND, (0.0, 0.05, 0, 0, 0, 0), (1, 1, 1, 0, 0, 0), priority=2)
    tasks = [PositionTask(ELBOW, elbow, (0, 1, 0)), twist]
    influence = np.column_stack((ramp, 1.0 - 0.5 * ramp))
    q = []
    for backend in BACKENDS:
        tracker = Tracker(panda, tasks, DT, backend, [JointSprings(weight=0.1)])
        segment = Segment(tracker, tracker.check_targets([[elbow, twist.target]] * 20), influence)
        q.append(np.concatenate([part.q for part in _finished(segment)]))
    np.testing.assert_allclose(q[0], q[1], atol=1e-6)
    assert check_motion(Motion.of(panda, DT * np.arange(20), q[0])).violations == ()


def _finished(segment: Segment) -> list[TrackResult]:
    steps = follow([segment], READY)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value


@pytest.mark.parametrize("backend", rest_slow(BACKENDS))
def test_a_velocity_below_does_not_hold_up_what_is_late_above(panda: RobotModel, backend: str) -> None:
    """The hand is led away at once; below it a joint turns on as it is asked to, where the hand leaves it free."""
    place = forward_kinematics(panda, READY)[HAND][:3, 3]
    hand, turn = PositionTask(HAND, place), JointVelocityTask({"panda_joint7": 0.3}, priority=2)
    aside = np.array([0.0, 0.4, 0.0])
    targets = [[place + aside * (k > 2), turn.target] for k in range(25)]
    result = track(panda, [hand, turn], targets, READY, DT, backend=backend)
    alone = track(panda, [hand], [each[:1] for each in targets], READY, DT, backend=backend)
    assert result.status[3] is Status.LIMIT and result.status[-1] is Status.CONVERGED
    assert result.missed.sum() <= alone.missed.sum()
    np.testing.assert_allclose(np.diff(result.q[:, 6])[1:], 0.3 * DT, atol=1e-6)


class _Nearing(PositionTask, HistoryTask):
    """Of a class of another maker: half the way from where the frame before wanted to be."""

    def advance_target(self, target: np.ndarray, last: np.ndarray) -> np.ndarray:
        return 0.5 * (target + last)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_task_that_knows_the_frame_before_is_asked_at_every_frame(panda: RobotModel, backend: str) -> None:
    place = forward_kinematics(panda, READY)[HAND][:3, 3]
    task, goal = _Nearing(HAND, place), place + np.array([0.0, 0.08, 0.0])
    tracker = Tracker(panda, [task, JointVelocityTask({"panda_joint7": 0.0}, priority=2)], DT, backend)
    still = {"panda_joint7": 0.0}
    tracker.start([place, still], READY)
    result = tracker.run(tracker.check_targets([[goal, still]] * 5))
    hands = np.array([forward_kinematics(panda, q)[HAND][1, 3] for q in result.q])
    np.testing.assert_allclose(hands - place[1], 0.08 * (1.0 - 0.5 ** np.arange(1, 6)), atol=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_velocities_are_asked_anew(panda: RobotModel, backend: str) -> None:
    """A joint that was too slow for a while does not make up for it afterwards."""
    fast, slow = {"panda_joint1": 9.0}, {"panda_joint1": 0.2}
    targets = [[fast]] * 8 + [[slow]] * 8
    result = track(panda, [JointVelocityTask(slow)], targets, READY, DT, backend=backend)
    assert result.status[1:8] == [Status.LIMIT] * 7 and result.status[8:] == [Status.CONVERGED] * 8
    assert {result.diagnosis(frame).joints for frame in range(1, 8)} == {("panda_joint1",)}
    np.testing.assert_allclose(np.diff(result.q[:, 0])[7:], 0.2 * DT, atol=1e-9)
    np.testing.assert_allclose(np.diff(result.q[:, 0])[:7], panda.velocity[0] * DT, rtol=1e-6)


@pytest.mark.parametrize("radius", [0.05, 0.25])
def test_rows_of_ones_own_that_are_rates_do_not_drift(radius: float) -> None:
    """A circle by its velocities alone: no radial one, none out of its plane, so much about its middle."""
    model = load_urdf(robot("ur5_robot"))
    q = np.radians([0.0, -70.0, 100.0, -60.0, -90.0, 0.0])

    def tip(q: np.ndarray) -> np.ndarray:
        return forward_kinematics(model, q)["tool0"][:3, 3]

    middle = tip(q) - [0.0, 0.0, radius]

    def A(q: np.ndarray) -> np.ndarray:
        J = frame_jacobian(model, q, "tool0", reference="local_world_aligned")[:3]
        _, y, z = tip(q) - middle
        size = np.hypot(y, z)
        return np.array([[0.0, y / size, z / size], [1.0, 0.0, 0.0], [0.0, -z / size**2, y / size**2]]) @ J

    speed = np.array([0.0, 0.0, 0.8 * np.pi])
    found = track(model, [LinearVelocityTask(A, speed)], [[speed]] * 121, q, DT)  # two turns in 5 s
    assert set(found.status) == {"CONVERGED"}
    away = np.array([tip(each) for each in found.q]) - middle
    assert abs(np.hypot(away[:, 1], away[:, 2]) - radius).max() < 1e-9 and abs(away[:, 0]).max() < 1e-9
    assert np.linalg.norm(away[-1] - away[0]) < 1e-7


@pytest.mark.parametrize(("rate", "off"), [(24.0, 1.7e-4), (48.0, 4.2e-5)])
def test_half_way_between_frames_keys_are_straight_and_nothing_adds_up(rate: float, off: float) -> None:
    """Two turns in 5 s on a circle of 0.1 m, by its speed and by its place: the numbers of docs/tasks.md."""
    model, radius, turn = load_urdf(robot("panda")), 0.1, 0.8 * np.pi / rate
    start, angles = forward_kinematics(model, READY)[HAND][:3, 3], turn * np.arange(int(5.0 * rate) + 1)

    def places(angles: np.ndarray) -> np.ndarray:
        return start + radius * np.column_stack((np.cos(angles) - 1.0, np.sin(angles), 0.0 * angles))

    speeds = np.pad((places(angles) - places(angles - turn)) * rate, ((0, 0), (0, 3)))
    twist = TwistTask(HAND, speeds[0], weights=[1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    for task, targets in ((twist, speeds), (PositionTask(HAND, start), places(angles))):
        found = track(model, [task], [[each] for each in targets], READY, 1.0 / rate)
        assert found.converged.all()
        halves = 0.5 * (found.q[1:] + found.q[:-1])
        at, between = (
            np.array([forward_kinematics(model, q)[HAND][:3, 3] for q in each]) for each in (found.q, halves)
        )
        assert np.linalg.norm(at - places(angles), axis=1).max() < 1e-5
        away = np.linalg.norm(between - places(angles[1:] - 0.5 * turn), axis=1)
        assert 0.95 * radius * turn**2 / 8.0 < away.max() < 1.5 * radius * turn**2 / 8.0
        assert away.max() == pytest.approx(off, rel=0.15)
