"""The optimum of a whole motion: of an arm on a closed path, and of a humanoid that stands on two feet.

`python benchmarks/whole_motion.py [--rounds 3]`. The time of `optimize_motion` with the cost "acceleration", without
that of `track`, whose frames it starts from. By the processor's time; the fastest round counts. Exit code 1 when a
promise is not kept. Of motions with frames out of reach, and of the fastest one, solved once, the time is shown and
none is required.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import checkout
import numpy as np
from levels import robot
from robot_files import ROBOTS

checkout.load()

from robokin_addon.robokin import RobotModel, forward_kinematics  # noqa: E402
from robokin_addon.robokin.arrays import Array  # noqa: E402
from robokin_addon.solvers import PinTask, PoseTask, Task, optimize_motion, track  # noqa: E402

Problem = tuple[RobotModel, list[Task], list[list[Any]], Array]

DT = 1.0 / 25.0


def round_path(T: Array, frames: int, radius: float) -> Array:
    """(frames, 4, 4) once round in the plane across y, from T and back to it."""
    angle = np.linspace(0.0, 2.0 * np.pi, frames)
    path = np.tile(T, (frames, 1, 1))
    path[:, 0, 3] += radius * np.sin(angle)
    path[:, 2, 3] += radius * (np.cos(angle) - 1.0)
    return path


def arm(frames: int, radius: float = 0.1) -> Problem:
    model, q = robot("panda")
    (tool,) = ROBOTS["panda"][1]
    path = round_path(forward_kinematics(model, q)[tool], frames, radius)
    return model, [PoseTask(tool, path[0])], [[T] for T in path], q


def stretched(frames: int, name: str, out: float, aside: tuple[float, float, float], times: int = 2) -> Problem:
    """The tool goes away from the base, by a share `out` of its distance, and aside, and comes back, some times."""
    model, q = robot(name)
    tool = ROBOTS[name][1][0]
    placements = forward_kinematics(model, q)
    T, base = placements[tool], placements[next(iter(placements))]
    share = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi * times, frames))
    path = np.tile(T, (frames, 1, 1))
    path[:, :3, 3] += share[:, None] * (out * (T[:3, 3] - base[:3, 3]) + aside)
    return model, [PoseTask(tool, path[0])], [[T] for T in path], q


def humanoid(frames: int) -> Problem:
    model, q = robot("talos")
    hand, _, left, right = ROBOTS["talos"][1]
    placements = forward_kinematics(model, q)
    path = round_path(placements[hand], frames, 0.1)
    feet = [PinTask(foot, placements[foot]) for foot in (left, right)]
    targets: list[list[Any]] = [[placements[left], placements[right], T] for T in path]
    return model, [*feet, PoseTask(hand, path[0])], targets, q


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    kept = True
    cases: tuple[tuple[str, Callable[[int], Problem], int, float, str], ...] = (
        ("panda, tool on a closed path", arm, 1000, 1.0, "acceleration"),
        ("talos, two feet pinned, a hand round", humanoid, 250, 10.0, "acceleration"),
        ("panda, some frames out of reach", partial(arm, radius=0.25), 1000, np.inf, "acceleration"),
        ("panda, many frames out of reach", partial(arm, radius=0.4), 1000, np.inf, "acceleration"),
        (
            "panda, outwards",
            partial(stretched, name="panda", out=0.5, aside=(0.0, 0.3, 0.2)),
            1000,
            np.inf,
            "acceleration",
        ),
        (
            "ur5, outwards",
            partial(stretched, name="ur5", out=0.7, aside=(0.1, -0.3, 0.1), times=3),
            1000,
            np.inf,
            "acceleration",
        ),
        ("panda, in the least time", arm, 200, np.inf, "duration"),
    )
    for name, make, frames, required, cost in cases:
        model, tasks, targets, q = make(frames)
        taken = np.inf
        for _ in range(rounds if required < np.inf else 1):
            begin = time.process_time()
            tracked = track(model, tasks, targets, q, DT)
            middle = time.process_time()
            found = optimize_motion(model, tasks, targets, q, DT, cost)
            taken = min(taken, time.process_time() - middle - (middle - begin))
        kept &= taken <= required
        verdict = f"required {required:g}   " + ("kept" if taken <= required else "MISSED")
        verdict = verdict if required < np.inf else ""
        missed = [int((~each.converged).sum()) for each in (tracked, found)]
        print(f"  {name:38} {frames:4} x {model.nv:2}  {taken:6.2f} s   {verdict:22}   ", end="")
        print(f"{found.steps} steps, missed {missed[0]} -> {missed[1]}, ", end="")
        print(f"cost {found.cost_before:.6g} -> {found.cost_after:.6g}, {found.note}")
        sys.stdout.flush()
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
