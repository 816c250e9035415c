"""Tasks that fade in and out: rows of kinds that the kernel knows come from there, and say what NumPy's say."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, integrate
from robokin_addon.solvers import (
    DistanceTask,
    JointVelocityTask,
    LaserTask,
    LoopClosureTask,
    Plane,
    PositionTask,
    Tracker,
    TwistTask,
)
from robokin_addon.solvers.criteria import Manipulability, Potential, SmallestSingularValue
from robokin_addon.solvers.tracking.level_engines import LevelEngines
from support.engine.goals import KINDS
from support.engine.robots import engine_robot
from support.engine.stacks import DT
from support.few import rest_slow

EACH = tuple(dict.fromkeys(KINDS))
FRAMES = 4
SHARES = np.concatenate((np.linspace(0.2, 1.0, FRAMES // 2), np.linspace(0.9, 0.0, FRAMES // 2)))


CASES = [
    *rest_slow([("panda", kind, 0.4) for kind in EACH], 6),
    *rest_slow([("ball tree", kind, 0.0) for kind in EACH]),
]


@pytest.mark.parametrize(("robot", "kind", "second"), CASES)
def test_a_task_fades_alike(robot: str, kind, second: float) -> None:
    """Below a whole task, and above one, which fades too."""
    rng = np.random.default_rng([3, *kind.__name__.encode()])
    model = engine_robot(robot)
    q = model.limits.middle(model.neutral())
    near, far = (model.limits.clamp(integrate(model, q, s * rng.normal(size=model.nv))) for s in (0.05, 0.1))
    goals = [KINDS[2](rng, model, 1), kind(rng, model, 2), KINDS[0](rng, model, 3)]
    targets = [goals[0].at(q), goals[1].at(far), goals[2].at(near)]
    shares = np.column_stack((np.ones(FRAMES), SHARES, 1.0 - second * SHARES))
    found = []
    for backend in ("native", "numpy"):
        tracker = Tracker(model, [goal.task for goal in goals], DT, backend)
        tracker.stand(q)
        found.append(tracker.run(tracker.check_targets([targets] * FRAMES), shares))
    np.testing.assert_array_equal(found[0].codes, found[1].codes)
    np.testing.assert_allclose(found[0].q, found[1].q, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(found[0].residuals, found[1].residuals, rtol=0.0, atol=1e-6)


FLOOR = Plane((0.0, 0.0, -0.2), (0.0, 0.0, 1.0))
HAND, ELBOW = "panda_hand", "panda_link4"
OF_PANDA = {
    "beam": LaserTask(HAND, (0, 0, 1), (0.4, 0.1, -0.2), FLOOR, priority=2),
    "beam that misses": LaserTask(HAND, (0, 0, -1), (0.4, 0.1, -0.2), FLOOR, priority=2),
    "two points as one": DistanceTask(HAND, 0.0, other_point=(0.5, 0.1, 0.4), priority=2),
    "twist": TwistTask(HAND, (0.1, 0.05, 0, 0, 0.2, 0), priority=2),
    "twist in the hand": TwistTask(HAND, (0.1, 0.05, 0, 0, 0.2, 0), frame="tip", priority=2),
    "joint velocity": JointVelocityTask({"panda_joint1": 0.3}, priority=2),
    "loop": LoopClosureTask(HAND, ELBOW, np.array(((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0.1), (0, 0, 0, 1)))),
}


@pytest.mark.parametrize("case", OF_PANDA)
def test_beams_velocities_and_loops_fade_alike(case: str) -> None:
    model, task = engine_robot("panda"), OF_PANDA[case]
    q = np.array([0.2, -0.5, 0.1, -2.0, 0.1, 1.7, 0.7, 0.02])
    height = PositionTask(ELBOW, forward_kinematics(model, q)[ELBOW][:3, 3], weights=(0, 0, 1))
    found = []
    for backend in ("native", "numpy"):
        tracker = Tracker(model, [height, task], DT, backend)
        tracker.stand(q)
        targets = tracker.check_targets([[height.target, task.target]] * FRAMES)
        found.append(tracker.run(targets, np.column_stack((np.ones(FRAMES), SHARES))))
        if backend == "native":
            assert not _others(tracker)
    assert abs(found[0].q - q).max() > 1e-2
    np.testing.assert_array_equal(found[0].codes, found[1].codes)
    np.testing.assert_allclose(found[0].q, found[1].q, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(found[0].residuals, found[1].residuals, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("kind", EACH, ids=lambda kind: kind.__name__[1:])
def test_who_makes_the_rows(kind) -> None:
    """The kernel, of every kind."""
    rng = np.random.default_rng(4)
    model = engine_robot("panda")
    q = model.limits.middle(model.neutral())
    goals = [KINDS[2](rng, model, 1), kind(rng, model, 2)]
    tracker = Tracker(model, [goal.task for goal in goals], DT, "native")
    tracker.stand(q)
    tracker.run(tracker.check_targets([[goal.at(q) for goal in goals]]), [[1.0, 0.5]])
    assert not _others(tracker)


@pytest.mark.parametrize("criterion", [Manipulability, SmallestSingularValue])
def test_criteria_look_at_rows_that_fade_alike(criterion: type[Potential]) -> None:
    model = engine_robot("panda")
    q = np.array([0.2, -0.5, 0.1, -2.0, 0.1, 1.7, 0.7, 0.02])
    p = forward_kinematics(model, q)[HAND][:3, 3]
    tasks = [PositionTask(HAND, p + 0.02), PositionTask(ELBOW, (0.0, 0.1, 0.6), priority=2)]
    found = []
    for backend in ("native", "numpy"):
        tracker = Tracker(model, tasks, DT, backend, criteria=[criterion()])
        tracker.stand(q)
        targets = tracker.check_targets([[task.target for task in tasks]] * FRAMES)
        found.append(tracker.run(targets, np.column_stack((SHARES, np.ones(FRAMES)))))
        if backend == "native":
            engines = tracker._engines._engines
            assert not any(own._stack.step.other_criteria for own, _ in engines.values())
    np.testing.assert_array_equal(found[0].codes, found[1].codes)
    np.testing.assert_allclose(found[0].q, found[1].q, rtol=0.0, atol=1e-9)


def _others(tracker: Tracker) -> list[int]:
    """Tasks that fade whose rows Python makes."""
    engines: LevelEngines = tracker._engines
    return [i for (_, fades), (own, _) in engines._engines.items() if fades for i in own._stack.step.other_tasks]
