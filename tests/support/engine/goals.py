"""Tasks of every kind that asks for a pose, with the targets that a configuration meets, and targets farther away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from robokin_addon.robokin import RobotModel, center_of_mass, forward_kinematics, frame_jacobian, random_configuration
from robokin_addon.robokin.arrays import Array
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
)

from support.random_problems.random_trees import random_placement


@dataclass(frozen=True, eq=False)
class Goal:
    """A task of a robot. at(q): the target that a configuration (nq,) meets.   beyond(target, away): that target moved
    by a vector (3,) [m], for tasks that ask for a place."""

    task: Task
    at: Callable[[Array], Any]
    beyond: Callable[[Any, Array], Any] | None = None


def random_goal(rng: np.random.Generator, model: RobotModel, priority: int) -> Goal:
    return KINDS[int(rng.integers(len(KINDS)))](rng, model, priority)


def size(model: RobotModel) -> float:
    """[m] how far its links are from the root, about."""
    rng = np.random.default_rng(0)
    places = [forward_kinematics(model, random_configuration(model, rng)) for _ in range(5)]
    return float(np.mean([max(np.linalg.norm(T[:3, 3]) for T in frames.values()) for frames in places]))


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
