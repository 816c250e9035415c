"""The tasks solved at every frame of a range, written as F-curves."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from types import MappingProxyType

import bpy
import numpy as np

from ...properties.bridge import Binding, nearest_within_limits, read_configuration
from ...properties.frame_rate import frame_seconds
from ...properties.task_kinds.tip_links import follow_renamed_bones
from ...robokin import RobokinError, clamp
from ...robokin.arrays import Array
from ...robokin.structure.locking import locked_model
from ...robokin.structure.narrow_limits import with_narrowest_limits
from ...scene.animation.curves import (
    pose_held,
    refuse_unwritable,
    rounded,
    sample_configurations,
    show_curves,
    write_curves,
)
from ...scene.bake.report import BakeResult, find_failures, statuses_of
from ...scene.bake.traversal import AtSingularities, traversal_steps
from ...scene.bake.whole import (
    SLOWER,
    come_to_rest,
    frames_in_time,
    frees_time,
    is_too_fast,
    rest_segment,
    soft_tasks,
    soft_weights,
    task_names,
    time_note,
    timed_cost,
    tracked_frames,
    whole_motion,
    whole_note,
)
from ...scene.criteria.costs import costs_of_motion
from ...scene.criteria.solver_criteria import enabled_entries, root_gravity, write_costs
from ...scene.tasks.ad_hoc import AdHocTask
from ...scene.tasks.solver_tasks import check_ad_hoc, enabled_tasks
from ...scene.tasks.targets import targets_over
from ...solvers.criteria import Criterion, criterion_names
from ...solvers.ik.problem import part_names
from ...solvers.motion.collisions import collision_violations
from ...solvers.motion.motion import Motion
from ...solvers.optimal_control.rows.limit_sources import MotionBounds
from ...solvers.progress import mapped, scaled
from ...solvers.tracking.precedence.best_start import follow_in_order_from_best
from ...solvers.tracking.precedence.standing_aside import follow_in_order
from ...solvers.tracking.result import TrackResult
from ..collisions import avoids_collisions, clearance_of, collisions_over
from ..keyed_numbers import models_over, numbers_change
from .plans import PlannedSegment, bake_plans, segments_of
from .retime import refuse_later_keys
from .start import with_fades


def bake_steps(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    robot: Binding,
    frames: Sequence[int],
    q0: Array | None,
    seed: int = 0,
    new_action: bool = False,
    criteria: Sequence[Criterion] | None = None,
    ad_hoc: Sequence[AdHocTask] = (),
    use_own: bool = True,
    cost: object | None = None,
    past: AtSingularities | None = None,
    avoid: bool | None = None,
    bounds: MotionBounds | None = None,
    moments: Sequence[float] | None = None,
    soft: Mapping[str, float] = MappingProxyType({}),
    is_enough: Callable[[], bool] = bool,
) -> Generator[float, None, BakeResult]:
    """Yield the share of the work done (0..1) now and then; return what was written.

    A function of the scene: the robot's own curves play no part, nor does the present frame. The first frame is
    solved from `q0` (nq,), every other follows from the one before. Without q0 a start is chosen from which every frame
    is met, rest first. Joints with a padlock stay where they are. criteria: in place of the robot's own, whose costs
    are keyed. ad_hoc: tasks besides the robot's own, or (not `use_own`) in place of them. cost: what the whole motion
    minimizes, as in `optimize_motion` (the animation is then that of the robot's curves); None: frame by frame.
    past: what to do at singularities; None: follow as near as limits allow.   avoid: whether it keeps away from
    obstacles and itself, in place of the robot's setting.   bounds: what else a whole motion keeps.
    moments: in place of the frames, those of the scene that targets are read at. A cost with a duration frees the time:
    the bake then has as many frames as it needs from the first one on; then it brakes and rests until the last one.
    soft: the weights of tasks in a whole motion by their names, in place of the tasks' own; 0: hard.
    is_enough: asked after each step of a whole motion, whether it is to end with the best so far.
    Nothing is written before the last step; a generator closed early leaves the scene as it was. Raises RobokinError.
    """
    if past is not None:
        if cost is not None or criteria:
            raise RobokinError("At Singularities must be Follow with a whole motion or criteria")
        if avoids_collisions(obj, avoid):
            raise RobokinError("At Singularities must be Follow with Avoid Collisions")
        own = frames, q0, past, new_action, ad_hoc, use_own
        return (yield from traversal_steps(scene, view_layer, obj, robot, *own))
    refuse_unwritable(scene, obj, new_action, robot)
    follow_renamed_bones(obj, robot)
    tasks = enabled_tasks(obj, robot) if use_own else []
    check_ad_hoc(obj, ad_hoc)
    weights = soft_weights(tasks, ad_hoc, soft) if cost is not None else []
    count, read_at = len(tasks) + len(ad_hoc), frames if moments is None else moments
    if not count:
        raise RobokinError("there is no task to bake: add a target, or enable a task")
    hint = nearest_within_limits(robot.model) if q0 is None else q0
    model = robot.model_at(read_configuration(obj, robot))
    if robot.locked:
        hint = clamp(model, hint)
    own = enabled_entries(obj) if criteria is None else []
    with pose_held(obj, hint, robot):
        reading = targets_over(scene, view_layer, obj, tasks, read_at, ad_hoc, own, robot=robot)
        targets = yield from scaled(reading, 0.0, 0.38)
        collisions = yield from scaled(collisions_over(scene, view_layer, obj, read_at, robot), 0.38, 0.4)
        note = ""
        if numbers_change(obj):
            others = yield from scaled(models_over(scene, obj, read_at, robot), 0.4, 0.4)
            model = with_narrowest_limits(robot.model, others)
            model = locked_model(model, robot.locked, read_configuration(obj, robot)) if robot.locked else model
            note = "limits are animated: the narrowest of these frames are kept"
    step = int(frames[1] - frames[0]) if len(frames) > 1 else 1
    dt = step * frame_seconds(scene)
    animation = yield from _animation(scene, obj, robot, read_at, cost)
    is_whole = cost is not None
    clearance = clearance_of(obj, robot, collisions) if avoids_collisions(obj, avoid) else None
    planning = bake_plans(obj, robot, model, tasks, targets, criteria, dt, ad_hoc, is_whole, clearance, soft=weights)
    plans = yield from scaled(planning, 0.4, 0.5)
    segments = [plan.segment for plan in plans]
    if q0 is not None:
        segments[0] = with_fades(obj, robot, segments[0], hint)

    def followed(results: list[TrackResult]) -> float:
        return sum(map(len, results)) / len(frames)  # begins anew with every start tried

    if q0 is None:
        search = follow_in_order_from_best(segments, hint, "rest", seed=seed)
        found = yield from scaled(mapped(search, followed), 0.5, 0.6)
        results, start = found.results, found.origin
    else:
        steps = follow_in_order(segments, hint, seed=seed)
        results, start = (yield from scaled(mapped(steps, followed), 0.5, 0.6)), ""
    parts = segments_of(plans, results)
    if is_whole:
        gravity = root_gravity(obj, robot)
        is_late = frees_time(cost) and is_too_fast([tracked_frames(part) for part in parts], frames, read_at)
        if not is_late:
            whole = whole_motion(model, parts, cost, animation, q0 is not None, bounds, gravity, is_enough)
            parts = yield from scaled(whole, 0.6, 0.9)
        if frees_time(cost):
            stretch = SLOWER if is_late else parts[0].result.dt / dt
            own_frames, own_moments = frames_in_time(frames, read_at, stretch)
            refuse_later_keys(obj, robot, round(read_at[-1]), own_frames[-1])
            in_time = bake_steps(
                *(scene, view_layer, obj, robot, own_frames, q0, seed, new_action, criteria, ad_hoc, use_own),
                *(cost if is_late else timed_cost(cost), None, avoid, bounds, own_moments, soft, is_enough),
            )
            return (yield from scaled(in_time, 0.6, 1.0))
        span = frame_seconds(scene) * (read_at[-1] - read_at[0])
        time = "" if moments is None else time_note(dt * (len(frames) - 1), span)
        note = "; ".join(filter(None, (time, whole_note(parts, cost if time else None), note)))
    failures = yield from scaled(find_failures(parts, frames), 0.9, 0.95)
    Q = np.concatenate([part.result.q for part in parts])
    preferences = [(plan.segment, plan.criteria) for plan in plans]
    rest = range(frames[-1] + step, round(read_at[-1]) + 1, step)
    if rest:
        standing = rest_segment(model, Q[-1], len(rest), dt, clearance, len(read_at))
        preferences.append((standing, plans[-1].criteria))
        Q = np.concatenate((Q, (yield from scaled(come_to_rest(standing, rounded(obj, Q, robot), dt), 0.95, 0.95))))
    shown = rounded(obj, Q, robot)
    costs = yield from scaled(costs_of_motion(robot.model, preferences, shown, dt), 0.95, 1.0)
    motion = Motion.of(robot.model, dt * np.arange(len(frames)), shown[: len(frames)])
    hits = collision_violations(motion, collisions) if collisions else []
    written = write_curves(obj, [*frames, *rest], Q, new_action, robot)[: len(frames)]
    if criteria is None:
        write_costs(obj, own, [*frames, *rest], costs)
    show_curves(obj, scene.frame_current_final, robot)
    obj.robokin.baked_frames = (frames[0], frames[-1])
    return BakeResult(
        model=robot.model,
        frames=frames,
        Q=written,
        statuses=statuses_of(parts, frames, failures),
        residuals=np.concatenate([part.residuals(count) for part in parts]),
        failures=failures,
        start=start,
        costs=costs[: len(frames), :, 0],
        criteria=criterion_names(plans[0].criteria),
        parts=_parts(plans, count),
        note=note,
        collisions=hits,
        soft=soft_tasks(parts, task_names(tasks, ad_hoc), weights) if is_whole else (),
    )


def _animation(
    scene: bpy.types.Scene, obj: bpy.types.Object, robot: Binding, frames: Sequence[int], cost: object
) -> Generator[float, None, Array | None]:
    """(n, nq) what the robot's curves show, where a cost asks for it."""
    words = cost if isinstance(cost, Mapping) else (cost,)
    if "animation" not in words:
        return None
    return (yield from scaled(sample_configurations(scene, obj, frames, robot), 0.4, 0.4))


def _parts(plans: Sequence[PlannedSegment], count: int) -> list[tuple[str, ...]]:
    """Names of the residuals of each task; none of one that never counts."""
    names: list[tuple[str, ...]] = [()] * count
    for plan in plans:
        for i, own in zip(plan.counting, part_names(plan.segment.tracker.tasks), strict=False):
            names[i] = own
    return names
