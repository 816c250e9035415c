"""Random problems of criteria for which the kernel knows all: arms, trees with balls, legged robots; tasks of one to
four levels that a pose inside the limits meets."""

from __future__ import annotations

from functools import cache

import numpy as np
from robokin_addon.robokin import RobotModel, forward_kinematics, load_urdf, random_configuration
from robokin_addon.solvers import CenterOfMassTask, PinTask, PositionTask, PostureTask, SupportTask, Task
from robokin_addon.solvers.criteria import (
    GravityTorque,
    JointSprings,
    Manipulability,
    Potential,
    RestPosture,
    SmallestSingularValue,
)

from .random_solves import with_hostile_limits
from .random_tasks import random_task
from .random_trees import random_robot
from .robots import robot

ARMS = (
    ("panda", "fixed"),
    ("ur5_robot", "floating"),
    ("xarm7", "fixed"),
    ("ur10_robot", "fixed"),
    ("kinova", "planar"),
)
LEGGED = (("solo12", "floating"), ("simple_humanoid", "floating"), ("talos_reduced", "floating"))


@cache
def real(name: str, root: str) -> RobotModel:
    return load_urdf(robot(name), root=root)


def tree(seed: int, rng: np.random.Generator) -> RobotModel:
    model = random_robot(seed, int(rng.integers(4, 13)), ("fixed", "floating", "planar")[seed % 3])
    return with_hostile_limits(model, rng) if seed % 2 else model


def optimum_problem(
    seed: int, kind: str, smooth: bool = False
) -> tuple[RobotModel, list[Task], list[Potential], np.ndarray]:
    """The model, tasks, criteria and q0. kind: arm, tree or legged.   smooth: without edges."""
    rng = np.random.default_rng(seed)
    if kind == "tree":
        model = tree(seed, rng)
    else:
        known = ARMS if kind == "arm" else LEGGED
        model = real(*known[int(rng.integers(len(known)))])
    start, away = (model.limits.clamp(random_configuration(model, rng)) for _ in range(2))
    return model, _tasks(rng, model, away, kind), _criteria(rng, model, smooth), start


def _tasks(rng: np.random.Generator, model: RobotModel, away: np.ndarray, kind: str) -> list[Task]:
    count = int(rng.integers(1, 3)) if kind != "legged" else int(rng.integers(2, 5))
    tasks: list[Task] = []
    for _ in range(count):
        what = rng.random()
        if what < 0.6:
            task: Task = random_task(rng, model, away)
        elif what < 0.7:
            link = str(rng.choice(model.link_names[1:]))
            task = PinTask(link, forward_kinematics(model, away)[link], orientation_weights=float(rng.integers(2)))
        elif what < 0.8 and model.moving_joints:
            some = [joint for joint in model.moving_joints if rng.random() < 0.3] or model.moving_joints[:1]
            task = PostureTask({joint.name: _value(away[model.slot(joint.name).q]) for joint in some})
        elif what < 0.9 and model.total_mass > 0.0:
            task = _balance(rng, model, away)
        else:
            link = str(rng.choice(model.link_names[1:]))
            p = forward_kinematics(model, away)[link][:3, 3]
            task = PositionTask(link, p)
            task.position_band = rng.uniform(0.0, 0.1, 3)
        task.priority = int(rng.integers(1, 5))
        task.name = f"task {len(tasks)}"
        tasks.append(task)
    return tasks


def _value(coordinates: np.ndarray) -> float | list[float]:
    return float(coordinates[0]) if len(coordinates) == 1 else coordinates.tolist()


def _balance(rng: np.random.Generator, model: RobotModel, away: np.ndarray) -> Task:
    from robokin_addon.robokin import center_of_mass

    c = center_of_mass(model, away)
    if rng.random() < 0.5:
        return CenterOfMassTask(c, (1.0, 1.0, 0.0), band=float(rng.choice([0.0, 0.02])))
    corners = c[:2] + 0.1 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    return SupportTask(corners)


def _criteria(rng: np.random.Generator, model: RobotModel, smooth: bool) -> list[Potential]:
    rest = random_configuration(model, rng)
    every = [JointSprings, lambda **more: RestPosture(rest, **more), Manipulability]
    if model.total_mass > 0.0:
        every.append(GravityTorque)
    if not smooth:
        every.append(SmallestSingularValue)
    chosen = rng.permutation(len(every))[: int(rng.integers(1, 4))]
    return [every[k](weight=10.0 ** rng.uniform(-1.0, 1.0)) for k in chosen]
