"""What optimising a whole motion came to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ..descent.engine import CONVERGED, NOT_CONVERGED, OUT_OF_REACH
from ..results import Diagnosis, Status
from ..tasks.protocols import VelocityTask
from ..tracking.data import COLLIDED
from ..tracking.result import EMPTY, TrackResult
from ..velocity.task_levels import tolerances
from .rows.clearance_rows import ClearanceRows
from .rows.limit_sources import rolled
from .rows.task_sources import TaskSource
from .soft_tasks import SoftTask
from .sqp import MotionOptimum
from .start import TrackedFrames


@dataclass(frozen=True, eq=False)
class OptimizedMotion(TrackResult):
    """Frames as of `track`, and what became of the cost over all of them.

    cost_before, cost_after: of the frame-by-frame start and of the result, in the cost's own unit.   kkt: the relative
    KKT residual: of the cost's gradient what no task and no limit holds, and how far sides that push are off.
    is_optimal: kkt is at most 1e-6 and no residual is larger than at the start.   note: one sentence on it.
    soft: residuals of the soft tasks; no frame is missed for it.
    """

    cost_before: float = 0.0
    cost_after: float = 0.0
    kkt: float = float("inf")
    is_optimal: bool = False
    note: str = ""
    steps: int = 0
    soft: tuple[SoftTask, ...] = ()

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return {
            "cost_before": self.cost_before,
            "cost_after": self.cost_after,
            "kkt": self.kkt,
            "is_optimal": self.is_optimal,
            "note": self.note,
            "soft": [each.to_dict() for each in self.soft],
        }


def note_on(best: MotionOptimum, reached: MotionOptimum, before: MotionOptimum, stopped: bool) -> str:
    """reached: what the levels came to, from which the cost was made less."""
    nearer = "nearer to tasks and limits than tracked; " if reached is not before else ""
    if stopped:
        return "stopped: the best motion so far" if best is not before else "stopped: the motion is as tracked"
    if best.is_optimal:
        return f"{nearer}optimal: no motion nearby has less cost"
    if best is reached:
        return f"{nearer}no less cost was found" if nearer else "nothing better was found: the motion is as tracked"
    than = "better than tracked, but " if best.cost < before.cost else ""
    residual = f" (KKT residual {best.kkt:.1g})" if best.kkt < math.inf else ""
    return f"{nearer}{than}not shown to be optimal{residual}"


def result_of(
    part: TrackedFrames,
    sources: Sequence[TaskSource | ClearanceRows],
    best: MotionOptimum,
    before: MotionOptimum,
    own: slice,
    note: str,
    limits: Sequence[str],
) -> OptimizedMotion:
    """The result of a part, whose frames are `own`. limits: those that come before tasks."""
    start = part.result
    codes, residuals, q = start.codes.copy(), start.residuals.copy(), start.q
    collisions = list(start.collisions or [None] * len(codes))
    if best is not before:
        there = rolled(best.trajectory)
        residuals[...] = np.stack([source.residuals(there) for source in sources], axis=1) if sources else 0.0
        q = there.q[own]
    limit = tolerances(part.tasks)
    whole = (part.influence >= 1.0) & part.is_hard
    met = (((residuals <= limit).all(axis=2)) | ~whole).all(axis=1) & (codes != EMPTY)
    codes[met] = CONVERGED
    gave_way = ~met & (codes == CONVERGED)
    codes[gave_way] = NOT_CONVERGED  # a limit or an obstacle came before it
    stopped: list[Callable[[], Diagnosis | None] | None] = list(start.stopped or [None] * len(codes))
    if limits:
        why = Diagnosis(Status.LIMIT, f"limits on {' and '.join(limits)} over the whole motion come before it")
        for frame in np.flatnonzero(gave_way).tolist():
            stopped[frame] = lambda: why
    for source in sources:
        if isinstance(source, ClearanceRows) and best is not before:
            for frame, near in source.pressed(best.trajectory).items():
                if near.distance < source.clearance.margin or (not met[frame] and codes[frame] != OUT_OF_REACH):
                    codes[frame], collisions[frame] = COLLIDED, Diagnosis.collision(near)
    fields = {name: getattr(start, name) for name in TrackResult.__dataclass_fields__}
    fields |= {
        "dt": best.trajectory.grid.dt,
        "codes": codes,
        "residuals": residuals,
        "q": q,
        "collisions": collisions,
        "stopped": stopped,
    }
    if not part.is_hard.all():  # why a frame is missed is said of hard tasks
        is_static = [not isinstance(task, VelocityTask) for task in part.tasks]
        fields["influence"] = (part.influence * part.is_hard)[:, is_static]
    fields["behind"] = np.where(met[:, None], False, start.behind)
    costs = before.cost, best.cost
    return OptimizedMotion(
        **fields,
        cost_before=costs[0],
        cost_after=costs[1],
        kkt=best.kkt,
        is_optimal=best.is_optimal,
        note=note,
        steps=best.iterations,
        soft=_soft_tasks(part, residuals),
    )


def _soft_tasks(part: TrackedFrames, residuals: Array) -> tuple[SoftTask, ...]:
    shown = np.where(part.influence[:, :, None] > 0.0, residuals, np.nan)
    return tuple(
        SoftTask.of(part.tasks[i].name, part.soft[i], part.tasks[i].parts, shown[:, i])
        for i in np.flatnonzero(~part.is_hard).tolist()
    )
