"""A target too fast for the limits is approached like a time-optimal stop, on every path: no overshoot, no ringing.

A crane turns about z, and its tool slides along z: whatever way a turn is asked for, the fastest motion from rest to
rest is known. Arms then show that what is below a pose that jumps does not make the tool swing past it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, center_of_mass, forward_kinematics, library_robot
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import (
    AimTask,
    AxisTask,
    CenterOfMassTask,
    DistanceTask,
    JointTask,
    OnPlaneTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
    Task,
    track,
)
from robokin_addon.solvers.criteria import Criterion, JointSprings, KineticEnergy
from support.engine.motions import fastest, settled
from support.engine.robots import X, Z, at, body, engine_robot
from support.few import rest_slow
from support.problems.limits import with_rates

TURN = 1.2  # [rad] that is asked for at frame 1
ARM = 0.5  # [m] of the crane
NEAR = 2e-5  # [rad] what a tolerance of 1e-5 m allows at the end of the arm
SHARE, EXTRA = 1.1, 2  # of the fastest motion, and frames
PAST = 1e-3  # [m] by which a tool may go past its target


def crane(velocity: float = 4.0) -> RobotModel:
    joints = [
        Joint("turn", "revolute", "base", "arm", axis=Z, lower=-3, upper=3, velocity=velocity, acceleration=10),
        Joint("slide", "prismatic", "arm", "tool", at(ARM, 0, 0), Z, -1, 1, 2, acceleration=5),
    ]
    return RobotModel("crane", [Link("base"), body("arm", ARM, X), body("tool", 0.1, X)], joints)


def asked(kind: str, angle: float) -> tuple[Task, Any]:
    """A task that the crane meets when it has turned so far, with its slide at 0, and its target."""
    model = crane()
    q = np.array([angle, 0.0])
    T = forward_kinematics(model, q)["tool"]
    side = np.array([-np.sin(angle), np.cos(angle), 0.0])
    tasks: dict[str, tuple[Task, Any]] = {
        "joint": (JointTask("turn", 0.0), angle),
        "posture": (PostureTask({"turn": 0.0}), {"turn": angle}),
        "position": (PositionTask("tool", (0, 0, 0), weights=(1, 1, 0)), T[:3, 3]),
        "pose": (PoseTask("tool", np.eye(4)), T),
        "orientation": (OrientationTask("tool", np.eye(3)), T[:3, :3]),
        "axis": (AxisTask("tool", X, X), T[:3, 0]),
        "aim": (AimTask("tool", X, (1, 0, 0)), 5.0 * T[:3, 0]),
        "plane": (OnPlaneTask("tool", ((0, 0, 0), Z)), (np.zeros(3), side)),
        "distance": (
            DistanceTask("tool", 0.0, other_point=(ARM, -0.1, 0)),
            float(np.linalg.norm(T[:3, 3] - (ARM, -0.1, 0))),
        ),
        "relative pose": (RelativePoseTask("tool", "base", np.eye(4)), T),
        "center of mass": (CenterOfMassTask((0, 0, 0), (1, 1, 0)), center_of_mass(model, q)),
    }
    return tasks[kind]


KINDS = (
    "joint",
    "posture",
    "position",
    "pose",
    "orientation",
    "axis",
    "aim",
    "plane",
    "distance",
    "relative pose",
    "center of mass",
)


@dataclass(frozen=True)
class Beside:
    """What is asked for beside the turn. tasks: and their targets.   priority: of the turn."""

    tasks: Sequence[tuple[Task, Any]] = ()
    criteria: Sequence[Criterion] = ()
    priority: int = 1


BESIDE = {
    "alone": lambda: Beside(),
    "energy": lambda: Beside(criteria=[KineticEnergy()]),
    "springs": lambda: Beside(criteria=[JointSprings()]),
    "a level against it": lambda: Beside([(JointTask("turn", 0.0, priority=2, name="back"), -1.0)]),
    "a level beside it": lambda: Beside([(JointTask("slide", 0.0, priority=2), 0.0)]),
    "below a level": lambda: Beside([(JointTask("slide", 0.0), 0.0)], priority=2),
}


def turned(kind: str, beside: Beside, model: RobotModel, fps: int) -> Array:
    """(frames,) the angle of the crane, which stands at 0 when it is asked to be at TURN from frame 1 on."""
    (task, before), (_, after) = asked(kind, 0.0), asked(kind, TURN)
    task.priority = beside.priority
    others = [target for _, target in beside.tasks]
    frames = int(2.0 * fastest(TURN, *rates(model)) * fps)
    targets = [[before, *others], *[[after, *others]] * frames]
    tasks = [task, *(each for each, _ in beside.tasks)]
    return track(model, tasks, targets, np.zeros(2), 1.0 / fps, criteria=beside.criteria).q[:, 0]


def rates(model: RobotModel) -> tuple[float, float]:
    return float(model.velocity[0]), float(model.acceleration[0])


@pytest.mark.parametrize("fps", rest_slow([25, 240]))
@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("kind", KINDS)
def test_a_turn_stops_in_time(kind: str, name: str, fps: int) -> None:
    model = crane()
    angle = turned(kind, BESIDE[name](), model, fps)
    assert angle.max() <= TURN + NEAR, f"{angle.max() - TURN:.3g} rad over"
    at_most = SHARE * fastest(TURN, *rates(model)) * fps + EXTRA
    assert settled(abs(angle - TURN) > NEAR) <= at_most


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("kind", ["joint", "position"])
def test_a_turn_at_full_speed_stops_in_time(kind: str, name: str) -> None:
    """Most of the way is done at the limit on velocity."""
    model = crane(velocity=1.5)
    angle = turned(kind, BESIDE[name](), model, 25)
    assert angle.max() <= TURN + NEAR, f"{angle.max() - TURN:.3g} rad over"
    assert settled(abs(angle - TURN) > NEAR) <= SHARE * fastest(TURN, *rates(model)) * 25 + EXTRA


@pytest.mark.parametrize("fps", rest_slow([25, 240]))
@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("kind", ["joint", "position"])
def test_a_moving_target_is_caught_up_with_from_behind(kind: str, name: str, fps: int) -> None:
    """From 0.8 rad on it turns away at 0.5 rad/s."""
    model, beside, speed = crane(), BESIDE[name](), 0.5
    goal = np.concatenate(([0.0], 0.8 + speed * np.arange(2 * fps) / fps))
    task, _ = asked(kind, 0.0)
    task.priority = beside.priority
    others = [target for _, target in beside.tasks]
    targets = [[asked(kind, angle)[1], *others] for angle in goal]
    tasks = [task, *(each for each, _ in beside.tasks)]
    angle = track(model, tasks, targets, np.zeros(2), 1.0 / fps, criteria=beside.criteria).q[:, 0]
    assert (angle - goal).max() <= NEAR, f"{(angle - goal).max():.3g} rad over"
    assert settled(abs(angle - goal) > NEAR) <= 1.2 * fps


# -- arms --------------------------------------------------------------------------------------------------------------

JUMPS = [(0.2, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, -0.25), (-0.2, 0.1, 0.1)]
POSTURES = {
    "panda": (0.0, -0.5, 0.3, -2.0, 0.1, 1.6, 0.5),
    "ur5": (0.3, -1.2, 1.5, -1.0, -1.5, 0.2),
}
TIPS = {"panda": ("tool", "link_4"), "ur5": ("tool0", "forearm_link")}
BELOW = ("energy", "springs", "posture", "elbow")


def arm(robot: str) -> tuple[RobotModel, Array]:
    model = library_robot("panda") if robot == "panda" else with_rates(engine_robot("ur5"), acceleration=6.0)
    q = model.limits.middle(model.neutral())
    q[: len(POSTURES[robot])] = POSTURES[robot]
    return model, q


def jump(robot: str, below: str | None, way: Sequence[float], fps: int) -> tuple[Array, Array]:
    """(frames,) how far the tool is from its target and how far it is past it, along the way of the jump [m]."""
    model, q = arm(robot)
    tip, elbow = TIPS[robot]
    frames = forward_kinematics(model, q)
    there = frames[tip].copy()
    there[:3, 3] += way
    more: dict[str | None, tuple[list[Task], list[Criterion]]] = {
        None: ([], []),
        "energy": ([], [KineticEnergy()]),
        "springs": ([], [JointSprings()]),
        "posture": ([PostureTask(q, priority=2)], []),
        "elbow": ([PositionTask(elbow, frames[elbow][:3, 3], priority=2)], []),
    }
    others, criteria = more[below]
    tasks = [PoseTask(tip, there), *others]
    below_targets = [task.target for task in others]
    targets = [[frames[tip], *below_targets], *[[there, *below_targets]] * int(2.4 * fps)]
    q = track(model, tasks, targets, q, 1.0 / fps, criteria=criteria).q
    away = np.array([forward_kinematics(model, each)[tip][:3, 3] for each in q]) - there[:3, 3]
    return np.linalg.norm(away, axis=1), away @ (np.array(way) / np.linalg.norm(way))


def assert_stops(distance: Array, past: Array) -> int:
    """No farther past its target than is allowed, and once near, always near. The frame from which on it is."""
    assert past.max() <= PAST, f"{1e3 * past.max():.1f} mm past"
    near = np.flatnonzero(distance <= PAST)
    assert len(near), f"{1e3 * distance[-1]:.1f} mm away at the end"
    assert distance[near[0] :].max() <= PAST, f"{1e3 * distance[near[0] :].max():.1f} mm away again"
    return int(near[0])


@pytest.mark.parametrize("fps", rest_slow([25, 60]))
@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("way", JUMPS, ids=str)
@pytest.mark.parametrize("robot", ["panda", "ur5"])
def test_a_tool_does_not_swing_past_its_target(
    robot: str, way: tuple[float, float, float], below: str, fps: int
) -> None:
    alone = assert_stops(*jump(robot, None, way, fps))
    arrived = assert_stops(*jump(robot, below, way, fps))
    assert arrived <= 1.15 * alone + EXTRA, f"there at frame {arrived}, alone at {alone}"
