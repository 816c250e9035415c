"""Random tasks that a given configuration meets, of every kind, weight pattern and frame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from robokin_addon.robokin import RobotModel
from robokin_addon.robokin.kinematics import forward_kinematics
from robokin_addon.robokin.model.joint_types import JOINT_TYPES, Elementary, JointType, MotionPrimitive
from robokin_addon.solvers import AxisTask, OrientationTask, PoseTask, PositionTask, Task

from support.random_problems.random_trees import ALL_TYPES, random_placement


@contextmanager
def every_motion() -> Iterator[tuple[str, ...]]:
    """Joint types for every elementary motion, also those that no joint type has yet."""
    extra = {
        "test_screw": (
            (MotionPrimitive.HELICAL,),
            lambda joint: (Elementary(MotionPrimitive.HELICAL, joint.axis, joint.pitch),),
            True,
        ),
        "test_ball": ((MotionPrimitive.BALL,), lambda joint: (Elementary(MotionPrimitive.BALL, joint.axis),), False),
    }
    for name, (motions, decompose, bounded) in extra.items():
        JOINT_TYPES[name] = JointType(name, name, motions, decompose, bounded=bounded)
    try:
        yield (*ALL_TYPES, *extra)
    finally:
        for name in extra:
            del JOINT_TYPES[name]


def random_task(rng: np.random.Generator, model: RobotModel, q: np.ndarray) -> Task:
    link = str(rng.choice(model.link_names[1:]))
    offset = random_placement(rng, 0.2) if rng.random() < 0.5 else None
    T = forward_kinematics(model, q, backend="numpy")[link]
    if offset is not None:
        T = T @ offset
    frame = str(rng.choice(["world", "tip"]))
    kind = rng.integers(4)
    if kind == 0:
        return PoseTask(link, T, _weights(rng), _weights(rng), frame, offset)
    if kind == 1:
        return PositionTask(link, T[:3, 3], _weights(rng), frame, offset)
    if kind == 2:
        return OrientationTask(link, T[:3, :3], _weights(rng), frame, offset)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    return AxisTask(link, axis, T[:3, :3] @ axis, _weights(rng), frame, offset)


def _weights(rng: np.random.Generator) -> np.ndarray | float:
    """All equal, unequal, or some axes free (never all)."""
    if rng.random() < 0.5:
        return float(rng.uniform(0.5, 2.0))
    weights = rng.uniform(0.5, 2.0, 3) * (rng.random(3) < 0.7)
    weights[rng.integers(3)] = 1.0
    return weights
