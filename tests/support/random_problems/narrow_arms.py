"""Arms of narrow joints, and stacks of two levels that one pose meets, which a search from elsewhere may miss."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import Joint, Link, RobotModel, random_configuration
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import Task

from support.engine.goals import random_goal


def narrow_stack(seed: int) -> tuple[RobotModel, list[Task], Array, Array]:
    """An arm, two tasks of priority 1 and 2, where to start (nq,), and a pose that meets them (nq,): some of its joints
    are at an end."""
    rng = np.random.default_rng([77, seed])
    model = _narrow_arm(rng)
    q, edge = random_configuration(model, rng), rng.random(model.nq)
    q = np.where(edge < 0.15, model.lower, np.where(edge > 0.85, model.upper, q))
    middle = model.limits.middle(model.neutral())
    start = model.limits.clamp(random_configuration(model, rng)) if rng.random() < 0.5 else middle
    goals = [random_goal(rng, model, priority) for priority in (1, 2)]
    for goal in goals:
        goal.task.target = goal.at(q)
    return model, [goal.task for goal in goals], start, q


def _narrow_arm(rng: np.random.Generator) -> RobotModel:
    links, joints = [Link("base")], []
    for i in range(int(rng.integers(5, 9))):
        axis = np.eye(3)[rng.integers(3)] if rng.random() < 0.6 else rng.normal(size=3)
        T = np.eye(4)
        T[:3, 3] = rng.uniform(-0.3, 0.3, 3)
        middle, half = rng.uniform(-1, 1), rng.choice([0.1, 0.3, 0.8, 1.5])
        kind = "prismatic" if rng.random() < 0.15 else "revolute"
        if kind == "prismatic":
            middle, half = 0.2 * middle, 0.3 * half
        links.append(Link(f"l{i}", 1.0, np.array([0.1, 0.0, 0.0]), 0.01 * np.eye(3)))
        axis = axis / np.linalg.norm(axis)
        joints.append(Joint(f"j{i}", kind, links[-2].name, f"l{i}", T, axis, middle - half, middle + half))
    return RobotModel("narrow", links, joints)
