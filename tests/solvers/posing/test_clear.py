"""Targets that are dragged among obstacles: measured anew, each pose keeps the margin, and no way leads through
anything."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics, read_urdf_text
from robokin_addon.robokin.collision import Box, Capsule, CollisionModel, Obstacle
from robokin_addon.robokin.collision.free_path import line, places
from robokin_addon.robokin.configuration import beside
from robokin_addon.robokin.model.geometry import Geometry
from robokin_addon.robokin.spatial import quaternion
from robokin_addon.solvers import ClearanceTask, IKProblem, PoseTask, PositionTask, Status
from robokin_addon.solvers.posing.clear import ClearFollower
from robokin_addon.solvers.posing.follow import TargetFollower
from support.problems.obstructed import at, planar_urdf, random_scene

MARGIN, FRAMES = 0.01, 40


def dragged(collisions, kind, targets, q0):
    """Poses, and what was said of them."""
    tasks = [PoseTask("tool", targets[0]) if targets[0].ndim == 2 else PositionTask("tool", targets[0])]
    problem = IKProblem(collisions.model, tasks, attempts=1, iterations=10)
    clearance = ClearanceTask(collisions, MARGIN)
    follower = ClearFollower(problem, clearance, 1, 10) if kind is ClearFollower else kind(problem)
    q, found = q0, []
    for target in targets[1:]:
        found.append(follower.solve([target], q))
        q = found[-1].q
    return np.array([q0, *(each.q for each in found)]), [each.status for each in found]


@pytest.mark.parametrize("seed", range(6))
def test_no_way_leads_through_anything(seed):
    collisions, q0, q1 = random_scene(np.random.default_rng(seed))
    first, last = (forward_kinematics(collisions.model, q)["tool"] for q in (q0, q1))
    targets = np.tile(first, (FRAMES + 1, 1, 1))
    targets[:, :3, 3] += np.linspace(0.0, 1.0, FRAMES + 1)[:, None] * (last[:3, 3] - first[:3, 3])
    wanted = list(targets) if seed % 2 else [T[:3, 3] for T in targets]
    poses, said = dragged(collisions, ClearFollower, wanted, q0)
    places = np.concatenate([a + np.linspace(0, 1, 20)[:, None] * (b - a) for a, b in itertools.pairwise(poses)])
    assert collisions.distances(poses)[0][..., 0].min() >= MARGIN - 1e-4
    assert collisions.distances(places)[0][..., 0].min() >= 0.3 * MARGIN
    plain, _ = dragged(collisions, TargetFollower, wanted, q0)
    if collisions.distances(plain)[0][..., 0].min() < 0.0:  # without, it goes through
        assert abs(poses - plain).max() > 1e-3 or Status.COLLISION in said


def along(collisions, q, there, obstacles=None):
    """[m] the least distance on a straight way, at 4000 places."""
    path = line(q, beside(collisions.model, q, there))
    q = places(collisions.model, path, np.linspace(0.0, 1.0, 4000))
    return collisions.distances(q, obstacles=obstacles)[0][..., 0].min()


@pytest.mark.parametrize("margin", [0.01, 0.002])
def test_a_wall_thinner_than_a_step_is_not_passed(margin):
    """A target jumps to the other side of a wall of 1 mm; the arm's capsules have a radius of 4 mm."""
    arm = read_urdf_text(planar_urdf(2).replace('radius="0.05"', 'radius="0.004"'))
    collisions, wall = CollisionModel(arm, [Obstacle("wall", Box((0.2, 0.001, 0.4)), at(9.0))]), at(1.95)[None]
    for angle in np.linspace(0.02, 0.6, 12):
        q, tip = np.array([-angle, 0.0]), forward_kinematics(arm, np.array([angle + 0.013, 0.0]))["l1"][:3, 3]
        problem = IKProblem(arm, [PositionTask("l1", tip)], attempts=1, iterations=10)
        follower = ClearFollower(problem, ClearanceTask(collisions, margin), 1, 10)
        follower.obstacles = wall
        found = follower.solve([tip], q)
        needed = min(0.5 * margin, collisions.distances(q[None], obstacles=wall)[0][..., 0].min() - 1e-4)
        assert along(collisions, q, found.q, wall) >= needed


@pytest.mark.parametrize("margin", [0.0, 1e-6])
def test_what_rounding_has_in_a_wall_does_not_pass_it(margin):
    arm = read_urdf_text(planar_urdf(2).replace('radius="0.05"', 'radius="0.004"'))
    collisions = CollisionModel(arm, [Obstacle("wall", Box((0.2, 0.001, 0.4)), at(0.75, 0.0045 - 5e-6))])
    q, there = np.zeros(2), forward_kinematics(arm, np.array([0.05, 0.0]))["l1"][:3, 3]
    assert -1e-5 < collisions.distances(q[None])[0][..., 0].min() < 0.0
    problem = IKProblem(arm, [PositionTask("l1", there)], attempts=1, iterations=10)
    found = ClearFollower(problem, ClearanceTask(collisions, margin), 1, 10).solve([there], q)
    assert found.status is Status.COLLISION
    assert along(collisions, q, found.q) >= -1e-4


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_flies_does_not_turn_through_a_rod(sign):
    drone = Link("drone", collisions=(Geometry(Capsule(0.004, 1.0), lying()),))
    model = RobotModel("drone", [Link("world"), drone], [Joint("flight", "floating", "world", "drone")])
    collisions = CollisionModel(model, [Obstacle("rod", Capsule(0.001, 1.0), at(0.3, 0.3))])
    turned = np.eye(4)
    turned[:3, :3] = quaternion.to_matrix(quaternion.exp(np.array([0.0, 0.0, 1.6])))
    q = sign * model.neutral()
    problem = IKProblem(model, [PoseTask("drone", turned)], attempts=1, iterations=20)
    assert along(collisions, q, problem.solve([turned], q, 0, False).q) < 0.0
    follower = ClearFollower(problem, ClearanceTask(collisions, 0.01), 1, 20)
    assert along(collisions, q, follower.solve([turned], q).q) >= 0.005
    follower.obstacles = at(0.3, 0.6)[None]
    assert follower.solve([turned], q).converged


def lying():
    """A turn that takes z to x."""
    return np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
