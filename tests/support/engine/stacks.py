"""Random stacks of tasks: 2 to 4 levels of mixed kinds, and paths with jumps and unreachable stretches.

Every target is one that some configuration meets, or such a one moved away. What one level asks for may be met together
with the others (they share a path of configurations) or may not (it has its own).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from robokin_addon.robokin import (
    RobotModel,
    center_of_mass,
    forward_kinematics,
    frame_jacobian,
    integrate,
    random_configuration,
)
from robokin_addon.solvers import (
    AimTask,
    AxisTask,
    CenterOfMassTask,
    DistanceTask,
    OnLineTask,
    OnPlaneTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
    SupportTask,
    Task,
    TrackResult,
    track,
)
from robokin_addon.solvers.criteria import Criterion, JointSprings, KineticEnergy, MinimumVelocity

from support.limits import with_rates
from support.random_trees import random_placement

from .robots import engine_robot

Array = np.ndarray

FRAMES, DT = 24, 1.0 / 24.0
SLOW = {"velocity": 2.0, "acceleration": 8.0}
FREE = {"velocity": np.inf, "acceleration": np.inf}


@dataclass(frozen=True, eq=False)
class Goal:
    """A task of a robot. at(q): the target that a configuration (nq,) meets.   beyond(target, away): that target moved
    by a vector (3,) [m], for tasks that ask for a place."""

    task: Task
    at: Callable[[Array], Any]
    beyond: Callable[[Any, Array], Any] | None = None


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
            goal = _goal(rng, model, priority)
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
        model.limits.clamp(integrate(model, q0, way * (1.0 - np.cos(np.pi * s))))
        for s in np.linspace(0.0, 1.0, FRAMES)
    ]
    goals = [_goal(rng, model, priority) for priority in (1, 2, 3)]
    return Stack(f"{robot}, calm stack {seed}", model, goals, [], [[goal.at(q) for goal in goals] for q in path], q0)


def size(model: RobotModel) -> float:
    """[m] how far its links are from the root, about."""
    rng = np.random.default_rng(0)
    places = [forward_kinematics(model, random_configuration(model, rng)) for _ in range(5)]
    return float(np.mean([max(np.linalg.norm(T[:3, 3]) for T in frames.values()) for frames in places]))


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


def _goal(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    return KINDS[int(rng.integers(len(KINDS)))](rng, model, priority)


# -- kinds -------------------------------------------------------------------------------------------------------------


def _link(rng: np.random.Generator, model: RobotModel) -> str:
    """One that moves."""
    q = random_configuration(model, np.random.default_rng(0))
    moving = [name for name in model.link_names if abs(frame_jacobian(model, q, name)).max(initial=0.0) > 0.0]
    return str(rng.choice(moving))


def _direction(rng: np.random.Generator) -> Array:
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis)


def _weights(rng: np.random.Generator) -> Array | float:
    """All the same, or an axis free."""
    return 1.0 if rng.random() < 0.7 else rng.permutation([0.0, 1.0, 1.0])


def _moved_pose(T: Array, away: Array) -> Array:
    moved = T.copy()
    moved[:3, 3] += away
    return moved


def _pose(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    link, offset = _link(rng, model), random_placement(rng, 0.1)
    task = PoseTask(link, np.eye(4), _weights(rng), _weights(rng), offset=offset, priority=priority)
    return Goal(task, lambda q: forward_kinematics(model, q)[link] @ offset, _moved_pose)


def _position(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    link = _link(rng, model)
    task = PositionTask(link, (0, 0, 0), _weights(rng), priority=priority)
    return Goal(task, lambda q: forward_kinematics(model, q)[link][:3, 3].copy(), np.add)


def _orientation(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    link = _link(rng, model)
    return Goal(
        OrientationTask(link, np.eye(3), _weights(rng), priority=priority),
        lambda q: forward_kinematics(model, q)[link][:3, :3].copy(),
    )


def _axis(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    link, axis = _link(rng, model), _direction(rng)
    task = AxisTask(link, axis, (0, 0, 1), priority=priority)
    return Goal(task, lambda q: forward_kinematics(model, q)[link][:3, :3] @ axis)


def _aim(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    link, axis, distance = _link(rng, model), _direction(rng), size(model) * rng.uniform(0.5, 2.0)

    def at(q: Array) -> Array:
        T = forward_kinematics(model, q)[link]
        return T[:3, 3] + T[:3, :3] @ axis * distance

    return Goal(AimTask(link, axis, (1, 0, 0), priority=priority), at, np.add)


def _distance(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    link, point = _link(rng, model), rng.normal(size=3) * size(model)
    relation = str(rng.choice(["equal", "equal", "inside", "outside"]))
    task = DistanceTask(link, 0.5, other_point=point, relation=relation, priority=priority)
    sign = -1.0 if relation == "inside" else 1.0

    def at(q: Array) -> float:
        return float(np.linalg.norm(forward_kinematics(model, q)[link][:3, 3] - point))

    return Goal(task, at, lambda target, away: max(target + sign * float(np.linalg.norm(away)), 0.0))


def _relative(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    link, other = _link(rng, model), _link(rng, model)
    orientation = float(rng.integers(2))
    task = RelativePoseTask(link, other, np.eye(4), orientation_weights=orientation, priority=priority)

    def at(q: Array) -> Array:
        frames = forward_kinematics(model, q)
        return np.linalg.inv(frames[other]) @ frames[link]

    return Goal(task, at, _moved_pose)


def _plane(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    link, normal = _link(rng, model), _direction(rng)
    task = OnPlaneTask(link, ((0, 0, 0), normal), str(rng.choice(["on", "on", "above"])), priority=priority)
    return Goal(
        task,
        lambda q: (forward_kinematics(model, q)[link][:3, 3].copy(), normal),
        lambda target, away: (target[0] + abs(away @ normal) * normal, normal),
    )


def _line(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    link, along = _link(rng, model), _direction(rng)
    return Goal(
        OnLineTask(link, ((0, 0, 0), along), priority=priority),
        lambda q: (forward_kinematics(model, q)[link][:3, 3].copy(), along),
        lambda target, away: (target[0] + away, along),
    )


def _posture(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    names = [joint.name for joint in model.moving_joints]
    chosen = [str(name) for name in rng.permutation(names)[: int(rng.integers(1, len(names) + 1))]]

    def at(q: Array) -> dict[str, Any]:
        return {name: q[model.slot(name).q].tolist() for name in chosen}

    return Goal(PostureTask(at(model.neutral()), priority=priority), at)


def _center_of_mass(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    task = CenterOfMassTask((0, 0, 0), _weights(rng), priority=priority)
    return Goal(task, lambda q: center_of_mass(model, q), np.add)


def _support(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    corners = rng.normal(size=(4, 2)) * 0.1 * size(model)
    corners -= corners.mean(axis=0)
    task = SupportTask(corners, priority=priority)
    return Goal(task, lambda q: center_of_mass(model, q)[:2] + corners, lambda target, away: target + away[:2])


KINDS: tuple[Callable[[np.random.Generator, RobotModel, int], Goal], ...] = (
    _pose,
    _pose,
    _position,
    _position,
    _orientation,
    _axis,
    _aim,
    _distance,
    _relative,
    _plane,
    _line,
    _posture,
    _center_of_mass,
    _support,
)
