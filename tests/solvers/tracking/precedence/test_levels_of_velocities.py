"""Levels above and below velocities: a frame gives each level what it gives without those below, also where the limits
on speed are the reason that it is lost; and a motion in pieces is the one in a piece."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, load_urdf
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import JointTask, JointVelocityTask, PositionTask, Task, Tracker, TwistTask, track
from support.few import rest_slow
from support.robots import robot

DT = 1.0 / 24.0
# The twin's loops are slow: with every stack in the slow tests.
BACKENDS = ("native", pytest.param("numpy", marks=pytest.mark.slow))
FRAMES = 24
HAND, ELBOW = "panda_hand", "panda_link4"
READY = np.array([0.2, -0.5, 0.1, -2.0, 0.1, 1.7, 0.7, 0.02])
STACKS = ("place, twist", "place, twist, joint", "twist, joint", "twist, place", "joints, place")


def panda(acceleration: float) -> RobotModel:
    model = load_urdf(robot("panda"))
    if acceleration == math.inf:
        return model
    joints = [joint for joint in model.joints if joint.parent is not None]
    moving = {joint.name for joint in model.moving_joints}
    joints = [replace(joint, acceleration=acceleration) if joint.name in moving else joint for joint in joints]
    return RobotModel(model.name, model.links, joints)


def stack(name: str, model: RobotModel) -> tuple[list[Task], list[list[Any]]]:
    """Tasks, and their targets in each frame: places jump, and velocities are faster than joints for a while."""
    places = {link: forward_kinematics(model, READY)[link][:3, 3] for link in (HAND, ELBOW)}

    def twist(link: str, priority: int) -> Task:
        return TwistTask(link, np.zeros(6), weights=(1, 1, 1, 0, 0, 0), priority=priority)

    def jumping(frame: int) -> Array:
        return places[HAND] + np.array([0.0, 0.4 * (2 < frame < 20), 0.0])

    def there_and_back(frame: int) -> Array:
        return np.array([0.0, 1.5 * math.sin(frame / 3), 0.0, 0.0, 0.0, 0.0])

    def turning(frame: int) -> dict[str, float]:
        return {"panda_joint1": 5.0 * math.sin(frame / 3), "panda_joint4": 0.1}

    if name == "joints, place":
        turn = JointVelocityTask({"panda_joint1": 0.3, "panda_joint4": 0.1})
        tasks, aims = [turn, PositionTask(HAND, places[HAND], priority=2)], (turning, jumping)
    elif name == "twist, place":
        tasks = [twist(HAND, 1), PositionTask(ELBOW, places[ELBOW], priority=2)]
        aims = (there_and_back, lambda _: places[ELBOW])
    elif name == "twist, joint":
        tasks = [twist(HAND, 1), JointTask("panda_joint3", 0.1, priority=2)]
        aims = (there_and_back, lambda frame: 0.1 + 0.3 * (frame > 5))
    else:
        tasks = [PositionTask(HAND, places[HAND]), twist(ELBOW, 2), JointTask("panda_joint7", 0.7, priority=3)]
        aims = (jumping, there_and_back, lambda frame: 0.7 + 0.5 * (frame > 4))
        tasks, aims = tasks[: len(name.split(","))], aims[: len(name.split(","))]
    return tasks, [[aim(frame) for aim in aims] for frame in range(FRAMES)]


def one_frame(model: RobotModel, tasks: Sequence[Task], q: Array, v: Array, aims: Sequence[Any], backend: str) -> Array:
    """(tasks, 2) what is lacking after a frame from where the robot stands."""
    tracker = Tracker(model, tasks, DT, backend)
    tracker.stand(q, v)
    return tracker.run(tracker.check_targets([aims])).residuals[0]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("acceleration", rest_slow([10.0, math.inf]))
@pytest.mark.parametrize("name", STACKS)
def test_a_frame_gives_a_level_what_it_gives_without_those_below(name: str, acceleration: float, backend: str) -> None:
    model = panda(acceleration)
    tasks, targets = stack(name, model)
    whole = track(model, tasks, targets, READY, DT, backend=backend)
    assert whole.missed.sum() > 5, "limits on speed are the reason now and then"
    for frame in range(1, FRAMES - 1, 1 if backend == "native" else 10):  # NumPy takes a hundred times as long
        q, v = whole.q[frame], (whole.q[frame] - whole.q[frame - 1]) / DT
        found = one_frame(model, tasks, q, v, targets[frame + 1], backend)
        for count in range(1, len(tasks)):
            alone = one_frame(model, tasks[:count], q, v, targets[frame + 1][:count], backend)
            assert (found[:count] <= alone + 1e-5).all(), (frame, count, found[:count], alone)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("first", [False, True])
def test_who_catches_up_goes_on_when_another_task_is_left_out(first: bool, backend: str) -> None:
    """The hand brakes for its goal from frame 3 on; from frame 6 on a task of the finger no longer counts."""
    model = panda(4.0)
    finger = JointTask("panda_finger_joint1", READY[7], priority=1 if first else 3)
    place = forward_kinematics(model, READY)[HAND][:3, 3]
    hand, turn = PositionTask(HAND, place, priority=2), TwistTask(ELBOW, np.zeros(6), priority=4)
    tasks: list[Task] = [finger, hand, turn]
    targets = [[READY[7], place + np.array([0.0, 0.4 * (frame > 2), 0.0]), np.zeros(6)] for frame in range(FRAMES)]
    whole, without = Tracker(model, tasks, DT, backend), Tracker(model, tasks[1:], DT, backend)
    for tracker in (whole, without):
        tracker.stand(READY)
    shares = [np.array([float(frame < 6), 1.0, 1.0]) for frame in range(FRAMES)]
    found = whole.run(whole.check_targets(targets), shares)
    wanted = without.run(without.check_targets([each[1:] for each in targets]))
    assert wanted.residuals[6:10, 0, 0].min() > 0.01, "the hand is late while the task is left out"
    # Where the first level goes, the length that errors are divided by is another from then on.
    np.testing.assert_allclose(found.q, wanted.q, rtol=0.0, atol=1e-3 if first else 1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", STACKS)
def test_a_motion_in_pieces_is_the_one_in_a_piece(name: str, backend: str) -> None:
    """The state has a goal of each level: pieces end while levels are late, and one while a task fades."""
    model = panda(10.0)
    tasks, targets = stack(name, model)
    shares = [np.ones(len(tasks)) for _ in targets]
    for frame in (11, 12, 13):
        shares[frame][-1] = (0.6, 0.3, 0.0)[frame - 11]
    ends = []
    for pieces in ([range(FRAMES)], [range(5), range(5, 12), range(12, 14), range(14, FRAMES)]):
        tracker = Tracker(model, tasks, DT, backend)
        tracker.stand(READY)
        aims = tracker.check_targets(targets)
        parts = [tracker.run([aims[k] for k in own], [shares[k] for k in own]).q for own in pieces]
        ends.append(np.concatenate(parts))
    np.testing.assert_array_equal(*ends)
