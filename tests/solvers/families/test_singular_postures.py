"""Where postures form a continuum: one is told a branch, it meets the pose, and it is near to q0."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics
from robokin_addon.robokin.model.limits import PositionLimits
from robokin_addon.solvers import PoseTask, PositionTask, PostureProblem, all_postures
from support.problems.family_robots import family_robot, screw_robot

GRID = ("ur5", "kr6", "irb140", "puma560", "iiwa", "scara", "planar_3r")


@pytest.mark.parametrize("name", GRID)
@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_quarter_turns(name: str, backend: str) -> None:
    """Joints at whole quarter turns and at their limits: wrists straight, elbows straight, wrists above axis 1."""
    model = family_robot(name)
    link = model.link_names[-1]
    problem = PostureProblem(model, [PoseTask(link, np.eye(4))], backend)
    rng = np.random.default_rng(0)
    several = 0
    for _ in range(300 if backend == "native" else 25):
        q = model.limits.clamp(rng.integers(-2, 3, model.nq) * np.pi / 2.0 * rng.integers(0, 2, model.nq))
        target = forward_kinematics(model, q)[link]
        q0 = model.limits.clamp(rng.uniform(-3, 3, model.nq))
        result = problem.solve([target], q0)
        assert len(result) >= 1
        assert ((result.q >= model.lower) & (result.q <= model.upper)).all()
        for i, own in enumerate(result.q):
            assert abs(forward_kinematics(model, own)[link] - target).max() < 1e-12
            assert (abs(result.q[:i] - own).max(axis=-1) > 1e-7).all()
        if result.continuum.any():
            several += 1
            assert "continuum" in result.remark
        else:
            turned = np.remainder(result.q - q + np.pi, 2.0 * np.pi) - np.pi
            assert abs(turned).max(axis=1).min() < 1e-6
    assert several or name in ("scara", "planar_3r")


@pytest.mark.parametrize("name", ["kr6", "irb140", "puma560"])
def test_a_straight_wrist_is_shared_nearest_to_q0(name: str) -> None:
    """Joints 4 and 6 on one axis: no other pair of values is nearer to q0."""
    model = family_robot(name)
    link = model.link_names[-1]
    rng = np.random.default_rng(1)
    for _ in range(30):
        q = rng.uniform(model.lower, model.upper)
        q[4] = 0.0
        q0 = rng.uniform(model.lower, model.upper)
        target = forward_kinematics(model, q)[link]
        result = all_postures(model, [PoseTask(link, target)], q0)
        straight = abs(result.q[:, 4]) < 1e-6
        assert straight.sum() >= 1
        assert (result.continuum == straight).all()
        for own in result.q[straight]:
            for shift in np.linspace(-2.0 * np.pi, 2.0 * np.pi, 721):
                other = own + shift * np.array([0, 0, 0, 1, 0, -1])
                if ((other >= model.lower) & (other <= model.upper)).all():
                    assert abs(forward_kinematics(model, other)[link] - target).max() < 1e-9
                    assert np.linalg.norm(other - q0) >= np.linalg.norm(own - q0) - 1e-9


def test_limits_of_a_straight_wrist() -> None:
    """Where joint 4 may not be near q0's, joint 6 takes the rest."""
    model = family_robot("kr6")
    lower, upper = model.lower.copy(), model.upper.copy()
    lower[3], upper[3] = 1.0, 1.2
    problem = PostureProblem(model, [PoseTask(model.link_names[-1], np.eye(4))], limits=PositionLimits(lower, upper))
    q = np.array([0.1, -0.5, 0.3, 0.0, 0.0, 0.0])
    target = forward_kinematics(model, q)[model.link_names[-1]]
    result = problem.solve([target], np.zeros(6))
    straight = result.q[abs(result.q[:, 4]) < 1e-6]
    assert straight[0, 3:] == pytest.approx([1.0, 0.0, -1.0], abs=1e-9)
    lower[5], upper[5] = 0.0, 0.5
    assert len(PostureProblem(model, problem.tasks, limits=PositionLimits(lower, upper)).solve([target])) == 0


def test_a_free_joint_is_moved_where_others_need_it() -> None:
    """Wrist above axis 1: with joint 1 as in q0 joint 6 would be outside its limits; another value is found."""
    model = family_robot("irb140")
    link = model.link_names[-1]
    problem = PostureProblem(model, [PoseTask(link, np.eye(4))])
    # The wrist on axis 1: solved for the elbow, the rest is any.
    rng = np.random.default_rng(3)
    above = PositionTask(model.link_names[4], (0.0, 0.0, 0.9))
    pose = all_postures(model, [above]).q[0]
    found = 0
    for _ in range(20):
        pose[3:] = rng.uniform(0.2, 1.0, 3)
        target = forward_kinematics(model, pose)[link]
        lower, upper = model.lower.copy(), model.upper.copy()
        lower[5], upper[5] = pose[5] - 0.3, pose[5] + 0.3
        narrow = PostureProblem(model, problem.tasks, limits=PositionLimits(lower, upper))
        result = narrow.solve([target], model.limits.clamp(pose + np.array([2.0, 0, 0, 0, 0, 0])))
        assert len(result) >= 1 or not result.complete
        found += len(result) >= 1
        for own in result.q:
            assert abs(forward_kinematics(model, own)[link] - target).max() < 1e-9
    assert found > 10


def test_a_folded_arm() -> None:
    """Equal links folded up: the first joint may be any, and keeps q0's value."""
    model = screw_robot(
        np.tile((0.0, 0.0, 1.0), (2, 1)),
        np.array([(0.0, 0.0, 0.0), (0.5, 0.0, 0.0)]),
        np.zeros(2, bool),
        np.array([(1, 0, 0, 1.0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)], float),
        -4.0,
        4.0,
    )
    result = all_postures(model, [PositionTask("tool", (0.0, 0.0, 0.0))], (0.7, 0.0))
    assert len(result) == 1
    assert result.continuum.all()
    assert result.q[0, 0] == pytest.approx(0.7)
    assert abs(result.q[0, 1]) == pytest.approx(np.pi)


def test_slides_in_a_plane() -> None:
    """A turn that brings a slide into the plane of the other two: nothing is claimed to be complete."""
    axis = np.array([(1.0, 0, 0), (0, 1.0, 0), (1.0, 0, 0), (0, 0, 1.0)])
    model = screw_robot(axis, np.zeros((4, 3)), np.array([True, True, False, True]), np.eye(4))
    flat = forward_kinematics(model, np.array([0.1, 0.2, np.pi / 2, 0.0]))["tool"]
    result = all_postures(model, [PoseTask("tool", flat)])
    assert not result.complete
    assert result.remark
    fine = forward_kinematics(model, np.array([0.1, 0.2, 0.3, 0.1]))["tool"]
    result = all_postures(model, [PoseTask("tool", fine)])
    assert result.complete
    assert result.q[0] == pytest.approx([0.1, 0.2, 0.3, 0.1])
