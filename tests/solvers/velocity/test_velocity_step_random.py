"""Random robots that chase random tasks step by step: finite, inside all limits, honest about what they lack.

ROBOKIN_STEPS=100000 pytest -m slow tests/solvers/velocity/test_velocity_step_random.py takes so many steps, and a tenth
of that of the hostile ones; 100000 unless given. ROBOKIN_SEED=5 begins at that seed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, difference, integrate, load_urdf, random_configuration
from robokin_addon.solvers import (
    AlongCurveTask,
    LinearVelocityTask,
    LoopClosureTask,
    Task,
    TwistTask,
    VelocityConstraint,
    VelocityProblem,
)
from robokin_addon.solvers.criteria import Criterion
from support.blender.every_task import every_task
from support.random_problems.criterion_kinds import KINDS
from support.random_problems.random_tasks import random_task
from support.random_problems.random_trees import random_placement, random_robot
from support.robots import robot

STEPS = 100
MANY, FIRST = (int(os.environ.get(f"ROBOKIN_{name}", least)) for name, least in (("STEPS", "100000"), ("SEED", "0")))


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
    q = random_configuration(model, rng)
    dt, damping = float(rng.choice([1e-3, 0.02, 0.2])), float(rng.choice([0.0, 0.0, 1e-4]))
    problem = VelocityProblem(model, _tasks(rng, model, q), _criteria(rng, model), dt, damping)
    return _stepped(seed, problem, q, [])


def _stepped(seed: int, problem: VelocityProblem, q: np.ndarray, constraints: list[VelocityConstraint]) -> int:
    """How many steps limits were active in."""
    model, dt = problem.model, problem.dt
    v, active = np.zeros(model.nv), 0
    for _ in range(STEPS):
        step = problem.step(q, v, constraints)
        assert np.isfinite(step.v).all() and np.isfinite(step.residuals).all() and np.isfinite(step.errors).all(), seed
        assert all(np.isfinite(level.residual).all() for level in step.levels), seed
        assert all(np.isfinite(cost) for cost in step.costs.values()), seed
        assert (abs(step.v) <= model.velocity).all(), seed
        assert (abs(step.v - v) <= model.acceleration * dt * (1.0 + 1e-12)).all(), seed
        q, v = integrate(model, q, step.v * dt), step.v
        assert model.limits.contain(q).all(), seed
        active += bool(step.limits_active)
    return active


# -- hostile ----------------------------------------------------------------------------------------------------------


def _boundless(model: RobotModel, rng: np.random.Generator) -> RobotModel:
    """With joints that have no bounds, no speed limit, or next to no acceleration."""
    joints = []
    for joint in model.joints:
        if not joint.parent:
            continue
        rates = {"velocity": np.inf} if rng.random() < 0.3 else {}
        if rng.random() < 0.4:
            rates["acceleration"] = 10.0 ** rng.uniform(-2, 2)
        if joint.kind.bounded and not joint.kind.has_cone and rng.random() < 0.3:
            rates |= {"lower": np.full(joint.nv, -np.inf), "upper": np.full(joint.nv, np.inf)}
        joints.append(replace(joint, **rates))
    return RobotModel(model.name, model.links, joints, model.root)


def _lopsided(rng: np.random.Generator, task: Task) -> Task:
    """With weights of 1e-6 to 1e6, each axis its own."""
    for name in ("weight", "weights", "position_weights", "orientation_weights"):
        value = vars(task).get(name)
        if isinstance(value, (float, np.ndarray)):
            setattr(task, name, value * 10.0 ** rng.uniform(-6, 6, np.shape(value)))
    return task


def _hostile(rng: np.random.Generator, model: RobotModel, away: np.ndarray) -> Iterable[Task]:
    """Of every kind and on any level, far away and fast, and closed loops that contradict one another."""
    link, other = map(str, rng.choice(model.link_names[1:], 2))
    tasks = [
        *every_task(rng, model, away, away).values(),
        random_task(rng, model, away),
        TwistTask(
            link, rng.normal(size=6) * 10.0 ** rng.uniform(-2, 3), frame=str(rng.choice(["world", "tip", "space"]))
        ),
        AlongCurveTask(link, rng.normal(size=(5, 3)), 10.0 ** rng.uniform(-2, 2), closed=bool(rng.integers(2))),
        LinearVelocityTask(rng.normal(size=(2, model.nv)) * 10.0 ** rng.uniform(-6, 6, (2, 1)), rng.normal(size=2)),
    ]
    for i in rng.choice(len(tasks), int(rng.integers(1, 7)), replace=False):
        if tasks[i].priority:
            tasks[i].priority = int(rng.integers(1, 4))
        yield _lopsided(rng, tasks[i]) if rng.random() < 0.7 else tasks[i]
    if link != other and rng.random() < 0.4:
        yield from (LoopClosureTask(link, other, random_placement(rng), random_placement(rng)) for _ in range(2))


def _chase_hostile(seed: int) -> int:
    rng = np.random.default_rng(seed)
    root = str(rng.choice(["fixed", "floating", "planar", "wheeled"]))
    if root == "wheeled":
        model = load_urdf(robot("ur5_robot"), root=root)
    else:
        model = random_robot(seed, int(rng.integers(2, 14)), root)
    model = _boundless(model, rng)
    q, away = random_configuration(model, rng), random_configuration(model, rng)
    row = rng.normal(size=(1, model.nv))
    constraints = [
        VelocityConstraint(row, 1.0, 1.0),
        VelocityConstraint(row, -1.0, -1.0),
        VelocityConstraint(row, 2, 3),
    ]
    dt, damping = float(rng.choice([1e-4, 0.02, 1.0])), float(rng.choice([0.0, 0.0, 1.0]))
    problem = VelocityProblem(model, list(_hostile(rng, model, away)), _criteria(rng, model), dt, damping)
    return _stepped(seed, problem, q, constraints if rng.random() < 0.3 else [])


def test_random_chases() -> None:
    assert sum(_chase(seed) > 0 for seed in range(12)) > 3


def test_hostile_chases() -> None:
    """Weights a million times apart, loops and constraints that contradict one another, no bounds, wheels."""
    assert sum(_chase_hostile(seed) > 0 for seed in range(3)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize(("chase", "steps"), [(_chase, MANY), (_chase_hostile, MANY // 10)])
def test_many_steps(chase, steps: int, part: int) -> None:
    count = max(1, steps // (10 * STEPS))
    for seed in range(FIRST + part * count, FIRST + (part + 1) * count):
        chase(seed)
