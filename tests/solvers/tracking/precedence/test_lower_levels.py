"""Lower levels never change what upper levels get: in one frame, over a motion, and in a solve for one pose.

Twelve robots, stacks of 2 to 4 levels of mixed kinds, paths with jumps and unreachable stretches. What is compared are
residuals of the levels above, with and without the levels below.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, library_robot, random_configuration
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import CenterOfMassTask, OrientationTask, PositionTask, SolveResult, Status, solve_ik
from support.engine.goals import size
from support.engine.motions import velocities
from support.engine.robots import ROBOTS
from support.engine.stacks import DT, FRAMES, Stack, calm_stack, engine_stack
from support.few import rest_slow

FEW, ALL = range(1), range(50)  # stacks of each robot: in the fast tests, in the slow ones
SHARE, EXTRA = 0.15, 2  # of frames that a stack may miss more than without its lower levels
TOGETHER = 0.02  # of all stacks
TOLERANCE = 1e-5  # [m or rad] of every task here


def changed(whole: Array, alone: Array, tolerance: Array) -> Array:
    """Which residuals the levels below have changed: what is met is not any more, or what is not differs by more than
    the tolerance. whole, alone: residuals with and without them."""
    return np.where(alone <= tolerance, whole > tolerance, abs(whole - alone) > tolerance)


# -- one frame ---------------------------------------------------------------------------------------------------------


def frame_faults(stack: Stack, frames: range) -> list[str]:
    """Of one frame each, from where the motion of the whole stack stands."""
    faults, q = [], stack.tracked().q
    v = np.concatenate((np.zeros((1, stack.model.nv)), velocities(stack.model, q, DT)))
    for frame in frames:
        start = q[frame - 1], v[frame - 1]
        whole = stack.one_frame(*start, frame).residuals[1]
        for count in range(1, len(stack.levels)):
            upper = stack.upper(count)
            alone = upper.one_frame(*start, frame).residuals[1]
            own = whole[: len(alone)]
            for task, part in np.argwhere(changed(own, alone, upper.tolerance)):
                numbers = f"{own[task, part]:.3g} with, {alone[task, part]:.3g} without the levels below {count}"
                faults.append(f"{stack.name}, frame {frame}: {upper.tasks[task]} lacks {numbers}")
    return faults


@pytest.mark.parametrize("robot", ROBOTS)
def test_one_frame(robot: str) -> None:
    faults = [fault for seed in FEW for fault in frame_faults(engine_stack(robot, seed), range(1, FRAMES, 8))]
    assert not faults, "\n".join(faults)


def test_a_goal_that_is_at_hand_is_taken_with_levels_below_too() -> None:
    """The third level, which cannot be met, is at its goal in this frame, where those above are within tolerance."""
    assert not frame_faults(engine_stack("icub", 118), range(9, 10))


@pytest.mark.slow
@pytest.mark.parametrize("robot", ROBOTS)
def test_one_frame_of_many_stacks(robot: str) -> None:
    faults = [fault for seed in ALL for fault in frame_faults(engine_stack(robot, seed), range(1, FRAMES, 6))]
    assert not faults, f"{len(faults)} faults\n" + "\n".join(faults)


# -- whole motions -----------------------------------------------------------------------------------------------------


@cache
def missed(robot: str, seed: int) -> list[tuple[int, int]]:
    """How many frames miss a task of the first 1, 2 ... levels: with and without the levels below."""
    stack, counts = engine_stack(robot, seed), []
    whole = stack.tracked().residuals
    for count in range(1, len(stack.levels)):
        upper = stack.upper(count)
        alone = upper.tracked().residuals
        counts.append((int(off_frames(upper, whole).sum()), int(off_frames(upper, alone).sum())))
    return counts


def allowed(frames: int) -> float:
    return (1.0 + SHARE) * frames + EXTRA


def motion_faults(robot: str, seeds: range) -> list[str]:
    return [
        f"{robot}, stack {seed}: {own} frames miss the first {count} levels, {alone} without those below"
        for seed in seeds
        for count, (own, alone) in enumerate(missed(robot, seed), 1)
        if own > allowed(alone)
    ]


def off_frames(stack: Stack, residuals: Array) -> Array:
    """(frames,) bool, where a task of a stack is not met. residuals: maybe of more tasks."""
    return (residuals[:, : len(stack.tasks)] > stack.tolerance).any(axis=(1, 2))


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_motion(robot: str) -> None:
    faults = motion_faults(robot, FEW)
    assert not faults, "\n".join(faults)


@pytest.mark.slow
@pytest.mark.parametrize("robot", ROBOTS)
def test_motions_of_many_stacks(robot: str) -> None:
    faults = motion_faults(robot, ALL)
    assert not faults, "\n".join(faults)


@pytest.mark.slow
def test_all_motions_together() -> None:
    pairs = [pair for robot in ROBOTS for seed in ALL[:20] for pair in missed(robot, seed)]
    own, alone = np.sum(pairs, axis=0)
    assert own <= (1.0 + TOGETHER) * alone, f"{own} frames are missed, {alone} without lower levels"


# -- one pose ----------------------------------------------------------------------------------------------------------


def solved(stack: Stack, frame: int) -> SolveResult:
    for task, target in zip(stack.tasks, stack.targets[frame], strict=True):
        task.target = target
    return solve_ik(stack.model, stack.tasks, stack.q0)


def residual(stack: Stack, residuals: Array, level: int) -> float:
    """What a level lacks as a solver counts it: the norm of all its parts, lengths in sizes of the robot."""
    L = size(stack.model)
    parts = [
        residual / (L if part.is_length else 1.0)
        for task, own in zip(stack.tasks, residuals, strict=True)
        for part, residual in zip(task.parts, own, strict=False)
        if task.priority == level
    ]
    return float(np.linalg.norm(parts))


def pose_faults(stack: Stack, frame: int) -> list[str]:
    """A level that the search for the whole stack happens to bring nearer is no fault, and ends the comparison: what
    lies below it stands elsewhere then."""
    faults, whole = [], solved(stack, frame)
    slack = TOLERANCE * max(1.0, 1.0 / size(stack.model))
    for count in range(1, len(stack.levels)):
        upper = stack.upper(count)
        alone = solved(upper, frame)
        where = f"{stack.name}, targets of frame {frame}, {count} levels"
        if alone.status is Status.OUT_OF_REACH and whole.status is not Status.OUT_OF_REACH:
            faults.append(f"{where}: {alone.status} without the levels below, {whole.status} with them")
        own = whole.residual_array[: len(upper.tasks)]
        for level in stack.levels[:count]:
            above = [i for i, task in enumerate(upper.tasks) if task.priority == level]
            is_met = (own[above] <= upper.tolerance[above]).all()
            was_met = (alone.residual_array[above] <= upper.tolerance[above]).all()
            lacks, lacked = (residual(upper, residuals, level) for residuals in (own, alone.residual_array))
            if not is_met and (was_met or lacks > lacked + slack):
                names = ", ".join(upper.tasks[i].name for i in above)
                faults.append(f"{where}: {names} lack {lacks:.6g} with, {lacked:.6g} without the levels below")
            if is_met != was_met or (not is_met and abs(lacks - lacked) > slack):
                break
    return faults


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_pose(robot: str) -> None:
    faults = [fault for seed in FEW for fault in pose_faults(engine_stack(robot, seed), 5 + seed)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(("robot", "seed", "frame"), [("a1f", 107, 11), ("xarm7", 124, 4), ("scara", 106, 10)])
def test_a_first_level_that_is_not_met_is_searched_as_it_is_alone(robot: str, seed: int, frame: int) -> None:
    """Poses and axes of tips are searched with arrays alone when nothing is below them, and a posture of a lower level
    is no start for an upper one."""
    assert not pose_faults(engine_stack(robot, seed), frame)


@pytest.mark.slow
@pytest.mark.parametrize("robot", ROBOTS)
def test_poses_of_many_stacks(robot: str) -> None:
    faults = [fault for seed in ALL for fault in pose_faults(engine_stack(robot, seed), seed % FRAMES)]
    assert not faults, f"{len(faults)} faults\n" + "\n".join(faults)


@pytest.fixture(scope="module")
def mobile_arm() -> RobotModel:
    return library_robot("mobile_arm")


@pytest.mark.parametrize("seed", range(12))
def test_a_third_level_leaves_a_second_met(mobile_arm: RobotModel, seed: int) -> None:
    """A link and the centre of mass have their places, a wheel has an orientation that some pose gives it: the centre
    of mass may not be 88 mm beside its place because of the wheel."""
    rng = np.random.default_rng(seed)
    upper = [
        PositionTask("link_4", (-0.3, -0.186, -0.208)),
        CenterOfMassTask((-0.284, -0.087, 0.133), priority=2),
    ]
    R = forward_kinematics(mobile_arm, random_configuration(mobile_arm, rng))["left_wheel_link"][:3, :3]
    wheel = OrientationTask("left_wheel_link", R, priority=3)
    q0 = mobile_arm.limits.clamp(random_configuration(mobile_arm, rng))
    assert solve_ik(mobile_arm, upper, q0).converged
    found = solve_ik(mobile_arm, [*upper, wheel], q0)
    assert (found.residual_array[:2] <= 1e-5).all(), found.residuals


# -- and they are served -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", rest_slow(ROBOTS, 5))
def test_what_one_level_meets_levels_meet(robot: str) -> None:
    """Who leaves lower levels out of account keeps all of the above. Here one slow motion meets every task: levels may
    not lose it where the same tasks on one level keep to it."""
    levels = one = 0
    for seed in range(8):
        stack = calm_stack(robot, seed)
        levels += int(stack.tracked().converged.sum())
        for task in stack.tasks:
            task.priority = 1
        one += int(stack.tracked().converged.sum())
    assert one > 4 * FRAMES
    assert levels >= 0.95 * one, f"{levels} frames are met by levels, {one} by one level"
