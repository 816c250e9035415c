"""A task of influence 0 and a criterion of weight 0 are as if they were not there: to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics
from robokin_addon.solvers import IKProblem, PositionTask, Task, solve_ik, track, velocity_step
from robokin_addon.solvers.criteria import (
    Criterion,
    DynamicTorque,
    GravityTorque,
    JointSprings,
    KineticEnergy,
    Manipulability,
    MinimumVelocity,
    RestPosture,
    SmallestSingularValue,
    Smooth,
)
from support.engine.goals import KINDS, Goal
from support.engine.robots import ROBOTS
from support.engine.stacks import DT, Stack, engine_stack
from support.few import rest_slow
from support.random_problems.random_arms import random_arm

CRITERIA = (
    GravityTorque,
    JointSprings,
    KineticEnergy,
    Manipulability,
    MinimumVelocity,
    RestPosture,
    SmallestSingularValue,
    Smooth,
)
LEVELS = (1, 2, 5)  # beside the first task, between the levels or below them, and below all
FRAMES = 4
FAR = np.array([7.0, -3.0, 5.0])  # [m] where nothing reaches
CASES = ("one task", "one level", "levels")


def idle_tasks(model: RobotModel, seed: int) -> list[tuple[Task, object]]:
    """One of each kind, of influence 0, with a target far from where the robot is."""
    rng = np.random.default_rng(seed)
    idle = []
    for make in dict.fromkeys(KINDS):
        goal = make(rng, model, int(rng.choice(LEVELS)))
        target = goal.at(model.limits.middle(model.neutral()))
        target = target if goal.beyond is None else goal.beyond(target, FAR)
        goal.task.target, goal.task.influence = target, 0.0
        idle.append((goal.task, target))
    return idle


def case(robot: str, seed: int, which: str) -> Stack:
    """Of a stack, one task without criteria, one level, or all levels."""
    stack = engine_stack(robot, seed)
    for task, target in zip(stack.tasks, stack.targets[0], strict=True):
        task.target = target
    if which == "one task":
        return replace(stack, goals=stack.goals[:1], targets=[each[:1] for each in stack.targets], criteria=[])
    return stack.upper(1) if which == "one level" else stack


def answers(
    stack: Stack, idle: Sequence[tuple[Task, object]] = (), criteria: Sequence[Criterion] = ()
) -> dict[str, object]:
    """What a step, a motion, a solve and a compiled problem give for the stack's own tasks, with these tasks and
    criteria added."""
    model, count = stack.model, len(stack.tasks)
    tasks, preferred = [*stack.tasks, *(task for task, _ in idle)], [*stack.criteria, *criteria]
    targets = [[*each, *(target for _, target in idle)] for each in stack.targets[:FRAMES]]
    step = velocity_step(model, stack.q0, tasks, preferred, DT)
    motion = track(model, tasks, targets, stack.q0, DT, criteria=preferred)
    pose = solve_ik(model, tasks, stack.q0, criteria=preferred)
    compiled = IKProblem(model, tasks, preferred).solve(targets[0], stack.q0)
    return {
        "v of the step": step.v,
        "q of the motion": motion.q,
        "status of the motion": motion.status,
        "residuals of the motion": motion.residuals[:, :count],
        "q of the pose": pose.q,
        "status of the pose": pose.status,
        "residuals of the pose": pose.residual_array[:count],
        "iterations of the pose": (pose.iterations, pose.attempts),
        "q of the problem": compiled.q,
        "residuals of the problem": compiled.residual_array[:count],
    }


def differences(found: dict[str, object], expected: dict[str, object]) -> list[str]:
    """The names of the answers that are not the same bits."""
    return [name for name, value in expected.items() if not np.array_equal(found[name], value)]


@pytest.mark.parametrize("robot", rest_slow(ROBOTS, 4))
@pytest.mark.parametrize("which", CASES)
def test_idle_tasks(robot: str, which: str) -> None:
    """Each kind by itself, then all of them at once."""
    stack = case(robot, 0, which)
    idle, expected, faults = idle_tasks(stack.model, 0), answers(stack), []
    for added in [[each] for each in idle] + [idle]:
        changed = differences(answers(stack, added), expected)
        if changed:
            names = ", ".join(f"{task.kind} at {task.priority}" for task, _ in added)
            faults.append(f"{names} changes {', '.join(changed)}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("robot", rest_slow(["panda", "tiago", "puppet", "solo12"], 2))
@pytest.mark.parametrize("which", CASES)
def test_idle_criteria(robot: str, which: str) -> None:
    """Each kind by itself, then all of them at once."""
    stack = case(robot, 1, which)
    idle, expected, faults = [kind(weight=0.0) for kind in CRITERIA], answers(stack), []
    for added in [[each] for each in idle] + [idle]:
        changed = differences(answers(stack, criteria=added), expected)
        if changed:
            faults.append(f"{', '.join(each.name for each in added)} changes {', '.join(changed)}")
    assert not faults, "\n".join(faults)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [KineticEnergy, GravityTorque, DynamicTorque])
def test_idle_criteria_that_the_robot_cannot_have(kind: type[Criterion]) -> None:
    """No link of the arm has a mass: alone or beside one that counts, nothing is asked of what has no weight."""
    model = random_arm(77)
    q0 = model.limits.middle(model.neutral())
    task = PositionTask(model.link_names[-1], forward_kinematics(model, q0)[model.link_names[-1]][:3, 3] + 0.01)
    goals = [Goal(task, lambda q: None)]
    for counting in ([], [JointSprings()]):
        stack = Stack("massless", model, goals, counting, [[task.target]] * FRAMES, q0)
        assert not differences(answers(stack, criteria=[kind(weight=0.0)]), answers(stack))
        assert IKProblem(model, [task], [*counting, kind(weight=0.0)]).solve(q0=q0).converged
        costs = solve_ik(model, [task], q0, criteria=[*counting, kind(weight=0.0)]).costs
        assert list(costs) == [each.name for each in counting]


@pytest.mark.slow
@pytest.mark.parametrize("robot", ROBOTS)
def test_idle_tasks_of_many_stacks(robot: str) -> None:
    faults = []
    for seed in range(2, 22):
        stack = case(robot, seed, CASES[seed % 3])
        idle = idle_tasks(stack.model, seed)
        added = [idle[i] for i in np.random.default_rng(seed).permutation(len(idle))[:2]]
        changed = differences(answers(stack, added), answers(stack))
        if changed:
            faults.append(f"{stack.name}: {[task.kind for task, _ in added]} change {', '.join(changed)}")
    assert not faults, "\n".join(faults)
