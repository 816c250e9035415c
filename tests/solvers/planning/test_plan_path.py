"""Ways between two postures: free at every instant as coal measures it, inside limits, the same each time, or none."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    Joint,
    Link,
    RobotModel,
    forward_kinematics,
    library_robot,
    load_urdf,
)
from robokin_addon.robokin.collision import Box, CollisionModel, Obstacle, Sphere
from robokin_addon.robokin.collision.approach import Reaches
from robokin_addon.robokin.model.geometry import Geometry
from robokin_addon.solvers import Motion, PositionTask, check_motion, plan_path, read_motion, solve_ik
from robokin_addon.solvers.trajectories.motion_limits import MotionLimits
from support.command import run
from support.oracles.coal_oracle import least_distances
from support.problems.obstructed import around_a_post, at, panda_among_boxes, planar_arm, planar_urdf
from support.random_problems.random_trees import random_robot
from support.robots import robot

TOLERANCE = 2e-5  # of coal


def keeps(plan, collisions, margin: float, q0, q1) -> None:
    """What a plan claims, at many more places than were looked at."""
    times = np.linspace(0.0, plan.motion.duration, 400)
    q, v, a = plan.motion.sample(times)
    np.testing.assert_allclose(q[[0, -1]], [q0, q1], atol=1e-12)
    assert least_distances(collisions, q).min() >= margin - TOLERANCE
    bound = MotionLimits.of(collisions.model)
    assert (abs(v) <= bound.velocity * (1.0 + 1e-6)).all() and (abs(a) <= bound.acceleration * (1.0 + 1e-6)).all()
    assert collisions.model.limits.contain(q).all()


@pytest.mark.parametrize("seed", range(2))
def test_an_arm_goes_around_a_post(seed: int) -> None:
    collisions, q0, q1 = around_a_post()
    straight = np.linspace(q0, q1, 50)
    assert max(contact.depth for contact in collisions.contacts(straight)) > 0.05
    plan = plan_path(collisions.model, collisions, q0, q1, seed=seed)
    assert plan.found and 0 < plan.drawn < 1000 and len(plan.path) > 2
    keeps(plan, collisions, 0.005, q0, q1)
    again = plan_path(collisions.model, collisions, q0, q1, seed=seed)
    assert (again.path == plan.path).all() and again.motion.duration == plan.motion.duration


def test_a_panda_reaches_over_a_wall_and_below_a_shelf() -> None:
    collisions = panda_among_boxes()
    model = collisions.model
    start = model.limits.middle(model.neutral())
    q0, q1 = (solve_ik(model, [PositionTask("tool", [0.45, y, 0.2])], start).q for y in (0.35, -0.35))
    assert collisions.contacts(np.linspace(q0, q1, 30))
    plan = plan_path(model, collisions, q0, q1)
    assert plan.found
    keeps(plan, collisions, 0.005, q0, q1)


def test_where_there_is_no_way_the_budget_is_reported() -> None:
    arm = planar_arm(2)
    bars = [Obstacle(f"bar {y}", Sphere(0.3), at(0.3, y)) for y in (-0.5, 0.5)]  # on both sides of the first link
    collisions = CollisionModel(arm, bars)
    plan = plan_path(arm, collisions, np.zeros(2), np.array([np.pi - 0.1, 0.0]), budget=30)
    assert not plan.found and plan.motion is None and plan.drawn == 30 and "30 configurations" in plan.reason


def test_an_end_that_is_too_near_is_named() -> None:
    collisions, q0, q1 = around_a_post()
    inside = np.array([np.arctan2(0.9, 1.2), 0.0, 0.0])
    plan = plan_path(collisions.model, collisions, q0, inside)
    assert not plan.found and "at the end" in plan.reason and "m deep in post" in plan.reason
    plan = plan_path(collisions.model, collisions, q0, q1, margin=0.9)
    assert not plan.found and "at the start" in plan.reason and "m from post" in plan.reason
    assert plan_path(collisions.model, collisions, q0, q0).motion.duration == 0.0


def test_a_tool_goes_through_a_window() -> None:
    """A gantry with a turning blade that only fits upright."""
    blade = Link("blade", collisions=(Geometry(Box((0.02, 0.5, 0.5))),))
    base = Link("base")
    joints = [
        Joint("x", "prismatic", "base", "a", axis=[1, 0, 0], lower=-1, upper=1),
        Joint("y", "prismatic", "a", "b", axis=[0, 1, 0], lower=-1, upper=1),
        Joint("turn", "revolute", "b", "blade", axis=[0, 0, 1], lower=-2, upper=2),
    ]
    model = RobotModel("gantry", [base, Link("a"), Link("b"), blade], joints)
    wall = [Obstacle(f"wall {y}", Box((0.1, 1.5, 1.0)), at(0.0, y)) for y in (-0.9, 0.9)]  # a gap of 0.3 m
    collisions = CollisionModel(model, wall)
    q0, q1 = np.array([-0.6, 0.4, 0.0]), np.array([0.6, -0.4, 0.0])
    plan = plan_path(model, collisions, q0, q1)
    assert plan.found
    keeps(plan, collisions, 0.005, q0, q1)


def test_no_point_approaches_faster_than_is_said() -> None:
    """Joints of every kind: the distance of each pair changes less than the bound allows."""
    rng = np.random.default_rng(4)
    for seed in range(6):
        model = random_robot(seed, root="floating" if seed % 2 else "fixed")
        links = [
            dataclasses.replace(link, collisions=(Geometry(Sphere(0.05), at(*rng.normal(size=3))),))
            for link in model.links
        ]
        model = RobotModel("tree", links, [j for j in model.joints if j.parent is not None], model.root)
        collisions = CollisionModel(model, [Obstacle("ball", Sphere(0.1), at(1.0))])
        low, high = np.full(model.nq, -2.0), np.full(model.nq, 2.0)
        approach = Reaches(collisions).approach(low, high)
        q = rng.uniform(-1.0, 1.0, model.nq)
        way = 0.02 * rng.normal(size=model.nq)
        for start in model.tree.quaternions:
            q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
        c = np.stack((q, way, 0.1 * way, -0.1 * way))
        t = np.linspace(0.0, 1.0, 40)[:, None]
        samples = c[0] + t * (c[1] + t * (c[2] + t * c[3]))
        for start in model.tree.quaternions:
            samples[:, start : start + 4] /= np.linalg.norm(samples[:, start : start + 4], axis=1)[:, None]
        values = collisions.distances(samples)[0][..., 0]
        rates = approach.rates(c, 1.0)
        assert (abs(np.diff(values, axis=0)) * 39.0 <= rates * (1.0 + 1e-6) + 1e-9).all()
        assert len(rates) and np.isfinite(rates).all()


def test_a_slide_carries_a_shape_away_from_the_axis_that_turns_it() -> None:
    hand = Link("hand", collisions=(Geometry(Sphere(0.1)),))
    joints = [
        Joint("turn", "revolute", "base", "arm", axis=[0, 0, 1], lower=-3, upper=3),
        Joint("out", "prismatic", "arm", "hand", axis=[1, 0, 0], lower=0, upper=5),
    ]
    model = RobotModel("boom", [Link("base"), Link("arm"), hand], joints)
    collisions = CollisionModel(model, [Obstacle("post", Sphere(0.1), at(0.0, 9.0))])
    approach = Reaches(collisions).approach(model.lower, model.upper)
    turning = np.array([[0.0, 5.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    assert approach.rates(turning, 1.0) == pytest.approx([5.1])


def test_what_cannot_be_planned_is_refused() -> None:
    collisions, q0, q1 = around_a_post()
    arm = collisions.model
    for words, arguments in (
        ("margin", {"margin": -1.0}),
        ("resolution", {"resolution": 0.0}),
        ("budget", {"budget": 1.5}),
        ("seed", {"seed": -1}),
    ):
        with pytest.raises(ConfigurationError, match=words):
            plan_path(arm, collisions, q0, q1, **arguments)
    with pytest.raises(ConfigurationError, match="q1: outside their position limits: j0, j1, j2"):
        plan_path(arm, collisions, q0, q1 + 9.0)
    moving = CollisionModel(arm, [Obstacle("door", Sphere(0.1), np.tile(np.eye(4), (3, 1, 1)))])
    with pytest.raises(ConfigurationError, match="'door' moves"):
        plan_path(arm, moving, q0, q1)
    cart = library_robot("mobile_arm")
    there = cart.limits.middle(cart.neutral())
    gone = there.copy()
    gone[0] += 1.0
    meshes = load_urdf(robot("xarm7"))
    unknown = CollisionModel(meshes, [Obstacle("box", Box((0.5, 0.5, 0.5)), at(0.3, 0.0, 0.3))])
    with pytest.raises(ConfigurationError, match=r"the meshes of link_base, .* are left out"):
        plan_path(meshes, unknown, meshes.neutral(), meshes.neutral())
    with pytest.raises(ConfigurationError, match="wheeled base"):
        plan_path(cart, CollisionModel(cart), there, gone)


def test_as_a_command(tmp_path, capsys) -> None:
    robot, world, out = tmp_path / "arm.urdf", tmp_path / "world.urdf", tmp_path / "motion.csv"
    robot.write_text(planar_urdf(3))
    shape = '<collision><geometry><cylinder radius="0.1" length="1"/></geometry></collision>'
    joint = '<parent link="floor"/><child link="post"/><origin xyz="1.2 0.9 0"/>'
    links = f'<link name="floor"/><link name="post">{shape}</link>'
    world.write_text(f'<robot name="world">{links}<joint name="stands" type="fixed">{joint}</joint></robot>')
    given = ("plan", robot, "--obstacles", world, "--q1", '{"j0": 1.5, "j1": 0.2}', "-o", out)
    report = tmp_path / "plan.json"
    assert run(capsys, *given, "--json", report).code == 0
    assert json.loads(report.read_text())["found"]
    collisions, q0, q1 = around_a_post()
    motion = read_motion(out, collisions.model)
    np.testing.assert_allclose(motion.q[[0, -1]], [q0, q1], atol=1e-9)
    assert least_distances(collisions, motion.q).min() >= 0.005 - TOLERANCE
    assert not [v for v in check_motion(motion, collisions=collisions).violations if v.kind == "collision"]
    assert run(capsys, *given, "--margin", "0.06", "--velocity", "0.2", "--q0", '{"j2": 0.1}').code == 0
    motion = read_motion(out, collisions.model)
    np.testing.assert_allclose(motion.q[[0, -1], 2], 0.1, atol=1e-9)  # what the end does not name stays
    assert least_distances(collisions, motion.q).min() >= 0.06 - TOLERANCE
    assert 0.19 < abs(motion.v).max() <= 0.2 * (1.0 + 1e-6)
    out.unlink()
    outcome = run(capsys, *given, "--budget", "1")
    assert outcome.code == 1 and "no path" in outcome.out and not out.exists()
    assert run(capsys, "plan", robot, "--q1", "{}", "-o", tmp_path / "motion.txt").refused("motion.txt")
    assert run(capsys, *given, "--margin", "-1").refused("--margin")
    assert run(capsys, *given, "--q1", '{"j1": 50}').refused("outside their position limits: j1")
    assert isinstance(motion, Motion) and forward_kinematics(collisions.model, q0)["l2"][0, 3] == 2.0


def test_the_jerk_is_refused() -> None:
    collisions, q0, q1 = around_a_post()
    with pytest.raises(ConfigurationError, match="not the jerk"):
        plan_path(collisions.model, collisions, q0, q1, {"jerk": 5.0})
