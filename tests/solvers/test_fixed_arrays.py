"""What is set again on a task or a criterion is seen by the next solve, or refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import TaskError, forward_kinematics, library_robot
from robokin_addon.solvers import (
    AdvanceTask,
    AxisTask,
    CenterOfMassTask,
    IKProblem,
    OnPlaneTask,
    PinTask,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
    Status,
    Task,
    Tracker,
    TwistTask,
    VelocityProblem,
    check_motion,
    solve_ik,
    track,
    velocity_step,
)
from robokin_addon.solvers.criteria import JointSprings, Manipulability, RestPosture
from robokin_addon.solvers.kinematics.state import State
from robokin_addon.solvers.tasks import Rows
from support.problems.levels import in_levels

MODEL = library_robot("panda")
Q = np.array([0.3, -0.5, 0.2, -2.0, 0.4, 1.6, 0.8])
PLACE = forward_kinematics(MODEL, Q)["tool"]
BACKENDS = pytest.mark.parametrize("backend", ["native", "numpy"])


def above(height: float = 0.01) -> np.ndarray:
    return PLACE[:3, 3] + [0.0, 0.0, height]


@BACKENDS
def test_springs_set_again_are_those_made_so(backend: str) -> None:
    """Also when the criterion was fitted to the robot before, and for whoever asks for the same springs next."""
    springs, task = JointSprings(), PositionTask("tool", PLACE[:3, 3])
    solve_ik(MODEL, [task], Q, criteria=[springs], backend=backend)
    velocity_step(MODEL, Q, [task], [springs], backend=backend)
    springs.stiffness = {"joint_1": 50.0}
    alone = VelocityProblem(MODEL, [task], [JointSprings({"joint_1": 50.0})], backend=backend).step(Q)
    for given in (springs, JointSprings({"joint_1": 50.0})):
        np.testing.assert_array_equal(velocity_step(MODEL, Q, [task], [given], backend=backend).v, alone.v)


MAKERS: list[Callable[[float], Task]] = [
    lambda w: PoseTask("tool", PLACE, influence=w),
    lambda w: AxisTask("tool", [0, 0, 1], [1, 0, 0], influence=w),
    lambda w: PinTask("tool", PLACE, influence=w),
    lambda w: RelativePoseTask("tool", "link_4", PLACE, influence=w),
    lambda w: CenterOfMassTask([0.1, 0.2, 0.3], influence=w),
    lambda w: TwistTask("tool", [0.1, 0, 0, 0, 0.2, 0], influence=w),
    lambda w: AdvanceTask("tool", [0.1, 0, 0], influence=w),
    lambda w: OnPlaneTask("tool", (above(), [0, 0, 1]), influence=w),
    lambda w: PostureTask(Q + 0.1, influence=w),
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_an_influence_that_is_set_is_one_that_was_given(make: Callable[[float], Task], share: float) -> None:
    q = Q + 0.05
    task = make(0.0)
    assert not velocity_step(MODEL, q, [task]).v.any()
    task.influence = share
    given, wanted = (velocity_step(MODEL, q, [each]) for each in (task, make(share)))
    np.testing.assert_array_equal(given.v, wanted.v)
    np.testing.assert_array_equal(given.residuals, wanted.residuals)
    assert given.v.any()


@BACKENDS
def test_a_task_taken_up_again_counts(backend: str) -> None:
    task = PositionTask("tool", above(), influence=0.0)
    assert solve_ik(MODEL, [task], Q, backend=backend).status is Status.EMPTY
    task.influence = 1.0
    result = solve_ik(MODEL, [task], Q, backend=backend)
    assert result.converged
    np.testing.assert_allclose(forward_kinematics(MODEL, result.q)["tool"][:3, 3], above(), atol=1e-5)
    task.influence = 0.0
    assert solve_ik(MODEL, [task], Q, backend=backend).status is Status.EMPTY


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("influence", 2.0),
        ("influence", np.nan),
        ("priority", 0),
        ("position_tolerance", -5.0),
        ("position_weights", [1.0, 2.0]),
        ("orientation_band", "wide"),
    ],
)
def test_what_is_set_is_checked(name: str, value: object) -> None:
    task = PoseTask("tool", PLACE)
    before = getattr(task, name)
    with pytest.raises(TaskError, match=f"PoseTask of tool: {name.replace('_', ' ')}"):
        setattr(task, name, value)
    assert getattr(task, name) is before


def test_a_tolerance_that_is_set_counts() -> None:
    task = OnPlaneTask("tool", (above(), [0.0, 0.0, 1.0]))
    task.tolerance = 0.5
    assert solve_ik(MODEL, [task], Q).iterations == 0
    with pytest.raises(TaskError, match="weight"):
        task.weight = 0.0
    with pytest.raises(TaskError, match="stiffness"):
        JointSprings().stiffness = 3.0  # type: ignore[assignment]
    with pytest.raises(TaskError, match="gain"):
        JointSprings().gain = -1.0


Solve = Callable[[], np.ndarray]


def problems(task: Task, backend: str) -> dict[str, Solve]:
    ik, levels = IKProblem(MODEL, [task], backend=backend), in_levels(MODEL, [task], backend=backend)
    step = VelocityProblem(MODEL, [task], backend=backend)
    return {
        "IKProblem": lambda: ik.solve(q0=Q).q,
        "batch": lambda: ik.solve_batch([[task.target]], Q).q[0],
        "levels": lambda: levels.solve(q0=Q).q,
        "VelocityProblem": lambda: Q + step.step(Q).v / 24.0,
    }


@BACKENDS
def test_another_target_is_seen_by_problems_that_were_made_before(backend: str) -> None:
    task = PositionTask("tool", PLACE[:3, 3])
    made = problems(task, backend)
    for solve in made.values():
        np.testing.assert_allclose(solve(), Q, atol=1e-9)
    task.target = above(0.001)
    for name, solve in made.items():
        place = forward_kinematics(MODEL, solve())["tool"][:3, 3]
        np.testing.assert_allclose(place, above(0.001), atol=2e-5, err_msg=name)


@pytest.mark.parametrize("make", [IKProblem, in_levels, VelocityProblem, Tracker])
def test_anything_else_is_refused_after_a_problem_was_made(make: Callable) -> None:
    task = PositionTask("tool", PLACE[:3, 3])
    make(MODEL, [task])
    for name, value in (("influence", 0.5), ("priority", 2), ("offset", np.eye(4)), ("position_weights", 2.0)):
        with pytest.raises(TaskError, match=f"PositionTask of tool: {name} cannot be set"):
            setattr(task, name, value)
    assert task.influence == 1.0
    task.target = above()


def test_criteria_of_a_problem_are_its_own() -> None:
    springs = JointSprings()
    VelocityProblem(MODEL, [PositionTask("tool", PLACE[:3, 3])], [springs])
    with pytest.raises(TaskError, match="JointSprings: stiffness cannot be set"):
        springs.stiffness = {"joint_1": 2.0}


def test_functions_leave_what_they_are_given_as_it_is() -> None:
    """They see every change at the next call."""
    task, low, springs = PositionTask("tool", above()), PostureTask(Q, priority=2), JointSprings()
    for _ in range(2):
        motion = track(MODEL, [task, low], [[above(), Q]], q0=Q, criteria=[springs]).motion
        check_motion(motion, [task, low], [[above(), Q]])
        track(MODEL, [task], [[above()]], q0=Q)
        check_motion(motion, [task], [[task.target]])
        solve_ik(MODEL, [task], Q)
        solve_ik(MODEL, [task, low], Q, criteria=[springs])
        velocity_step(MODEL, Q, [task, low], [springs])
        task.influence, springs.weight, low.priority = 0.5, 2.0, 3


def test_lists_and_dictionaries_cannot_be_written_into() -> None:
    rest, springs = RestPosture([0.0] * 7), JointSprings({"joint_1": 3.0})
    given = {"joint_1": [0.1]}
    named = RestPosture(given)
    posture = PostureTask(Q, {"joint_1": 2.0})
    for parts in (rest.posture, springs.stiffness, springs.equilibrium, named.posture, posture.weights):
        with pytest.raises(TypeError, match="assignment"):
            parts["joint_1" if isinstance(parts, type(springs.stiffness)) else 0] = 1.0  # type: ignore[index]
    given["joint_1"][0] = 5.0
    assert named.posture["joint_1"][0] == 0.1  # type: ignore[index]


def test_arrays_of_the_caller_stay_theirs() -> None:
    task, own = PoseTask("tool", PLACE), np.ones(3)
    task.position_weights = own
    own[0] = 7.0
    assert task.position_weights.tolist() == [1.0, 1.0, 1.0]
    whole = np.ones((2, 4, 4)) * np.eye(4)
    task.offset = whole[0]
    whole[0, 0, 3] = 9.0
    assert task.offset[0, 3] == 0.0


class Shifted(PoseTask):
    """Of another maker: its tip is somewhere else."""

    def tip_rows(self, T_root_tip: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        e, A = super().tip_rows(T_root_tip, target)
        e[:3] += [0.05, 0.0, 0.0]
        return e, A


class Far(PositionTask):
    """Of another maker: what its target means only it knows."""

    def tip_rows(self, T_root_tip: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return super().tip_rows(T_root_tip, PLACE)


@BACKENDS
def test_the_rows_of_another_makers_task_are_its_own(backend: str) -> None:
    task, low = Shifted("tool", PLACE), PostureTask(Q, priority=2)
    for tasks in ([task], [task, low]):
        result = solve_ik(MODEL, tasks, Q + 0.05, backend=backend)
        moved = forward_kinematics(MODEL, result.q)["tool"][:3, 3] - PLACE[:3, 3]
        np.testing.assert_allclose(moved, [0.05, 0.0, 0.0], atol=2e-5)
    followed = track(MODEL, [task], [[PLACE]] * 3, q0=result.q, backend=backend)
    assert followed.converged.all()
    assert solve_ik(MODEL, [Far("tool", [9.0, 0.0, 0.0])], Q, backend=backend).converged


@BACKENDS
def test_what_another_makers_task_asks_for_is_how_manipulable_it_is(backend: str) -> None:
    """Not what the class that it is derived from would tell."""

    class Leaning(PositionTask):
        def rows(self, state: State, target: np.ndarray) -> Rows:
            rows = super().rows(state, target)
            return replace(rows, J=rows.J * [[3.0], [1.0], [0.5]])

    task = Leaning("tool", PLACE[:3, 3])
    state = State(MODEL, Q, [task], 1.0, backend, None, 1.0, [task.target])
    criterion = Manipulability()
    plain = PositionTask("tool", PLACE[:3, 3])
    other = State(MODEL, Q, [plain], 1.0, backend, None, 1.0, [plain.target])
    assert abs(criterion.potential(state) - criterion.potential(other)) > 1e-3
    g, x = criterion.gradient(state), np.zeros(MODEL.nv)
    for k in range(MODEL.nv):
        x[:] = 0.0
        x[k] = 1e-5
        ends = [State(MODEL, Q + s * x, [task], 1.0, backend, None, 1.0, [task.target]) for s in (1.0, -1.0)]
        slope = (criterion.potential(ends[0]) - criterion.potential(ends[1])) / 2e-5
        assert g[k] == pytest.approx(slope, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("wrong", [[1.0], [2.0, 1.0], [-1, 1], ["x", 1], 3])
def test_influences_of_a_call_are_checked(wrong: object) -> None:
    tasks = [PositionTask("tool", above()), PostureTask(Q, priority=2)]
    tracker = Tracker(MODEL, tasks)
    with pytest.raises(TaskError, match="influence"):
        IKProblem(MODEL, tasks).solve(influence=wrong)  # type: ignore[arg-type]
    with pytest.raises(TaskError, match="influence"):
        tracker.start(tracker.levels.targets, Q, influence=wrong)  # type: ignore[arg-type]
