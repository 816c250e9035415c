"""Frames that break a task or a limit, solved again; all others stay as they are."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...properties.bridge import Binding, binding
from ...properties.frame_rate import frame_seconds
from ...robokin import RobokinError, RobotModel, clamp, difference, integrate
from ...robokin.arrays import Array
from ...scene.animation.curves import pose_held, refuse_unwritable, rounded, show_curves, shown_by_keys
from ...scene.animation.stretch_keys import refuse_modified, write_stretch
from ...scene.bake.check import AnimationCheck, check_steps
from ...scene.bake.plans import bake_plans
from ...scene.bake.report import MET
from ...scene.tasks.solver_tasks import enabled_tasks
from ...scene.tasks.targets import Targets, targets_over
from ...solvers import Motion, check_motion
from ...solvers.progress import mapped, scaled
from ...solvers.tracking.result import joined

TAIL = 3  # kept frames after a stretch that it has to run into: position, velocity and acceleration
CHUNK = 50  # frames that are followed between two looks at the keyboard
MARGINS = (0, 2, 4, 8, 16, 32, 64, 128, 256)  # frames beside the broken ones that are solved again with them, in turn


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
        text = f"{self.before} frames broke a task or a limit, now {self.after}; solved again: {done}"
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
    it passes from one end to the other; where no task counts it stays near the curves. If it does not come in
    time, frames beside are solved again with it: as few as needed. Nothing is written before the last step. Raises
    RobokinError.
    """
    robot = binding(obj)
    refuse_unwritable(scene, obj, False, robot)
    refuse_modified(obj, robot)
    shown = shown_by_keys(obj, list(frames), robot)
    if shown is None:
        raise RobokinError(f"{obj.name!r} is moved by more than its keys (NLA, drivers, handlers): bake it first")
    found = yield from scaled(check_steps(scene, view_layer, obj, frames, with_collisions=False), 0.0, 0.3)
    work = _Work(obj, robot, frames, shown, found, frame_seconds(scene))
    tasks = enabled_tasks(obj, robot)
    with pose_held(obj, clamp(robot.model, shown[0]), robot):
        work.targets = yield from scaled(targets_over(scene, view_layer, obj, tasks, frames, robot=robot), 0.3, 0.5)
    work.tasks = tasks
    before, solved, kept, at = int(work.broken.sum()), [], [], 0
    while (first := work.next_broken(at)) is not None:
        last, share = work.end_of(first), 0.5 + 0.5 * first / len(frames)
        stretch = yield from mapped(work.solve(first, last), lambda _, done=share: done)
        if stretch is None:
            kept.append((int(frames[first]), int(frames[last])))
            at = last + 1
        else:
            solved.append(SolvedFrames(int(frames[stretch[0]]), int(frames[stretch[1]]), *stretch[2:]))
            at = stretch[1] + 1
    for each in solved:
        i, j = frames.index(each.first), frames.index(each.last)
        write_stretch(obj, robot, list(frames[i : j + 1]), work.Q[i : j + 1], work.Q[i - 1] if i else None)
    if solved:
        show_curves(obj, scene.frame_current_final, robot)
    return RepairResult(len(frames), before, int(work.broken.sum()), tuple(solved), tuple(kept))


class _Work:
    """The frames as they are by now. Q: (n, nq). missed: (n,) whole tasks that are. broken: (n,) these, and limits."""

    targets: Targets
    tasks: list[bpy.types.PropertyGroup]

    def __init__(
        self,
        obj: bpy.types.Object,
        robot: Binding,
        frames: Sequence[int],
        shown: Array,
        found: AnimationCheck,
        seconds: float,
    ) -> None:
        self.obj, self.robot, self.Q = obj, robot, shown.copy()
        self.model: RobotModel = robot.model_at(shown[0]) if robot.locked else robot.model
        self.dt = seconds * (int(frames[1] - frames[0]) if len(frames) > 1 else 1)
        self.missed = np.array([status not in MET for status in found.statuses], bool)
        self.broken = self.missed | self._beyond(shown)

    def next_broken(self, at: int) -> int | None:
        rest = np.flatnonzero(self.broken[at:])
        return at + int(rest[0]) if len(rest) else None

    def end_of(self, first: int) -> int:
        """The last broken frame of the stretch: the tail after it is sound."""
        last = first
        while (more := np.flatnonzero(self.broken[last + 1 : last + 1 + TAIL])).size:
            last += 1 + int(more[-1])
        return last

    def solve(self, first: int, last: int) -> Generator[float, None, tuple[int, int, int, int] | None]:
        """Yield between the tries; return (first and last that were solved again, how many around break something,
        before and after); None, and nothing changed, where no try is better."""
        best, count = None, len(self.Q)
        for margin in MARGINS:
            i, j = max(first - 1 - margin, 0), self.end_of(min(last + margin, count - 1))
            around = slice(max(i - 1, 0), min(j + 1 + TAIL, count))
            Q, missed = yield from self._followed(i, j)
            broken = missed | self._beyond(Q)
            score = int(broken[around].sum()), int((broken & ~missed)[around].sum())
            was = int(self.broken[around].sum())
            if score[0] < was and (best is None or score[0] < best[0]):
                best = score[0], (i, j, was, score[0]), Q, missed, broken
            elif best is not None and not score[1]:
                break  # more frames do not help: what is missed cannot be met
            if score[0] == 0 or (i == 0 and j == count - 1):
                break
        if best is None:
            return None
        _, stretch, self.Q, self.missed, self.broken = best
        return stretch

    def _beyond(self, Q: Array) -> Array:
        """(n,) frames that break a limit on position, velocity or acceleration, as they would be written."""
        motion = Motion.of(self.robot.model, self.dt * np.arange(len(Q)), Q)
        found = np.zeros(len(Q), bool)
        found[[violation.frame for violation in check_motion(motion, float32=True).violations]] = True
        return found

    def _followed(self, i: int, j: int) -> Generator[float, None, tuple[Array, Array]]:
        """Yield now and then; return (n, nq) with the frames i..j followed anew, and which frames miss a task then."""
        model, Q = self.model, self.Q
        end = min(j + 1 + TAIL, len(Q))
        targets = _part(self.targets, i, end)
        targets.influence[j + 1 - i :] = 0.0
        near = np.array([model.limits.clamp(q) for q in Q[i:end]])
        if targets.influence.any():
            near[: j + 1 - i] = self._passing(i, j)
        plans = yield from bake_plans(self.obj, self.robot, model, self.tasks, targets, [], self.dt, near=near)
        if i == 0:
            q, v = near[0], np.zeros(model.nv)
        else:
            q = Q[i - 1]
            v = self._velocity(i - 1) if i > 1 else np.zeros(model.nv)
        found, lost, before = [], [], None
        for plan in plans:
            segment = plan.segment
            segment.stand(q, v, before)
            rows = []
            for at in range(0, len(segment), CHUNK):
                yield at / len(segment)
                rows.append(segment.run(at, min(at + CHUNK, len(segment))))
            result = joined(rows)
            before, q, v = segment.tracker, segment.tracker.q, segment.tracker.v
            found.append(result.q)
            own = result.residuals[:, : len(plan.counting)] > segment.tracker.tolerance[: len(plan.counting)]
            lost.append((own.any(axis=2) & (plan.influence >= 1.0)).any(axis=1))
        new = np.array(Q)
        new[i : j + 1] = rounded(self.obj, np.concatenate(found)[: j + 1 - i], self.robot)
        missed = self.missed.copy()
        missed[i : j + 1] = np.concatenate(lost)[: j + 1 - i]
        return new, missed

    def _passing(self, i: int, j: int) -> Array:
        """(j + 1 - i, nq) from the frame before to the one after, with the velocities there: cubic in time."""
        model, Q, count = self.model, self.Q, len(self.Q)
        if i == 0 or j == count - 1:
            rest = Q[i - 1] if i else Q[min(j + 1, count - 1)]
            return np.tile(model.limits.clamp(rest), (j + 1 - i, 1))
        first, last, steps = Q[i - 1], Q[j + 1], j + 2 - i
        away = difference(model, first, last)
        starts = self._velocity(i - 1) if i > 1 else np.zeros(model.nv)
        ends = self._velocity(j + 2) if j + 2 < count else np.zeros(model.nv)
        s = np.arange(1, steps)[:, None] / steps
        shape = (3.0 - 2.0 * s) * s**2 * away
        shape += steps * self.dt * ((s - 2.0) * s**2 + s) * starts + steps * self.dt * (s - 1.0) * s**2 * ends
        return np.array([model.limits.clamp(integrate(model, first, each)) for each in shape])

    def _velocity(self, i: int) -> Array:
        """(nv,) from the frame before to frame i."""
        return difference(self.model, self.Q[i - 1], self.Q[i]) / self.dt


def _part(targets: Targets, i: int, end: int) -> Targets:
    """The targets of the frames from i to before `end`."""
    readings = [
        replace(
            each,
            T=each.T[i:end],
            surface=None if each.surface is None else each.surface[i:end],
            up=each.up[i:end],
            numbers={name: values[i:end] for name, values in each.numbers.items()},
        )
        for each in targets.readings
    ]
    return Targets(readings, targets.influence[i:end].copy(), targets.settings[i:end])
