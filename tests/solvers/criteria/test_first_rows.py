"""The rows of tasks, as criteria on how well they move look at them: the kernel and NumPy see the same change."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, random_configuration
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import (
    AdvanceTask,
    AimTask,
    AxisTask,
    CenterOfMassTask,
    ClearanceTask,
    DistanceTask,
    JointVelocityTask,
    LaserTask,
    LinearVelocityTask,
    LoopClosureTask,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    PinTask,
    Plane,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
    SupportTask,
    Task,
    TwistTask,
)
from robokin_addon.solvers.criteria import Manipulability, Potential, SmallestSingularValue
from robokin_addon.solvers.kinematics.state import State
from robokin_addon.solvers.velocity.problem import VelocityProblem
from support.blender.every_task import sphere
from support.problems.obstructed import random_scene
from support.random_problems.random_trees import random_placement, random_robot


def _unit(rng: np.random.Generator) -> Array:
    found = rng.normal(size=3)
    return found / np.linalg.norm(found)


def _some(rng: np.random.Generator) -> Array:
    """Weights of three axes, one of them free."""
    return np.roll((0.0, 0.7, 1.3), int(rng.integers(3)))


KINDS: dict[str, Callable[[np.random.Generator, str, str, Array], Task]] = {
    "pose": lambda rng, tip, other, T: PoseTask(tip, T, _some(rng), frame="world", offset=random_placement(rng, 0.2)),
    "pose in the tip's axes": lambda rng, tip, other, T: PoseTask(tip, T, _some(rng), _some(rng), "tip"),
    "pin": lambda rng, tip, other, T: PinTask(tip, T),
    "axis": lambda rng, tip, other, T: AxisTask(tip, _unit(rng), _unit(rng)),
    "plane": lambda rng, tip, other, T: OnPlaneTask(tip, (rng.normal(size=3), _unit(rng))),
    "above a plane": lambda rng, tip, other, T: OnPlaneTask(tip, (rng.normal(size=3), _unit(rng)), side="above"),
    "line": lambda rng, tip, other, T: OnLineTask(tip, (rng.normal(size=3), _unit(rng)), point=(0.1, 0.2, 0.0)),
    "tube": lambda rng, tip, other, T: OnLineTask(tip, (rng.normal(size=3), _unit(rng)), band=0.1),
    "curve": lambda rng, tip, other, T: OnCurveTask(tip, rng.normal(size=(9, 3)), True, rng.normal(size=3)),
    "curve with thickness": lambda rng, tip, other, T: OnCurveTask(tip, rng.normal(size=(9, 3)), band=0.1),
    "beam on a curve": lambda rng, tip, other, T: OnCurveTask(
        tip, rng.normal(size=(9, 3)), True, direction=_unit(rng), surface=Plane(rng.normal(size=3), _unit(rng))
    ),
    "beam near a curve": lambda rng, tip, other, T: OnCurveTask(
        tip, rng.normal(size=(9, 3)), direction=_unit(rng), surface=sphere(np.zeros(3), 5.0), band=0.1
    ),
    "beam on lines of a mesh": lambda rng, tip, other, T: OnCurveTask(
        tip, 5.0 * rng.normal(size=(40, 3)), direction=_unit(rng), surface=sphere(np.zeros(3), 5.0)
    ),
    "beam that misses": lambda rng, tip, other, T: OnCurveTask(
        tip, rng.normal(size=(9, 3)), direction=_unit(rng), surface=sphere(np.full(3, 99.0), 5.0)
    ),
    "relative": lambda rng, tip, other, T: RelativePoseTask(tip, other, T, _some(rng), other_offset=T),
    "relative with a band": lambda rng, tip, other, T: RelativePoseTask(tip, other, T, position_band=(0.1, 0.0, 0.2)),
    "loop": lambda rng, tip, other, T: LoopClosureTask(tip, other, T),
    "distance": lambda rng, tip, other, T: DistanceTask(tip, 0.3, other, rng.normal(size=3)),
    "distance from a place": lambda rng, tip, other, T: DistanceTask(tip, 0.3, other_point=rng.normal(size=3)),
    "no distance": lambda rng, tip, other, T: DistanceTask(tip, 0.0, other, rng.normal(size=3)),
    "at most a distance": lambda rng, tip, other, T: DistanceTask(tip, 0.3, other, relation="inside"),
    "aim": lambda rng, tip, other, T: AimTask(tip, _unit(rng), rng.normal(size=3), offset=random_placement(rng, 0.2)),
    "aim about": lambda rng, tip, other, T: AimTask(tip, _unit(rng), rng.normal(size=3), band=0.1),
    "advance": lambda rng, tip, other, T: AdvanceTask(tip, rng.normal(size=3), _some(rng)),
    "laser": lambda rng, tip, other, T: LaserTask(
        tip, _unit(rng), rng.normal(size=3), Plane(rng.normal(size=3), _unit(rng))
    ),
    "laser on a mesh": lambda rng, tip, other, T: LaserTask(
        tip, _unit(rng), rng.normal(size=3), sphere(np.zeros(3), 5.0)
    ),
    "twist": lambda rng, tip, other, T: TwistTask(tip, rng.normal(size=6), np.roll((0.0, 0.7, 1.3, 1.0, 1.0, 0.2), 1)),
    "twist of the tip": lambda rng, tip, other, T: TwistTask(
        tip, rng.normal(size=6), frame="tip", band=(0.1, 0.0, 0.0, 0.0, 0.2, 0.0)
    ),
    "twist in space": lambda rng, tip, other, T: TwistTask(tip, rng.normal(size=6), frame="space"),
    "center of mass": lambda rng, tip, other, T: CenterOfMassTask(rng.normal(size=3), _some(rng)),
    "center of mass with a band": lambda rng, tip, other, T: CenterOfMassTask(T[:3, 3], band=(0.1, 0.0, 0.0)),
    "support": lambda rng, tip, other, T: SupportTask(rng.normal(size=(6, 2))),
    "advance in the root's axes": lambda rng, tip, other, T: AdvanceTask(tip, rng.normal(size=3), frame="world"),
}


OF_JOINTS: dict[str, Callable[[np.random.Generator, RobotModel], Task]] = {
    "posture": lambda rng, model: PostureTask(random_configuration(model, rng)),
    "some joints": lambda rng, model: PostureTask(_values(rng, model, 4), {_joints(model)[0]: 0.0}),
    "lengths in a band": lambda rng, model: PostureTask(random_configuration(model, rng), band=(0.0, 0.2)),
    "joint velocity": lambda rng, model: JointVelocityTask(
        {_joints(model)[0]: np.ones(model.joint(_joints(model)[0]).nv)}
    ),
    "linear velocity": lambda rng, model: LinearVelocityTask(rng.normal(size=(2, model.nv)), 0.1),
}


@pytest.mark.parametrize("criterion", [Manipulability(gain=0.3), SmallestSingularValue(gain=0.3)], ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_sees_rows_change_as_numpy_does(kind: str, criterion: Potential) -> None:
    for seed in range(6):
        rng = np.random.default_rng([seed, sum(kind.encode())])
        model = random_robot(seed, 9, ("fixed", "floating", "planar")[seed % 3])
        q = random_configuration(model, rng)
        tip, other = (str(name) for name in rng.permutation(model.link_names[1:])[:2])
        tasks = [KINDS[kind](rng, tip, other, random_placement(rng, 0.4)), _beside(rng, model, q)]
        _compare(criterion, model, q, tasks)


@pytest.mark.parametrize("criterion", [Manipulability(gain=0.3), SmallestSingularValue(gain=0.3)], ids=repr)
@pytest.mark.parametrize("kind", OF_JOINTS)
def test_the_kernel_sees_rows_of_joints(kind: str, criterion: Potential) -> None:
    for seed in range(6):
        rng = np.random.default_rng([seed, sum(kind.encode())])
        model = random_robot(seed, 9, ("fixed", "floating", "planar")[seed % 3])
        q = random_configuration(model, rng)
        _compare(criterion, model, q, [OF_JOINTS[kind](rng, model), _beside(rng, model, q)])


@pytest.mark.parametrize("criterion", [Manipulability(gain=0.3), SmallestSingularValue(gain=0.3)], ids=repr)
@pytest.mark.parametrize("kind", [*KINDS, *OF_JOINTS])
def test_a_task_of_partial_influence_counts_as_a_whole_one(kind: str, criterion: Potential) -> None:
    for seed in range(3):
        rng = np.random.default_rng([seed, sum(kind.encode())])
        model = random_robot(seed, 9, ("fixed", "floating", "planar")[seed % 3])
        q = random_configuration(model, rng)
        tip, other = (str(name) for name in rng.permutation(model.link_names[1:])[:2])
        made = (rng, tip, other, random_placement(rng, 0.4)) if kind in KINDS else (rng, model)
        task, beside = (KINDS | OF_JOINTS)[kind](*made), _beside(rng, model, q)
        whole = criterion.potential(State(model, q, [task, beside], 0.04))
        task.influence = beside.influence = 0.3
        assert criterion.potential(State(model, q, [task, beside], 0.04)) == whole
        _compare(criterion, model, q, [task, beside])


@pytest.mark.parametrize("criterion", [Manipulability(gain=0.3), SmallestSingularValue(gain=0.3)], ids=repr)
def test_what_keeps_apart_from_obstacles_has_no_such_rows(criterion: Potential) -> None:
    """Clearances come before the first level."""
    for seed in range(4):
        collisions, q, _ = random_scene(np.random.default_rng(seed))
        place = PositionTask("tool", (0.5, 0.0, 0.5))
        _compare(criterion, collisions.model, q, [ClearanceTask(collisions), place])
        costs = [
            VelocityProblem(collisions.model, tasks, [criterion], 0.04).step(q).costs
            for tasks in ([place], [ClearanceTask(collisions), place])
        ]
        assert costs[0] == costs[1]


def _joints(model: RobotModel) -> list[str]:
    return [joint.name for joint in model.moving_joints if joint.mimic is None]


def _values(rng: np.random.Generator, model: RobotModel, count: int) -> dict[str, list[float]]:
    q = random_configuration(model, rng)
    return {name: q[model.slot(name).q].tolist() for name in _joints(model)[:count]}


def _compare(criterion: Potential, model: RobotModel, q: Array, tasks: list[Task]) -> None:
    assert criterion.record(State(model, q, tasks, 0.04)) is not None
    kernel, numpy = (
        VelocityProblem(model, tasks, [criterion], 0.04, 1e-2, backend).step(q) for backend in ("native", "numpy")
    )
    assert kernel.costs == pytest.approx(numpy.costs, rel=1e-9, abs=1e-12)
    assert abs(kernel.v - numpy.v).max(initial=0.0) < 1e-9 * max(1.0, abs(numpy.v).max(initial=0.0))


def _beside(rng: np.random.Generator, model: RobotModel, q: Array) -> Task:
    link = model.link_names[-1]
    return PositionTask(link, forward_kinematics(model, q)[link][:3, 3], _some(rng))
