"""Random motions to be tracked: robots, tasks, levels, modes, criteria, limits and fades of every kind."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robokin_addon.robokin import RobotModel, forward_kinematics, integrate, random_configuration
from robokin_addon.solvers import ExtendedJacobian, Status, Task, Tracker
from robokin_addon.solvers.criteria import Criterion
from robokin_addon.solvers.tracking.starts import Segment, follow

from support.blender.every_task import every_task
from support.random_problems.criterion_kinds import KINDS
from support.random_problems.random_tasks import random_task
from support.random_problems.random_trees import random_robot

DT = 1.0 / 24.0
MODES = ("plain", "priorities", "weighted", "extended")


@dataclass(frozen=True, eq=False)
class Motion:
    """q: (frames, nq).   statuses, iterations: of the frames."""

    q: np.ndarray
    statuses: list[Status]
    iterations: np.ndarray


@dataclass(frozen=True, eq=False)
class MotionCase:
    """What is tracked. targets: per frame and task.   influence: (frames, tasks) or None.   mode: of MODES."""

    model: RobotModel
    mode: str
    tasks: list[Task]
    criteria: list[Criterion]
    targets: list[list[object]]
    influence: np.ndarray | None
    q0: np.ndarray

    def followed(self, backend: str) -> Motion:
        tracker = Tracker(self.model, self.tasks, DT, backend, self.criteria)
        segment = Segment(tracker, tracker.check_targets(self.targets), self.influence)
        steps = follow([segment], self.q0)
        while True:
            try:
                next(steps)
            except StopIteration as done:
                parts = done.value
                break
        return Motion(
            np.concatenate([part.q for part in parts]),
            [status for part in parts for status in part.status],
            np.concatenate([part.iterations for part in parts]),
        )


def motion_case(seed: int, frames: int = 20) -> MotionCase:
    """Targets that a smooth motion meets, some of it too fast for the robot's limits or for the tasks together."""
    rng = np.random.default_rng(seed)
    mode = MODES[seed % len(MODES)]
    model = _robot(rng, seed)
    q0 = model.limits.clamp(random_configuration(model, rng))
    way = _way(rng, model, q0, frames)
    tasks = [random_task(rng, model, way[0]) for _ in range(int(rng.integers(1, 4)))]
    if mode == "extended":
        tasks = tasks[:1]
    targets: list[list[object]] = []
    for q in way:
        placed = forward_kinematics(model, q, backend="numpy")
        targets.append([placed[task.link] @ task.offset for task in tasks])
    if mode not in ("plain", "extended") and rng.random() < 0.5:
        others = [t for t in every_task(rng, model, q0, way[-1]).values() if t.priority]
        tasks.append(others[int(rng.integers(len(others)))])
        for each in targets:
            each.append(tasks[-1].target)
    if mode == "priorities":
        for task in tasks:
            task.priority = int(rng.integers(1, 4))
    criteria = [] if mode == "plain" else _criteria(rng, model, mode)
    influence = None
    if mode in ("priorities", "weighted") and rng.random() < 0.4:
        influence = np.ones((frames, len(tasks)))
        influence[:, int(rng.integers(len(tasks)))] = np.clip(
            np.linspace(rng.uniform(-1, 1), rng.uniform(0, 2), frames), 0, 1
        )
    if mode == "extended":
        tasks.append(ExtendedJacobian(criteria))
        criteria = []
        for each in targets:
            each.append(None)
    return MotionCase(model, mode, tasks, criteria, targets, influence, q0)


def _robot(rng: np.random.Generator, seed: int) -> RobotModel:
    """A tree of all joints, or an arm."""
    if rng.random() < 0.5:
        model = random_robot(seed, int(rng.integers(4, 9)), str(rng.choice(["fixed", "floating", "planar"])))
    else:
        types = ("revolute", "revolute", "prismatic")
        model = random_robot(seed, int(rng.integers(5, 9)), "fixed", types, branching=0.1, mimics=0.1)
    if rng.random() < 0.5:
        return model
    rates = {"velocity": float(rng.choice([0.5, np.inf])), "acceleration": float(rng.choice([5.0, np.inf]))}
    return RobotModel(model.name, model.links, [replace(joint, **rates) for joint in model.joints[1:]], model.root)


def _way(rng: np.random.Generator, model: RobotModel, q0: np.ndarray, frames: int) -> list[np.ndarray]:
    """Configurations on two half waves, now and then cut off by the limits or beyond them."""
    size = rng.choice([0.05, 0.3, 1.0])
    a, b = rng.normal(size=(2, model.nv)) * size
    clamped = rng.random() < 0.7
    way = []
    for s in np.linspace(0.0, 1.0, frames):
        q = integrate(model, q0, a * np.sin(np.pi * s) + b * (1.0 - np.cos(np.pi * s)))
        way.append(model.limits.clamp(q) if clamped else q)
    return way


def _criteria(rng: np.random.Generator, model: RobotModel, mode: str) -> list[Criterion]:
    kinds = [k for k in KINDS if model.total_mass or ("torque" not in k and "energy" not in k)]
    if mode == "extended":
        kinds = ["joint_springs", "rest_posture"]
    chosen = rng.choice(kinds, int(rng.integers(mode == "extended", 3)), replace=False)
    return [KINDS[str(kind)](weight=10.0 ** rng.uniform(-1, 1)) for kind in chosen]
