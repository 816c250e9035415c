"""Tasks on the whole robot in the kernel's step: the same as from NumPy's rows, whatever targets come after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, RobotModel, difference, integrate, random_configuration
from robokin_addon.solvers import (
    AxisTask,
    CenterOfMassTask,
    JointTask,
    JointVelocityTask,
    OrientationTask,
    PinTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Rows,
    SupportTask,
    Task,
    VelocityProblem,
    VelocityStep,
    velocity_step,
)
from robokin_addon.solvers.criteria import KineticEnergy
from robokin_addon.solvers.tasks.native import is_on_robot, tip_form_of
from support.blender.every_task import every_task
from support.random_problems.random_trees import random_robot

KINDS = ("posture", "pin", "center of mass", "support")


def _problem(seed: int) -> tuple[VelocityProblem, VelocityProblem, np.ndarray, np.random.Generator]:
    """On the kernel and on NumPy: a task of each kind on levels at random, and where to step from."""
    rng = np.random.default_rng(seed)
    model = random_robot(seed, 10, ("fixed", "floating", "planar")[seed % 3])
    q, away = random_configuration(model, rng), random_configuration(model, rng)
    away = integrate(model, q, rng.choice([0.02, 1.0]) * difference(model, q, away))
    tasks = [task for name, task in every_task(rng, model, q, away).items() if name in KINDS]
    own = [joint.name for joint in model.moving_joints if joint.mimic is None]
    joint = str(rng.choice(own))
    slot = model.slot(joint).v
    tasks.append(JointVelocityTask({joint: rng.normal(size=slot.stop - slot.start).tolist()}, 0.7, band=0.01))
    joint = str(rng.choice(own))
    tasks.append(JointTask(joint, model.joint_values(away)[joint], 0.4, band=1e-3))
    tasks.append(PinTask(model.link_names[-1], None, (1.0, 0.0, 1.0), 0.5))
    tasks.append(PostureTask({joint: model.joint_values(away)[joint]}, influence=0.0, priority=2))
    rng.shuffle(tasks)  # type: ignore[arg-type]
    for task in tasks:
        task.priority = int(rng.integers(1, 5))
    damping = 1e-3 if seed % 2 else 0.0
    native, numpy = (VelocityProblem(model, tasks, (), 0.04, damping, each) for each in ("native", "numpy"))
    assert native._native is not None and native._native.is_alone
    return native, numpy, q, rng


def _assert_same(native: VelocityStep, numpy: VelocityStep) -> None:
    np.testing.assert_allclose(native.v, numpy.v, atol=1e-9 * max(1.0, abs(numpy.v).max()))
    np.testing.assert_allclose(native.errors, numpy.errors, atol=1e-11)
    np.testing.assert_allclose(native.residuals, numpy.residuals, atol=1e-9)
    for own, other in zip(native.levels, numpy.levels, strict=True):
        np.testing.assert_allclose(own.residual, other.residual, atol=1e-9)
        assert own.freedom == other.freedom


@pytest.mark.parametrize("seed", range(12))
def test_the_kernel_equals_the_rows(seed: int) -> None:
    native, numpy, q, rng = _problem(seed)
    _assert_same(native.step(q), numpy.step(q))
    previous = 0.1 * rng.normal(size=len(native.step(q).v))
    _assert_same(native.step(q, previous), numpy.step(q, previous))


def test_rotations_by_half_a_turn() -> None:
    """Where the logarithm has two values, both take the same one."""
    model = random_robot(1, 4, "floating")
    q, wanted = model.neutral(), model.neutral()
    for axis in np.eye(3):
        wanted[3:7] = [0.0, *axis]
        steps = [VelocityProblem(model, [PostureTask(wanted)], backend=each).step(q) for each in ("native", "numpy")]
        _assert_same(*steps)
        assert steps[0].errors[0, 0] == pytest.approx(np.pi)


def test_polygons_of_other_corners_follow_one_another() -> None:
    """The number of rows changes from step to step, that of those behind them with it."""
    model = random_robot(3, 8, "floating")
    q = random_configuration(model, np.random.default_rng(3))
    far = [(2.0, 2.0), (3.0, 2.0), (2.5, 3.0)]
    tasks = [SupportTask(far), PostureTask(model.neutral(), priority=2), PinTask(model.link_names[-1], priority=3)]
    native, numpy = (VelocityProblem(model, tasks, backend=each) for each in ("native", "numpy"))
    square, angles = [(1, 1), (-1, 1), (-1, -1), (1, -1)], np.linspace(0.0, 6.0, 9)
    for polygon in (far, square, far, np.column_stack((np.cos(angles), np.sin(angles))), square):
        targets = [polygon, model.neutral(), None]
        steps = [each.step(q, targets=targets) for each in (native, numpy)]
        _assert_same(*steps)
        assert len(steps[0].levels[0].residual) == len(polygon)


def test_tasks_made_anew_are_looked_at() -> None:
    """Other values, other joints, other polygons in calls of one compiled problem: each is the step of its own."""
    model = random_robot(5, 8, "floating")
    q = random_configuration(model, np.random.default_rng(5))
    a, b, c = [joint.name for joint in model.moving_joints if joint.nq == 1][:3]
    near, far = [(0.1, 0.1), (-0.1, 0.1), (0.0, -0.1)], [(2.0, 2.0), (3.0, 2.0), (2.5, 3.0)]
    for polygon, values in (
        (near, {a: 0.1, b: 0.2}),
        (near, {a: 0.1, b: 0.3}),
        (far, {a: 0.1, c: 0.3}),
        (far, {c: 0.3}),
    ):
        for velocity in (0.1, 0.2):
            tasks = [
                SupportTask(polygon),
                PostureTask(values, priority=2),
                JointVelocityTask({b: velocity}, priority=3),
            ]
            fresh = VelocityProblem(model, tasks, backend="native").step(q)
            np.testing.assert_array_equal(velocity_step(model, q, tasks, backend="native").v, fresh.v)


@pytest.mark.parametrize("seed", range(6))
def test_another_target_is_the_step_of_its_own(seed: int) -> None:
    """Whatever came before it, to the last bit: of balls, of single joints, of all."""
    native, _, q, rng = _problem(seed)
    model, targets = native.model, native.levels.targets
    for _ in range(6):
        other = [_another(model, target, rng) for target in targets]
        fresh = VelocityProblem(model, native.tasks, (), 0.04, native.damping, "native")
        found, expected = native.step(q, targets=other), fresh.step(q, targets=other)
        np.testing.assert_array_equal(found.v, expected.v)
        np.testing.assert_array_equal(found.errors, expected.errors)


def _another(model: RobotModel, target: object, rng: np.random.Generator) -> object:
    if isinstance(target, Mapping):
        return {joint: (value + 0.1 * rng.normal(size=value.shape)).tolist() for joint, value in target.items()}
    if isinstance(target, np.ndarray) and target.shape == (model.nq,):
        return random_configuration(model, rng)
    return target + 0.1 * rng.normal(size=3) if isinstance(target, np.ndarray) and target.shape == (3,) else target


def test_another_target_makes_only_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step towards another target takes as long as its rows' sides, not as making all rows again."""
    model = random_robot(8, 8)
    q, joints = model.neutral(), [joint.name for joint in model.moving_joints if joint.nq == 1]
    joint = joints[0]
    made: list[type] = []
    kinds = (PostureTask, JointVelocityTask, CenterOfMassTask)
    for kind in kinds:
        asked = kind.robot_rows
        monkeypatch.setattr(
            kind, "robot_rows", lambda *given, asked=asked: (made.append(type(given[0])), asked(*given))[1]
        )
    for turn in range(4):
        tasks: list[Task] = [
            PostureTask(dict.fromkeys(joints, 0.01 * turn)),
            JointVelocityTask({joint: 0.1 * turn}, priority=2),
            CenterOfMassTask((0.1 * turn, 0.0, 0.1), priority=3),
            JointTask(joint, 0.1 * turn, priority=4),
        ]
        velocity_step(model, q, tasks, backend="native")
    assert sorted(kind.__name__ for kind in made) == sorted(kind.__name__ for kind in (*kinds, JointTask))


def test_a_target_that_is_refused_leaves_no_other_behind() -> None:
    """The task before it has its new target already when the next one is refused."""
    model = random_robot(8, 8)
    q, joint = model.neutral(), next(joint.name for joint in model.moving_joints if joint.nq == 1)
    problem = VelocityProblem(model, [JointTask(joint, 0.0), PostureTask(q, priority=2)], backend="native")
    expected = problem.step(q, targets=[0.0, q])
    assert problem.step(q, targets=[0.1, q]).v.any()
    problem.step(q, targets=[0.0, q])
    with pytest.raises(ConfigurationError):
        problem.step(q, targets=[0.1, q[:-1]])
    fresh = VelocityProblem(model, problem.tasks, backend="native").step(q, targets=[0.1, q])
    np.testing.assert_array_equal(problem.step(q, targets=[0.1, q]).v, fresh.v)
    np.testing.assert_array_equal(problem.step(q, targets=[0.0, q]).v, expected.v)


def test_rows_of_other_makers_are_asked_for() -> None:
    """A class that changes the rows of one of ours, and one of its own: the kernel does not take its own instead."""

    class Halfway(CenterOfMassTask):
        def rows(self, state: object, target: np.ndarray) -> Rows:
            rows = super().rows(state, target)  # type: ignore[arg-type]
            return rows.less(0.5 * rows.e)

    class Loose(PinTask):
        def rows(self, state: object, target: np.ndarray | None) -> Rows:
            return Rows.none(state.model.nv)  # type: ignore[attr-defined]

    model = random_robot(4, 8)
    q = random_configuration(model, np.random.default_rng(4))
    other = [Halfway([0.1, 0.2, 0.3]), Loose(model.link_names[-1], np.eye(4))]
    assert not any(is_on_robot(task, model) or tip_form_of(task) for task in other)
    own = AxisTask(model.link_names[-1], (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    assert tip_form_of(own) and tip_form_of(PinTask(model.link_names[-1]))
    whole, half = (
        velocity_step(model, q, [own], [KineticEnergy()]) for own in (CenterOfMassTask([0.1, 0.2, 0.3]), other[0])
    )
    np.testing.assert_allclose(half.errors, 0.5 * whole.errors)
    assert not velocity_step(model, q, [other[1]]).v.any()


def test_targets_of_other_makers_may_name_other_joints_each_time() -> None:
    """Whatever dictionary their checked targets are."""

    class Plain(PostureTask):
        def checked_target(self, target: object) -> dict:
            return dict(super().checked_target(target))

        def robot_rows(self, *of: Any) -> np.ndarray:
            return super().robot_rows(*of)

        def sides(self, *of: Any) -> Any:
            return super().sides(*of)

    model = random_robot(4, 8)
    q = random_configuration(model, np.random.default_rng(4))
    joints = [joint.name for joint in model.moving_joints if joint.mimic is None and joint.nq == 1][:3]
    native, numpy = (VelocityProblem(model, [Plain({joints[0]: 0.1})], backend=each) for each in ("native", "numpy"))
    assert native._native is not None and native._native.is_alone
    for target in ({joints[0]: 0.3}, {joints[1]: 0.3}, {joints[2]: 0.1}, dict.fromkeys(joints, 0.2)):
        _assert_same(*(problem.step(q, targets=[target]) for problem in (native, numpy)))


@pytest.mark.parametrize("seed", range(3))
def test_no_array_of_a_task_can_be_written_into(seed: int) -> None:
    """Those made at once included: a compiled problem would not see it."""
    rng = np.random.default_rng(seed)
    model = random_robot(seed, 6, "floating")
    q = random_configuration(model, rng)
    link = model.link_names[-1]
    tasks = [*every_task(rng, model, q, q).values(), PoseTask(link, np.eye(4), [1.0, 0.0, 2.0], influence=0.5)]
    tasks += [PositionTask(link, np.ones(3), offset=np.eye(4), band=[0.1, 0.0, 0.0]), OrientationTask(link, np.eye(3))]
    tasks += [AxisTask(link, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), offset=np.eye(4)), CenterOfMassTask(np.ones(3))]
    for task in tasks:
        arrays = {name: value for name, value in vars(task).items() if isinstance(value, np.ndarray)}
        assert not [name for name, value in arrays.items() if value.flags.writeable], task


@pytest.mark.parametrize("kind", [PostureTask, JointVelocityTask])
def test_targets_cannot_be_written_into(kind: type[Task]) -> None:
    """A step would not see it."""
    task = kind({"a": 0.1})  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="item assignment"):
        task.target["a"] = 0.2
    with pytest.raises(ValueError, match="read-only"):
        task.target["a"][...] = 0.2
