"""The velocity step of the kernel and of NumPy: the same step, field by field; the same problem is compiled once."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    RobotModel,
    difference,
    forward_kinematics,
    integrate,
    random_configuration,
)
from robokin_addon.solvers import (
    PoseTask,
    PositionTask,
    Task,
    VelocityConstraint,
    VelocityProblem,
    VelocityStep,
    velocity_step,
)
from robokin_addon.solvers.criteria import (
    Criterion,
    DynamicTorque,
    GravityTorque,
    JointSprings,
    KineticEnergy,
    Manipulability,
    MinimumVelocity,
    RestPosture,
    SmallestSingularValue,
    Smooth,
)
from robokin_addon.solvers.velocity.recent_problems import KEPT
from support.few import rest_slow
from support.random_problems.random_tasks import random_task
from support.random_problems.random_trees import random_robot

CRITERIA: dict[str, Callable[[np.ndarray], Criterion]] = {
    "least": lambda q: MinimumVelocity(2.0),
    "smooth": lambda q: Smooth(0.2),
    "energy": lambda q: KineticEnergy(0.5),
    "springs": lambda q: JointSprings(gain=3.0),
    "rest": lambda q: RestPosture(q, gain=2.0),
    "manipulability": lambda q: Manipulability(gain=0.1),
    "smallest": lambda q: SmallestSingularValue(gain=0.1),
    "gravity": lambda q: GravityTorque(gain=0.5),
    "torque": lambda q: DynamicTorque(),
}


def same(native: VelocityStep, numpy: VelocityStep, tolerance: float = 1e-9) -> None:
    size = max(1.0, abs(numpy.v).max(initial=0.0))
    np.testing.assert_allclose(native.v, numpy.v, rtol=0, atol=tolerance * size)
    np.testing.assert_allclose(native.errors, numpy.errors, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(native.residuals, numpy.residuals, rtol=0, atol=tolerance)
    assert [level.freedom for level in native.levels] == [level.freedom for level in numpy.levels]
    assert [(level.priority, level.tasks) for level in native.levels] == [
        (level.priority, level.tasks) for level in numpy.levels
    ]
    for own, other in zip(native.levels, numpy.levels, strict=True):
        np.testing.assert_allclose(own.residual, other.residual, rtol=0, atol=tolerance)
    assert native.unmet == numpy.unmet
    assert list(native.costs) == list(numpy.costs)
    for name, cost in numpy.costs.items():
        assert native.costs[name] == pytest.approx(cost, rel=1e-6, abs=1e-9), name


def _tasks(rng: np.random.Generator, model: RobotModel, q: np.ndarray) -> list[Task]:
    tasks = []
    for priority in rng.integers(1, 4, int(rng.integers(1, 5))):
        away = integrate(model, q, rng.choice([0.01, 0.5]) * difference(model, q, random_configuration(model, rng)))
        tasks.append(random_task(rng, model, away))
        tasks[-1].priority = int(priority)
    link = str(rng.choice(model.link_names[1:]))
    T = forward_kinematics(model, random_configuration(model, rng))[link]
    tasks.append(PoseTask(link, T, frame="tip", position_band=[0.1, 0.0, 9.0], influence=0.3, priority=2))
    tasks.append(PoseTask(link, T, influence=0.0, priority=5))
    return tasks


@pytest.mark.parametrize("kind", CRITERIA)
@pytest.mark.parametrize("seed", rest_slow(range(6), 3))
def test_kernel_equals_reference(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    model = random_robot(seed, 12, ("fixed", "floating", "planar")[seed % 3])
    q, rest = random_configuration(model, rng), random_configuration(model, rng)
    tasks = _tasks(rng, model, q)
    criteria = [CRITERIA[kind](rest), JointSprings(name="others"), RestPosture(rest, 0.3, name="at rest")]
    previous = rng.normal(size=model.nv) * 0.1
    A = rng.normal(size=(2, model.nv))
    gears = VelocityConstraint(A, [0.01, -np.inf], [0.01, 0.05], "gears")
    for damping, constraints in ((0.0, ()), (1e-3, (gears,))):
        native, numpy = (
            VelocityProblem(model, tasks, criteria, 0.04, damping, backend).step(q, previous, constraints)
            for backend in ("native", "numpy")
        )
        same(native, numpy)


def test_starts_are_checked_by_either() -> None:
    """A quaternion of another length is normalised, what is not finite refused."""
    model = random_robot(1, 6, "floating")
    rng = np.random.default_rng(1)
    q = random_configuration(model, rng)
    problem = VelocityProblem(model, _tasks(rng, model, q), [RestPosture()], 0.04, backend="native")
    longer = q.copy()
    longer[3:7] *= 2.0
    np.testing.assert_allclose(problem.step(longer).v, problem.step(q).v, atol=1e-12)
    np.testing.assert_allclose(problem.step(list(q)).v, problem.step(q).v, atol=0)
    for bad in (np.nan, np.inf):
        wrong = q.copy()
        wrong[-1] = bad
        with pytest.raises(ConfigurationError, match="not finite"):
            problem.step(wrong)
    with pytest.raises(ConfigurationError, match="shape"):
        problem.step(q[:-1])


def test_calls_with_the_same_arguments_are_steps_of_one_problem() -> None:
    """Also after a task was given other attributes, and with more problems than are kept."""
    model = random_robot(2, 6)
    q = random_configuration(model, np.random.default_rng(2))
    task = PositionTask(model.link_names[-1], [0.3, 0.1, 0.2])
    springs = JointSprings()

    def check(dt: float = 0.04, **options: object) -> None:
        given = velocity_step(model, q, [task], [springs], dt, **options)
        same(given, VelocityProblem(model, [copy(task)], [copy(springs)], dt, **options).step(q), 0.0)

    for _ in range(2):
        check()
        check(0.02)
        check(damping=1e-3)
        check(backend="numpy")
    task.target = task.checked_target([0.1, 0.1, 0.4])
    check()
    task.priority, springs.gain = 3, 4.0
    check()
    assert velocity_step(model, q, [task], [springs], 0.04).levels[0].priority == 3
    for k in range(KEPT + 2):
        check(0.01 + 0.001 * k)
    check()
