"""What a motion remembers of its tasks from frame to frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...robokin.arrays import Array
from ..kinematics.state import State
from ..tasks import Task
from ..tasks.influence import is_partial
from ..tasks.protocols import Displacement, HistoryTask, StartRelativeTask, advance_target, resolve_target


@dataclass(frozen=True, eq=False)
class MotionMemory:
    """origins: where tasks began to count.   without: the states of the motions without them, of those that are neither
    whole nor out; None: without all of these, where there are several.   targets: of the frame before."""

    origins: Mapping[Task, State] = field(default_factory=dict)
    without: Mapping[Task | None, Array] = field(default_factory=dict)
    targets: Mapping[Task, Any] = field(default_factory=dict)

    def begun(self, tasks: Sequence[Task], shares: Array, here: Callable[[], State]) -> MotionMemory:
        """The memory, with tasks that count from now on beginning here."""
        counting = [task for task, share in zip(tasks, shares.tolist(), strict=True) if share]
        if len(counting) == len(self.origins) and all(task in self.origins for task in counting):
            return self
        state = here()
        return replace(self, origins={task: self.origins.get(task, state) for task in counting})

    def resolved(self, tasks: Sequence[Task], targets: Sequence[Any]) -> list[Any]:
        """Targets of the next frame, resolved from the start and advanced from the frame before."""
        found = []
        for task, target in zip(tasks, targets, strict=True):
            started = resolve_target(task, self.origins[task], target) if task in self.origins else target
            found.append(advance_target(task, started, self.targets[task]) if task in self.targets else started)
        return found

    def resolved_all(self, tasks: Sequence[Task], frames: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """Targets of each of these frames, of which more than one come only where none depends on the one before."""
        if not any(isinstance(task, StartRelativeTask | HistoryTask) for task in tasks):
            return frames
        return [self.resolved(tasks, targets) for targets in frames]

    def reached(
        self,
        tasks: Sequence[Task],
        targets: Sequence[Any],
        moved: Callable[[], Displacement],
        without: Mapping[Task | None, Array],
    ) -> MotionMemory:
        """After a frame. moved: what it was."""
        known = dict(zip(tasks, targets, strict=True))
        going = [task for task in tasks if isinstance(task, HistoryTask)]
        if going:
            whole = moved()
            known |= {task: task.reached(whole, known[task]) for task in going}
        return replace(self, without=without, targets=known)


def depends_on_frames_before(tasks: Sequence[Task], shares: Array) -> bool:
    """Whether what tasks of these influences ask for depends on where the frames before led."""
    shared = zip(tasks, shares.tolist(), strict=True)
    return any(is_partial(share) or (share and isinstance(task, HistoryTask)) for task, share in shared)
