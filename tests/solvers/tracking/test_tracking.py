"""Tracking: targets are followed inside all limits at every frame."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics, load_urdf, random_configuration
from robokin_addon.solvers import AxisTask, PoseTask, PositionTask
from robokin_addon.solvers.tracking.track import track
from support.few import rest_slow
from support.problems.limits import with_rates
from support.problems.tracked import (
    BACKENDS,
    PANDA_Q,
    UR5_Q,
    assert_inside,
    assert_residuals_are_true,
    circle,
    panda,
    ur5,
)
from support.random_problems.random_trees import random_placement, random_robot
from support.robots import robot


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


@pytest.mark.parametrize(
    ("backend", "seed", "frames"),
    [
        *(("native", seed, 120) for seed in range(6)),
        *rest_slow([("numpy", seed, 16) for seed in (1, 2, 0, 3, 4, 5)], 2),
        *rest_slow([("native", seed, 600) for seed in range(6)], 0),
    ],
)
def test_random_robots_chased_across_their_workspace_keep_every_limit(backend, seed, frames):
    rng = np.random.default_rng(seed)
    rates = [{}, {"velocity": 1.5}, {"velocity": 2.0, "acceleration": 5.0}, {"acceleration": 2.0}][seed % 4]
    model = with_rates(random_robot(seed, joints=8, root=("fixed", "planar", "floating")[seed % 3]), **rates)
    links = rng.choice(model.link_names[4:], 2, replace=False)
    tasks = [PoseTask(str(links[0]), np.eye(4)), PositionTask(str(links[1]), np.zeros(3))]
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
    tasks, found = [PoseTask("ship", np.eye(4))], []
    for backend, frames in (("native", 200), ("numpy", 50)):
        found.append(track(model, tasks, targets[:frames], model.neutral(), backend=backend))
        assert_inside(found[-1])
        position = found[-1].q[:, 1:4]
        assert ((position == model.lower[1:4]) | (position == model.upper[1:4])).any(axis=1).sum() > frames // 4
    np.testing.assert_allclose(found[0].q[:50], found[1].q, atol=1e-7)


@pytest.mark.parametrize("backend", BACKENDS)
def test_start_velocity_is_kept_or_braked(backend):
    model = with_rates(panda()[0], acceleration=2.0)
    q, tasks = model.configuration(PANDA_Q), panda()[2]
    targets = np.tile(forward_kinematics(model, q)["panda_hand"], (40 if backend == "numpy" else 90, 1, 1, 1))
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


def elbow_arm(lower: float, upper: float) -> RobotModel:
    """A shoulder of three axes, an upper arm and a forearm that hang straight down at zero."""
    down = np.eye(4)
    down[2, 3] = -0.35
    axes = {"swing": [0, 1, 0], "lift": [1, 0, 0], "twist": [0, 0, 1]}
    links, joints = [Link("base")], []
    for name, axis in axes.items():
        joints.append(Joint(name, "revolute", links[-1].name, name, axis=axis, lower=-2.5, upper=2.5, velocity=3.0))
        links.append(Link(name, 1.0))
    elbow = Joint("elbow", "revolute", "twist", "forearm", down, [0, 1, 0], lower, upper, velocity=3.0)
    links += [Link("forearm", 1.0), Link("hand")]
    return RobotModel("arm", links, [*joints, elbow, Joint("wrist", "fixed", "forearm", "hand", down)])


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize(("lower", "upper"), [(-2.2, 0.05), (-2.2, 0.4), (-0.4, 2.2), (-2.2, 2.2)])
def test_a_straight_elbow_bends_to_the_side_on_which_there_is_room(lower: float, upper: float, backend: str) -> None:
    model, q = elbow_arm(lower, upper), np.array([0.4, -0.3, 0.2, 0.0])
    hand = forward_kinematics(model, q)["hand"][:3, 3]
    share = 1.0 - 0.3 * np.linspace(0.0, 1.0, 49) ** 2
    found = track(model, [PositionTask("hand", hand)], [[hand * each] for each in share], q, backend=backend)
    assert found.converged.all() and abs(found.q[-1, 3]) > 1.0
