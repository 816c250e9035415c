"""What a bake follows: segments of frames with the same tasks and criteria, and the tracker of each."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin import RobotModel
from ...robokin.arrays import Array
from ...solvers import ClearanceTask, ExtendedJacobian, PostureTask, Task, Tracker
from ...solvers.criteria import Criterion
from ...solvers.ik.tip_ik import is_plain
from ...solvers.progress import scaled
from ...solvers.tracking.avoidance.avoiding import tracker_of
from ...solvers.tracking.result import TrackResult, joined
from ...solvers.tracking.starts import Segment
from ..collisions import obstacle_placements
from ..criteria.solver_criteria import enabled_criteria, shapes_of_criteria
from ..tasks.solver_tasks import SolverTasks
from ..tasks.targets import Targets

_CHUNK = 16  # frames between two reports of progress


@dataclass(frozen=True, eq=False)
class PlannedSegment:
    """Frames with the same tasks and criteria. counting: indices of the tasks.   influence: (frames, counting).
    soft: of each of the tracker's tasks the weight in a whole motion, 0 where it is hard."""

    counting: list[int]
    criteria: Sequence[Criterion]
    segment: Segment
    influence: Array
    soft: Sequence[float]


@dataclass(frozen=True, eq=False)
class BakedSegment:
    """Frames in a row that were followed by one plan. influence: (frames, counting)."""

    plan: PlannedSegment
    result: TrackResult
    influence: Array

    def residuals(self, tasks: int) -> Array:
        """(frames, tasks, 2), NaN where a task has no influence."""
        own = self.result.residuals[:, : len(self.plan.counting)].copy()
        own[self.influence == 0.0] = np.nan
        residuals = np.full((len(self.result), tasks, 2), np.nan)
        residuals[:, self.plan.counting] = own
        return residuals


@dataclass(frozen=True, eq=False)
class Nearby:
    """What a robot stays near to in what all tasks leave free. q: (frames, nq).   kept: weights of joints that take
    these values beside the first tasks, too; None: none does."""

    q: Array
    kept: Mapping[str, float] | None = None


def bake_plans(
    forms: SolverTasks,
    model: RobotModel,
    targets: Targets,
    dt: float,
    criteria: Sequence[Criterion] | None = None,
    *,
    clearance: ClearanceTask | None = None,
    near: Nearby | None = None,
    soft: Sequence[float] | None = None,
) -> Generator[float, None, list[PlannedSegment]]:
    """Yield the share of the frames done now and then; return the plans, in order.

    A plan ends where a task begins or ceases to count, or the weights and gains of criteria change. Frames
    in which tasks fade are one plan. criteria: in place of the robot's own.   clearance: what the robot keeps away
    from, with obstacles placed at each frame.   soft: of each task the weight in a whole motion, 0 where it is hard;
    what is left free serves that then, in no mode of a frame.
    """
    obj, extends = forms.obj, forms.obj.robokin.solver.mode == "EXTENDED" and soft is None
    chosen: Sequence[Criterion] = list(criteria or ())
    closing: list[Task] = []
    plans = []
    if criteria is None:
        yield from scaled(shapes_of_criteria(obj), 0.0, 0.0)
    obstacles = None if clearance is None else obstacle_placements(clearance.collisions, len(targets.influence))
    for first, last, settled in _segments(targets.influence, targets.settings):
        if criteria is None and not settled:
            chosen = enabled_criteria(obj, targets.settings[first])
        weighted = [criterion for criterion in chosen if criterion.weight]
        if not settled:
            closing = [ExtendedJacobian(weighted)] if extends and weighted else []
        influence = targets.influence[first:last]
        counting = np.flatnonzero(influence.any(axis=0)).tolist()
        own = influence[:, counting]
        weights = [soft[i] if soft else 0.0 for i in counting]
        tasks, apart = forms.whole(targets, first, counting), [] if clearance is None else [clearance]
        nearby = [] if near is None else _near(near, 1 + max([task.priority for task in tasks], default=0))
        wanted, preferred = [*tasks, *closing, *apart, *nearby], [] if closing else weighted
        if preferred or not is_plain(wanted) or _fades(own).any():
            tracker = tracker_of(model, wanted, dt, criteria=preferred)
            tracker.let_fade()
            aims = []
            for frame in range(first, last):
                (aim,) = forms.over(targets, [frame], counting)
                around: list[object] = [] if obstacles is None else [obstacles[frame]]
                around += [] if near is None else [near.q[frame]] * len(nearby)
                aims.extend(tracker.check_targets([[*aim, *(None for _ in closing), *around]]))
                if frame % _CHUNK == 0:
                    yield frame / len(targets.influence)
            others = len(wanted) - len(counting)
            shares = np.hstack((own, np.ones((len(own), others))))
            segment = Segment(tracker, aims, shares)
            plans.append(PlannedSegment(counting, chosen, segment, own, weights + [0.0] * others))
        else:
            segment = Segment(Tracker(model, wanted, dt), targets.T[first:last, counting])
            plans.append(PlannedSegment(counting, chosen, segment, own, weights))
        yield last / len(targets.influence)
    return plans


def _near(near: Nearby, priority: int) -> list[Task]:
    posture: list[Task] = [PostureTask(near.q[0], priority=priority)]
    return posture + ([PostureTask(near.q[0], near.kept)] if near.kept else [])


def segments_of(plans: Sequence[PlannedSegment], results: Sequence[TrackResult]) -> list[BakedSegment]:
    """Join results in order, each of frames of one plan, plan by plan."""
    planned = {plan.segment.tracker.problem: plan for plan in plans}
    found = []
    for problem, own in itertools.groupby(results, key=lambda result: result.problem):
        plan, result = planned[problem], joined(list(own))
        found.append(BakedSegment(plan, result, plan.influence[: len(result)]))
    return found


def _segments(influence: Array, settings: Array) -> list[tuple[int, int, bool]]:
    """(first frame, frame after the last, whether the criteria are as in the segment before)."""
    fades = _fades(influence).any(axis=1)
    counting = np.where(fades[:, None], 2, influence > 0.0)
    settings = np.where(settings[..., :1] > 0.0, settings, 0.0)  # what has no weight has no gain
    others = np.diff(settings.reshape(len(influence), -1), axis=0).any(axis=1)
    changes = np.flatnonzero(others | np.diff(counting, axis=0).any(axis=1)) + 1
    starts = [0, *changes.tolist()]
    ends = [*changes.tolist(), len(influence)]
    return [(i, j, i > 0 and not others[i - 1]) for i, j in zip(starts, ends, strict=True)]


def _fades(influence: Array) -> Array:
    """Where a task is neither whole nor out."""
    return (influence > 0.0) & (influence < 1.0)
