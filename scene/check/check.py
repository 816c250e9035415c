"""Limits, speeds, accelerations and tasks of the animation as it stands; nothing is moved."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...properties.task_kinds.tip_links import follow_renamed_bones
from ...robokin.arrays import Array
from ...robokin.units import counted, small_length
from ...scene.criteria.solver_criteria import root_gravity
from ...scene.tasks.ad_hoc import AdHocTask
from ...scene.tasks.root_frames import world_scale
from ...scene.tasks.solver_tasks import SolverTasks, are_hard, check_ad_hoc, enabled_tasks
from ...scene.tasks.targets import Targets, targets_over
from ...solvers import Status
from ...solvers.ik.tip_ik import is_plain
from ...solvers.motion.check import MotionCheck, check_motion, check_motion_steps
from ...solvers.motion.motion import Motion
from ...solvers.motion.rolled import side_slip
from ...solvers.motion.singularities import MotionSingularities
from ...solvers.progress import scaled
from ...solvers.velocity.task_levels import tolerances
from ..bake.report import MET
from ..bake.samples import sample_motion
from ..collisions import collisions_over
from ..contacts import contacts_over
from ..keyed_numbers import checked_by_frame, models_over, numbers_change
from ..singularities import singularities_of
from .rows import CheckRow, in_world, limit_rows, needs, task_rows, time_needed

SLIPS_ASIDE = 1e-5  # [m/s] along an axle that is reported
_CHUNK = 16  # frames between two reports of progress


@dataclass(frozen=True, eq=False)
class AnimationCheck:
    """frames: scene frames. statuses: per frame, of the tasks that are whole there. residuals: (n, k, 2) [m], [rad],
    NaN for a task that is not. parts: names of them. limits: the violations, whose `frame`
    is an index into `frames`.   missed: (n, k, 2) parts of tasks that are whole, not within their
    tolerances.   tasks, units:
    names of the tasks, units of their parts.   unseen: links whose collision meshes could not be read; None where
    collisions were not looked for.
    singularities: how near tools are to them, if that was asked for; they are warnings, and break no limit.
    side_slip: (wheeled bases,) [m/s] along their axles at most, by the curves at frames and half frames.
    world: as `world_scale` has it, for what is said; all else is in metres of the robot."""

    motion: Motion
    frames: Sequence[int]
    statuses: list[Status]
    residuals: Array
    parts: list[tuple[str, ...]]
    limits: MotionCheck
    missed: Array
    tasks: Sequence[str]
    units: Sequence[Sequence[str]]
    unseen: tuple[str, ...] | None
    singularities: MotionSingularities | None
    side_slip: Array
    world: float

    @property
    def passed(self) -> bool:
        met = all(status in MET for status in self.statuses)
        return met and not self.limits.violations

    def summary(self) -> str:
        """One sentence."""
        missed = [i for i, s in enumerate(self.statuses) if s not in MET]
        parts = [counted(len(self.frames), "frame")]
        if missed:
            first = missed[0]
            many = counted(len(missed), "misses a task", "miss a task")
            parts.append(f"{many}, the first {self.frames[first]} ({self.statuses[first]})")
            if len(self.frames) > 1 and not np.ptp(self.motion.q, axis=0).any():
                parts.append("the robot stands still")
        if self.limits.violations:
            worst = max(self.limits.violations, key=lambda v: (abs(v.value / v.limit) if v.limit else np.inf, -v.value))
            count = self.limits.frames_broken
            many, said = counted(count, "breaks a limit", "break a limit"), in_world(worst, self.world).sentence()
            parts.append(f"{many}, the worst at {self.frames[worst.frame]}: {said}")
            need = time_needed(self.limits.violations)
            if 1.0 < need < np.inf:
                parts.append(f"too fast: {needs(need)}")
        near = self.singularities.near if self.singularities else ()
        more = ""
        if near:
            worst = min(near, key=lambda each: each.value)
            count = len({each.frame for each in near})
            more = f"; {count} near a singularity, the nearest at {self.frames[worst.frame]} ({worst.joint})"
        if self.side_slip.max(initial=0.0) > SLIPS_ASIDE:
            more += (
                f"; wheels slip sideways at up to {small_length(self.world * self.side_slip.max())}/s between frames"
            )
        if self.unseen:
            more += f"; collisions not looked at, as meshes are not found: {', '.join(dict.fromkeys(self.unseen))}"
        if len(parts) > 1:
            return "; ".join(parts) + more
        tasked = any(status is not Status.EMPTY for status in self.statuses)
        apart = {None: ", no collision shapes", (): ", no collisions"}.get(self.unseen, "")
        return f"{parts[0]}: limits kept, {'tasks met' if tasked else 'no task'}{apart}{more}"

    def rows(self) -> list[CheckRow]:
        """The rows of the report, by frame."""
        missed = task_rows(self.frames, self.statuses, self.missed, self.residuals, self.tasks, self.units, self.world)
        broken = limit_rows(self.frames, self.limits.violations, self.world)
        near = limit_rows(self.frames, self.singularities.near, self.world) if self.singularities else []
        return sorted([*missed, *broken, *near], key=lambda row: row.first)

    def to_dict(self) -> dict:
        """Plain values for JSON; residuals of tasks that are not whole are null."""
        rows = []
        for frame, status, residuals, q in zip(self.frames, self.statuses, self.residuals, self.motion.q, strict=True):
            shown = [
                None if np.isnan(row[0]) else dict(zip(names, row.tolist(), strict=False))
                for names, row in zip(self.parts, residuals, strict=True)
            ]
            values = self.motion.model.joint_values(q)
            rows.append({"frame": int(frame), "status": str(status), "residuals": shown, "q": values})
        near: list[dict] = []
        if self.singularities:
            for i, row in enumerate(rows):
                row["singularities"] = self.singularities.row(i)
            near = [v.to_dict() | {"frame": int(self.frames[v.frame])} for v in self.singularities.near]
        violations = [v.to_dict() | {"frame": int(self.frames[v.frame])} for v in self.limits.violations]
        found = {"robot": self.motion.model.name, "frames": rows, "violations": violations, "warnings": near}
        if self.side_slip.size:
            found |= {"slip": self.limits.slip.max(axis=0).tolist(), "side_slip": self.side_slip.tolist()}
        return found


def check_steps(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    robot: Binding,
    frames: Sequence[int],
    ad_hoc: Sequence[AdHocTask] = (),
    tasks: Sequence[bpy.types.PropertyGroup] | None = None,
    efforts: bool = False,
    with_collisions: bool = True,
    singularity: float = 0.0,
    limits: Mapping[str, object] | None = None,
    tipping: bool = False,
) -> Generator[float, None, AnimationCheck]:
    """Yield the share of the work done (0..1) now and then; return what was found. Nothing changes.

    Speeds and accelerations are differences from frame to frame of the list; the robot is at rest before the first.
    ad_hoc: tasks besides the robot's own.   tasks: which of its own; None: all that are enabled.
    efforts: whether those of the drives are checked, under the scene's gravity.   with_collisions: for which frames of
    the scene may have to be visited.   singularity: a frame with a smaller singular value of a tool is near one; 0: it
    is not looked.   limits: "jerk", "power" and "tools" as `retime` takes them, too.   tipping: whether its zero-moment
    point is compared with what the robot stands on. Raises RobokinError.
    """
    if tasks is None:
        follow_renamed_bones(obj, robot)
        tasks = enabled_tasks(obj, robot)
    check_ad_hoc(obj, ad_hoc)
    motion = yield from scaled(sample_motion(scene, obj, frames, robot), 0.0, 0.3)
    reading = targets_over(scene, view_layer, obj, tasks, frames, ad_hoc, robot=robot)
    targets = yield from scaled(reading, 0.3, 0.6)
    forms = SolverTasks(obj, robot, tasks, ad_hoc)
    is_hard = np.append(are_hard(obj, tasks), np.ones(len(ad_hoc), bool))
    judged = yield from scaled(_task_statuses(forms, motion, targets, is_hard), 0.6, 0.9)
    collisions = None
    if with_collisions:
        collisions = yield from scaled(collisions_over(scene, view_layer, obj, frames, robot), 0.9, 1.0)
    gravity = root_gravity(obj, robot) if efforts or tipping or (limits and "power" in limits) else None
    stood = None
    if tipping and gravity is not None and gravity.any():
        stood = contacts_over(obj, robot, motion, tasks, targets, gravity)
    judge = partial(check_motion, float32=True, gravity=gravity, limits=limits, efforts=efforts)
    broken = judge(motion, collisions=collisions, support=stood)
    if numbers_change(obj):
        models = yield from scaled(models_over(scene, obj, frames, robot), 0.9, 0.95)

        def judged_part(part: Motion, span: slice) -> MotionCheck:
            return judge(part, support=None if stood is None else stood[span])

        broken = yield from scaled(checked_by_frame(broken, motion, models, judged_part), 0.95, 1.0)
    side = yield from scaled(_side_slip(scene, obj, frames, robot), 0.99, 1.0)
    return AnimationCheck(
        *(
            motion,
            frames,
            judged.statuses,
            judged.residuals,
            judged.parts,
            broken,
            judged.missed,
            forms.names,
            judged.units,
        ),
        tuple(collisions.left_out) if collisions else None,
        singularities_of(forms, motion, targets, singularity) if singularity > 0.0 else None,
        side,
        world_scale(obj, robot),
    )


def _side_slip(
    scene: bpy.types.Scene, obj: bpy.types.Object, frames: Sequence[int], robot: Binding
) -> Generator[float, None, Array]:
    if not robot.model.rolling_bases:
        return np.zeros(0)
    between = 0.5 * (np.asarray(frames[1:], float) + frames[:-1])
    motion = yield from sample_motion(scene, obj, np.sort([*frames, *between]).tolist(), robot)
    return side_slip(motion)


@dataclass(frozen=True, eq=False)
class _Judged:
    """What an `AnimationCheck` has judged."""

    statuses: list[Status]
    residuals: Array
    parts: list[tuple[str, ...]]
    missed: Array
    units: list[tuple[str, ...]]


def _task_statuses(
    forms: SolverTasks, motion: Motion, targets: Targets, is_hard: Array
) -> Generator[float, None, _Judged]:
    """Each frame is judged by the hard tasks that are whole at it: what those that fade ask for is known in a bake
    alone. is_hard: (tasks,) bool."""
    statuses = [Status.EMPTY] * len(motion)
    count = len(targets.readings)
    residuals = np.full((len(motion), count, 2), np.nan)
    parts: list[tuple[str, ...]] = [()] * count
    units: list[tuple[str, ...]] = [()] * count
    missed = np.zeros((len(motion), count, 2), bool)
    counting, group = np.unique((targets.influence >= 1.0) & is_hard, axis=0, return_inverse=True)
    for number, mask in enumerate(counting):
        frames = np.flatnonzero(group.ravel() == number)
        chosen, wanted = forms.at(targets, frames[0], mask.astype(float))
        own: Any = targets.T[:, chosen]
        if not is_plain(wanted):
            own = []
            for frame in range(len(motion)):
                own += forms.over(targets, [frame], chosen)
                if frame % _CHUNK == 0:
                    yield (number + 0.2 * frame / len(motion)) / len(counting)
        low, high = np.array([number + 0.2, number + 1.0]) / len(counting)
        found = yield from scaled(check_motion_steps(motion, wanted, own, float32=True), low, high)
        for i, task in zip(chosen, wanted, strict=True):
            parts[i] = tuple(part.name for part in task.parts)
            units[i] = tuple(part.unit for part in task.parts)
        over = found.residuals > tolerances(wanted) if wanted else np.zeros((len(motion), 0, 2), bool)
        for frame in frames:
            missed[frame, chosen] = over[frame]
            statuses[frame] = found.statuses[frame]
            residuals[frame, chosen] = found.residuals[frame]
    return _Judged(statuses, residuals, parts, missed, units)
