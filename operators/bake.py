"""Bake: the tasks solved at every frame of a range, written as F-curves."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..properties.active_robot import active_robot
from ..properties.bridge import robot_model
from ..properties.postures import parse_configuration, start_configuration
from ..properties.solver_settings import STARTS
from ..robokin import RobokinError, RobotModel
from ..solvers import Diagnosis, IKProblem, Status
from ..solvers.starts import Leg, follow, follow_from_best
from ..solvers.tracking import Tracker, TrackResult
from .common import MET, FramesOperator, write_json
from .curves import pose_held, refuse_unwritable, show_curves, write_curves
from .posture import bake_start
from .scene_targets import Targets, targets_over
from .scene_tasks import SolverTasks, enabled_tasks

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class BakeResult:
    """frames: scene frames. Q: (n, nq) as written. statuses: per frame. residuals: (n, k, 2) [m], [rad], NaN for a task
    without influence. failures: {index of the first frame of each stretch that is not met: why}. start: what the bake
    chose to start from, in words; empty when it was told."""

    model: RobotModel
    frames: Sequence[int]
    Q: Array
    statuses: list[Status]
    residuals: Array
    failures: dict[int, Diagnosis]
    start: str

    @property
    def converged(self) -> bool:
        """Every frame with a task is met, and there is one."""
        return set(self.statuses) <= set(MET) and Status.CONVERGED in self.statuses

    def summary(self) -> tuple[str, str]:
        """(status, sentence): of the first frame that is not met; CONVERGED when all are."""
        missed = [i for i, status in enumerate(self.statuses) if status not in MET]
        if self.converged:
            chosen = f", from {self.start}" if self.start else ""
            return str(Status.CONVERGED), f"all {len(self.frames)} frames are met{chosen}"
        if not missed:
            return str(Status.EMPTY), "no task has an influence at any of the frames"
        first = self.failures[missed[0]]
        counts = ", ".join(f"{count} {status}" for status, count in Counter(self.statuses).items())
        return str(first.status), f"from frame {self.frames[missed[0]]}: {first.reason} ({counts})"

    def to_dict(self) -> dict:
        """Plain values for JSON; residuals of tasks without influence are null."""
        rows = []
        for i, (frame, status, q) in enumerate(zip(self.frames, self.statuses, self.Q, strict=True)):
            residuals = [
                None if np.isnan(p) else {"position": float(p), "orientation": float(r)} for p, r in self.residuals[i]
            ]
            row = {"frame": int(frame), "status": str(status), "residuals": residuals}
            row["q"] = self.model.joint_values(q)
            if i in self.failures:
                row["reason"] = self.failures[i].reason
            rows.append(row)
        return {"robot": self.model.name, "start": self.start or None, "frames": rows}


def bake_steps(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    frames: Sequence[int],
    q0: Array | None,
    seed: int = 0,
    new_action: bool = False,
) -> Generator[float, None, BakeResult]:
    """Yield the share of the work done (0..1) now and then; return what was written.

    A function of the scene: the robot's own curves play no part, nor does the present frame. The first frame is
    solved from `q0` (nq,), every other follows from the one before. Without q0 a start is chosen from which every frame
    is met, rest first. Nothing is written before the last step; a generator closed early leaves the scene as it was.
    Raises RobokinError.
    """
    refuse_unwritable(scene, obj, new_action)
    tasks = enabled_tasks(obj)
    if not tasks:
        raise RobokinError("EMPTY: there is no task to bake (add a target, or enable a task)")
    hint = start_configuration(obj, "REST") if q0 is None else q0
    with pose_held(obj, hint):
        targets = yield from _scaled(targets_over(scene, view_layer, obj, tasks, frames), 0.0, 0.5)
    step = int(frames[1] - frames[0]) if len(frames) > 1 else 1
    dt = step * scene.render.fps_base / scene.render.fps
    counting, legs = _legs(obj, tasks, targets, dt)
    if q0 is None:
        found = yield from _scaled(_shares(follow_from_best(legs, hint, "rest", seed=seed), len(frames)), 0.5, 0.95)
        results, start = found.results, found.origin
    else:
        results = yield from _scaled(_shares(follow(legs, q0, seed=seed), len(frames)), 0.5, 0.95)
        start = ""
    parts = [_Stretch(counting[result.problem], result) for result in results]
    failures = _failures(parts)
    written = write_curves(obj, frames, np.concatenate([part.result.q for part in parts]), new_action)
    show_curves(obj, scene.frame_current_final)
    return BakeResult(
        robot_model(obj),
        frames,
        written,
        [status for part in parts for status in part.result.status],
        np.concatenate([part.residuals(len(tasks)) for part in parts]),
        failures,
        start,
    )


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Frames in a row with the same tasks counting, equally much."""

    counting: list[int]
    result: TrackResult

    def residuals(self, tasks: int) -> Array:
        residuals = np.full((len(self.result), tasks, 2), np.nan)
        residuals[:, self.counting] = self.result.residuals
        return residuals


def _legs(
    obj: bpy.types.Object, tasks: list, targets: Targets, dt: float
) -> tuple[dict[IKProblem, list[int]], list[Leg]]:
    """What to follow, a leg for each change of influence; and which tasks count in the problem of each leg."""
    model, count, forms = robot_model(obj), len(targets.T), SolverTasks(obj, tasks)
    # Tasks count against each other, so a common factor says nothing.
    influence = targets.influence / np.maximum(targets.influence.max(axis=1, keepdims=True), 1e-30)
    changes = np.flatnonzero((np.diff(influence, axis=0) != 0.0).any(axis=1)) + 1
    counting: dict[IKProblem, list[int]] = {}
    legs: list[Leg] = []
    for first, last in zip([0, *changes.tolist()], [*changes.tolist(), count], strict=True):
        own, wanted = forms.at(targets, first, influence[first])
        leg = Leg(Tracker(model, wanted, dt), targets.T[first:last, own])
        counting[leg.tracker.problem] = own
        legs.append(leg)
    return counting, legs


def _shares(steps: Generator[list[TrackResult], None, Any], frames: int) -> Generator[float, None, Any]:
    """The same steps, as the share of the frames that is done; it begins anew with every start tried."""
    while True:
        try:
            results = next(steps)
        except StopIteration as done:
            return done.value
        yield sum(map(len, results)) / frames


def _failures(stretches: list[_Stretch]) -> dict[int, Diagnosis]:
    """Why, for the first frame of each stretch of frames with the same failure."""
    found: dict[int, Diagnosis] = {}
    index, last = 0, Status.CONVERGED
    for stretch in stretches:
        for i, status in enumerate(stretch.result.status):
            if status not in MET and status is not last:
                found[index] = stretch.result.diagnosis(i)
            index, last = index + 1, status
    return found


def _scaled(steps: Generator[float, None, Any], low: float, high: float) -> Generator[float, None, Any]:
    """The same steps, their 0..1 shown as low..high."""
    while True:
        try:
            share = next(steps)
        except StopIteration as done:
            return done.value
        yield low + share * (high - low)


class ROBOKIN_OT_bake(FramesOperator, bpy.types.Operator):
    """Solve the tasks at every frame and write the motion as keyframes (Esc stops and leaves everything as it was)"""

    bl_idname = "robokin.bake"
    bl_label = "Bake"

    start: bpy.props.EnumProperty(
        name="Start", description="The pose that the bake starts from", items=STARTS, options={"SKIP_SAVE"}
    )
    q0: bpy.props.StringProperty(
        name="Start Values", description="Joint values to start from, as JSON; in place of Start when given"
    )
    seed: bpy.props.IntProperty(
        name="Seed", description="Which sequence of restarts is tried", min=0, options={"SKIP_SAVE"}
    )
    new_action: bpy.props.BoolProperty(name="New Action", description="Write into a new action", options={"SKIP_SAVE"})
    report_path: bpy.props.StringProperty(name="Report", description="Write the frames as JSON", subtype="FILE_PATH")

    _at_once = 0.2  # seconds of work before the bake goes modal
    _slice = 0.05  # seconds of work between two looks at the keyboard

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        for _ in self._begin(context, obj):
            pass
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        self._steps = self._begin(context, active_robot(context))
        outcome = self._work(context, self._at_once)
        if outcome == {"RUNNING_MODAL"}:
            context.window_manager.progress_begin(0, 100)
            self._timer = context.window_manager.event_timer_add(0.01, window=context.window)
            context.window_manager.modal_handler_add(self)
        return outcome

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC" and event.value == "PRESS":
            self._steps.close()
            self._end(context)
            self.report({"INFO"}, "Bake cancelled: nothing was written")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        outcome = {"CANCELLED"}
        try:
            outcome = self._work(context, self._slice)
        finally:
            if outcome != {"RUNNING_MODAL"}:
                self._end(context)
        return outcome

    def cancel(self, context: bpy.types.Context) -> None:
        self._steps.close()
        self._end(context)

    def _work(self, context: bpy.types.Context, seconds: float) -> set[str]:
        """Go on for some time."""
        until = time.perf_counter() + seconds
        try:
            for share in self._steps:
                if time.perf_counter() > until:
                    context.window_manager.progress_update(100 * share)
                    context.workspace.status_text_set(f"Baking {share:.0%}   Esc: stop, write nothing")
                    return {"RUNNING_MODAL"}
        except RobokinError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def _end(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)

    def _begin(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        settings = obj.robokin.solver
        frames = self.frames(context.scene, settings)
        if self.q0:
            q0 = parse_configuration(robot_model(obj), self.q0, "q0")
        else:
            q0 = bake_start(obj, self.given("start", settings.start))
        seed, new = self.given("seed", settings.seed), self.given("new_action", settings.new_action)
        result = yield from bake_steps(context.scene, context.view_layer, obj, frames, q0, seed, new)
        settings.bake_status, settings.bake_reason = result.summary()
        if self.report_path:
            write_json(self.report_path, result.to_dict())
        kind = "INFO" if result.converged else "WARNING"
        self.report({kind}, f"{len(frames)} frames baked: {settings.bake_status}, {settings.bake_reason}")


CLASSES = (ROBOKIN_OT_bake,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
