"""What might come nearer to a level is sought in stretches of the motion, each a program of its own."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, load_urdf
from robokin_addon.robokin.collision import CollisionModel, Cylinder, Obstacle
from robokin_addon.solvers import ClearanceTask, JointVelocityTask, PoseTask, PositionTask, solve_ik
from robokin_addon.solvers.optimal_control import levels
from robokin_addon.solvers.optimal_control.discretization import DiscreteMotion, Discretization
from robokin_addon.solvers.optimal_control.rows.drive_rows import JerkRows
from robokin_addon.solvers.optimal_control.rows.motion_rows import MotionRows
from robokin_addon.solvers.optimal_control.rows.segments import TaskSegment
from robokin_addon.solvers.optimal_control.rows.task_sources import task_sources
from robokin_addon.solvers.velocity.task_levels import TaskLevels
from support.problems.limits import with_rates
from support.problems.obstructed import at, planar_arm
from support.robots import robot

DT, FRAMES, COMING = 0.1, 120, (12, 70, 75)
STRETCHES = [(0, 36), (47, 99)]  # 2 s, and what a jerk sees, around


def reaching(jerk: float = np.inf) -> tuple[MotionRows, DiscreteMotion]:
    """An arm whose target is out of reach, and which at frames COMING is not as near as it can come."""
    model = load_urdf(robot("z1"))
    q = model.limits.middle(model.neutral())
    target = forward_kinematics(model, q)[model.link_names[-1]]
    target[:3, 3] += [3.0, 0.4, -0.8]
    task = PoseTask(model.link_names[-1], target)
    frames = np.tile(solve_ik(model, [task], q).q, (FRAMES, 1))
    frames[list(COMING)] += 0.1
    known = TaskLevels(model, [task])
    grid = Discretization(model, DT, np.zeros(model.nv), known.length)
    segment = TaskSegment(0, known, [[target]] * FRAMES, np.ones((FRAMES, 1)))
    limits = [JerkRows(np.full(model.nv, jerk))] if np.isfinite(jerk) else []
    return MotionRows([*limits, *task_sources(grid, segment)]), DiscreteMotion(grid, frames)


def test_stretches_are_around_what_might_come_nearer():
    constraints, here = reaching(1e4)
    (level,) = (each for each in constraints.levels if each)
    found = list(constraints.parts(here, level))
    assert [(begin, begin + len(own)) for _, own, begin in found] == STRETCHES
    for rows, own, begin in found:
        assert (own.q == here.q[begin : begin + len(own)]).all()
        frames = np.arange(begin, begin + len(own))
        near = np.min(abs(frames[:, None] - COMING), axis=1) <= 20
        rows.hold(own, level, level)
        assert (rows.still.all(axis=1) == ~near).all() and rows.still[[0, -1]].all(axis=1).sum() == 2 - (not begin)


def test_each_is_a_program_of_its_own(monkeypatch):
    """Frames outside stay to the last bit."""
    constraints, here = reaching()
    (level,) = constraints.levels
    before, lengths, optimise = here.q.copy(), [], levels.optimise

    def counted(start, *arguments):
        lengths.append(len(start))
        return (yield from optimise(start, *arguments))

    monkeypatch.setattr(levels, "optimise", counted)
    there = [found for _, found in levels.nearer(constraints, here, level)][-1]
    assert lengths == [34, 48]  # with one frame at each end, as velocities see one
    missing = [np.sqrt(constraints.blocks(each)[0].lacking_squares(FRAMES)) for each in (here, there)]
    assert (missing[1][list(COMING)] < missing[0][list(COMING)] - 1e-3).all()
    outside = np.min(abs(np.arange(FRAMES)[:, None] - COMING), axis=1) > 20
    assert (there.q[outside] == before[outside]).all()


def walled(model: RobotModel) -> tuple[DiscreteMotion, MotionRows]:
    """Two segments with a position, a velocity and a post that moves."""
    rng = np.random.default_rng(0)
    q = 0.5 + 0.3 * np.cumsum(rng.normal(size=(12, 3)), axis=0)
    post, joint = at(1.2, 1.6), model.moving_joints[0].name
    clearance = ClearanceTask(CollisionModel(model, [Obstacle("post", Cylinder(0.1, 1.0), post)]), 0.3)
    tasks = [PositionTask("l2", np.zeros(3)), JointVelocityTask({joint: 0.1}), clearance]
    known = TaskLevels(model, tasks)
    grid = Discretization(model, DT, np.zeros(3), known.length, False)
    aims = [
        [
            tasks[0].checked_target(rng.normal(size=3)),
            tasks[1].checked_target({joint: 0.1 * k}),
            at(1.2 + 0.05 * k, 1.6)[None],
        ]
        for k in range(12)
    ]
    first, second = (
        TaskSegment(begin, known, aims[begin:end], np.ones((end - begin, 3))) for begin, end in ((0, 5), (5, 12))
    )
    return DiscreteMotion(grid, q), MotionRows([*task_sources(grid, first), *task_sources(grid, second, first)])


@pytest.mark.parametrize(("begin", "end"), [(0, 12), (0, 4), (2, 9), (6, 11)])
def test_rows_of_a_part_are_those_of_the_whole(begin, end):
    """But for those that see what is before it."""
    here, constraints = walled(with_rates(planar_arm(3), velocity=30.0))
    part = DiscreteMotion(here.grid.starting(here.v[begin], begin > 0), here.q[begin:end])
    for source in constraints.sources:
        own, whole = source.part(begin, end), source.block(here)
        assert len(whole.lower)
        inside = (whole.frame - source.reach >= begin) & (whole.frame < end) & np.isfinite(whole.lower)
        if own is None:
            assert not inside.any()
            continue
        block = own.block(part)
        is_own = (block.frame >= source.reach) & np.isfinite(block.lower)
        assert (block.frame[is_own] == whole.frame[inside] - begin).all()
        for name in ("J", "lower", "upper"):
            assert np.allclose(getattr(block, name)[is_own], getattr(whole, name)[inside], atol=1e-9)
        assert (own.level, own.reach) == (source.level, source.reach)
