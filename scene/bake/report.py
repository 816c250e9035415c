"""What a bake came to: which frames are not met, by which tasks, and why."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...robokin import RobotModel
from ...robokin.arrays import Array
from ...robokin.units import counted
from ...solvers import Diagnosis, Status, TrackResult, Violation
from ...solvers.optimal_control.soft_tasks import SoftTask
from ...solvers.tracking.result import ROLLS
from .plans import BakedSegment

# Statuses of a frame with nothing to complain of: it has no task that counts, or all are met.
MET = (Status.CONVERGED, Status.EMPTY)
_NUMBER = re.compile(r"[-+]?\b\d[\d.]*(e[-+]?\d+)?")
TRIES = 16  # frames of a segment of which it is tried out
DIAGNOSED = 8  # segments of failed frames whose reason is looked for; of others the report names what is missed


@dataclass(frozen=True, eq=False)
class Failure:
    """Frames in a row that fail alike. first, last: scene frames.   missed: names of the tasks that are not met."""

    first: int
    last: int
    diagnosis: Diagnosis
    missed: tuple[str, ...]

    @property
    def frames(self) -> str:
        """Frames as text: "frame 12", "frames 12-18"."""
        return f"frame {self.first}" if self.first == self.last else f"frames {self.first}-{self.last}"

    def sentence(self) -> str:
        """The result in one line."""
        return f"{self.frames}: {self.diagnosis.status}, {self.diagnosis.reason}"

    def to_dict(self) -> dict:
        return {"frames": [self.first, self.last], "missed": list(self.missed)} | self.diagnosis.to_dict()


@dataclass(frozen=True, eq=False)
class BakeResult:
    """frames: scene frames. Q: (n, nq) as written. statuses: per frame. residuals: (n, k, 2) [m], [rad], NaN for a task
    without influence. failures: in order, all frames that are not met. start: what the bake chose to start from, in
    words; empty when it was given.
    costs: (n, c) of the criteria by these names. parts: names of each task's residuals. note: of a whole motion, what
    its cost came to; of animated limits, which count. collisions: of what was written, whose `frame` is an index into
    `frames`.   soft: the residuals of the soft tasks of a whole motion.   stretch: how many times as long as what it
    follows the motion takes, where its time was free."""

    model: RobotModel
    frames: Sequence[int]
    Q: Array
    statuses: list[Status]
    residuals: Array
    failures: list[Failure]
    start: str
    costs: Array
    criteria: Sequence[str]
    parts: Sequence[tuple[str, ...]]
    note: str = ""
    collisions: Sequence[Violation] = ()
    soft: Sequence[SoftTask] = ()
    stretch: float = 1.0

    @property
    def converged(self) -> bool:
        """Every frame with a task is met, and there is one."""
        return set(self.statuses) <= set(MET) and Status.CONVERGED in self.statuses

    def summary(self) -> tuple[str, str]:
        """(status, sentence): of the first frames that are not met; when all are COLLISION or CONVERGED."""
        met = "the one frame is met" if len(self.frames) == 1 else f"all {len(self.frames)} frames are met"
        if self.converged and self.collisions:
            first = self.collisions[0]
            count = len({each.frame for each in self.collisions})
            at = f"frame {self.frames[first.frame]}"
            reason = f"{met}, {counted(count, 'collides', 'collide')}: {at}: {first.sentence()}"
            return str(Status.COLLISION), reason
        note = f"; {self.note}" if self.note else ""
        if self.converged:
            chosen = f", from {self.start}" if self.start else ""
            return str(Status.CONVERGED), f"{met}{chosen}{note}"
        if not self.failures:
            return str(Status.EMPTY), "no task has an influence at any of the frames"
        first = self.failures[0]
        counts = ", ".join(f"{count} {status}" for status, count in Counter(self.statuses).items())
        return str(first.diagnosis.status), f"{first.frames}: {first.diagnosis.reason} ({counts}){note}"

    def lines(self) -> list[str]:
        """A line for each segment of frames that are not met, each pair that collides, and each soft task."""
        return [
            *(failure.sentence() for failure in self.failures),
            *(f"frame {at}: {what}" for at, what in self.hits()),
            *(each.sentence() for each in self.soft),
        ]

    def hits(self) -> list[tuple[int, str]]:
        """The pairs that collide: the frame of the deepest penetration, and a sentence."""
        deepest = {each.links: each for each in sorted(self.collisions, key=lambda each: -each.value)}
        return [(int(self.frames[each.frame]), each.sentence()) for each in deepest.values()]

    def to_dict(self) -> dict:
        """Plain values for JSON; residuals of tasks without influence are null."""
        reasons = {failure.first: failure.diagnosis.reason for failure in self.failures}
        rows = []
        for i, (frame, status, q) in enumerate(zip(self.frames, self.statuses, self.Q, strict=True)):
            residuals = [
                None if np.isnan(own[0]) else dict(zip(names, own.tolist(), strict=False))
                for names, own in zip(self.parts, self.residuals[i], strict=True)
            ]
            row = {"frame": int(frame), "status": str(status), "residuals": residuals}
            row["q"] = self.model.joint_values(q)
            if self.criteria:
                row["costs"] = dict(zip(self.criteria, self.costs[i].tolist(), strict=True))
            if frame in reasons:
                row["reason"] = reasons[frame]
            rows.append(row)
        failures = [failure.to_dict() for failure in self.failures]
        violations = [each.to_dict() | {"frame": int(self.frames[each.frame])} for each in self.collisions]
        record = {"robot": self.model.name, "start": self.start or None, "frames": rows, "failures": failures}
        return record | {"violations": violations, "soft": [each.to_dict() for each in self.soft]}


def find_failures(segments: Sequence[BakedSegment], frames: Sequence[int]) -> Generator[float, None, list[Failure]]:
    """Yield the share done now and then; return the frames that are not met, those in a row that fail alike as one."""
    found: list[Failure] = []
    for segment, first, last, at in _runs(segments):
        missed = _missed(segment, first)
        parts: list[tuple[int, int, Diagnosis | None]] = [(first, last, None)]
        if segment.result.status[first] is Status.COLLISION:
            parts = _told_alike(segment.result, first, last)
        elif len(found) < DIAGNOSED and segment.result.status[first] is not Status.LIMIT:
            parts = yield from tried_out(segment.result, first, last, at / len(frames))
        for start, end, tried in parts:
            diagnosis = tried or _short_diagnosis(segment, start, end, missed)
            unnamed = [name for name in missed if tried and name not in tried.reason]
            if tried and tried.status is Status.MAX_ITERATIONS and unnamed:
                diagnosis = replace(tried, reason=f"{', '.join(missed)} not met: {tried.reason}")
            own = Failure(int(frames[at + start - first]), int(frames[at + end - first]), diagnosis, missed)
            before = found[-1] if found else None
            if before and _alike(before, own) and before.last == frames[at + start - first - 1]:
                deeper = max(before.diagnosis, diagnosis, key=lambda each: each.depth)
                found[-1] = replace(before, last=own.last, diagnosis=deeper)
            else:
                found.append(own)
    return [_beside_unmet(own, found, frames) for own in found]


def _beside_unmet(own: Failure, found: Sequence[Failure], frames: Sequence[int]) -> Failure:
    """What is too fast just before or after frames that are not met for another reason says so: there the joints jump,
    and more time does not help. Wheels that do not lead to a place at once do so later."""
    step = int(frames[1] - frames[0]) if len(frames) > 1 else 1
    others = [each for each in found if step in (own.first - each.last, each.first - own.last)]
    if not _is_too_fast(own) or all(_is_too_fast(each) or ROLLS in each.diagnosis.reason for each in others):
        return own
    reason = f"{own.diagnosis.reason}, beside frames that are not met at any speed"
    return replace(own, diagnosis=replace(own.diagnosis, reason=reason))


def _is_too_fast(failure: Failure) -> bool:
    return "too fast" in failure.diagnosis.reason


def statuses_of(segments: Sequence[BakedSegment], frames: Sequence[int], failures: Sequence[Failure]) -> list[Status]:
    """The status of every frame; of one that is not met, what was found out about it."""
    found = {
        frame: failure.diagnosis.status for failure in failures for frame in range(failure.first, failure.last + 1)
    }
    own = [status for segment in segments for status in segment.result.status]
    return [found.get(int(frame), status) for frame, status in zip(frames, own, strict=True)]


def tried_out(
    result: TrackResult, first: int, last: int, share: float
) -> Generator[float, None, list[tuple[int, int, Diagnosis | None]]]:
    """Frames of one status as parts that fail for the same reason, (first, last, why): what holds at both ends of a
    part is taken to hold inside, otherwise it is halved. None after TRIES."""
    known: dict[int, Diagnosis] = {}
    parts: list[tuple[int, int, Diagnosis | None]] = []
    pending = [(first, last)]
    while pending:
        start, end = pending.pop()
        if len(known) >= TRIES:
            parts.append((start, end, None))
            continue
        for frame in (start, end):
            if frame not in known:
                known[frame] = result.diagnosis(frame)
                yield share
        before = parts[-1][2] if parts else None
        if _words(known[start]) != _words(known[end]):
            middle = (start + end) // 2
            pending += [(middle + 1, end), (start, middle)]
        elif before and _words(before) == _words(known[start]):
            parts[-1] = (parts[-1][0], end, before)
        else:
            parts.append((start, end, known[start]))
    return parts


def _told_alike(result: TrackResult, first: int, last: int) -> list[tuple[int, int, Diagnosis | None]]:
    """Frames that collide, as parts of which the same is said, but for the numbers: those of the deepest."""
    parts: list[tuple[int, int, Diagnosis | None]] = []
    for _, group in itertools.groupby(range(first, last + 1), key=lambda i: _words(result.diagnosis(i))):
        own = list(group)
        parts.append((own[0], own[-1], max(map(result.diagnosis, own), key=lambda each: each.depth)))
    return parts


def _runs(segments: Sequence[BakedSegment]) -> list[tuple[BakedSegment, int, int, int]]:
    """(segment, first and last of its frames, the first counted over all) of frames in a row with the same status and
    the same tasks not met."""
    runs: list[tuple[BakedSegment, int, int, int]] = []
    done, last = 0, None
    for segment in segments:
        for i, status in enumerate(segment.result.status):
            key = None if status in MET else (id(segment), status, _missed(segment, i))
            if key is not None and key == last:
                runs[-1] = (*runs[-1][:2], i, runs[-1][3])
            elif key is not None:
                runs.append((segment, i, i, done + i))
            last = key
        done += len(segment.result)
    return runs


def _missed(segment: BakedSegment, frame: int) -> tuple[str, ...]:
    """Names of the tasks that are whole at a frame and not met."""
    result, tasks = segment.result, segment.plan.segment.tracker.tasks
    over = (result.residuals[frame] > segment.plan.segment.tracker.tolerance).any(axis=1)
    over[: len(segment.plan.counting)] &= segment.influence[frame] >= 1.0
    over &= np.equal(segment.plan.soft, 0.0)
    return tuple(task.name for task, is_over in zip(tasks, over, strict=True) if is_over)


def _short_diagnosis(segment: BakedSegment, first: int, last: int, missed: Sequence[str]) -> Diagnosis:
    """Diagnosis of frames of one status, without further solves."""
    short = [segment.result.frame(i).diagnosis for i in range(first, last + 1)]
    if short[0].status is not Status.LIMIT:
        return replace(short[0], reason=f"{', '.join(missed)} not met")
    joints = tuple(dict.fromkeys(name for each in short for name in each.joints))
    reason = f"too fast for the velocity or acceleration limits of {', '.join(joints)}"
    return segment.result.held_up(first, Diagnosis(Status.LIMIT, reason, joints=joints))


def _alike(one: Failure, other: Failure) -> bool:
    return (*_words(one.diagnosis), one.missed) == (*_words(other.diagnosis), other.missed)


def _words(diagnosis: Diagnosis) -> tuple[object, ...]:
    """What is said, but for the numbers."""
    return diagnosis.status, diagnosis.tasks, diagnosis.joints, _NUMBER.sub("", diagnosis.reason)
