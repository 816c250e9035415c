"""The optimum of a whole motion: limits, tasks, cost, and that it is one."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Link, RobokinError, RobotModel, forward_kinematics, integrate, random_configuration
from robokin_addon.robokin.library import library_robot
from robokin_addon.solvers import (
    AlongCurveTask,
    JointVelocityTask,
    PoseTask,
    PositionTask,
    Status,
    TwistTask,
    check_motion,
    optimize_motion,
    track,
)
from robokin_addon.solvers.criteria import KineticEnergy
from robokin_addon.solvers.optimal_control import program
from robokin_addon.solvers.optimal_control.optimize import optimize_steps
from robokin_addon.solvers.optimal_control.start import TrackedFrames, near_animation
from robokin_addon.solvers.progress import finish
from robokin_addon.solvers.qp.banded import solve_banded_qp
from support.oracles.pinocchio_oracle import Oracle
from support.problems.limits import with_rates
from support.problems.tracked import assert_inside, assert_residuals_are_true, circle, panda

DT = 1.0 / 24.0


def kinetic_energy(model, q) -> float:
    """[J s] of the motion by Pinocchio: the integral of v'Mv / 2."""
    oracle = Oracle.from_model(model)
    v = np.diff(q, axis=0) / DT
    return sum(0.5 * DT * x @ oracle.mass_matrix(p) @ x for p, x in zip(q[1:], v, strict=True))


def test_kinetic_energy_over_a_closed_path_is_less_than_frame_by_frame():
    model, q, tasks = panda()
    targets = circle(model, tasks[0].link, q, 61)
    targets[-1] = targets[0]
    local = track(model, tasks, targets, q, DT, criteria=[KineticEnergy()])
    whole = optimize_motion(model, tasks, targets, q, DT, cost="kinetic_energy")
    assert local.converged.all() and whole.converged.all()
    assert whole.is_optimal and whole.kkt <= 1e-6
    assert_inside(whole)
    assert_residuals_are_true(whole)
    assert whole.cost_after == pytest.approx(kinetic_energy(model, whole.q), rel=1e-6)
    assert kinetic_energy(model, whole.q) < 0.999 * kinetic_energy(model, local.q)


@pytest.mark.parametrize("cost", ["acceleration", "jerk", "torque", {"acceleration": 1.0, "kinetic_energy": 0.1}])
def test_it_costs_less_and_keeps_limits_and_tasks(cost):
    model, q, tasks = panda()
    model = with_rates(model, acceleration=8.0)
    targets = circle(model, tasks[0].link, q, 40, radius=0.05)
    start = track(model, tasks, targets, q, DT)
    whole = optimize_motion(model, tasks, targets, q, DT, cost=cost)
    assert whole.cost_after < whole.cost_before
    assert (whole.converged >= start.converged).all() and np.allclose(whole.q[0], start.q[0], atol=1e-9)
    assert_inside(whole)
    halves = whole.motion.resample(2.0 / DT)
    assert (halves.q >= model.lower).all() and (halves.q <= model.upper).all()
    assert (abs(np.diff(halves.q, axis=0)) * 2.0 / DT <= model.velocity * (1.0 + 1e-12)).all()


def test_no_motion_nearby_is_better():
    """Random motions of the elbow that keep the hand where it is cost more."""
    model = panda()[0]
    tasks = [PositionTask("panda_hand", [0.4, 0.0, 0.5])]
    targets = [[np.array([0.4, 0.2 * np.sin(0.2 * k), 0.5])] for k in range(30)]
    whole = optimize_motion(model, tasks, targets, None, DT)
    assert whole.is_optimal
    again = optimize_motion(model, tasks, targets, None, DT, animation=whole.q)
    assert again.cost_after == pytest.approx(whole.cost_after, rel=1e-4)
    rng, a = np.random.default_rng(0), lambda p: np.diff(np.diff(p, axis=0, prepend=p[:1]), axis=0, prepend=0.0)
    for _ in range(20):
        other = track(model, tasks, targets, whole.q[0] + 0.02 * rng.normal(size=model.nq), DT)
        assert 0.5 * (a(other.q)[1:] ** 2).sum() / DT**3 > whole.cost_after * (1.0 - 1e-4)


def test_an_animation_that_breaks_limits_is_repaired():
    model, q, _ = panda()
    model = with_rates(model, acceleration=10.0)
    rng = np.random.default_rng(1)
    wild = q + 0.05 * rng.normal(size=(50, model.nq)).cumsum(axis=0)
    assert not check_motion(track(model, [], [[]] * 50, q, DT).motion).violations
    near = optimize_motion(model, [], None, None, DT, cost={"animation": 1.0, "acceleration": 1e-4}, animation=wild)
    assert near.is_optimal and near.cost_after < near.cost_before and set(near.status) == {Status.EMPTY}
    assert_inside(near)


@pytest.mark.parametrize("name", ["panda", "puppet", "mobile_arm"])
def test_a_jump_becomes_a_motion(name):
    """Of scalars, of balls in their cones, and of a base on wheels."""
    model = with_rates(library_robot(name), velocity=3.0, acceleration=20.0)
    middle = model.limits.middle(model.neutral())
    there = integrate(model, middle, 0.3 * np.random.default_rng(0).normal(size=model.nv))
    jump = np.array([middle] * 12 + [there] * 12)
    parts = [TrackedFrames((), finish(near_animation(model, jump, DT)), np.zeros((len(jump), 0)))]
    (near,) = finish(optimize_steps(model, parts, {"animation": 1.0, "acceleration": 0.04**4}, jump, False))
    assert near.is_optimal and near.cost_after < near.cost_before
    assert not check_motion(near.motion).violations


def test_what_nothing_holds_is_shown_to_be_optimal():
    """Where no limit is near, the whole gradient vanishes: what is left is rounding."""
    model = with_rates(library_robot("planar_3r"), velocity=1e3, acceleration=1e6)
    q = 2.0 * np.sin(0.4 * np.arange(30))[:, None] * np.linspace(0.2, 1.0, model.nq)
    parts = [TrackedFrames((), finish(near_animation(model, q, DT)), np.zeros((len(q), 0)))]
    (near,) = finish(optimize_steps(model, parts, {"animation": 1.0, "acceleration": 1e-2}, q, False))
    assert near.is_optimal and near.steps <= 5


def test_frames_near_an_animation_show_how_many_are_done():
    """So that Smooth can be left while it looks for its start."""
    model, q, _ = panda()
    shares = list(near_animation(model, np.tile(q, (600, 1)), DT))
    assert len(shares) > 3 and shares == sorted(shares) and 0.0 < shares[0] < 0.5 < shares[-1] <= 1.0


def test_programs_without_active_limits_take_no_newton_step(monkeypatch):
    """What the method guesses first is right, as far as rounding shows in a long motion."""
    model, q, tasks = panda()
    targets, steps = circle(model, tasks[0].link, q, 300, radius=0.03), []

    def solve(*program):
        found = yield from solve_banded_qp(*program)
        steps.append(found.iterations if found else 0)  # none: not convex yet
        return found

    monkeypatch.setattr(program, "solve_banded_qp", solve)
    assert optimize_motion(model, tasks, targets, q, DT).is_optimal
    assert len(steps) >= 3 and max(steps) == 0


def test_balls_and_floating_joints():
    model = with_rates(library_robot("puppet"), velocity=20.0, acceleration=200.0)
    tip = model.link_names[-1]
    start = random_configuration(model, np.random.default_rng(3))
    T = forward_kinematics(model, start)[tip]
    targets = [[T[:3, 3] + [0.0, 0.0, 0.02 * np.sin(0.3 * k)]] for k in range(8)]
    whole = optimize_motion(model, [PositionTask(tip, T[:3, 3])], targets, start, DT)
    assert whole.cost_after <= whole.cost_before
    assert not check_motion(whole.motion).violations


def test_targets_out_of_reach_and_late_ones_are_results():
    model, q, tasks = panda()
    targets = circle(model, tasks[0].link, q, 20, radius=0.02)
    targets[12:, 0, 0, 3] += 3.0
    start, whole = (f(model, tasks, targets, q, DT) for f in (track, optimize_motion))
    assert whole.status[15] is Status.OUT_OF_REACH and (whole.converged >= start.converged).all()
    grown = whole.residuals - np.maximum(start.residuals, 1e-5)
    assert grown.max() <= 0.1 * 1e-5 + 1e-7  # a tenth of what counts as met
    assert_inside(whole)
    far = optimize_motion(model, tasks, targets[12:13].repeat(6, axis=0), q, DT)
    assert far.status[-1] is Status.OUT_OF_REACH and "nearer" not in far.note
    assert (far.cost_after, far.note) == (far.cost_before, "optimal: no motion nearby has less cost")


@pytest.mark.parametrize("keep_best", [True, False])
def test_it_can_be_stopped(keep_best):
    model, q, tasks = panda()
    targets = circle(model, tasks[0].link, q, 20, radius=0.02)
    calls = []

    def progress(done, most):
        calls.append(done)
        return done < 2

    whole = optimize_motion(model, tasks, targets, q, DT, progress=progress, keep_best=keep_best)
    assert whole.note.startswith("stopped") and max(calls[:-1]) == 2
    assert (whole.cost_after < whole.cost_before) is keep_best


def test_velocities_are_followed_from_frame_to_frame():
    model, q, _ = panda()
    hand = forward_kinematics(model, q)["panda_hand"][:3, 3]
    angle = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    ring = hand + 0.1 * np.stack((np.cos(angle) - 1.0, np.sin(angle), 0.0 * angle), axis=1)
    for task, target in (
        (JointVelocityTask({"panda_joint1": 0.3}), {"panda_joint1": 0.3}),
        (TwistTask("panda_hand", [0.1, 0.05, 0.0, 0.0, 0.0, 0.2]), [0.1, 0.05, 0.0, 0.0, 0.0, 0.2]),
        (AlongCurveTask("panda_hand", ring, 0.15, closed=True), 0.15),
    ):
        whole = optimize_motion(model, [task], [[target]] * 10, q, DT, "kinetic_energy")
        assert whole.converged.all() and whole.is_optimal and whole.cost_after <= whole.cost_before
        assert check_motion(whole.motion, [task], [[target]] * 10).ok
        assert_inside(whole)


def test_bad_input_is_one_line():
    model, q, tasks = panda()
    targets = circle(model, tasks[0].link, q, 5)
    for match, arguments in (
        ("acceleration", {"cost": "speed"}),
        ("weight of jerk", {"cost": {"jerk": -1.0}}),
        ("a cost is a word", {"cost": 3}),
        ("2 tasks but 1 targets", {"tasks": [*tasks, PoseTask("panda_hand", np.eye(4))]}),
        ("the animation has 4 frames", {"animation": np.tile(q, (4, 1))}),
        ("targets are needed", {"targets": None}),
    ):
        given = {"tasks": tasks, "targets": targets, **arguments}
        with pytest.raises(RobokinError, match=match):
            optimize_motion(model, given.pop("tasks"), given.pop("targets"), q, DT, **given)


@pytest.mark.parametrize("cost", ["acceleration", "kinetic_energy"])
def test_what_does_not_move_meets_or_misses(cost):
    stone = RobotModel("stone", [Link("stone", 1.0)], [])
    for height in (0.0, 1.0):
        target = (0.0, 0.0, height)
        motion = optimize_motion(stone, [PositionTask("stone", target)], [[target]] * 3, cost=cost)
        assert motion.is_optimal and motion.converged.tolist() == [height == 0.0] * 3


@pytest.mark.parametrize("cost", ["acceleration", "jerk", "kinetic_energy", "torque"])
@pytest.mark.parametrize("frames", [1, 2, 3])
def test_motions_of_very_few_frames(frames, cost):
    model = library_robot("panda")
    q = model.limits.middle(model.neutral())
    tip = model.link_names[-1]
    T = forward_kinematics(model, q)[tip]
    found = optimize_motion(model, [PoseTask(tip, T)], [[T]] * frames, q0=q, cost=cost)
    assert len(found.q) == frames and found.converged.all()
