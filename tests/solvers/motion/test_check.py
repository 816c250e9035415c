"""The check of a motion finds what is wrong, at the right frame and joint, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, TaskError, forward_kinematics, load_urdf
from robokin_addon.solvers import JointVelocityTask, PoseTask, PositionTask, TwistTask, track
from robokin_addon.solvers.motion.check import check_motion, task_residuals
from robokin_addon.solvers.motion.motion import Motion
from robokin_addon.solvers.motion.violation import Violation
from robokin_addon.solvers.results import Status
from support.robots import robot

DT = 0.1


def slider(**limits) -> RobotModel:
    joints = [Joint("slide", "prismatic", "a", "b", **limits), Joint("base", "planar", "b", "c", lower=-1.0, upper=1.0)]
    return RobotModel("slider", [Link(n) for n in "abc"], joints)


def motion_of(model: RobotModel, *positions: float, **kwargs) -> Motion:
    q = np.zeros((len(positions), model.nq))
    q[:, 0] = positions
    return Motion.of(model, DT * np.arange(len(positions)), q, **kwargs)


def found(motion: Motion, **kwargs) -> list[tuple]:
    return [(v.frame, v.joint, v.kind, v.limit) for v in check_motion(motion, **kwargs).violations]


def test_each_kind_of_limit_with_frame_joint_value():
    model = slider(lower=-0.5, upper=1.0, velocity=5.0, acceleration=40.0)
    motion = motion_of(model, 0.0, 0.3, 0.7, 1.1, 0.6, -0.1, -0.51)
    check = check_motion(motion)
    assert [(v.frame, v.joint, v.kind, v.limit) for v in check.violations] == [
        (3, "slide", "upper", 1.0),
        (4, "slide", "acceleration", 40.0),
        (5, "slide", "velocity", 5.0),
        (6, "slide", "lower", -0.5),
    ]
    assert [v.value for v in check.violations] == pytest.approx([1.1, -90.0, -7.0, -0.51])
    assert not check.ok and check.statuses == (Status.EMPTY,) * 7
    assert check.summary() == "7 frames: 0 miss a task; limits broken: upper 1, acceleration 1, velocity 1, lower 1"
    assert check.to_dict()["violations"][0] == {
        "frame": 3,
        "joint": "slide",
        "kind": "upper",
        "value": 1.1,
        "limit": 1.0,
        "unit": "m",
    }


def test_coordinates_of_a_joint_are_named():
    model = slider()
    q = np.zeros((1, 4))
    q[0, 2] = 1.5
    assert found(Motion.of(model, [0.0], q)) == [(0, "base/y", "upper", 1.0)]


def test_start_velocity_counts():
    model = slider(velocity=1.0, acceleration=20.0)
    motion = motion_of(model, 0.0, 0.1, start_velocity=[3.5, 0, 0, 0])
    assert found(motion) == [(0, "slide", "velocity", 1.0), (1, "slide", "acceleration", 20.0)]


def test_exactly_at_every_limit_is_inside():
    path = 0.3 - np.abs(((0.1 * np.arange(200)) % 1.2) - 0.6)
    model = slider(lower=path.min(), upper=path.max(), velocity=1.0, acceleration=20.0)
    assert found(motion_of(model, *path)) == []
    beyond = np.nextafter(path.max(), 1.0)
    assert found(motion_of(model, beyond)) == [(0, "slide", "upper", path.max())]


def test_differences_are_allowed_their_rounding_and_no_more():
    model = slider(velocity=1.0)
    path = 1000.0 + 0.1 * np.arange(100)
    assert found(motion_of(model, *path)) == []
    path[50:] += 1e-9
    assert found(motion_of(model, *path)) == [(50, "slide", "velocity", 1.0)]


def test_float32_positions_only_when_the_caller_says_so():
    model = slider(upper=0.7, velocity=1.0, acceleration=10.0)
    single = float(np.nextafter(np.float32(0.7), np.float32(1.0)))
    assert single > 0.7
    assert found(motion_of(model, single, start_velocity=[0.0] * 4)) == [(0, "slide", "upper", 0.7)]
    assert found(motion_of(model, single), float32=True) == []
    assert found(motion_of(model, 0.7 + 1e-6), float32=True) == [(0, "slide", "upper", 0.7)]
    ramp = [float(np.float32(-3.0 + 0.1 * k)) for k in range(30)]
    assert found(motion_of(model, *ramp, start_velocity=[1.0, 0, 0, 0])) != []
    assert found(motion_of(model, *ramp, start_velocity=[1.0, 0, 0, 0]), float32=True) == []
    fast = [float(np.float32(-3.0 + 0.1001 * k)) for k in range(30)]
    assert "velocity" in {kind for _, _, kind, _ in found(motion_of(model, *fast), float32=True)}


def panda_hold(frames: int = 5) -> tuple[RobotModel, Motion, np.ndarray]:
    model = load_urdf(robot("panda"))
    q0 = 0.5 * (model.lower + model.upper)
    q = q0 + 0.001 * np.arange(frames)[:, None]
    targets = np.array([[forward_kinematics(model, row)["panda_hand"]] for row in q])
    return model, Motion.of(model, np.arange(frames), q), targets


def test_residuals_and_status_per_frame():
    _, motion, targets = panda_hold()
    task = PoseTask("panda_hand", np.eye(4))
    check = check_motion(motion, [task], targets)
    assert check.ok and check.statuses == (Status.CONVERGED,) * 5 and check.residuals.max() < 1e-12
    targets[2, 0, 0, 3] += 0.003
    targets[3, 0, 2, 3] += 50.0
    check = check_motion(motion, [task], targets)
    assert [str(s) for s in check.statuses] == ["CONVERGED", "CONVERGED", "MAX_ITERATIONS", "OUT_OF_REACH", "CONVERGED"]
    assert check.residuals[2, 0] == pytest.approx([0.003, 0.0], abs=1e-12)
    assert check.to_dict()["frames"][3]["residuals"][0]["position"] == pytest.approx(50.0)
    assert not check.ok


def test_outside_the_limits_is_not_converged():
    model, motion, _ = panda_hold(2)
    q = np.array(motion.q)
    q[1, 3] = model.upper[3] + 0.1
    targets = np.array([[forward_kinematics(model, row)["panda_hand"]] for row in q])
    check = check_motion(Motion.of(model, [0.0, 1.0], q), [PoseTask("panda_hand", np.eye(4))], targets)
    assert [str(s) for s in check.statuses] == ["CONVERGED", "LIMIT"]
    assert check.violations[0].joint == "panda_joint4"


def test_offset_free_axes_and_tip_frame():
    model, motion, _ = panda_hold(1)
    tip = forward_kinematics(model, motion.q[0])["panda_hand"]
    offset = np.eye(4)
    offset[2, 3] = 0.1
    wanted = tip @ offset
    shift = wanted.copy()
    shift[:3, 3] += 0.01 * tip[:3, 2] + 0.002 * tip[:3, 0]
    whole = PoseTask("panda_hand", shift, offset=offset)
    sliding = PositionTask("panda_hand", shift[:3, 3], weights=(1, 1, 0), frame="tip", offset=offset)
    residuals = task_residuals(model, motion.q, [whole, sliding])
    assert residuals[0, 0] == pytest.approx([np.hypot(0.01, 0.002), 0.0], abs=1e-9)
    assert residuals[0, 1] == pytest.approx([0.002, 0.0], abs=1e-9)


def test_velocities_are_judged_as_they_were_tracked():
    model = load_urdf(robot("panda"))
    q = np.zeros(model.nq)
    q[:7] = 0.2, -0.3, 0.1, -2.0, 0.1, 1.7, 0.7
    hinge = TwistTask.about((0.2, 0.4, 0.0), (0, 0.2, 1), 0.4)
    tasks = [TwistTask("panda_hand", hinge, frame="space"), JointVelocityTask({"panda_joint3": 0.2})]
    result = track(model, tasks, [[hinge, {"panda_joint3": 0.2}]] * 12, q, DT)
    check = check_motion(result.motion, tasks)
    assert result.converged.all() and check.ok
    np.testing.assert_allclose(check.residuals, result.residuals, atol=1e-9)


def test_bad_targets():
    _, motion, targets = panda_hold()
    task = PoseTask("panda_hand", np.eye(4))
    with pytest.raises(TaskError, match=r"shape \(5, 1, 4, 4\)"):
        check_motion(motion, [task], targets[:3])
    targets[4, 0, 1, 1] = np.nan
    with pytest.raises(TaskError, match="frame 4 is not finite"):
        check_motion(motion, [task], targets)
    with pytest.raises(TaskError, match="numbers"):
        check_motion(motion, [task], "here")


def test_tasks_are_judged_by_their_influence_as_in_tracking():
    model = load_urdf(robot("panda"))
    q = model.limits.middle(model.neutral())
    T = forward_kinematics(model, q)["panda_hand"]
    far = T.copy()
    far[2, 3] += 0.05
    here, low = PoseTask("panda_hand", T), PositionTask("panda_hand", [9.0, 0.0, 0.0], priority=2, influence=0.0)
    half = PoseTask("panda_hand", far, influence=0.5)
    cases = [[half], [here, low], [PoseTask("panda_hand", far, influence=0.0)], [low]]
    for tasks in cases:
        tracked = track(model, tasks, [[task.target for task in tasks]] * 2, q0=q)
        checked = check_motion(tracked.motion, tasks)
        assert list(checked.statuses) == tracked.status
        assert checked.statuses[0] is (Status.CONVERGED if tasks in (cases[0], cases[1]) else Status.EMPTY)


def test_a_singular_value_of_zero_is_told_without_its_rounding():
    near = Violation(0, "tool", "singularity", 7.5e-17, 0.02, why="elbow")
    assert near.sentence() == "tool is near a singularity, smallest singular value 0.000: elbow"
