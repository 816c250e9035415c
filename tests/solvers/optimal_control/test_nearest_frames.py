"""Frames that can come no nearer to what they miss stay where they are."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, integrate, load_urdf
from robokin_addon.robokin.library import library_robot
from robokin_addon.solvers import PoseTask, PositionTask, PostureTask, Task, solve_ik
from robokin_addon.solvers.optimal_control import levels, program
from robokin_addon.solvers.optimal_control.costs import Acceleration
from robokin_addon.solvers.optimal_control.discretization import DiscreteMotion, Discretization
from robokin_addon.solvers.optimal_control.levels import by_levels, settled
from robokin_addon.solvers.optimal_control.program import LocalProgram, solve_moving
from robokin_addon.solvers.optimal_control.rows import motion_rows
from robokin_addon.solvers.optimal_control.rows.missed_parts import GROWS
from robokin_addon.solvers.optimal_control.rows.motion_rows import MotionRows
from robokin_addon.solvers.optimal_control.rows.row_blocks import MET
from robokin_addon.solvers.optimal_control.rows.segments import TaskSegment
from robokin_addon.solvers.optimal_control.rows.task_sources import task_sources
from robokin_addon.solvers.progress import finish
from robokin_addon.solvers.qp.banded import solve_banded_qp
from robokin_addon.solvers.qp.sparse_rows import SparseRows
from robokin_addon.solvers.velocity.task_levels import TaskLevels
from support.robots import robot

FRAMES = 6


def motion(model: RobotModel, tasks: list[Task], targets: list, q: np.ndarray) -> tuple[DiscreteMotion, MotionRows]:
    """Frames at q (FRAMES, nq) with the same tasks at each."""
    levels = TaskLevels(model, tasks)
    grid = Discretization(model, 0.04, np.zeros(model.nv), levels.length, False)
    segment = TaskSegment(0, levels, [targets] * len(q), np.ones((len(q), len(tasks))))
    return DiscreteMotion(grid, q), MotionRows(task_sources(grid, segment, None))


def far(model: RobotModel, link: str, q: np.ndarray, is_pose: bool) -> tuple[Task, np.ndarray]:
    """A task out of reach, and where the robot is nearest to it."""
    target = forward_kinematics(model, q)[link].copy()
    target[:3, 3] += [3.0, 0.4, -0.8]
    task = PoseTask(link, target) if is_pose else PositionTask(link, target[:3, 3])
    return task, solve_ik(model, [task], q).q


def nearest(name: str, is_pose: bool) -> tuple[DiscreteMotion, MotionRows]:
    model = load_urdf(robot(name)) if name != "panda" else library_robot(name)
    q = model.limits.middle(model.neutral())
    task, q = far(model, model.link_names[-1], q, is_pose)
    return motion(model, [task], [task.target], np.tile(q, (FRAMES, 1)))


def norm(constraints: MotionRows, at: DiscreteMotion) -> np.ndarray:
    """(F,) residuals of all levels."""
    return np.sqrt(sum(block.lacking_squares(len(at)) for block in constraints.blocks(at)))


@pytest.mark.parametrize("name", ["panda", "kinova", "xarm7", "z1"])
def test_what_stays_is_nearest_and_what_is_not_nearest_moves(name):
    at, constraints = nearest(name, True)
    rng, n = np.random.default_rng(0), at.steps.shape[1]
    moved = at.moved(np.vstack((np.zeros((3, n)), 0.2 * rng.normal(size=(FRAMES - 3, n)))))
    constraints.hold(moved)
    still = constraints.still
    assert still[:3].any() and not still[3:].any()
    for _ in range(200):
        y = 10.0 ** rng.uniform(-4.0, -2.0) * rng.normal(size=still.shape)
        there = moved.moved(np.where(still, y, 0.0))  # inside the limits
        assert (norm(constraints, there)[:3] >= norm(constraints, moved)[:3] - 1e-6).all()


def test_frames_beside_where_they_are_nearest_come_there():
    at, constraints = nearest("z1", True)
    model, link = at.grid.model, at.grid.model.link_names[-1]
    reached = forward_kinematics(model, at.q[0])[link].copy()
    reached[:3, 3] += 0.1 * np.array([3.0, 0.4, -0.8])
    task = PoseTask(link, reached)
    q = solve_ik(model, [task], at.q[0]).q
    at, constraints = motion(model, [task], [reached], np.tile(q, (FRAMES, 1)))
    inside = (q > model.lower + 1e-6) & (q < model.upper - 1e-6)
    beside = at.moved(2e-4 * inside * np.random.default_rng(2).normal(size=at.steps.shape))
    there = settled(constraints, beside)
    least, before, after = (norm(constraints, each) for each in (at, beside, there))
    assert (after <= before).all() and (after - least).max() < 1e-3 * (before - least).max()
    assert there.excess <= beside.excess


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_joint_at_its_limit_that_moves_no_task_does_not_stay(side):
    """The last joint of the arm turns the tip about itself: the gradient along it is rounding."""
    model = load_urdf(robot("z1"))
    link, q = model.link_names[-1], model.limits.middle(model.neutral())
    task, q = far(model, link, q, False)
    q[5] = getattr(model, side)[5]
    at, constraints = motion(model, [task], [task.target], np.tile(q, (FRAMES, 1)))
    turn = np.eye(model.nv)[5] * (0.3 if side == "lower" else -0.3)
    turned = at.moved(np.tile(turn, (FRAMES, 1)))
    assert np.allclose(norm(constraints, turned), norm(constraints, at), atol=1e-12)
    constraints.hold(at)
    assert not constraints.still[:, 5].any()


def test_a_program_moves_nothing_of_it():
    at, constraints = nearest("panda", True)
    constraints.hold(at)
    local = LocalProgram.of(at, constraints.at(at), Acceleration())
    still = constraints.still
    assert still.any() and not local.gradient[still].any()
    assert not still.ravel()[local.rows.column].any()


@pytest.mark.parametrize("is_all", [False, True])
def test_what_stays_is_no_part_of_the_program(is_all, monkeypatch):
    """Its optimum is that of the whole program, of which some coordinates are equations."""
    at, constraints = nearest("panda", True)
    frames, n = at.steps.shape
    still = np.random.default_rng(2).random((frames, n)) < 0.3
    still[[1, 2, 4]] = True
    still |= is_all
    whole = LocalProgram.of(at, constraints.at(at), Acceleration())
    g = np.where(still, 0.0, np.random.default_rng(3).normal(size=still.shape))
    lower, upper = np.full(len(whole.rows), -0.03), np.full(len(whole.rows), 0.02)
    upper[::3] = lower[::3] = 0.0
    lower[1::3], upper[1::3] = -np.inf, np.inf
    sizes = []

    def solve(H, *arguments):
        sizes.append(len(H))
        return (yield from solve_banded_qp(H, *arguments))

    monkeypatch.setattr(program, "solve_banded_qp", solve)
    guess = np.zeros(len(whole.rows))
    rows = whole.rows.without(still.ravel())
    found = finish(solve_moving(whole.H, g, rows, lower, upper, "auto", guess, still))
    stays = SparseRows.of(np.ones((still.sum(), 1)), np.flatnonzero(still), still.size)
    none = np.zeros(len(stays))
    given = (whole.H, g, SparseRows.joined([rows, stays]), np.append(lower, none), np.append(upper, none))
    known = finish(solve_banded_qp(*given))
    assert sizes == [0 if is_all else 3] and not found.x[still].any()
    assert np.allclose(found.x, known.x, atol=1e-9)
    pushed, known_push = (rows.transposed(each.multipliers[: len(rows)], still.size) for each in (found, known))
    assert np.allclose(pushed, known_push, atol=1e-6 * (1.0 + abs(known_push).max()))
    assert not found.multipliers[1::3].any()
    assert is_all or abs(known_push).max() > 0.1


def test_coordinates_that_nothing_moves_are_no_part_of_the_program(monkeypatch):
    """No gradient, no row and no other coordinate pulls them: without them it takes the less time."""
    rng, (frames, n) = np.random.default_rng(7), (6, 4)
    part = rng.normal(size=(n, n))
    part[:, 1] = part[1] = 0.0
    H = np.tile(part @ part.T + np.eye(n), (frames, 1, 1, 1))
    g = rng.normal(size=(frames, n))
    g[:, 1] = 0.0
    bounds = SparseRows.of(np.ones((frames * n, 1)), np.arange(frames * n), frames * n)
    pair = SparseRows.of(np.array([[1.0, 0.0, 1.0]]), np.array([n]), frames * n)
    rows, lower, upper = SparseRows.joined([bounds, pair]), np.full(frames * n + 1, -0.2), np.full(frames * n + 1, 0.1)
    shapes = []

    def solve(H, *arguments):
        shapes.append(H.shape)
        return (yield from solve_banded_qp(H, *arguments))

    monkeypatch.setattr(program, "solve_banded_qp", solve)
    given = H, g, rows, lower, upper, "auto", np.zeros(len(rows))
    found, known = finish(solve_moving(*given, None)), finish(solve_banded_qp(*given))
    assert np.allclose(found.x, known.x, atol=1e-12) and np.allclose(found.multipliers, known.multipliers, atol=1e-9)
    lower[4 * n + 1] = 0.05  # one frame of it is asked for more
    found, known = finish(solve_moving(*given, None)), finish(solve_banded_qp(*given))
    assert np.allclose(found.x, known.x, atol=1e-12) and found.x[4, 1] == pytest.approx(0.05)
    H[:, 0, 1, 2] = H[:, 0, 2, 1] = 0.3  # another one pulls
    lower[4 * n + 1] = -0.2
    found, known = finish(solve_moving(*given, None)), finish(solve_banded_qp(*given))
    assert np.allclose(found.x, known.x, atol=1e-12) and found.x[:, 1].any()
    assert [shape[2] for shape in shapes] == [3, 4, 4]


def test_frames_of_which_only_what_nothing_moves_is_free_are_no_part_of_the_program(monkeypatch):
    """A finger that no task moves stays free where the arm stays: that alone brings no frame into the program."""
    rng, (frames, n) = np.random.default_rng(8), (6, 3)
    H = np.tile(np.diag([2.0, 3.0, 1.0]), (frames, 2, 1, 1))
    H[:, 1] *= -0.3
    g, still = rng.normal(size=(frames, n)), np.zeros((frames, n), bool)
    g[:, 2], still[2:4, :2] = 0.0, True
    g[still] = 0.0
    rows, free = SparseRows.of(np.ones((frames * n, 1)), np.arange(frames * n), frames * n), ~still.ravel()
    lower, upper = np.where(free, -0.2, -np.inf), np.where(free, 0.1, np.inf)
    sizes = []

    def solve(H, *arguments):
        sizes.append(len(H))
        return (yield from solve_banded_qp(H, *arguments))

    monkeypatch.setattr(program, "solve_banded_qp", solve)
    found = finish(solve_moving(H, g, rows.without(~free), lower, upper, "auto", np.zeros(len(rows)), still))
    known = finish(solve_banded_qp(H, g, rows, np.where(free, lower, 0.0), np.where(free, upper, 0.0)))
    assert sizes == [4] and np.allclose(found.x, known.x, atol=1e-9) and found.x[~still[:, 0], 0].all()


def test_what_is_nearest_is_worked_out_once_for_each_trajectory(monkeypatch):
    at, constraints = nearest("panda", True)
    known, counts = motion_rows.nearest, []

    def counted(here, *arguments):
        counts.append(here)
        return known(here, *arguments)

    monkeypatch.setattr(motion_rows, "nearest", counted)
    constraints.hold(at)
    still = constraints.still
    constraints.hold(at, 1)
    constraints.nearest(at, 2)
    assert counts == [at] and constraints.still is not still


def test_of_a_level_below_what_those_above_leave_counts():
    """The tool is met; the posture below it, which no joint can come to, has come as near as the tool leaves it."""
    model = library_robot("panda")
    q = model.limits.middle(model.neutral())
    T = forward_kinematics(model, q)["tool"]
    wanted = q + 0.4 * np.random.default_rng(1).normal(size=model.nq)
    tasks = [PoseTask("tool", T, orientation_weights=0.0), PostureTask(wanted, priority=2)]
    found = solve_ik(model, tasks, q)
    at, constraints = motion(model, tasks, [T, tasks[1].checked_target(wanted)], np.tile(found.q, (FRAMES, 1)))
    constraints.hold(at)
    assert constraints.still.all()
    constraints.hold(at, until=2)
    assert not constraints.still.any()


@pytest.mark.parametrize(("name", "is_pose"), [("z1", True), ("kinova", True), ("xarm7", False)])
def test_where_no_frame_can_come_nearer_none_is_sought(name, is_pose, monkeypatch):
    """Also of redundant robots, which are as near along a whole line of places."""
    at, constraints = nearest(name, is_pose)
    monkeypatch.setattr(levels, "optimise", None)
    ((_, there),) = by_levels(constraints, at)
    assert norm(constraints, at).min() > 0.1 and (norm(constraints, there) <= norm(constraints, at)).all()


def test_frames_that_are_nearest_wait_while_others_are_sought_beyond_one_that_is_met():
    """Frame 2 is met; 0 and 1 are as near as they can come, and only the last could come nearer."""
    model = load_urdf(robot("z1"))
    link = model.link_names[-1]
    task, q = far(model, link, model.limits.middle(model.neutral()), True)
    at, _ = motion(model, [task], [task.target], np.tile(q, (FRAMES, 1)))
    moved = at.moved(np.vstack((np.zeros((5, model.nv)), np.full((1, model.nv), 0.1))))
    met = forward_kinematics(model, q)[link]
    targets = [[met if k == 2 else task.target] for k in range(FRAMES)]
    segment = TaskSegment(0, TaskLevels(model, [task]), targets, np.ones((FRAMES, 1)))
    constraints = MotionRows(task_sources(at.grid, segment, None))
    constraints.hold(moved, task.priority, task.priority)
    assert constraints.still.any(axis=1).tolist() == [True, True, False, False, False, False]


def test_a_frame_that_might_come_nearer_is_held_by_its_norm():
    """Rows one by one would leave it a corner of the places that are as near. The others are still."""
    at, constraints = nearest("z1", True)
    moved = at.moved(np.vstack((np.zeros((5, at.grid.model.nv)), np.full((1, at.grid.model.nv), 0.1))))
    constraints.hold(moved)
    (off,) = constraints.off
    assert off.frame.tolist() == [5] * len(off.cell) and len(off.cell)
    assert np.isclose(np.linalg.norm(off.most), norm(constraints, moved)[5], atol=2.0 * GROWS * MET)


@pytest.mark.parametrize("name", ["kinova", "z1"])
def test_frames_whose_tasks_are_met_in_one_posture_stay(name):
    """Six joints and a pose: nothing is free but a finger. A place leaves the turns of the hand free."""
    model = load_urdf(robot(name))
    link, rng = {"kinova": "j2s6s200_end_effector", "z1": "gripperStator"}[name], np.random.default_rng(8)
    q = integrate(model, model.limits.middle(model.neutral()), 0.4 * rng.normal(size=model.nv))
    met = forward_kinematics(model, q)[link]
    at, constraints = motion(model, [PoseTask(link, met)], [met], np.tile(q, (FRAMES, 1)))
    constraints.hold(at)
    assert (constraints.still == (np.arange(model.nv) < 6)).all()
    place = PositionTask(link, met[:3, 3])
    at, constraints = motion(model, [place], [place.target], np.tile(q, (FRAMES, 1)))
    constraints.hold(at)
    assert not constraints.still.any()


def test_bands_leave_frames_free_at_any_influence():
    """Inside its band a residual may change, also where its influence is not whole."""
    model = load_urdf(robot("z1"))
    q = model.limits.middle(model.neutral())
    met = forward_kinematics(model, q)["gripperStator"]
    task = PoseTask("gripperStator", met, position_band=0.01, orientation_band=0.01)
    levels = TaskLevels(model, [task])
    grid = Discretization(model, 0.04, np.zeros(model.nv), levels.length, False)
    shares = np.linspace(0.5, 1.0, FRAMES)[:, None]
    segment = TaskSegment(0, levels, [[met]] * FRAMES, shares)
    constraints = MotionRows(task_sources(grid, segment, None))
    constraints.hold(DiscreteMotion(grid, np.tile(q, (FRAMES, 1))))
    assert not constraints.still.any()
