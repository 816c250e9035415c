"""Robots that something holds up: they follow their tasks as far as it lets them, and come to rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.properties.bridge.visuals.mesh_hulls import mesh_hull
from robokin_addon.robokin import RobotModel, forward_kinematics, integrate, library_robot, load_urdf
from robokin_addon.robokin.arrays import Array
from robokin_addon.robokin.collision import CollisionModel, Cylinder, Obstacle
from robokin_addon.solvers import ClearanceTask, PositionTask, track
from robokin_addon.solvers.tracking.avoidance.avoiding import tracker_of
from robokin_addon.solvers.tracking.result import TrackResult
from support.robots import robot

DT = 1.0 / 24.0
MARGIN = 0.005  # [m]
# What is nearer than the margin at first: feet, a shoulder and its elbow, and thighs that are deep in each other.
TOO_NEAR = [
    ("talos_full_v2_box", "gripper_left_fingertip_1_link"),
    ("baxter", "r_gripper_l_finger_tip"),
    ("icub", "l_gripper"),
]


def moved(model: RobotModel, tip: str, apart: CollisionModel, q: Array, goal: Array, frames: int) -> TrackResult:
    """The tip is asked for a place at once."""
    here = forward_kinematics(model, q)[tip][:3, 3]
    tasks = [PositionTask(tip, here), ClearanceTask(apart, margin=MARGIN)]
    return track(model, tasks, [[here, None]] + [[goal, None]] * frames, q, DT)


@pytest.mark.parametrize(("name", "tip"), TOO_NEAR)
def test_what_starts_too_near_follows_its_tasks(name: str, tip: str) -> None:
    """What no motion leads out of the margin holds up nothing that brings it no nearer."""
    model = load_urdf(robot(name))
    q = model.limits.middle(model.neutral())
    own = CollisionModel(model, hull=mesh_hull)
    apart = CollisionModel(model, (), [*own.touching_at_rest(), *own.always_near(MARGIN)], mesh_hull)
    assert apart.nearest(q, MARGIN) is not None
    there = model.limits.clamp(integrate(model, q, 0.25 * np.random.default_rng(0).normal(size=model.nv)))
    found = moved(model, tip, apart, q, forward_kinematics(model, there)[tip][:3, 3], 60)
    assert found.residuals[-1, 0, 0] < 1e-3
    before, after = (apart.nearest(each, MARGIN) for each in (q, found.q[-1]))
    assert after is None or before is None or after.distance > before.distance - 1e-3


def before_a_post(post: tuple[float, float]) -> tuple[RobotModel, Array, CollisionModel]:
    """A wheeled base that has to go round it."""
    model = library_robot("mobile_arm")
    links = [replace(each, collisions=each.collisions or each.visuals) for each in model.links]
    model = RobotModel(model.name, links, model.joints[1:], "wheeled", model.drive)
    q = model.limits.middle(model.neutral())
    q[3:9] = 0.3, -1.8, 1.7, -1.2, -1.5, 0.3
    place = np.eye(4)
    place[:3, 3] = *post, 0.75
    own = CollisionModel(model, hull=mesh_hull)
    off = [*own.touching_at_rest(), *own.always_near(MARGIN)]
    return model, q, CollisionModel(model, [Obstacle("post", Cylinder(0.15, 1.5), place)], off, mesh_hull)


@pytest.mark.parametrize(
    ("post", "goal"),
    [((0.565, -0.496), (1.293, -0.773, 0.932)), ((0.697, -0.242), (1.904, -0.653, -0.055))],
)
def test_a_robot_before_an_obstacle_comes_to_rest(post: tuple[float, float], goal: tuple[float, float, float]) -> None:
    """What leads it there and what keeps it away turned its arm to and fro."""
    model, q, apart = before_a_post(post)
    found = moved(model, "tool", apart, q, np.array(goal), 240)
    assert abs(np.diff(found.q[-30:], axis=0)).max() < 1e-6
    if not found.converged[-1]:
        assert found.status[-1].name == "COLLISION"


def test_another_influence_wakes_a_robot_that_rests() -> None:
    """Of two targets that stand still one is behind a post, and then the other counts."""
    model, q, apart = before_a_post((0.565, -0.496))
    here = forward_kinematics(model, q)["tool"][:3, 3]
    behind, free = np.array([1.293, -0.773, 0.932]), here + np.array([-0.3, 0.0, 0.0])
    tasks = [PositionTask("tool", behind), PositionTask("tool", free), ClearanceTask(apart, margin=MARGIN)]
    tracker = tracker_of(model, tasks, DT)
    tracker.stand(q)
    shares = np.repeat([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], 240, axis=0)
    found = tracker.run(tracker.check_targets([[behind, free, None]] * 480), shares)
    assert abs(np.diff(found.q[210:240], axis=0)).max() < 1e-6
    assert found.converged[-1]
    assert found.residuals[-1, 1, 0] < 1e-3
