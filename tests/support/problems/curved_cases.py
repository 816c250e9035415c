"""Random problems of one differential step at curved limits: balls in narrow cones, floating joints between bounds,
from the edge of the limits and in motion."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics, integrate, random_configuration
from robokin_addon.solvers import LoopClosureTask, Task, VelocityConstraint
from robokin_addon.solvers.criteria import Criterion

from support.random_problems.criterion_kinds import KINDS
from support.random_problems.random_tasks import random_task
from support.random_problems.random_trees import random_robot


@dataclass(frozen=True, eq=False)
class CurvedCase:
    """What `VelocityProblem` and its `step` are given. tasks: by priority."""

    model: RobotModel
    q: np.ndarray
    previous: np.ndarray
    tasks: list[Task]
    criteria: list[Criterion]
    constraints: list[VelocityConstraint]
    dt: float
    damping: float


def curved_case(seed: int) -> CurvedCase:
    rng = np.random.default_rng(seed)
    model = _robot(rng, seed)
    q, previous = _edge(rng, model, random_configuration(model, rng)), np.zeros(model.nv)
    if rng.random() < 0.4:
        previous = np.clip(rng.normal(size=model.nv), -1.0, 1.0) * np.minimum(model.velocity, 3.0)
    tasks = _tasks(rng, model, q)
    kinds = [
        k for k in KINDS if k != "dynamic_torque" and (model.total_mass or ("torque" not in k and "energy" not in k))
    ]
    chosen = rng.choice(kinds, int(rng.integers(0, 3)), replace=False)
    criteria = [KINDS[str(kind)](weight=10.0 ** rng.uniform(-2, 2)) for kind in chosen]
    return CurvedCase(
        model,
        q,
        previous,
        tasks,
        criteria,
        _constraints(rng, model),
        float(rng.choice([1e-3, 0.02, 0.1, 0.5])),
        float(rng.choice([0.0, 0.0, 1e-4, 1e-2])),
    )


def _robot(rng: np.random.Generator, seed: int) -> RobotModel:
    types = ("spherical", "spherical", "revolute", "prismatic", "universal")
    model = random_robot(seed, int(rng.integers(2, 9)), "fixed", types, branching=0.2, mimics=0.1)
    links, joints = list(model.links), list(model.joints[1:])
    if rng.random() < 0.5:
        links.append(Link("floor"))
        joints.append(Joint("base", "floating", "floor", model.joints[0].child))
    speed, acceleration = rng.choice([0.5, 2.0, np.inf], 2)
    return RobotModel(model.name, links, [_limited(rng, joint, speed, 5.0 * acceleration) for joint in joints])


def _limited(rng: np.random.Generator, joint: Joint, speed: float, acceleration: float) -> Joint:
    """Cones of all shapes, also locked; boxes for floating joints."""
    rates = {"velocity": speed, "acceleration": acceleration}
    if joint.type == "floating":
        side = rng.uniform(0.01, 0.5, 3) * rng.choice([1.0, 1.0, np.inf], 3)
        upper = np.array([*side, *[np.inf] * 3])
        return replace(joint, lower=-upper, upper=upper, **rates)
    if joint.type == "spherical":
        axes = rng.uniform(0.05, 2.8, 2)
        axes[0] = rng.choice([axes[0], axes[0], axes[0], np.inf, 0.0])
        twist = rng.uniform(0.05, 3.0, 2) if rng.random() < 0.8 else np.full(2, np.inf)
        return replace(joint, lower=[*-axes, -twist[0]], upper=[*axes, twist[1]], **rates)
    return replace(joint, **rates)


def _edge(rng: np.random.Generator, model: RobotModel, q: np.ndarray) -> np.ndarray:
    """q, or where a long way from there meets the limits."""
    if rng.random() < 0.3:
        return q
    return model.limits.clamp(integrate(model, q, rng.normal(size=model.nv) * rng.choice([0.3, 3.0])))


def _tasks(rng: np.random.Generator, model: RobotModel, q: np.ndarray) -> list[Task]:
    tasks = []
    for priority in range(1, int(rng.integers(2, 5)) + 1):
        for _ in range(int(rng.integers(1, 3))):
            away = integrate(model, q, rng.choice([0.01, 0.3, 2.0]) * rng.normal(size=model.nv))
            task = random_task(rng, model, away)
            task.priority = priority
            tasks.append(task)
    if rng.random() < 0.2:
        first, second = rng.choice(model.link_names, 2, replace=False)
        T = forward_kinematics(model, integrate(model, q, 0.05 * rng.normal(size=model.nv)))
        tasks.insert(0, LoopClosureTask(str(first), str(second), offset=np.linalg.inv(T[str(first)]) @ T[str(second)]))
    return tasks


def _constraints(rng: np.random.Generator, model: RobotModel) -> list[VelocityConstraint]:
    found = []
    for _ in range(int(rng.integers(0, 3)) if rng.random() < 0.3 else 0):
        middle, half = 0.1 * rng.normal(), rng.choice([0.0, 0.1])
        found.append(VelocityConstraint(rng.normal(size=(1, model.nv)), middle - half, middle + half))
    return found
