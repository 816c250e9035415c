"""Scenes that stand still and ask for too much: targets out of reach, or against each other, with levels below."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from robokin_addon.robokin import center_of_mass, forward_kinematics, integrate
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import (
    AimTask,
    AxisTask,
    CenterOfMassTask,
    DistanceTask,
    JointTask,
    OnPlaneTask,
    OrientationTask,
    PinTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Task,
)

from support.problems.limits import with_rates

from .goals import Goal
from .robots import FREE, X, Z, engine_robot
from .stacks import Stack

Scene = Callable[[], Stack]

TOO_FAR = 0.24  # [m]


def scene(name: str, robot: str, q0: Array, tasks: list[Task], is_free: bool = True) -> Stack:
    """A stack of one frame. Without limits on speed, unless those of the robot are kept."""
    model = engine_robot(robot)
    model = with_rates(model, **FREE) if is_free else model
    goals = [Goal(task, lambda q: None) for task in tasks]
    return Stack(name, model, goals, (), [[task.target for task in tasks]], model.limits.clamp(q0))


def beyond(robot: str, shoulder: str, length: float, way: tuple[float, float, float]) -> Array:
    """(3,) a point that much farther from a link than the links behind it are long [m]."""
    model = engine_robot(robot)
    origin = forward_kinematics(model, model.limits.middle(model.neutral()))[shoulder][:3, 3]
    return origin + np.array(way) / np.linalg.norm(way) * (length + TOO_FAR)


def _bent(robot: str, size: float, seed: int = 0) -> Array:
    model = engine_robot(robot)
    return integrate(
        model, model.limits.middle(model.neutral()), size * np.random.default_rng(seed).normal(size=model.nv)
    )


def _ball_bones(size: float) -> Stack:
    tasks = [
        PositionTask("tip", beyond("ball bones", "root", 3.0, (1.0, 3.0, 0.3))),
        PositionTask("lower", (0.5, 1.5, 0.9), priority=2),
    ]
    return scene("ball bones", "ball bones", _bent("ball bones", size), tasks)


def _planar(size: float) -> Stack:
    tasks = [
        PositionTask("end_effector", beyond("planar 4R", "ground", 1.25, (1.0, 1.0, 0.0))),
        PositionTask("part_3", (-0.3, 0.5, 0.0), priority=2),
    ]
    return scene("planar 4R", "planar 4R", _bent("planar 4R", size), tasks)


def _puppet() -> Stack:
    q0 = _bent("puppet", 0.1)
    head = forward_kinematics(engine_robot("puppet"), q0)["head"][:3, 3]
    tasks = [
        PositionTask("left_hand", beyond("puppet", "left_upper_arm", 0.2, (0.3, 1.0, 0.2))),
        AimTask("head", (1, 0, 0), (0.3, 0.5, 0.3), priority=2),
        PositionTask("head", head + 0.02 * X + 0.01 * Z, priority=3),
    ]
    return scene("puppet", "puppet", q0, tasks)


def _humanoid() -> Stack:
    model = engine_robot("humanoid")
    q0 = _bent("humanoid", 0.1)
    T = forward_kinematics(model, q0)
    tasks = [
        PositionTask("left_hand", beyond("humanoid", "left_upper_arm", 0.9, (1.0, 0.5, 0.3))),
        PositionTask("right_hand", T["right_hand"][:3, 3] + 0.3 * X + 0.2 * Z, priority=2),
        CenterOfMassTask(center_of_mass(model, q0) + 0.05 * X, (1.0, 1.0, 0.0), priority=3),
    ]
    return scene("humanoid", "humanoid", q0, tasks)


PANDA = np.array([0.0, -0.5, 0.3, -2.0, 0.1, 1.6, 0.5, 0.02])


def _panda(first: Task, is_free: bool = True) -> Stack:
    tasks = [
        first,
        PositionTask("panda_link4", (0.2, 0.3, 0.5), priority=2),
        PostureTask(np.zeros(8), priority=3),
    ]
    return scene("panda", "panda", PANDA, tasks, is_free)


def _panda_far(is_free: bool) -> Stack:
    return _panda(PositionTask("panda_hand", beyond("panda", "panda_link2", 0.95, (1.0, 0.4, 0.3))), is_free)


def _panda_pose() -> Stack:
    T = forward_kinematics(engine_robot("panda"), PANDA)["panda_hand"].copy()
    T[:3, 3] = beyond("panda", "panda_link2", 0.95, (1.0, -0.4, 0.1))
    return _panda(PoseTask("panda_hand", T))


def _two_places() -> Stack:
    """The first level contradicts itself."""
    tasks = [
        PositionTask("panda_hand", (0.5, 0.2, 0.4), name="here"),
        PositionTask("panda_hand", (0.4, -0.3, 0.6), name="there"),
        JointTask("panda_joint1", 1.0, priority=2),
        PostureTask(np.zeros(8), priority=3),
    ]
    return scene("two places", "panda", PANDA, tasks)


def _too_near() -> Stack:
    """A distance that the folded arm does not come down to, and an axis below it."""
    tasks = [
        DistanceTask("panda_hand", 0.05, other_point=(0.0, 0.0, -0.3), relation="inside"),
        AxisTask("panda_hand", (0, 0, 1), (0.3, 0.2, -1.0), priority=2),
        PositionTask("panda_link5", (0.3, 0.3, 0.5), priority=3),
    ]
    return scene("too near", "panda", PANDA, tasks)


def _second_too_far() -> Stack:
    """The first level is met, the second is out of its reach, the third is left what remains."""
    hand = forward_kinematics(engine_robot("panda"), PANDA)["panda_hand"][:3, 3]
    tasks = [
        PositionTask("panda_hand", hand),
        PositionTask("panda_link5", (0.0, 3.0, 0.5), priority=2),
        OrientationTask("panda_hand", np.eye(3), priority=3),
    ]
    return scene("second too far", "panda", PANDA, tasks)


def _ur5() -> Stack:
    tasks = [
        OnPlaneTask("tool0", ((0, 0, 1.4), (0, 0, 1)), "above"),
        AimTask("tool0", (0, 0, 1), (2.0, 1.0, 0.0), priority=2),
        PostureTask(np.full(6, 0.5), priority=3),
    ]
    return scene("ur5", "ur5", np.array([0.3, -1.2, 1.5, -1.0, -1.5, 0.2]), tasks)


def _wheels() -> Stack:
    """The hand far above what the arm reaches, wherever the base rolls."""
    tasks = [
        PositionTask("arm_tool_link", (0.8, 0.3, 3.0)),
        PositionTask("base_footprint", (0.5, 0.2, 0.0), priority=2),
    ]
    return scene("wheels", "tiago", _bent("tiago", 0.1), tasks, is_free=False)


def _four_feet() -> Stack:
    """Feet that are pinned, and a trunk that is to be higher than the legs are long."""
    model = engine_robot("solo12")
    legs = {f"{leg}_{joint}": x for leg in ("FL", "FR", "HL", "HR") for joint, x in (("HFE", 0.8), ("KFE", -1.6))}
    q0 = model.configuration(legs)
    feet = [PinTask(f"{leg}_FOOT", orientation_weights=0.0) for leg in ("FL", "FR", "HL", "HR")]
    tasks = [
        *feet,
        PositionTask("base_link", (0.0, 0.0, TOO_FAR + 0.1), priority=2),
        PostureTask(legs, priority=3),
    ]
    return scene("four feet", "solo12", q0, tasks)


SCENES: dict[str, Scene] = {
    "ball bones, straight": lambda: _ball_bones(0.0),
    "ball bones, bent": lambda: _ball_bones(0.3),
    "planar 4R, straight": lambda: _planar(0.0),
    "planar 4R, bent": lambda: _planar(0.4),
    "puppet": _puppet,
    "humanoid": _humanoid,
    "panda": lambda: _panda_far(True),
    "panda, slow": lambda: _panda_far(False),
    "panda, pose": _panda_pose,
    "two places": _two_places,
    "too near": _too_near,
    "second too far": _second_too_far,
    "ur5": _ur5,
    "wheels": _wheels,
    "four feet": _four_feet,
}
