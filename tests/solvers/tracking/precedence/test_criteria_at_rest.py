"""Criteria beside levels that cannot be met: a still scene bakes to a still robot."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from robokin_addon.robokin import (
    center_of_mass,
    difference,
    forward_kinematics,
    library_robot,
    load_urdf,
    random_configuration,
)
from robokin_addon.solvers import (
    CenterOfMassTask,
    LaserTask,
    MeshSurface,
    OnCurveTask,
    PoseTask,
    PositionTask,
    TrackResult,
    track,
)
from robokin_addon.solvers.criteria import Criterion, GravityTorque, JointSprings, KineticEnergy, Manipulability, Smooth
from robokin_addon.solvers.kinematics.state import State
from robokin_addon.solvers.tasks.places.curve import Curve
from support.engine.goals import random_goal, size
from support.engine.robots import engine_robot
from support.engine.stacks import DT
from support.few import rest_slow
from support.problems.limits import with_rates
from support.random_problems.random_trees import random_robot
from support.robots import robot


def jump(name: str, seed: int, frames: int, backend: str = "auto") -> TrackResult:
    """Goals of one to three levels, which are farther away than can be met, beside a criterion."""
    rng, model = np.random.default_rng([seed, 23]), engine_robot(name)
    q, end = model.limits.middle(model.neutral()), model.limits.clamp(random_configuration(model, rng))
    goals = [random_goal(rng, model, priority) for priority in (1, 2, 3)[: 1 + seed % 3]]
    first, then = ([goal.at(each) for goal in goals] for each in (q, end))
    then = [g.beyond(t, rng.normal(size=3) * size(model)) if g.beyond else t for g, t in zip(goals, then, strict=True)]
    criterion = (JointSprings(gain=10.0), GravityTorque(), Manipulability(gain=10.0))[seed // 3 % 3]
    targets = [first] * 3 + [then] * frames
    return track(model, [goal.task for goal in goals], targets, q, DT, backend=backend, criteria=[criterion])


def frames_turned_back(found: TrackResult) -> int:
    """In how many frames, after the first second, the robot goes back on the frame before."""
    steps = np.array([difference(found.problem.model, *pair) for pair in pairwise(found.q)])[24:]
    return int(((steps[1:] * steps[:-1]).sum(axis=1) < -1e-12).sum())


def test_what_comes_after_a_level_stood_aside_is_still() -> None:
    """Where it is not known for what targets a robot stands, only one frame is not that of a still scene."""
    found = jump("panda", 17, 120)
    assert found.aside is not None and found.aside.any()
    assert frames_turned_back(found) <= 20


@pytest.mark.parametrize(
    ("name", "seed", "frames", "backend"),
    [
        ("xarm7", 13, 300, "native"),
        ("talos", 15, 120, "native"),
        ("scara", 20, 90, "native"),
        pytest.param("scara", 20, 90, "numpy", marks=pytest.mark.slow),
    ],
)
def test_what_a_level_undoes_a_criterion_asks_for_no_more(name: str, seed: int, frames: int, backend: str) -> None:
    """Off where a level that is not met is nearest, and back: so often, and the robot rests."""
    assert frames_turned_back(jump(name, seed, frames, backend)) <= 20


PLACES = ("curve on a mesh", "curve", "mesh")


def test_balls_that_rounding_moves_stand() -> None:
    """A level that has what it has at its goal does not go there, from where those below have led it."""
    assert frames_turned_back(jump("ball tree", 22, 60)) == 0


@pytest.mark.parametrize(
    ("kind", "backend"),
    [*((kind, "native") for kind in PLACES), *rest_slow([(kind, "numpy") for kind in PLACES], 0)],
)
def test_places_that_are_made_anew_in_each_frame_stand_still(kind: str, backend: str) -> None:
    """As a scene is read: what they say is the same, where it lies in memory is not."""
    model = library_robot("panda")
    q0 = model.limits.middle(model.neutral())
    tool = forward_kinematics(model, q0)["tool"][:3, 3]
    far, angle = np.add(tool, (1.0, 0.3, 0.2)), np.linspace(0.0, 2.0 * np.pi, 40)
    circle = np.add(tool, (0.0, 0.3, -0.2)) + 0.2 * np.stack((np.cos(angle), np.sin(angle), 0.0 * angle), axis=1)
    triangles = [[0, i, i + 1] for i in range(1, 39)]

    def place() -> object:
        surface = MeshSurface(circle, triangles)
        return {"curve": Curve(circle), "mesh": (circle[0], surface), "curve on a mesh": (Curve(circle), surface)}[kind]

    one = place()
    mesh = MeshSurface(circle, triangles)
    below = {
        "curve": OnCurveTask("tool", circle, priority=2),
        "mesh": LaserTask("tool", (0, 0, 1), circle[0], mesh, priority=2),
        "curve on a mesh": OnCurveTask("tool", circle, direction=(0, 0, 1), surface=mesh, priority=2),
    }
    tasks = [PositionTask("link_7", far), below[kind]]
    kept, anew = (
        track(model, tasks, [[far, each()] for _ in range(100)], q0, 1 / 24, criteria=[JointSprings()], backend=backend)
        for each in (lambda: one, place)
    )
    np.testing.assert_array_equal(kept.q, anew.q)
    assert (anew.q[-1] == anew.q[-20]).all()


@pytest.mark.parametrize("criterion", [JointSprings(), GravityTorque()], ids=["springs", "gravity"])
@pytest.mark.parametrize("kind", ["centre of mass", "place", "pose"])
def test_criteria_move_what_is_out_of_reach_without_shaking(kind: str, criterion: Criterion) -> None:
    """Joints that take long to brake. The level has in the end what it has without criteria."""
    model = with_rates(load_urdf(robot("panda")), velocity=4.0, acceleration=1.0)
    q = model.limits.middle(model.neutral())
    hand, away = forward_kinematics(model, q)["panda_hand"], np.array([0.9, -0.6, 0.4])
    if kind == "pose":
        task, here, there = PoseTask("panda_hand", hand), hand, hand + np.pad(away[:, None], ((0, 1), (3, 0)))
    else:
        here = hand[:3, 3] if kind == "place" else center_of_mass(model, q)
        task, there = PositionTask("panda_hand", here) if kind == "place" else CenterOfMassTask(here), here + away
    targets = [[here]] * 3 + [[there]] * 300
    led, alone = (track(model, [task], targets, q, DT, criteria=each) for each in ([criterion], []))
    np.testing.assert_allclose(led.residuals[-1], alone.residuals[-1], rtol=0.0, atol=1e-4)
    steps = np.array([difference(model, *pair) for pair in pairwise(led.q)])[24:]
    turns = (steps[1:] * steps[:-1] < 0.0) & (np.minimum(abs(steps[1:]), abs(steps[:-1])) > 1e-6)
    assert turns.sum(axis=0).max() <= 16, f"joints turn {turns.sum(axis=0)} times"


@pytest.mark.parametrize("seed", [2, 7])
def test_criteria_come_to_their_optimum_beside_what_is_not_met(seed: int) -> None:
    """Springs that nothing holds: joints that take long to brake do not swing about their rest."""
    rng, model = np.random.default_rng([seed, 5]), random_robot(400 + seed, 7, "fixed")
    model = with_rates(model, velocity=4.0, acceleration=1.0)
    q, tip = model.limits.clamp(random_configuration(model, rng)), model.links[-1].name
    here = forward_kinematics(model, q)[tip][:3, 3]
    tasks = [PositionTask(tip, here), PositionTask(tip, here + np.array([0.3, 0.0, 0.0]), priority=2)]
    springs = JointSprings(gain=20)
    found = track(model, tasks, [[task.target for task in tasks]] * 250, q, 0.04, criteria=[springs])
    assert springs.value(State(model, found.q[-1]), np.zeros(model.nv)) < 1e-3


def test_both_backends_are_led_alike() -> None:
    """Beside a pose out of reach, until joints that cannot brake in time have left it, and come back."""
    model = with_rates(load_urdf(robot("panda")), velocity=4.0, acceleration=1.0)
    q = model.limits.middle(model.neutral())
    here = center_of_mass(model, q)
    targets = [[here]] * 3 + [[here + np.array([0.9, -0.6, 0.4])]] * 100
    native, numpy = (
        track(model, [CenterOfMassTask(here)], targets, q, DT, backend=backend, criteria=[JointSprings(gain=10.0)])
        for backend in ("native", "numpy")
    )
    np.testing.assert_allclose(native.q, numpy.q, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_what_costs_velocity_alone_moves_nothing_in_a_still_scene(backend: str) -> None:
    """It has no best posture to come to: the robot stands where it meets its task, and sways no more."""
    model = load_urdf(robot("panda"))
    q = model.limits.middle(model.neutral())
    here = forward_kinematics(model, q)["panda_hand"][:3, 3]
    targets = [[here]] * 2 + [[here + np.array([0.1, -0.2, -0.1])]] * 60
    criteria = [KineticEnergy(), Smooth()]
    found = track(model, [PositionTask("panda_hand", here)], targets, q, DT, criteria=criteria, backend=backend)
    assert found.converged[-1]
    assert abs(np.diff(found.q[-20:], axis=0)).max() < 1e-9
