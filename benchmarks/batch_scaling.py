"""Prints how many times faster two threads solve 10,000 targets than one: `python batch_scaling.py PROBLEM.npz`."""

from __future__ import annotations

import sys
import time

import checkout
import numpy as np


def main(problem_file: str, count: int = 10_000, rounds: int = 5) -> None:
    checkout.load()
    from robokin_addon.robokin import load_urdf
    from robokin_addon.solvers import IKProblem, PoseTask

    problem = np.load(problem_file)
    model = load_urdf(str(problem["urdf"]))
    targets = np.resize(problem["targets"], (count, *problem["targets"].shape[1:]))
    prepared = IKProblem(model, [PoseTask(str(problem["tips"][0]), np.eye(4))])
    seconds = {1: [], 2: []}
    for _ in range(rounds):
        for threads, taken in seconds.items():
            begin = time.perf_counter()
            prepared.solve_batch(targets, threads=threads)
            taken.append(time.perf_counter() - begin)
    print(f"{min(seconds[1]) / min(seconds[2]):.3f}")


if __name__ == "__main__":
    main(sys.argv[1])
