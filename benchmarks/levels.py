"""Solving and tracking with levels and criteria, in absolute times.

`python benchmarks/levels.py [--frames 250] [--poses 40] [--rounds 3]`. A path is tracked from a start that meets its
first frame: the time of the call of `track` over its frames. Poses are solved by `solve_ik`: the mean over random
targets that can be met. "Made anew" steps get new tasks and criteria at each call. By the processor's time; the
fastest round counts. Exit code 1 when a promise is not kept.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import checkout
import numpy as np
from robot_files import ROBOTS, robot_file

checkout.load()

from robokin_addon.robokin import RobotModel, clamp, forward_kinematics, integrate, load_urdf  # noqa: E402
from robokin_addon.robokin.arrays import Array  # noqa: E402
from robokin_addon.solvers import (  # noqa: E402
    AimTask,
    AxisTask,
    CenterOfMassTask,
    DistanceTask,
    JointTask,
    JointVelocityTask,
    LaserTask,
    OnLineTask,
    OnPlaneTask,
    Plane,
    PoseTask,
    PositionTask,
    PostureTask,
    Task,
    solve_ik,
    track,
    velocity_step,
)
from robokin_addon.solvers.criteria import Criterion, JointSprings, KineticEnergy  # noqa: E402

DT = 1.0 / 25.0
BENT = {
    "panda": (0.0, -0.5, 0.3, -2.0, 0.1, 1.6, 0.5),
    "ur5": (0.2, -1.2, 1.4, -1.0, -1.3, 0.4),
}
CRITERIA = [JointSprings(), KineticEnergy()]
FLOOR = Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def robot(name: str) -> tuple[RobotModel, Array]:
    """And a bent posture of it (nq,)."""
    model = load_urdf(str(robot_file(name)), root="floating" if ROBOTS[name][2] else "fixed")
    q = model.limits.middle(model.neutral())
    if name in BENT:
        q[: len(BENT[name])] = BENT[name]
        return model, q
    displacement = 0.3 * np.cos(1.3 * np.arange(model.nv))
    displacement[:6] = 0.0
    return model, clamp(model, integrate(model, q, displacement))


def circle(T: Array, frames: int, radius: float) -> Array:
    """(frames, 4, 4) once round, beginning and ending at T."""
    poses, angle = np.tile(T, (frames, 1, 1)), np.linspace(0.0, 2.0 * np.pi, frames)
    poses[:, 1, 3] += radius * np.sin(angle)
    poses[:, 2, 3] += radius * (np.cos(angle) - 1.0)
    return poses


class Problem:
    """Tasks of a robot. make(model, q): what makes those that a pose meets, anew at each call.
    path(model, q, frames): targets of a path from it.   criteria: to prefer among motions.
    displacement: [rad or m] of the poses that are drawn around the bent one."""

    def __init__(
        self,
        name: str,
        robot_name: str,
        make: Callable[[RobotModel, Array], Callable[[], list[Task]]],
        path: Callable[[RobotModel, Array, int], list[list[Any]]],
        criteria: Sequence[Criterion] = (),
        displacement: float = 0.3,
    ) -> None:
        self.name, self.make, self.path, self.criteria, self.displacement = name, make, path, criteria, displacement
        self.model, self.q = robot(robot_name)

    def track_us(self, frames: int) -> float:
        targets = self.path(self.model, self.q, frames)
        begin = time.process_time()
        found = track(self.model, self.make(self.model, self.q)(), targets, self.q, DT, criteria=self.criteria)
        taken = time.process_time() - begin
        if (found.residuals[:, 0] > 1e-5).any():
            print(f"  {self.name}: {(found.residuals[:, 0] > 1e-5).any(axis=1).sum()} frames miss the first task")
        return 1e6 * taken / frames

    def solve_ms(self, poses: int) -> float:
        rng, calls = np.random.default_rng(3), []
        for _ in range(poses):
            displacement = self.displacement * rng.normal(size=self.model.nv)
            calls.append(self.make(self.model, clamp(self.model, integrate(self.model, self.q, displacement)))())
        begin = time.process_time()
        for tasks in calls:
            solve_ik(self.model, tasks, self.q, criteria=self.criteria)
        return 1e3 * (time.process_time() - begin) / poses

    def steps_us(self, rounds: int) -> tuple[float, float]:
        """[us] of `velocity_step` with tasks and criteria made anew, and kept."""
        displacement = 0.02 * np.random.default_rng(3).normal(size=self.model.nv)
        tasks = self.make(self.model, clamp(self.model, integrate(self.model, self.q, displacement)))
        return steps_us(self.model, self.q, tasks, [type(criterion) for criterion in self.criteria], rounds)


def one_pose(name: str, radius: float) -> Problem:
    tips = ROBOTS[name][1][:1]
    return tips_problem(f"{name}, one task", name, tips, radius, ())


def tips_problem(
    name: str, robot_name: str, tips: Sequence[str], radius: float, criteria: Sequence[Criterion]
) -> Problem:
    """A pose for each tip, at levels of their own; the first two go round, the others stand."""

    def make(model: RobotModel, q: Array) -> Callable[[], list[Task]]:
        T = forward_kinematics(model, q)
        return lambda: [PoseTask(tip, T[tip], priority=level) for level, tip in enumerate(tips, 1)]

    def path(model: RobotModel, q: Array, frames: int) -> list[list[Any]]:
        T = forward_kinematics(model, q)
        paths = [circle(T[tip], frames, radius * (i < 2)) for i, tip in enumerate(tips)]
        return [list(each) for each in zip(*paths, strict=True)]

    return Problem(name, robot_name, make, path, criteria)


def pose_and_posture() -> Problem:
    tip = ROBOTS["panda"][1][0]

    def make(model: RobotModel, q: Array) -> Callable[[], list[Task]]:
        T = forward_kinematics(model, q)[tip]
        return lambda: [PoseTask(tip, T), PostureTask(q, priority=2)]

    def path(model: RobotModel, q: Array, frames: int) -> list[list[Any]]:
        return [[T, q] for T in circle(forward_kinematics(model, q)[tip], frames, 0.1)]

    return Problem("panda, pose, posture at 2, springs, energy", "panda", make, path, CRITERIA, displacement=1.0)


def look() -> Problem:
    """The hand's beam draws on the floor, the hand keeps its distance, and the elbow's axis aims at a point."""

    def targets(model: RobotModel, q: Array) -> tuple[Array, float, Array]:
        T = forward_kinematics(model, q)
        hand, elbow = T["panda_hand"], T["panda_link4"]
        spot = hand[:3, 3] - hand[2, 3] / hand[2, 2] * hand[:3, 2]
        return elbow[:3, 3] + elbow[:3, 2], float(np.linalg.norm(hand[:3, 3] - (0.5, 0.0, 0.0))), spot

    def make(model: RobotModel, q: Array) -> Callable[[], list[Task]]:
        aim_point, away, spot = targets(model, q)
        return lambda: [
            AimTask("panda_link4", (0, 0, 1), aim_point),
            DistanceTask("panda_hand", away, other_point=(0.5, 0.0, 0.0), priority=2),
            LaserTask("panda_hand", (0, 0, 1), spot, FLOOR, priority=3),
        ]

    def path(model: RobotModel, q: Array, frames: int) -> list[list[Any]]:
        aim_point, away, spot = targets(model, q)
        angle = np.linspace(0.0, 2.0 * np.pi, frames)
        spots = spot + 0.05 * np.column_stack((np.cos(angle) - 1.0, np.sin(angle), 0.0 * angle))
        return [[aim_point, away, each] for each in spots]

    return Problem("panda, aim, distance at 2, laser at 3", "panda", make, path)


def mixes(model: RobotModel, q: Array) -> dict[str, Callable[[], list[Task]]]:
    """What makes tasks of several kinds that are quick to solve, so that to make them counts most."""
    T, z = forward_kinematics(model, q)["panda_hand"], (0.0, 0.0, 1.0)
    p, values = T[:3, 3], dict(list(model.joint_values(q).items())[:7])
    return {
        "plane, line, centre of mass": lambda: [
            OnPlaneTask("panda_hand", (p, z)),
            OnLineTask("panda_hand", (p, z)),
            CenterOfMassTask(p),
        ],
        "velocities of all joints, position": lambda: [JointVelocityTask(values), PositionTask("panda_hand", p)],
        "axis, position, posture": lambda: [
            AxisTask("panda_hand", z, T[:3, 2]),
            PositionTask("panda_hand", p),
            PostureTask(values, priority=2),
        ],
        "line, joint": lambda: [OnLineTask("panda_hand", (p, z)), JointTask("panda_joint3", 0.2)],
    }


def steps_us(
    model: RobotModel, q: Array, tasks: Callable[[], list[Task]], kinds: Sequence[type[Criterion]], rounds: int
) -> tuple[float, float]:
    """[us] of `velocity_step` with tasks and criteria made anew, and kept, measured in turns."""
    kept, criteria = tasks(), [kind() for kind in kinds]
    calls = (
        lambda: velocity_step(model, q, tasks(), [kind() for kind in kinds], DT),
        lambda: velocity_step(model, q, kept, criteria, DT),
    )
    anew, same = np.array([[call_us(call, 50) for call in calls] for _ in range(10 * rounds)]).min(axis=0).tolist()
    return anew, same


def best(measure: Callable[[], float], rounds: int) -> float:
    return min(measure() for _ in range(rounds))


def call_us(call: Callable[[], object], count: int = 200) -> float:
    call()
    begin = time.process_time()
    for _ in range(count):
        call()
    return 1e6 * (time.process_time() - begin) / count


def one_shot(rounds: int) -> tuple[float, float]:
    """[us] of `solve_ik` with a new task, and of the same kept."""
    model, q = robot("panda")
    tip = ROBOTS["panda"][1][0]
    rng = np.random.default_rng(3)
    T = forward_kinematics(model, clamp(model, integrate(model, q, 0.3 * rng.normal(size=model.nv))))[tip]
    kept = [PoseTask(tip, T)]
    anew = best(lambda: call_us(lambda: solve_ik(model, [PoseTask(tip, T)], q)), rounds)
    return anew, best(lambda: call_us(lambda: solve_ik(model, kept, q)), rounds)


def report(what: str, measured: float, unit: str, required: float | None) -> bool:
    """Prints a line; whether the promise is kept, if there is one."""
    is_kept = required is None or measured <= required
    promise = "" if required is None else f"   required {required:6.1f}   {'kept' if is_kept else 'MISSED'}"
    print(f"  {what:60} {measured:10.1f} {unit}{promise}", flush=True)
    return is_kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=250)
    parser.add_argument("--poses", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    talos = tips_problem("talos, 4 levels, springs, energy", "talos", ROBOTS["talos"][1], 0.03, CRITERIA)
    # problem, required: [us] a frame, [ms] a pose
    problems: list[tuple[Problem, float | None, float | None]] = [
        (one_pose("panda", 0.1), None, None),
        (one_pose("ur5", 0.1), None, None),
        (one_pose("talos", 0.03), None, None),
        (pose_and_posture(), 40.0, 1.0),
        (talos, 300.0, 10.0),
        (look(), 100.0, None),
    ]
    kept = True
    for title, column in (("tracking, a frame", 1), ("solving, a pose (mean)", 2)):
        print(f"\n{title}")
        for problem, *required in problems:
            if column == 1:
                measured = best(lambda problem=problem: problem.track_us(arguments.frames), arguments.rounds)
            else:
                measured = best(lambda problem=problem: problem.solve_ms(arguments.poses), arguments.rounds)
            kept &= report(problem.name, measured, "us" if column == 1 else "ms", required[column - 1])
    print("\none call")
    anew, same = one_shot(arguments.rounds)
    kept &= report("solve_ik, panda, a new PoseTask at each call", anew, "us", 25.0)
    report("solve_ik, panda, the same PoseTask", same, "us", None)
    panda = tips_problem("panda, a level for each tip, springs, energy", "panda", ROBOTS["panda"][1], 0.1, CRITERIA)
    steps = {each.name: each.steps_us(arguments.rounds) for each in (panda, pose_and_posture(), look(), talos)}
    model, q = robot("panda")
    steps |= {f"panda, {mix}": steps_us(model, q, make, (), arguments.rounds) for mix, make in mixes(model, q).items()}
    for name, (anew, same) in steps.items():
        report(f"velocity_step, {name}", same, "us", None)
        kept &= report("    made anew", anew, "us", 2.0 * same)
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
