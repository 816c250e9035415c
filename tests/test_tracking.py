"""Tracking: limits hold at every frame, late robots catch up, both backends agree, what is reported is true."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    Joint,
    Link,
    RobotModel,
    TaskError,
    forward_kinematics,
    load_urdf,
    random_configuration,
)
from robokin_addon.solvers import AxisTask, PoseTask, PositionTask
from robokin_addon.solvers.check import check_motion, task_residuals
from robokin_addon.solvers.results import Status
from robokin_addon.solvers.tracking import Tracker, TrackResult, track
from support.limits import with_rates
from support.motions import wandering
from support.random_trees import random_placement, random_robot
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
    again = task_residuals(result.problem.model, result.q, result.problem.tasks, result.targets)
    np.testing.assert_allclose(result.residuals, again, atol=1e-9)
    met = (again <= 1e-5).all(axis=(1, 2))
    assert (result.converged == met).all()


# -- what can be followed is followed ---------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [panda, ur5])
def test_a_circle_is_followed_smoothly(make):
    model, q, tasks = make()
    targets = circle(model, tasks[0].link, q, 1000)
    result = track(model, tasks, targets, q)
    assert result.converged.all() and result.residuals.max() <= 1e-5
    assert_inside(result)
    assert_residuals_are_true(result)
    # The tool moves 0.63 mm a frame at about half a metre from most axes.
    steps = np.diff(result.q, axis=0)
    assert abs(steps).max() < 0.004
    assert abs(np.diff(steps, axis=0)).max() < 1e-4
    assert np.linalg.norm(result.q[0] - q) < 1e-6


def test_a_humanoid_follows_with_hands_and_feet():
    model = load_urdf(robot("talos_reduced"), root="floating")
    bent = {f"leg_{side}_{i}_joint": x for side in ("left", "right") for i, x in ((3, -0.4), (4, 0.8), (5, -0.4))}
    bent |= {"arm_left_4_joint": -1.2, "arm_right_4_joint": -1.2}
    q = np.clip(model.configuration(bent), model.lower, model.upper)
    tips = ["gripper_left_base_link", "gripper_right_base_link", "left_sole_link", "right_sole_link"]
    targets = np.concatenate([circle(model, tip, q, 200) for tip in tips[:2]], axis=1)
    feet = np.array([[forward_kinematics(model, q)[tip] for tip in tips[2:]]] * 200)
    targets = np.concatenate([targets, feet], axis=1)
    result = track(model, [PoseTask(tip, np.eye(4)) for tip in tips], targets, q)
    assert result.converged.all()
    assert_inside(result)
    assert abs(np.diff(result.q, axis=0)).max() < 0.02


def test_targets_slower_than_the_tolerance_do_not_make_it_jerk():
    model, q, tasks = panda()
    targets = np.tile(forward_kinematics(model, q)["panda_hand"], (300, 1, 1, 1))
    targets[:, 0, 0, 3] += 1e-7 * np.arange(300)
    steps = np.linalg.norm(np.diff(track(model, tasks, targets, q).q, axis=0), axis=1)[1:]
    assert steps.min() > 0.5 * steps.max() > 0.0


def test_other_tasks_and_targets_in_their_own_terms():
    model, q, _ = panda()
    at = forward_kinematics(model, q)["panda_hand"]
    tasks = [PositionTask("panda_hand", np.zeros(3)), AxisTask("panda_hand", (0, 0, 1), (0, 0, -1))]
    sets = [[at[:3, 3] + (0.0, 0.001 * k, 0.0), (0.0, 0.002 * k, -1.0)] for k in range(40)]
    result = track(model, tasks, sets, q)
    assert result.converged.all()
    tip = forward_kinematics(model, result.q[-1])["panda_hand"]
    np.testing.assert_allclose(tip[:3, 3], sets[-1][0], atol=1e-5)
    assert np.cross(tip[:3, 2], sets[-1][1]) == pytest.approx(0.0, abs=1e-5)


# -- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", range(6))
def test_random_robots_chased_across_their_workspace_keep_every_limit(backend, seed):
    rng = np.random.default_rng(seed)
    rates = [{}, {"velocity": 1.5}, {"velocity": 2.0, "acceleration": 5.0}, {"acceleration": 2.0}][seed % 4]
    model = with_rates(random_robot(seed, joints=8, root=("fixed", "planar", "floating")[seed % 3]), **rates)
    links = rng.choice(model.link_names[4:], 2, replace=False)
    tasks = [PoseTask(str(links[0]), np.eye(4)), PositionTask(str(links[1]), np.zeros(3))]
    frames = 40 if backend == "numpy" else 600
    targets = []
    for k in range(frames):
        if k % 8 == 0:  # a new place before the last one is reached
            q = random_configuration(model, rng)
            here = [forward_kinematics(model, q)[str(link)] for link in links]
        targets.append(here)
    result = track(model, tasks, np.array(targets), random_configuration(model, rng), dt=1 / 30, backend=backend)
    assert_inside(result)
    assert_residuals_are_true(result)


@pytest.mark.parametrize("backend", BACKENDS)
def test_rates_of_ball_like_joints_hold_in_the_child_frame(backend):
    links = [Link("base"), Link("ship"), Link("arm")]
    joints = [
        Joint("fly", "floating", "base", "ship", velocity=0.8, acceleration=3.0),
        Joint("turn", "revolute", "ship", "arm", lower=-1.0, upper=1.0, velocity=1.0, acceleration=6.0),
    ]
    model = RobotModel("ship", links, joints)
    rng = np.random.default_rng(0)
    targets = np.repeat([[random_placement(rng, 1.0)] for _ in range(4)], 30, axis=0)
    result = track(model, [PoseTask("arm", np.eye(4))], targets, model.neutral(), backend=backend)
    assert_inside(result)
    assert abs(result.motion.v[:, :6]).max() > 0.75


def test_a_floating_joint_stays_between_its_walls_at_bounded_speed():
    box = {"lower": [-0.3, -0.2, -0.1, *[-np.inf] * 3], "upper": [0.2, 0.3, 0.25, *[np.inf] * 3]}
    joints = [
        Joint("turn", "continuous", "base", "arm", velocity=0.5),
        Joint("fly", "floating", "arm", "ship", velocity=0.6, **box),
    ]
    model = RobotModel("ship", [Link("base"), Link("arm"), Link("ship")], joints)
    rng = np.random.default_rng(3)
    targets = np.repeat([[random_placement(rng, 1.0)] for _ in range(8)], 25, axis=0)
    found = [track(model, [PoseTask("ship", np.eye(4))], targets, model.neutral(), backend=b) for b in BACKENDS]
    for result in found:
        assert_inside(result)
        position = result.q[:, 1:4]
        assert ((position == model.lower[1:4]) | (position == model.upper[1:4])).any(axis=1).sum() > 50
    np.testing.assert_allclose(found[0].q, found[1].q, atol=1e-7)


@pytest.mark.parametrize("backend", BACKENDS)
def test_start_velocity_is_kept_or_braked(backend):
    model = with_rates(panda()[0], acceleration=2.0)
    q, tasks = model.configuration(PANDA_Q), panda()[2]
    targets = np.tile(forward_kinematics(model, q)["panda_hand"], (90, 1, 1, 1))
    velocity = np.full(model.nv, 1.0)
    result = track(model, tasks, targets, q, start_velocity=velocity, backend=backend)
    assert_inside(result)
    # The fingers move no task: they coast to a stop inside their 4 cm.
    assert 0.0 < result.motion.v[0, 7] < 1.0 and result.q[1, 7] > result.q[0, 7]
    assert result.q[-1, 7] <= model.upper[7] and result.motion.v[-1, 7] == 0.0
    assert result.motion.v[0, 0] == 1.0


def test_no_limits_means_at_once():
    model = with_rates(ur5()[0], velocity=np.inf)
    q = np.array(UR5_Q)
    targets = np.repeat(circle(model, "tool0", q, 2, radius=0.2), 2, axis=0)
    result = track(model, ur5()[2], targets, q)
    assert result.converged.all()


# -- late -------------------------------------------------------------------------------------------------------------


def slider(**limits) -> RobotModel:
    return RobotModel("slider", [Link("rail"), Link("cart")], [Joint("slide", "prismatic", "rail", "cart", **limits)])


def along(x: np.ndarray) -> np.ndarray:
    T = np.tile(np.eye(4), (len(x), 1, 1, 1))
    T[:, 0, 2, 3] = x
    return T


SLIDE = [PositionTask("cart", np.zeros(3))]


def fewest_frames(distance: float, largest: float, change: float) -> int:
    """Of all trapezoids of steps that end at rest: how few frames can cover the distance."""
    frames = 0
    while True:
        frames += 1
        ramp = np.minimum(np.arange(1, frames + 1), np.arange(frames, 0, -1)) * change
        if np.minimum(ramp, largest).sum() >= distance - 1e-9:
            return frames


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("velocity", "acceleration"), [(1.0, 2.0), (np.inf, 3.0), (0.7, np.inf), (2.0, 30.0)])
def test_a_step_is_made_in_the_fewest_possible_frames(backend, velocity, acceleration):
    dt = 0.05
    model = slider(lower=-5.0, upper=5.0, velocity=velocity, acceleration=acceleration)
    x = np.zeros(200)
    x[3:] = 1.37
    result = track(model, SLIDE, along(x), model.neutral(), dt=dt, backend=backend)
    assert_inside(result)
    arrived = int(np.argmax(abs(result.q[3:, 0] - 1.37) < 1e-5))
    assert arrived + 1 == fewest_frames(1.37, velocity * dt, acceleration * dt * dt)
    assert result.q.max() <= 1.37 + 1e-12  # no overshoot
    assert (np.diff(result.q[:, 0]) >= -1e-12).all()
    assert result.status[3] is Status.LIMIT and result.converged[3 + arrived :].all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_target_that_runs_away_is_followed_at_full_speed_and_caught(backend):
    dt = 0.05
    model = slider(lower=-50.0, upper=50.0, velocity=1.0, acceleration=4.0)
    x = np.concatenate([2.0 * dt * np.arange(60), np.full(150, 2.0 * dt * 59)])
    result = track(model, SLIDE, along(x), model.neutral(), dt=dt, backend=backend)
    assert_inside(result)
    speed = result.motion.v[:, 0]
    assert (speed[6:110] > 0.999).all()
    assert result.q.max() <= x.max() + 1e-9 and result.converged[-30:].all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_moving_target_is_caught_while_it_moves(backend):
    dt = 0.05
    model = slider(lower=-50.0, upper=50.0, velocity=1.0, acceleration=2.0)
    x = 0.6 * dt * np.arange(80)
    result = track(model, SLIDE, along(x), model.neutral(), dt=dt, backend=backend)
    assert_inside(result)
    assert not result.converged[1] and result.converged[20:].all()
    assert (result.q[:, 0] <= x + 1e-9).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_target_that_stops_dead_is_passed_once_and_returned_to(backend):
    dt = 0.05
    model = slider(lower=-50.0, upper=50.0, velocity=3.0, acceleration=4.0)
    x = np.concatenate([dt * np.arange(30), np.full(60, dt * 29)])
    result = track(model, SLIDE, along(x), model.neutral(), dt=dt, start_velocity=[1.0], backend=backend)
    assert_inside(result)
    assert result.converged[:30].all()
    past = result.q[30:, 0] - x[-1]
    assert past.min() > -1e-6  # it does not swing to the other side
    top = int(np.argmax(past))
    assert past[top] == pytest.approx(0.5 * 1.0**2 / 4.0, rel=0.25)  # braked as hard as allowed
    assert (np.diff(past[:top]) > 0).all() and (np.diff(past[top:]) < 1e-9).all()
    assert result.converged[-30:].all()


@pytest.mark.parametrize("make", [panda, ur5])
@pytest.mark.parametrize("acceleration", [np.inf, 30.0, 8.0, 2.0])
def test_an_arm_goes_to_a_far_target_without_swinging(make, acceleration):
    model, q, tasks = make()
    model = with_rates(model, acceleration=acceleration)
    targets = np.tile(forward_kinematics(model, q)[tasks[0].link], (150, 1, 1, 1))
    targets[5:, 0, :3, 3] += (-0.3, 0.0, 0.1)
    result = track(model, tasks, targets, q)
    assert_inside(result)
    arrived = int(np.argmax(result.converged[5:])) + 5
    assert 5 < arrived < 50 and result.converged[arrived:].all()
    assert (np.diff(result.residuals[6:, 0, 0]) < 1e-5).all()  # nearer in every frame
    assert np.abs(result.motion.v[-1]).max() < 1e-6


@pytest.mark.parametrize("make", [panda, ur5])
@pytest.mark.parametrize("acceleration", [np.inf, 8.0])
def test_a_circle_too_fast_is_caught_up_with(make, acceleration):
    model, q, tasks = make()
    model = with_rates(model, acceleration=acceleration, velocity=1.2)
    fast = circle(model, tasks[0].link, q, 24, turns=1.0)
    slow = circle(model, tasks[0].link, q, 200)
    result = track(model, tasks, np.concatenate([fast, slow]), q)
    assert_inside(result)
    assert_residuals_are_true(result)
    assert not result.converged[5:24].all() and result.converged[60:].all()
    assert result.residuals[:, 0, 0].max() < 0.2  # the diameter


def test_the_singular_wrist_of_a_ur5_is_passed_at_bounded_speed():
    model, _, tasks = ur5()
    q = np.array([0.3, -1.2, 1.5, -1.0, 0.0, 0.2])  # wrist axes parallel
    centre = forward_kinematics(model, q)["tool0"]
    targets = np.tile(centre, (120, 1, 1, 1))
    shift = np.linspace(-0.15, 0.15, 120)
    targets[:, 0, :3, 3] += shift[:, None] * centre[:3, 0] + 0.002 * centre[:3, 1]
    start = np.array([0.3, -1.2, 1.5, -1.0, 0.4, 0.2])
    result = track(model, tasks, targets, start)
    assert_inside(result)
    assert abs(np.diff(result.q, axis=0)).max() <= np.pi / 24 + 1e-9
    assert result.converged[-20:].all()
    assert result.residuals[1:, 0, 0].max() < 0.05


# -- what is reported -------------------------------------------------------------------------------------------------


def test_limit_names_joints_whose_rates_are_the_reason():
    model, q, tasks = ur5()
    targets = circle(model, "tool0", q, 10)
    result = track(model, tasks, targets, q)
    late = [k for k, status in enumerate(result.status) if status is Status.LIMIT]
    assert late
    for k in late:
        diagnosis = result.diagnosis(k)
        assert diagnosis.status is Status.LIMIT and diagnosis.joints and diagnosis.joints[0] in diagnosis.reason
        freed = Tracker(with_rates(model, diagnosis.joints, velocity=np.inf), tasks)
        freed.stand(result.q[k - 1], result.motion.v[k - 1])
        assert freed.step(targets[k]).converged
    assert result.frame(late[0]).joints == result.diagnosis(late[0]).joints


def test_out_of_reach_and_back():
    model, q, tasks = ur5()
    targets = circle(model, "tool0", q, 60)
    targets[20:40, 0, 0, 3] += 5.0
    result = track(model, tasks, targets, q)
    assert_inside(result)
    assert all(status is Status.OUT_OF_REACH for status in result.status[20:40])
    assert result.diagnosis(25).status is Status.OUT_OF_REACH
    assert result.converged[:20].all() and result.converged[-5:].all()


def test_a_conflict_is_found_when_asked():
    model, q, _ = ur5()
    at = forward_kinematics(model, q)["tool0"][:3, 3]
    tasks = [PositionTask("tool0", at, name="here"), PositionTask("tool0", at + np.array([0, 0, 0.05]), name="there")]
    targets = np.tile([task.target for task in tasks], (5, 1, 1, 1))
    result = track(model, tasks, targets, q)
    assert result.status[3] is Status.MAX_ITERATIONS
    assert result.diagnosis(3).status is Status.TASK_CONFLICT and result.diagnosis(3).tasks == ("here", "there")
    assert_residuals_are_true(result)


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_tasks_and_tasks_on_what_cannot_move(backend):
    model, q, _ = panda()
    result = track(model, [], np.zeros((3, 0, 4, 4)), q, backend=backend)
    assert result.status == [Status.EMPTY] * 3 and (result.q == q).all()
    fixed = track(model, [PositionTask("panda_link0", np.zeros(3))], np.tile(np.eye(4), (3, 1, 1)), q, backend=backend)
    assert fixed.converged.all() and (fixed.q == q).all()


# -- pieces -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_pieces_and_single_frames_give_the_bits_of_one_run(backend):
    model = with_rates(panda()[0], acceleration=20.0)
    q, tasks = model.configuration(PANDA_Q), panda()[2]
    targets = circle(model, "panda_hand", q, 45, turns=2.5)  # too fast at times
    whole = track(model, tasks, targets, q, backend=backend)
    assert not whole.converged.all() and whole.converged.any()
    for cuts in ([1, 7, 30, 45], list(range(1, 46))):
        tracker = Tracker(model, tasks, backend=backend)
        parts = [tracker.start(targets[0], q)]
        parts += [tracker.run(targets[a:b]) for a, b in pairwise(cuts)]
        for name in ("q", "codes", "residuals", "iterations", "behind"):
            assert (np.concatenate([getattr(part, name) for part in parts]) == getattr(whole, name)).all()
    tracker = Tracker(model, tasks, backend=backend)
    tracker.start(targets[0], q)
    for k in range(1, 45):
        found = tracker.step(targets[k])
        assert (found.q == whole.q[k]).all() and found.status is whole.status[k]
        assert (found.residual_array == whole.residuals[k]).all() and (tracker.q == whole.q[k]).all()
    np.testing.assert_allclose(tracker.v, whole.motion.v[-1], atol=1e-12)


def test_progress_and_stopping():
    model, q, tasks = panda()
    targets = circle(model, "panda_hand", q, 1000)
    seen: list[tuple[int, int]] = []
    whole = track(model, tasks, targets, q, progress=lambda done, frames: seen.append((done, frames)))
    assert len(whole) == 1000 and seen[0] == (1, 1000) and seen[-1] == (1000, 1000) and len(seen) > 3
    stopped = track(model, tasks, targets, q, progress=lambda done, frames: done < 500)
    assert 500 <= len(stopped) < 1000
    assert (stopped.q == whole.q[: len(stopped)]).all() and len(stopped.motion) == len(stopped)


def test_a_refused_target_leaves_the_tracker_where_it_was():
    model, q, tasks = panda()
    targets = circle(model, "panda_hand", q, 30)
    broken = targets.copy()
    broken[20, 0, :3, :3] *= 1.1
    for backend in BACKENDS:
        tracker = Tracker(model, tasks, backend=backend)
        tracker.start(targets[0], q)
        with pytest.raises(TaskError, match="target of frame 20"):
            tracker.run(broken)
        again = Tracker(model, tasks, backend=backend)
        again.start(targets[0], q)
        assert (tracker.q == again.q).all() and (tracker.run(targets[1:]).q == again.run(targets[1:]).q).all()


def test_restarts_only_at_the_start():
    """From a start that needs restarts, the first frame converges; later frames never leave its posture."""
    model, _, tasks = ur5()
    rng = np.random.default_rng(5)
    goal = random_configuration(model, rng)
    targets = circle(model, "tool0", goal, 100, radius=0.01)
    result = track(model, tasks, targets, random_configuration(model, rng))
    assert result.converged[0] and abs(np.diff(result.q, axis=0)).max() <= np.pi / 24 + 1e-9


# -- both backends ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_the_kernel_equals_the_reference(seed):
    rng = np.random.default_rng(100 + seed)
    model = random_robot(seed, joints=8, root=("fixed", "planar", "floating")[seed % 3])
    rates = [{}, {"velocity": 1.0}, {"velocity": 2.0, "acceleration": 9.0}, {"acceleration": 4.0}][seed % 4]
    model = with_rates(model, **rates)
    links = [str(link) for link in rng.choice(model.link_names[4:], 2, replace=False)]
    tasks = [
        PoseTask(links[0], np.eye(4), offset=random_placement(rng, 0.1), frame="tip" if seed % 2 else "world"),
        PositionTask(links[1], np.zeros(3), weights=(1.0, 0.0, 2.0)),
    ]
    q = wandering(model, 25, seed, step=0.05)
    targets = np.array([[forward_kinematics(model, row)[link] for link in links] for row in q])
    targets[:, 0] = targets[:, 0] @ tasks[0].offset
    native, numpy = (track(model, tasks, targets, q[0], backend=backend) for backend in ("native", "numpy"))
    assert native.problem.backend == "native" and numpy.problem.backend == "numpy"
    assert (native.codes == numpy.codes).all() and (native.iterations == numpy.iterations).all()
    assert (native.behind == numpy.behind).all()
    # Least squares damped by 1e-9 magnify rounding to 1e-7 along ways that no task sees; they add up over frames.
    np.testing.assert_allclose(native.q, numpy.q, atol=1e-6)
    np.testing.assert_allclose(native.residuals, numpy.residuals, atol=1e-7)


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("targets", "match"),
    [
        (np.zeros((0, 1, 4, 4)), "no targets"),
        ([], "no targets"),
        (np.zeros((3, 2, 4, 4)), r"shape \(frames, 1, 4, 4\), not \(3, 2, 4, 4\)"),
        (np.zeros((3, 1, 4, 4)), "target"),
        (np.full((3, 1, 4, 4), np.nan), "finite"),
        ([[np.eye(4)], [np.eye(4), np.eye(4)]], "1 tasks but 2 targets in frame 1"),
        (7, "one set of targets per frame"),
        ([["here"]], "panda_hand"),
    ],
)
def test_bad_targets_are_named(targets, match):
    model, q, tasks = panda()
    with pytest.raises(TaskError, match=match):
        track(model, tasks, targets, q)


def test_other_bad_input():
    model, q, tasks = panda()
    targets = circle(model, "panda_hand", q, 3)
    for dt in (0.0, np.nan, -1.0):
        with pytest.raises(ConfigurationError, match="dt"):
            track(model, tasks, targets, q, dt=dt)
    with pytest.raises(ConfigurationError):
        track(model, tasks, targets, q[:-1])
    with pytest.raises(ConfigurationError, match="velocity"):
        track(model, tasks, targets, q, start_velocity=[1.0])
