"""Parts of tasks that frames miss: their norms have a little room, and the cost comes to its optimum there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, load_urdf
from robokin_addon.robokin.library import library_robot
from robokin_addon.solvers import PoseTask, PositionTask, Task, optimize_motion, track
from robokin_addon.solvers.ik.natural_pose import natural_configuration
from robokin_addon.solvers.optimal_control.discretization import DiscreteMotion, Discretization
from robokin_addon.solvers.optimal_control.rows.missed_parts import GROWS, MissedParts
from robokin_addon.solvers.optimal_control.rows.motion_rows import MotionRows
from robokin_addon.solvers.optimal_control.rows.row_blocks import MET
from robokin_addon.solvers.optimal_control.rows.segments import TaskSegment
from robokin_addon.solvers.optimal_control.rows.task_sources import TaskSource, task_sources
from robokin_addon.solvers.velocity.task_levels import TaskLevels
from support.problems.tracked import assert_inside, panda
from support.robots import robot

DT = 1.0 / 24.0


def out_of_reach(model: RobotModel, task: Task, frames: int = 4) -> tuple[DiscreteMotion, TaskSource]:
    """Frames of a task on a tip, a few tenths from its target, none of them nearest."""
    rng = np.random.default_rng(4)
    levels = TaskLevels(model, [task])
    grid = Discretization(model, DT, np.zeros(model.nv), levels.length, False)
    segment = TaskSegment(0, levels, [[task.target]] * frames, np.ones((frames, 1)))
    q = model.limits.middle(model.neutral()) + 0.1 * rng.normal(size=(frames, model.nq))
    (source,) = task_sources(grid, segment, None)
    return DiscreteMotion(grid, q), source


def far_pose(model: RobotModel, link: str) -> PoseTask:
    target = forward_kinematics(model, model.limits.middle(model.neutral()))[link].copy()
    target[:3, 3] += [0.3, -0.2, 0.1]
    return PoseTask(link, target)


@pytest.mark.parametrize("name", ["kinova", "xarm7", "z1"])
def test_a_row_is_half_the_square_of_the_norm_and_bends_as_that(name):
    """By central differences of the residual."""
    model = load_urdf(robot(name))
    link = model.link_names[-1]
    target = far_pose(model, link).target[:3, 3]
    at, source = out_of_reach(model, PositionTask(link, target))
    first = replace(source.block(at), lower=source.block(at).lower * 2.0, upper=source.block(at).upper * 2.0)
    off = MissedParts.of(source.block(at), first, np.zeros(at.steps.shape, bool), np.zeros(len(at), bool))
    assert off.frame.tolist() == [0, 1, 2, 3]
    block, y = off.block(source.block(at)), np.random.default_rng(5).normal(size=at.steps.shape)
    sides = [-off.block(source.block(at.moved(h * y))).upper for h in (-1e-4, 0.0, 1e-4)]
    slope, bent = (sides[2] - sides[0]) / 2e-4, (sides[2] - 2.0 * sides[1] + sides[0]) / 1e-8
    assert np.allclose(np.einsum("ki,ki->k", block.J[:, 0], y), slope, rtol=1e-6, atol=1e-8)
    H = np.zeros((len(at), 1, *[at.steps.shape[1]] * 2))
    block.add_bend(H, np.ones(len(at)))
    assert np.allclose(np.einsum("ki,kij,kj->k", y, H[:, 0], y), bent, rtol=1e-4, atol=1e-5)


def test_parts_that_come_nearer_get_room_and_others_a_tenth_of_it():
    model = library_robot("panda")
    at, source = out_of_reach(model, far_pose(model, "tool"))
    first = source.block(at)
    steps = 0.1 * first.gradient(first.residual, len(at))
    steps[2:] = 0.0
    there = at.moved(steps)
    before, after = (source.residuals(each) / [at.grid.length, 1.0] for each in (at, there))
    off = MissedParts.of(source.block(there), first, np.zeros(at.steps.shape, bool), np.zeros(len(at), bool))
    is_nearer = (after + MET <= before).ravel()
    assert is_nearer.any() and not is_nearer.all()
    room = off.most - after.ravel()[off.cell]
    assert len(off.cell) == is_nearer.size and np.allclose(room[is_nearer], MET, rtol=0.02)
    assert (room[~is_nearer] <= GROWS * MET + 1e-12).all() and (room > 0.0).all()


def test_of_how_norms_bend_what_bends_upwards_holds():
    at, source = out_of_reach(library_robot("panda"), far_pose(library_robot("panda"), "tool"))
    constraints = MotionRows([source])
    constraints.hold(at)
    there = at.moved(np.full(at.steps.shape, 0.1))
    constraints.off = [replace(off, most=off.most + 1.0) for off in constraints.off]
    own, (frames, n) = constraints.at(there), at.steps.shape
    z = np.zeros(len(own.lower))
    z[own.plain :] = np.random.default_rng(6).uniform(1.0, 2.0, len(z) - own.plain)
    H, upwards = np.zeros((2, frames, 1, n, n))
    own.bend(H, z)
    own.bend_upwards(upwards, z)
    values, kept, more = (np.linalg.eigvalsh(each[:, 0]) for each in (H, upwards, upwards - H))
    assert values.min() < -1e-3 and kept.min() > -1e-12 and more.min() > -1e-12
    assert np.allclose(kept, np.sort(np.maximum(values, 0.0)), atol=1e-12)


def kinova(frames: int = 25) -> tuple[RobotModel, list[Task], list[list[np.ndarray]], np.ndarray]:
    """The tip goes inwards and back; 16 of the frames are out of reach."""
    model = load_urdf(robot("kinova"))
    q = natural_configuration(model)
    T = forward_kinematics(model, q)
    base = T[next(iter(T))][:3, 3]
    tip = max(T, key=lambda name: float(np.linalg.norm(T[name][:3, 3] - base)))
    out, aside = T[tip][:3, 3] - base, np.random.default_rng(3).normal(size=3)
    share = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, frames))
    move = 0.06 * np.linalg.norm(out) * aside / np.linalg.norm(aside) - 0.12 * out
    targets = [[T[tip][:3, 3] + each * move] for each in share]
    return model, [PositionTask(tip, targets[0][0])], targets, q


@pytest.mark.parametrize("cost", ["acceleration", "kinetic_energy", "jerk", "torque", "path_length"])
def test_where_frames_are_not_nearest_the_optimum_is_found(cost):
    model, tasks, targets, q = kinova()
    tracked = track(model, tasks, targets, q, dt=DT)
    found = optimize_motion(model, tasks, targets, q, DT, cost)
    assert (~found.converged).sum() > 10 and found.is_optimal
    assert found.converged[tracked.converged].all()
    missed = found.residuals > 1e-5
    assert (found.residuals <= tracked.residuals + 1e-7)[missed].all()
    assert_inside(found)


def test_room_around_the_nearest_makes_the_cost_less():
    """292.8 without it."""
    model, tip = panda()[0], "panda_link8"
    q = model.limits.middle(model.neutral())
    q[:7] = 0.0, -0.5, 0.3, -2.0, 0.1, 1.6, 0.5
    T, angle = forward_kinematics(model, q)[tip], np.linspace(0.0, 2.0 * np.pi, 250)
    path = np.tile(T, (len(angle), 1, 1))
    path[:, 0, 3] += 0.28 * np.sin(angle)
    path[:, 2, 3] += 0.28 * (np.cos(angle) - 1.0)
    found = optimize_motion(model, [PoseTask(tip, T)], path, q, 0.04, "acceleration")
    assert found.is_optimal and found.cost_after < 260.0


@pytest.mark.parametrize("weight", [1.0, 1e-2, 1e-4])
def test_how_far_off_parts_may_come_to_be_does_not_depend_on_weights(weight):
    model = library_robot("panda")
    at, source = out_of_reach(model, PoseTask("tool", far_pose(model, "tool").target, weight, weight))
    own, still, none = source.block(at), np.zeros(at.steps.shape, bool), np.zeros(len(at), bool)
    off = MissedParts.of(own, own, still, none)
    norms = [np.linalg.norm(own.residual[(own.frame == k) & (own.part == i)]) for k in range(len(at)) for i in (0, 1)]
    assert len(off.cell) == len(norms) and np.allclose((off.most - norms) / weight, GROWS * MET, rtol=0.02)
