"""What bakes rely on: levels, repeatability, velocities and limits of motions that the hierarchy follows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    RobotModel,
    clamp,
    difference,
    forward_kinematics,
    in_limits,
    integrate,
    library_robot,
    load_urdf,
    random_configuration,
)
from robokin_addon.solvers import (
    ExtendedJacobian,
    JointTask,
    OnLineTask,
    PinTask,
    PoseTask,
    PositionTask,
    Status,
    Tracker,
    TwistTask,
    check_motion,
    track,
)
from robokin_addon.solvers.criteria import JointSprings, KineticEnergy, MinimumVelocity, RestPosture, Smooth
from robokin_addon.solvers.kinematics.state import State
from support.random_problems.random_tasks import random_task
from support.random_problems.random_trees import random_robot
from support.robots import robot

Q = np.array([0.0, -0.5, 0.3, -2.0, 0.1, 1.6, 0.5, 0.02])
HAND = "panda_hand"
DT = 1.0 / 24.0


def _panda() -> tuple[RobotModel, np.ndarray]:
    model = load_urdf(robot("panda"))
    return model, forward_kinematics(model, Q)[HAND]


def _circle(start: np.ndarray, radius: float, frames: int) -> np.ndarray:
    """(frames, 4, 4) once round, beginning and ending at `start`."""
    angle = 2.0 * np.pi * np.arange(frames) / (frames - 1)
    T = np.tile(start, (frames, 1, 1))
    T[:, 0, 3] += radius * (np.cos(angle) - 1.0)
    T[:, 1, 3] += radius * np.sin(angle)
    return T


def test_meets_every_frame_and_serves_its_criterion() -> None:
    model, start = _panda()
    targets = [[pose[:3, 3]] for pose in _circle(start, 0.1, 40)]
    task = PositionTask(HAND, start[:3, 3])
    plain = track(model, [task], targets, Q)
    served = track(model, [task], targets, Q, criteria=[JointSprings(gain=3.0)])
    assert served.converged.all()
    assert served.residuals.max() < 1e-9
    cost = [JointSprings().value(State(model, result.q[-1]), np.zeros(model.nv)) for result in (plain, served)]
    assert cost[1] < 0.85 * cost[0]


def test_a_lower_level_moves_nothing_above_it() -> None:
    model, start = _panda()
    elbow = forward_kinematics(model, Q + np.eye(8)[0])["panda_link4"][:3, 3]
    tasks = [PoseTask(HAND, start, name="hand"), PositionTask("panda_link4", elbow, priority=2, name="elbow")]
    T = _circle(start, 0.05, 12)
    result = track(model, tasks, [[pose, elbow] for pose in T], Q)
    assert (result.residuals[:, 0] <= 1e-5).all()
    assert result.residuals[-1, 1, 0] > 1e-3
    without = track(model, tasks[:1], T[:, None], Q, criteria=[MinimumVelocity()])
    final = [forward_kinematics(model, found.q[-1])["panda_link4"][:3, 3] for found in (result, without)]
    assert np.linalg.norm(final[0] - elbow) < np.linalg.norm(final[1] - elbow)
    found = result.diagnosis(11)
    assert found.status is Status.TASK_CONFLICT
    assert set(found.tasks) == {"hand", "elbow"}


def test_extended_jacobian_closes_where_least_velocity_does_not() -> None:
    model, start = _panda()
    T = _circle(start, 0.12, 25)
    tasks = [PoseTask(HAND, start), ExtendedJacobian([JointSprings()])]
    held = track(model, tasks, [[pose, None] for pose in T], Q)
    assert abs(held.q[-1] - held.q[0]).max() < 1e-9
    plain = track(model, tasks[:1], T[:, None], Q, criteria=[MinimumVelocity()])
    assert abs(plain.q[-1] - plain.q[0]).max() > 1e-2


def test_a_twist_about_a_hinge_stays_on_its_circle() -> None:
    """A door handle: half a radian per second about a vertical hinge, the hand goes with it."""
    model, start = _panda()
    hinge = np.array([start[0, 3], start[1, 3] + 0.2, 0.0])
    twist = TwistTask.about(hinge, (0.0, 0.0, 1.0), 0.5)
    result = track(model, [TwistTask(HAND, twist, frame="space")], [[twist]] * 25, Q)
    assert result.converged.all()
    hands = [forward_kinematics(model, q)[HAND] for q in result.q]
    radius = [np.linalg.norm(T[:2, 3] - hinge[:2]) for T in hands]
    np.testing.assert_allclose(radius, 0.2, atol=1e-4)
    turned = hands[-1][:3, :3] @ hands[0][:3, :3].T
    assert np.arctan2(turned[1, 0], turned[0, 0]) == pytest.approx(24 * DT * 0.5, abs=1e-4)


def test_a_pin_holds_where_the_motion_starts() -> None:
    model, start = _panda()
    elbow = forward_kinematics(model, Q)["panda_link3"]
    tasks = [PinTask("panda_link3"), PositionTask(HAND, start[:3, 3], priority=2)]
    result = track(model, tasks, [[None, pose[:3, 3]] for pose in _circle(start, 0.05, 10)], Q)
    for q in result.q:
        np.testing.assert_allclose(forward_kinematics(model, q)["panda_link3"], elbow, atol=2e-5)


@pytest.mark.parametrize("seed", range(8))
def test_limits_hold_on_random_robots(seed: int) -> None:
    """Positions, velocities, accelerations, cones and wheels, with targets that jump about."""
    rng = np.random.default_rng(seed)
    model = random_robot(seed, 9, ("fixed", "floating", "planar")[seed % 3])
    tasks = [random_task(rng, model, random_configuration(model, rng)) for _ in range(2)]
    q0 = clamp(model, random_configuration(model, rng))
    targets = []
    for _ in range(12):
        frames = forward_kinematics(model, random_configuration(model, rng))
        targets.append([frames[task.link] for task in tasks])
    result = track(model, tasks, targets, q0, DT, criteria=[Smooth(), MinimumVelocity()])
    assert np.isfinite(result.q).all()
    assert all(in_limits(model, q) for q in result.q)
    v = np.array([difference(model, a, b) for a, b in zip(result.q[:-1], result.q[1:], strict=True)]) / DT
    assert (abs(v) <= model.velocity * (1.0 + 1e-9)).all()
    a = np.diff(v, axis=0) / DT
    plain = [model.slot(j.name).v for j in model.moving_joints if j.nq == j.nv]
    for slot in plain:
        assert (abs(a[:, slot]) <= model.acceleration[slot] * (1.0 + 1e-6) + 1e-6).all()


def test_too_fast_is_said_and_caught_up_with() -> None:
    model, start = _panda()
    T = np.tile(start, (40, 1, 1, 1))
    T[1:, 0, 1, 3] += 0.3
    result = track(model, [PoseTask(HAND, start)], T, Q, criteria=[KineticEnergy()])
    assert result.status[1] is Status.LIMIT
    assert result.diagnosis(1).joints
    assert result.status[-1] is Status.CONVERGED


def test_wheels_roll_under_criteria() -> None:
    model = library_robot("mobile_arm")
    q0 = clamp(model, model.neutral())
    tool = "tool"
    start = forward_kinematics(model, q0)[tool]
    T = np.tile(start, (30, 1, 1, 1))
    T[:, 0, 0, 3] += np.linspace(0.0, 0.4, 30)
    result = track(
        model, [PositionTask(tool, start[:3, 3])], [[pose[0, :3, 3]] for pose in T], q0, criteria=[MinimumVelocity()]
    )
    assert result.converged.all()
    checked = check_motion(result.motion)
    assert abs(checked.slip).max() < 1e-9
    assert in_limits(model, result.q[-1])


def test_a_wheeled_robot_opens_a_door() -> None:
    """The handle about its hinge first, the base along a line through the door next (Bruyninckx, figure 3)."""
    model = library_robot("mobile_arm")
    arm = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
    q0 = clamp(model, model.configuration(dict(zip(arm, (0.2, 0.5, -0.9, 0.3, 0.6, 0.1), strict=True))))
    handle = forward_kinematics(model, q0)["tool"]
    hinge = TwistTask.about(handle[:3, 3] + [0.0, 0.6, 0.0], (0, 0, 1), 0.15)
    base = model.root_link.name
    line = np.zeros(3), np.array([1.0, 0.0, 0.0])
    tasks = [TwistTask("tool", hinge, frame="space"), OnLineTask(base, line, priority=2)]
    result = track(model, tasks, [[hinge, line]] * 50, q0, DT, criteria=[JointSprings()])
    assert result.converged.all() and result.residuals.max() < 1e-9
    hands = np.array([forward_kinematics(model, q)["tool"][:3, 3] for q in result.q])
    assert np.ptp(np.linalg.norm(hands[:, :2] - handle[:2, 3] - [0.0, 0.6], axis=1)) < 1e-6
    assert abs(result.q[-1][0]) > 0.01 and abs(result.q[:, 1]).max() < 1e-6


def test_runs_in_pieces() -> None:
    model, start = _panda()
    tasks, criteria = [PoseTask(HAND, start)], [JointSprings(), Smooth()]
    whole, pieces = (Tracker(model, tasks, DT, criteria=criteria) for _ in range(2))
    targets = whole.check_targets([[pose] for pose in _circle(start, 0.02, 9)])  # slowly: no frame is late
    for tracker in (whole, pieces):
        tracker.start(targets[0], Q)
    at_once = whole.run(targets[1:])
    first, second = pieces.run(targets[1:4]), pieces.run(targets[4:])
    np.testing.assert_array_equal(at_once.q, np.concatenate((first.q, second.q)))
    np.testing.assert_allclose(second.start_velocity, difference(model, first.q[-2], first.q[-1]) / DT, atol=1e-9)
    again = Tracker(model, tasks, DT, criteria=criteria)
    again.stand(first.q[-1], second.start_velocity)
    np.testing.assert_allclose(again.run(targets[4:]).q, second.q, atol=1e-9)


def test_backends_agree() -> None:
    model, start = _panda()
    tasks = [PoseTask(HAND, start), PositionTask("panda_link4", (0.1, 0.2, 0.5), priority=2)]
    targets = [[pose, (0.1, 0.2, 0.5)] for pose in _circle(start, 0.05, 6)]
    found = [
        track(model, tasks, targets, Q, backend=backend, criteria=[JointSprings()]).q for backend in ("native", "numpy")
    ]
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_a_motion_starts_near_its_start_and_criteria_are_checked() -> None:
    """From there the criteria lead on at their own pace: no jump to their optimum."""
    model, start = _panda()
    found = track(model, [PoseTask(HAND, start)], [[start]] * 3, Q, criteria=[JointSprings()])
    np.testing.assert_allclose(found.q[0], Q, atol=1e-9)
    assert 1e-4 < abs(found.q[2] - Q).max() < 0.2
    with pytest.raises(ConfigurationError):
        track(model, [PoseTask(HAND, start)], [[start]] * 3, Q, criteria=[RestPosture([1.0])])


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("seed", [3, 9, 12, 23, 25, 30, 33])
def test_a_far_level_below_spoils_nothing(seed: int, backend: str) -> None:
    """Without limits on speed, what lies below could lead anywhere in one frame."""
    rng = np.random.default_rng(seed)
    model = load_urdf(robot("panda")) if seed % 2 else random_robot(seed, 9, "fixed")
    free = [replace(joint, velocity=np.inf, acceleration=np.inf) for joint in model.joints[1:]]
    model = RobotModel(model.name, model.links, free, model.root)
    q = clamp(model, random_configuration(model, rng))
    near = clamp(model, integrate(model, q, 0.1 * rng.normal(size=model.nv)))
    tip, other = (HAND, model.link_names[5]) if seed % 2 else (model.link_names[-1], model.link_names[5])
    far = forward_kinematics(model, random_configuration(model, rng))[other][:3, 3] + rng.normal(size=3)
    tasks = [PositionTask(tip, forward_kinematics(model, near)[tip][:3, 3]), PositionTask(other, far, priority=2)]
    tracker = Tracker(model, tasks, DT, backend)
    tracker.stand(q)
    result = tracker.run(tracker.check_targets([[task.target for task in tasks]] * 3))
    assert result.residuals[:, 0, 0].max() < 1e-5
    assert all(in_limits(model, q) for q in result.q)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_level_that_cannot_be_met_keeps_its_best(backend: str) -> None:
    """The hand has to leave where the level below wants it, as slowly as the band allows: for all frames."""
    model, start = _panda()
    twist = TwistTask(HAND, (0.1, 0, 0, 0, 0, 0), weights=(1, 1, 1, 0, 0, 0), band=(0.04, 0.04, 0.04, 0, 0, 0))
    tasks = [twist, PositionTask(HAND, start[:3, 3], priority=2)]
    tracker = Tracker(model, tasks, DT, backend)
    tracker.stand(Q)
    result = tracker.run(tracker.check_targets([[task.target for task in tasks]] * 25))
    hands = np.array([forward_kinematics(model, q)[HAND][:3, 3] for q in [Q, *result.q]])
    np.testing.assert_allclose(np.diff(hands[:, 0]) / DT, 0.06, atol=1e-4)
    np.testing.assert_allclose(np.diff(hands[:, 1:], axis=0) / DT, 0.0, atol=2e-3)


@pytest.mark.parametrize("is_fast", [True, False], ids=["any speed", "limited"])
@pytest.mark.parametrize("way", [(18.0, -9.0, 3.0), (-30.0, 10.0, 35.0), (0.0, 25.0, -8.0)])
def test_a_second_level_with_a_far_target_gets_as_near_as_it_can_and_stays(way, is_fast) -> None:
    """The hand stays where it is; below it the forearm goes towards a point out of reach, and does not swing there."""
    model = load_urdf(robot("panda"))
    if is_fast:
        joints = [replace(joint, velocity=np.inf) for joint in model.joints if joint.parent]
        model = RobotModel(model.name, model.links, joints, model.root)
    q = np.array([0.3, -0.4, 0.2, -2.1, 0.1, 1.8, 0.6, 0.02])
    T = forward_kinematics(model, q)
    tasks = [PositionTask("panda_hand", T["panda_hand"][:3, 3]), PositionTask("panda_link5", way, priority=2)]
    result = track(model, tasks, [[task.target for task in tasks]] * 40, q)
    assert result.residuals[:, 0].max() < 1e-5
    residual = result.residuals[:, 1, 0]
    before = np.linalg.norm(np.array(way) - T["panda_link5"][:3, 3])
    assert before - residual[-1] > 0.015 and residual[-1] < residual.min() + 1e-3
    assert np.linalg.norm(np.diff(result.q, axis=0), axis=1)[-5:].max() < 0.1


def test_a_first_frame_out_of_reach_is_said_to_be() -> None:
    model = load_urdf(robot("panda"))
    joint = model.moving_joints[0].name
    tasks = [PositionTask("panda_hand", [5.0, 0.0, 0.0]), JointTask(joint, 0.1, priority=2)]
    found = track(model, tasks, [[[5.0, 0.0, 0.0], 0.1]] * 3, q0=model.limits.middle(model.neutral()))
    assert found.status == [Status.OUT_OF_REACH] * 3


def test_a_tracker_that_was_given_no_start_stands_at_mid_range() -> None:
    model = load_urdf(robot("panda"))
    middle = model.limits.middle(model.neutral())
    place = forward_kinematics(model, middle)["panda_hand"][:3, 3]
    tracker = Tracker(model, [PositionTask("panda_hand", place)], criteria=[JointSprings()])
    result = tracker.run(tracker.check_targets([[place]] * 2))
    assert result.converged.all()
    np.testing.assert_allclose(result.q, np.tile(middle, (2, 1)), atol=1e-6)
