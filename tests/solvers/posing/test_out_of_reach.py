"""A hand that follows a target which nothing reaches: the best legal pose of each level, without steps in vain."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, in_limits, load_urdf
from robokin_addon.solvers import IKProblem, OrientationTask, PoseTask, PositionTask
from robokin_addon.solvers.posing.follow import ATTEMPTS, ITERATIONS, TargetFollower
from support.robots import robot

FEET, HANDS = ("left_sole_link", "right_sole_link"), ("gripper_left_base_link", "gripper_right_base_link")
BENT = {"leg_left_4_joint": 0.6, "leg_right_4_joint": 0.6, "arm_left_4_joint": -1.2, "arm_right_4_joint": -1.2}
FAR, MOVES = 9.0, 24
ITERATIONS_OF_ALL = 1280  # of 20 moves; 1358 where shorter and shorter steps were tried though each was worse


def humanoid(backend: str, moves: int):
    """Of a Talos on its feet, which leads a hand around far off: (result, its problem, its targets) of each move."""
    model = load_urdf(robot("talos_reduced"), root="floating")
    q = model.neutral()
    for name, angle in BENT.items():
        q[model.slot(name).q] = angle
    tasks = [
        *(PoseTask(foot, np.eye(4)) for foot in FEET),
        PoseTask(HANDS[0], np.eye(4), priority=2),
        PositionTask(HANDS[1], np.zeros(3), priority=3),
        OrientationTask("head_2_link", np.eye(3), priority=4),
    ]
    problem = IKProblem(model, tasks, (), backend, ATTEMPTS, ITERATIONS)
    follower, placed = TargetFollower(problem), forward_kinematics(model, q)
    for angle in 2.0 * np.pi * np.arange(moves) / MOVES:
        targets = [placed[task.link].copy() for task in tasks]
        targets[2][:3, 3] += FAR, 0.05 * np.cos(angle), 0.05 * np.sin(angle)
        found = follower.solve(targets, q)
        q = found.q
        yield found, problem, targets


def test_each_pose_is_legal_and_as_near_as_further_solves_come():
    iterations = []
    for found, problem, targets in humanoid("native", MOVES):
        assert in_limits(problem.model, found.q) and not found.converged
        assert (found.residual_array[:2] <= problem.tolerance[:2]).all()
        further = found
        for _ in range(5):
            further = problem.solve(targets, further.q, diagnose=False)
        missed, least = found.residual_array[2], further.residual_array[2]
        assert missed[0] <= least[0] * (1.0 + 1e-4)
        iterations.append(found.iterations)
    assert sum(iterations[4:]) < ITERATIONS_OF_ALL


@pytest.mark.slow
def test_both_backends_find_the_same():
    for native, reference in zip(humanoid("native", 2), humanoid("numpy", 2), strict=True):
        assert native[0].iterations == reference[0].iterations
        assert native[0].q == pytest.approx(reference[0].q, abs=1e-6)
