"""Closed tool paths close in the joints: planar 3R and Panda, beside the pseudo-inverse, which drifts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from robokin_addon.robokin import (
    Joint,
    RobotModel,
    TaskError,
    extended_inverse,
    forward_kinematics,
    frame_jacobian,
    integrate,
    library_robot,
    load_urdf,
    null_space,
)
from robokin_addon.solvers import (
    DistanceTask,
    PoseTask,
    PositionTask,
    VelocityProblem,
    solve_ik,
    track,
    velocity_step,
)
from robokin_addon.solvers.criteria import (
    Criterion,
    GravityTorque,
    JointSprings,
    KineticEnergy,
    Manipulability,
    RestPosture,
)
from robokin_addon.solvers.kinematics.state import State
from robokin_addon.solvers.tasks import Task
from robokin_addon.solvers.velocity.extended_jacobian import ALGORITHMIC, ExtendedJacobian, StationarityTarget
from robokin_addon.solvers.velocity.kernel_rows import task_equations
from robokin_addon.solvers.velocity.task_levels import TaskLevels
from robokin_addon.solvers.velocity.turning_points import turn
from support.few import rest_slow
from support.robots import robot

DT = 1.0 / 24.0
SETTLED = 1e-12
PLANAR = np.array([0.4, 0.9, 0.8])
PANDA = np.array([0.0, -0.5, 0.3, -2.0, 0.1, 1.6, 0.5, 0.02])


def _circled(
    model: RobotModel, q0: np.ndarray, task: Task, criteria: Sequence[Criterion], radius: float, frames: int, loops: int
) -> np.ndarray:
    """(loops, nq) q at the end of each time that the tool has gone round a circle; the extended Jacobian of the
    criteria, without any the pseudo-inverse."""
    extended = [ExtendedJacobian(criteria)] if criteria else []
    problem = VelocityProblem(model, [task, *extended], (), DT)
    start = problem.levels.state(q0, problem.levels.targets, DT)
    held = [own.starting_target(start) for own in extended]
    q, ends = q0.copy(), []
    for frame in range(1, loops * frames + 1):
        angle = 2.0 * np.pi * frame / frames
        target = task.target.copy()
        target[:2, 3] += radius * np.array([np.cos(angle) - 1.0, np.sin(angle)])
        aim = target if isinstance(task, PoseTask) else target[:3, 3]
        for _ in range(12):
            v = problem.step(q, targets=[aim, *held]).v
            q = integrate(model, q, v * DT)
            if abs(v * DT).max() < SETTLED:
                break
        tool = forward_kinematics(model, q)[task.link]
        np.testing.assert_allclose(tool[:2, 3], target[:2, 3], atol=1e-9)
        if frame % frames == 0:
            ends.append(q)
    return np.array(ends)


def _planar() -> tuple[RobotModel, Task]:
    model = library_robot("planar_3r")
    return model, PositionTask("tool", forward_kinematics(model, PLANAR)["tool"][:3, 3], (1, 1, 0))


def test_planar_arm_returns_and_the_pseudo_inverse_does_not() -> None:
    model, task = _planar()
    held = _circled(model, PLANAR, task, [JointSprings(), RestPosture(gain=0.5)], 0.15, 16, 2)
    assert abs(held - PLANAR).max() < 1e-9
    plain = _circled(model, PLANAR, task, [], 0.15, 16, 2)
    assert abs(plain - PLANAR).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("criterion", [JointSprings(), Manipulability(), GravityTorque((0, -9.81, 0))], ids=repr)
def test_planar_arm_returns_ten_times(criterion: Criterion) -> None:
    model, task = _planar()
    assert abs(_circled(model, PLANAR, task, [criterion], 0.15, 24, 10) - PLANAR).max() < 1e-9


@pytest.mark.slow
def test_panda_returns_ten_times_and_the_pseudo_inverse_does_not() -> None:
    model = load_urdf(robot("panda"))
    task = PoseTask("panda_hand", forward_kinematics(model, PANDA)["panda_hand"])
    held = _circled(model, PANDA, task, [JointSprings()], 0.1, 24, 10)
    assert abs(held - PANDA).max() < 1e-9
    plain = _circled(model, PANDA, task, [], 0.1, 24, 10)
    assert abs(plain[-1] - PANDA).max() > 0.1


def test_step_is_the_extended_inverse() -> None:
    """Away from limits the step is the inverse of J over A (Eq. 6-7), A v = 0."""
    model, task = _planar()
    extended = ExtendedJacobian([JointSprings()])
    target = task.target[:3, 3] + [0.001, 0.002, 0.0]
    v = velocity_step(model, PLANAR, [PositionTask("tool", target, (1, 1, 0)), extended], dt=DT).v
    state = VelocityProblem(model, [task, extended]).levels.state(PLANAR, [task.target, None], DT)
    A = extended.rows(state, None).J
    J = frame_jacobian(model, PLANAR, "tool", reference="local_world_aligned")[:2]
    np.testing.assert_allclose(A @ v, 0.0, atol=1e-9)
    np.testing.assert_allclose(v * DT, extended_inverse(J, A) @ [0.001, 0.002], atol=1e-9)


def test_transversality_vanishes_where_the_criterion_stops_changing() -> None:
    """Along a self-motion s has extrema: there A does not see the self-motion, an algorithmic singularity."""
    model, task = _planar()
    extended = ExtendedJacobian([RestPosture()])
    q, seen = PLANAR.copy(), []
    for _ in range(4000):
        state = State(model, q, [task], 1.0)
        seen.append((float(extended.starting_target(state).s[0]), extended.transversality(state)))
        z = null_space(frame_jacobian(model, q, "tool", reference="local_world_aligned")[:2])[:, 0]
        q = integrate(model, q, 0.002 * z * np.sign(z[0]))
        q = integrate(model, q, velocity_step(model, q, [task], dt=DT).v * DT)
        if len(seen) > 2 and (seen[-1][0] - seen[-2][0]) * (seen[-2][0] - seen[-3][0]) < 0:
            break
    else:
        pytest.fail("no extremum along the self-motion")
    assert min(sine for _, sine in seen[-3:]) < 4 * ALGORITHMIC
    assert seen[0][1] > 0.1


def test_what_cannot_be_held_is_reported() -> None:
    with pytest.raises(TaskError, match="KineticEnergy, weight 1> has no potential"):
        ExtendedJacobian([KineticEnergy()])
    with pytest.raises(TaskError, match="no criterion to hold"):
        ExtendedJacobian([])
    with pytest.raises(TaskError, match="criteria must be a list of criteria, not 5"):
        ExtendedJacobian(5)
    model, task = _planar()
    for tasks in ([ExtendedJacobian([JointSprings()])], [task, ExtendedJacobian([JointSprings()], priority=1)]):
        with pytest.raises(TaskError, match="must come after that of the tasks it extends"):
            solve_ik(model, tasks)
        with pytest.raises(TaskError, match="must come after that of the tasks it extends"):
            velocity_step(model, PLANAR, tasks)
    problem = VelocityProblem(model, [task, ExtendedJacobian([JointSprings()])])
    with pytest.raises(TaskError, match="a target comes from starting_target"):
        problem.step(PLANAR, targets=[task.target[:3, 3], 0.3])


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "is_singular"), [(2, True), (3, True), (19, True), (13, False)])
def test_a_frame_that_fails_at_an_algorithmic_singularity_says_so(seed: int, is_singular: bool) -> None:
    """On a finer path the transversality vanishes there, and the robot is not singular; elsewhere the path goes on."""
    model = library_robot("planar_3r")
    tip, rng = model.link_names[-1], np.random.default_rng(seed)
    q0, rest = rng.uniform(-2, 2, 3), rng.uniform(-2, 2, 3)
    start, goal = (forward_kinematics(model, q)[tip][:3, 3] for q in (q0, rng.uniform(-2, 2, 3)))
    task, extended = PositionTask(tip, start, (1, 1, 0)), ExtendedJacobian([RestPosture(rest)])
    path = start + np.linspace(0.0, 1.0, 41)[:, None] * (goal - start)
    coarse = track(model, [task, extended], [[x, None] for x in path], q0)
    frame = int(np.flatnonzero(coarse.missed)[0])
    assert ("algorithmic singularity" in coarse.diagnosis(frame).reason) == is_singular
    fine = path[frame - 1] + np.linspace(0.0, 2.0, 101)[:, None] * (path[frame] - path[frame - 1])
    again = track(model, [task, extended], [[x, None] for x in (*path[:frame], *fine)], q0)
    assert again.missed.any() == is_singular
    last = int(np.flatnonzero(again.missed)[0]) - 1 if is_singular else len(again) - 1
    levels = TaskLevels(model, [task, extended])
    state = levels.state(again.q[last], levels.targets, DT)
    assert (extended.transversality(state) < 0.05) == is_singular
    assert np.linalg.svd(state.task_rows, compute_uv=False)[-1] > 0.15


def _arm_on_a_rail(folder: Path) -> RobotModel:
    """A planar 3R arm that turns about verticals, on a rail along x."""
    inertia = '<inertia ixx=".02" iyy=".02" izz=".02" ixy="0" ixz="0" iyz="0"/>'
    parts, parent = ['<robot name="rail"><link name="base"/>'], "base"
    for name, at in (("rail", "0 0 0"), ("first", "0 0 0.1"), ("second", "0.4 0 0"), ("third", "0.35 0 0")):
        kind, axis = ("prismatic", "1 0 0") if name == "rail" else ("revolute", "0 0 1")
        parts.append(
            f'<link name="l_{name}"><inertial><origin xyz="0.15 0 0"/><mass value="2"/>{inertia}</inertial></link>'
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="l_{name}"/><origin xyz="{at}"/>'
            f'<axis xyz="{axis}"/><limit lower="-2" upper="2" effort="80" velocity="10"/></joint>'
        )
        parent = f"l_{name}"
    parts.append(
        f'<link name="tool"/><joint name="tip" type="fixed"><parent link="{parent}"/><child link="tool"/>'
        '<origin xyz="0.3 0 0"/></joint></robot>'
    )
    path = folder / "rail.urdf"
    path.write_text("".join(parts))
    return load_urdf(path)


RAIL = np.array([0.1, 0.5, 0.9, 0.7])


@pytest.mark.parametrize("backend", rest_slow(["auto", "numpy"]))
@pytest.mark.parametrize(("way", "is_singular"), [(1.0, True), (-1.0, False)])
def test_a_turn_within_a_frame_is_named_there(tmp_path: Path, way: float, is_singular: bool, backend: str) -> None:
    """The pose is near a turn: 3 cm of path are too far in one direction, in the other there is a way."""
    model = _arm_on_a_rail(tmp_path)
    start = forward_kinematics(model, RAIL)["tool"][:3, 3]
    task, extended = PositionTask("tool", start, (1, 1, 0)), ExtendedJacobian([RestPosture(np.zeros(4))])
    goal = start + np.array([0.0, 0.03 * way, 0.0])
    found = track(model, [task, extended], [[start, None], [goal, None]], RAIL, backend=backend)
    assert found.missed.tolist() == [False, is_singular]
    assert ("algorithmic singularity" in found.diagnosis(1).reason) == is_singular


@pytest.mark.parametrize(
    ("criterion", "turns"),
    [pytest.param(Manipulability(), True, marks=pytest.mark.slow), (JointSprings(), False)],
    ids=repr,
)
def test_a_frame_does_not_jump_over_a_turn(criterion: Criterion, turns: bool) -> None:
    """In 5 s a Panda may get to any pose. Where its motion turns back, one beyond holds the same: a frame that took it
    would meet every task, and leave the circle open without a word."""
    model = load_urdf(robot("panda"))
    tool = forward_kinematics(model, PANDA)["panda_hand"]
    tasks, path = [PoseTask("panda_hand", tool), ExtendedJacobian([criterion])], []
    for angle in np.pi / 12.0 * np.arange(4, 8):
        path.append(tool.copy())
        path[-1][:2, 3] += 0.05 * np.array([np.cos(angle) - 1.0, np.sin(angle)])
    way = [tool + share * (path[0] - tool) for share in (0.0, 0.25, 0.5, 0.75)]
    found = track(model, tasks, [[T, None] for T in (*way, *path)], PANDA, dt=5.0)
    assert abs(np.diff(found.q, axis=0)).max() < 0.5
    assert found.missed.tolist() == [False] * 6 + [turns] * 2
    if not turns:
        return
    assert "algorithmic singularity" in found.diagnosis(6).reason
    # The pose beyond, which undamped steps find.
    problem, q = VelocityProblem(model, tasks, (), 5.0), found.q[5]
    start, held = problem.levels.state(PANDA, [way[0], None], 5.0), tasks[1]
    target = held.starting_target(start)
    for _ in range(30):
        q = integrate(model, q, 5.0 * problem.step(q, targets=[path[2], target]).v)
    states = [problem.levels.state(each, [path[2], target], 5.0) for each in (found.q[5], q)]
    assert abs(q - found.q[5]).max() > 0.5 and abs(problem.step(q, targets=[path[2], target]).v).max() < 1e-6
    assert held.is_left(*states, target) and not held.is_left(states[0], states[0], target)


def test_what_is_lost_is_named_where_it_is_lost(tmp_path: Path) -> None:
    model = _arm_on_a_rail(tmp_path)
    start = forward_kinematics(model, RAIL)["tool"][:3, 3]
    task, extended = PositionTask("tool", start, (1, 1, 0)), ExtendedJacobian([RestPosture(np.zeros(4))])
    goal = start + np.array([0.0, 0.03, 0.0])
    found = track(model, [task, extended], [[start, None], *[[goal, None]] * 3], RAIL)
    assert found.missed.tolist() == [False, True, True, True]
    assert "algorithmic singularity" in found.remarks[1]
    assert found.remarks[3] == "what the extended Jacobian holds was lost before"
    seen = float(found.remarks[1].split("see only ")[1].split()[0])
    assert seen < ALGORITHMIC
    assert extended.parts[0].unit == ""  # a slope of what has no unit


def test_a_way_that_turns_back() -> None:
    """x - x^2 has its maximum, 1/4, at 1/2."""

    def towards(wanted: float) -> np.ndarray | None:
        return turn(lambda x: (wanted - x + x**2, np.array([1.0 - 2.0 * x])), 1)

    np.testing.assert_allclose(towards(0.3), [0.5], atol=1e-3)
    assert towards(0.24) is None


def test_a_potential_that_is_constant_is_reported(tmp_path: Path) -> None:
    model = _arm_on_a_rail(tmp_path)
    start = forward_kinematics(model, RAIL)["tool"][:3, 3]
    tasks = [PositionTask("tool", start, (1, 1, 0)), ExtendedJacobian([GravityTorque()])]
    with pytest.raises(TaskError, match="GravityTorque does not change with the free motions"):
        track(model, tasks, [[start, None]] * 2, RAIL)
    with pytest.raises(TaskError, match="nothing to hold"):
        velocity_step(model, RAIL, tasks)


def test_joints_that_no_task_moves_need_no_potential(tmp_path: Path) -> None:
    model = _arm_on_a_rail(tmp_path)
    start = forward_kinematics(model, RAIL)["l_first"][:3, 3]
    tasks = [PositionTask("l_first", start, (1, 0, 0)), ExtendedJacobian([GravityTorque()])]
    found = track(model, tasks, [[start, None]] * 2, RAIL)
    np.testing.assert_allclose(found.q, [RAIL, RAIL], atol=1e-9)


def test_a_robot_without_free_motions_has_nothing_to_extend() -> None:
    model = load_urdf(robot("ur5_robot"))
    q = np.array([0.3, -1.0, 1.2, 0.4, 0.7, 0.2])
    tip = forward_kinematics(model, q)["tool0"]
    tasks = [PoseTask("tool0", tip), ExtendedJacobian([GravityTorque()])]
    assert track(model, tasks, [[tip, None]] * 2, q).converged.all()


def test_joints_that_no_task_moves_make_nothing_singular() -> None:
    """The fingers of a gripper see no task: the sine is that of the arm without them."""
    whole = load_urdf(robot("panda"))
    joints = [joint for joint in whole.joints if joint.parent]
    stiff = [Joint(j.name, "fixed", j.parent, j.child, j.placement) if "finger" in j.name else j for j in joints]
    sines = []
    for model in (whole, RobotModel("stiff", whole.links, stiff)):
        q = PANDA[: model.nq]
        task = PoseTask("panda_hand", forward_kinematics(model, q)["panda_hand"])
        sines.append(ExtendedJacobian([Manipulability()]).transversality(State(model, q, [task], 1.0)))
    assert sines[0] == pytest.approx(sines[1], rel=1e-6) and sines[1] > 0.1


def test_a_motion_asks_the_kernel_for_the_rows_and_once_for_what_it_began_with(
    panda: RobotModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Python rows take ten times as long, and each derivative needs those of twice as many poses as joints."""
    start = forward_kinematics(panda, PANDA)["panda_hand"]
    targets = np.tile(start, (10, 1, 1))
    targets[:, 1, 3] += np.linspace(0.0, 0.05, 10)
    task, extended = PoseTask("panda_hand", start), ExtendedJacobian([JointSprings()])
    asked: list[str] = []
    for cls, name in ((PoseTask, "rows"), (ExtendedJacobian, "starting_target")):
        method = getattr(cls, name)

        def counted(self: object, *given: object, own: Callable[..., object] = method, name: str = name) -> object:
            asked.append(name)
            return own(self, *given)

        monkeypatch.setattr(cls, name, counted)
    found = track(panda, [task, extended], [[T, None] for T in targets], PANDA)
    assert found.converged.all()
    assert asked.count("rows") < 30 and asked.count("starting_target") <= 3


@pytest.mark.parametrize("frame", ["world", "tip"])
@pytest.mark.parametrize("weights", [1.0, (1, 0, 1)])
def test_the_equations_of_the_kernel_leave_the_motions_that_those_of_the_tasks_leave(
    panda: RobotModel, frame: str, weights: object
) -> None:
    tip = forward_kinematics(panda, PANDA)["panda_hand"]
    tasks = [
        PoseTask("panda_hand", tip, weights, 0.3, frame=frame),
        DistanceTask("panda_link4", 0.5, other_point=(0.1, 0.2, 0.3)),
    ]
    levels = TaskLevels(panda, tasks)
    for scale in (0.0, 1e-4, 0.1):
        state = levels.state(PANDA + scale * np.cos(np.arange(panda.nq)), levels.targets, DT)
        rows, own = task_equations(state), state.task_rows
        assert len(rows) == len(own) and np.linalg.matrix_rank(np.vstack((rows, own))) == np.linalg.matrix_rank(own)
        np.testing.assert_allclose(
            null_space(rows) @ null_space(rows).T, null_space(own) @ null_space(own).T, atol=1e-9
        )


def test_a_pose_that_is_asked_again_is_differentiated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another pose, another target of the tasks, and another reference are other questions."""
    model, own, seen = library_robot("panda"), ExtendedJacobian([JointSprings()]), []
    q0 = model.limits.middle(model.neutral())
    levels = TaskLevels(model, [DistanceTask("tool", 0.4, other_point=(0, 0, 0.1)), own], "auto")
    stationarity = ExtendedJacobian._stationarity
    monkeypatch.setattr(ExtendedJacobian, "_stationarity", lambda *x: seen.append(x) or stationarity(*x))

    def rows(q: np.ndarray, aim: object, kept: object) -> tuple[np.ndarray, int]:
        seen.clear()
        found = own.rows(levels.state(q, [aim, None], DT), kept).J
        return found, len(seen)

    near, far = (levels.tasks[0].checked_target((0.4, (0, 0, z))) for z in (0.1, -3.0))
    kept = own.starting_target(levels.state(q0, [near, None], DT))
    other = StationarityTarget(kept.reference.copy(), kept.s)
    first, _ = rows(q0, near, kept)
    again, asked = rows(q0, near, kept)
    assert asked == 1 and np.array_equal(first, again)
    for question in ((q0 + 0.1, near, kept), (q0, far, kept), (q0, near, other)):
        assert rows(*question)[1] > 2 * model.nv, question


def test_tasks_of_one_target_that_count_in_turn_are_other_questions() -> None:
    model, own, at = library_robot("panda"), ExtendedJacobian([JointSprings()]), np.array([0.4, 0.1, 0.5])
    q0 = model.limits.middle(model.neutral())
    levels = TaskLevels(model, [PositionTask("tool", at), PositionTask("link_5", at), own], "auto")
    aim = levels.tasks[0].checked_target(at)
    first, second = (levels.state(q0, [aim, aim, None], DT, influence=shares) for shares in ([1, 0, 1], [0, 1, 1]))
    kept = own.starting_target(first)
    fresh = own._differences(second, kept.reference)
    assert abs(fresh - own.rows(first, kept).J * first.scale).max() > 0.1
    assert np.array_equal(own.rows(second, kept).J * second.scale, fresh)
