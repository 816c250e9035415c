"""Random stacks of tasks: 2 to 4 levels of mixed kinds, and paths with jumps and unreachable stretches.

Every target is one that some configuration meets, or such a one moved away. What one level asks for may be met together
with the others (they share a path of configurations) or may not (it has its own).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from robokin_addon.robokin import RobotModel, integrate, random_configuration
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import Task, TrackResult, track
from robokin_addon.solvers.criteria import Criterion, JointSprings, KineticEnergy, MinimumVelocity

from support.problems.limits import with_rates

from .goals import Goal, random_goal, size
from .robots import FREE, SLOW, engine_robot

FRAMES, DT = 24, 1.0 / 24.0


@dataclass(frozen=True, eq=False)
class Stack:
    """Goals in the order of their levels and what they ask for. targets: of each frame, one per goal.   q0: (nq,)."""

    name: str
    model: RobotModel
    goals: Sequence[Goal]
    criteria: Sequence[Criterion]
    targets: Sequence[Sequence[Any]]
    q0: Array

    @property
    def tasks(self) -> list[Task]:
        return [goal.task for goal in self.goals]

    @cached_property
    def levels(self) -> list[int]:
        """Its priorities, the first one first."""
        return sorted({task.priority for task in self.tasks})

    @property
    def tolerance(self) -> Array:
        """(tasks, 2) of the parts of each task."""
        return np.array([[*(part.tolerance for part in task.parts), np.inf][:2] for task in self.tasks])

    def upper(self, count: int) -> Stack:
        """The same without the levels below the first `count`."""
        kept = [i for i, task in enumerate(self.tasks) if task.priority in self.levels[:count]]
        targets = [[each[i] for i in kept] for each in self.targets]
        return replace(self, goals=[self.goals[i] for i in kept], targets=targets)

    def tracked(self) -> TrackResult:
        return track(self.model, self.tasks, self.targets, self.q0, DT, criteria=self.criteria)

    def one_frame(self, q: Array, v: Array, frame: int) -> TrackResult:
        """Two frames: the first is met where the robot stands (q, v), the second has the targets of `frame`."""
        here = [goal.at(q) for goal in self.goals]
        targets = [here, self.targets[frame]]
        result = track(self.model, self.tasks, targets, q, DT, start_velocity=v, criteria=self.criteria)
        assert abs(result.q[0] - q).max() < 1e-9, "the first frame is met where the robot stands"
        return result


def engine_stack(robot: str, seed: int) -> Stack:
    """The same at every call. seed: below 1000."""
    rng = np.random.default_rng([seed, *robot.encode()])
    model = engine_robot(robot)
    rates = [None, None, FREE, SLOW][int(rng.integers(4))]
    model = model if rates is None else with_rates(model, **rates)
    goals: list[Goal] = []
    q0 = model.limits.clamp(random_configuration(model, rng))
    shared = _path(rng, model, q0)
    targets = []
    for priority in range(1, int(rng.integers(2, 5)) + 1):
        path = shared if rng.random() < 0.6 else _path(rng, model, _near(rng, model, q0))
        for _ in range(int(rng.integers(1, 3))):
            goal = random_goal(rng, model, priority)
            own = [goal.at(q) for q in path]
            if goal.beyond is not None and rng.random() < 0.2:
                first, last = sorted(rng.integers(1, FRAMES, 2).tolist())
                away = rng.normal(size=3) * size(model) * rng.uniform(0.1, 1.0)
                own[first:last] = [goal.beyond(target, away) for target in own[first:last]]
            goals.append(goal)
            targets.append(own)
    return Stack(f"{robot}, stack {seed}", model, goals, _criteria(rng), list(zip(*targets, strict=True)), q0)


def calm_stack(robot: str, seed: int) -> Stack:
    """Of targets that one slow motion meets, all of them, at every frame."""
    rng = np.random.default_rng([1000 + seed, *robot.encode()])
    model = engine_robot(robot)
    q0 = model.limits.middle(model.neutral())
    q0 = _near(rng, model, q0)
    way = 0.1 * rng.normal(size=model.nv)
    for base in model.rolling_bases:  # to and fro, as wheels can
        way[base.v + 1 : base.v + 3] = 0.0
    path = [
        model.limits.clamp(integrate(model, q0, way * (1.0 - np.cos(np.pi * s)))) for s in np.linspace(0.0, 1.0, FRAMES)
    ]
    goals = [random_goal(rng, model, priority) for priority in (1, 2, 3)]
    return Stack(f"{robot}, calm stack {seed}", model, goals, [], [[goal.at(q) for goal in goals] for q in path], q0)


def _path(rng: np.random.Generator, model: RobotModel, q0: Array) -> list[Array]:
    """(nq,) of each frame: on two half waves, now and then with a jump to elsewhere, and back."""
    a, b = rng.normal(size=(2, model.nv)) * rng.choice([0.05, 0.3, 1.0])
    jump = rng.normal(size=model.nv) * rng.choice([0.0, 0.1, 1.0])
    first, last = sorted(rng.integers(1, FRAMES, 2).tolist())
    path = []
    for frame, s in enumerate(np.linspace(0.0, 1.0, FRAMES)):
        moved = a * np.sin(np.pi * s) + b * (1.0 - np.cos(np.pi * s)) + jump * (first <= frame < last)
        path.append(model.limits.clamp(integrate(model, q0, moved)))
    return path


def _near(rng: np.random.Generator, model: RobotModel, q: Array) -> Array:
    """(nq,) a configuration around q, inside the limits."""
    return model.limits.clamp(integrate(model, q, 0.2 * rng.normal(size=model.nv)))


def _criteria(rng: np.random.Generator) -> list[Criterion]:
    """In a third of the stacks."""
    kinds = (JointSprings, KineticEnergy, MinimumVelocity)
    return [kinds[int(i)]() for i in rng.permutation(3)[: int(rng.integers(1, 3))]] if rng.random() < 0.33 else []
