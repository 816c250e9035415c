"""Soft tasks of a whole motion: they cost, and hold nothing."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
from robokin_addon.robokin import RobokinError, forward_kinematics
from robokin_addon.robokin.library import library_robot
from robokin_addon.solvers import (
    JointVelocityTask,
    PoseTask,
    PositionTask,
    PostureTask,
    TwistTask,
    optimize_motion,
)
from robokin_addon.solvers.optimal_control.discretization import DiscreteMotion, Discretization
from robokin_addon.solvers.optimal_control.rows.segments import TaskSegment
from robokin_addon.solvers.optimal_control.rows.task_sources import task_sources
from robokin_addon.solvers.optimal_control.soft_tasks import SoftTasks
from robokin_addon.solvers.velocity.task_levels import TaskLevels
from scipy import sparse
from support.problems.limits import with_rates
from support.problems.tracked import assert_inside, circle, panda

DT = 1.0 / 24.0


def test_a_linear_case_is_the_least_squares_problem_of_clarabel():
    """1/2 |a|^2 + 50/2 |q - wanted|^2 of joints with limits on speeds, from a first frame that is given."""
    model = with_rates(library_robot("planar_3r"), velocity=1.0, acceleration=30.0)
    frames, n, weight = 30, model.nq, 50.0
    wanted = 0.4 * np.sin(0.4 * np.arange(frames))[:, None] * np.array([1.0, -0.5, 2.0])[:n]
    task = PostureTask(np.zeros(n))
    found = optimize_motion(model, [task], [[q] for q in wanted], np.zeros(n), DT, soft=[weight])
    assert found.is_optimal and found.converged.all()
    assert_inside(found)
    E, I = np.eye(frames), np.eye(n)  # noqa: E741
    D = E - np.eye(frames, k=-1)
    D[0] = 0.0
    A = np.vstack([D[k] - D[k - 1] for k in range(1, frames)])  # differences of steps; before frame 0 it rests
    P = np.kron(A.T @ A * DT**-3 + weight * DT * E, I)
    c = -(weight * DT * wanted).ravel()
    steps, changes = np.kron(D[1:], I), np.kron(A, I)
    G = np.vstack((steps, -steps, changes, -changes))
    h = np.repeat([DT * 1.0, DT**2 * 30.0], 2 * len(steps))
    G, h = np.vstack((np.eye(frames * n)[:n], G)), np.concatenate((found.q[0], h))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(len(h) - n)]
    matrices = sparse.csc_matrix(np.triu(P)), c, sparse.csc_matrix(G), h
    best = np.array(clarabel.DefaultSolver(*matrices, cones, settings).solve().x).reshape(frames, n)
    np.testing.assert_allclose(found.q, best, atol=1e-6)
    (soft,) = found.soft
    misses = np.linalg.norm(best - wanted, axis=1)
    assert soft.rms[task.parts[0].name] == pytest.approx(np.sqrt((misses**2).mean()), abs=1e-6)
    assert soft.largest[task.parts[0].name] == pytest.approx(misses.max(), abs=1e-6)


def test_gradients_and_hessians_are_those_of_the_value():
    model, q, _ = panda()
    rng, h, frames = np.random.default_rng(0), 1e-5, 4
    Q = q + 0.1 * rng.normal(size=(frames, model.nq))
    tasks = [
        PoseTask("panda_hand", np.eye(4)),
        PositionTask("panda_hand", np.zeros(3), band=0.01),
        TwistTask("panda_hand", np.ones(6)),
        JointVelocityTask({"panda_joint2": 0.3}),
    ]
    levels = TaskLevels(model, tasks)
    near = forward_kinematics(model, q)["panda_hand"]
    tasks[0].target, tasks[1].target = near, near[:3, 3]
    targets = [[task.target for task in tasks]] * frames
    shares = np.array([[1.0, 1.0, 0.5, 1.0], [0.0, 1.0, 1.0, 0.3], [1.0, 0.4, 1.0, 1.0], [0.2, 0.0, 1.0, 1.0]])
    at = DiscreteMotion(Discretization(model, 0.1, np.zeros(model.nv), levels.length, False), Q)
    sources = task_sources(at.grid, TaskSegment(0, levels, targets, shares))
    cost = SoftTasks(sources, [1.0, 3.0, 0.5, 2.0])
    gradient, _ = cost.quadratic(at)
    of_point = SoftTasks(sources[1:2], [3.0])
    _, H = of_point.quadratic(at)
    of_point.bend(at, H)
    for k, i in np.ndindex(gradient.shape):
        along = np.zeros(gradient.shape)
        along[k, i] = h
        up, down = at.moved(along), at.moved(-along)
        assert (cost.value(up) - cost.value(down)) / (2.0 * h) == pytest.approx(gradient[k, i], rel=1e-5, abs=1e-6)
        change = (of_point.quadratic(up)[0] - of_point.quadratic(down)[0]) / (2.0 * h)
        np.testing.assert_allclose(H[k, 0, i], change[k], atol=1e-6)


@pytest.mark.parametrize("cost", ["acceleration", "kinetic_energy"])
def test_what_is_hard_is_met_and_what_is_soft_gives_way_as_far_as_its_weight_asks(cost):
    """A hand on a circle, and an elbow that would rather stay: more weight, less is lacking, and the cost rises."""
    model, q, tasks = panda()
    targets = circle(model, tasks[0].link, q, 40)
    stay = PostureTask(q, priority=2)
    aims = [[T[0], q] for T in targets]
    lacks, costs = [], []
    for weight in (1e-2, 1.0, 1e2):
        found = optimize_motion(model, [*tasks, stay], aims, q, DT, cost, soft=[0.0, weight])
        assert found.converged.all() and found.is_optimal, found.note
        assert found.cost_after <= found.cost_before
        assert_inside(found)
        (soft,) = found.soft
        lacks.append(soft.rms["angle"])
        costs.append(found.cost_after - 0.5 * weight * DT * len(aims) * soft.rms["angle"] ** 2)
    assert lacks[0] > lacks[1] > lacks[2] and costs[0] < costs[1] < costs[2]


def test_tasks_at_frames_and_over_stretches():
    """Through two points, hard at their frames; between them a soft stretch; else free."""
    model, q, _ = panda()
    hand = forward_kinematics(model, q)["panda_hand"][:3, 3]
    via, near = PositionTask("panda_hand", hand, name="via"), PositionTask("panda_hand", hand, name="near")
    there, above = hand + np.array([0.0, 0.25, -0.1]), hand + np.array([0.0, 0.1, 0.2])
    influence = np.zeros((41, 2))
    influence[[0, 40], 0] = 1.0
    influence[15:26, 1] = 1.0
    aims = [[hand if k < 20 else there, above] for k in range(41)]
    found = optimize_motion(model, [via, near], aims, q, DT, soft=[0.0, 1e5], influence=influence)
    assert found.converged[[0, 40]].all() and found.is_optimal, found.note
    assert_inside(found)
    hands = np.array([forward_kinematics(model, p)["panda_hand"][:3, 3] for p in found.q])
    assert np.linalg.norm(hands[40] - there) <= 1e-4
    misses = np.linalg.norm(hands - above, axis=1)
    assert found.soft[0].largest["position"] == pytest.approx(misses[15:26].max(), abs=1e-9)
    assert misses[15:26].max() < 0.02 < misses[30]


def test_a_soft_task_that_cannot_be_met_makes_no_frame_missed():
    model, q, _ = panda()
    far = PositionTask("panda_hand", [3.0, 0.0, 0.5], name="far")
    found = optimize_motion(model, [far], [[far.target]] * 20, q, DT, soft=[10.0])
    assert found.converged.all() and not found.missed.any()
    assert found.soft[0].to_dict()["task"] == "far" and found.soft[0].rms["position"] > 1.0
    assert found.is_optimal, found.note


def test_bad_input_is_one_line():
    model, q, tasks = panda()
    targets = circle(model, tasks[0].link, q, 5)
    for match, arguments in (
        ("soft must be one weight per task", {"soft": 3.0}),
        ("1 tasks but 2 weights", {"soft": [1.0, 2.0]}),
        ("soft weight must not be negative", {"soft": [-1.0]}),
        ("one number per task for each frame", {"influence": 1.0}),
        ("5 frames but influences of 1", {"influence": [[1.0]]}),
    ):
        with pytest.raises(RobokinError, match=match):
            optimize_motion(model, tasks, targets, q, DT, **arguments)
