"""Costs of whole motions: their derivatives, and what they come to."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobokinError, RobotModel, forward_kinematics, load_urdf, random_configuration
from robokin_addon.robokin.backend import get_backend
from robokin_addon.robokin.library import library_robot
from robokin_addon.robokin.library.puppet import puppet
from robokin_addon.solvers import PositionTask, optimize_motion, track
from robokin_addon.solvers.criteria import DynamicTorque, GravityTorque, Manipulability, MinimumVelocity
from robokin_addon.solvers.optimal_control.costs import (
    Acceleration,
    Animation,
    Jerk,
    KineticEnergy,
    MotionCost,
    Torque,
    Weighted,
)
from robokin_addon.solvers.optimal_control.discretization import DiscreteMotion, Discretization
from robokin_addon.solvers.optimal_control.path_costs import CriterionIntegral, PathLength
from robokin_addon.solvers.optimal_control.rows.drive_rows import EffortRows, JerkRows
from robokin_addon.solvers.optimal_control.rows.row_blocks import RowSource
from robokin_addon.solvers.optimal_control.rows.segments import TaskSegment
from robokin_addon.solvers.velocity.task_levels import TaskLevels
from support.oracles.pinocchio_oracle import Oracle
from support.problems.limits import with_rates
from support.problems.tracked import assert_inside, circle, panda
from support.robots import robot

DT = 1.0 / 24.0
GRAVITY = np.array([0.0, 0.0, -9.81])
FRAMES = 4


class Pushed(MotionCost):
    """The sum of what rows ask for times multipliers, whose second derivative they tell."""

    order = 3

    def __init__(self, rows, z):
        self.rows, self.z = rows, z

    def value(self, at):
        return -float(self.rows.block(at).lower @ self.z)

    def quadratic(self, at):
        n = at.steps.shape[1]
        return self.rows.block(at).gradient(self.z, len(at)), np.zeros((len(at), 4, n, n))

    def bend(self, at, H):
        self.rows.block(at).bend(H, self.z)


def here(name: str = "panda", spread: float = 0.2) -> DiscreteMotion:
    model, rng = with_rates(library_robot(name), effort=10.0), np.random.default_rng(0)
    q = np.tile(model.limits.middle(model.neutral()), (FRAMES, 1))
    q = get_backend().integrate(model.tree, q, spread * rng.normal(size=(FRAMES, model.nv)))
    grid = Discretization(model, 0.1, 0.1 * rng.normal(size=model.nv), 0.7, False)
    return DiscreteMotion(grid, q)


def integral(at: DiscreteMotion, criterion) -> CriterionIntegral:
    model = at.grid.model
    task = PositionTask(model.link_names[-1], np.zeros(3))
    segment = TaskSegment(0, TaskLevels(model, [task]), [[task.target]] * FRAMES, np.ones((FRAMES, 1)))
    return CriterionIntegral([(segment, [criterion])])


def costs(at: DiscreteMotion) -> list[MotionCost]:
    efforts = EffortRows(at.grid, GRAVITY)
    z = np.random.default_rng(2).normal(size=len(efforts.block(at).lower))
    return [
        KineticEnergy(),
        Torque(),
        Weighted([(0.3, KineticEnergy()), (2.0, Acceleration()), (1e-3, Jerk())]),
        integral(at, Manipulability()),
        integral(at, GravityTorque()),
        integral(at, MinimumVelocity()),
        Pushed(efforts, z),
        PathLength(),
    ]


@pytest.mark.parametrize("number", range(8))
def test_gradients_and_hessians_are_those_of_the_value(number):
    at = here()
    assert_derivatives(at, costs(at)[number])


@pytest.mark.parametrize("number", [0, 1, 6])
@pytest.mark.parametrize("name", ["humanoid", "mobile_arm"])
def test_many_joints_and_wheels_bend_efforts_too(name, number):
    at = here(name, 0.1)
    assert_derivatives(at, costs(at)[number])


def assert_derivatives(at, cost):
    h = 1e-5
    gradient, guess = cost.quadratic(at)
    H = np.zeros((FRAMES, 4, *guess.shape[2:]))
    H[:, : guess.shape[1]] = guess
    cost.bend(at, H)
    for y in np.random.default_rng(1).normal(size=(3, *gradient.shape)):
        up, down = at.moved(h * y), at.moved(-h * y)
        slope = (cost.value(up) - cost.value(down)) / (2.0 * h)
        assert (gradient * y).sum() == pytest.approx(slope, rel=1e-6, abs=1e-6)
        change = (cost.quadratic(up)[0] - cost.quadratic(down)[0]) / (2.0 * h)
        told = np.zeros(change.shape)
        for k, before in zip(*np.tril_indices(FRAMES), strict=True):
            told[k] += H[k, k - before] @ y[before]
            if before < k:
                told[before] += H[k, k - before].T @ y[k]
        near = 1e-3 if isinstance(cost, PathLength) else 1e-5  # what it holds still by is not of the value
        np.testing.assert_allclose(told, change, atol=near * abs(change).max())


def turned(model: RobotModel) -> DiscreteMotion:
    """Frames of balls, or of a floating joint too, that turn far."""
    rng = np.random.default_rng(0)
    grid = Discretization(model, 0.1, 0.1 * rng.normal(size=model.nv), 0.7, False)
    q = np.tile(model.limits.middle(model.neutral()), (FRAMES, 1))
    return DiscreteMotion(grid, grid.moved(q, 0.2 * rng.normal(size=(FRAMES, model.nv))))


class Limited(MotionCost):
    """Velocities and accelerations as their limits take them, times multipliers z; those of the limits before are 0."""

    order = 2

    def __init__(self, z: np.ndarray) -> None:
        self.z = z

    def quadratic(self, at: DiscreteMotion) -> tuple[np.ndarray, np.ndarray]:
        rows, n = at.limit_rows()[0], at.steps.shape[1]
        return rows.transposed(self.z, at.steps.size).reshape(at.steps.shape), np.zeros((len(at), 3, n, n))

    def value(self, at: DiscreteMotion) -> float:
        counting = np.flatnonzero(self.z)
        return -float(self.z[counting] @ at.limit_rows()[2][counting])  # what they leave is less by as much

    def bend(self, at: DiscreteMotion, H: np.ndarray) -> None:
        at.bend_limits(H, self.z)


@pytest.mark.parametrize("name", ["puppet", "floating puppet"])
@pytest.mark.parametrize(
    "kind", ["acceleration", "jerk", "energy", "torque", "animation", "efforts", "jerks", "limits"]
)
def test_what_turns_bends_too(name, kind):
    """Along geodesics, as displacements of what turns do not add."""
    model = with_rates(puppet() if name == "puppet" else puppet("floating"), effort=10.0)
    at, rng = turned(model), np.random.default_rng(3)

    def pushed(rows: RowSource) -> MotionCost:
        return Pushed(rows, rng.normal(size=len(rows.block(at).lower)))

    bounds = at.grid.limits.max_step, at.grid.limits.max_step_change
    rates = (FRAMES - 1) * int(np.isfinite(bounds).sum())  # rows of velocities and accelerations, the last ones
    cost = {
        "acceleration": Acceleration,
        "jerk": Jerk,
        "energy": KineticEnergy,
        "torque": Torque,
        "animation": lambda: Animation(at.moved(rng.normal(size=at.steps.shape) * 0.3).q),
        "efforts": lambda: pushed(EffortRows(at.grid, GRAVITY)),
        "jerks": lambda: pushed(JerkRows(np.full(model.nv, 3.0))),
        "limits": lambda: Limited(np.pad(rng.normal(size=rates), (len(at.limit_rows()[0]) - rates, 0))),
    }[kind]()
    h, (gradient, guess) = 1e-5, cost.quadratic(at)
    H = np.zeros((FRAMES, 4, *guess.shape[2:]))
    H[:, : guess.shape[1]] = guess
    cost.bend(at, H)
    for y in rng.normal(size=(3, *gradient.shape)):
        up, down = at.moved(h * y), at.moved(-h * y)
        slope = (cost.value(up) - cost.value(down)) / (2.0 * h)
        assert (gradient * y).sum() == pytest.approx(slope, rel=1e-7, abs=1e-7)
        change = (cost.quadratic(up)[0] - cost.quadratic(down)[0]) * y / (2.0 * h)
        told = 0.0
        for k, before in zip(*np.tril_indices(FRAMES), strict=True):
            told += (2.0 if before < k else 1.0) * y[k] @ H[k, k - before] @ y[before]
        assert told == pytest.approx(change.sum(), abs=1e-5 * abs(change).sum())


def test_criteria_count_by_their_weights_and_the_path_is_that_of_a_link():
    at, thrice = here(), integral(here(), Manipulability(weight=3.0))
    both = [
        integral(at, Manipulability()),
        thrice,
        integral(at, MinimumVelocity()),
        integral(at, MinimumVelocity(weight=3.0)),
    ]
    values = [cost.value(at) for cost in both]
    assert values[1] == pytest.approx(3.0 * values[0]) and values[3] == pytest.approx(3.0 * values[2]) and all(values)
    for one, three in ((both[0], both[1]), (both[2], both[3])):
        H = [np.zeros((FRAMES, 4, *[at.steps.shape[1]] * 2)) for _ in range(2)]
        (g, guess), (g3, guess3) = one.quadratic(at), three.quadratic(at)
        one.bend(at, H[0]), three.bend(at, H[1])
        for a, b in ((g, g3), (guess, guess3), (H[0], H[1])):
            np.testing.assert_allclose(3.0 * a, b, atol=1e-9 * abs(b).max())
    model, link = at.grid.model, at.grid.model.link_names[4]
    places = np.array([forward_kinematics(model, q)[link][:3, 3] for q in at.q])
    way = np.linalg.norm(np.diff(places, axis=0), axis=1).sum()
    assert PathLength(link).value(at) == pytest.approx(way, rel=0.05) != pytest.approx(PathLength().value(at), rel=0.1)


def test_the_tool_takes_a_shorter_path():
    """The elbow goes round; the tool is free."""
    model, q, _ = panda()
    tasks, tool = [PositionTask("panda_link3", np.zeros(3))], model.link_index("panda_hand")
    centre = forward_kinematics(model, q)["panda_link3"][:3, 3]
    reach = np.linalg.norm(centre - forward_kinematics(model, q)["panda_link2"][:3, 3])
    angle = 0.3 * np.sin(np.linspace(0.0, np.pi, 20))
    base = forward_kinematics(model, q)["panda_link2"][:3, 3]
    targets = [
        [base + reach * np.array([np.sin(a), 0.0, np.cos(a)])] for a in angle + np.arctan2(*(centre - base)[[0, 2]])
    ]
    start = track(model, tasks, targets, q, DT)
    found = optimize_motion(model, tasks, targets, q, DT, {"path_length": 1.0, "acceleration": 1e-6})

    def length(q):
        hands = [forward_kinematics(model, each)[model.link_names[tool]][:3, 3] for each in q]
        return np.linalg.norm(np.diff(hands, axis=0), axis=1).sum()

    assert found.converged.all() and length(found.q) < 0.5 * length(start.q)
    assert_inside(found)


def test_a_path_that_its_task_leaves_as_long_as_it_is_counts_as_optimal():
    """Rounding makes it longer or shorter by the last digit."""
    model, rng = library_robot("panda"), np.random.default_rng(0)
    middle = model.limits.middle(model.neutral())
    for _ in range(10):
        start, turn = middle + rng.uniform(-0.4, 0.4, 7), rng.uniform(-0.3, 0.3, 7)
        way = [forward_kinematics(model, start + share * turn)["tool"][:3, 3] for share in np.linspace(0, 1, 12)]
        found = optimize_motion(
            model, [PositionTask("tool", way[0])], [[each] for each in way], start, DT, "path_length"
        )
        assert not found.converged.all() or found.is_optimal, found.note


def test_criteria_are_integrated_over_the_motion():
    model, q, tasks = panda()
    targets = circle(model, tasks[0].link, q, 16, radius=0.03)
    found = optimize_motion(model, tasks, targets, q, DT, "criteria", criteria=[GravityTorque()])
    assert found.is_optimal and found.cost_after < found.cost_before and found.converged.all()
    for criteria, match in (([], "there is none"), ([DynamicTorque()], "neither a potential")):
        with pytest.raises(RobokinError, match=match):
            optimize_motion(model, tasks, targets, q, DT, "criteria", criteria=criteria)


def test_torque_has_the_gravity_that_is_given():
    model, q, tasks = panda()
    targets, oracle = circle(model, tasks[0].link, q, 6, radius=0.02), Oracle.from_model(model)
    for gravity in (np.zeros(3), np.array([0.0, 0.0, 9.81])):  # as it floats, and as it hangs
        found = optimize_motion(model, tasks, targets, q, DT, "torque", gravity=gravity)
        v, a = found.motion.v, found.motion.a
        damping = np.array([joint.damping for joint in model.moving_joints])
        tau = damping * v + np.array([oracle.inverse_dynamics(*x, gravity) for x in zip(found.q, v, a, strict=True)])
        sizes = np.where(model.is_length, TaskLevels(model, tasks).length, 1.0)
        assert found.cost_after == pytest.approx(0.5 * DT * ((sizes * tau) ** 2).sum(), rel=1e-6)


def test_no_drive_carries_a_floating_base():
    model, rng = load_urdf(robot("solo"), root="floating"), np.random.default_rng(4)
    steps = 0.1 * rng.normal(size=(FRAMES, model.nv))
    q = get_backend().integrate(model.tree, np.tile(model.neutral(), (FRAMES, 1)), steps)
    at, oracle = DiscreteMotion(Discretization(model, DT, np.zeros(model.nv)), q), Oracle.from_model(model)
    damping = [joint.damping for joint in model.moving_joints if joint.type != "floating"]
    tau = np.array([oracle.inverse_dynamics(*x, GRAVITY) for x in zip(q, at.v, at.a, strict=True)])
    drives = tau[:, 6:] + damping * at.v[:, 6:]
    assert Torque().value(at) == pytest.approx(0.5 * DT * (drives**2).sum(), rel=1e-9)
    assert abs(tau[:, :6]).max() > abs(drives).max()  # the base's, which is the weight, does not count


@pytest.mark.parametrize(("cost", "seed", "frames"), [("torque", 3, 80), ("path_length", 5, 30)])
def test_costs_that_are_flat_or_wild_come_to_an_optimum(cost, seed, frames):
    """An arm without limits on accelerations, of which a position leaves half of the joints free."""
    model, rng = load_urdf(robot("kinova")), np.random.default_rng(seed)
    q0 = 0.7 * model.limits.middle(model.neutral()) + 0.3 * random_configuration(model, rng)
    q1 = 0.8 * q0 + 0.2 * random_configuration(model, rng)
    u = np.linspace(0.0, 1.0, frames)[:, None]
    tip = "j2s6s200_link_finger_tip_1"
    places = [forward_kinematics(model, q)[tip][:3, 3] for q in q0 + u**3 * (10.0 - 15.0 * u + 6.0 * u**2) * (q1 - q0)]
    found = optimize_motion(model, [PositionTask(tip, np.zeros(3))], [[p] for p in places], q0, 0.04, cost)
    assert found.converged.all() and found.is_optimal and found.cost_after < 0.98 * found.cost_before


@pytest.mark.slow
@pytest.mark.parametrize(("cost", "frames", "steps"), [("kinetic_energy", 40, 100), ("torque", 20, 200)])
def test_balls_on_their_cones_come_to_an_optimum(cost, frames, steps):
    """Limits of balls are curved: without how they bend, two hundred steps did not show it."""
    model, rng = library_robot("puppet"), np.random.default_rng(1)
    q = get_backend().integrate(model.tree, model.limits.middle(model.neutral()), 0.15 * rng.normal(size=model.nv))
    hand, foot = (forward_kinematics(model, q)[link][:3, 3] for link in ("left_hand", "right_foot"))
    angle = np.linspace(0.0, 2.0 * np.pi, frames)
    path = hand + 0.05 * np.stack((np.sin(angle), 0.0 * angle, np.cos(angle) - 1.0), axis=1)
    tasks = [PositionTask("left_hand", hand), PositionTask("right_foot", foot)]
    found = optimize_motion(model, tasks, [[p, foot] for p in path], q, 0.04, cost)
    assert found.converged.all() and found.is_optimal and found.steps < steps
