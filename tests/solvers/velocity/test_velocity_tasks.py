"""Tasks that ask for velocities, and closed loops, over many steps."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import (
    Joint,
    Link,
    RobotModel,
    TaskError,
    UnknownNameError,
    forward_kinematics,
    frame_jacobian,
    integrate,
    load_urdf,
)
from robokin_addon.robokin.spatial import so3
from robokin_addon.solvers import (
    AlongCurveTask,
    IKProblem,
    JointTask,
    JointVelocityTask,
    LinearVelocityTask,
    LoopClosureTask,
    PinTask,
    PositionTask,
    TwistTask,
    VelocityConstraint,
    VelocityProblem,
    solve_ik,
    track,
    velocity_step,
)
from support.robots import robot

TIP = "panda_hand"
Q = np.array([0.2, -0.5, 0.1, -2.0, 0.1, 1.7, 0.7, 0.02])
DT = 0.01


def _panda() -> tuple[RobotModel, np.ndarray]:
    model = load_urdf(robot("panda"))
    return model, np.concatenate((Q, np.zeros(model.nq)))[: model.nq]


@pytest.mark.parametrize("frame", ["world", "tip", "space"])
def test_twists_are_those_of_the_jacobian(frame: str) -> None:
    model, q = _panda()
    T = forward_kinematics(model, q)[TIP]
    twist = np.array([0.02, -0.03, 0.01, 0.05, -0.02, 0.1])
    step = velocity_step(model, q, [TwistTask(TIP, twist, frame=frame)], dt=1e-6)
    reference = {"world": "local_world_aligned", "tip": "local", "space": "world"}[frame]
    np.testing.assert_allclose(frame_jacobian(model, q, TIP, reference) @ step.v, twist, atol=1e-6)
    assert T.shape == (4, 4)


def test_a_door_is_opened_about_its_hinge() -> None:
    model, q = _panda()
    T = forward_kinematics(model, q)[TIP]
    hinge, speed = T[:3, 3] + np.array([0.0, 0.4, 0.0]), 0.2
    task = TwistTask(TIP, TwistTask.about(hinge, (0, 0, 1), speed), frame="space")
    problem = VelocityProblem(model, [task], dt=DT)
    for k in range(200):
        step = problem.step(q)
        assert step.residuals.max() < 1e-9
        q = integrate(model, q, step.v * DT)
        turned = so3.exp(np.array([0.0, 0.0, speed * DT * (k + 1)]))
        here = forward_kinematics(model, q)[TIP]
        np.testing.assert_allclose(here[:3, 3], hinge + turned @ (T[:3, 3] - hinge), atol=1e-3)
        np.testing.assert_allclose(here[:3, :3], turned @ T[:3, :3], atol=1e-3)


def test_along_a_curve_at_a_speed() -> None:
    model, q = _panda()
    p = forward_kinematics(model, q)[TIP][:3, 3]
    angles = np.linspace(0.0, 2.0 * np.pi, 401)[:-1]
    circle = p + 0.1 * np.column_stack((np.cos(angles) - 1.0, np.sin(angles), 0.0 * angles))
    task = AlongCurveTask(TIP, circle, 0.15, closed=True)
    problem = VelocityProblem(model, [task], dt=DT)
    length = 0.0
    for _ in range(420):  # once round: 2 pi 0.1 / 0.15 = 4.19 s
        before = forward_kinematics(model, q)[TIP][:3, 3]
        q = integrate(model, q, problem.step(q).v * DT)
        here = forward_kinematics(model, q)[TIP][:3, 3]
        length += np.linalg.norm(here - before)
        away = here - p + np.array([0.1, 0.0, 0.0])
        assert np.hypot(away[0], away[1]) == pytest.approx(0.1, abs=2e-4)
        assert abs(away[2]) < 1e-4
    assert length == pytest.approx(420 * DT * 0.15, rel=1e-2)
    still = AlongCurveTask(TIP, [p - np.array([0.1, 0, 0]), p], 0.15)
    assert np.linalg.norm(frame_jacobian(model, q, TIP)[:3] @ velocity_step(model, _panda()[1], [still]).v) < 1e-9


def test_joint_velocities_and_linear_rows() -> None:
    model, q = _panda()
    spin = JointVelocityTask({"panda_joint1": 0.3, "panda_joint4": -0.2})
    hold = PositionTask(TIP, forward_kinematics(model, q)[TIP][:3, 3], priority=2)
    v = velocity_step(model, q, [spin, hold], dt=DT).v
    assert v[model.slot("panda_joint1").v] == pytest.approx(0.3, rel=1e-9)
    assert v[model.slot("panda_joint4").v] == pytest.approx(-0.2, rel=1e-9)
    A = np.random.default_rng(0).normal(size=(2, model.nv))
    for given in (A, lambda q: A):
        rows = LinearVelocityTask(given, (0.1, -0.2))
        np.testing.assert_allclose(A @ velocity_step(model, q, [rows], dt=DT).v, (0.1, -0.2), atol=1e-9)
    constraint = VelocityConstraint(A, np.array([0.1, -0.2]), np.array([0.1, -0.2]))
    np.testing.assert_allclose(
        velocity_step(model, q, [rows], dt=DT).v, velocity_step(model, q, [], dt=DT, constraints=[constraint]).v
    )
    too_fast = velocity_step(model, q, [JointVelocityTask({"panda_joint1": 100.0})], dt=DT)
    limit = model.velocity[model.slot("panda_joint1").v][0]
    assert too_fast.residuals[0, 0] == pytest.approx(100.0 - limit, rel=1e-6)


def test_a_pin_without_a_pose_stands_still() -> None:
    model, q = _panda()
    p = forward_kinematics(model, q)["panda_link8"][:3, 3]
    tasks = [
        PinTask("panda_link4", orientation_weights=0.0),
        PositionTask("panda_link8", p + np.array([0, 0, 0.05]), priority=2),
    ]
    step = velocity_step(model, q, tasks, dt=DT)
    np.testing.assert_allclose(frame_jacobian(model, q, "panda_link4")[:3] @ step.v, 0.0, atol=1e-12)
    assert abs(step.v).max() > 1e-3


# -- closed loops ------------------------------------------------------------------------------------------------------


def four_bar(tilt: float = 0.0) -> tuple[RobotModel, LoopClosureTask]:
    """Crank 0.2, coupler 0.5, rocker 0.4, ground 0.5 [m] in the x-z plane, cut open between coupler and rocker.

    tilt: [rad] by which the coupler's hinge is off the others' axis.
    """
    axis = np.array([0.0, 1.0, 0.0])
    off = np.array([np.sin(tilt), np.cos(tilt), 0.0])
    links = [Link(name) for name in ("ground", "crank", "coupler", "rocker")]

    def hinge(name: str, parent: str, child: str, x: float, along: np.ndarray) -> Joint:
        T = np.eye(4)
        T[0, 3] = x
        return Joint(name, "continuous", parent, child, placement=T, axis=along, velocity=50.0)

    joints = [
        hinge("drive", "ground", "crank", 0.0, axis),
        hinge("elbow", "crank", "coupler", 0.2, off),
        hinge("swing", "ground", "rocker", 0.5, axis),
    ]
    end, other = np.eye(4), np.eye(4)
    end[0, 3], other[0, 3] = 0.5, 0.4
    return RobotModel("four-bar", links, joints), LoopClosureTask(
        "coupler", "rocker", end, other, orientation_weights=(1.0, 0.0, 1.0)
    )


def rocker_angles(crank: float) -> np.ndarray:
    """The two angles of the rocker, by the law of cosines (angles about y turn from z to x: x cos, -z sin)."""
    a = 0.2 * np.array([np.cos(crank), -np.sin(crank)])
    ground = np.array([0.5, 0.0])
    d = np.linalg.norm(a - ground)
    towards = np.arctan2(-(a - ground)[1], (a - ground)[0])
    inner = np.arccos((0.4**2 + d**2 - 0.5**2) / (2 * 0.4 * d))
    return np.array([towards + inner, towards - inner])


@pytest.mark.parametrize("tilt", [0.0, 1e-8])
def test_a_four_bar_linkage_turns_closed(tilt: float) -> None:
    model, loop = four_bar(tilt)
    # Put together from a pose in which it is open.
    q, problem = np.array([0.3, -1.5, -1.8]), VelocityProblem(model, [loop], dt=0.02)
    for _ in range(60):
        step = problem.step(q)
        q = integrate(model, q, step.v * 0.02)
    assert problem.step(q).errors.max() < 1e-9 + 10 * tilt
    drive = VelocityProblem(model, [loop, JointVelocityTask({"drive": 2.0})], dt=0.02)
    start, gap = q[0], 0.0
    for _ in range(400):
        step = drive.step(q)
        assert step.unmet == ()
        assert step.v[0] == pytest.approx(2.0, rel=1e-9)
        q = integrate(model, q, step.v * 0.02)
        gap = max(gap, drive.step(q).errors[0, 0])
        assert abs((q[2] - rocker_angles(q[0]) + np.pi) % (2 * np.pi) - np.pi).min() < 2e-3
    assert q[0] - start == pytest.approx(400 * 0.02 * 2.0, rel=1e-9)  # 2.5 turns
    assert gap < 1e-3  # of one step, corrected in the next: it does not grow
    assert drive.step(q).errors[0, 0] < 1e-3


def test_a_loop_has_no_target_to_give() -> None:
    """None, as the table of tasks says, in every place where targets are given."""
    model, loop = four_bar()
    q0, tasks = np.array([0.3, -1.5, -1.8]), [loop, JointTask("drive", 0.4)]
    q = solve_ik(model, tasks, q0).q
    np.testing.assert_array_equal(IKProblem(model, tasks).solve([None, 0.4], q0).q, q)
    problem = VelocityProblem(model, tasks)
    np.testing.assert_array_equal(problem.step(q, targets=[None, 0.5]).v, problem.step(q, targets=[np.eye(4), 0.5]).v)
    assert track(model, tasks, [[None, 0.4 + 0.01 * i] for i in range(5)], q0=q, dt=0.04).converged.all()
    loop.target = None
    np.testing.assert_array_equal(loop.target, np.eye(4))
    with pytest.raises(TaskError, match="value of 'drive' must be numbers, not None"):
        IKProblem(model, tasks).solve([None, None], q0)


def test_a_loop_is_harder_than_the_first_task() -> None:
    model, loop = four_bar()
    q, problem = np.array([0.3, -1.5, -1.8]), VelocityProblem(model, [loop], dt=0.02)
    for _ in range(60):
        q = integrate(model, q, problem.step(q).v * 0.02)
    tear = [loop, JointTask("drive", q[0] + 0.001), JointTask("swing", q[2] - 0.5, priority=2)]
    step = velocity_step(model, q, tear)
    assert step.residuals[0].max() < 1e-9
    assert step.residuals[1].max() < 1e-9
    assert step.residuals[2].max() > 0.1


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: JointVelocityTask({"nobody": 1.0}), UnknownNameError, "nobody"),
        (lambda: JointVelocityTask({}), TaskError, "target must be"),
        (lambda: LinearVelocityTask(np.zeros((1, 3))), TaskError, "must have 8 columns, not 3"),
        (lambda: LinearVelocityTask([[np.nan]]), TaskError, "not finite"),
        (lambda: TwistTask(TIP, (0, 0, 1)), TaskError, "must be 6 numbers"),
        (lambda: TwistTask(TIP, TwistTask.about((0, 0, 0), (0, 0, 0), 1.0)), TaskError, "has no direction"),
        (lambda: LoopClosureTask(TIP, "nobody"), UnknownNameError, "nobody"),
        (lambda: AlongCurveTask(TIP, [(0, 0, 0)], 1.0), TaskError, "at least 2 points"),
        (lambda: AlongCurveTask(TIP, [(0, 0, 0), (0, 0, 0)], 1.0), TaskError, "has no length"),
    ],
)
def test_bad_input_is_named(make, error: type, message: str) -> None:
    model, q = _panda()
    with pytest.raises(error, match=message):
        velocity_step(model, q, [make()])
