"""Ranges of angles that do not hold 0, and ranges of several turns, in every solver."""

from __future__ import annotations

import math

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, clamp, forward_kinematics, in_limits, random_configuration
from robokin_addon.robokin.backend import get_backend
from robokin_addon.solvers import IKProblem, PoseTask, track, velocity_step
from support.random_problems.random_trees import random_placement

RANGES = ((7.0, 20.0), (-19.0, -12.5), (2.0, 3.0), (-0.5, 30.0), (100.0, 104.0), (6.0, 6.2), (1.0, math.inf))


def arm(seed: int, velocity: float = np.inf) -> RobotModel:
    rng = np.random.default_rng(seed)
    joints = []
    for i, (lower, upper) in enumerate(rng.permutation(RANGES)):
        kind = "prismatic" if i == 3 else "revolute"
        span = (0.3, 0.6) if i == 3 else (lower, upper)
        place = random_placement(rng, 0.3)
        joints.append(
            Joint(f"joint{i}", kind, f"link{i}", f"link{i + 1}", place, rng.normal(size=3), *span, velocity=velocity)
        )
    return RobotModel(f"ranges{seed}", [Link(f"link{i}") for i in range(len(RANGES) + 1)], joints)


def test_clamping_goes_to_the_nearest_end():
    model = arm(0)
    q = clamp(model, np.zeros(model.nq))
    np.testing.assert_array_equal(q, np.minimum(np.maximum(0.0, model.lower), model.upper))
    assert in_limits(model, q) and not in_limits(model, np.zeros(model.nq))


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_targets_inside_such_ranges_are_met_inside_them(backend):
    met = count = 0
    for seed in range(8 if backend == "native" else 1):
        model, rng = arm(seed), np.random.default_rng(seed)
        tip, q = model.links[-1].name, np.array([random_configuration(model, rng) for _ in range(125)])
        q = q if backend == "native" else q[:5]
        targets = get_backend("native").frame_placements(model.tree, q)[:, [model.link_index(tip)]]
        problem = IKProblem(model, [PoseTask(tip, np.eye(4))], backend=backend)
        assert in_limits(model, problem.middle)
        result = problem.solve_batch(np.ascontiguousarray(targets))
        assert model.limits.contain(result.q).all()
        met, count = met + result.converged.sum(), count + len(q)
    assert met >= 0.999 * count


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("given", [True, False])
def test_a_way_inside_such_ranges_is_tracked_inside_them(seed, given):
    model, rng = arm(seed, velocity=2.0), np.random.default_rng(seed)
    tip, middle = model.links[-1].name, IKProblem(model, []).middle
    start, end = (middle + 0.3 * (clamp(model, random_configuration(model, rng)) - middle) for _ in range(2))
    end = start + np.clip(end - start, -1.5, 1.5)
    way = [(1 - s) * start + s * end for s in np.linspace(0.0, 1.0, 60)]
    targets = np.array([[forward_kinematics(model, q)[tip]] for q in way])
    result = track(model, [PoseTask(tip, np.eye(4))], targets, start if given else None)
    assert model.limits.contain(result.q).all() and result.converged.all()
    assert (abs(result.motion.v) <= 2.0).all()


def test_steps_stay_inside_such_ranges_and_come_back_from_outside():
    model, rng = arm(1, velocity=2.0), np.random.default_rng(1)
    tip, q = model.links[-1].name, random_configuration(model, rng)
    task = PoseTask(tip, forward_kinematics(model, random_configuration(model, rng))[tip])
    for _ in range(30):
        q = q + velocity_step(model, q, [task], dt=0.05, damping=1e-4).v * 0.05
        assert in_limits(model, q)
    outside = np.zeros(model.nq)
    step = velocity_step(model, outside, [task], dt=0.05).v
    below = model.lower > 0.1
    np.testing.assert_allclose(step[below], 2.0, rtol=1e-6)
