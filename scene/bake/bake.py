"""The tasks solved at every frame of a range, written as F-curves."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...properties.frame_rate import frame_seconds
from ...solvers.criteria import criterion_names
from ...solvers.motion.collisions import collision_violations
from ...solvers.motion.motion import Motion
from ...solvers.progress import mapped, scaled
from ...solvers.results import part_names
from ...solvers.tracking.precedence.best_start import follow_in_order_from_best
from ...solvers.tracking.precedence.standing_aside import follow_in_order
from ...solvers.tracking.result import TrackResult
from ..animation.curves import (
    rounded,
    show_curves,
    write_curves,
)
from ..criteria.costs import costs_of_motion
from ..criteria.solver_criteria import root_gravity, write_costs
from .choices import BakeChoices
from .inputs import BakeInputs, read_inputs
from .plans import BakedSegment, PlannedSegment, bake_plans, segments_of
from .report import BakeResult, find_failures, statuses_of
from .retime import refuse_later_keys
from .start import with_fades
from .traversal import refuse_other_choices, traversal_steps
from .whole import (
    come_to_rest,
    in_time,
    is_too_fast,
    longer,
    rest_segment,
    soft_tasks,
    time_note,
    tracked_frames,
    whole_motion,
    whole_note,
    with_spare_frames,
)


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
        refuse_other_choices(obj, choices)
    inputs = yield from scaled(read_inputs(scene, view_layer, obj, robot, choices), 0.0, 0.4)
    if choices.past is not None:
        return (
            yield from scaled(traversal_steps(scene, view_layer, obj, robot, choices, choices.past, inputs), 0.4, 1.0)
        )
    robot = inputs.robot
    dt, whole, note = choices.step * frame_seconds(scene), choices.whole, inputs.note
    plans, parts, start = yield from scaled(_follow(obj, robot, choices, inputs, dt), 0.4, 0.6)
    if whole is not None:
        if whole.frees_time and is_too_fast(map(tracked_frames, parts), choices):
            return (yield from scaled(bake_steps(scene, view_layer, obj, robot, longer(choices)), 0.6, 1.0))
        is_fixed, gravity = choices.q0 is not None, root_gravity(obj, robot)
        steps = whole_motion(inputs.model, parts, whole, inputs.animation, is_fixed, gravity)
        parts = yield from scaled(steps, 0.6, 0.9)
        again, is_late = None, is_too_fast(map(tracked_frames, parts), choices)
        if whole.frees_time and parts[0].result.dt != dt:
            again = in_time(choices, whole, parts[0].result.dt / dt, 0 if is_late else 1)
        elif is_late and choices.spare:
            again = with_spare_frames(choices)
        if again is not None:
            refuse_later_keys(obj, robot, round(choices.read_at[-1]), again.frames[-1])
            return (yield from scaled(bake_steps(scene, view_layer, obj, robot, again), 0.6, 1.0))
        settled = None if choices.moments is None else whole.cost
        time = time_note(choices, frame_seconds(scene))
        note = "; ".join(filter(None, (time, whole_note(parts, settled), note)))
    written = yield from scaled(_write(scene, obj, robot, choices, inputs, plans, parts, dt), 0.9, 1.0)
    return replace(written, start=start, note=note, stretch=choices.stretch)


def _follow(
    obj: bpy.types.Object, robot: Binding, choices: BakeChoices, inputs: BakeInputs, dt: float
) -> Generator[float, None, tuple[list[PlannedSegment], list[BakedSegment], str]]:
    """Yield the share done; return the plans, what was followed frame by frame, and the chosen start in words."""
    own, soft = (inputs.forms, inputs.model, inputs.targets, dt), None if choices.whole is None else inputs.weights
    planning = bake_plans(*own, choices.criteria, clearance=inputs.clearance, soft=soft)
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
    inputs: BakeInputs,
    plans: Sequence[PlannedSegment],
    parts: Sequence[BakedSegment],
    dt: float,
) -> Generator[float, None, BakeResult]:
    """Yield the share done; then write the curves, and return what came of it."""
    frames, keyed = choices.frames, choices.keyed
    failures = yield from scaled(find_failures(parts, frames), 0.0, 0.5)
    Q = np.concatenate([part.result.q for part in parts])
    preferences = [(plan.segment, plan.criteria) for plan in plans]
    rest = len(keyed) - len(frames)
    if rest:
        standing = rest_segment(inputs.model, Q[-1], rest, dt, inputs.clearance, len(choices.read_at))
        preferences.append((standing, plans[-1].criteria))
        Q = np.concatenate((Q, (yield from scaled(come_to_rest(standing, rounded(obj, Q, robot), dt), 0.5, 0.5))))
    shown = rounded(obj, Q, robot)
    costs = yield from scaled(costs_of_motion(robot.model, preferences, shown, dt), 0.5, 1.0)
    motion = Motion.of(robot.model, dt * np.arange(len(frames)), shown[: len(frames)])
    hits = collision_violations(motion, inputs.collisions) if inputs.collisions else []
    written = write_curves(obj, keyed, Q, choices.new_action, robot)[: len(frames)]
    if choices.criteria is None:
        write_costs(obj, inputs.criteria, keyed, costs)
    show_curves(obj, scene.frame_current_final, robot)
    obj.robokin.baked_frames = (frames[0], frames[-1])
    names = inputs.forms.names
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
