"""Calls with tasks and criteria made anew: the problem of those like them, and the result of a problem of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    RobokinError,
    TaskError,
    UnknownNameError,
    forward_kinematics,
    library_robot,
    random_configuration,
)
from robokin_addon.solvers import (
    AxisTask,
    CenterOfMassTask,
    IKProblem,
    JointTask,
    JointVelocityTask,
    LaserTask,
    LinearVelocityTask,
    OnLineTask,
    OnPlaneTask,
    Plane,
    PoseTask,
    PositionTask,
    PostureTask,
    Task,
    VelocityProblem,
    solve_ik,
    velocity_step,
)
from robokin_addon.solvers.criteria import Criterion, GravityTorque, JointSprings, KineticEnergy, RestPosture, Velocity
from robokin_addon.solvers.velocity.recent_problems import KEPT, RecentProblems
from support.blender.every_task import every_task
from support.random_problems.random_tasks import random_task
from support.random_problems.random_trees import random_robot

MODEL = random_robot(2, 7)
Q = random_configuration(MODEL, np.random.default_rng(2))
TIP = MODEL.link_names[-1]
JOINT = next(joint.name for joint in MODEL.moving_joints if joint.nq == 1 and joint.mimic is None)


def check(tasks: Sequence[Task], criteria: Sequence[Criterion] = (), dt: float = 0.04) -> None:
    """The step has the bits of one of a problem of its own."""
    given = velocity_step(MODEL, Q, tasks, criteria, dt)
    alone = VelocityProblem(MODEL, tasks, criteria, dt).step(Q)
    np.testing.assert_array_equal(given.v, alone.v)
    np.testing.assert_array_equal(given.errors, alone.errors)
    np.testing.assert_array_equal(given.residuals, alone.residuals)
    assert given.costs == alone.costs
    assert [(each.priority, each.tasks, each.freedom) for each in given.levels] == [
        (each.priority, each.tasks, each.freedom) for each in alone.levels
    ]


def test_tasks_of_every_kind_made_anew() -> None:
    """Also when another task of the same kind and place was asked for just before."""
    for seed in range(4):
        for towards in range(3):
            rng, away = np.random.default_rng(seed), random_configuration(MODEL, np.random.default_rng(towards))
            for task in every_task(rng, MODEL, Q, away).values():
                check([task], [JointSprings(), GravityTorque(gain=0.5)])
            tasks = [random_task(np.random.default_rng(seed + 100), MODEL, away) for _ in range(2)]
            check(tasks, [JointSprings()])


def test_what_differs_in_targets_only_is_compiled_once() -> None:
    made: list[int] = []
    recent: RecentProblems[int] = RecentProblems(lambda *_: made.append(1) or len(made))

    def get(tasks: Sequence[Task], criteria: Sequence[Criterion] = (), dt: float = 0.04) -> list[object]:
        return recent.get(MODEL, tuple(tasks), tuple(criteria), dt).targets

    for k in range(5):
        place = [0.1 * k, 0.2, 0.3]
        ((target,),) = [get([PositionTask(TIP, place)], [JointSprings({JOINT: 2.0}), RestPosture(Q)])]
        np.testing.assert_array_equal(target[:3, 3], place)  # type: ignore[index]
    assert len(made) == 1
    for spot in ([0.1, 0.2, 0.3], [0.2, 0.2, 0.3]):
        get([LaserTask(TIP, (0.0, 0.0, 1.0), spot, Plane((1.0, 0.0, 0.0), (1.0, 0.0, 0.1)))])
        assert len(made) == 2
    get([LaserTask(TIP, (0.0, 0.0, 1.0), spot, Plane((1.0, 0.0, 0.0), (1.0, 0.0, 0.2)))])
    assert len(made) == 3
    different: list[Callable[[], tuple[list[Task], list[Criterion]]]] = [
        lambda: ([PositionTask(TIP, [0, 0, 0], weights=2.0)], []),
        lambda: ([PositionTask(TIP, [0, 0, 0], weights=[2.0, 2.0, 1.0])], []),
        lambda: ([PositionTask(TIP, [0, 0, 0], priority=2)], []),
        lambda: ([PositionTask(TIP, [0, 0, 0], name="hand")], []),
        lambda: ([PoseTask(TIP, np.eye(4), orientation_weights=0.0)], []),
        lambda: ([PositionTask(TIP, [0, 0, 0])], [JointSprings({JOINT: 2.5})]),
        lambda: ([PositionTask(TIP, [0, 0, 0])], [RestPosture(1.01 * Q)]),
        lambda: ([PositionTask(TIP, [0, 0, 0])], [KineticEnergy(2.0)]),
    ]
    for count, both in enumerate(different[:KEPT], 4):
        get(*both())
        get(*both())
        assert len(made) == count


def test_problems_do_not_change_with_the_tasks_that_they_were_made_of() -> None:
    def plane(height: float) -> OnPlaneTask:
        return OnPlaneTask(TIP, ([0, 0, height], [0, 0, 1]), weight=1.0)

    pull = PositionTask(TIP, [0.3, 0.3, 0.3])
    first = plane(0.1)
    velocity_step(MODEL, Q, [first, pull], dt=0.04)
    first.weight = 50.0
    check([plane(0.2), pull])
    check([first, pull])
    target = np.eye(4)
    pose = PoseTask(TIP, target)
    check([pose])
    target[0, 3] = 0.4  # of the caller, copied by the task
    check([pose])
    check([PoseTask(TIP, target)])


def test_another_target_in_a_tasks_own_terms_counts() -> None:
    here = forward_kinematics(MODEL, Q)[TIP][:3, 3]
    task = PositionTask(TIP, here)
    assert abs(velocity_step(MODEL, Q, [task]).v).max() < 1e-9
    task.target = here + np.array([0.01, 0.0, -0.01])
    check([task])
    assert abs(velocity_step(MODEL, Q, [task]).v).max() > 1e-3
    with pytest.raises(TaskError, match="target"):
        task.target = "there"


def test_arrays_of_tasks_and_criteria_cannot_be_written_into() -> None:
    """It would not be seen by a problem that was compiled from them."""
    task, springs = PositionTask(TIP, [0.1, 0.2, 0.3]), JointSprings()
    springs.rest = np.zeros(MODEL.nq)
    for array in (task.target, task.position_weights, task.offset, springs.rest):
        with pytest.raises(ValueError, match="read-only"):
            array += 1.0


def test_rows_and_criteria_of_others_are_known_by_what_they_are() -> None:
    """Functions and classes from elsewhere may do anything, so only the same object is the same."""

    class Own(Velocity):
        def __init__(self, size: float) -> None:
            super().__init__(1.0, "own")
            self._size = size

        def matrix(self, state) -> np.ndarray:
            return np.diag(self._size ** np.arange(state.model.nv))

    task = [PositionTask(TIP, [0.3, 0.1, 0.2])]
    for size in (2.0, 3.0):
        check(task, [Own(size)])
    own = Own(2.0)
    check(task, [own])
    own._size = 4.0
    check(task, [own])
    for factor in (1.0, 2.0):
        check([LinearVelocityTask(lambda q, factor=factor: factor * np.eye(MODEL.nv)[:2], [0.1, 0.2])])


def test_targets_that_the_robot_cannot_have_are_refused_each_time() -> None:
    velocity_step(MODEL, Q, [PostureTask({JOINT: 0.1})])
    velocity_step(MODEL, Q, [PostureTask(Q)])
    velocity_step(MODEL, Q, [JointVelocityTask({JOINT: 0.1})])
    for _ in range(2):
        with pytest.raises(UnknownNameError, match="nobody"):
            velocity_step(MODEL, Q, [PostureTask({"nobody": 0.1})])
        with pytest.raises(UnknownNameError, match="nobody"):
            velocity_step(MODEL, Q, [JointVelocityTask({"nobody": 0.1})])
        with pytest.raises(ConfigurationError):
            velocity_step(MODEL, Q, [PostureTask(np.append(Q, 0.0))])
        with pytest.raises(ConfigurationError):
            velocity_step(MODEL, Q, [PostureTask({JOINT: [0.1, 0.2]})])
        with pytest.raises(TaskError, match="not a task"):
            velocity_step(MODEL, Q, [3])  # type: ignore[list-item]


def test_times_that_are_none_are_refused_each_time() -> None:
    task = [PositionTask(TIP, [0.3, 0.1, 0.2])]
    velocity_step(MODEL, Q, task)
    for dt in (np.array([0.1, 0.2]), [0.1, 0.2], "soon", np.nan):
        for tasks in (task, [PositionTask(TIP, [0.3, 0.1, 0.2])]):
            with pytest.raises(RobokinError, match=r"dt|step"):
                velocity_step(MODEL, Q, tasks, dt=dt)  # type: ignore[arg-type]
    step = velocity_step(MODEL, Q, task, dt=np.float64(0.1))
    np.testing.assert_array_equal(step.v, velocity_step(MODEL, Q, task, dt=0.1).v)


def test_solves_with_tasks_made_anew() -> None:
    rng = np.random.default_rng(4)
    for _ in range(10):
        T = forward_kinematics(MODEL, random_configuration(MODEL, rng))[TIP]
        tasks = [PoseTask(TIP, T)]
        given, alone = solve_ik(MODEL, tasks, Q), IKProblem(MODEL, tasks).solve(q0=Q)
        assert given.status is alone.status
        np.testing.assert_array_equal(given.q, alone.q)
    for name in ("left", "east"):
        torn = [PositionTask(TIP, [0.0, 0, 0], name=name), PositionTask(TIP, [1.0, 0, 0], name="other")]
        assert name in solve_ik(MODEL, torn, Q).reason
    levels = [PoseTask(TIP, T), PositionTask(TIP, [0, 0, 0], priority=2)]
    np.testing.assert_array_equal(solve_ik(MODEL, levels, Q).q, IKProblem(MODEL, levels).solve(q0=Q).q)


def test_a_solve_checks_a_target_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one call must not take much longer than its search. One that says what the last one said, not at all."""
    looks, checked_target = [], PoseTask.checked_target

    def look(task: PoseTask, target: object) -> np.ndarray:
        looks.append(task)
        return checked_target(task, target)

    T = forward_kinematics(MODEL, Q)[TIP]
    solve_ik(MODEL, [PoseTask(TIP, T)], Q)
    monkeypatch.setattr(PoseTask, "checked_target", look)
    for target in (T, T, np.eye(4)):
        solve_ik(MODEL, [PoseTask(TIP, target)], Q)
    assert len(looks) == 1


PANDA = library_robot("panda")
BENT = PANDA.limits.middle(PANDA.neutral())
PLACE = forward_kinematics(PANDA, BENT)["tool"]
POINT, ANGLES = PLACE[:3, 3], {f"joint_{k}": float(BENT[k - 1]) for k in range(1, 8)}
STRAIGHT = POINT, (0.6, 0.0, 0.8)


@pytest.mark.parametrize(
    "made",
    [
        lambda: [PoseTask("tool", PLACE), PostureTask(BENT, priority=2)],
        lambda: [OnPlaneTask("tool", STRAIGHT), OnLineTask("tool", STRAIGHT, priority=2), CenterOfMassTask(POINT)],
        lambda: [JointVelocityTask(ANGLES), PositionTask("tool", POINT, priority=2)],
        lambda: [AxisTask("tool", (0, 0, 1), PLACE[:3, 2]), PositionTask("tool", POINT), PostureTask(ANGLES)],
        lambda: [OnLineTask("tool", STRAIGHT), JointTask("joint_3", 0.2, priority=2)],
        lambda: [JointVelocityTask(ANGLES), JointVelocityTask({"joint_1": 0.1}), PostureTask(ANGLES)],
    ],
)
@pytest.mark.parametrize("criteria", [(), (JointSprings, KineticEnergy)])
def test_a_step_with_tasks_made_anew_calls_at_most_twice_as_many_functions(
    made: Callable[[], list[Task]], criteria: Sequence[type[Criterion]]
) -> None:
    """What can be counted of its time: `benchmarks/levels.py` measures it."""
    calls, counts = [], []
    kept = made(), [each() for each in criteria]

    def count(_: object, event: str, __: object) -> None:
        calls.append(event in ("call", "c_call"))

    for parts in (lambda: kept, lambda: (made(), [each() for each in criteria])):
        velocity_step(PANDA, BENT, *parts())
        calls.clear()
        sys.setprofile(count)
        velocity_step(PANDA, BENT, *parts())
        sys.setprofile(None)
        counts.append(sum(calls))
    assert counts[1] <= 2 * counts[0], counts
