"""Targets that are dragged among obstacles: measured anew, each pose keeps the margin, and no way leads through
anything."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics
from robokin_addon.solvers import ClearanceTask, IKProblem, PoseTask, PositionTask, Status
from robokin_addon.solvers.posing.clear import ClearFollower
from robokin_addon.solvers.posing.follow import TargetFollower
from support.problems.obstructed import random_scene

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
