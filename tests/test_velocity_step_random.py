"""Random robots that chase random tasks step by step: finite, inside all limits, honest about what they lack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, difference, integrate, random_configuration
from robokin_addon.solvers import Task, VelocityProblem
from robokin_addon.solvers.criteria import Criterion
from robokin_addon.solvers.criteria.kinds import KINDS
from support.random_tasks import random_task
from support.random_trees import random_robot

STEPS = 100


def _robot(seed: int, rng: np.random.Generator) -> RobotModel:
    model = random_robot(seed, int(rng.integers(1, 14)), str(rng.choice(["fixed", "floating", "planar"])))
    if rng.random() < 0.5:
        return model
    joints = [replace(joint, acceleration=float(rng.uniform(1.0, 20.0))) for joint in model.joints[1:]]
    return RobotModel(model.name, model.links, joints, model.root)


def _tasks(rng: np.random.Generator, model: RobotModel, q: np.ndarray) -> list[Task]:
    tasks = []
    for priority in rng.integers(1, 5, int(rng.integers(0, 5))):
        far = rng.choice([1e-3, 0.1, 1.0])
        tasks.append(
            random_task(rng, model, integrate(model, q, far * difference(model, q, random_configuration(model, rng))))
        )
        tasks[-1].priority = int(priority)
    return tasks


def _criteria(rng: np.random.Generator, model: RobotModel) -> list[Criterion]:
    kinds = [kind for kind in KINDS if kind != "dynamic_torque" or rng.random() < 0.2]
    if model.total_mass == 0.0:
        kinds = [kind for kind in kinds if "torque" not in kind and "energy" not in kind]
    chosen = rng.choice(kinds, int(rng.integers(0, 4)), replace=False)
    return [KINDS[str(kind)](weight=10.0 ** rng.uniform(-2, 2)) for kind in chosen]


def _chase(seed: int) -> int:
    rng = np.random.default_rng(seed)
    model = _robot(seed, rng)
    q, v = random_configuration(model, rng), np.zeros(model.nv)
    dt, damping = float(rng.choice([1e-3, 0.02, 0.2])), float(rng.choice([0.0, 0.0, 1e-4]))
    problem = VelocityProblem(model, _tasks(rng, model, q), _criteria(rng, model), dt, damping)
    active = 0
    for _ in range(STEPS):
        step = problem.step(q, v)
        assert np.isfinite(step.v).all() and np.isfinite(step.residuals).all() and np.isfinite(step.errors).all(), seed
        assert all(np.isfinite(level.residual).all() for level in step.levels), seed
        assert all(np.isfinite(cost) for cost in step.costs.values()), seed
        assert (abs(step.v) <= model.velocity).all(), seed
        assert (abs(step.v - v) <= model.acceleration * dt * (1.0 + 1e-12)).all(), seed
        q, v = integrate(model, q, step.v * dt), step.v
        assert model.limits.contain(q).all(), seed
        active += bool(step.limits_active)
    return active


def test_random_chases() -> None:
    assert sum(_chase(seed) > 0 for seed in range(12)) > 3


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_hundred_thousand_steps(first: int) -> None:
    for seed in range(first, first + 100):
        _chase(seed)
