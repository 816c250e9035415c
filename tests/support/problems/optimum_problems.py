"""Random problems of criteria: arms, trees with balls, legged robots; tasks of up to four levels that a pose inside the
limits meets, of kinds that the kernel knows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from robokin_addon.robokin import RobotModel, center_of_mass, forward_kinematics, load_urdf, random_configuration
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import CenterOfMassTask, PinTask, PositionTask, PostureTask, SupportTask, Task
from robokin_addon.solvers.criteria import (
    GravityTorque,
    JointSprings,
    Manipulability,
    Potential,
    RestPosture,
    SmallestSingularValue,
)

from support.random_problems.random_solves import with_hostile_limits
from support.random_problems.random_tasks import random_task
from support.random_problems.random_trees import random_robot
from support.robots import robot

ROBOTS = {
    "arm": (("panda", "fixed"), ("ur5_robot", "floating"), ("xarm7", "fixed"), ("kinova", "planar")),
    "legged": (("solo12", "floating"), ("simple_humanoid", "floating")),
    "talos": (("talos_reduced", "floating"),),
}


@dataclass(frozen=True)
class OptimumProblem:
    """start: (nq,) anywhere.   away: (nq,) where the tasks are met."""

    model: RobotModel
    tasks: list[Task]
    criteria: list[Potential]
    start: Array
    away: Array


@cache
def real(name: str, root: str) -> RobotModel:
    return load_urdf(robot(name), root=root)


def optimum_problem(seed: int, kind: str, bands: bool = True, edges: bool = True) -> OptimumProblem:
    """kind: arm, tree, legged or talos.   bands: of tasks.   edges: of criteria."""
    rng = np.random.default_rng(seed)
    if kind == "tree":
        model = random_robot(seed, int(rng.integers(4, 13)), ("fixed", "floating", "planar")[seed % 3])
        model = with_hostile_limits(model, rng) if seed % 2 else model
    else:
        model = real(*ROBOTS[kind][int(rng.integers(len(ROBOTS[kind])))])
    start, away = (model.limits.clamp(random_configuration(model, rng)) for _ in range(2))
    count = int(rng.integers(1, 3) if kind in ("arm", "tree") else rng.integers(2, 5))
    tasks = [_task(rng, model, away, bands) for _ in range(count)]
    for i, task in enumerate(tasks):
        task.name, task.priority = f"task {i}", int(rng.integers(1, 5))
    return OptimumProblem(model, tasks, _criteria(rng, model, edges), start, away)


def _task(rng: np.random.Generator, model: RobotModel, away: Array, bands: bool) -> Task:
    link, kind = str(rng.choice(model.link_names[1:])), rng.random()
    T = forward_kinematics(model, away)[link]
    if kind < 0.1:
        return PinTask(link, T, orientation_weights=float(rng.integers(2)))
    if kind < 0.2 and model.moving_joints:
        some = [joint for joint in model.moving_joints if rng.random() < 0.3] or model.moving_joints[:1]
        return PostureTask({joint.name: _value(away[model.slot(joint.name).q]) for joint in some})
    if kind < 0.3 and model.total_mass > 0.0:
        return _balance(rng, center_of_mass(model, away), bands)
    if kind < 0.4 and bands:
        task = PositionTask(link, T[:3, 3])
        task.position_band = rng.uniform(0.0, 0.1, 3)
        return task
    return random_task(rng, model, away)


def _value(coordinates: Array) -> float | list[float]:
    return float(coordinates[0]) if len(coordinates) == 1 else coordinates.tolist()


def _balance(rng: np.random.Generator, c: Array, bands: bool) -> Task:
    if bands and rng.random() < 0.5:
        return SupportTask(c[:2] + 0.1 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]))
    return CenterOfMassTask(c, (1.0, 1.0, 0.0), band=0.02 if bands and rng.random() < 0.5 else 0.0)


def _criteria(rng: np.random.Generator, model: RobotModel, edges: bool) -> list[Potential]:
    rest = random_configuration(model, rng)
    every = [JointSprings, lambda **more: RestPosture(rest, **more), Manipulability]
    if model.total_mass > 0.0:
        every.append(GravityTorque)
    if edges:
        every.append(SmallestSingularValue)
    chosen = rng.permutation(len(every))[: int(rng.integers(1, 4))]
    return [every[k](weight=10.0 ** rng.uniform(-1.0, 1.0)) for k in chosen]
