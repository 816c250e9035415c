"""Frames that break a task or a limit, solved again; all others stay as they are."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import bpy

from ...properties.bridge import binding
from ...properties.frame_rate import frame_seconds
from ...robokin import RobokinError, clamp
from ...robokin.units import counted
from ...scene.animation.curves import pose_held, refuse_unwritable, show_curves, shown_by_keys
from ...scene.animation.stretch_keys import bake_modifiers, write_stretch
from ...scene.animation.undone import whole_or_undone
from ...scene.bake.report import MET
from ...scene.check.check import check_steps
from ...scene.criteria.solver_criteria import enabled_entries, write_costs
from ...scene.tasks.solver_tasks import are_hard, enabled_tasks
from ...scene.tasks.targets import targets_over
from ...solvers.progress import mapped, scaled
from ..collisions import avoids_collisions, checked_collisions, collisions_over
from ..keyed_numbers import models_over, numbers_change
from .attempts import TAIL, Repair


@dataclass(frozen=True)
class SolvedFrames:
    """Frames that were solved again. before, after: how many of them and of those beside break something."""

    first: int
    last: int
    before: int
    after: int


@dataclass(frozen=True)
class RepairResult:
    """frames: how many were looked at. before, after: frames that miss a task or break a limit. solved: what was solved
    again. kept: (first, last) broken frames that are as they were, since nothing better was found."""

    frames: int
    before: int
    after: int
    solved: tuple[SolvedFrames, ...]
    kept: tuple[tuple[int, int], ...]

    def summary(self) -> str:
        """One line."""
        if not self.before:
            return "no frame misses a task or breaks a limit"
        done = ", ".join(_span(each.first, each.last) for each in self.solved) or "none"
        text = f"{counted(self.before, 'frame')} broke a task or a limit, now {self.after}; solved again: {done}"
        if self.kept:
            text += f"; as before: {', '.join(_span(*each) for each in self.kept)}"
        return text

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        solved = [
            {"frames": [each.first, each.last], "broken_before": each.before, "broken_after": each.after}
            for each in self.solved
        ]
        own = {"frames": self.frames, "broken_before": self.before, "broken_after": self.after}
        return {**own, "solved": solved, "kept": [list(each) for each in self.kept]}


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def repair_steps(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, obj: bpy.types.Object, frames: Sequence[int]
) -> Generator[float, None, RepairResult]:
    """Yield the share of the work done (0..1) now and then; return what was written.

    Each stretch of frames that miss a task or break a limit on position, velocity or acceleration is followed anew:
    from the frame before it, with the velocity there, into the frames after it. Where the tasks leave the robot free,
    its criteria lead it as in a bake; where it has none, or does not come back in time with them, it passes from one
    end to the other; where no task counts it stays near the curves. If it does not come in time, frames beside are
    solved again with it: as few as needed. A robot that avoids collisions does so here, and frames at which it is in
    something are solved again, too. Soft tasks hold nothing. Nothing is written before the last step. Raises
    RobokinError.
    """
    robot = binding(obj)
    refuse_unwritable(scene, obj, False, robot)
    shown = shown_by_keys(obj, list(frames), robot)
    if shown is None:
        raise RobokinError(f"{obj.name!r} is moved by more than its keys (NLA, drivers, handlers): bake it first")
    found = yield from scaled(check_steps(scene, view_layer, obj, robot, frames, with_collisions=False), 0.0, 0.3)
    tasks, entries = enabled_tasks(obj, robot), enabled_entries(obj)
    collisions, models = None, None
    with pose_held(obj, clamp(robot.model, shown[0]), robot):
        reading = targets_over(scene, view_layer, obj, tasks, frames, criteria=entries, robot=robot)
        targets = yield from scaled(reading, 0.3, 0.45)
        targets = replace(targets, influence=targets.influence * are_hard(obj, tasks))
        if avoids_collisions(obj):
            collisions = yield from scaled(collisions_over(scene, view_layer, obj, frames, robot), 0.45, 0.5)
            collisions = checked_collisions(obj, collisions)
        if numbers_change(obj):
            models = yield from scaled(models_over(scene, obj, frames, robot), 0.5, 0.5)
    dt = frame_seconds(scene) * (int(frames[1] - frames[0]) if len(frames) > 1 else 1)
    missed = [status not in MET for status in found.statuses]
    work = Repair(obj, robot, shown, dt, tasks, targets, missed, collisions, models)
    before, solved, kept, at = int(work.broken.sum()), [], [], 0
    while (first := work.next_broken(at)) is not None:
        last, share = work.end_of(first), 0.5 + 0.5 * first / len(frames)
        stretch = yield from mapped(work.solve(first, last), lambda _, done=share: done)
        if stretch is None:
            kept.append((int(frames[first]), int(frames[last])))
            at = last + 1
        else:
            solved.append(SolvedFrames(int(frames[stretch[0]]), int(frames[stretch[1]]), *stretch[2:]))
            at = max(at, stretch[1] + 1)
    costs = (yield from mapped(work.costs(), lambda _: 1.0)) if entries and solved else None
    span = int(frames[0]), int(frames[-1])
    if solved:
        with whole_or_undone(obj):
            bake_modifiers(obj, robot, *span)
            for each in solved:
                i, j = frames.index(each.first), frames.index(each.last)
                beside = work.Q[i - 1] if i else None
                write_stretch(obj, work.robot, list(frames[i : j + 1]), work.Q[i : j + 1], beside, span)
                if costs is not None:
                    changed = slice(i, j + TAIL)
                    write_costs(obj, entries, frames[changed], costs[changed])
        show_curves(obj, scene.frame_current_final, robot)
    return RepairResult(len(frames), before, int(work.broken.sum()), tuple(solved), tuple(kept))
