"""Microseconds for all postures of a pose, in a batch and one by one, beside EAIK where that is installed.

python benchmarks/postures.py [--count N]

EAIK (D. Ostermeier, J. Kuelz, M. Althoff, "Automatic geometric decomposition for analytical inverse kinematics", IEEE
Robotics and Automation Letters 10(10), 2025; `pip install EAIK`) is asked on one thread and without limits, as it knows
none; ours on one thread, within the limits, and with joints of any turn, where the numbers of postures are compared.
The processor's time; the fastest of several rounds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import checkout

checkout.load()

from robokin_addon.robokin import RobotModel, forward_kinematics  # noqa: E402
from robokin_addon.robokin.model.limits import PositionLimits  # noqa: E402
from robokin_addon.solvers import PoseTask, PostureProblem  # noqa: E402
from robokin_addon.solvers.families.chain import Chain, chain_of  # noqa: E402
from support.problems.family_robots import LIBRARY, TABLES, family_robot  # noqa: E402

PROMISE = 3.0  # us for all branches of a six-axis arm
REPEATS = 9


def best(run: Callable[[], object], count: int) -> float:
    """Microseconds of the processor per item."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times) / count * 1e6


def peer(chain: Chain) -> object | None:
    """EAIK's robot of the same axes; None without EAIK, or where it knows no decomposition."""
    try:
        from eaik.IK_HP import HPRobot
    except ImportError:
        return None
    ends = np.vstack((np.zeros(3), chain.point, chain.home[:3, 3]))
    robot = HPRobot(chain.axis, np.diff(ends, axis=0))
    return robot if robot.hasKnownDecomposition() else None


def distinct(solutions: np.ndarray) -> int:
    """Postures that are not whole turns apart."""
    found: list[np.ndarray] = []
    for q in solutions:
        if all(abs(np.remainder(q - other + np.pi, 2.0 * np.pi) - np.pi).max() > 1e-6 for other in found):
            found.append(q)
    return len(found)


def compared(robot: object, chain: Chain, targets: np.ndarray, ours: np.ndarray) -> str:
    """EAIK's time, and how many of the poses have as many postures as ours."""
    goals = targets.copy()
    goals[:, :3, 3] -= chain.centre
    goals[:, :3, :3] = goals[:, :3, :3] @ chain.home[:3, :3].T
    us = best(lambda: robot.IK_batched(goals, 1), len(goals))  # type: ignore[attr-defined]
    same = 0
    for answer, count in zip(robot.IK_batched(goals, 1), ours, strict=True):  # type: ignore[attr-defined]
        exact = answer.Q[~np.asarray(answer.is_LS)] if len(answer.Q) else answer.Q
        same += distinct(exact) == count
    return f"{us:8.2f} us   as many for {same} of {len(goals)}"


def row(name: str, model: RobotModel, count: int) -> float:
    link = model.link_names[-1]
    rng = np.random.default_rng(1)
    lower, upper = np.maximum(model.lower, -np.pi), np.minimum(model.upper, np.pi)
    targets = np.array([forward_kinematics(model, q)[link] for q in rng.uniform(lower, upper, (count, model.nq))])
    tasks, goals = [PoseTask(link, np.eye(4))], targets[:, None]
    problem = PostureProblem(model, tasks)
    us = best(lambda: problem.solve_batch(goals, threads=1), count)
    single = best(lambda: [problem.solve(goal) for goal in goals[:200]], min(count, 200))
    found = problem.solve_batch(goals)
    free = PositionLimits(
        *(np.where(model.is_length, limit, sign * np.inf) for limit, sign in ((model.lower, -1), (model.upper, 1)))
    )
    unlimited = PostureProblem(model, tasks, limits=free).solve_batch(goals)
    chain = chain_of(model, link, np.eye(4), model.limits)
    robot = None if chain is None or chain.slides.any() or model.nq != 6 else peer(chain)
    other = compared(robot, chain, targets, unlimited.count) if robot is not None and chain is not None else "       -"
    counts = f"{found.count.mean():5.2f} ({unlimited.count.mean():.2f})"
    print(f"{name:10} {problem.family:28} {us:7.2f} us  {single:7.1f} us  {counts}   {other}")
    return us if model.nq == 6 else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="poses of each robot")
    count = parser.parse_args().count
    print(f"{'robot':10} {'family':28} {'batch':>10} {'one call':>11}  postures (without limits)   EAIK")
    slowest = max([row(name, family_robot(name), count) for name in (*TABLES, *LIBRARY)])
    print(f"all branches of a six-axis arm: at most {slowest:.2f} us, promised {PROMISE:g}")
    return int(slowest > PROMISE)


if __name__ == "__main__":
    sys.exit(main())
