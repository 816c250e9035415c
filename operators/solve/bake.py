"""Bake: the tasks solved at every frame of a range, written as F-curves."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import bpy
import numpy as np

from ...properties.bridge import robot_model
from ...properties.frame_rate import frame_seconds
from ...properties.postures import parse_configuration, start_configuration
from ...properties.results.result_text import status_words, told
from ...properties.solver_settings import STARTS
from ...properties.tasks import follow_renamed_bones
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...scene.animation.curves import pose_held, refuse_unwritable, rounded, show_curves, write_curves, write_numbers
from ...scene.bake.plans import PlannedSegment, bake_plans, stretches_of
from ...scene.bake.report import BakeResult, find_failures, statuses_of
from ...scene.criteria.costs import costs_of_motion
from ...scene.criteria.solver_criteria import enabled_entries
from ...scene.tasks.given import AdHocTask
from ...scene.tasks.solver_tasks import check_given, enabled_tasks
from ...scene.tasks.targets import targets_over
from ...solvers import Status
from ...solvers.criteria import Criterion, criterion_names
from ...solvers.ik.problem import part_names
from ...solvers.progress import scaled
from ...solvers.tracking.result import TrackResult
from ...solvers.tracking.starts import follow, follow_from_best
from ..common import FramesOperator, RobotOperator, check_report
from ..handlers.scene_marks import motion_mark
from ..modal import ModalOperator
from ..posture.posture import bake_start, keep_start


def bake_steps(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    frames: Sequence[int],
    q0: Array | None,
    seed: int = 0,
    new_action: bool = False,
    criteria: Sequence[Criterion] | None = None,
    given: Sequence[AdHocTask] = (),
    use_own: bool = True,
) -> Generator[float, None, BakeResult]:
    """Yield the share of the work done (0..1) now and then; return what was written.

    A function of the scene: the robot's own curves play no part, nor does the present frame. The first frame is
    solved from `q0` (nq,), every other follows from the one before. Without q0 a start is chosen from which every frame
    is met, rest first. criteria: in place of the robot's own, whose costs are keyed. given: tasks besides the robot's
    own, or (not `use_own`) in place of them. Nothing is written before the last step; a generator closed early leaves
    the scene as it was. Raises RobokinError.
    """
    refuse_unwritable(scene, obj, new_action)
    follow_renamed_bones(obj)
    tasks = enabled_tasks(obj) if use_own else []
    check_given(obj, given)
    count = len(tasks) + len(given)
    if not count:
        raise RobokinError("there is no task to bake: add a target, or enable a task")
    hint = start_configuration(obj, "REST") if q0 is None else q0
    own = enabled_entries(obj) if criteria is None else []
    with pose_held(obj, hint):
        targets = yield from scaled(targets_over(scene, view_layer, obj, tasks, frames, given, own), 0.0, 0.4)
    step = int(frames[1] - frames[0]) if len(frames) > 1 else 1
    dt = step * frame_seconds(scene)
    plans = yield from scaled(bake_plans(obj, tasks, targets, criteria, dt, given), 0.4, 0.5)
    segments = [plan.segment for plan in plans]
    if q0 is None:
        search = follow_from_best(segments, hint, "rest", seed=seed)
        found = yield from scaled(_shares(search, len(frames)), 0.5, 0.9)
        results, start = found.results, found.origin
    else:
        steps = _shares(follow(segments, hint, seed=seed), len(frames))
        results, start = (yield from scaled(steps, 0.5, 0.9)), ""
    parts = stretches_of(plans, results)
    failures = yield from scaled(find_failures(parts, frames), 0.9, 0.95)
    Q = np.concatenate([part.result.q for part in parts])
    asked = [(plan.segment, plan.criteria) for plan in plans]
    costs = yield from scaled(costs_of_motion(robot_model(obj), asked, rounded(obj, Q), dt), 0.95, 1.0)
    written = write_curves(obj, frames, Q, new_action)
    for item, numbers in zip(own, np.moveaxis(costs, 1, 0), strict=criteria is None):
        path = item.path_from_id()
        for name, values in zip(("cost", "slope"), numbers.T, strict=True):
            write_numbers(obj, f"{path}.{name}", frames, values, "Criteria")
    show_curves(obj, scene.frame_current_final)
    obj.robokin.baked_frames = (frames[0], frames[-1])
    return BakeResult(
        robot_model(obj),
        frames,
        written,
        statuses_of(parts, frames, failures),
        np.concatenate([part.residuals(count) for part in parts]),
        failures,
        start,
        costs[:, :, 0],
        criterion_names(plans[0].criteria),
        _parts(plans, count),
    )


def _parts(plans: Sequence[PlannedSegment], count: int) -> list[tuple[str, ...]]:
    """Names of the residuals of each task; none of one that never counts."""
    names: list[tuple[str, ...]] = [()] * count
    for plan in plans:
        for i, own in zip(plan.counting, part_names(plan.segment.tracker.tasks), strict=False):
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


class ROBOKIN_OT_bake(ModalOperator, FramesOperator, bpy.types.Operator):
    """Solve the tasks at every frame and write the motion as keyframes (Esc stops and leaves everything as it was)"""

    bl_idname = "robokin.bake"
    bl_label = "Bake"

    start: bpy.props.EnumProperty(
        name="Start",
        description="The pose that the bake starts from",
        items=STARTS,
        default="PRESENT",
        options={"SKIP_SAVE"},
    )
    q0: bpy.props.StringProperty(
        name="Start Values",
        description="Joint values to start from, as JSON; in place of Start when given",
        options={"SKIP_SAVE"},
    )
    seed: bpy.props.IntProperty(
        name="Seed", description="Which restarts are drawn when the first attempt fails", min=0, options={"SKIP_SAVE"}
    )
    new_action: bpy.props.BoolProperty(name="New Action", description="Write into a new action", options={"SKIP_SAVE"})
    report_path: bpy.props.StringProperty(
        name="Report", description="Write the frames as JSON", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        check_report(self.report_path)
        settings = obj.robokin.solver
        frames = self.frames(context.scene, settings)
        start = "" if self.q0 else self.given("start", settings.start)
        if self.q0:
            q0 = parse_configuration(robot_model(obj), self.q0, "q0")
        else:
            q0 = bake_start(context.scene, obj, start)
        seed, new = self.given("seed", settings.seed), self.given("new_action", settings.new_action)
        result = yield from bake_steps(context.scene, context.view_layer, obj, frames, q0, seed, new)
        settings = obj.robokin.solver
        settings.bake_status, settings.bake_reason = result.summary()
        keep_start(obj, start, q0)
        settings.bake_mark = motion_mark(obj)
        rows = [(f.first, f.last, f.diagnosis.status, f.diagnosis.reason) for f in result.failures]
        show_rows(settings.bake_failures, rows)
        self.write_report(self.report_path, result.to_dict())
        kind = "INFO" if result.converged else "WARNING"
        said = f"{status_words(*result.summary())}: {told(context.scene, settings.bake_reason)}"
        self.report({kind}, f"{len(frames)} frames baked. {said}")


def show_rows(items: bpy.types.bpy_prop_collection, rows: Sequence[tuple[int, int, Status, str]]) -> None:
    """(first, last, status, reason) of frames in a row, where the panel reads them."""
    items.clear()  # in an override those of its file stay
    for i, (first, last, status, reason) in enumerate(rows):
        if i == len(items):
            items.add().name = str(i)  # by which Blender finds again what an override has changed
        item = items[i]
        item.first, item.last, item.status, item.reason = first, last, str(status), reason
    for item in items[len(rows) :]:
        item.status = ""


class ROBOKIN_OT_failure_show(RobotOperator, bpy.types.Operator):
    """Go to the first of frames that the last bake could not meet, or in which the last check found something"""

    bl_idname = "robokin.failure_show"
    bl_label = "Show Failed Frames"

    index: bpy.props.IntProperty(name="Index", description="Which stretch of frames, in their order", min=0)
    of: bpy.props.EnumProperty(
        name="Of",
        description="Whose frames",
        items=(("BAKE", "Bake", ""), ("CHECK", "Check", "")),
        options={"SKIP_SAVE"},
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        settings = obj.robokin.solver
        items = settings.check_failures if self.of == "CHECK" else settings.bake_failures
        failures = [item for item in items if item.status]
        if self.index >= len(failures):
            who = self.of.lower()
            raise RobokinError(f"the last {who} has {len(failures)} stretches of failed frames, no number {self.index}")
        context.scene.frame_set(failures[self.index].first)
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_bake, ROBOKIN_OT_failure_show)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
