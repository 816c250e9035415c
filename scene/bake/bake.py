"""The tasks solved at every frame of a range, written as F-curves."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...properties.bridge import Binding, nearest_within_limits, read_configuration
from ...properties.frame_rate import frame_seconds
from ...properties.task_kinds.tip_links import follow_renamed_bones
from ...robokin import RobokinError, RobotModel, clamp
from ...robokin.arrays import Array
from ...robokin.collision.model import CollisionModel
from ...robokin.structure.locking import locked_model
from ...robokin.structure.narrow_limits import with_narrowest_limits
from ...solvers import ClearanceTask
from ...solvers.criteria import criterion_names
from ...solvers.ik.problem import part_names
from ...solvers.motion.collisions import collision_violations
from ...solvers.motion.motion import Motion
from ...solvers.progress import mapped, scaled
from ...solvers.tracking.precedence.best_start import follow_in_order_from_best
from ...solvers.tracking.precedence.standing_aside import follow_in_order
from ...solvers.tracking.result import TrackResult
from ..animation.curves import (
    pose_held,
    refuse_unwritable,
    rounded,
    sample_configurations,
    show_curves,
    write_curves,
)
from ..collisions import avoids_collisions, clearance_of, collisions_over
from ..criteria.costs import costs_of_motion
from ..criteria.solver_criteria import enabled_entries, root_gravity, write_costs
from ..keyed_numbers import models_over, numbers_change
from ..tasks.solver_tasks import check_ad_hoc, enabled_tasks
from ..tasks.targets import Targets, targets_over
from .choices import BakeChoices
from .plans import BakedSegment, PlannedSegment, bake_plans, segments_of
from .report import BakeResult, find_failures, statuses_of
from .retime import refuse_later_keys
from .start import with_fades
from .traversal import traversal_steps
from .whole import (
    come_to_rest,
    is_too_fast,
    rest_segment,
    soft_tasks,
    soft_weights,
    task_names,
    time_note,
    tracked_frames,
    whole_motion,
    whole_note,
    with_time,
)


@dataclass(frozen=True, eq=False)
class _Inputs:
    """What a bake reads of the scene before it follows. weights: of the tasks in a whole motion.   hint: (nq,) where it
    starts, or looks for a start.   animation: (n, nq) what the robot's curves show, where a cost asks for it."""

    model: RobotModel
    tasks: Sequence[bpy.types.PropertyGroup]
    weights: Sequence[float]
    hint: Array
    criteria: Sequence[bpy.types.PropertyGroup]
    targets: Targets
    collisions: CollisionModel | None
    clearance: ClearanceTask | None
    animation: Array | None
    note: str


def bake_steps(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    robot: Binding,
    choices: BakeChoices,
) -> Generator[float, None, BakeResult]:
    """Yield the share of the work done (0..1) now and then; return what was written.

    A function of the scene: the robot's own curves play no part, nor does the present frame. The first frame is
    solved from the start, every other follows from the one before. Joints with a padlock stay where they are.
    Nothing is written before the last step; a generator closed early leaves the scene as it was. Raises RobokinError.
    """
    if choices.past is not None:
        return (yield from traversal_steps(scene, view_layer, obj, robot, choices, choices.past))
    inputs = yield from scaled(_read(scene, view_layer, obj, robot, choices), 0.0, 0.4)
    dt, whole, note = choices.step * frame_seconds(scene), choices.whole, inputs.note
    plans, parts, start = yield from scaled(_follow(obj, robot, choices, inputs, dt), 0.4, 0.6)
    if whole is not None:
        frames, read_at = choices.frames, choices.read_at
        is_late = whole.frees_time and is_too_fast([tracked_frames(part) for part in parts], frames, read_at)
        if not is_late:
            is_fixed, gravity = choices.q0 is not None, root_gravity(obj, robot)
            steps = whole_motion(inputs.model, parts, whole, inputs.animation, is_fixed, gravity)
            parts = yield from scaled(steps, 0.6, 0.9)
        if whole.frees_time:
            again = with_time(choices, whole, None if is_late else parts[0].result.dt / dt)
            refuse_later_keys(obj, robot, round(read_at[-1]), again.frames[-1])
            return (yield from scaled(bake_steps(scene, view_layer, obj, robot, again), 0.6, 1.0))
        span = frame_seconds(scene) * (read_at[-1] - read_at[0])
        time = "" if choices.moments is None else time_note(dt * (len(frames) - 1), span)
        note = "; ".join(filter(None, (time, whole_note(parts, whole.cost if time else None), note)))
    written = yield from scaled(_write(scene, obj, robot, choices, inputs, plans, parts, dt), 0.9, 1.0)
    return replace(written, start=start, note=note)


def _read(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    robot: Binding,
    choices: BakeChoices,
) -> Generator[float, None, _Inputs]:
    """Yield the share done; raises RobokinError."""
    ad_hoc, read_at, whole = choices.ad_hoc, choices.read_at, choices.whole
    refuse_unwritable(scene, obj, choices.new_action, robot)
    follow_renamed_bones(obj, robot)
    tasks = enabled_tasks(obj, robot) if choices.use_own else []
    check_ad_hoc(obj, ad_hoc)
    weights = [] if whole is None else soft_weights(tasks, ad_hoc, whole.soft)
    if not tasks and not ad_hoc:
        raise RobokinError("there is no task to bake: add a target, or enable a task")
    model = robot.model_at(read_configuration(obj, robot))
    hint = nearest_within_limits(robot.model) if choices.q0 is None else choices.q0
    if robot.locked:
        hint = clamp(model, hint)
    own = enabled_entries(obj) if choices.criteria is None else []
    animation, note = None, ""
    with pose_held(obj, hint, robot):
        reading = targets_over(scene, view_layer, obj, tasks, read_at, ad_hoc, own, robot=robot)
        targets = yield from scaled(reading, 0.0, 0.95)
        collisions = yield from scaled(collisions_over(scene, view_layer, obj, read_at, robot), 0.95, 1.0)
        if numbers_change(obj):
            others = yield from scaled(models_over(scene, obj, read_at, robot), 1.0, 1.0)
            model = with_narrowest_limits(robot.model, others)
            model = locked_model(model, robot.locked, read_configuration(obj, robot)) if robot.locked else model
            note = "limits are animated: the narrowest of these frames are kept"
    if whole is not None and "animation" in whole.words:
        animation = yield from scaled(sample_configurations(scene, obj, read_at, robot), 1.0, 1.0)
    clearance = clearance_of(obj, robot, collisions) if avoids_collisions(obj, choices.avoid) else None
    return _Inputs(model, tasks, weights, hint, own, targets, collisions, clearance, animation, note)


def _follow(
    obj: bpy.types.Object, robot: Binding, choices: BakeChoices, inputs: _Inputs, dt: float
) -> Generator[float, None, tuple[list[PlannedSegment], list[BakedSegment], str]]:
    """Yield the share done; return the plans, what was followed frame by frame, and the chosen start in words."""
    own = inputs.model, inputs.tasks, inputs.targets, choices.criteria, dt, choices.ad_hoc
    is_whole = choices.whole is not None
    planning = bake_plans(obj, robot, *own, is_whole, clearance=inputs.clearance, soft=inputs.weights)
    plans = yield from scaled(planning, 0.0, 0.5)
    segments = [plan.segment for plan in plans]

    def followed(results: list[TrackResult]) -> float:
        return sum(map(len, results)) / len(choices.frames)  # begins anew with every start tried

    if choices.q0 is None:
        search = follow_in_order_from_best(segments, inputs.hint, "rest", seed=choices.seed)
        found = yield from scaled(mapped(search, followed), 0.5, 1.0)
        return plans, segments_of(plans, found.results), found.origin
    segments[0] = with_fades(obj, robot, segments[0], inputs.hint)
    steps = follow_in_order(segments, inputs.hint, seed=choices.seed)
    return plans, segments_of(plans, (yield from scaled(mapped(steps, followed), 0.5, 1.0))), ""


def _write(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    robot: Binding,
    choices: BakeChoices,
    inputs: _Inputs,
    plans: Sequence[PlannedSegment],
    parts: Sequence[BakedSegment],
    dt: float,
) -> Generator[float, None, BakeResult]:
    """Yield the share done; then write the curves, and return what came of it."""
    frames, step, read_at = choices.frames, choices.step, choices.read_at
    failures = yield from scaled(find_failures(parts, frames), 0.0, 0.5)
    Q = np.concatenate([part.result.q for part in parts])
    preferences = [(plan.segment, plan.criteria) for plan in plans]
    rest = range(frames[-1] + step, round(read_at[-1]) + 1, step)
    if rest:
        standing = rest_segment(inputs.model, Q[-1], len(rest), dt, inputs.clearance, len(read_at))
        preferences.append((standing, plans[-1].criteria))
        Q = np.concatenate((Q, (yield from scaled(come_to_rest(standing, rounded(obj, Q, robot), dt), 0.5, 0.5))))
    shown = rounded(obj, Q, robot)
    costs = yield from scaled(costs_of_motion(robot.model, preferences, shown, dt), 0.5, 1.0)
    motion = Motion.of(robot.model, dt * np.arange(len(frames)), shown[: len(frames)])
    hits = collision_violations(motion, inputs.collisions) if inputs.collisions else []
    written = write_curves(obj, [*frames, *rest], Q, choices.new_action, robot)[: len(frames)]
    if choices.criteria is None:
        write_costs(obj, inputs.criteria, [*frames, *rest], costs)
    show_curves(obj, scene.frame_current_final, robot)
    obj.robokin.baked_frames = (frames[0], frames[-1])
    names = task_names(inputs.tasks, choices.ad_hoc)
    return BakeResult(
        model=robot.model,
        frames=frames,
        Q=written,
        statuses=statuses_of(parts, frames, failures),
        residuals=np.concatenate([part.residuals(len(names)) for part in parts]),
        failures=failures,
        start="",
        costs=costs[: len(frames), :, 0],
        criteria=criterion_names(plans[0].criteria),
        parts=_parts(plans, len(names)),
        collisions=hits,
        soft=soft_tasks(parts, names, inputs.weights),
    )


def _parts(plans: Sequence[PlannedSegment], count: int) -> list[tuple[str, ...]]:
    """Names of the residuals of each task; none of one that never counts."""
    names: list[tuple[str, ...]] = [()] * count
    for plan in plans:
        for i, own in zip(plan.counting, part_names(plan.segment.tracker.tasks), strict=False):
            names[i] = own
    return names
