"""Rows of many frames at once are those of each frame, and they bend as they change."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, random_configuration
from robokin_addon.robokin.library import library_robot
from robokin_addon.robokin.spatial import so3
from robokin_addon.solvers import (
    AlongCurveTask,
    AxisTask,
    JointTask,
    JointVelocityTask,
    OrientationTask,
    PinTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Task,
    TwistTask,
    track,
)
from robokin_addon.solvers.optimal_control.discretization import DiscreteMotion, Discretization
from robokin_addon.solvers.optimal_control.rows.segments import TaskSegment
from robokin_addon.solvers.optimal_control.rows.task_sources import task_frames
from robokin_addon.solvers.optimal_control.rows.velocity_frames import VelocityFrames
from robokin_addon.solvers.tasks import Rows
from robokin_addon.solvers.velocity.task_levels import TaskLevels
from support.problems.tracked import panda

SHARES = np.array([1.0, 0.5, 0.0, 1.0, 0.2])


class OwnTask(PoseTask):
    """A user's, written for one pose."""

    def tip_rows(self, T_root_tip, target):
        e, A = super().tip_rows(T_root_tip, target)
        assert e.shape == (6,)
        return 2.0 * e, 2.0 * A


def tasks_of(model: RobotModel, q: np.ndarray) -> list[Task]:
    tip, joint = model.link_names[-1], next(joint for joint in model.moving_joints if joint.nq == 1 or joint.nv == 3)
    offset = np.eye(4)
    offset[:3, :3], offset[:3, 3] = so3.exp(np.array([0.3, -0.2, 0.5])), [0.1, 0.02, -0.03]
    T = forward_kinematics(model, q)[tip]
    band = {"position_band": (0.01, 0.0, 5.0), "orientation_band": 0.05}
    weights = {"position_weights": (1.0, 0.0, 2.0), "orientation_weights": (0.5, 1.0, 0.0)}
    value = model.neutral()[model.slot(joint.name).q]
    return [
        PoseTask(tip, T),
        PoseTask(tip, T, offset=offset, frame="tip", influence=0.8, **weights, **band),
        PositionTask(tip, T[:3, 3], offset=offset),
        OrientationTask(tip, T[:3, :3], frame="tip"),
        PinTask(tip, T, position_weights=(1.0, 0.0, 1.0)),
        OwnTask(tip, T, name="own"),
        AxisTask(tip, (0.0, 0.6, 0.8), (1.0, 0.0, 0.0)),
        PostureTask(q, weights={joint.name: 0.0}, band=(0.01, 0.002)),
        JointTask(joint.name, value),
    ]


@pytest.mark.parametrize("name", ["panda", "puppet"])
def test_rows_of_all_frames_are_those_of_each(name):
    model, rng = library_robot(name), np.random.default_rng(5)
    q = np.array([random_configuration(model, rng) for _ in SHARES])
    levels = TaskLevels(model, tasks_of(model, random_configuration(model, rng)))
    grid = Discretization(model, 0.04, np.zeros(model.nv))
    for i, task in enumerate(levels.tasks):
        aims = [tasks_of(model, p)[i].target for p in q]
        own = task_frames(grid, levels, i, aims, SHARES * task.influence)
        states = [levels.state(p, levels.targets, grid.dt) for p in q]
        segment = TaskSegment(0, levels, [levels.targets] * len(q), np.ones((len(q), len(levels.tasks))))
        found = own.rows(DiscreteMotion(grid, q), segment)
        for k, share in enumerate(SHARES):
            one = task.rows(states[k], aims[k]).weighted(share) if share else Rows.none(model.nv)
            for field in ("J", "lower", "upper", "weight", "part"):
                there = getattr(found.rows, field)[found.frame == k]
                np.testing.assert_allclose(there, getattr(one, field), atol=1e-12, err_msg=f"{task.name} {field}")


@pytest.mark.parametrize("frame", ["world", "tip"])
def test_bending_is_how_rows_change(frame):
    model, q, _ = panda()
    T, h = forward_kinematics(model, q)["panda_hand"], 1e-6
    levels = TaskLevels(model, [PoseTask("panda_hand", T, orientation_weights=(1.0, 2.0, 0.0), frame=frame)])
    grid = Discretization(model, 0.04, np.zeros(model.nv))
    segment = TaskSegment(0, levels, [[T]], np.ones((1, 1)))
    rows = task_frames(grid, levels, 0, [T], np.ones(1)).rows(DiscreteMotion(grid, q[None]), segment)
    z = np.random.default_rng(2).normal(size=len(rows.frame))
    J = lambda p: levels.tasks[0].rows(levels.state(p, [T], 0.04), T).J  # noqa: E731
    steps = h * np.eye(model.nv)
    change = np.array([(J(q + step) - J(q - step)).T @ z / (2.0 * h) for step in steps]).T
    np.testing.assert_allclose(rows.bending(z)[0], 0.5 * (change + change.T), atol=1e-8)


@pytest.mark.parametrize("frame", ["world", "tip", "space"])
def test_how_a_twist_begins_is_as_by_differences(frame):
    model, q, _ = panda()
    task = TwistTask("panda_hand", [0.1, 0.05, 0.0, 0.0, 0.1, 0.5], weights=(1, 1, 1, 1, 0, 1), frame=frame)
    levels, grid = TaskLevels(model, [task]), Discretization(model, 0.04, np.zeros(model.nv))
    followed = track(model, [task], [[task.target]] * 5, q, 0.04)
    assert followed.converged.all()
    rows = VelocityFrames(grid, task, [task.target], np.ones(1))
    moved = rows._moved(*(levels.state(each, [task.target], 0.04) for each in followed.q[3:]))
    found = rows._along_start(moved, task.target, task.rows_after(moved, task.target))
    np.testing.assert_allclose(task.start_jacobian(moved, task.target), found, atol=1e-6)


@pytest.mark.parametrize("kind", ["twist", "joint velocity", "along a curve that moves"])
def test_rows_of_velocities_change_with_both_ends_of_a_frame(kind):
    model, q0, _ = panda()
    hand = forward_kinematics(model, q0)["panda_hand"][:3, 3]
    bow = np.array([[-0.05, -0.05, 0.0], [0.05, 0.05, 0.0], [0.1, 0.02, 0.05], [0.2, 0.0, 0.0]])
    task, targets = {
        "twist": (twist := TwistTask("panda_hand", [0.1, 0.05, 0.0, 0.0, 0.1, 0.5], frame="tip"), [twist.target] * 4),
        "joint velocity": (JointVelocityTask({"panda_joint1": 0.3}), [{"panda_joint1": 0.3}] * 4),
        "along a curve that moves": (
            AlongCurveTask("panda_hand", hand + bow, 0.1),
            [(0.1, hand + bow + [0.0, 0.01 * k, 0.0]) for k in range(4)],
        ),
    }[kind]
    levels, grid = TaskLevels(model, [task]), Discretization(model, 0.04, np.zeros(model.nv))
    checked = [levels.checked_targets([target]) for target in targets]
    followed = track(model, [task], [[target] for target in targets], q0, 0.04)
    assert followed.converged.all()
    q = followed.q
    segment = TaskSegment(0, levels, checked, np.ones((len(q), 1)))

    def rows(q):
        own = VelocityFrames(grid, levels.tasks[0], [each[0] for each in checked], np.ones(len(q)))
        return own.rows(DiscreteMotion(grid, q), segment)

    found, h = rows(q), 1e-6
    assert (found.frame == 0).any() == ("curve" in kind)  # where the motion is to start
    np.testing.assert_allclose(found.rows.lower, 0.0, atol=1e-5)
    assert (found.frame > 0).any()
    for y in h * np.random.default_rng(0).normal(size=(3, *q.shape)):
        change = (rows(q - y).rows.lower - rows(q + y).rows.lower) / 2.0
        (before,), k = found.before, found.frame
        told = np.einsum("mj,mj->m", found.rows.J, y[k]) + np.einsum("mj,mj->m", before, y[np.maximum(k - 1, 0)])
        np.testing.assert_allclose(told[k > 0] / h, change[k > 0] / h, atol=1e-4)
