"""Poses that are held at single frames: those that can be met are met, however far off another one is."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics
from robokin_addon.solvers import PoseTask, PositionTask, Status, optimize_motion, solve_ik, track
from robokin_addon.solvers.optimal_control import levels, optimize, program, sqp
from robokin_addon.solvers.qp.banded import solve_banded_qp
from support.few import rest_slow
from support.oracles.pinocchio_oracle import Oracle
from support.problems.limits import with_rates
from support.problems.tracked import assert_inside, panda

DT = 1.0 / 24.0


def held(model, task, q, targets, frames, **arguments):
    """The motion of a task that counts at single frames. targets: by frame."""
    influence = np.zeros((frames, 1))
    influence[list(targets)] = 1.0
    aims = [[targets.get(k, task.target)] for k in range(frames)]
    return optimize_motion(model, [task], aims, q, DT, influence=influence, **arguments)


def places(spacing):
    """The hand of a Panda, its pose, and where it is held at every so many frames."""
    model, q, _ = panda()
    T = forward_kinematics(model, q)["panda_hand"]
    moves = ([0.0, 0.2, 0.0], [0.0, 0.2, -0.2], [0.0, -0.1, -0.2], [0.0, 0.0, 0.0])
    return model, q, T, {spacing * k: T[:3, 3] + move for k, move in enumerate(moves, 1)}


def assert_met_where_said(found, targets):
    """As Pinocchio places the hand [m]."""
    oracle = Oracle.from_model(found.problem.model)
    for k, target in targets.items():
        hand = oracle.frames(found.q[k])["panda_hand"][:3, 3]
        place = target[:3, 3] if target.ndim == 2 else target
        assert (np.linalg.norm(hand - place) <= 1e-5) == found.converged[k]


@pytest.mark.parametrize(("far", "acceleration"), [(24, np.inf), (48, 15.0)])
def test_one_that_is_out_of_reach_keeps_no_other_from_being_met(far, acceleration):
    model, q, T, targets = places(12)
    targets[far] = np.array([3.0, 0.0, 0.5])
    model = with_rates(model, acceleration=acceleration)
    found = held(model, PositionTask("panda_hand", T[:3, 3]), q, targets, 49)
    met = [k for k in targets if k != far]
    assert found.converged[met].all() and found.status[far] is Status.OUT_OF_REACH
    assert_inside(found)
    assert_met_where_said(found, targets)


def test_what_is_out_of_reach_is_approached_as_far_as_it_can_be():
    model, q, T, targets = places(30)
    targets[60] = np.array([3.0, 0.0, 0.5])
    task = PositionTask("panda_hand", T[:3, 3])
    found = held(model, task, q, targets, 121)
    nearest = solve_ik(model, [PositionTask("panda_hand", targets[60])], q)
    assert found.converged[[30, 90, 120]].all()
    assert found.residuals[60, 0, 0] <= nearest.residual_array[0, 0] + 0.01
    assert_inside(found)


@pytest.mark.parametrize("is_pose", [False, True])
def test_of_two_that_are_too_far_apart_for_the_time_between_one_is_met(is_pose):
    model, q, T, targets = places(12)
    targets[26] = T[:3, 3] + [0.0, -0.3, 0.0]
    task = PoseTask("panda_hand", T) if is_pose else PositionTask("panda_hand", T[:3, 3])
    if is_pose:
        for k, place in targets.items():
            targets[k] = T.copy()
            targets[k][:3, 3] = place
    found = held(model, task, q, targets, 49)
    assert found.converged[[12, 36, 48]].all() and found.converged[[24, 26]].sum() == 1
    assert found.residuals[[24, 26], 0, 0].max() < 0.35  # they are half a metre apart
    assert_inside(found)
    assert_met_where_said(found, targets)


def circle(frames, radius):
    """Of the tool of a Panda, in a plane across y."""
    model, tip = panda()[0], "panda_link8"
    q = model.limits.middle(model.neutral())
    q[:7] = 0.0, -0.5, 0.3, -2.0, 0.1, 1.6, 0.5
    T = forward_kinematics(model, q)[tip]
    angle = np.linspace(0.0, 2.0 * np.pi, frames)
    path = np.tile(T, (len(angle), 1, 1))
    path[:, 0, 3] += radius * np.sin(angle)
    path[:, 2, 3] += radius * (np.cos(angle) - 1.0)
    return model, PoseTask(tip, T), path, q


@pytest.mark.parametrize(
    ("frames", "radius"),
    rest_slow([(200, 0.4), (250, 0.28), (280, 0.35), (1000, 0.25), (1000, 0.4)]),
)
def test_with_frames_out_of_reach_the_optimum_is_found(frames, radius):
    """A circle of which a part is out of reach: what is met stays met, and the cost comes to its optimum."""
    model, task, path, q = circle(frames, radius)
    tracked = track(model, [task], path[:, None], q, 0.04)
    found = optimize_motion(model, [task], path, q, 0.04, "acceleration")
    assert (~tracked.converged).sum() > 20
    assert found.is_optimal and found.cost_after < found.cost_before
    assert found.converged[tracked.converged].all()
    assert_inside(found)


def test_steps_are_taken_back_from_the_sides_that_held_them(monkeypatch):
    """The limits that hold a step hold it as it is taken back to the tasks, too: they are tried first."""
    known = []

    def solve(H, g, rows, lower, upper, backend, guess=None, last=None):
        if not g.any():
            known.append(guess is not None and guess.any())
        return (yield from solve_banded_qp(H, g, rows, lower, upper, backend, guess, last))

    monkeypatch.setattr(program, "solve_banded_qp", solve)
    model, task, path, q = circle(60, 0.2)
    assert optimize_motion(model, [task], path, q, 0.04).is_optimal
    assert known and all(known)


def test_a_step_that_cannot_be_taken_back_with_its_own_sides_is_shortened(monkeypatch):
    """Else each trial would solve a program of the whole motion anew: 170 factors in all."""
    factors = []

    def solve(*arguments):
        search, count = solve_banded_qp(*arguments), 0
        while True:
            try:
                next(search)
            except StopIteration as ended:
                factors.append(count)
                return ended.value
            count += 1
            yield

    def optimise(*arguments, is_held, largest):
        assert not is_held  # as frames are missed
        factors.clear()  # of the cost, which comes last
        return (yield from sqp.optimise(*arguments, largest=largest))

    monkeypatch.setattr(program, "solve_banded_qp", solve)
    monkeypatch.setattr(optimize, "optimise", optimise)
    model, task, path, q = circle(250, 0.28)
    assert optimize_motion(model, [task], path, q, 0.04, "acceleration").is_optimal
    assert 0 < sum(factors) <= 100


def test_where_steps_come_to_no_end_each_is_taken_back(monkeypatch):
    """And leads no farther than a little from what is held: the optimum is found in the end."""
    calls = []

    def optimise(start, *arguments, is_held, largest):
        most = [] if is_held else [2]
        found = yield from sqp.optimise(start, *arguments, *most, is_held=is_held, largest=largest)
        calls.append((is_held, largest, found.iterations))
        return found

    monkeypatch.setattr(optimize, "optimise", optimise)
    model, task, path, q = circle(100, 0.3)
    found = optimize_motion(model, [task], path, q, 0.04, "acceleration")
    (*first, before), (*second, after) = calls
    assert found.is_optimal and found.steps == before + after and before == 1
    assert (first, second) == ([False, sqp.LARGEST_RESIDUAL], [True, optimize.NEAR])
    assert optimize.NEAR < sqp.LARGEST_RESIDUAL


@pytest.mark.parametrize(
    ("kkt", "more", "is_taken"),
    [(1e-8, 5e-5, True), (1e-8, 1e-3, False), (1e-3, 5e-5, False), (1e-3, 0.0, True), (0.5, 0.0, False)],
)
def test_an_optimum_may_cost_as_much_more_as_what_is_held_to_rounding_gains(kkt, more, is_taken):
    """Beside it are motions that cost less, as their residuals are not quite 0."""
    at = SimpleNamespace(excess=0.0)
    rows = SimpleNamespace(residual=np.zeros(1))
    before, best, now = (
        sqp.MotionOptimum(at, cost, own, rows, 1) for cost, own in ((2.0, 1.0), (1.0, 0.05), (1.0 + more, kkt))
    )
    assert (levels.better(best, now, before) is now) == is_taken


def test_frames_that_can_come_no_nearer_stay_while_others_do(monkeypatch):
    """Where no frame is free to miss by more, those that are nearest are held as they are, and what is farther than two
    seconds from those that might come nearer. Here nothing moves."""
    model, task, path, q = circle(250, 0.28)
    held = []

    def optimise(start, constraints, cost, *_):
        if not any(each.any() for each in constraints.free):
            held.append((constraints.still, *constraints.nearest(start, math.inf)))
        return sqp.MotionOptimum(start, cost.value(start), math.inf, constraints.at(start), 0)
        yield

    monkeypatch.setattr(levels, "optimise", optimise)
    optimize_motion(model, [task], path, q, 0.04, "acceleration", progress=lambda done, _: not held)
    assert held
    for still, nearest, _, coming in held:
        near = [abs(k - np.flatnonzero(coming)).min() <= 50 for k in range(len(still))]
        assert nearest.any() and coming.any() and not all(near)
        assert (still == (nearest | ~np.array(near)[:, None])).all()


def test_the_jerk_of_a_thousand_frames_comes_to_its_optimum():
    """Steps are taken back to the tasks in the measure of the jerk, which over so many frames is singular."""
    model, task, path, q = circle(1000, 0.1)
    found = optimize_motion(model, [task], path, q, 0.04, "jerk")
    assert found.is_optimal and found.converged.all() and found.cost_after < found.cost_before
    assert_inside(found)
