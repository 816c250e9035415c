"""Runs one solver over one problem file: `python worker.py SOLVER PROBLEM.npz RESULT.npz`.

A solver is a module beside this one with `prepare(problem) -> {"solve": ..., "track": ...}`:
  solve(targets (n, 4, 4)) -> row     from the problem's start, with restarts of its own where it has them
  track(targets (n, 4, 4)) -> row     warm started from the frame before; with the attribute `whole`, it takes all
                                      frames (frames, n, 4, 4) in one call and returns all rows
Only the calls are timed. The mean counts the processor's time where that is less than the clock's, so that what else
runs on the machine does not enter; the median and the high percentiles are by the clock.
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

import numpy as np


def timed(call, items) -> tuple[np.ndarray, np.ndarray, float]:
    rows, seconds = [], []
    busy = time.process_time()
    for item in items:
        begin = time.perf_counter()
        row = call(item)
        seconds.append(time.perf_counter() - begin)
        rows.append(np.array(row, dtype=float))
    busy = time.process_time() - busy
    return np.array(rows), np.array(seconds), min(busy, sum(seconds)) / len(items)


def timed_whole(call, items) -> tuple[np.ndarray, np.ndarray, float]:
    busy, begin = time.process_time(), time.perf_counter()
    rows = call(items)
    taken, busy = time.perf_counter() - begin, time.process_time() - busy
    return np.array(rows), np.full(len(items), taken / len(items)), min(busy, taken) / len(items)


def main(solver: str, problem_file: str, result_file: str) -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    problem = np.load(problem_file)
    if problem_file.endswith("-circle.npz"):
        call, whole = importlib.import_module(solver).prepare(problem)["track"], "whole"
    else:
        call, whole = importlib.import_module(solver).prepare(problem)["solve"], "each"
    targets = problem["targets"]
    for target in targets[:3]:  # caches and lazy imports are not what is measured
        if whole == "each":
            call(target)
    if getattr(call, "whole", False):
        timed_whole(call, targets)
        rows, seconds, mean = timed_whole(call, targets)
    else:
        rows, seconds, mean = timed(call, targets)
    np.savez(result_file, rows=rows, seconds=seconds, mean=mean)


if __name__ == "__main__":
    main(*sys.argv[1:4])
