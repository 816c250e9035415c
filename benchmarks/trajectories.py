"""Motions from state to state beside Ruckig, and new timing for paths beside toppra.

`python benchmarks/trajectories.py [--rounds 5]`. The kernel's function and Ruckig's `calculate`, both called from
Python with all that they take made before: microseconds for each motion. What ctypes takes to call the same function
for no axes is taken off ours. `retime` and toppra with so many intervals that its durations are right to about
1e-4, once: milliseconds for each path. Else the fastest round counts; the rounds alternate. Exit code 1 when a duration
is longer than the peer's, or a promised time is not kept.
"""

from __future__ import annotations

import argparse
import ctypes
import logging
import sys
import time
from collections.abc import Callable

import checkout
import numpy as np
import ruckig
import toppra
from toppra import algorithm, constraint

checkout.load()

from robokin_addon.robokin import library_robot, random_configuration  # noqa: E402
from robokin_addon.robokin.arrays import Array  # noqa: E402
from robokin_addon.robokin.backend.library import load_library  # noqa: E402
from robokin_addon.solvers import retime  # noqa: E402
from robokin_addon.solvers.trajectories.reference import KNOTS  # noqa: E402

MOTIONS = 400  # of one kind in a round
PATHS = 5
POINTS = (5, 20, 80, 200)  # that a path goes through
INTERVALS = 800  # of toppra for each point
SAME = 1e-9  # relative, of durations of motions
LONGER = 1e-4  # of paths
NEARLY = 1.05  # times the time of Ruckig: one moving axis takes both about as long


def cases(kind: str, axes: int, rng: np.random.Generator) -> list[tuple[Array, Array, Array]]:
    """Starts, ends and limits (axes, 3): "rest", or any states inside the limits."""
    found = []
    for _ in range(MOTIONS):
        limits = np.exp(rng.uniform(-1.0, 1.0, (axes, 3)))
        start, end = np.zeros((2, axes, 3))
        end[:, 0] = rng.uniform(-3.0, 3.0, axes)
        if kind == "moving":
            start[:, 1], end[:, 1] = 0.5 * limits[:, 0] * rng.uniform(-1.0, 1.0, (2, axes))
        found.append((start, end, limits))
    return found


def own_motion(start: Array, end: Array, limits: Array) -> Callable[[], float]:
    library, n = load_library(), len(start)
    library.rk_point_to_point_workspace.restype = ctypes.c_int64
    bounds = np.tile([-np.inf, np.inf], (n, 1))
    arrays = [start, end, limits, bounds, np.empty(library.rk_point_to_point_workspace(n)), np.empty((n, KNOTS, 5))]
    start_, end_, limits_, bounds_, work, knots = (ctypes.c_void_p(array.ctypes.data) for array in arrays)
    duration, axis = ctypes.c_double(), ctypes.c_int32()
    ends = ctypes.byref(duration), ctypes.byref(axis)
    call = library.rk_point_to_point
    given = (n, 3, start_, end_, limits_, bounds_, ctypes.c_double(0.0), work, ends[0], knots, ends[1])

    def run(kept: list = arrays) -> float:
        call(*given)
        return duration.value

    return run


def peer_motion(start: Array, end: Array, limits: Array) -> Callable[[], float]:
    n = len(start)
    question, answer, solver = ruckig.InputParameter(n), ruckig.Trajectory(n), ruckig.Ruckig(n)
    question.current_position, question.current_velocity, question.current_acceleration = start.T.tolist()
    question.target_position, question.target_velocity, question.target_acceleration = end.T.tolist()
    question.max_velocity, question.max_acceleration, question.max_jerk = limits.T.tolist()

    def run() -> float:
        solver.calculate(question, answer)
        return answer.duration

    return run


def call_time(rounds: int) -> float:
    """[s] of a call for no axes."""
    run = own_motion(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)))
    return float(compared([run] * MOTIONS, [lambda: 1.0] * MOTIONS, rounds)[0][0])


def own_path(path_points: Array) -> Callable[[], float]:
    return lambda: retime(PANDA, path_points).duration


def peer_path(path_points: Array) -> Callable[[], float]:
    bounds = [np.stack((-limit, limit), axis=1) for limit in (PANDA.velocity, PANDA.acceleration)]

    def run() -> float:
        path = toppra.SplineInterpolator(np.linspace(0.0, 1.0, len(path_points)), path_points)
        limits = [constraint.JointVelocityConstraint(bounds[0]), constraint.JointAccelerationConstraint(bounds[1])]
        grid = np.linspace(0.0, 1.0, INTERVALS * len(path_points) + 1)
        solver = algorithm.TOPPRA(limits, path, gridpoints=grid, parametrizer="ParametrizeConstAccel")
        return float(solver.compute_trajectory(0.0, 0.0).duration)

    return run


def compared(own: list[Callable[[], float]], peer: list[Callable[[], float]], rounds: int) -> tuple[Array, Array]:
    """(2,) seconds for each of ours and the peer's; (n,) how much longer ours last, as shares."""
    taken, durations = np.full(2, np.inf), np.zeros((2, len(own)))
    for _ in range(rounds):
        for i, runs in enumerate((own, peer)):
            begin = time.process_time()
            durations[i] = [run() for run in runs]
            taken[i] = min(taken[i], (time.process_time() - begin) / len(runs))
    return taken, durations[0] / durations[1] - 1.0


PANDA = library_robot("panda")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    logging.getLogger("toppra").setLevel(logging.CRITICAL)
    rng, kept = np.random.default_rng(0), True
    for kind in ("rest", "moving"):
        for axes in (1, 7):
            given = cases(kind, axes, rng)
            taken, longer = compared([own_motion(*c) for c in given], [peer_motion(*c) for c in given], rounds)
            taken[0] -= call_time(rounds)
            kept &= taken[0] <= NEARLY * taken[1] and longer.max() <= SAME
            times = f"{1e6 * taken[0]:6.2f} us   Ruckig {1e6 * taken[1]:6.2f} us"
            print(f"  point to point, {kind:6} {axes} axes   {times}   ", end="")
            print(f"{taken[1] / taken[0]:.2f} times as fast   longest by {longer.max():.1e}")
            sys.stdout.flush()
    middle = PANDA.limits.middle(PANDA.neutral())
    for count in POINTS:
        paths = [
            0.5 * np.array([random_configuration(PANDA, rng) for _ in range(count)]) + 0.5 * middle
            for _ in range(PATHS)
        ]
        taken, longer = compared([own_path(path) for path in paths], [peer_path(path) for path in paths], 1)
        kept &= taken[0] <= taken[1] and longer.max() <= LONGER
        times = f"{1e3 * taken[0]:6.1f} ms   toppra, {INTERVALS * count} intervals {1e3 * taken[1]:6.1f} ms   "
        print(f"  retime, panda, {count:3} points   {times}", end="")
        print(f"{taken[1] / taken[0]:.2f} times as fast   longest by {longer.max():.1e}")
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
