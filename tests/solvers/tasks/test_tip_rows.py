"""Rows of tasks on tips in the kernel: those that each task states, on any robot, towards any target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from robokin_addon.robokin import (
    Joint,
    Link,
    RobotModel,
    difference,
    forward_kinematics,
    integrate,
    random_configuration,
)
from robokin_addon.solvers import (
    AdvanceTask,
    AimTask,
    AxisTask,
    DistanceTask,
    LaserTask,
    LinearVelocityTask,
    LoopClosureTask,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    OrientationTask,
    PinTask,
    Plane,
    PoseTask,
    PositionTask,
    RelativePoseTask,
    Rows,
    Task,
    TwistTask,
    VelocityConstraint,
    VelocityProblem,
    VelocityStep,
    velocity_step,
)
from robokin_addon.solvers.tasks.native import is_on_robot, tip_form_of
from robokin_addon.solvers.tasks.places.curve import Curve
from robokin_addon.solvers.tasks.places.surface import MovedSurface, Surface
from robokin_addon.solvers.velocity.native_layout import NO_LEVELS, ExtraLevels
from support.blender.every_task import every_task, sphere
from support.few import rest_slow
from support.random_problems.random_tasks import every_motion
from support.random_problems.random_trees import ALL_TYPES, random_placement, random_robot

ROBOTS = 12
ROUNDING = 2.3e-16  # relative, of a double
MOTIONS = (*ALL_TYPES, "test_screw", "test_ball")
FOREIGN = {"sums that change"}


@pytest.fixture(autouse=True)
def _every_motion() -> Iterator[None]:
    with every_motion():
        yield


def _robot(seed: int) -> tuple[RobotModel, np.ndarray, np.ndarray, np.random.Generator]:
    """A tree with mimics, balls, screws and any root; where it stands, and a place near or far."""
    rng = np.random.default_rng(seed)
    model = random_robot(seed, 16, ("fixed", "floating", "planar")[seed % 3], MOTIONS if seed % 2 else ALL_TYPES)
    q, away = random_configuration(model, rng), random_configuration(model, rng)
    return model, q, integrate(model, q, rng.choice([0.02, 1.0]) * difference(model, q, away)), rng


def _tasks(rng: np.random.Generator, model: RobotModel, q: np.ndarray, away: np.ndarray) -> dict[str, Task]:
    """Of every kind and form, by name."""
    tasks = every_task(rng, model, q, away)
    link, other = (str(each) for each in rng.choice(model.link_names[1:], 2))
    offset, point, axis = random_placement(rng, 0.2), rng.normal(size=3), rng.normal(size=3)
    T = forward_kinematics(model, away)[link] @ offset
    here = forward_kinematics(model, q)[link] @ offset
    beam = here[:3, :3] @ axis
    twist = rng.normal(size=6)
    some = (0.5, 0.0, 2.0)
    A = rng.normal(size=(2, model.nv))
    tasks |= {
        "pose": PoseTask(
            link, T, some, (1.0, 3.0, 1.0), "tip", offset, position_band=0.01, orientation_band=(0, 0.1, 0)
        ),
        "position": PositionTask(link, T[:3, 3], influence=0.4),
        "orientation": OrientationTask(link, T[:3, :3], some, "tip", offset, influence=0.7),
        "axis": AxisTask(link, axis, point, some, "tip", offset),
        "axis in a cone": AxisTask(link, axis, point, 0.3, "tip", offset, band=1e-3),
        "axis in its cone": AxisTask(link, axis, beam + 0.05 * point, 0.3, offset=offset, band=0.1),
        "stays": PinTask(link, None, some, 1.0, offset),
        "advance from here": AdvanceTask(link, point, some, "tip", offset, influence=0.5),
        "below a plane": OnPlaneTask(link, (point, axis), "below", band=0.1, influence=0.3),
        "outside": DistanceTask(link, 0.0, other, point, "outside", axis, band=1e-3),
        "far outside": DistanceTask(link, 9.0, other, point, "outside", axis, influence=0.5),
        "inside": DistanceTask(link, 0.0, other, point, "inside", axis, band=1e-3),
        "meets": DistanceTask(link, 0.0, None, point, "equal", axis, 0.2, band=1e-3, influence=0.6),
        "itself": DistanceTask(link, 0.5, link, point, "equal", axis),
        "part of a curve": OnCurveTask(link, here[:3, 3] + rng.normal(size=(4, 3)), point=point, influence=0.6),
        "lines": OnCurveTask(link, _lines(rng, T[:3, 3]), point=offset[:3, 3], weight=0.5),
        "tube": OnCurveTask(link, _lines(rng, T[:3, 3]), band=0.1),
        "laser on a mesh that moved": LaserTask(link, axis, point, _moved(here, 0.9 * beam, rng), 0.5, offset),
        "laser past a mesh": LaserTask(link, axis, point, sphere(here[:3, 3] - 9.0 * beam, 0.7), influence=0.3),
        "beam on a curve": _beam_on_lines(
            rng, link, axis, sphere(here[:3, 3] + 0.9 * beam, 0.7), here, beam, weight=0.5
        ),
        "beam near a curve": _beam_on_lines(rng, link, axis, _moved(here, 0.9 * beam, rng), here, beam, band=0.1),
        "beam past its mesh": _beam_on_lines(rng, link, axis, sphere(here[:3, 3] - 9.0 * beam, 0.7), here, beam),
        "beam on a plane": _beam_on_lines(rng, link, axis, Plane(here[:3, 3] + beam, beam + 0.1 * point), here, beam),
        "laser beside": LaserTask(link, axis, point, Plane(here[:3, 3] - beam, beam + 0.1 * point), 0.5, offset),
        "relative": RelativePoseTask(link, other, T, some, (0.0, 1.0, 1.0), None, offset, position_band=some),
        "loop": LoopClosureTask(link, other, offset, None, some, 0.0, correction=0.3),
        "twist": TwistTask(link, twist, (*some, *some), offset=offset),
        "twist of the tip": TwistTask(link, twist, frame="tip", offset=offset, influence=0.3),
        "twist in space": TwistTask(link, 30.0 * twist, (0.0, 0.0, 1.0, 1.0, 0.0, 2.0), "space", offset),
        "twist in a band": TwistTask(link, twist, frame="space", band=0.1),
        "at rest": TwistTask(link, np.zeros(6)),
        "across its way": TwistTask(link, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 1.0, 1.0, 0.0, 0.0, 1.0), "tip"),
        "sums": LinearVelocityTask(A, (0.1, -0.2), (1.0, 2.0), band=(0.0, 0.1), influence=0.5),
        "one sum": LinearVelocityTask(A[:1], 0.3, 0.5),
        "sums that change": LinearVelocityTask(lambda q: A, 0.1),
        "nothing": AimTask(link, axis, point, influence=0.0),
    }
    for k, task in enumerate(tasks.values()):
        if not isinstance(task, LoopClosureTask):
            task.priority = k + 1
    return tasks


def _lines(rng: np.random.Generator, at: np.ndarray) -> list[Curve]:
    """Several, closed and open, near a place."""
    return [
        Curve(at + 0.5 * rng.normal(size=(count, 3)), closed) for count, closed in ((4, True), (2, False), (7, False))
    ]


def _beam_on_lines(
    rng: np.random.Generator,
    link: str,
    axis: np.ndarray,
    surface: Surface,
    here: np.ndarray,
    beam: np.ndarray,
    **settings: float,
) -> OnCurveTask:
    """Its spot on lines ahead of it."""
    lines = _lines(rng, here[:3, 3] + beam)
    return OnCurveTask(link, lines, direction=axis, surface=surface, influence=0.6, **settings)


def _moved(here: np.ndarray, ahead: np.ndarray, rng: np.random.Generator) -> MovedSurface:
    """A sphere before a tip, drawn about the origin."""
    T = random_placement(rng, 0.1)
    T[:3, 3] += here[:3, 3] + ahead
    return MovedSurface(sphere(np.zeros(3), 0.7), T)


def _close(found: np.ndarray, wanted: np.ndarray, what: str, size: float = 1.0) -> None:
    assert found.shape == wanted.shape, what
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12 * max(1.0, size), err_msg=what)


def _assert_rows(problem: VelocityProblem, names: Sequence[str], q: np.ndarray, targets: Sequence[Any]) -> None:
    """The levels and residuals of the kernel are those of the tasks."""
    native, levels, dt = problem._native, problem.levels, problem.dt
    assert native is not None and native.aim(targets)
    state = levels.state(q, targets, dt)
    rows = levels.step_rows(state, targets)
    native.q[...], native.previous[...] = q, 0.0
    others = {i: levels.parts_of(i, state, rows[i]) for i in native.other_tasks}
    assert {names[i] for i in others} <= FOREIGN
    found = native.rows(ExtraLevels(others=others) if others else NO_LEVELS)
    assert found is not None
    made, errors = found
    for number, i in enumerate(native.native_tasks):
        wanted = levels.residuals_of(i, rows[i], np.zeros(problem.model.nv), dt)
        _close(errors[number], wanted, names[i])
    for (loop, wanted), level in zip(levels.closures(state, rows), made, strict=False):
        # Another basis of the same rows: what it sees, and what it lacks, is the same.
        scale = max(1.0, abs(wanted.J).max(initial=0.0)) ** 2
        _close(level.J.T @ level.J, wanted.J.T @ wanted.J, loop, scale)
        _close(level.J.T @ level.lower, wanted.J.T @ wanted.lower, loop, scale)
        assert (level.lower == level.upper).all()
    at = len(levels.loops)
    assert len(made) == at + sum(levels.counts)
    for (i,), n in zip(levels.indices, levels.counts, strict=True):
        parts = levels.parts_of(i, state, rows[i])
        for part in range(n):
            level, at = made[at], at + 1
            if part >= len(parts):
                assert not len(level.J)
                continue
            wanted = parts[part]
            size = abs(wanted.J).max(initial=0.0)
            _close(level.J, wanted.J, names[i], size)
            _close(level.lower, wanted.lower, names[i])
            _close(level.upper, wanted.upper, names[i])


@pytest.mark.parametrize("seed", rest_slow(range(ROBOTS), 6))
def test_the_kernel_states_the_rows(seed: int) -> None:
    model, q, away, rng = _robot(seed)
    tasks = _tasks(rng, model, q, away)
    problem = VelocityProblem(model, list(tasks.values()), (), 0.04, backend="native")
    targets = [task.target for task in tasks.values()]
    # At `away` itself what is lacking is rounding, and the way out of a band any.
    near = integrate(model, away, 1e-2 * rng.normal(size=model.nv))
    for there in (q, near, random_configuration(model, rng)):
        _assert_rows(problem, list(tasks), there, targets)


def test_where_there_is_no_direction() -> None:
    """Points that are one, an axis that is opposite, a tip at what it aims at, a beam along its plane, the axis of a
    hinge: the kernel takes the same one, and the rows are as many."""
    model, q, _, rng = _robot(4)
    link, other = str(model.link_names[-1]), str(model.link_names[3])
    links = forward_kinematics(model, q)
    p, z = links[link][:3, 3], links[link][:3, 2]
    tasks = {
        "meets": DistanceTask(link, 0.0, None, p, "inside", band=0.1),
        "apart": DistanceTask(link, 0.2, None, p, "inside", band=0.1),
        "itself": DistanceTask(link, 0.2, link, (0.0, 0.0, 0.0)),
        "line": OnLineTask(link, (p, (1.0, 2.0, 3.0)), band=0.1),
        "aim": AimTask(link, (0.0, 0.0, 1.0), p),
        "cone": AimTask(link, (0.0, 0.0, 1.0), p, band=0.1),
        "opposite": AxisTask(link, (0.0, 0.0, 1.0), -z),
        "aligned": AxisTask(link, (0.0, 0.0, 1.0), z, band=0.1),
        "beam": LaserTask(link, (0.0, 0.0, 1.0), p + z, Plane(p + z, np.cross(z, (0.1, 0.2, 0.3)))),
        "hinge": TwistTask(link, TwistTask.about(p, (1.0, 0.0, 0.0), 1.0), (1.0, 1.0, 1.0, 0.0, 0.0, 0.0), "space"),
        "half a turn": OrientationTask(link, links[link][:3, :3] @ np.diag((1.0, -1.0, -1.0))),
        "half a turn from another": RelativePoseTask(
            link, other, np.linalg.inv(links[other]) @ links[link] @ np.diag((-1.0, 1.0, -1.0, 1.0))
        ),
    }
    for k, task in enumerate(tasks.values()):
        task.priority = k + 1
    problem = VelocityProblem(model, list(tasks.values()), (), 0.04, backend="native")
    # What is lacking is nothing or some rounding, of any direction: so the numbers of rows are compared, and what is
    # left.
    native, levels = problem._native, problem.levels
    targets = [task.target for task in tasks.values()]
    assert native is not None and native.aim(targets)
    native.q[...] = q
    found = native.rows(NO_LEVELS)
    state = levels.state(q, targets, 0.04)
    rows = levels.step_rows(state, targets)
    assert found is not None
    sizes = [len(level.J) for level in found[0]]
    assert sizes == [len(level.J) for level in levels.levels(state, rows, 0.0)]
    wanted = levels.residuals(rows, np.zeros(model.nv), 0.04)
    np.testing.assert_allclose(found[1], wanted, atol=1e-12)
    assert all(np.isfinite(level.J).all() for level in found[0])
    _assert_rows(problem, list(tasks), random_configuration(model, rng), targets)


@pytest.mark.parametrize("axis", np.eye(3))
def test_in_the_middle_of_a_ball_the_way_out_is_one_that_there_is(axis: np.ndarray) -> None:
    model = RobotModel("slider", [Link("base"), Link("slide")], [Joint("z", "prismatic", "base", "slide", axis=axis)])
    beside = np.roll(axis, 1)
    tasks = {
        "ball": DistanceTask("slide", 0.0, None, (0.0, 0.0, 0.0), "inside", band=0.1),
        "tube": OnLineTask("slide", (np.zeros(3), beside), band=0.1, priority=2),
    }
    problem = VelocityProblem(model, list(tasks.values()), (), 0.04, backend="native")
    _assert_rows(problem, list(tasks), np.zeros(1), [task.target for task in tasks.values()])
    assert problem._native is not None
    for level in problem._native.rows(NO_LEVELS)[0]:
        np.testing.assert_allclose(abs(level.J), 1.0)


@pytest.mark.parametrize(
    "place", [(0, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0), (1, 0.5, 0.5), (3, -1, 0), (-1, -1, 1), (5, 9, 0)]
)
@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("band", [0.0, 0.1])
def test_at_corners_and_ends_of_curves(place: tuple[float, ...], closed: bool, band: float) -> None:
    """On them, beside them, and where several places of one curve or of two are as near."""
    names = ["x", "y", "z"]
    links = [Link("base"), *map(Link, names)]
    pairs = zip(names, ["base", "x", "y"], np.eye(3), strict=True)
    model = RobotModel("stage", links, [Joint(name, "prismatic", above, name, axis=a) for name, above, a in pairs])
    line = Curve([(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0)], closed)
    far = Curve([(2, 9, 0), (8, 9, 0), (8, 9, 3)], closed)
    tasks: dict[str, Task] = {
        "one": OnCurveTask("z", line, band=band),
        "two": OnCurveTask("z", [line, far], band=band, priority=2),
        "the same twice": OnCurveTask("z", [line, line.moved(np.eye(4))], band=band, priority=3),
    }
    problem = VelocityProblem(model, list(tasks.values()), (), 0.04, backend="native")
    _assert_rows(problem, list(tasks), np.array(place, float), [task.target for task in tasks.values()])


@pytest.mark.parametrize("seed", range(4))
def test_targets_that_follow_one_another(seed: int) -> None:
    """Rows of another number, other planes, other points, starts that are told and not: what comes before is
    forgotten."""
    model, q, away, rng = _robot(seed)
    link, other = str(model.link_names[-1]), str(model.link_names[1])
    T = forward_kinematics(model, away)[link]
    point, normal = rng.normal(size=3), rng.normal(size=3)
    tasks = {
        "distance": DistanceTask(link, 0.3, other),
        "pin": PinTask(link),
        "advance": AdvanceTask(link, point),
        "twist": TwistTask(link, np.ones(6)),
        "laser": LaserTask(link, normal, point, Plane(point, normal)),
        "curve": OnCurveTask(link, curve := Curve(rng.normal(size=(5, 3)), True)),
        "below": PositionTask(other, point),
    }
    for k, task in enumerate(tasks.values()):
        task.priority = k + 1
    own = list(tasks.values())
    problem = VelocityProblem(model, own, (), 0.04, backend="native")
    begun = own[2].resolve_target(problem.levels.state(away, [task.target for task in own], 1.0), own[2].target)
    given = [
        [0.3, None, point, np.ones(6), point, curve, point],
        [0.0, T, point, np.zeros(6), (point, Plane(normal, point)), curve.moved(T), normal],
        [0.0, None, begun, np.ones(6), point, [Curve(rng.normal(size=(3, 3))), curve], point],
        [(0.7, point), T, normal, np.zeros(6), normal, rng.normal(size=(2, 3)), point],
    ]
    for _ in range(2):
        for targets in given:
            _assert_rows(problem, list(tasks), q, problem.levels.checked_targets(targets))


def test_a_plane_that_becomes_a_surface_of_others_is_left_to_numpy() -> None:
    """And a plane or a mesh is not: the steps are those of problems of their own."""

    class Own(Plane):
        pass

    model, q, _, _ = _robot(1)
    link = str(model.link_names[-1])
    T = forward_kinematics(model, q)[link]
    spot = T[:3, 3] + T[:3, 2]
    plane, ball, own = Plane(spot, T[:3, 2]), sphere(spot, 0.5), Own(spot + 0.1, T[:3, 0] + T[:3, 2])
    kept = VelocityProblem(model, [LaserTask(link, (0.0, 0.0, 1.0), spot, plane)], (), 0.04)
    for surface in (plane, ball, own, own, ball, plane):
        fresh = VelocityProblem(model, [LaserTask(link, (0.0, 0.0, 1.0), spot, surface)], (), 0.04, backend="numpy")
        _assert_same(kept.step(q, targets=[(spot, surface)]), fresh.step(q))


def _assert_same(native: VelocityStep, numpy: VelocityStep, rounding: float = 0.0) -> None:
    """rounding: how far the velocity may be apart besides, as it is of NumPy alone where q is rounded otherwise."""
    np.testing.assert_allclose(native.v, numpy.v, rtol=0, atol=1e-9 * max(1.0, abs(numpy.v).max()) + rounding)
    np.testing.assert_allclose(native.errors, numpy.errors, atol=1e-12)
    np.testing.assert_allclose(native.residuals, numpy.residuals, atol=1e-9)
    assert native.unmet == numpy.unmet
    for own, other in zip(native.levels, numpy.levels, strict=True):
        np.testing.assert_allclose(own.residual, other.residual, atol=1e-9)
        assert own.freedom == other.freedom


@pytest.mark.parametrize("seed", rest_slow([1, 0, *range(2, ROBOTS)]))
def test_steps_are_the_same(seed: int) -> None:
    """Of three tasks of any kind beside or below each other, with a loop, and of others that the kernel does not
    know."""
    model, q, away, rng = _robot(seed)
    every = _tasks(rng, model, q, away)
    loops = [every.pop(name) for name in ("loop", "loop closure")]
    del every["itself"]  # of which NumPy sees some rounding
    names = rng.permutation(list(every)).tolist()
    for first in range(0, len(names), 3):
        tasks = [every[name] for name in names[first : first + 3]]
        for task in tasks:
            task.priority = int(rng.integers(1, 4))
        if first % 2:
            tasks.insert(1, loops[first % 4 == 1])
        problems = [VelocityProblem(model, tasks, (), 0.04, 1e-3 * (seed % 2), each) for each in ("native", "numpy")]
        gears = VelocityConstraint(rng.normal(size=(2, model.nv)), [0.01, -np.inf], [0.01, 0.05], "gears")
        own = [gears] if first % 4 else []
        native, numpy = (problem.step(q, None, own) for problem in problems)
        nearby = [problems[1].step(q * (1.0 + each), None, own) for each in (-ROUNDING, ROUNDING)]
        _assert_same(native, numpy, max(abs(other.v - numpy.v).max() for other in nearby))


def test_classes_of_other_makers_are_asked_for_their_rows() -> None:
    """Also where they change one of ours; where they tell the form themselves, they are not."""

    class Half(AimTask):
        def rows(self, state: object, target: np.ndarray) -> Rows:
            rows = super().rows(state, target)  # type: ignore[arg-type]
            return rows.less(0.5 * rows.e)

    class Same(AimTask):
        def tip_form(self) -> object:
            return super().tip_form()

    class Loose(LoopClosureTask):
        def rows(self, state: object, target: np.ndarray) -> Rows:
            return Rows.none(state.model.nv)  # type: ignore[attr-defined]

    class Sum(LinearVelocityTask):
        def rows(self, state: object, target: np.ndarray) -> Rows:
            return Rows.none(state.model.nv)  # type: ignore[attr-defined]

    model, q, _, _ = _robot(0)
    link, other = str(model.link_names[-1]), str(model.link_names[1])
    args = (link, (0.0, 0.0, 1.0), (1.0, 2.0, 3.0))
    assert tip_form_of(Half(*args)) is None and tip_form_of(Same(*args)) is not None and tip_form_of(AimTask(*args))
    whole, half = (velocity_step(model, q, [task]) for task in (AimTask(*args), Half(*args)))
    np.testing.assert_allclose(half.errors, 0.5 * whole.errors, rtol=1e-12)
    loose, below = Loose(link, other), AimTask(*args)
    np.testing.assert_allclose(velocity_step(model, q, [loose, below]).v, whole.v, atol=1e-9)
    both = [LoopClosureTask(link, other, position_weights=(1.0, 0.0, 0.0), orientation_weights=0.0), loose, below]
    _assert_same(*(velocity_step(model, q, both, backend=each) for each in ("native", "numpy")))
    assert not is_on_robot(Sum(np.ones((1, model.nv)), 1.0), model)
    assert not velocity_step(model, q, [Sum(np.ones((1, model.nv)), 1.0)]).v.any()
