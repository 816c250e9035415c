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
from ..solvers import Diagnosis, ExtendedJacobian, HierarchicalTracker, Status
from ..solvers.criteria import Criterion
from ..solvers.hierarchical_ik import part_names
from ..solvers.solve import is_plain
from ..solvers.starts import Leg, follow, follow_from_best
from ..solvers.tracking import Tracker, TrackResult
from .common import MET, FramesOperator, write_json
from .criterion_costs import costs_of_motion
from .curves import pose_held, refuse_unwritable, show_curves, write_curves, write_numbers
from .posture import bake_start
from .scene_criteria import enabled_criteria, settings_over
from .scene_targets import Targets, targets_over
from .scene_tasks import SolverTasks, enabled_tasks

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class BakeResult:
    """frames: scene frames. Q: (n, nq) as written. statuses: per frame. residuals: (n, k, 2) [m], [rad], NaN for a task
    without influence. failures: {index of the first frame of each stretch that is not met: why}. start: what the bake
    chose to start from, in words; empty when it was told.
    costs: (n, c) of the criteria by these names. parts: names of each task's residuals."""

    model: RobotModel
    frames: Sequence[int]
    Q: Array
    statuses: list[Status]
    residuals: Array
    failures: dict[int, Diagnosis]
    start: str
    costs: Array
    criteria: Sequence[str]
    parts: Sequence[tuple[str, ...]]

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
                None if np.isnan(own[0]) else dict(zip(names, own.tolist(), strict=False))
                for names, own in zip(self.parts, self.residuals[i], strict=True)
            ]
            row = {"frame": int(frame), "status": str(status), "residuals": residuals}
            row["q"] = self.model.joint_values(q)
            if self.criteria:
                row["costs"] = dict(zip(self.criteria, self.costs[i].tolist(), strict=True))
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
    criteria: Sequence[Criterion] | None = None,
) -> Generator[float, None, BakeResult]:
    """Yield the share of the work done (0..1) now and then; return what was written.

    A function of the scene: the robot's own curves play no part, nor does the present frame. The first frame is
    solved from `q0` (nq,), every other follows from the one before. Without q0 a start is chosen from which every frame
    is met, rest first; where tasks have levels or there are criteria, at rest. criteria: in place of the robot's own,
    whose costs are keyed. Nothing is written before the last step; a generator closed early leaves the scene as it was.
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
    plans = _plans(obj, tasks, targets, settings_over(obj, frames), criteria, dt)
    legs = [plan.leg for plan in plans]
    if q0 is None and all(isinstance(leg.tracker, Tracker) for leg in legs):
        found = yield from _scaled(_shares(follow_from_best(legs, hint, "rest", seed=seed), len(frames)), 0.5, 0.95)
        results, start = found.results, found.origin
    else:
        results = yield from _scaled(_shares(follow(legs, hint, seed=seed), len(frames)), 0.5, 0.95)
        start = "rest" if q0 is None else ""
    planned = {plan.leg.tracker.problem: plan for plan in plans}
    parts = [_Stretch(planned[result.problem], result) for result in results]
    failures = _failures(parts)
    written = write_curves(obj, frames, np.concatenate([part.result.q for part in parts]), new_action)
    costs = costs_of_motion(robot_model(obj), [(plan.leg, plan.criteria) for plan in plans], written, dt)
    if criteria is None:
        enabled = [item.path_from_id() for item in obj.robokin.criteria if item.enabled]
        for path, own in zip(enabled, np.moveaxis(costs, 1, 0), strict=True):
            for name, values in zip(("cost", "slope"), own.T, strict=True):
                write_numbers(obj, f"{path}.{name}", frames, values, "Criteria")
    show_curves(obj, scene.frame_current_final)
    return BakeResult(
        robot_model(obj),
        frames,
        written,
        [status for part in parts for status in part.result.status],
        np.concatenate([part.residuals(len(tasks)) for part in parts]),
        failures,
        start,
        costs[:, :, 0],
        [criterion.name for criterion in plans[0].criteria],
        _parts(plans, len(tasks)),
    )


@dataclass(frozen=True, eq=False)
class _Plan:
    """What to follow for as long as the same tasks and criteria count, equally much. counting: indices of the tasks."""

    counting: list[int]
    criteria: list[Criterion]
    leg: Leg


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Frames in a row of one plan."""

    plan: _Plan
    result: TrackResult

    def residuals(self, tasks: int) -> Array:
        residuals = np.full((len(self.result), tasks, 2), np.nan)
        residuals[:, self.plan.counting] = self.result.residuals[:, : len(self.plan.counting)]
        return residuals


def _plans(
    obj: bpy.types.Object,
    tasks: list,
    targets: Targets,
    settings: Array,
    criteria: Sequence[Criterion] | None,
    dt: float,
) -> list[_Plan]:
    """One for each change of influence, or of the weights and gains (n, c, 2) of criteria."""
    count, forms, mode = len(targets.T), SolverTasks(obj, tasks), obj.robokin.solver.mode
    # Tasks count against each other, so a common factor says nothing.
    influence = targets.influence / np.maximum(targets.influence.max(axis=1, keepdims=True), 1e-30)
    given = np.hstack((influence, settings.reshape(count, -1)))
    changes = np.flatnonzero((np.diff(given, axis=0) != 0.0).any(axis=1)) + 1
    plans = []
    for first, last in zip([0, *changes.tolist()], [*changes.tolist(), count], strict=True):
        own, wanted = forms.at(targets, first, influence[first])
        chosen = enabled_criteria(obj, settings[first]) if criteria is None else list(criteria)
        if mode == "EXTENDED" and chosen:
            wanted, asked = [*wanted, ExtendedJacobian(chosen)], []
        else:
            asked = chosen
        tracker: Tracker | HierarchicalTracker
        if asked or not is_plain(wanted):
            tracker = HierarchicalTracker(robot_model(obj), wanted, asked, dt)
            none = [None] * (len(wanted) - len(own))
            T = tracker.check_targets([[*each, *none] for each in forms.over(targets, range(first, last), own)])
        else:
            tracker, T = Tracker(robot_model(obj), wanted, dt), targets.T[first:last, own]
        plans.append(_Plan(own, chosen, Leg(tracker, T)))
    return plans


def _parts(plans: Sequence[_Plan], count: int) -> list[tuple[str, ...]]:
    """Names of the residuals of each task; none of one that never counts."""
    names: list[tuple[str, ...]] = [()] * count
    for plan in plans:
        for i, own in zip(plan.counting, part_names(plan.leg.tracker.tasks), strict=False):
            names[i] = own
    return names


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
