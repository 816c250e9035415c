"""What following targets led to: the frames of a motion, what became of each, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...robokin.arrays import Array, within_size
from ...robokin.model.robot import RobotModel
from ..descent.engine import CONVERGED, NOT_CONVERGED, OUT_OF_REACH
from ..ik.level_ik import LevelIK
from ..ik.problem import IKProblem
from ..ik.tip_ik import TipIK
from ..ik.velocity_diagnosis import why_stopped
from ..motion.motion import Motion
from ..results import Diagnosis, SolveResult, Status
from ..tasks.protocols import HistoryTask
from ..velocity.task_levels import TaskLevels
from .data import COLLIDED, LATE

EMPTY = 6  # the code of a frame without tasks
STATUS = {
    CONVERGED: Status.CONVERGED,
    OUT_OF_REACH: Status.OUT_OF_REACH,
    NOT_CONVERGED: Status.MAX_ITERATIONS,
    LATE: Status.LIMIT,
    EMPTY: Status.EMPTY,
    COLLIDED: Status.COLLISION,
}

CAUGHT = "caught in a posture from which no step brings it nearer; another posture meets the tasks"
ROLLS = "its wheels do not roll aside, and do not lead it there in this frame; another pose meets the tasks"


@dataclass(frozen=True, eq=False)
class TrackResult:
    """Outcome of F frames.

    q: (F, nq), inside all limits. residuals: (F, tasks, 2) position [m] and orientation [rad] errors over the axes
    not free. iterations: (F,). behind: (F, nv) the degrees of freedom that a late frame's limits hold back.
    start_velocity: (nv,) before the first frame. targets: (F, tasks, 4, 4), or lists of those that ask for a pose.
    parts: names of each task's residuals; None: those of tasks on one tip.   remarks: of F frames, what tasks say about
    one that is not met, for its diagnosis.   tolerances: (tasks, 2).   influence: (F, tasks that ask for a pose), None:
    all are whole. A frame is met when the tasks are whose influence is 1. stopped: of F frames, what says why
    velocities are missed, where some are. aside: (F, tasks) bool, those that stand aside, so that levels above miss
    fewer frames; None: none do. collisions: of F frames, the one that holds the robot
    up, or held it up before and it has not caught up since.
    """

    problem: IKProblem
    dt: float
    start_velocity: Array
    targets: Any
    codes: Array
    q: Array
    residuals: Array
    iterations: Array
    behind: Array
    parts: Sequence[tuple[str, ...]] | None = None
    remarks: Sequence[str] | None = None
    tolerances: Array | None = None
    influence: Array | None = None
    stopped: Sequence[Callable[[], Diagnosis | None] | None] | None = None
    aside: Array | None = None
    collisions: Sequence[Diagnosis | None] | None = None

    def __len__(self) -> int:
        return len(self.q)

    @property
    def status(self) -> list[Status]:
        """Per frame: CONVERGED, LIMIT (velocity or acceleration limits hold the robot back), OUT_OF_REACH, EMPTY,
        or MAX_ITERATIONS; of a frame whose `diagnosis` was asked for, what that has found."""
        found = self._looked_into
        return [found[i].status if i in found else STATUS[code] for i, code in enumerate(self.codes.tolist())]

    @property
    def converged(self) -> Array:
        """(F,) bool."""
        return self.codes == CONVERGED

    @property
    def missed(self) -> Array:
        """(F,) bool: there are tasks, and they are not all met."""
        return ~self.converged & (self.codes != EMPTY)

    @cached_property
    def motion(self) -> Motion:
        """From time 0 on, dt apart."""
        return Motion.of(self.problem.model, self.dt * np.arange(len(self)), self.q, self.start_velocity)

    def diagnose(self) -> list[Diagnosis]:
        """The diagnosis of every frame, whose status is `status` from then on."""
        return [self.diagnosis(frame) for frame in range(len(self))]

    def diagnosis(self, frame: int) -> Diagnosis:
        """Why a frame is as it is; solves a few times more when it is not met, once."""
        frame = range(len(self))[frame]
        if frame not in self._looked_into:
            self._looked_into[frame] = self._diagnosed(frame)
        return self._looked_into[frame]

    @cached_property
    def _looked_into(self) -> dict[int, Diagnosis]:
        return {}

    def _diagnosed(self, frame: int) -> Diagnosis:
        if self.codes[frame] not in (OUT_OF_REACH, NOT_CONVERGED):
            return self.frame(frame).diagnosis
        remark = self.remarks[frame] if self.remarks else ""
        if remark and self.tolerances is not None and (self.residuals[frame] <= self.tolerances).all():
            return Diagnosis(Status.MAX_ITERATIONS, f"every task is met, but by leaving the motion so far ({remark})")
        shares = np.ones(len(self.targets[frame])) if self.influence is None else self.influence[frame]
        again = self._solved(frame, shares >= 1.0)
        found, is_aside = again.diagnosis, self._stands_aside(frame)
        is_empty = again.status is Status.EMPTY  # velocities only
        why = self.stopped[frame] if self.stopped and (is_empty or again.converged) and not is_aside else None
        stopped = why() if why else None
        if stopped is not None:
            found = stopped
        elif is_aside and (is_empty or again.converged):
            found = STANDS_ASIDE
        elif again.converged:
            reason = ROLLS if self.problem.model.rolling_bases else CAUGHT
            found = self._held_by_fading(frame, shares) or Diagnosis(Status.MAX_ITERATIONS, reason)
        elif is_empty:
            found = Diagnosis(Status.MAX_ITERATIONS, "no motion inside the limits was found that is asked for")
        if is_aside and found is not STANDS_ASIDE:
            found = replace(found, reason=f"{found.reason}; {STANDS_ASIDE.reason}")
        return self.held_up(frame, replace(found, reason=f"{found.reason} ({remark})") if remark else found)

    def held_up(self, frame: int, found: Diagnosis) -> Diagnosis:
        """The diagnosis of a frame with what holds the robot up there; or held it up before, where it is not back."""
        collision = self.collisions[frame] if self.collisions else None
        if collision is None or found.status not in (Status.COLLISION, Status.LIMIT, Status.MAX_ITERATIONS):
            return found
        if self.codes[frame] == COLLIDED:
            return collision
        reason = f"{found.reason}; held up before: {collision.reason}"
        return found if found.links else replace(found, reason=reason, links=collision.links, depth=collision.depth)

    def _stands_aside(self, frame: int) -> bool:
        return self.aside is not None and bool(self.aside[frame].any())

    def _held_by_fading(self, frame: int, shares: Array) -> Diagnosis | None:
        """Why whole tasks that another pose meets are not met beside those of partial influence, when these, were they
        whole, could not all be met with them."""
        fading = [self.problem.tasks[i].name for i in np.flatnonzero((shares > 0.0) & (shares < 1.0)).tolist()]
        if not fading:
            return None
        found = self._solved(frame, shares > 0.0).diagnosis
        reason = f"{found.reason}; of partial influence: {', '.join(fading)}"
        return None if found.status is Status.CONVERGED else replace(found, reason=reason)

    @cached_property
    def _poses(self) -> IKProblem:
        """`problem` goes on in other calls of `track`, while this result may be asked by another thread."""
        return self.problem.another()

    def _solved(self, frame: int, which: Array) -> SolveResult:
        """The pose, from where a frame stands, of some of its tasks, each of them whole. which: (tasks,) bool."""
        indices = np.flatnonzero(which).tolist()
        problem = self._poses if which.all() else self.problem.some_tasks(indices)
        targets = [self.targets[frame][i] for i in indices]
        return problem.solve(targets, within_size(self.q[frame]), influence=[1.0] * len(indices))

    def among(self, counting: Sequence[bool], parts: Sequence[tuple[str, ...]], tolerances: Array) -> TrackResult:
        """The result of the tasks that count, as one of all: the others have no residual. parts: names, and tolerances
        (tasks, 2), of all."""
        residuals = np.zeros((len(self), len(counting), 2))
        residuals[:, np.array(counting, bool)] = self.residuals
        return replace(self, residuals=residuals, parts=parts, tolerances=tolerances)

    def frame(self, frame: int) -> SolveResult:
        """One frame in the words of static solves; without `diagnosis`'s search for a reason."""
        found = short_diagnosis(self.problem.model, int(self.codes[frame]), self.behind[frame])
        found = self.held_up(frame, found)
        if found.status is Status.MAX_ITERATIONS and self._stands_aside(frame):
            found = STANDS_ASIDE
        q, residuals = self.q[frame], self.residuals[frame]
        limits_active = self.problem.limits_active
        return SolveResult(found, q, residuals, int(self.iterations[frame]), 1, limits_active, self.parts)


STANDS_ASIDE = Diagnosis(
    Status.MAX_ITERATIONS, "tasks of lower priority stand aside here, so that those above miss fewer frames"
)
_SHORT = {
    CONVERGED: Diagnosis(Status.CONVERGED, "every task is met"),
    OUT_OF_REACH: Diagnosis(Status.OUT_OF_REACH, "a target is farther than the robot can reach"),
    NOT_CONVERGED: Diagnosis(Status.MAX_ITERATIONS, "the targets are not met, and limits on speed are not why"),
    EMPTY: Diagnosis(Status.EMPTY, "there is no task"),
    COLLIDED: Diagnosis(Status.COLLISION, "links would come too near to something"),
}


def short_diagnosis(model: RobotModel, code: int, behind: Array) -> Diagnosis:
    """Diagnosis of a frame without further solves. behind: (nv,), see `TrackResult`."""
    if code != LATE:
        return _SHORT[code]
    names = tuple(joint.name for joint in model.moving_joints if behind[model.slot(joint.name).v].any())
    reason = f"too fast for the velocity or acceleration limits of {', '.join(names)}"
    return Diagnosis(Status.LIMIT, reason, joints=names)


def judge_reach(codes: Array, search: TipIK | LevelIK, targets: Sequence[Sequence[Any]], missed: Array) -> None:
    """Frames that are not met become OUT_OF_REACH where a target that they miss is. codes: (F,).   targets: of each
    frame, of the tasks that ask for a pose.   missed: (F, those tasks) bool."""
    for frame, code in enumerate(codes.tolist()):
        if code != NOT_CONVERGED or not missed[frame, search.bounded].any():
            continue
        if search.excess(targets[frame], missed[frame]).any():
            codes[frame] = OUT_OF_REACH


def judge_histories(
    codes: Array, levels: TaskLevels, poses: Sequence[Array], targets: Sequence[Sequence[Any]], whole: Array, dt: float
) -> list[str]:
    """Frames that leave the motion so far, which whole tasks go on with, are not met; and what tasks say about those
    that are not. codes: (F,).   poses: (nq,) of two frames before, and of these.   targets: of each frame, of all
    tasks.   whole: (tasks,) bool."""
    remarks = [""] * len(targets)
    asking = [(i, task) for i, task in enumerate(levels.tasks) if isinstance(task, HistoryTask)]
    for frame, own in enumerate(targets if asking else ()):
        before, here, there = (levels.state(q, own, dt) for q in poses[frame : frame + 3])
        is_left = any(task.is_left(here, there, own[i]) for i, task in asking if whole[i])
        if codes[frame] == CONVERGED and is_left:
            codes[frame] = NOT_CONVERGED
        if codes[frame] == NOT_CONVERGED:
            notes = (task.failure_note([before, here], own[i]) for i, task in asking)
            remarks[frame] = "; ".join(filter(None, notes))
    return remarks


def stopped_by(
    levels: TaskLevels, q: Array, targets: Sequence[Sequence[Any]], missed: Array, shares: Array, dt: float
) -> list[Callable[[], Diagnosis | None] | None]:
    """For each frame that misses some: why it misses velocities. q: (F, nq).   missed: (F,) bool, which do.
    The other arguments: see `why_stopped`."""
    return [
        partial(why_stopped, levels, there, own, shares, dt) if is_missed else None
        for there, own, is_missed in zip(q, targets, missed, strict=True)
    ]


def joined(parts: Sequence[TrackResult]) -> TrackResult:
    """Results of one problem, each of the frames after those of the one before, as one."""
    if len(parts) == 1:
        return parts[0]
    whole: dict[str, Any] = {}
    for name in (
        "targets",
        "codes",
        "q",
        "residuals",
        "iterations",
        "behind",
        "remarks",
        "influence",
        "stopped",
        "aside",
        "collisions",
    ):
        own = [getattr(part, name) for part in parts]
        if isinstance(own[0], np.ndarray):
            whole[name] = np.concatenate(own)
        elif any(each is not None for each in own):
            whole[name] = [each for part, its in zip(parts, own, strict=True) for each in its or [None] * len(part)]
    return replace(parts[0], **whole)
