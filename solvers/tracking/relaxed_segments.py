"""Segments of plain tasks alone, in place of those of levels: a quick way to good starts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ..ik.restarts import of_first_level
from ..tasks.clearance import ClearanceTask
from ..tasks.tips.frame import is_plain_task
from .segments import Segment
from .tracker import Tracker


def relaxed(segments: Sequence[Segment]) -> Iterator[list[Segment]]:
    """The segments with those of their tasks alone that the kernel follows, in microseconds, all of one level: first of
    all levels, then of the first one. A start from which these are met is a good one to try."""
    before: list[int] = []
    every = [task for segment in segments for task in segment.tracker.tasks if not isinstance(task, ClearanceTask)]
    for most in (math.inf, min((task.priority for task in every), default=1)):
        plain, counts = [], []
        for segment in segments:
            tasks = segment.tracker.tasks
            whole = np.ones(len(tasks), bool) if segment.influence is None else (segment.influence >= 1.0).all(axis=0)
            known = [(i, task) for i, task in enumerate(tasks) if is_plain_task(task) and whole[i]]
            counting = [(i, task) for i, task in known if task.influence == 1.0 and task.priority <= most]
            chosen = [(i, of_first_level(task)) for i, task in counting]
            T = np.array([[targets[i] for i, _ in chosen] for targets in segment.targets]).reshape(
                len(segment), -1, 4, 4
            )
            own, tracker = [task for _, task in chosen], segment.tracker
            plain.append(Segment(Tracker(tracker.model, own, tracker.dt, tracker.backend), T))
            counts.append(len(chosen))
        if any(counts) and counts != before:
            yield plain
        before = counts
