"""Measures Robokin beside its peers, in one run, on the same problems, and prints the ratios the project promises.

`python benchmarks/run.py --python NAME=EXECUTABLE ... [--count 1000] [--rounds 3] [--json OUT]`

Peers that exclude each other's numpy run in Pythons of their own (`make bench` installs them); an absent peer is an
error, not an empty row. Every answer is checked by Pinocchio, which the solvers do not see. The solvers of one
problem take turns (A B C, A B C ...), and the fastest of the rounds counts for each, so that a drift of the machine's
speed meets them all.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import problems
import robot_files

HERE = Path(__file__).parent
OURS = "robokin_ik"


@dataclass(frozen=True)
class Row:
    solver: str
    problem: str
    solved: float  # percent within tolerance and limits
    median: float  # us
    mean: float  # us
    p99: float  # us


# problem -> solvers; the environment each solver runs in.
PLAN = {
    "panda-reachable": [OURS, "rtb", "pinocchio_lm", "pink_ik", "mink_ik", "placo_ik", "blender_ik"],
    "ur5-reachable": [OURS, "rtb", "pinocchio_lm", "pink_ik", "mink_ik", "placo_ik", "blender_ik"],
    "talos-reachable": [OURS, "pinocchio_lm", "pink_ik", "mink_ik", "placo_ik"],
    "panda-circle": [OURS, "rtb", "pinocchio_lm", "pink_ik", "mink_ik", "placo_ik", "blender_ik"],
    "ur5-circle": [OURS, "rtb", "pinocchio_lm", "pink_ik", "mink_ik", "placo_ik", "blender_ik"],
    "talos-circle": [OURS, "pinocchio_lm", "pink_ik", "mink_ik", "placo_ik"],
}
SLOW = {"pinocchio_lm", "pink_ik", "mink_ik"}  # one round is enough: they are 20 to 1000 times slower
ENVIRONMENT = {"placo_ik": "placo", "blender_ik": "blender"}

# (problem, peer, statistic, our figure must be at most peer's / factor)
PROMISES = [
    ("panda-reachable", "rtb", "mean", 6.0),
    ("ur5-reachable", "rtb", "mean", 6.0),
    ("panda-reachable", "pinocchio_lm", "mean", 20.0),
    ("ur5-reachable", "pinocchio_lm", "mean", 20.0),
    ("panda-circle", "rtb", "mean", 4.0),
    ("ur5-circle", "rtb", "mean", 4.0),
    ("talos-reachable", "pink_ik", "mean", 2.0),
    ("talos-circle", "placo_ik", "mean", 2.0),
    ("talos-circle", "pink_ik", "mean", 6.0),
]


def measure(solver: str, problem: Path, python: str, folder: Path) -> Row:
    result = folder / f"{problem.stem}-{solver}.npz"
    command = [python, "-W", "ignore", str(HERE / "peers" / "worker.py"), solver, str(problem), str(result)]
    # One thread for all: libraries that spread small matrices over the processors only lose by it.
    single = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=single)
    if done.returncode or not result.exists():
        sys.exit(f"{solver} did not run on {problem.stem} ({python}):\n{(done.stdout + done.stderr)[-2000:]}")
    answer, data = np.load(result), np.load(problem)
    position, orientation, violation = problems.errors(data, answer["rows"])
    # A hair above the tolerance: Pinocchio's rounding of a residual that ends exactly on it.
    solved = (
        (position <= data["position_tolerance"] * (1 + 1e-6))
        & (orientation <= data["orientation_tolerance"] * (1 + 1e-6))
        & (violation <= 1e-9)
    )
    us = answer["seconds"] * 1e6
    return Row(
        solver, problem.stem, 100 * solved.mean(), np.median(us), 1e6 * float(answer["mean"]), np.percentile(us, 99)
    )


def fastest(rows: list[Row]) -> Row:
    return min(rows, key=lambda row: row.mean)


def batch_scaling(python: str, problem: Path) -> float:
    """How many times faster two threads solve 10,000 targets than one."""
    command = [python, str(HERE / "batch_scaling.py"), str(problem)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def table(rows: list[Row]) -> str:
    lines = []
    for name in dict.fromkeys(row.problem for row in rows):
        lines += ["", f"{name:18} {'solved %':>9} {'median us':>10} {'mean us':>9} {'p99 us':>9} {'mean / ours':>12}"]
        ours = next(row for row in rows if row.problem == name and row.solver == OURS)
        for row in (r for r in rows if r.problem == name):
            lines.append(
                f"  {row.solver:16} {row.solved:9.1f} {row.median:10.1f} {row.mean:9.1f} {row.p99:9.1f} "
                f"{row.mean / ours.mean:12.1f}"
            )
    return "\n".join(lines)


def promises(rows: list[Row], scaling: float) -> list[tuple[str, float, float, bool]]:
    """(what, required, measured, kept)."""
    by = {(row.problem, row.solver): row for row in rows}
    found = []
    for problem, peer, statistic, factor in PROMISES:
        ratio = getattr(by[problem, peer], statistic) / getattr(by[problem, OURS], statistic)
        found.append((f"{problem}: {peer} {statistic} / ours", factor, ratio, ratio >= factor))
    for robot in ("panda", "ur5", "talos"):
        solved = by[f"{robot}-reachable", OURS].solved
        found.append((f"{robot}-reachable: solved %", 99.9, solved, solved >= 99.9))
    talos = by["talos-reachable", OURS]
    found.append(("talos-reachable: p99 / mean (at most)", 20.0, talos.p99 / talos.mean, talos.p99 <= 20 * talos.mean))
    found.append(("10,000 targets: two threads / one", 1.6, scaling, scaling >= 1.6))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--python", action="append", default=[], metavar="NAME=EXECUTABLE", help="placo=..., blender=..."
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="part of a problem's name")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    pythons = dict(pair.split("=", 1) for pair in arguments.python)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for robot in robot_files.ROBOTS:
            problems.reachable(robot, arguments.count, 1, folder)
            problems.circle(robot, arguments.count, folder)
        for stem, solvers in PLAN.items():
            if arguments.only and arguments.only not in stem:
                continue
            measured: dict[str, list[Row]] = {solver: [] for solver in solvers}
            for turn in range(arguments.rounds):
                for solver in solvers:
                    if turn == 0 or solver not in SLOW:
                        python = pythons.get(ENVIRONMENT.get(solver, ""), sys.executable)
                        measured[solver].append(measure(solver, folder / f"{stem}.npz", python, folder))
            rows += [fastest(runs) for runs in measured.values()]
            print(table([row for row in rows if row.problem == stem]), flush=True)
        if arguments.only:
            return
        scaling = batch_scaling(sys.executable, folder / "panda-reachable.npz")
    print("\nWhat was promised, and what this run measured:")
    kept = promises(rows, scaling)
    for what, required, ratio, ok in kept:
        print(f"  {'kept  ' if ok else 'MISSED'} {what:48} required {required:6.1f}   measured {ratio:6.1f}")
    if arguments.json:
        arguments.json.write_text(json.dumps([row.__dict__ for row in rows], indent=1))
    sys.exit(0 if all(ok for *_, ok in kept) else 1)


if __name__ == "__main__":
    main()
