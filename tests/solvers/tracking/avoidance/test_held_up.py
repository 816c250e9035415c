"""Robots that something holds up: they follow their tasks as far as it lets them, and come to rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.properties.bridge.visuals.mesh_hulls import mesh_hull
from robokin_addon.robokin import RobotModel, forward_kinematics, integrate, library_robot, load_urdf
from robokin_addon.robokin.arrays import Array
from robokin_addon.robokin.collision import CollisionModel, Cylinder, Obstacle, Sphere
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


@pytest.mark.parametrize(
    ("post", "goal"),
    [((0.565, -0.496), (1.293, -0.773, 0.932)), ((0.697, -0.242), (1.904, -0.653, -0.055))],
)
def test_a_robot_before_an_obstacle_comes_to_rest(post: tuple[float, float], goal: tuple[float, float, float]) -> None:
    """A wheeled base has to go round a post: what leads it there and what keeps it away turned its arm to and fro."""
    model = library_robot("mobile_arm")
    links = [replace(each, collisions=each.collisions or each.visuals) for each in model.links]
    model = RobotModel(model.name, links, model.joints[1:], "wheeled", model.drive)
    q = model.limits.middle(model.neutral())
    q[3:9] = 0.3, -1.8, 1.7, -1.2, -1.5, 0.3
    place = np.eye(4)
    place[:3, 3] = *post, 0.75
    own = CollisionModel(model, hull=mesh_hull)
    off = [*own.touching_at_rest(), *own.always_near(MARGIN)]
    apart = CollisionModel(model, [Obstacle("post", Cylinder(0.15, 1.5), place)], off, mesh_hull)
    found = moved(model, "tool", apart, q, np.array(goal), 240)
    assert abs(np.diff(found.q[-30:], axis=0)).max() < 1e-6
    if not found.converged[-1]:
        assert found.status[-1].name == "COLLISION"


def test_other_influences_wake_a_robot_that_rests() -> None:
    """Two targets that stand still, of which one counts and then the other, as if they moved."""
    model = library_robot("panda")
    q = model.limits.middle(model.neutral())
    place = np.eye(4)
    place[:3, 3] = 2.0, 0.0, 0.0
    far = CollisionModel(model, [Obstacle("ball", Sphere(0.1), place)])
    here = forward_kinematics(model, q)["tool"][:3, 3]
    first, second = here + np.array([0.0, 0.2, 0.0]), here - np.array([0.0, 0.2, 0.1])
    tracker = tracker_of(model, [PositionTask("tool", each) for each in (first, second)] + [ClearanceTask(far)], DT)
    tracker.stand(q)
    counts = (np.arange(200) // 20) % 2 == 0
    shares = np.column_stack((counts, ~counts, np.ones(200, bool))).astype(float)
    found = tracker.run(tracker.check_targets([[first, second, None]] * 200), shares)
    places = np.array([forward_kinematics(model, each)["tool"][:3, 3] for each in found.q[19::20]])
    assert np.allclose(places[0::2], first, rtol=0.0, atol=1e-3)
    assert np.allclose(places[1::2], second, rtol=0.0, atol=1e-3)
