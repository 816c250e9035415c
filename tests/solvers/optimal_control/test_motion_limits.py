"""A whole motion keeps what tracking frame by frame does not: efforts, powers, jerks, clearances, rolling wheels."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from robokin_addon.robokin import RobokinError, RobotModel, clamp, forward_kinematics, integrate, load_urdf
from robokin_addon.robokin.collision import Box, CollisionModel, Cylinder, Obstacle, Sphere
from robokin_addon.robokin.library import library_robot
from robokin_addon.robokin.structure.locking import locked_model
from robokin_addon.robokin.structure.tool_links import tool_links
from robokin_addon.solvers import ClearanceTask, PositionTask, Status, optimize_motion
from robokin_addon.solvers.motion.collisions import collision_violations
from robokin_addon.solvers.optimal_control.discretization import DiscreteMotion, Discretization
from robokin_addon.solvers.optimal_control.optimize import optimize_steps
from robokin_addon.solvers.optimal_control.rows.clearance_rows import ClearanceRows
from robokin_addon.solvers.optimal_control.rows.drive_rows import EffortRows, JerkRows
from robokin_addon.solvers.optimal_control.rows.rolling_rows import RollingRows
from robokin_addon.solvers.optimal_control.start import TrackedFrames, start_near
from robokin_addon.solvers.progress import finish
from support.few import rest_slow
from support.oracles.pinocchio_oracle import Oracle
from support.problems.limits import with_rates
from support.problems.obstructed import at, clothed, panda_among_boxes, planar_arm
from support.problems.tracked import assert_inside, assert_residuals_are_true, circle, panda
from support.problems.wheeled import platform, slip
from support.robots import robot

DT = 1.0 / 24.0
GRAVITY = np.array([0.0, 0.0, -9.81])


def reach():
    """A Panda whose hand goes round, three of seven joints of freedom used."""
    model, q, _ = panda()
    targets = [[T[0, :3, 3]] for T in circle(model, "panda_hand", q, 24, radius=0.07)]
    return model, q, [PositionTask("panda_hand", np.zeros(3))], targets


def efforts(model, q, v, a) -> np.ndarray:
    """[N m] by Pinocchio, of a robot with damping and friction of its drives."""
    oracle = Oracle.from_model(model)
    found = np.array([oracle.inverse_dynamics(*each) for each in zip(q, v, a, strict=True)])
    joints = [joint for joint in model.moving_joints if joint.mimic is None]
    damping, friction = (np.array([getattr(joint, name) for joint in joints]) for name in ("damping", "friction"))
    return found + damping * v + friction * np.sign(v)


def test_efforts_are_kept_at_frames_and_half_frames_by_pinocchio():
    model, q, tasks, targets = reach()
    joints = [dataclasses.replace(joint, effort=25.0, damping=0.5, friction=0.3) for joint in model.joints[1:]]
    model = RobotModel(model.name, model.links, joints)
    free = optimize_motion(model, tasks, targets, q, DT)
    held = optimize_motion(model, tasks, targets, q, DT, gravity=GRAVITY)
    for found, is_kept in ((free, False), (held, True)):
        motion = found.motion
        assert found.is_optimal and found.converged.all()
        halves = 0.5 * (motion.q[1:] + motion.q[:-1])
        given = efforts(
            model, np.concatenate((motion.q, halves)), *(np.concatenate((x, x[1:])) for x in (motion.v, motion.a))
        )
        assert (abs(given).max() <= 25.0) == is_kept
    assert_inside(held)
    assert_residuals_are_true(held)
    spent = [
        abs(efforts(model, found.q, found.motion.v, found.motion.a) * found.motion.v).max()
        for found in (free, optimize_motion(model, tasks, targets, q, DT, gravity=GRAVITY, limits={"power": 9.0}))
    ]
    assert spent[1] <= 9.0 < spent[0]


def fast_path(seed):
    """A Panda, and a path of it that crosses its reach in half a second."""
    rng, model = np.random.default_rng(seed), library_robot("panda")
    low, high = np.maximum(model.lower, -2.5), np.minimum(model.upper, 2.5)
    start = low + (high - low) * rng.uniform(0.3, 0.7, model.nv)
    end = np.clip(start + 0.8 * rng.normal(size=model.nv), low, high)
    shares = np.linspace(0.0, 1.0, 13)[:, None]
    return model, start + (end - start) * shares**2 * (3.0 - 2.0 * shares)


def following(model, path, **given):
    """The optimum of a motion whose tool is to be where the path has it."""
    tip = model.links[-1].name
    targets = [[forward_kinematics(model, q)[tip][:3, 3]] for q in path]
    return optimize_motion(model, [PositionTask(tip, targets[0][0])], targets, path[0], DT, gravity=GRAVITY, **given)


@pytest.mark.slow
def test_weak_drives_keep_their_efforts_however_fast_the_target_is():
    """They can little more than hold the arm."""
    model, path = fast_path(7)
    still, oracle = np.zeros(model.nv), Oracle.from_model(model)
    most = np.max([abs(oracle.inverse_dynamics(q, still, still)) for q in np.linspace(path[0], path[-1], 9)], axis=0)
    enough = iter(1.3 * most + 0.5)
    weak = [
        dataclasses.replace(joint, effort=float(next(enough)) + joint.damping + 3.0 * joint.friction)
        if joint.nv and joint.mimic is None
        else joint
        for joint in model.joints[1:]
    ]
    model = RobotModel(model.name, model.links, weak, model.root)
    found = following(model, path)
    motion = found.motion
    halves = 0.5 * (motion.q[1:] + motion.q[:-1])
    for q, v, a in ((motion.q, motion.v, motion.a), (halves, motion.v[1:], motion.a[1:])):
        assert (abs(efforts(model, q, v, a)) <= model.effort * (1.0 + 1e-6)).all()
    assert abs(motion.v).max() > 0.1
    assert_inside(found)


@pytest.mark.parametrize(("seed", "jerk"), rest_slow([(0, 30.0), (4, 100.0), (5, 30.0), (3, 30.0)], 2))
def test_jerk_is_kept_however_fast_the_target_is_and_the_note_is_true(seed, jerk):
    found = following(*fast_path(seed), limits={"jerk": jerk})
    assert abs(np.diff(found.motion.a, axis=0) / DT).max() <= jerk and "not kept" not in found.note
    assert abs(found.motion.v).max() > 0.1
    assert_inside(found)


def test_jerk_is_kept_and_tasks_give_way_to_it():
    model, q, tasks, targets = reach()
    share = np.concatenate((np.zeros(3), np.linspace(0.0, 1.0, 15), np.ones(3)))
    slow = [[targets[0][0] + 0.05 * s * s * (3.0 - 2.0 * s)] for s in share]
    found = optimize_motion(model, tasks, slow, q, DT, limits={"jerk": 60.0})
    assert abs(np.diff(found.motion.a, axis=0) / DT).max() <= 60.0 and found.is_optimal and found.converged.all()
    assert_inside(found)
    assert_residuals_are_true(found)
    sudden = optimize_motion(model, tasks, targets[:10], q, DT, limits={"jerk": 50.0})
    assert abs(np.diff(sudden.motion.a, axis=0) / DT).max() <= 50.0
    assert 0 < sudden.converged.sum() < 10 and sudden.status[1] is not Status.CONVERGED
    assert sudden.diagnosis(1).status is Status.LIMIT and "limits on jerk" in sudden.diagnosis(1).reason
    assert "not kept" not in sudden.note


@pytest.mark.parametrize("shape", [Cylinder(0.1, 1.0), Box((0.3, 0.3, 1.0))])
def test_an_animation_through_an_obstacle_goes_around_it(shape):
    model = with_rates(planar_arm(4), velocity=3.0, acceleration=40.0)
    collisions = CollisionModel(model, [Obstacle("post", shape, at(3.0, 0.9))])
    share = 0.5 - 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, 40))
    wild = np.array([-0.2, 0.2, 0.2, 0.2]) + share[:, None] * np.array([0.8, 0.0, 0.0, 0.0])
    tasks, targets = [ClearanceTask(collisions)], [[None]] * len(wild)
    found = optimize_motion(model, tasks, targets, None, DT, {"animation": 1.0, "acceleration": 1e-4}, animation=wild)
    assert collisions.distances(wild)[0][..., 0].min() < -0.1
    halves = 0.5 * (found.q[1:] + found.q[:-1])
    nearest = collisions.distances(np.concatenate((found.q, halves)))[0][..., 0].min()
    assert 0.005 <= nearest < 0.006 and found.is_optimal  # it touches the margin
    assert not collision_violations(found.motion, collisions) and found.converged.all()
    assert_inside(found)


@pytest.mark.parametrize("is_held", [False, True])
def test_a_target_inside_an_obstacle_is_a_collision_with_a_name(is_held):
    """Where the motion stands is told, not where tracking stood."""
    model = planar_arm(3)
    post = at(1.2, 1.6)
    collisions = CollisionModel(model, [Obstacle("post", Cylinder(0.1, 1.0), post)])
    tasks, targets = [PositionTask("l2", np.zeros(3)), ClearanceTask(collisions)], [[post[:3, 3], None]] * 12
    influence = np.ones((12, 2))
    influence[:-1, 0] = not is_held
    found = optimize_motion(model, tasks, targets, np.zeros(3), DT, influence=influence)
    nearest = collisions.distances(found.q)[0][..., 0].min(axis=1)
    assert found.status[-1] is Status.COLLISION and nearest.min() >= 0.005
    assert f"is {nearest[-1]:.3g} m from post" in found.diagnosis(11).reason


@pytest.mark.parametrize("cost", ["acceleration", "kinetic_energy"])
def test_wheels_roll(cost):
    model = platform()
    q = model.limits.clamp(model.neutral())
    tool = forward_kinematics(model, q)["tool"][:3, 3]
    share = 0.5 - 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, 24))
    targets = [[tool + np.array([s, 0.5 * s * s, 0.0])] for s in share]
    found = optimize_motion(model, [PositionTask("tool", tool)], targets, q, DT, cost)
    assert found.converged.all() and found.cost_after < 0.9 * found.cost_before
    assert slip(model, found.q) <= 1e-9
    assert_inside(found)


def rows_and_motions():
    rng = np.random.default_rng(0)
    wheels = platform()
    yield lambda grid: RollingRows(wheels.rolling_bases[0]), wheels, rng.normal(size=(4, wheels.nq))
    puppet = with_rates(library_robot("puppet"), effort=10.0)
    q = [integrate(puppet, puppet.limits.middle(puppet.neutral()), 0.1 * rng.normal(size=puppet.nv))]
    for _ in range(3):
        q.append(integrate(puppet, q[-1], 0.1 * rng.normal(size=puppet.nv)))
    yield lambda grid: JerkRows(np.full(puppet.nv, 10.0)), puppet, np.array(q)
    yield lambda grid: EffortRows(grid, GRAVITY), puppet, np.array(q)
    yield lambda grid: EffortRows(grid, GRAVITY, np.full(puppet.nv, 5.0)), puppet, np.array(q)
    collisions = panda_among_boxes().avoidable()
    middle = collisions.model.limits.middle(collisions.model.neutral())
    near = middle + 0.1 * rng.normal(size=(3, len(middle)))
    yield lambda grid: ClearanceRows(grid, 0, ClearanceTask(collisions), [None] * 3, 0.7), collisions.model, near


@pytest.mark.parametrize("number", range(5))
def test_rows_are_derivatives(number):
    make, model, q = list(rows_and_motions())[number]
    grid = Discretization(model, 0.1, np.zeros(model.nv), 0.7, False)
    here, source, h = DiscreteMotion(grid, q), make(grid), 1e-6
    source.block(here)  # which rows there are
    block = source.block(DiscreteMotion(grid, q))
    (frames, n), J = here.steps.shape, block.rows(len(q))
    assert len(block.lower)
    for y in h * np.random.default_rng(1).normal(size=(3, frames, n)):
        up, down = (source.block(here.moved(sign * y)).lower for sign in (1.0, -1.0))
        np.testing.assert_allclose(J.times(y.ravel() / h), (down - up) / (2.0 * h), atol=1e-6 * (1.0 + abs(up).max()))


def test_how_clearances_bend_is_the_derivative_of_their_rows():
    """At frames and half-way between them."""
    model, rng = planar_arm(3), np.random.default_rng(4)
    collisions = CollisionModel(model, [Obstacle("post", Cylinder(0.1, 1.0), at(1.3, 0.7))]).avoidable()
    grid = Discretization(model, 0.1, np.zeros(3), 0.7, False)
    here = DiscreteMotion(grid, 0.3 + 0.05 * rng.normal(size=(4, 3)))
    source = ClearanceRows(grid, 0, ClearanceTask(collisions), [None] * 4, 0.7)
    block = source.block(here)
    z, y, h = rng.normal(size=len(block.key)), rng.normal(size=here.steps.shape), 1e-5
    H = np.zeros((4, 2, 3, 3))
    block.bend(H, z)
    bent = np.einsum("kij,kj->ki", H[:, 0], y)
    bent[1:] += np.einsum("kij,kj->ki", H[1:, 1], y[:-1])
    bent[:-1] += np.einsum("kji,kj->ki", H[1:, 1], y[1:])
    up, down = (source.block(here.moved(sign * h * y)).gradient(z, 4) for sign in (1.0, -1.0))
    assert len(np.unique(block.frame)) == 4 and abs(bent).max() > 0.1
    np.testing.assert_allclose(bent, (up - down) / (2.0 * h), atol=1e-4)


def test_bad_limits_are_one_line():
    model, q, tasks, targets = reach()
    for limits, gravity, match in (
        ({"speed": 1.0}, None, "speed"),
        ({"power": 1.0}, None, "need gravity"),
        ({"jerk": -1.0}, None, "positive"),
        (3, None, "mapping"),
        (None, "down", "gravity"),
    ):
        with pytest.raises(RobokinError, match=match):
            optimize_motion(model, tasks, targets[:3], q, DT, limits=limits, gravity=gravity)
    still = RobotModel("still", planar_arm(1).links[:1], [])
    assert optimize_motion(still, [], [[]] * 4, np.zeros(0), DT, limits={"jerk": 3.0}).is_optimal
    with pytest.raises(RobokinError, match="mass"):
        optimize_motion(planar_arm(2), [], [[]] * 3, np.zeros(2), DT, gravity=GRAVITY)


def test_links_stay_away_half_way_between_frames_with_other_tasks():
    """The arm jumps over a thin post where one segment ends and the next one begins."""
    model = with_rates(planar_arm(2), velocity=1000.0, acceleration=1e6)
    collisions = CollisionModel(model, [Obstacle("post", Cylinder(0.02, 1.0), at(1.5, 0.0))])
    clearance, wild = ClearanceTask(collisions), np.array([[-0.1, 0.0]] * 4 + [[0.1, 0.0]] * 4)
    parts = [
        TrackedFrames(
            [clearance],
            start_near(model, [clearance], [[None]] * 4, None, DT, None, 0, "auto", near),
            np.ones((4, 1)),
        )
        for near in (wild[:4], wild[4:])
    ]
    found = finish(optimize_steps(model, parts, "animation", wild, False))
    q = np.concatenate([part.q for part in found])
    halves = 0.5 * (q[1:] + q[:-1])
    assert clearance.collisions.distances(np.concatenate((q, halves)))[0][..., 0].min() >= 0.005
    assert [len(part.residuals) for part in found] == [4, 4] and all(part.converged.all() for part in found)


def test_efforts_that_nothing_can_keep_are_reported():
    model, q, tasks, targets = reach()
    found = optimize_motion(with_rates(model, effort=1.0), tasks, targets[:3], q, DT, gravity=GRAVITY)
    assert "not kept everywhere: limits on effort" in found.note
    assert found.cost_after <= found.cost_before or "better than tracked" not in found.note


@pytest.mark.slow
def test_both_backends_reach_the_same_where_an_effort_hardly_changes():
    """That of a joint about the vertical at frame 0: what differences make of it is rounding. The fingers stay: shut or
    open, they are two optima that cost alike to 2e-5, and rounding chooses."""
    model, q, tasks, targets = reach()
    model = locked_model(with_rates(model, effort=40.0), ["panda_finger_joint1"], q)
    found = [
        optimize_motion(model, tasks, targets[:8], q, DT, "torque", gravity=GRAVITY, backend=backend)
        for backend in ("numpy", "native")
    ]
    assert found[0].is_optimal and found[1].is_optimal
    np.testing.assert_allclose(found[0].q, found[1].q, atol=1e-6)


@pytest.mark.slow
def test_frames_that_an_obstacle_holds_leave_the_others_their_optimum():
    """Steps that lead far from what is held do not come back: a filter that takes them stops at 1e-4."""
    model = clothed(load_urdf(robot("xarm7")), 0.04)
    q = model.limits.middle(model.neutral()) + 0.4 * np.cos(1.3 * np.arange(model.nv) + 3.0)
    q = clamp(model, q)
    tip = tool_links(model)[0]
    start, rng = forward_kinematics(model, q)[tip][:3, 3], np.random.default_rng(3)
    way = rng.normal(size=3)
    way *= 0.25 / np.linalg.norm(way)
    aside = np.cross(way, rng.normal(size=3))
    ball = Obstacle("ball", Sphere(0.03), at(*(start + 0.5 * way + 0.09 * aside / np.linalg.norm(aside))))
    resting = [contact.names for contact in CollisionModel(model).contacts(q[None])]
    tasks = [PositionTask(tip, start), ClearanceTask(CollisionModel(model, [ball], resting))]
    targets = [[start + share * way, None] for share in 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 40))]
    found = optimize_motion(model, tasks, targets, q, 1.0 / 25.0)
    assert Status.COLLISION in set(found.status) and found.is_optimal and found.cost_after < 0.1 * found.cost_before
